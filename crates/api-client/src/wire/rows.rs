//! Listings of whole rows: there is no detail route, so each row is read completely.

use std::{borrow::Cow, collections::BTreeMap};

use chrono::FixedOffset;
use espelho_model::RawJson;
use serde_json::value::RawValue;

use super::{
    envelope::{self, BodyError, Envelope},
    fields::{FieldReader, object},
    list::{self, Level, PageMeta},
};
use crate::resources::Read;

/// One page of such a listing.
#[derive(Clone, Debug, PartialEq)]
pub struct RowPage<T> {
    /// The readable rows, in the server's order.
    pub rows: Vec<Read<T>>,
    /// How many rows were unreadable: they have no identifier, or are not objects. They are only counted.
    pub rows_without_id: usize,
    /// What the server says about the whole listing.
    pub meta: PageMeta,
    /// How the server understood the request.
    pub echo: Echo,
}

/// How the server understood the request. It distinguishes an ignored search from one that found everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Echo {
    /// `search_query`.
    pub search_query: Option<String>,
    /// `filters` as received: an empty list if there were none.
    pub filters: Option<RawJson>,
    /// Whether a page comes before this one.
    pub has_prev: Option<bool>,
    /// The number of the first row on the page.
    pub from: Option<u64>,
    /// The number of the last row on the page.
    pub to: Option<u64>,
}

shape! { PaginationWire { has_prev_page, records } }
shape! { RecordsWire { from, to } }

impl Echo {
    /// Reads it from the first object that has it.
    fn of(levels: &[Level<'_>]) -> Self {
        let has_any = |level: &&Level<'_>| {
            ["search_query", "filters", "pagination"].iter().any(|name| level.get(name).is_some())
        };
        let Some(level) = levels.iter().find(has_any) else { return Self::default() };
        let mut read = FieldReader::new(FixedOffset::east_opt(0).expect("zero is an offset"));
        let pagination: PaginationWire<'_> =
            read.nested("pagination", level.get("pagination")).unwrap_or_default();
        let records: RecordsWire<'_> = read.nested("records", pagination.records).unwrap_or_default();
        let mut number = |field| read.integer("records", field).and_then(|n| u64::try_from(n).ok());
        Self {
            from: number(records.from),
            to: number(records.to),
            search_query: read.text("search_query", level.get("search_query")),
            filters: level.get("filters").map(|filters| RawJson::new(filters.get())),
            has_prev: read.boolean("has_prev_page", pagination.has_prev_page),
        }
    }
}

/// Reads a listing in any of the shapes that [`list::parse`] accepts, or as the only list in `data`
/// (`data.categories[]`).
pub(crate) fn parse<T>(
    body: &[u8],
    naive: FixedOffset,
    read_row: impl Fn(&mut FieldReader, &RawValue) -> Option<T>,
) -> Result<RowPage<T>, BodyError> {
    let (rows, levels) = match list::around(body) {
        Err(BodyError::Shape(problem)) => only_list(body).ok_or(BodyError::Shape(problem))?,
        other => other?,
    };
    let (meta, echo) = (list::read_metas(&levels), Echo::of(&levels));
    let mut page = RowPage { rows: Vec::with_capacity(rows.len()), rows_without_id: 0, meta, echo };
    for row in rows {
        let mut read = FieldReader::new(naive);
        match read_row(&mut read, row) {
            Some(value) => page.rows.push(Read { value, unreadable: read.into_unreadable() }),
            None => page.rows_without_id += 1,
        }
    }
    Ok(page)
}

/// Returns the only list in the payload; with two lists the right one is unknown. Its pagination is beside it or
/// beside the payload.
fn only_list(body: &[u8]) -> Option<(Vec<&RawValue>, Vec<Level<'_>>)> {
    let payload = envelope::payload(body).ok()?;
    let members: BTreeMap<Cow<'_, str>, &RawValue> = object(payload.get()).ok()?;
    let meta = members.get("meta").copied();
    let mut lists = members.into_values().filter(|value| value.get().starts_with('['));
    let only = lists.next().filter(|_| lists.next().is_none())?;
    let whole: &RawValue = serde_json::from_slice(body).ok()?;
    let outer: Envelope<'_> = object(whole.get()).ok()?;
    let levels = [meta, Some(payload), outer.meta, Some(whole)].into_iter().flatten();
    Some((serde_json::from_str(only.get()).ok()?, levels.filter_map(Level::of).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    shape! { RowWire { id, price } }

    fn read(json: &str) -> Result<RowPage<(String, Option<String>)>, BodyError> {
        parse(json.as_bytes(), FixedOffset::east_opt(0).unwrap(), |read, row| {
            let wire: RowWire<'_> = read.nested("row", Some(row))?;
            let price = read.decimal("price", wire.price).map(|price| price.to_string());
            Some((read.id("id", wire.id)?, price))
        })
    }

    // proves: ENV-007, ENV-008, ENV-012, ENV-014
    #[test]
    fn the_documented_envelope_says_what_was_asked_for() {
        let echo = |search: &str, filters: &str| {
            let meta = format!(
                r#"{{"search_query":"{search}","filters":{filters},"pagination":{{"page":2,"has_prev_page":true,"records":{{"from":16,"to":30,"records":31}}}}}}"#
            );
            read(&format!(r#"{{"success":true,"data":{{"data":[],"meta":{meta}}}}}"#)).unwrap().echo
        };
        let plain = echo("", "[]");
        assert_eq!((plain.search_query.as_deref(), plain.has_prev), (Some(""), Some(true)));
        assert_eq!((plain.from, plain.to), (Some(16), Some(30)));
        assert_eq!(plain.filters.as_ref().map(RawJson::as_str), Some("[]"));
        let asked = echo("café", r#"{"search":"café"}"#);
        assert_eq!(asked.search_query.as_deref(), Some("café"));
        assert_eq!(asked.filters.as_ref().map(RawJson::as_str), Some(r#"{"search":"café"}"#));
        assert_eq!(read(r#"{"data":[]}"#).unwrap().echo, Echo::default());
    }

    // proves: ENV-001, ENV-006, ENV-009, ENV-010, ENV-011, ENV-013, ENV-015
    #[test]
    fn the_documented_envelope_gives_rows_and_pagination() {
        let page = read(
            r#"{"success":true,"message_code":"SUCCESS","data":{"data":[{"id":"a","price":0.30},{"id":2}],
            "meta":{"search_query":"","filters":[],"pagination":{"page":2,"per_page":2,"last_page":3,
            "has_prev_page":true,"has_next_page":true,"records":{"from":3,"to":4,"records":5}}}}}"#,
        )
        .unwrap();
        let rows: Vec<_> = page.rows.into_iter().map(|row| row.value).collect();
        assert_eq!(rows, [("a".to_owned(), Some("0.30".to_owned())), ("2".to_owned(), None)]);
        let told = PageMeta {
            page: Some(2),
            per_page: Some(2),
            last_page: Some(3),
            total: Some(5),
            has_next: Some(true),
        };
        assert_eq!((page.rows_without_id, page.meta), (0, told));
    }

    #[test]
    fn other_shapes_are_read_and_two_lists_are_not_guessed_between() {
        for json in [
            r#"{"data":[{"id":"a"}],"meta":{"page":1}}"#,
            r#"{"data":{"images":[{"id":"a"}]}}"#,
            r#"{"images":[{"id":"a"}],"total":1}"#,
            r#"[{"id":"a"}]"#,
        ] {
            assert_eq!(read(json).unwrap().rows.len(), 1, "{json}");
        }
        for json in [
            r#"{"data":{"images":[{"id":"a"}],"meta":{"last_page":7}}}"#,
            r#"{"data":{"images":[{"id":"a"}]},"meta":{"pagination":{"last_page":7}}}"#,
            r#"{"data":{"images":[{"id":"a"}],"last_page":"7"}}"#,
            r#"{"images":[{"id":"a"}],"last_page":7}"#,
        ] {
            assert_eq!(read(json).unwrap().meta.last_page, Some(7), "{json}");
        }
        assert!(read(r#"{"data":{"a":[],"b":[]}}"#).is_err());
        assert!(read(r#"{"data":{"a":1}}"#).is_err());
        assert!(matches!(read(r#"{"success":false,"data":[]}"#), Err(BodyError::Denied)));
    }

    #[test]
    fn a_row_that_cannot_be_named_is_counted_and_a_field_that_cannot_be_read_is_named() {
        let page = read(r#"{"data":[{"x":1},7,{"id":"a","price":"caro"}]}"#).unwrap();
        assert_eq!((page.rows.len(), page.rows_without_id), (1, 2));
        assert_eq!(page.rows[0].unreadable, ["price"]);
    }
}
