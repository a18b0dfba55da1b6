//! Which lane of the budget a refresh uses.

use crate::plan::refresh_request::Urgency;
use espelho_api_client::limit::Lane;

/// Returns the lane of a refresh.
pub(super) fn lane_of(urgency: Urgency) -> Lane {
    match urgency {
        Urgency::Hinted => Lane::Refresh,
        Urgency::Found | Urgency::Swept => Lane::Poll,
    }
}
