//! Decides when the listings of a campaign are read again that could not be read to their end.

use std::{collections::HashMap, time::Duration};

use espelho_model::CampaignId;

/// The pause after the first failure, as long as the sweep's interval. It doubles with each further failure.
const FIRST_PAUSE: Duration = Duration::from_secs(900);
/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(6 * 3_600);
/// A campaign that has ended is not read any more when it has failed for so long.
const HOPELESS_AFTER: Duration = Duration::from_secs(7 * 24 * 3_600);

/// The campaigns whose last readings failed. Times are monotonic.
#[derive(Clone, Debug, Default)]
pub struct UnreadListings(HashMap<CampaignId, Unread>);

#[derive(Clone, Copy, Debug)]
struct Unread {
    /// Failures in a row.
    failures: u32,
    since: Duration,
    due: Duration,
}

impl UnreadListings {
    /// Tells whether a campaign may be read.
    pub fn is_due(&self, campaign: CampaignId, now: Duration) -> bool {
        self.0.get(&campaign).is_none_or(|unread| now >= unread.due)
    }

    /// Tells whether a campaign has failed for so long that nothing more is to be expected of it.
    pub fn is_hopeless(&self, campaign: CampaignId, now: Duration) -> bool {
        self.0.get(&campaign).is_some_and(|unread| now.saturating_sub(unread.since) >= HOPELESS_AFTER)
    }

    /// Records that a campaign could not be read completely.
    pub fn note_failed(&mut self, campaign: CampaignId, now: Duration) {
        let unread = self.0.entry(campaign).or_insert(Unread { failures: 0, since: now, due: now });
        unread.due = now + FIRST_PAUSE.saturating_mul(1 << unread.failures.min(10)).min(LONGEST_PAUSE);
        unread.failures = unread.failures.saturating_add(1);
    }

    /// Forgets the failures of a campaign: it was read, or is not read any more.
    pub fn forget(&mut self, campaign: CampaignId) {
        self.0.remove(&campaign);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: u64 = 3_600;

    fn at(second: u64) -> Duration {
        Duration::from_secs(second)
    }

    #[test]
    fn a_campaign_that_cannot_be_read_is_asked_for_ever_more_rarely() {
        let (campaign, mut unread) = (CampaignId::new(7), UnreadListings::default());
        assert!(unread.is_due(campaign, at(0)));
        let mut now = 100;
        for pause in [900, 1_800, HOUR, 2 * HOUR, 4 * HOUR, 6 * HOUR, 6 * HOUR] {
            unread.note_failed(campaign, at(now));
            assert!(!unread.is_due(campaign, at(now + pause - 1)), "{pause}");
            assert!(unread.is_due(CampaignId::new(8), at(now)), "each campaign by itself");
            now += pause;
            assert!(unread.is_due(campaign, at(now)), "{pause}");
        }
        unread.forget(campaign);
        unread.note_failed(campaign, at(now));
        assert!(unread.is_due(campaign, at(now + 900)), "it was read in between");
    }

    #[test]
    fn a_campaign_is_hopeless_when_it_has_failed_for_a_week() {
        let (campaign, week) = (CampaignId::new(7), 7 * 24 * HOUR);
        for (failures, now, expected, why) in [
            (&[][..], week, false, "it never failed"),
            (&[0], week - 1, false, "not yet a week"),
            (&[0], week, true, "a week"),
            (&[0, week - 1], week, true, "since the first failure"),
        ] {
            let mut unread = UnreadListings::default();
            failures.iter().for_each(|second| unread.note_failed(campaign, at(*second)));
            assert_eq!(unread.is_hopeless(campaign, at(now)), expected, "{why}");
            unread.forget(campaign);
            assert!(!unread.is_hopeless(campaign, at(now)), "{why}");
        }
    }
}
