//! Decides what to write of a row that was read.

use espelho_model::ContentHash;
use espelho_store::{Known, Op};

/// What to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowPlan {
    /// Nothing: the mirror has it.
    Keep,
    /// Only the fingerprint of its listing row.
    Relist(ContentHash),
    /// The row.
    Write {
        /// Whether the mirror has an earlier version.
        op: Op,
        /// The fingerprint of its listing row.
        listing_hash: ContentHash,
    },
}

/// The fingerprint of no listing row: every listing has the row read again.
pub const UNREAD: ContentHash = ContentHash::from_i64(0);

/// Decides what to write of a row with this content. `listed` is the fingerprint of its listing row, if a listing
/// showed it; `unlisted` replaces it where none did, or else [`UNREAD`].
///
/// A fingerprint from no listing differs from every listing's, so the next listing makes the row be read again. Content
/// that no listing showed never keeps the fingerprint of an earlier one: if the row changes back, it is listed as then.
pub fn plan_row(
    known: Option<Known>,
    content: ContentHash,
    listed: Option<ContentHash>,
    unlisted: Option<ContentHash>,
) -> RowPlan {
    let listing_hash = listed.or(unlisted).unwrap_or(UNREAD);
    let Some(known) = known else { return RowPlan::Write { op: Op::Insert, listing_hash } };
    if known.content_hash != content || known.gone {
        return RowPlan::Write { op: Op::Update, listing_hash };
    }
    listed.filter(|hash| *hash != known.listing_hash).map_or(RowPlan::Keep, RowPlan::Relist)
}

/// Whether a row has the same content at two times: if not, another task may have written a later read.
pub fn is_unchanged(before: Option<&Known>, now: Option<&Known>) -> bool {
    let content = |known: &Known| (known.content_hash, known.gone);
    before.map(content) == now.map(content)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(number: i64) -> ContentHash {
        ContentHash::from_i64(number)
    }

    fn known(listing: i64, content: i64, gone: bool) -> Known {
        Known { listing_hash: hash(listing), content_hash: hash(content), gone }
    }

    fn written(op: Op, listing: i64) -> RowPlan {
        RowPlan::Write { op, listing_hash: hash(listing) }
    }

    #[test]
    fn a_row_is_written_where_it_differs_and_relisted_where_only_its_listing_does() {
        let mirrored = Some(known(10, 1, false));
        for (known, content, listed, unlisted, expected, why) in [
            (None, 1, Some(20), None, written(Op::Insert, 20), "it is new"),
            (None, 1, None, Some(5), written(Op::Insert, 5), "it is new, and no listing showed it"),
            (None, 1, None, None, written(Op::Insert, 0), "the next listing differs in any case"),
            (mirrored, 1, None, None, RowPlan::Keep, "it is the same"),
            (mirrored, 1, None, Some(5), RowPlan::Keep, "its listing row stays known"),
            (mirrored, 1, Some(10), None, RowPlan::Keep, "it is listed as before"),
            (mirrored, 1, Some(20), None, RowPlan::Relist(hash(20)), "it is listed in another way"),
            (mirrored, 2, Some(20), Some(5), written(Op::Update, 20), "it changed"),
            (mirrored, 2, None, Some(5), written(Op::Update, 5), "it changed, and no listing showed it"),
            (mirrored, 2, None, None, written(Op::Update, 0), "it changed, and may change back"),
            (Some(known(0, 2, false)), 1, None, None, written(Op::Update, 0), "it changed back"),
            (Some(known(0, 2, false)), 2, None, None, RowPlan::Keep, "no listing showed it yet"),
            (Some(known(0, 2, false)), 2, Some(10), None, RowPlan::Relist(hash(10)), "a listing shows it"),
            (Some(known(10, 1, true)), 1, None, None, written(Op::Update, 0), "it came back"),
        ] {
            let plan = plan_row(known, hash(content), listed.map(hash), unlisted.map(hash));
            assert_eq!(plan, expected, "{why}");
        }
    }

    #[test]
    fn a_row_that_another_task_wrote_is_not_the_one_from_before() {
        let before = known(1, 1, false);
        for (now, expected, why) in [
            (Some(before), true, "nothing happened"),
            (Some(known(2, 1, false)), true, "a listing alone tells nothing of the content"),
            (Some(known(1, 2, false)), false, "it was written"),
            (Some(known(1, 1, true)), false, "it was marked as gone"),
            (None, false, "it left"),
        ] {
            assert_eq!(is_unchanged(Some(&before), now.as_ref()), expected, "{why}");
        }
        assert!(is_unchanged(None, None) && !is_unchanged(None, Some(&before)), "somebody else mirrored it");
    }
}
