//! Decides whether rows that a complete pass did not find may be marked as gone.

use std::collections::HashMap;

use chrono::{DateTime, TimeDelta, Utc};
use espelho_model::CampaignId;

/// For so long after its end a campaign's listings are read at its last reading: a service that was down meanwhile reads them
/// too, and one that starts does not read those of all campaigns that there ever were.
const ENDED_WITHIN: TimeDelta = TimeDelta::days(7);

/// How many rows one pass may mark as gone before that looks like the marketplace's mistake.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GoneGuard {
    /// Never more rows than this.
    pub max_rows: u64,
    /// Never a larger share of the mirrored rows than this, in percent …
    pub max_percent: f64,
    /// … but this many are always believed, so that a small store can lose a row.
    pub always: u64,
}

impl Default for GoneGuard {
    fn default() -> Self {
        Self { max_rows: 50, max_percent: 1.0, always: 3 }
    }
}

/// What to do about missing rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GoneVerdict {
    /// Read each of them once more; a 404 means that it is gone.
    Confirm,
    /// Mark none: there are too many.
    Refuse {
        /// The number of rows that would have been acceptable.
        limit: u64,
    },
}

/// Judges `missing` rows of `mirrored`, in a pass that listed `listed`.
///
/// A listing that is empty is never believed while the mirror has rows.
pub fn judge(guard: GoneGuard, missing: u64, mirrored: u64, listed: u64) -> GoneVerdict {
    let share = (mirrored as f64 * guard.max_percent / 100.0).floor() as u64;
    let limit = share.max(guard.always).min(guard.max_rows);
    match missing > limit || (listed == 0 && missing > 0) {
        true => GoneVerdict::Refuse { limit: if listed == 0 { 0 } else { limit } },
        false => GoneVerdict::Confirm,
    }
}

/// The listings that campaigns have lost, more at once than the guard allows. No route asks for one of them, so they stay
/// until the next reading misses the same ones, or the operator accepts that they are gone.
#[derive(Clone, Debug, Default)]
pub struct LostListings {
    is_accepted: bool,
    by_campaign: HashMap<CampaignId, Vec<String>>,
}

impl LostListings {
    /// None yet. `is_accepted` says that the operator accepts what is to come.
    pub fn new(is_accepted: bool) -> Self {
        Self { is_accepted, by_campaign: HashMap::new() }
    }

    /// Tells whether the `missing` listings (sorted keys) of `mirrored` are gone, of a campaign that listed `listed`; if not,
    /// remembers them.
    pub fn are_gone(
        &mut self,
        guard: GoneGuard,
        campaign: CampaignId,
        missing: Vec<String>,
        (mirrored, listed): (u64, u64),
    ) -> bool {
        let before = self.by_campaign.remove(&campaign);
        let verdict = judge(guard, missing.len() as u64, mirrored, listed);
        if self.is_accepted || verdict == GoneVerdict::Confirm || before.as_ref() == Some(&missing) {
            return true;
        }
        self.by_campaign.insert(campaign, missing);
        false
    }

    /// Tells whether listings of a campaign stay until the next reading.
    pub fn is_open(&self, campaign: CampaignId) -> bool {
        self.by_campaign.contains_key(&campaign)
    }

    /// The number of listings that stay for now.
    pub fn rows(&self) -> u64 {
        self.by_campaign.values().map(|keys| keys.len() as u64).sum()
    }
}

/// Tells whether a campaign that the calendar omits may have ended of late. One without an end, or before it, was cancelled.
pub fn has_just_ended(ends_at: Option<DateTime<Utc>>, now: DateTime<Utc>) -> bool {
    ends_at.is_none_or(|ended| now - ended < ENDED_WITHIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_listings_of_a_campaign_are_read_once_more_within_a_week_of_its_end() {
        let at = |days: i64| DateTime::UNIX_EPOCH + TimeDelta::days(days);
        for (ends_at, expected, why) in [
            (Some(100), true, "it has just ended"),
            (Some(94), true, "the service was down for six days"),
            (Some(93), false, "it ended long ago"),
            (Some(120), true, "it was cancelled before its end"),
            (None, true, "it was cancelled"),
        ] {
            assert_eq!(has_just_ended(ends_at.map(at), at(100)), expected, "{why}");
        }
    }

    #[test]
    fn listings_that_a_campaign_loses_at_once_are_gone_when_the_next_reading_misses_the_same_ones() {
        let keys = |of: std::ops::Range<u32>| of.map(|n| format!("{n:03}")).collect::<Vec<_>>();
        let (all, few) = (keys(0..100), keys(0..3));
        for (accepts, readings, expected) in [
            (false, &[(&few, 97)][..], &[true][..]),
            (false, &[(&all, 0)], &[false]),
            (false, &[(&all, 0), (&all, 0)], &[false, true]),
            // A changed set of missing keys is asked about anew.
            (false, &[(&all, 0), (&keys(0..0), 100), (&all, 0)], &[false, true, false]),
            (false, &[(&all, 0), (&keys(0..60), 40), (&all, 0)], &[false, false, false]),
            (true, &[(&all, 0)], &[true]),
        ] {
            let mut lost = LostListings::new(accepts);
            let (guard, campaign) = (GoneGuard::default(), CampaignId::new(7));
            for ((missing, listed), is_gone) in readings.iter().zip(expected) {
                let said = lost.are_gone(guard, campaign, (*missing).clone(), (100, *listed));
                assert_eq!(said, *is_gone, "{} missing, {accepts}", missing.len());
                assert_eq!(lost.rows(), if *is_gone { 0 } else { missing.len() as u64 });
                assert_eq!((lost.is_open(campaign), lost.is_open(CampaignId::new(8))), (!is_gone, false));
            }
        }
        let mut lost = LostListings::default();
        let guard = GoneGuard::default();
        assert!(!lost.are_gone(guard, CampaignId::new(7), all.clone(), (100, 0)));
        assert!(!lost.are_gone(guard, CampaignId::new(8), all, (100, 0)), "each campaign by itself");
    }

    // withstands: F060
    #[test]
    fn a_few_missing_rows_are_believed_and_a_landslide_is_not() {
        let check = |missing, mirrored, listed, expected| {
            assert_eq!(
                judge(GoneGuard::default(), missing, mirrored, listed),
                expected,
                "{missing} of {mirrored}"
            );
        };
        check(1, 20, 19, GoneVerdict::Confirm);
        check(3, 20, 17, GoneVerdict::Confirm);
        check(4, 20, 16, GoneVerdict::Refuse { limit: 3 });
        check(10, 1_000, 990, GoneVerdict::Confirm);
        check(11, 1_000, 989, GoneVerdict::Refuse { limit: 10 });
        check(50, 100_000, 99_950, GoneVerdict::Confirm);
        check(51, 100_000, 99_949, GoneVerdict::Refuse { limit: 50 });
    }

    #[test]
    fn an_empty_listing_is_never_believed() {
        assert_eq!(judge(GoneGuard::default(), 1, 1, 0), GoneVerdict::Refuse { limit: 0 });
        assert_eq!(judge(GoneGuard::default(), 0, 0, 0), GoneVerdict::Confirm);
    }
}
