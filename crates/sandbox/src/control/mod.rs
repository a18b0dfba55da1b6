//! What a test may do behind the API's back: as the buyers, the platform, the portal, or as a fault.

pub(crate) mod endpoint;
pub(crate) mod endpoints;
pub(crate) mod handles;

use std::{fmt, sync::Arc};

use crate::{stats::Stats, world::World};

/// A handle to a running sandbox; cheap to clone.
///
/// Methods that name something answer whether it exists.
#[derive(Clone)]
pub struct Control(Arc<World>);

impl Control {
    pub(crate) fn new(world: Arc<World>) -> Self {
        Self(world)
    }

    /// The world, for the control endpoints that each area adds in its own folder.
    pub(crate) fn world(&self) -> &Arc<World> {
        &self.0
    }

    /// Whether the `/_sandbox/` routes are served.
    pub fn is_served(&self) -> bool {
        self.0.options.control
    }

    /// Moves the clock forward and does everything that becomes due on the way, in order. False beyond the year 9989.
    pub fn forward(&self, seconds: u32) -> bool {
        let moved = self.0.clock.forward(seconds);
        self.0.run_due_jobs();
        moved
    }

    /// The numbers of the server.
    pub fn stats(&self) -> Stats {
        self.0.counters.snapshot()
    }

    /// Sets every counter to zero.
    pub fn reset_stats(&self) {
        self.0.counters.reset();
        for store in &self.0.stores {
            store.forget_fetches();
        }
    }
}

impl fmt::Debug for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Control").field(&self.0.stores.len()).finish()
    }
}
