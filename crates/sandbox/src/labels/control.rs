//! Labels behind the API's back: generation from the portal, and failures.

use ulid::Ulid;

use super::generation;
use crate::{
    answer::Answer,
    call::Call,
    control::{
        endpoint::{ControlEndpoint, control, done},
        handles::LabelsControl,
    },
    refusal::Refusal,
};

impl LabelsControl<'_> {
    /// Generates the labels of an order's shipments again, as the seller does in the portal: there is no event for
    /// it. How many shipments get labels.
    pub fn generate(self, store: &str, number: &str) -> usize {
        let world = self.world();
        let Some(store) = world.store(store) else { return 0 };
        let queued = generation::queued(store, number).unwrap_or_default();
        queued.into_iter().map(|(shipment, paper)| generation::begin(world, store, &shipment, paper)).count()
    }

    /// Fails the unfinished labels of a shipment; false where there are none.
    pub fn fail(self, store: &str, shipment: &str) -> bool {
        let (Some(store), Ok(shipment)) = (self.world().store(store), Ulid::from_string(shipment)) else {
            return false;
        };
        generation::fail(store, shipment.0)
    }
}

/// The control endpoints of this area.
pub(crate) const ENDPOINTS: &[ControlEndpoint] = &[
    ControlEndpoint::post(
        "labels/{store}/{order_number}/generate",
        "makes the labels of an order's shipments anew, as the seller does in the portal; no body",
        generate,
    ),
    ControlEndpoint::post(
        "labels/{store}/{shipment}/fail",
        "has the labels of a shipment fail that are still in the making; no body",
        fail,
    ),
];

fn generate(call: &Call) -> Result<Answer, Refusal> {
    done(control(call).labels().generate(call.id(0), call.id(1)) > 0)
}

fn fail(call: &Call) -> Result<Answer, Refusal> {
    done(control(call).labels().fail(call.id(0), call.id(1)))
}
