//! External faults: each gives a clear sentence with the next step and the right exit code, and leaves the mirror no
//! worse than before.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

mod answers;
mod configuration;
mod credential;
mod figures;
mod listings;

use espelho_sandbox::{Fault, FaultRule, Sandbox};
use espelho_tests::{Installation, Kind, Outcome, Shop};
use serde_json::Value;

async fn one_shop(kind: Kind, shop: &Shop) -> Installation {
    let installation = Installation::on(kind).await;
    shop.join(&installation);
    installation
}

async fn one_sandbox(kind: Kind, sandbox: &Sandbox) -> Installation {
    let installation = Installation::on(kind).await;
    installation.join(sandbox);
    installation
}

fn fault(route: &str, times: Option<u32>, kind: Fault) -> FaultRule {
    FaultRule { route: route.to_owned(), times, kind }
}

/// Checks that people and programs get the same next step.
#[track_caller]
fn has_next_step(run: &Outcome, error: &Value) {
    let [text, hint] = ["error", "hint"].map(|name| error[name].as_str().unwrap_or_default());
    assert!(!text.is_empty() && !hint.is_empty(), "no sentence or no next step in {error}");
    assert!(
        run.stderr.contains(text) && run.stderr.contains(hint),
        "people are told less than programs\n{run}"
    );
}
