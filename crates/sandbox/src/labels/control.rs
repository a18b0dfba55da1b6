//! What can go wrong with labels.

use ulid::Ulid;

use super::{generation, routes::queued};
use crate::{
    answer::{Answer, Refusal},
    call::Call,
    control::{
        Control,
        levers::{Lever, control, done},
    },
};

impl Control {
    /// Makes the labels of an order's shipments anew, as the seller does in the portal: nobody is told. How many shipments
    /// get some.
    pub fn generate_labels(&self, store: &str, number: &str) -> usize {
        let world = self.world();
        let Some(store) = world.store(store) else { return 0 };
        let queued = queued(store, number).unwrap_or_default();
        queued.into_iter().map(|(shipment, paper)| generation::begin(world, store, &shipment, paper)).count()
    }

    /// Has the labels of a shipment fail that are still in the making; false where there are none.
    pub fn fail_labels(&self, store: &str, shipment: &str) -> bool {
        let (Some(store), Ok(shipment)) = (self.world().store(store), Ulid::from_string(shipment)) else {
            return false;
        };
        generation::fail(store, shipment.0)
    }
}

/// The levers of this area.
pub(crate) const LEVERS: &[Lever] = &[
    Lever::post(
        "labels/{store}/{order_number}/generate",
        "makes the labels of an order's shipments anew, as the seller does in the portal; no body",
        generate,
    ),
    Lever::post(
        "labels/{store}/{shipment}/fail",
        "has the labels of a shipment fail that are still in the making; no body",
        fail,
    ),
];

fn generate(call: &Call) -> Result<Answer, Refusal> {
    done(control(call).generate_labels(call.id(0), call.id(1)) > 0)
}

fn fail(call: &Call) -> Result<Answer, Refusal> {
    done(control(call).fail_labels(call.id(0), call.id(1)))
}
