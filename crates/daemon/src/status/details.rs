//! One store of the status page, in full: what its template cannot take from the snapshot as it is.

use chrono::{DateTime, Utc};
use espelho_model::{text, text::Arg};

use super::{
    Budget, StoreSnapshot,
    html::StatusPage,
    resources::{self, ResourceRow},
    sweeps::Webhook,
    text::holder,
};

impl StatusPage<'_> {
    pub(super) fn counted(&self, row: &ResourceRow) -> String {
        resources::counted(row, self.snapshot.at, self.words.0)
    }

    pub(super) fn drift(&self, row: &ResourceRow) -> String {
        resources::drift(row, self.snapshot.at, self.words.0)
    }

    pub(super) fn count_age(&self, store: &StoreSnapshot) -> Option<String> {
        resources::count_age(store, self.snapshot.at, self.words.0)
    }

    pub(super) fn budget_line(&self, budget: &Budget) -> String {
        let Budget { per_minute, held, .. } = *budget;
        let free = per_minute.saturating_sub(held);
        text!("status-budget-line", held = held, per_minute = per_minute, free = free).message(self.words.0)
    }

    pub(super) fn webhook_line(&self, webhook: &Webhook) -> String {
        let when = |then: Option<DateTime<Utc>>| match then {
            Some(then) => {
                text!("status-ago", span = Arg::Seconds((self.snapshot.at - then).num_seconds()))
            }
            None => text!("status-never"),
        };
        let (heard, test) = (when(webhook.heard_at), when(webhook.test_heard_at));
        text!("status-webhook-line", heard = heard, test = test).message(self.words.0)
    }

    pub(super) fn holder(&self, store: &StoreSnapshot) -> Option<String> {
        holder(self.snapshot, store).map(|holder| holder.message(self.words.0))
    }
}

#[cfg(test)]
mod tests {
    use espelho_model::text::Locale;

    use super::*;
    use crate::status::{resources::Drift, specimen, sweeps::SweepRow};

    fn page() -> String {
        let mut store = specimen::store("loja-1");
        store.resources = vec![ResourceRow {
            resource: "orders".into(),
            local: 315,
            remote: Some(300),
            remote_at: Some(specimen::at(57)),
            local_then: Some(300),
            last_success: Some(specimen::at(59)),
            lag_seconds: Some(60),
            drift: Some(Drift { at: specimen::at(0), compared: 20, differing: 1 }),
            errors: 4,
        }];
        store.counted_at = Some(specimen::at(55));
        store.sweeps.rows = vec![SweepRow {
            sweep: "media".into(),
            every_seconds: 3_600,
            stretched: true,
            requests_per_minute: 1.5,
            last_success: Some(specimen::at(30)),
            next_due: Some(specimen::at(90)),
            problem: Some("<b>no answer</b>; wait".into()),
        }];
        crate::status::page(&specimen::snapshot(vec![store]), false, Locale::default())
    }

    // withstands: F136
    #[test]
    fn a_store_alone_shows_counts_of_one_time_drift_lanes_and_sweeps_with_their_failures() {
        let page = page();
        for words in [
            "<td class=\"n\">315</td>",
            "<td class=\"n\">300 / 300, há 3 min</td>",
            "<td class=\"n failing\">1 de 20, há 60 min</td>",
            "<td class=\"n failing\">4</td>",
            "Linhas contadas há 5 min.",
            "12 de 300 por minuto",
            "mais rara",
            "&#60;b&#62;no answer&#60;/b&#62;; wait",
            "<code>orders</code>",
        ] {
            assert!(page.contains(words), "no {words:?} in\n{page}");
        }
    }

    #[test]
    fn with_thousands_of_stores_the_page_stays_small_and_leads_to_each() {
        let stores = (0..3_000).map(|n| specimen::store(&format!("loja-{n}"))).collect();
        let page = crate::status::page(&specimen::snapshot(stores), false, Locale::default());
        assert!(page.len() < 64 << 10, "{} bytes", page.len());
        assert!(page.contains("href=\"/?store=loja-0\"") && !page.contains("<code>orders</code>"));
        assert!(page.contains("e mais 2950"), "it says how many it leaves out");
    }
}
