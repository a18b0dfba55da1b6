//! Reads the parameters of a list: filters, limit, cursor. Pure.

use chrono::{DateTime, NaiveDate, NaiveTime, Utc};
use espelho_model::{money::parse_decimal, text, text::Text};
use espelho_store::{ApiTable, ColumnKind, Comparison, Filter, FilterValue, RowQuery};

use super::{cursor, problem::Problem};

/// Rows of a page, unless the request says otherwise.
pub(super) const USUAL: u32 = 100;
/// The most rows of a page.
pub(super) const MOST: u32 = 1_000;
/// The most rows of a page with received objects, which are large. A page that is shorter than asked for is not the
/// last: `next` tells.
pub(super) const MOST_WITH_RAW: u32 = 100;

/// Reads the parameters of a list.
pub(super) fn list(table: &ApiTable, pairs: &[(String, String)]) -> Result<RowQuery, Problem> {
    let mut query = RowQuery { limit: USUAL, ..RowQuery::default() };
    for (at, (name, value)) in pairs.iter().enumerate() {
        refuse_repeated(&pairs[..at], name)?;
        match name.as_str() {
            "limit" => query.limit = number_in(name, value, 1, MOST)?,
            "cursor" => query.after = cursor::decode(table, value).ok_or_else(bad_cursor)?,
            "include" if has_raw(table) => query.with_raw = include(value)?,
            "gone" if table.marks_gone() => query.gone = Some(flag(name, value)?),
            _ => query.filters.push(filter(table, name, value)?),
        }
    }
    if query.with_raw {
        query.limit = query.limit.min(MOST_WITH_RAW);
    }
    Ok(query)
}

/// Reads the parameters of one row: whether it is shown with what was received.
pub(super) fn one(table: &ApiTable, pairs: &[(String, String)]) -> Result<bool, Problem> {
    let mut with_raw = false;
    for (at, (name, value)) in pairs.iter().enumerate() {
        refuse_repeated(&pairs[..at], name)?;
        match name.as_str() {
            "include" if has_raw(table) => with_raw = include(value)?,
            _ => return Err(unknown(name, if has_raw(table) { &["include"] } else { &[] })),
        }
    }
    Ok(with_raw)
}

pub(super) fn has_raw(table: &ApiTable) -> bool {
    table.kind_of("raw").is_some()
}

pub(super) fn refuse_repeated(before: &[(String, String)], name: &str) -> Result<(), Problem> {
    match before.iter().any(|(earlier, _)| earlier == name) {
        true => Err(Problem::bad_request(
            "repeated_parameter",
            text!("http-repeated-parameter", name = shown(name)),
        )),
        false => Ok(()),
    }
}

/// Returns the comparisons that a column of this kind can be filtered by.
pub(super) fn comparisons(kind: ColumnKind) -> &'static [Comparison] {
    use Comparison::{Eq, Gt, Gte, Lt, Lte};
    match kind {
        ColumnKind::Text | ColumnKind::Flag => &[Eq],
        ColumnKind::Integer | ColumnKind::Number | ColumnKind::Time => &[Eq, Gt, Gte, Lt, Lte],
        ColumnKind::Json => &[],
    }
}

/// Returns the parameter that filters a column.
pub(super) fn parameter(column: &str, comparison: Comparison) -> String {
    let word: &str = comparison.into();
    match comparison {
        Comparison::Eq => column.to_owned(),
        _ => format!("{column}.{word}"),
    }
}

fn filter(table: &ApiTable, name: &str, value: &str) -> Result<Filter, Problem> {
    let (column, comparison) = match name.split_once('.') {
        None => (name, Some(Comparison::Eq)),
        Some((column, word)) => {
            (column, word.parse().ok().filter(|comparison| *comparison != Comparison::Eq))
        }
    };
    let known = table.columns.iter().find(|(known, _)| *known == column);
    let found = known.zip(comparison).filter(|((_, kind), by)| comparisons(*kind).contains(by));
    match found {
        Some(((column, kind), comparison)) => {
            Ok(Filter { column, comparison, value: filter_value(name, value, *kind)? })
        }
        None => Err(unknown(name, &parameters(table))),
    }
}

/// Returns the names of all parameters of a list.
fn parameters(table: &ApiTable) -> Vec<String> {
    let of = |(column, kind): &(&str, ColumnKind)| -> Vec<String> {
        comparisons(*kind).iter().map(|comparison| parameter(column, *comparison)).collect()
    };
    let filters = table.columns.iter().flat_map(of);
    let more = [("limit", true), ("cursor", true), ("include", has_raw(table)), ("gone", table.marks_gone())];
    filters.chain(more.into_iter().filter(|(_, is)| *is).map(|(name, _)| name.to_owned())).collect()
}

fn filter_value(name: &str, value: &str, kind: ColumnKind) -> Result<FilterValue, Problem> {
    let bad = |rule: Text| bad_value(name, value, rule);
    match kind {
        ColumnKind::Text | ColumnKind::Json => match value.contains('\0') {
            true => Err(bad(text!("http-rule-no-nul"))),
            false => Ok(FilterValue::Text(value.to_owned())),
        },
        ColumnKind::Integer => {
            value.parse().map(FilterValue::Integer).map_err(|_| bad(text!("http-rule-integer")))
        }
        ColumnKind::Number => {
            parse_decimal(value).map(FilterValue::Number).ok_or_else(|| bad(text!("http-rule-number")))
        }
        ColumnKind::Flag => flag(name, value).map(FilterValue::Flag),
        ColumnKind::Time => instant(value).map(FilterValue::Time).ok_or_else(|| bad(text!("http-rule-time"))),
    }
}

/// Reads a time or a day. A `+` that was not escaped arrives as a blank.
fn instant(text: &str) -> Option<DateTime<Utc>> {
    if let Ok(day) = text.parse::<NaiveDate>() {
        let is_shown = text.len() == 10;
        return is_shown.then(|| day.and_time(NaiveTime::MIN).and_utc());
    }
    let read = |text: &str| DateTime::parse_from_rfc3339(text).ok().map(|at| at.to_utc());
    let at = read(text).or_else(|| read(&text.replace(' ', "+")))?;
    use chrono::Datelike as _;
    (1..=9999).contains(&at.year()).then_some(at)
}

fn flag(name: &str, value: &str) -> Result<bool, Problem> {
    value.parse().map_err(|_| bad_value(name, value, text!("http-rule-flag")))
}

fn include(value: &str) -> Result<bool, Problem> {
    match value {
        "raw" => Ok(true),
        _ => Err(bad_value("include", value, text!("http-rule-raw"))),
    }
}

/// Reads a whole number within bounds.
pub(super) fn number_in<N>(name: &str, value: &str, least: N, most: N) -> Result<N, Problem>
where
    N: std::str::FromStr + PartialOrd + Copy + ToString,
{
    let number = value.parse().ok().filter(|number| *number >= least && *number <= most);
    let rule = || text!("http-rule-between", least = least.to_string(), most = most.to_string());
    number.ok_or_else(|| bad_value(name, value, rule()))
}

pub(super) fn bad_value(name: &str, value: &str, rule: Text) -> Problem {
    let text = text!("http-bad-parameter", name = name, value = shown(value), rule = rule);
    Problem::bad_request("invalid_parameter", text)
}

fn bad_cursor() -> Problem {
    Problem::bad_request("invalid_cursor", text!("http-bad-cursor"))
}

/// Returns the problem of an unknown parameter, with the one that is most like it.
pub(super) fn unknown<S: AsRef<str>>(name: &str, known: &[S]) -> Problem {
    let short = shown(name);
    let likeness = |known: &&S| (strsim::jaro_winkler(&short, known.as_ref()) * 1e6) as u64;
    let text = match known.iter().max_by_key(likeness) {
        Some(nearest) => text!("http-unknown-parameter", name = short.clone(), nearest = nearest.as_ref()),
        None => text!("http-no-parameters", name = short.clone()),
    };
    Problem::bad_request("unknown_parameter", text)
}

/// Returns the beginning of what somebody sent.
pub(super) fn shown(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_control()).take(80).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn orders(pairs: &[(&str, &str)]) -> Result<RowQuery, Problem> {
        let pairs: Vec<_> =
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        list(ApiTable::named("orders").unwrap(), &pairs)
    }

    #[test]
    fn filters_are_read_by_the_kind_of_their_column() {
        let at = |text: &str| FilterValue::Time(text.parse().unwrap());
        for (name, value, expected) in [
            ("status", "paid", Some((Comparison::Eq, FilterValue::Text("paid".into())))),
            ("store", "", Some((Comparison::Eq, FilterValue::Text(String::new())))),
            (
                "total_order.gte",
                "19.90",
                Some((Comparison::Gte, FilterValue::Number("19.90".parse().unwrap()))),
            ),
            ("total_order", "1e2", Some((Comparison::Eq, FilterValue::Number("100".parse().unwrap())))),
            ("lines_count.lt", "-3", Some((Comparison::Lt, FilterValue::Integer(-3)))),
            ("is_collective", "true", Some((Comparison::Eq, FilterValue::Flag(true)))),
            ("updated_at.gt", "2026-11-20", Some((Comparison::Gt, at("2026-11-20T00:00:00Z")))),
            (
                "updated_at.lte",
                "2026-11-20T12:00:00-03:00",
                Some((Comparison::Lte, at("2026-11-20T15:00:00Z"))),
            ),
            ("updated_at", "2026-11-20T12:00:00 03:00", Some((Comparison::Eq, at("2026-11-20T09:00:00Z")))),
            ("updated_at", "0000-11-20T12:00:00Z", None),
            ("updated_at", "ontem", None),
            ("status", "a\0b", None),
            ("status.gte", "paid", None),
            ("status.eq", "paid", None),
            ("total_order.near", "1", None),
            ("total_order", "19,90", None),
            ("total_order", "NaN", None),
            ("lines_count", "99999999999999999999", None),
            ("is_collective", "1", None),
            ("raw", "{}", None),
            ("content_hash", "1", None),
            ("status; DROP TABLE orders", "1", None),
        ] {
            let read = orders(&[(name, value)]).ok().map(|mut query| query.filters.remove(0));
            assert_eq!(read.map(|filter| (filter.comparison, filter.value)), expected, "{name}={value}");
        }
    }

    #[test]
    fn an_unknown_parameter_is_refused_with_the_nearest_one() {
        let said = |pairs: &[(&str, &str)]| orders(pairs).unwrap_err();
        let nearest = |name: &str| said(&[(name, "1")]).text.to_string();
        assert!(nearest("stauts").contains("“status”"), "{}", nearest("stauts"));
        assert!(nearest("updated_at.gt3").contains("updated_at.gt"), "{}", nearest("updated_at.gt3"));
        assert_eq!(said(&[("stauts", "1")]).code, "unknown_parameter");
        assert_eq!(said(&[("status", "a"), ("status", "b")]).code, "repeated_parameter");
        assert_eq!(said(&[("limit", "0")]).code, "invalid_parameter");
        assert_eq!(said(&[("limit", "1001")]).code, "invalid_parameter");
        assert_eq!(said(&[("include", "lines")]).code, "invalid_parameter");
        assert_eq!(said(&[("cursor", "zz")]).code, "invalid_cursor");
    }

    #[test]
    fn a_page_has_a_hundred_rows_unless_said_and_fewer_with_raw() {
        let limit = |pairs: &[(&str, &str)]| orders(pairs).unwrap().limit;
        assert_eq!(limit(&[]), 100);
        assert_eq!(limit(&[("limit", "1000")]), 1_000);
        assert_eq!(limit(&[("limit", "1000"), ("include", "raw")]), 100);
        assert_eq!(limit(&[("include", "raw"), ("limit", "7")]), 7);
        let gone = orders(&[("gone", "false")]).unwrap().gone;
        assert_eq!(gone, Some(false));
    }

    #[test]
    fn what_a_table_does_not_have_is_no_parameter_of_it() {
        let alarms = ApiTable::named("v_alarms").unwrap();
        let pair = |name: &str| [(name.to_owned(), "true".to_owned())];
        for name in ["gone", "include"] {
            assert_eq!(list(alarms, &pair(name)).unwrap_err().code, "unknown_parameter", "{name}");
            assert_eq!(one(alarms, &pair(name)).unwrap_err().code, "unknown_parameter", "{name}");
        }
    }
}
