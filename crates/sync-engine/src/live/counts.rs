//! Compares the marketplace's counts with the mirror's: a cheap check that shows where a more expensive sweep is worth
//! it.
//!
//! The summary route counts the current day only, so it cannot be compared; totals of listings can.

use std::time::Duration;

use espelho_api_client::{
    Client,
    resources::{orders::OrderQuery, products::ProductQuery},
};
use espelho_model::order::{STATUSES, TERMINAL_STATUSES};
use espelho_store::{EnumValue, RemoteCount};

use super::{Live, schedule::Sweep};
use crate::{Problem, Refusal, RoundTrip, pull::is_final};

/// How long to wait for a test delivery that a user requested; users wait five seconds for each answer.
const ROUND_TRIP: Duration = Duration::from_secs(4);
/// How often its arrival is checked.
const GLANCE: Duration = Duration::from_millis(50);

impl Live<'_> {
    /// Compares the totals of orders, open orders and products; wakes the sweep that repairs a difference.
    pub(super) async fn sweep_counts(&self) -> Result<(), Problem> {
        // The first reconciliation reads what is missing; until then the counts only show how much that is.
        let is_mirrored = self.known().mirrored;
        let failed = |e: espelho_store::Error| Problem::from_store(&e);
        let local = self.context.store.runs().live_counts(&self.context.key).await.map_err(failed)?;
        let remote = self.remote_totals().await?;
        let at = self.context.clock.now();
        let mut counts = Vec::new();
        for ((kind, remote), local) in
            ["orders", "open_orders", "products"].into_iter().zip(remote).zip(local)
        {
            let Some(remote) = remote else { continue };
            counts.push(RemoteCount { kind: kind.to_owned(), remote, local, at });
            if remote == local || !is_mirrored {
                continue;
            }
            tracing::debug!(store = %self.context.key, kind, remote, local, "the counts of marketplace and mirror differ");
            let mut known = self.known();
            match kind {
                // Only a complete pass decides what is gone.
                "orders" if remote > local => {
                    known.is_behind = true;
                    known.woken.push(Sweep::NewOrders);
                }
                "open_orders" => known.woken.push(Sweep::OpenOrders),
                "products" if remote > local => {
                    known.has_unknown_product = true;
                    known.woken.push(Sweep::Products);
                }
                _ => (),
            }
        }
        let written = async {
            let mut tx = self.context.store.begin(&self.context.lease).await?;
            tx.sweeps().note_remote_counts(counts).await?;
            tx.commit().await
        };
        written.await.map_err(failed)
    }

    /// Returns the totals that the listings report; `None` for a listing without one.
    async fn remote_totals(&self) -> Result<[Option<u64>; 3], Problem> {
        let client = self.poll();
        let page_parameter = &self.context.page_parameter;
        let query = || OrderQuery {
            limit: Some(1),
            page: 1,
            page_parameter: page_parameter.clone(),
            ..OrderQuery::default()
        };
        let open = STATUSES.into_iter().filter(|status| !TERMINAL_STATUSES.contains(status));
        let open = OrderQuery { statuses: open.map(str::to_owned).collect(), ..query() };
        let products = ProductQuery { per_page: Some(1), page: 1, page_parameter: page_parameter.clone() };
        let asked = [
            client.list_orders(&query()).await,
            client.list_orders(&open).await,
            client.list_products(&products).await,
        ];
        let mut totals = [None; 3];
        for (total, answer) in totals.iter_mut().zip(asked) {
            match answer {
                Ok(page) => *total = page.meta.total,
                Err(error) if is_final(&error) => (),
                Err(error) => return Err(Problem::from_api(&error)),
            }
        }
        Ok(totals)
    }

    /// Mirrors the marketplace's enumerations for orders.
    pub(super) async fn sweep_enums(&self) -> Result<(), Problem> {
        let told = match self.poll().order_enums().await {
            Ok(told) => told,
            Err(error) if is_final(&error) => return Ok(()),
            Err(error) => return Err(Problem::from_api(&error)),
        };
        let written = async {
            let mut tx = self.context.store.begin(&self.context.lease).await?;
            tx.sweeps().note_enums(words(&told)).await?;
            tx.commit().await
        };
        written.await.map_err(|e| Problem::from_store(&e))
    }

    /// Requests a test delivery. `ingest` records its arrival; the status shows when it did not arrive.
    pub(super) async fn sweep_webhook(&self) -> Result<(), Problem> {
        if !self.options.receives {
            return Ok(());
        }
        let at = self.context.clock.now();
        match self.poll().test_webhook().await {
            Ok(()) => self.note_tested(at, None),
            // The marketplace has no active webhook.
            Err(error) if is_final(&error) => {
                self.note_tested(at, Some(error.text().message(self.context.locale)));
            }
            Err(error) => return Err(Problem::from_api(&error)),
        }
        Ok(())
    }
}

impl Live<'_> {
    /// Requests a test delivery, and waits until it arrives.
    pub(super) async fn webhook_round_trip(&self, client: &Client) -> RoundTrip {
        let clock = &self.context.clock;
        let (at, begun) = (clock.now(), clock.monotonic());
        match client.test_webhook().await {
            Ok(()) => self.note_tested(at, None),
            // The marketplace has no active webhook.
            Err(error) if is_final(&error) => {
                let problem = error.text().message(self.context.locale);
                self.note_tested(at, Some(problem.clone()));
                return RoundTrip::Refused { problem };
            }
            // A marketplace in trouble proves nothing about its webhooks.
            Err(error) => return RoundTrip::NotAsked(Refusal::from(&Problem::from_api(&error))),
        }
        let since_then = || clock.monotonic() - begun;
        while !self.is_stopping() && since_then() < ROUND_TRIP {
            if self.is_test_heard_since(at) {
                return RoundTrip::Arrived {
                    milliseconds: u64::try_from(since_then().as_millis()).unwrap_or(u64::MAX),
                };
            }
            clock.sleep(GLANCE).await;
        }
        RoundTrip::Unanswered
    }
}

/// Parses the lists of an answer: keys with arrays of words, or of objects with `value` and perhaps `label` and
/// `color`.
fn words(told: &serde_json::Value) -> Vec<EnumValue> {
    let text = |value: &serde_json::Value| match value {
        serde_json::Value::String(text) => Some(text.clone()),
        serde_json::Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    let lists = told.as_object().into_iter().flatten();
    let word = |name: &str, entry: &serde_json::Value| {
        let field = |field: &str| entry.get(field).and_then(text);
        let value = text(entry).or_else(|| field("value"))?;
        Some(EnumValue { name: name.to_owned(), value, label: field("label"), color: field("color") })
    };
    lists
        .flat_map(|(name, list)| {
            list.as_array().into_iter().flatten().filter_map(move |entry| word(name, entry))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn words_are_read_with_label_and_colour_and_what_is_no_list_is_passed_over() {
        let told = r##"{"statuses":[{"value":"paid","label":"Pago","color":"#0f0"},{"value":"shipped"},{"label":"?"}],
            "channels":["marketplace",7],"version":3}"##;
        let found = words(&serde_json::from_str(told).unwrap());
        let found: Vec<String> = found
            .iter()
            .map(|v| format!("{} {} {}", v.name, v.value, v.label.as_deref().unwrap_or("-")))
            .collect();
        assert_eq!(
            found,
            ["channels marketplace -", "channels 7 -", "statuses paid Pago", "statuses shipped -"]
        );
    }
}
