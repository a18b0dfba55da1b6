//! The retention of loose images: an image that nothing uses is removed in time.

use crate::{store::Store, world::World};

/// How long an image that nothing uses is kept ("Loose media retention" of the document).
const LOOSE_SECONDS: i64 = 72 * 3600;

/// Schedules the removal of a loose image, if nothing uses it until then.
pub(super) fn remove_later(world: &World, store: &Store, id: u128) {
    let key = store.key.clone();
    world.run_after(LOOSE_SECONDS, move |world| {
        let Some(store) = world.store(&key) else { return };
        let due = world.clock.seconds() - LOOSE_SECONDS;
        let mut media = store.media();
        // Linked and unlinked in between, it is younger than this job thinks, and has a job of its own.
        if media.get(id).is_some_and(|image| image.updated_at <= due) && media.remove_loose(id) {
            world.storage.remove(id);
        }
    });
}
