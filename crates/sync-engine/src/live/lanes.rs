//! Which lane of the budget a refresh uses, and which problems end all work.

use espelho_api_client::limit::Lane;

use super::refresh_request::Urgency;
use crate::{Problem, Trouble};

/// Returns the lane of a refresh.
pub(super) fn lane_of(urgency: Urgency) -> Lane {
    match urgency {
        Urgency::Hinted => Lane::Refresh,
        Urgency::Found | Urgency::Swept => Lane::Poll,
    }
}

/// Whether a problem ends the work on a store until it is woken: nothing else would succeed after it.
pub(super) fn ends_all(problem: &Problem) -> bool {
    matches!(problem.trouble, Trouble::Authentication | Trouble::Held | Trouble::Configuration)
}
