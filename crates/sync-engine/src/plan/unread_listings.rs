//! Decides what follows from the failure of one campaign's reading, and when an ended campaign is asked for again.
//!
//! A campaign that the calendar lists is read with each sweep, whatever happened: the error on its row ends with the
//! first sweep that can read it. The calendar omits one that has ended, and each of those costs requests of its own.

use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

use espelho_api_client::{Class, Error as ApiError, error::Refusal};
use espelho_model::CampaignId;

/// The pause after the first refusal, as long as the sweep's interval. It doubles with each further refusal.
const FIRST_PAUSE: Duration = Duration::from_secs(900);
/// The longest pause. An error on the row of an ended campaign may outlast its cause by so much.
const LONGEST_PAUSE: Duration = Duration::from_secs(3_600);
/// A campaign that has ended is not read any more when it has failed for so long.
const HOPELESS_AFTER: Duration = Duration::from_secs(7 * 24 * 3_600);
/// So many campaigns that begin to fail one after another are no matter of a campaign.
const MOST_IN_A_ROW: u32 = 3;

/// The scope of a failure to read a campaign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CampaignFailure {
    /// The connection, the budget, the credential or the end of the work: each other campaign would fail too.
    Common,
    /// A server in trouble, an answer that is not the marketplace's own, or a listing that moved: it may pass at once.
    Passing,
    /// The marketplace refuses this campaign.
    Refused,
}

impl CampaignFailure {
    /// Judges the error of a request for one campaign.
    pub fn of(error: &ApiError) -> Self {
        match error {
            error if error.is_not_ours() || error.is_authentication() => Self::Common,
            ApiError::LoginFailed { .. } | ApiError::Refused { status: 429, .. } => Self::Common,
            error if error.is_foreign_denial() => Self::Passing,
            ApiError::Interrupted { .. }
            | ApiError::Unreadable { .. }
            | ApiError::Refused { status: 408 | 500.., .. } => Self::Passing,
            // Without the API's error body it is the refusal of somebody else.
            ApiError::Refused { refusal, .. } if **refusal == Refusal::default() => Self::Passing,
            error if error.class() == Class::Permanent => Self::Refused,
            _ => Self::Common,
        }
    }
}

/// The campaigns whose last reading met a failure that passes.
#[derive(Clone, Debug, Default)]
pub struct FailingCampaigns {
    known: HashSet<CampaignId>,
    /// Campaigns that have begun to fail since the last answer of the marketplace, in this sweep.
    in_a_row: u32,
}

impl FailingCampaigns {
    /// Begins a sweep.
    pub fn begin(&mut self) {
        self.in_a_row = 0;
    }

    /// Records a failure that passes. Returns `true` if the others would fail too. A campaign that failed in an earlier
    /// sweep says nothing about the others, so that a few of them keep no other from being read.
    pub fn note_failed(&mut self, campaign: CampaignId) -> bool {
        if self.known.insert(campaign) {
            self.in_a_row += 1;
        }
        self.in_a_row >= MOST_IN_A_ROW
    }

    /// Records that the marketplace answered for a campaign.
    pub fn note_answered(&mut self, campaign: CampaignId) {
        self.known.remove(&campaign);
        self.in_a_row = 0;
    }
}

/// The ended campaigns whose last readings failed. Times are monotonic.
#[derive(Clone, Debug, Default)]
pub struct UnreadListings(HashMap<CampaignId, Unread>);

#[derive(Clone, Copy, Debug)]
struct Unread {
    /// Refusals in a row.
    refusals: u32,
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

    /// Records that a campaign could not be read completely. What passes is read again with the next sweep.
    pub fn note_failed(&mut self, campaign: CampaignId, failure: CampaignFailure, now: Duration) {
        let unread = self.0.entry(campaign).or_insert(Unread { refusals: 0, since: now, due: now });
        let (pause, refusals) = match failure {
            CampaignFailure::Refused => {
                let pause = FIRST_PAUSE.saturating_mul(1 << unread.refusals.min(10)).min(LONGEST_PAUSE);
                (pause, unread.refusals.saturating_add(1))
            }
            CampaignFailure::Passing | CampaignFailure::Common => (Duration::ZERO, 0),
        };
        (unread.due, unread.refusals) = (now + pause, refusals);
    }

    /// Forgets the failures of a campaign: it was read, or is not read any more.
    pub fn forget(&mut self, campaign: CampaignId) {
        self.0.remove(&campaign);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use CampaignFailure::{Common, Passing, Refused};

    const HOUR: u64 = 3_600;

    fn at(second: u64) -> Duration {
        Duration::from_secs(second)
    }

    /// Returns a refusal in the marketplace's words, or without the API's error body.
    fn refused(status: u16, message_code: &str) -> ApiError {
        ApiError::Refused {
            request: "GET /x".to_owned(),
            read: true,
            status,
            refusal: Box::new(Refusal { message_code: message_code.to_owned(), ..Refusal::default() }),
            after: None,
        }
    }

    fn unreadable(status: u16) -> ApiError {
        ApiError::Unreadable {
            request: "GET /x".to_owned(),
            read: true,
            status,
            content_type: "text/html".to_owned(),
            problem: "a page".to_owned(),
        }
    }

    #[test]
    fn the_failure_of_a_campaign_is_its_own_or_passes_or_is_that_of_all() {
        for (error, expected, why) in [
            (refused(404, "NOT_FOUND"), Refused, "the marketplace does not have it"),
            (refused(403, "FORBIDDEN"), Refused, "the marketplace withholds it"),
            (refused(422, "VALIDATION_ERROR"), Refused, "the marketplace refuses it"),
            (refused(404, ""), Passing, "a proxy's 404"),
            (refused(404, "ROUTE_MISSING"), Passing, "another server's 404"),
            (refused(410, ""), Passing, "a proxy's 410"),
            (refused(403, ""), Passing, "a proxy's 403"),
            (refused(500, "ERROR"), Passing, "an error of the marketplace"),
            (refused(503, ""), Passing, "it is overloaded"),
            (refused(408, ""), Passing, "it took too long"),
            (unreadable(502), Passing, "a proxy's page"),
            (unreadable(200), Passing, "half an answer"),
            (refused(401, "UNAUTHORIZED"), Common, "the token"),
            (refused(429, "TOO_MANY_REQUESTS"), Common, "the budget"),
            (refused(429, ""), Common, "a proxy's limit"),
        ] {
            assert_eq!(CampaignFailure::of(&error), expected, "{why}");
        }
    }

    #[test]
    fn three_campaigns_that_begin_to_fail_in_a_row_are_no_matter_of_a_campaign() {
        let mut failing = FailingCampaigns::default();
        let failed = |failing: &mut FailingCampaigns, ids: &[i64]| -> Vec<bool> {
            ids.iter().map(|id| failing.note_failed(CampaignId::new(*id))).collect()
        };
        assert_eq!(failed(&mut failing, &[1, 2]), [false, false]);
        failing.note_answered(CampaignId::new(3));
        assert_eq!(failed(&mut failing, &[4, 5, 6]), [false, false, true], "others answered before");
        failing.begin();
        assert_eq!(failed(&mut failing, &[1, 2, 4, 5, 6]), [false; 5], "they failed in the sweep before");
        assert_eq!(failed(&mut failing, &[7, 8, 9]), [false, false, true], "further ones");
        failing.begin();
        failing.note_answered(CampaignId::new(1));
        assert_eq!(failed(&mut failing, &[1, 2]), [false, false], "it failed anew");
    }

    #[test]
    fn an_ended_campaign_that_is_refused_is_asked_for_ever_more_rarely() {
        let (campaign, mut unread) = (CampaignId::new(7), UnreadListings::default());
        assert!(unread.is_due(campaign, at(0)));
        let mut now = 100;
        for pause in [900, 1_800, HOUR, HOUR, HOUR] {
            unread.note_failed(campaign, Refused, at(now));
            assert!(!unread.is_due(campaign, at(now + pause - 1)), "{pause}");
            assert!(unread.is_due(CampaignId::new(8), at(now)), "each campaign by itself");
            now += pause;
            assert!(unread.is_due(campaign, at(now)), "{pause}");
        }
        unread.forget(campaign);
        unread.note_failed(campaign, Refused, at(now));
        assert!(unread.is_due(campaign, at(now + 900)), "it was read in between");
    }

    #[test]
    fn an_ended_campaign_whose_failure_passes_is_asked_for_with_each_sweep() {
        let (campaign, mut unread) = (CampaignId::new(7), UnreadListings::default());
        for now in [0, 900, 1_800] {
            unread.note_failed(campaign, Passing, at(now));
            assert!(unread.is_due(campaign, at(now)), "{now}");
        }
        for (failure, pause) in [(Refused, 900), (Refused, 1_800), (Passing, 0), (Refused, 900)] {
            unread.note_failed(campaign, failure, at(10_000));
            assert!(unread.is_due(campaign, at(10_000 + pause)), "{failure:?}");
            assert_eq!(unread.is_due(campaign, at(10_000)), pause == 0, "{failure:?}");
        }
    }

    #[test]
    fn a_campaign_is_hopeless_when_it_has_failed_for_a_week() {
        let (campaign, week) = (CampaignId::new(7), 7 * 24 * HOUR);
        for (failures, now, expected, why) in [
            (&[][..], week, false, "it never failed"),
            (&[(0, Refused)], week - 1, false, "not yet a week"),
            (&[(0, Refused)], week, true, "a week"),
            (&[(0, Passing), (900, Passing)], week - 1, false, "what passes may pass"),
            (&[(0, Passing), (900, Passing)], week, true, "it does not pass"),
            (&[(0, Passing), (week - 1, Refused)], week, true, "since the first failure"),
        ] {
            let mut unread = UnreadListings::default();
            failures.iter().for_each(|(second, failure)| unread.note_failed(campaign, *failure, at(*second)));
            assert_eq!(unread.is_hopeless(campaign, at(now)), expected, "{why}");
            unread.forget(campaign);
            assert!(!unread.is_hopeless(campaign, at(now)), "{why}");
        }
    }
}
