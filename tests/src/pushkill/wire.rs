//! What reached the marketplace, in order: the sandbox's own journal, read before it drops entries.

use espelho_sandbox::{Control, JournalEntry, JournalQuery};
use serde_json::Value;

/// A request that the marketplace performed, whether or not its answer arrived.
#[derive(Clone, Debug)]
pub(super) struct Write {
    pub(super) seq: u64,
    pub(super) what: What,
}

#[derive(Clone, Debug)]
pub(super) enum What {
    /// An absolute level of a product, by its identifier.
    Set(String, i64),
    /// A movement.
    Moved(String, i64),
    /// An order's transition.
    Order(String, String),
    /// Labels of an order.
    Labels(String),
}

#[derive(Debug, Default)]
pub(super) struct Wire {
    since: u64,
    pub(super) writes: Vec<Write>,
    pub(super) requests: u64,
    /// How many answers were lost after the work was done.
    pub(super) lost: u64,
}

impl Wire {
    pub(super) fn drain(&mut self, control: &Control) {
        let entries = control.journal(&JournalQuery { since: self.since, ..JournalQuery::default() });
        for entry in entries {
            assert!(entry.seq == self.since + 1, "the journal has forgotten what came after {}", self.since);
            self.since = entry.seq;
            self.requests += 1;
            if entry.method == "GET" || entry.path.contains("/integration/auth") {
                continue;
            }
            let is_done = entry.status == 0 || (200..300).contains(&entry.status);
            if let Some(what) = is_done.then(|| what(&entry)).flatten() {
                self.lost += u64::from(entry.status == 0);
                self.writes.push(Write { seq: entry.seq, what });
            }
        }
    }
}

/// Classifies a request. One whose body was cut off has no body in the journal, and no effect.
fn what(entry: &JournalEntry) -> Option<What> {
    let path = entry.path.split('?').next().unwrap_or_default();
    let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
    if let ["api", "v1", "sellers", "orders", number, "shipment-labels", "generate"] = parts.as_slice() {
        return Some(What::Labels((*number).to_owned()));
    }
    let body: Value = serde_json::from_str(entry.body.as_deref()?).ok()?;
    match parts.as_slice() {
        ["api", "products", id, "stock"] => {
            let quantity = body["quantity"].as_f64()? as i64;
            let id = (*id).to_owned();
            Some(match (body["increment"] == true, body["decrement"] == true) {
                (true, _) => What::Moved(id, quantity),
                (_, true) => What::Moved(id, -quantity),
                _ => What::Set(id, quantity),
            })
        }
        ["api", "v1", "sellers", "orders", number, "status"] => {
            Some(What::Order((*number).to_owned(), body["status"].as_str()?.to_owned()))
        }
        _ => None,
    }
}
