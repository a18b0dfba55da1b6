//! One store of the status page, in full.

use std::fmt::Write as _;

use super::{
    Picture, StorePicture,
    html::{escape, heads},
    resources,
    sweeps::{SweepRow, Webhook},
    wanted,
    words::{ago, since, span, sweep},
};

/// Writes everything that is known of a store.
pub(super) fn write(body: &mut String, picture: &Picture, store: &StorePicture) {
    write_resources(body, picture, store);
    wanted::write(body, store);
    write_lanes(body, store);
    write_sweeps(body, picture, store);
    write_tables(body, picture, store);
}

fn title(body: &mut String, pt: &str, en: &str) {
    // Writing to a String cannot fail.
    let _ = write!(body, "<h2>{pt} <span class=\"en\" lang=\"en\">{en}</span></h2>");
}

fn write_resources(body: &mut String, picture: &Picture, store: &StorePicture) {
    if store.resources.is_empty() {
        return;
    }
    title(body, "Dados", "Data");
    heads(
        body,
        &[
            ("Dados", "Data", false),
            ("Aqui", "Here", true),
            ("No marketplace", "There", true),
            ("Último êxito há", "Last success", true),
            ("Diferem, na última auditoria", "Differ, last audit", true),
            ("Erros", "Errors", true),
        ],
    );
    for row in &store.resources {
        let (pt, en) = resources::name(&row.resource);
        let remote = row.remote.map_or_else(|| "-".to_owned(), |remote| remote.to_string());
        // Neither then nor now: who was counted while the mirror was read for the first time has caught up since.
        let differs = row.remote != row.local_then && row.remote.is_some_and(|remote| remote != row.local);
        let drifts = row.drift.as_ref().is_some_and(|drift| drift.differing > 0);
        let class = |bad: bool| if bad { "n failing" } else { "n" };
        let _ = write!(
            body,
            "<tr><td>{} <span class=\"en\" lang=\"en\">{}</span></td><td class=\"n\">{}</td><td class=\"{}\">{remote}</td>\
             <td class=\"n\">{}</td><td class=\"{}\">{}</td><td class=\"{}\">{}</td></tr>",
            escape(pt),
            escape(en),
            row.local,
            class(differs),
            row.lag_seconds.map_or_else(|| "-".to_owned(), span),
            class(drifts),
            resources::drift(row, picture.at),
            class(row.errors > 0),
            row.errors
        );
    }
    body.push_str("</table></div>");
}

fn write_lanes(body: &mut String, store: &StorePicture) {
    let Some(budget) = &store.budget else { return };
    title(body, "Limite de requisições", "Request budget");
    let free = budget.per_minute.saturating_sub(budget.held);
    let _ = write!(
        body,
        "<p>{} / {} por minuto em uso; {free} livres <span class=\"en\" lang=\"en\">a minute in use; {free} free</span></p>",
        budget.held, budget.per_minute
    );
    let lanes = budget.waiting.keys().map(|lane| {
        let (pt, en) = lane_name(lane);
        (pt, en, true)
    });
    heads(body, &lanes.collect::<Vec<_>>());
    body.push_str("<tr>");
    for waiting in budget.waiting.values() {
        let _ = write!(body, "<td class=\"n\">{waiting}</td>");
    }
    body.push_str("</tr></table></div>");
}

/// The lanes of the budget, as `Lane::name` has them.
fn lane_name(lane: &str) -> (&'static str, &'static str) {
    match lane {
        "interactive" => ("Interativa", "interactive"),
        "refresh" => ("Webhooks", "refresh"),
        "push" => ("Envio", "push"),
        "poll" => ("Leituras periódicas", "poll"),
        "backfill" => ("Carga completa", "backfill"),
        _ => ("Outra", "other"),
    }
}

fn write_sweeps(body: &mut String, picture: &Picture, store: &StorePicture) {
    let sweeps = &store.sweeps;
    if sweeps.rows.is_empty() {
        return;
    }
    title(body, "Leituras periódicas", "Sweeps");
    heads(
        body,
        &[
            ("Leitura", "Sweep", false),
            ("A cada", "Every", true),
            ("Req. por minuto", "Requests a minute", true),
            ("Último êxito há", "Last success", true),
            ("Próxima em", "Next in", true),
            ("Falha", "Failure", false),
        ],
    );
    sweeps.rows.iter().for_each(|row| write_sweep(body, picture, row));
    let _ = write!(
        body,
        "<tr><td>Total</td><td></td><td class=\"n\">{:.1}</td><td></td><td></td><td></td></tr></table></div>",
        sweeps.requests_per_minute
    );
    if let Some(webhook) = &sweeps.webhook {
        write_webhook(body, picture, webhook);
    }
}

fn write_sweep(body: &mut String, picture: &Picture, row: &SweepRow) {
    let (pt, en) = sweep(&row.sweep);
    let every = span(i64::try_from(row.every_seconds).unwrap_or(i64::MAX));
    let rarer = if row.stretched { "<br><small>mais rara / rarer</small>" } else { "" };
    let next = row.next_due.map_or_else(|| "-".to_owned(), |due| span((due - picture.at).num_seconds()));
    let problem = row.problem.as_deref().map_or_else(|| "-".to_owned(), escape);
    let class = if row.problem.is_some() { "failing" } else { "" };
    let _ = write!(
        body,
        "<tr><td>{} <span class=\"en\" lang=\"en\">{}</span></td><td class=\"n\">{every}{rarer}</td><td class=\"n\">{:.1}</td>\
         <td class=\"n\">{}</td><td class=\"n\">{next}</td><td class=\"{class}\">{problem}</td></tr>",
        escape(pt),
        escape(en),
        row.requests_per_minute,
        since(picture.at, row.last_success)
    );
}

fn write_webhook(body: &mut String, picture: &Picture, webhook: &Webhook) {
    let when =
        |then: Option<_>| then.map_or_else(|| "nunca / never".to_owned(), |then| ago(picture.at, then));
    let _ = write!(
        body,
        "<p><small>Último webhook / last webhook: {}. Último teste recebido / last test received: {}.</small></p>",
        when(webhook.heard_at),
        when(webhook.test_heard_at)
    );
}

fn write_tables(body: &mut String, picture: &Picture, store: &StorePicture) {
    title(body, "Tabelas", "Tables");
    heads(
        body,
        &[
            ("Tabela", "Table", false),
            ("Vivos", "Live", true),
            ("Ausentes", "Gone", true),
            ("Mudou há", "Last change", true),
        ],
    );
    for table in &store.tables {
        let _ = write!(
            body,
            "<tr><td><code>{}</code></td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>",
            escape(&table.table),
            table.live,
            table.gone,
            since(picture.at, table.last_mirrored)
        );
    }
    body.push_str("</table></div>");
    if let Some(holder) = &store.holder {
        let held = match holder.held {
            Some(true) => "Com / held by",
            Some(false) => "Livre; antes com / free; last held by",
            None => "Última com / last held by",
        };
        let (owner, since) = (escape(&holder.owner), ago(picture.at, holder.since));
        let _ = write!(body, "<p><small>{held}: {owner}, {since}</small></p>");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::{
        View,
        resources::{Drift, ResourceRow},
        specimen,
    };

    fn page() -> String {
        let mut store = specimen::store("loja-1");
        store.resources = vec![ResourceRow {
            resource: "orders".into(),
            local: 300,
            remote: Some(302),
            remote_at: Some(specimen::at(59)),
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
        crate::status::page(&specimen::picture(vec![store]), View::default())
    }

    #[test]
    fn a_store_alone_shows_both_counts_drift_lanes_and_sweeps_with_their_failures() {
        let page = page();
        for words in [
            "<td class=\"n\">300</td><td class=\"n failing\">302</td>",
            "<td class=\"n failing\">1 / 20, 60 min</td><td class=\"n failing\">4</td>",
            "Leituras periódicas<br><span class=\"en\" lang=\"en\">poll",
            "12 / 300 por minuto",
            "mais rara / rarer",
            "&lt;b&gt;no answer&lt;/b&gt;; wait",
            "<code>orders</code>",
        ] {
            assert!(page.contains(words), "no {words:?} in\n{page}");
        }
    }

    #[test]
    fn with_thousands_of_stores_the_page_stays_small_and_leads_to_each() {
        let stores = (0..3_000).map(|n| specimen::store(&format!("loja-{n}"))).collect();
        let page = crate::status::page(&specimen::picture(stores), View::default());
        assert!(page.len() < 64 << 10, "{} bytes", page.len());
        assert!(page.contains("href=\"/?store=loja-0\"") && !page.contains("<code>orders</code>"));
        assert!(page.contains("e mais 2950"), "it says how many it leaves out");
    }
}
