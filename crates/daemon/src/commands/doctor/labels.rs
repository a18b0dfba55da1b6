//! Checks whether label files can be written to their folder.

use std::{io::ErrorKind, path::Path};

use espelho_model::{program, text};

use super::{
    facts::StoreFacts,
    finding::{Finding, SkipReason},
};
use crate::{config::belongs_to_another, context::label_folder, place::Place, users};

pub(super) async fn look(store: &StoreFacts<'_>) -> Finding {
    if store.config.labels.is_none() {
        return Finding::not_configured(text!("doctor-labels-none"));
    }
    if store.all.is_denied() {
        return Finding::skipped(SkipReason::AnotherUser);
    }
    let section = &store.all.configuration.installation.labels;
    let base = Place::meant(&store.all.configuration).base();
    let folder = label_folder(section, &base);
    let shown = folder.shown(&store.config.key, "");
    match folder.prove_write(&store.config.key).await {
        Ok(true) => Finding::green(text!("doctor-labels", folder = shown)),
        // There is no folder before the first label: nothing is left to prove.
        Ok(false) => Finding::not_configured(text!("doctor-labels-not-yet", folder = shown)),
        Err(error) if error.kind() == ErrorKind::PermissionDenied && is_of_another_user(&base) => {
            let (user, command) = (users::owner_of(&base), program::typed_look());
            Finding::absent(text!(
                "doctor-labels-another-user",
                folder = shown,
                user = user,
                command = command
            ))
        }
        Err(error) => Finding::red(text!("doctor-labels-failed", folder = shown, cause = error.to_string())),
    }
}

/// Tells if a folder belongs to another user, who may be the service's.
fn is_of_another_user(folder: &Path) -> bool {
    folder.metadata().is_ok_and(|about| belongs_to_another(&about))
}
