//! Reads the rows of a batch, column by column, by the rules of files and the command line. Pure.

use std::collections::{BTreeMap, BTreeSet};

use espelho_model::{
    StoreKey,
    doubled_names::doubled_name,
    money::{parse_decimal, unreadable},
    push::CommandKind,
    text,
    text::Text,
};
use espelho_store::{Batch, DesiredPrice, DesiredStock, NewCommand, TakenOrder};
use rust_decimal::Decimal;
use serde_json::{Value, json, value::RawValue};

use super::{
    access::Caller,
    problem::{Problem, RowFault},
    query,
};
use crate::{intent_rules, unknown_stores};

/// The most rows of a request.
pub(super) const MOST_ROWS: usize = 1_000;
/// The longest key in bytes: longer ones are refused by the push too.
pub(super) const LONGEST: usize = 800;
const MEASURES: [&str; 4] = ["package_weight", "package_height", "package_width", "package_length"];

/// A table that programs write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Stock,
    Prices,
    Commands,
    /// True if an order that somebody has taken stays theirs.
    Orders {
        claims: bool,
    },
}

/// A batch, and the names by which its answer calls each row.
#[derive(Debug)]
pub(super) struct Rows {
    pub(super) batch: Batch,
    pub(super) names: Vec<Value>,
}

/// The store names that a batch may use, and whose they are.
pub(super) struct Stores<'a> {
    pub(super) known: &'a BTreeSet<StoreKey>,
    pub(super) caller: &'a Caller,
}

/// A fault of a column.
type Fault = (Option<String>, &'static str, Text);

/// Reads the body of a request.
pub(super) fn rows(target: Target, body: &[u8], stores: &Stores<'_>) -> Result<Rows, Problem> {
    let unreadable = |error: serde_json::Error| {
        Problem::bad_request("invalid_json", text!("http-bad-body", problem = error.to_string()))
    };
    let rows: Vec<&RawValue> = serde_json::from_slice(body).map_err(unreadable)?;
    if rows.len() > MOST_ROWS {
        let text = text!("http-too-many-rows", count = rows.len(), most = MOST_ROWS);
        return Err(Problem::unprocessable("too_many_rows", text));
    }
    match target {
        Target::Stock => {
            let (rows, names) = each(&rows, stores, STOCK, stock)?;
            Ok(Rows { batch: Batch::Stock(rows), names })
        }
        Target::Prices => {
            let (rows, names) = each(&rows, stores, PRICES, price)?;
            Ok(Rows { batch: Batch::Prices(rows), names })
        }
        Target::Commands => {
            let (rows, names) = each(&rows, stores, COMMANDS, command)?;
            Ok(Rows { batch: Batch::Commands(rows), names })
        }
        Target::Orders { claims } => {
            let (rows, names) = each(&rows, stores, ORDERS, order)?;
            Ok(Rows { batch: Batch::Orders { rows, claims }, names })
        }
    }
}

const STOCK: &[&str] = &["store", "sku", "location_id", "quantity"];
const PRICES: &[&str] = &[
    "store",
    "sku",
    "min_quantity",
    "price",
    "discount_percent",
    "package_weight",
    "package_height",
    "package_width",
    "package_length",
];
const COMMANDS: &[&str] = &["store", "kind", "key", "data"];
const ORDERS: &[&str] = &["store", "order_number", "erp_id", "note"];

/// Reads each row; a row for a store that the token is not for is refused before all others.
fn each<T>(
    rows: &[&RawValue],
    stores: &Stores<'_>,
    columns: &[&str],
    read: impl Fn(&Fields<'_>, StoreKey) -> Result<(T, Value), Fault>,
) -> Result<(Vec<T>, Vec<Value>), Problem> {
    let (mut good, mut names, mut faults) = (Vec::new(), Vec::new(), Vec::new());
    for (at, row) in rows.iter().enumerate() {
        let fields = Fields::of(row, columns).and_then(|fields| Ok((store(&fields, stores.known)?, fields)));
        let row = fields.and_then(|(store, fields)| {
            // A forbidden store ends the reading: a token learns nothing about the rows of others.
            match stores.caller.demand_store(store.as_str()) {
                Ok(()) => read(&fields, store).map(Ok),
                Err(forbidden) => Ok(Err(forbidden)),
            }
        });
        match row {
            Ok(Ok((row, name))) => {
                good.push(row);
                names.push(name);
            }
            Ok(Err(forbidden)) => return Err(forbidden),
            Err((column, code, text)) => faults.push(RowFault { row: at, column, code, text }),
        }
    }
    if faults.is_empty() { Ok((good, names)) } else { Err(Problem::of_rows(faults)) }
}

fn store(fields: &Fields<'_>, known: &BTreeSet<StoreKey>) -> Result<StoreKey, Fault> {
    let name = fields.required("store")?;
    StoreKey::new(&name).ok().filter(|key| known.contains(key)).ok_or_else(|| {
        (Some("store".to_owned()), "unknown_store", unknown_stores::unknown_store(&name, known))
    })
}

fn stock(fields: &Fields<'_>, store: StoreKey) -> Result<((StoreKey, DesiredStock), Value), Fault> {
    let (sku, location) = (fields.required("sku")?, fields.required("location_id")?);
    let quantity = fields.number("quantity")?.ok_or_else(|| missing("quantity"))?;
    intent_rules::level(quantity).map_err(invalid)?;
    let name = json!({"store": store.as_str(), "sku": sku, "location_id": location});
    Ok(((store, DesiredStock { sku, location, quantity }), name))
}

fn price(fields: &Fields<'_>, store: StoreKey) -> Result<((StoreKey, DesiredPrice), Value), Fault> {
    let sku = fields.required("sku")?;
    let min_quantity = fields.integer("min_quantity")?.unwrap_or(1);
    let (price, discount_percent) = (fields.number("price")?, fields.number("discount_percent")?);
    let mut package = [None; 4];
    for (measure, column) in package.iter_mut().zip(MEASURES) {
        *measure = fields.number(column)?;
    }
    intent_rules::tier(min_quantity, price, discount_percent, package).map_err(invalid)?;
    let name = json!({"store": store.as_str(), "sku": sku, "min_quantity": min_quantity});
    Ok(((store, DesiredPrice { sku, min_quantity, price, discount_percent, package }), name))
}

fn command(fields: &Fields<'_>, store: StoreKey) -> Result<(NewCommand, Value), Fault> {
    let word = fields.required("kind")?;
    let kind = CommandKind::parse(&word).ok_or_else(|| {
        let known: Vec<&str> = CommandKind::ALL.iter().map(|kind| kind.as_str()).collect();
        let text = text!("http-unknown-kind", kind = query::shown(&word), known = known.join(", "));
        (Some("kind".to_owned()), "unknown_kind", text)
    })?;
    let key = fields.text("key")?.unwrap_or_default();
    let data = fields.object("data")?;
    if let Some((_, data)) = &data {
        check_data(kind, data)?;
    }
    let name = json!({"store": store.as_str(), "kind": kind.as_str(), "key": key});
    Ok((NewCommand { store, kind, key, data: data.map(|(text, _)| text) }, name))
}

/// Refuses the words that the command line refuses too.
fn check_data(kind: CommandKind, data: &Value) -> Result<(), Fault> {
    let word = |name: &str| data.get(name).and_then(Value::as_str);
    let checked = match kind {
        CommandKind::OrderStatus => word("status").map_or(Ok(()), intent_rules::status),
        CommandKind::LabelsGenerate => word("format").map_or(Ok(()), intent_rules::format),
        _ => Ok(()),
    };
    checked.map_err(|refusal| (Some("data".to_owned()), refusal.code, refusal.text))
}

fn order(fields: &Fields<'_>, store: StoreKey) -> Result<(TakenOrder, Value), Fault> {
    let order_number = fields.required("order_number")?;
    let (erp_id, note) = (fields.text("erp_id")?, fields.text("note")?);
    let name = json!({"store": store.as_str(), "order_number": order_number});
    Ok((TakenOrder { store, order_number, erp_id, note }, name))
}

/// The columns of a row, as they were sent.
struct Fields<'a>(BTreeMap<String, &'a RawValue>);

impl<'a> Fields<'a> {
    fn of(row: &'a RawValue, columns: &[&str]) -> Result<Self, Fault> {
        let fields: BTreeMap<String, &RawValue> = serde_json::from_str(row.get())
            .map_err(|_| (None, "not_an_object", text!("http-row-not-object")))?;
        if let Some(field) = doubled_name(row.get()) {
            return Err((None, "invalid_data", text!("value-doubled-field", field = query::shown(&field))));
        }
        match fields.keys().find(|name| !columns.contains(&name.as_str())) {
            Some(unknown) => {
                let text =
                    text!("http-unknown-column", column = query::shown(unknown), known = columns.join(", "));
                Err((Some(query::shown(unknown)), "unknown_column", text))
            }
            None => Ok(Self(fields)),
        }
    }

    /// Returns what was sent for a column; `None` for nothing or `null`.
    fn sent(&self, column: &str) -> Option<&'a str> {
        self.0.get(column).map(|value| value.get()).filter(|value| *value != "null")
    }

    fn required(&self, column: &'static str) -> Result<String, Fault> {
        self.text(column)?.filter(|text| !text.trim().is_empty()).ok_or_else(|| missing(column))
    }

    /// Returns a text; a whole number is one too, because many programs keep their ids as numbers.
    fn text(&self, column: &'static str) -> Result<Option<String>, Fault> {
        let Some(sent) = self.sent(column) else { return Ok(None) };
        let is_number = sent.bytes().all(|byte| byte.is_ascii_digit());
        let text = match is_number {
            true => sent.to_owned(),
            false => serde_json::from_str(sent)
                .map_err(|_| bad(column, "invalid_data", text!("value-not-text", field = column)))?,
        };
        if text.contains('\0') {
            return Err(bad(column, "invalid_data", text!("http-nul", field = column)));
        }
        match text.len() > LONGEST {
            true => Err(bad(column, "too_large", text!("http-too-long", field = column, most = LONGEST))),
            false => Ok(Some(text)),
        }
    }

    /// Returns an exact number, sent as a number or as its text.
    fn number(&self, column: &'static str) -> Result<Option<Decimal>, Fault> {
        let Some(sent) = self.sent(column) else { return Ok(None) };
        let text = if sent.starts_with('"') {
            serde_json::from_str(sent).unwrap_or_default()
        } else {
            sent.to_owned()
        };
        let not = || unreadable(column, &query::shown(&text));
        parse_decimal(&text).map(Some).ok_or_else(|| bad(column, "invalid_data", not()))
    }

    fn integer(&self, column: &'static str) -> Result<Option<i64>, Fault> {
        let Some(number) = self.number(column)? else { return Ok(None) };
        let whole = i64::try_from(number).ok().filter(|_| number.fract().is_zero());
        let not = || text!("files-whole-number", field = column, value = number.to_string());
        whole.map(Some).ok_or_else(|| bad(column, "invalid_data", not()))
    }

    /// Returns an object, as it was sent and parsed.
    fn object(&self, column: &'static str) -> Result<Option<(String, Value)>, Fault> {
        let Some(sent) = self.sent(column) else { return Ok(None) };
        match serde_json::from_str::<Value>(sent) {
            Ok(value) if value.is_object() && !has_nul(&value) => Ok(Some((sent.to_owned(), value))),
            Ok(value) if value.is_object() => {
                Err(bad(column, "invalid_data", text!("http-nul", field = column)))
            }
            Ok(_) => Err(bad(column, "invalid_data", text!("value-not-object"))),
            Err(error) => {
                let text = text!("value-not-json", line = error.line(), column = error.column());
                Err(bad(column, "invalid_data", text))
            }
        }
    }
}

/// Tells whether a text in a value has a letter that PostgreSQL does not take.
fn has_nul(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(values) => values.iter().any(has_nul),
        Value::Object(fields) => fields.iter().any(|(name, value)| name.contains('\0') || has_nul(value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn bad(column: &str, code: &'static str, text: Text) -> Fault {
    (Some(column.to_owned()), code, text)
}

fn missing(column: &str) -> Fault {
    bad(column, "missing", text!("value-missing-field", field = column))
}

fn invalid(fault: intent_rules::ColumnFault) -> Fault {
    bad(fault.column, "invalid_data", fault.text)
}

#[cfg(test)]
#[path = "body_tests.rs"]
mod tests;
