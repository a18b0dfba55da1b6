//! What can go wrong with labels.

use ulid::Ulid;

use super::generation;
use crate::{
    answer::{Answer, Refusal},
    call::Call,
    control::{
        Control,
        levers::{Lever, control, done},
    },
};

impl Control {
    /// Has the labels of a shipment fail that are still in the making; false where there are none.
    pub fn fail_labels(&self, store: &str, shipment: &str) -> bool {
        let (Some(store), Ok(shipment)) = (self.world().store(store), Ulid::from_string(shipment)) else {
            return false;
        };
        generation::fail(store, shipment.0)
    }
}

/// The levers of this area.
pub(crate) const LEVERS: &[Lever] = &[Lever::post(
    "labels/{store}/{shipment}/fail",
    "has the labels of a shipment fail that are still in the making; no body",
    fail,
)];

fn fail(call: &Call) -> Result<Answer, Refusal> {
    done(control(call).fail_labels(call.id(0), call.id(1)))
}
