//! Builds the statement that reads a page of a table. Pure.

use chrono::{DateTime, Utc};
use rust_decimal::Decimal;

use super::catalogue::{ApiTable, KeyPart};
use crate::{ColumnKind, cells::selected, driver::Value};

/// How a filter compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString, strum::EnumIter, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Comparison {
    /// Equal.
    Eq,
    /// Greater than.
    Gt,
    /// Greater than or equal.
    Gte,
    /// Less than.
    Lt,
    /// Less than or equal.
    Lte,
}

impl Comparison {
    fn sign(self) -> &'static str {
        match self {
            Self::Eq => "=",
            Self::Gt => ">",
            Self::Gte => ">=",
            Self::Lt => "<",
            Self::Lte => "<=",
        }
    }
}

/// A value to compare a column with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FilterValue {
    /// For a column of text.
    Text(String),
    /// For a whole number.
    Integer(i64),
    /// For an exact decimal.
    Number(Decimal),
    /// For true or false.
    Flag(bool),
    /// For an instant.
    Time(DateTime<Utc>),
}

/// A condition on a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    /// The column, of the catalogue.
    pub column: &'static str,
    /// How it compares.
    pub comparison: Comparison,
    /// With what.
    pub value: FilterValue,
}

/// A place between two rows, in the order of the key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// The key of the last row before it; empty at the beginning.
    pub key: Vec<FilterValue>,
    /// Rows after that one that were read already: a program may have written keys that are no text.
    pub skip: u32,
}

/// The rows to read of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowQuery {
    /// Only rows of these stores.
    pub stores: Option<Vec<String>>,
    /// Only rows that meet all of these.
    pub filters: Vec<Filter>,
    /// Only rows that are gone from the marketplace, or only those that are not.
    pub gone: Option<bool>,
    /// Only rows after this place.
    pub after: Position,
    /// At most so many.
    pub limit: u32,
    /// True if each row has the object as it was received.
    pub with_raw: bool,
}

/// A statement with its arguments.
pub(super) type Built = (String, Vec<Value>);

/// Builds the statement for a page, and one row more, which shows that there is a next page.
pub(super) fn page(table: &ApiTable, query: &RowQuery) -> Built {
    let mut arguments = Arguments(Vec::new());
    let mut conditions = Vec::new();
    if let Some(stores) = &query.stores {
        conditions.push(of_stores(table, stores, &mut arguments));
    }
    conditions.extend(query.filters.iter().map(|filter| {
        let place = arguments.place(&filter.value);
        format!("{} {} {place}", filter.column, filter.comparison.sign())
    }));
    conditions.extend(query.gone.map(|gone| {
        let not = if gone { "NOT " } else { "" };
        format!("gone_at IS {not}NULL")
    }));
    let key = table.key.iter().map(key_expression).collect::<Vec<_>>().join(", ");
    if !query.after.key.is_empty() {
        let places: Vec<String> = query.after.key.iter().map(|value| arguments.place(value)).collect();
        conditions.push(format!("({key}) > ({})", places.join(", ")));
    }
    let conditions = match conditions.is_empty() {
        true => String::new(),
        false => format!(" WHERE {}", conditions.join(" AND ")),
    };
    let limit = arguments.place(&FilterValue::Integer(i64::from(query.limit) + 1));
    let skip = arguments.place(&FilterValue::Integer(query.after.skip.into()));
    let columns = selected(&table.shown(query.with_raw));
    let sql = format!(
        "SELECT {columns} FROM {}{conditions} ORDER BY {key} LIMIT {limit} OFFSET {skip}",
        table.name
    );
    (sql, arguments.0)
}

/// Returns the condition for some stores' rows. What concerns all stores is shown to everybody.
fn of_stores(table: &ApiTable, stores: &[String], arguments: &mut Arguments) -> String {
    let text = |store: &String| FilterValue::Text(store.clone());
    let places: Vec<String> = stores.iter().map(|store| arguments.place(&text(store))).collect();
    let of_all = table.key.iter().any(|part| part.column == "store" && part.is_optional);
    match (of_all, places.is_empty()) {
        (false, true) => "1 = 0".to_owned(),
        (false, false) => format!("store IN ({})", places.join(", ")),
        (true, true) => "store IS NULL".to_owned(),
        (true, false) => format!("(store IN ({}) OR store IS NULL)", places.join(", ")),
    }
}

fn key_expression(part: &KeyPart) -> String {
    match part.is_optional {
        true => format!("COALESCE({}, '')", part.column),
        false => part.column.to_owned(),
    }
}

/// The arguments of a statement, in the order of their places.
struct Arguments(Vec<Value>);

impl Arguments {
    fn place(&mut self, value: &FilterValue) -> String {
        let (value, is_number) = match value.clone() {
            FilterValue::Text(text) => (Value::from(text), false),
            FilterValue::Integer(number) => (number.into(), false),
            FilterValue::Number(number) => (Some(number).into(), true),
            FilterValue::Flag(truth) => (Some(truth).into(), false),
            FilterValue::Time(at) => (at.into(), false),
        };
        self.0.push(value);
        let place = self.0.len();
        match is_number {
            // SQLite binds a decimal as text, and columns of views have no affinity.
            true => format!("CAST(${place} AS NUMERIC)"),
            false => format!("${place}"),
        }
    }
}

/// Returns the place after a page of rows, of which `keys` are those of its rows in order; `None` for a key that
/// cannot be compared.
pub(super) fn position_after(before: &Position, keys: Vec<Option<Vec<FilterValue>>>) -> Position {
    let rows = keys.len();
    match keys.into_iter().enumerate().rev().find_map(|(at, key)| Some((at, key?))) {
        Some((at, key)) => Position { key, skip: count(rows - at - 1) },
        None => Position { key: before.key.clone(), skip: before.skip.saturating_add(count(rows)) },
    }
}

fn count(rows: usize) -> u32 {
    u32::try_from(rows).unwrap_or(u32::MAX)
}

/// All forms of the statements of a table, for the test that prepares them.
pub(super) fn to_prepare(table: &ApiTable) -> Vec<String> {
    let key = |part: &KeyPart| sample(part.kind);
    let whole = Position { key: table.key.iter().filter_map(key).collect(), skip: 0 };
    let one = |column, kind, comparison| sample(kind).map(|value| Filter { column, comparison, value });
    let of = |comparison| -> Vec<Filter> {
        table.columns.iter().filter_map(|(column, kind)| one(*column, *kind, comparison)).collect()
    };
    let gone = table.marks_gone().then_some(true);
    let stores = Some(vec!["a".to_owned(), "b".to_owned()]);
    let queries = [
        RowQuery { after: whole, with_raw: true, ..RowQuery::default() },
        RowQuery { stores, gone, filters: of(Comparison::Eq), ..RowQuery::default() },
        RowQuery { filters: of(Comparison::Lte), ..RowQuery::default() },
    ];
    queries.iter().map(|query| page(table, query).0).collect()
}

/// Returns a value of a kind; `None` for a kind without filters.
fn sample(kind: ColumnKind) -> Option<FilterValue> {
    Some(match kind {
        ColumnKind::Text => FilterValue::Text(String::new()),
        ColumnKind::Integer => FilterValue::Integer(1),
        ColumnKind::Number => FilterValue::Number(Decimal::ONE),
        ColumnKind::Flag => FilterValue::Flag(true),
        ColumnKind::Time => FilterValue::Time(DateTime::UNIX_EPOCH),
        ColumnKind::Json => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> FilterValue {
        FilterValue::Text(text.to_owned())
    }

    #[test]
    fn a_page_is_read_in_the_order_of_the_key_after_its_place() {
        let table = ApiTable::named("erp_orders").unwrap();
        let sql = |query: &RowQuery| page(table, query).0;
        let columns = "SELECT store, order_number, erp_id, note, taken_at FROM erp_orders";
        let first = RowQuery { limit: 100, ..RowQuery::default() };
        let order = "ORDER BY store, order_number LIMIT";
        assert_eq!(sql(&first), format!("{columns} {order} $1 OFFSET $2"));
        let later = RowQuery {
            stores: Some(vec!["a".into()]),
            filters: vec![Filter { column: "erp_id", comparison: Comparison::Eq, value: text("7") }],
            after: Position { key: vec![text("a"), text("1")], skip: 2 },
            ..first
        };
        let conditions = "WHERE store IN ($1) AND erp_id = $2 AND (store, order_number) > ($3, $4)";
        assert_eq!(sql(&later), format!("{columns} {conditions} {order} $5 OFFSET $6"));
        assert_eq!(page(table, &later).1.len(), 6);
    }

    #[test]
    fn a_token_without_stores_sees_what_concerns_all() {
        let nobody = RowQuery { stores: Some(Vec::new()), ..RowQuery::default() };
        let sql = |name: &str| page(ApiTable::named(name).unwrap(), &nobody).0;
        assert!(sql("orders").contains("WHERE 1 = 0 ORDER BY"), "{}", sql("orders"));
        assert!(sql("v_alarms").contains("WHERE store IS NULL ORDER BY COALESCE(store, ''), code, text"));
    }

    #[test]
    fn the_place_after_a_page_is_its_last_key_that_can_be_compared() {
        let (start, key) = (Position::default(), |key: &str| Some(vec![text(key)]));
        let at = |key: &str, skip| Position { key: vec![text(key)], skip };
        for (before, keys, after) in [
            (&start, vec![key("1"), key("2")], at("2", 0)),
            (&start, vec![key("1"), None, None], at("1", 2)),
            (&at("1", 2), vec![None, None], at("1", 4)),
            (&at("1", 2), vec![None, key("3")], at("3", 0)),
        ] {
            assert_eq!(position_after(before, keys.clone()), after, "{keys:?}");
        }
    }
}
