//! Checks whether label files can be written to their folder.

use espelho_model::text;

use super::{
    facts::StoreFacts,
    finding::{Finding, SkipReason},
};
use crate::{context::label_folder, place::Place};

pub(super) async fn look(store: &StoreFacts<'_>) -> Finding {
    if store.config.labels.is_none() {
        return Finding::not_configured(text!("doctor-labels-none"));
    }
    if store.all.is_denied() {
        return Finding::skipped(SkipReason::AnotherUser);
    }
    let section = &store.all.configuration.installation.labels;
    let folder = label_folder(section, &Place::meant(&store.all.configuration).base());
    let shown = folder.shown(&store.config.key, "");
    match folder.prove_write(&store.config.key).await {
        Ok(true) => Finding::green(text!("doctor-labels", folder = shown)),
        // There is no folder before the first label: nothing is left to prove.
        Ok(false) => Finding::not_configured(text!("doctor-labels-not-yet", folder = shown)),
        Err(error) => Finding::red(text!("doctor-labels-failed", folder = shown, cause = error.to_string())),
    }
}
