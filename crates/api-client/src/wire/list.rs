//! Listings. The document shows the paginated envelope for campaigns only. For orders it says "`data[]` plus `meta`",
//! for products nothing. All likely forms are read (see `docs/ASSUMPTIONS.md`).

use espelho_model::ContentHash;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{
    envelope::{BodyError, Envelope},
    fields::{Field, FieldReader, object},
};

/// One page of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListPage {
    /// The rows with an identifier, in the server's order.
    pub rows: Vec<ListedRow>,
    /// How many rows had no readable identifier. They cannot be mirrored, only counted.
    pub rows_without_id: usize,
    /// What the server says about the whole listing.
    pub meta: PageMeta,
}

/// One row of a listing: the resource's identifier, and a fingerprint of the row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedRow {
    /// The identifier that the detail route takes.
    pub key: String,
    /// The fingerprint of the row's text. While it is unchanged, the detail need not be fetched again.
    pub hash: ContentHash,
    /// The row as received.
    pub text: String,
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

/// The possible names of pagination fields, at any of the levels that [`parse`] searches.
#[derive(Default, Deserialize)]
struct MetaWire<'a> {
    #[serde(borrow, default)]
    pagination: Field<'a>,
    #[serde(borrow, default)]
    page: Field<'a>,
    #[serde(borrow, default)]
    current_page: Field<'a>,
    #[serde(borrow, default)]
    limit: Field<'a>,
    #[serde(borrow, default)]
    per_page: Field<'a>,
    #[serde(borrow, default)]
    last_page: Field<'a>,
    #[serde(borrow, default)]
    total_pages: Field<'a>,
    #[serde(borrow, default)]
    total: Field<'a>,
    #[serde(borrow, default)]
    total_items: Field<'a>,
    #[serde(borrow, default)]
    total_records: Field<'a>,
    #[serde(borrow, default)]
    has_next_page: Field<'a>,
    #[serde(borrow, default)]
    records: Field<'a>,
}

#[derive(Default, Deserialize)]
struct RecordsWire<'a> {
    #[serde(borrow, default)]
    records: Field<'a>,
}

/// Reads a listing whose rows are in `data[]`, in `data.data[]`, or are the body itself. `key_of` returns a row's
/// identifier.
pub(crate) fn parse(
    body: &[u8],
    key_of: impl Fn(&RawValue) -> Option<String>,
) -> Result<ListPage, BodyError> {
    let (rows, meta) = split(body)?;
    let mut page = ListPage { rows: Vec::with_capacity(rows.len()), rows_without_id: 0, meta };
    for row in rows {
        match key_of(row) {
            Some(key) => {
                let hash = ContentHash::of(row.get().as_bytes());
                page.rows.push(ListedRow { key, hash, text: row.get().to_owned() });
            }
            None => page.rows_without_id += 1,
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
pub(super) fn around(body: &[u8]) -> Result<(Vec<&RawValue>, Vec<&RawValue>), BodyError> {
    let whole: &RawValue = serde_json::from_slice(body)?;
    let mut levels = Vec::new();
    let rows = rows_of(whole, &mut levels, 3)?;
    Ok((rows, levels))
}

/// Reads pagination from those objects; an earlier object takes precedence.
pub(super) fn read_metas(levels: &[&RawValue]) -> PageMeta {
    levels.iter().fold(PageMeta::default(), |meta, level| meta.or(read_meta(level)))
}

/// Follows `data` down to the list and collects every object on the way that may carry pagination, innermost first.
fn rows_of<'a>(
    value: &'a RawValue,
    levels: &mut Vec<&'a RawValue>,
    depth: usize,
) -> Result<Vec<&'a RawValue>, BodyError> {
    if value.get().starts_with('[') {
        return Ok(serde_json::from_str(value.get())?);
    }
    let container: Envelope<'a> = object(value.get())?;
    if container.success == Some(false) {
        return Err(BodyError::Denied);
    }
    let rows = match container.data {
        Some(inner) if depth > 1 => rows_of(inner, levels, depth - 1)?,
        _ => return Err(BodyError::shape("a listing without a list in `data`")),
    };
    levels.extend(container.meta);
    levels.push(value);
    Ok(rows)
}

fn read_meta(level: &RawValue) -> PageMeta {
    let Ok(wire) = object::<MetaWire<'_>>(level.get()) else { return PageMeta::default() };
    let inner = wire.pagination.map(read_meta).unwrap_or_default();
    let mut reader = FieldReader::new(chrono::FixedOffset::east_opt(0).expect("zero is an offset"));
    let mut number = |field: Field<'_>| reader.integer("meta", field).and_then(|n| u64::try_from(n).ok());
    let records = wire.records.and_then(|r| object::<RecordsWire<'_>>(r.get()).ok()).unwrap_or_default();
    let own = PageMeta {
        page: number(wire.page).or_else(|| number(wire.current_page)),
        per_page: number(wire.per_page).or_else(|| number(wire.limit)),
        last_page: number(wire.last_page).or_else(|| number(wire.total_pages)),
        total: [wire.total, wire.total_items, wire.total_records, records.records]
            .into_iter()
            .find_map(&mut number),
        has_next: reader.boolean("meta", wire.has_next_page),
    };
    inner.or(own)
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
    fn a_body_without_a_list_is_an_error_and_a_nameless_row_is_counted() {
        assert!(parse(br#"{"success":true,"data":{"id":"a"}}"#, key_of).is_err());
        assert!(parse(br#"{"success":true}"#, key_of).is_err());
        assert!(parse(br#"{"data":[{"id":"#, key_of).is_err());
        let page = parse(br#"{"data":[{"x":"a"},{"id":"b"}]}"#, key_of).unwrap();
        assert_eq!((page.rows.len(), page.rows_without_id), (1, 1));
    }
}
