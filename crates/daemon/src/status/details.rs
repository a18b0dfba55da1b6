//! One store of the status page, in full.

use std::fmt::Write as _;

use chrono::{DateTime, Utc};
use espelho_model::{
    text,
    text::{Arg, Locale, Text, words},
};

use super::{
    StatusSnapshot, StoreSnapshot,
    html::{escape, heads, title},
    resources,
    sweeps::{SweepRow, Webhook},
    text::holder,
    wanted,
};

/// Writes everything known about a store.
pub(super) fn write(body: &mut String, snapshot: &StatusSnapshot, store: &StoreSnapshot, locale: Locale) {
    write_resources(body, snapshot, store, locale);
    wanted::write(body, store, locale);
    write_lanes(body, store, locale);
    write_sweeps(body, snapshot, store, locale);
    write_tables(body, snapshot, store, locale);
}

fn since(snapshot: &StatusSnapshot, then: Option<DateTime<Utc>>, locale: Locale) -> String {
    then.map_or_else(|| "-".to_owned(), |then| locale.span((snapshot.at - then).num_seconds()))
}

fn write_resources(body: &mut String, snapshot: &StatusSnapshot, store: &StoreSnapshot, locale: Locale) {
    if store.resources.is_empty() {
        return;
    }
    title(body, &text!("status-data"), locale);
    heads(
        body,
        &[
            (text!("status-data"), false),
            (text!("status-here"), true),
            (text!("status-counted"), true),
            (text!("status-read"), true),
            (text!("status-audit"), true),
            (text!("status-errors"), true),
        ],
        locale,
    );
    for row in &store.resources {
        let drifts = row.drift.as_ref().is_some_and(|drift| drift.differing > 0);
        let class = |bad: bool| if bad { "n failing" } else { "n" };
        // Writing to a String cannot fail.
        let _ = write!(
            body,
            "<tr><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td>\
             <td class=\"{}\">{}</td><td class=\"{}\">{}</td></tr>",
            escape(&words::resource(&row.resource).message(locale)),
            row.local,
            escape(&resources::counted(row, snapshot.at, locale)),
            row.lag_seconds.map_or_else(|| "-".to_owned(), |lag| locale.span(lag)),
            class(drifts),
            escape(&resources::drift(row, snapshot.at, locale)),
            class(row.errors > 0),
            row.errors
        );
    }
    body.push_str("</table></div>");
}

fn write_lanes(body: &mut String, store: &StoreSnapshot, locale: Locale) {
    let Some(budget) = &store.budget else { return };
    title(body, &text!("status-budget-title"), locale);
    let free = budget.per_minute.saturating_sub(budget.held);
    let used = text!("status-budget-line", held = budget.held, per_minute = budget.per_minute, free = free);
    let _ = write!(body, "<p>{}</p>", escape(&used.message(locale)));
    let lanes: Vec<(Text, bool)> = budget.waiting.keys().map(|lane| (words::lane(lane), true)).collect();
    heads(body, &lanes, locale);
    body.push_str("<tr>");
    for waiting in budget.waiting.values() {
        let _ = write!(body, "<td class=\"n\">{waiting}</td>");
    }
    body.push_str("</tr></table></div>");
}

fn write_sweeps(body: &mut String, snapshot: &StatusSnapshot, store: &StoreSnapshot, locale: Locale) {
    let sweeps = &store.sweeps;
    if sweeps.rows.is_empty() {
        return;
    }
    title(body, &text!("status-sweeps"), locale);
    heads(
        body,
        &[
            (text!("status-sweep"), false),
            (text!("status-every"), true),
            (text!("status-per-minute"), true),
            (text!("status-read"), true),
            (text!("status-next-in"), true),
            (text!("status-failure"), false),
        ],
        locale,
    );
    sweeps.rows.iter().for_each(|row| write_sweep(body, snapshot, row, locale));
    let _ = write!(
        body,
        "<tr><td>{}</td><td></td><td class=\"n\">{:.1}</td><td></td><td></td><td></td></tr></table></div>",
        escape(&text!("status-total").message(locale)),
        sweeps.requests_per_minute
    );
    if let Some(webhook) = &sweeps.webhook {
        write_webhook(body, snapshot, webhook, locale);
    }
}

fn write_sweep(body: &mut String, snapshot: &StatusSnapshot, row: &SweepRow, locale: Locale) {
    let every = locale.span(i64::try_from(row.every_seconds).unwrap_or(i64::MAX));
    let rarer = match row.stretched {
        true => format!("<br><small>{}</small>", escape(&text!("status-rarer").message(locale))),
        false => String::new(),
    };
    let next =
        row.next_due.map_or_else(|| "-".to_owned(), |due| locale.span((due - snapshot.at).num_seconds()));
    let problem = row.problem.as_deref().map_or_else(|| "-".to_owned(), escape);
    let class = if row.problem.is_some() { "failing" } else { "" };
    let _ = write!(
        body,
        "<tr><td>{}</td><td class=\"n\">{every}{rarer}</td><td class=\"n\">{:.1}</td><td class=\"n\">{}</td>\
         <td class=\"n\">{next}</td><td class=\"{class}\">{problem}</td></tr>",
        escape(&words::sweep(&row.sweep).message(locale)),
        row.requests_per_minute,
        since(snapshot, row.last_success, locale)
    );
}

fn write_webhook(body: &mut String, snapshot: &StatusSnapshot, webhook: &Webhook, locale: Locale) {
    let when = |then: Option<DateTime<Utc>>| match then {
        Some(then) => text!("status-ago", span = Arg::Seconds((snapshot.at - then).num_seconds())),
        None => text!("status-never"),
    };
    let line =
        text!("status-webhook-line", heard = when(webhook.heard_at), test = when(webhook.test_heard_at));
    let _ = write!(body, "<p><small>{}</small></p>", escape(&line.message(locale)));
}

fn write_tables(body: &mut String, snapshot: &StatusSnapshot, store: &StoreSnapshot, locale: Locale) {
    title(body, &text!("status-tables"), locale);
    heads(
        body,
        &[
            (text!("status-table"), false),
            (text!("status-live"), true),
            (text!("status-gone"), true),
            (text!("status-changed"), true),
        ],
        locale,
    );
    for table in &store.tables {
        let _ = write!(
            body,
            "<tr><td><code>{}</code></td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>",
            escape(&table.table),
            table.live,
            table.gone,
            since(snapshot, table.last_mirrored, locale)
        );
    }
    body.push_str("</table></div>");
    if let Some(holder) = holder(snapshot, store) {
        let _ = write!(body, "<p><small>{}</small></p>", escape(&holder.message(locale)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::{
        resources::{Drift, ResourceRow},
        specimen,
    };

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
            "<td class=\"n\">315</td><td class=\"n\">300 / 300, há 3 min</td>",
            "<td class=\"n failing\">1 de 20, há 60 min</td><td class=\"n failing\">4</td>",
            "12 de 300 por minuto",
            "mais rara",
            "&lt;b&gt;no answer&lt;/b&gt;; wait",
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
