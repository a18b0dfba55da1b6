//! Listings. The document shows the paginated envelope for campaigns only. For orders it says "`data[]` plus `meta`",
//! for products nothing. All likely forms are read (see `docs/ASSUMPTIONS.md`).

use std::borrow::Cow;

use chrono::{DateTime, FixedOffset, Utc};
use espelho_model::{ContentHash, containment, fault};
use serde_json::value::RawValue;

use super::{
    envelope::BodyError,
    fields::{Field, FieldReader},
    members::{Members, member},
};

/// One page of a listing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListPage {
    /// The rows with an identifier, in the server's order.
    pub rows: Vec<ListedRow>,
    /// How many rows had no readable identifier. They cannot be mirrored, only counted.
    pub rows_without_id: usize,
    /// Those of them on which our own code panicked.
    pub poisoned: Vec<PoisonedRow>,
    /// What the server says about the whole listing.
    pub meta: PageMeta,
}

/// A row of a listing on which our own code panicked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoisonedRow {
    /// The fingerprint of the row's text.
    pub hash: ContentHash,
    /// The place in the code, as `file:line`.
    pub place: String,
}

/// One row of a listing: the resource's identifier, a fingerprint of the row, and the state that it shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedRow {
    /// The identifier that the detail route takes.
    pub key: String,
    /// The fingerprint of the row's text. While it is unchanged, the detail need not be fetched again.
    pub hash: ContentHash,
    /// The row as received.
    pub text: String,
    /// The state that the row shows.
    pub state: RowState,
}

/// The state of a resource that a row of a listing shows, as far as the row has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowState {
    /// The status, where that is a text.
    pub status: Option<String>,
    /// The time of the last change as a JSON value: how it is read depends on the offset of a time that carries none.
    pub updated_at: Option<String>,
}

impl ListedRow {
    /// Returns when the row says that the resource last changed. `naive_offset` is the offset of a time that carries none.
    pub fn updated_at(&self, naive_offset: FixedOffset) -> Option<DateTime<Utc>> {
        let value = serde_json::from_str(self.state.updated_at.as_deref()?).ok()?;
        FieldReader::new(naive_offset).time("updated_at", Some(value))
    }

    /// Returns the status that the row shows, where that is a text.
    pub fn status(&self) -> Option<&str> {
        self.state.status.as_deref()
    }
}

impl RowState {
    /// Reads a row, and no further than its status and the time of its last change: each row that is listed comes by here.
    fn of(row: &RawValue) -> Self {
        let (mut status, mut updated_at) = (None, None);
        if let Some(mut members) = Members::of(row.get()) {
            while status.is_none() || updated_at.is_none() {
                let Ok(Some(name)) = members.name() else { break };
                let Ok(value) = members.value::<&RawValue>() else { break };
                // Of two with one name the first counts.
                match &*name {
                    "status" => status = status.or(Some(value)),
                    "updated_at" => updated_at = updated_at.or(Some(value)),
                    _ => (),
                }
            }
        }
        let status = status.and_then(|value| serde_json::from_str::<String>(value.get()).ok());
        let updated_at = updated_at.map(RawValue::get).filter(|value| *value != "null");
        Self { status: status.filter(|status| !status.is_empty()), updated_at: updated_at.map(str::to_owned) }
    }
}

/// Pagination, as far as the server states it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PageMeta {
    /// The page number that the server states.
    pub page: Option<u64>,
    /// Rows on a full page.
    pub per_page: Option<u64>,
    /// Number of the last page.
    pub last_page: Option<u64>,
    /// Rows in the whole listing.
    pub total: Option<u64>,
    /// Whether another page follows.
    pub has_next: Option<bool>,
}

/// An object around the rows, which may carry pagination: its members without the rows.
#[derive(Default)]
pub(super) struct Level<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

/// Reads a listing whose rows are in `data[]`, in `data.data[]`, or are the body itself. `key_of` returns a row's
/// identifier.
pub(crate) fn parse(
    body: &[u8],
    key_of: impl Fn(&RawValue) -> Option<String>,
) -> Result<ListPage, BodyError> {
    let (rows, meta) = split(body)?;
    let mut page = ListPage { rows: Vec::with_capacity(rows.len()), meta, ..ListPage::default() };
    for row in rows {
        let hash = ContentHash::of(row.get().as_bytes());
        let read = containment::run(|| {
            fault::point("listing_row", row.get());
            Some(ListedRow { key: key_of(row)?, hash, text: row.get().to_owned(), state: RowState::of(row) })
        });
        match read {
            Ok(Some(row)) => page.rows.push(row),
            Ok(None) => page.rows_without_id += 1,
            Err(panicked) => {
                page.rows_without_id += 1;
                page.poisoned.push(PoisonedRow { hash, place: panicked.place });
            }
        }
    }
    Ok(page)
}

/// Splits a listing into its rows and its pagination.
pub(crate) fn split(body: &[u8]) -> Result<(Vec<&RawValue>, PageMeta), BodyError> {
    let (rows, levels) = around(body)?;
    Ok((rows, read_metas(&levels)))
}

/// Returns the rows of a listing and the objects around them that may carry metadata, innermost first.
pub(super) fn around(body: &[u8]) -> Result<(Vec<&RawValue>, Vec<Level<'_>>), BodyError> {
    let mut levels = Vec::new();
    let rows = match std::str::from_utf8(body) {
        Ok(text) => rows_of(text, &mut levels, 3),
        Err(_) => Err(BodyError::shape("not UTF-8")),
    };
    match rows {
        Ok(rows) => Ok((rows, levels)),
        // Text that is no JSON is a broken answer, not one of another shape.
        Err(BodyError::Shape(problem)) => {
            serde_json::from_slice::<&RawValue>(body)?;
            Err(BodyError::Shape(problem))
        }
        Err(error) => Err(error),
    }
}

/// Reads pagination from those objects; an earlier object takes precedence.
pub(super) fn read_metas(levels: &[Level<'_>]) -> PageMeta {
    levels.iter().fold(PageMeta::default(), |meta, level| meta.or(level.page_meta()))
}

/// Follows `data` down to the list and collects every object on the way that may carry pagination, innermost first.
fn rows_of<'a>(
    json: &'a str,
    levels: &mut Vec<Level<'a>>,
    depth: usize,
) -> Result<Vec<&'a RawValue>, BodyError> {
    if json.trim_ascii_start().starts_with('[') {
        return Ok(serde_json::from_str(json)?);
    }
    let Some(mut members) = Members::of(json) else {
        return Err(BodyError::shape("neither a list nor an object"));
    };
    let (mut own, mut inner, mut rows) = (Level::default(), None, None);
    while let Some(name) = members.name()? {
        match &*name {
            "data" if members.rest().starts_with('[') && depth > 1 => rows = Some(members.value()?),
            "data" => inner = members.value::<Option<&RawValue>>()?,
            _ => own.0.push((name, members.value()?)),
        }
    }
    if !members.rest().trim_ascii_start().is_empty() {
        return Err(BodyError::shape("more than an object"));
    }
    match own.get("success").map(RawValue::get) {
        None | Some("true") => (),
        Some("false") => return Err(BodyError::Denied),
        Some(_) => return Err(BodyError::shape("a `success` that is not a boolean")),
    }
    let rows = match (rows, inner) {
        (Some(rows), _) => rows,
        (None, Some(inner)) if depth > 1 => rows_of(inner.get(), levels, depth - 1)?,
        _ => return Err(BodyError::shape("a listing without a list in `data`")),
    };
    levels.extend(own.get("meta").and_then(Level::of));
    levels.push(own);
    Ok(rows)
}

impl<'a> Level<'a> {
    /// Reads an object; `None` for anything else.
    pub(super) fn of(json: &'a RawValue) -> Option<Self> {
        let mut members = Members::of(json.get())?;
        let mut own = Self::default();
        while let Some(name) = members.name().ok()? {
            own.0.push((name, members.value().ok()?));
        }
        Some(own)
    }

    /// Returns a member. `null` is none.
    pub(super) fn get(&self, name: &str) -> Field<'a> {
        let found = self.0.iter().find(|(own, _)| own == name);
        found.map(|(_, value)| *value).filter(|value| value.get() != "null")
    }

    fn page_meta(&self) -> PageMeta {
        let inner = self.get("pagination").and_then(Level::of).map(|level| level.page_meta());
        let mut reader = FieldReader::new(FixedOffset::east_opt(0).expect("zero is an offset"));
        let has_next = reader.boolean("meta", self.get("has_next_page"));
        let records = self.get("records").and_then(|records| member(records, "records"));
        let mut first = |fields: &[Field<'_>]| {
            fields.iter().find_map(|field| u64::try_from(reader.integer("meta", *field)?).ok())
        };
        let own = PageMeta {
            page: first(&[self.get("page"), self.get("current_page")]),
            per_page: first(&[self.get("per_page"), self.get("limit")]),
            last_page: first(&[self.get("last_page"), self.get("total_pages")]),
            total: first(&[self.get("total"), self.get("total_items"), self.get("total_records"), records]),
            has_next,
        };
        inner.unwrap_or_default().or(own)
    }
}

impl PageMeta {
    /// Fills missing values from another level.
    fn or(self, other: Self) -> Self {
        Self {
            page: self.page.or(other.page),
            per_page: self.per_page.or(other.per_page),
            last_page: self.last_page.or(other.last_page),
            total: self.total.or(other.total),
            has_next: self.has_next.or(other.has_next),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key_of(row: &RawValue) -> Option<String> {
        let row: std::collections::BTreeMap<String, String> = serde_json::from_str(row.get()).ok()?;
        row.get("id").cloned()
    }

    fn meta(page: u64, per_page: u64, last_page: u64, total: u64) -> PageMeta {
        PageMeta {
            page: Some(page),
            per_page: Some(per_page),
            last_page: Some(last_page),
            total: Some(total),
            has_next: None,
        }
    }

    // proves: ORD-001, ENV-006, ENV-009, ENV-010, ENV-011, ENV-013, ENV-015
    #[test]
    fn every_shape_of_a_listing_reads_to_the_same_page() {
        let check = |json: &str, expected: PageMeta| {
            let page = parse(json.as_bytes(), key_of).unwrap_or_else(|e| panic!("{json}: {e:?}"));
            assert_eq!(page.rows.iter().map(|r| r.key.as_str()).collect::<Vec<_>>(), ["a", "b"], "{json}");
            assert_eq!(page.meta, expected, "{json}");
        };
        let rows = r#"[{"id":"a"},{"id":"b"}]"#;
        let told = meta(2, 20, 7, 133);
        check(
            &format!(
                r#"{{"success":true,"data":{rows},"meta":{{"page":2,"limit":20,"last_page":7,"total":133}}}}"#
            ),
            told,
        );
        check(
            &format!(
                r#"{{"data":{rows},"meta":{{"current_page":"2","per_page":"20","last_page":"7","total":"133"}}}}"#
            ),
            told,
        );
        check(
            &format!(
                r#"{{"success":true,"message_code":"SUCCESS","data":{{"data":{rows},"meta":{{"search_query":"","filters":[],"pagination":{{"page":2,"per_page":20,"last_page":7,"has_prev_page":true,"has_next_page":true,"records":{{"from":21,"to":40,"records":133}}}}}}}}}}"#
            ),
            PageMeta { has_next: Some(true), ..told },
        );
        check(
            &format!(
                r#"{{"data":{{"current_page":2,"data":{rows},"per_page":20,"last_page":7,"total":133}}}}"#
            ),
            told,
        );
        check(
            &format!(
                r#"{{"data":{{"data":{rows}}},"meta":{{"page":2,"limit":20,"last_page":7,"total":133}}}}"#
            ),
            told,
        );
        check(&format!(r#"{{"data":{rows},"meta":[]}}"#), PageMeta::default());
        check(
            &format!(
                r#"{{"data":{rows},"meta":{{"current_page":2,"per_page":20,"total_pages":7,"total_items":133}}}}"#
            ),
            told,
        );
        check(rows, PageMeta::default());
    }

    #[test]
    fn a_row_says_a_status_where_that_is_a_text() {
        for (status, expected) in [
            (r#","status":"paid""#, true),
            (r#","status":"teleported""#, true),
            (r#","status":"""#, false),
            (r#","status":null"#, false),
            (r#","status":7"#, false),
            (r#","status":{"value":"paid"}"#, false),
            (r#","order":{"status":"paid"}"#, false),
            (r#","status":null,"status":"paid""#, false),
            ("", false),
        ] {
            let body = format!(r#"{{"data":[{{"id":"a"{status}}}]}}"#);
            let page = parse(body.as_bytes(), |row| Some(row.get().to_owned())).unwrap();
            assert_eq!(page.rows[0].status().is_some(), expected, "{body}");
        }
    }

    #[test]
    fn a_row_says_when_the_resource_last_changed() {
        let west = FixedOffset::west_opt(3 * 3_600).unwrap();
        for (updated_at, expected) in [
            (r#","updated_at":"2026-11-20T12:00:00Z""#, Some("2026-11-20T12:00:00Z")),
            (r#","updated_at":"2026-11-20 12:00:00""#, Some("2026-11-20T15:00:00Z")),
            (r#","updated_at":null"#, None),
            (r#","updated_at":null,"updated_at":"2026-11-20T12:00:00Z""#, None),
            (
                r#","updated_at":"2026-11-20T12:00:00Z","status":"paid","status":null"#,
                Some("2026-11-20T12:00:00Z"),
            ),
            (r#","updated_at":"soon""#, None),
            ("", None),
        ] {
            let body = format!(r#"{{"data":[{{"id":"a"{updated_at}}}]}}"#);
            let page = parse(body.as_bytes(), |row| Some(row.get().to_owned())).unwrap();
            let expected = expected.map(|at| at.parse::<DateTime<Utc>>().unwrap());
            assert_eq!(page.rows[0].updated_at(west), expected, "{body}");
        }
    }

    #[test]
    fn a_body_without_a_list_is_an_error_and_a_nameless_row_is_counted() {
        assert!(parse(br#"{"success":true,"data":{"id":"a"}}"#, key_of).is_err());
        assert!(parse(br#"{"success":true}"#, key_of).is_err());
        assert!(parse(br#"{"data":[{"id":"#, key_of).is_err());
        let page = parse(br#"{"data":[{"x":"a"},{"id":"b"}]}"#, key_of).unwrap();
        assert_eq!((page.rows.len(), page.rows_without_id), (1, 1));
    }
}
