//! The control endpoint of price lists.

use super::Lists;
use crate::{answer::Answer, call::Call, control::endpoint::ControlEndpoint, refusal::Refusal};

/// The control endpoints of this area. The API has no route that reads the lists, so that a test of a client needs one.
pub(crate) const ENDPOINTS: &[ControlEndpoint] = &[ControlEndpoint::get(
    "price-lists/{store}",
    "the price lists of a store, which no route of the API reads",
    read,
)];

fn read(call: &Call) -> Result<Answer, Refusal> {
    let store = call.world.store(call.id(0)).ok_or(Refusal::NotFound)?.id;
    let mut state = call.world.price_lists.lock();
    let Lists { enabled, lists } = state.of(store);
    Ok(Answer::success(false, |json| {
        json.open_object();
        json.key("price_lists_enabled").bool(*enabled);
        json.key("price_lists").open_array();
        for list in lists {
            list.write(json);
        }
        json.close_array();
        json.close_object();
    }))
}
