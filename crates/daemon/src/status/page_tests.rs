//! The whole page as a browser gets it, for review by people: one snapshot for each page and language.

use espelho_model::text::{Language, Locale};

use super::{
    StatusSnapshot, StoreSnapshot, page,
    resources::{Drift, ResourceRow},
    specimen::{self, at},
    sweeps::{SweepRow, Webhook},
    unknown,
    wanted::IntentRows,
};

/// Returns a store with something in every table of its page.
fn full_store() -> StoreSnapshot {
    let mut store = specimen::store("loja-1");
    let resource = |resource: &str, drift: Option<Drift>, errors| ResourceRow {
        resource: resource.into(),
        local: 315,
        remote: drift.is_some().then_some(300),
        remote_at: Some(at(57)),
        local_then: Some(300),
        last_success: Some(at(59)),
        lag_seconds: (errors == 0).then_some(60),
        drift,
        errors,
    };
    let drift = |differing| Some(Drift { at: at(0), compared: 20, differing });
    store.resources = vec![
        resource("orders", drift(1), 4),
        resource("products", drift(0), 0),
        resource("media_images", None, 0),
    ];
    let sweep = |sweep: &str, stretched, problem: Option<&str>| SweepRow {
        sweep: sweep.into(),
        every_seconds: 3_600,
        stretched,
        requests_per_minute: 1.5,
        last_success: problem.is_none().then_some(at(30)),
        next_due: stretched.then_some(at(90)),
        problem: problem.map(str::to_owned),
    };
    store.sweeps.rows =
        vec![sweep("media", true, Some("<b>\"no\" answer</b>; wait")), sweep("new_orders", false, None)];
    store.sweeps.requests_per_minute = 3.0;
    store.sweeps.webhook = Some(Webhook { heard_at: Some(at(58)), ..Webhook::default() });
    let intents = |entity: &str, failed, held| IntentRows {
        entity: entity.into(),
        open: 3,
        oldest_open_seconds: (held > 0).then_some(90),
        failed,
        held,
        doubtful: failed,
    };
    store.wanted = vec![intents("stock", 2, 0), intents("price", 0, 1), intents("command", 0, 0)];
    store
}

/// Returns the page of one store in trouble.
fn one_store() -> StatusSnapshot {
    let mut snapshot = specimen::snapshot(vec![full_store()]);
    let mut note = specimen::failing(Some("loja-1"), "it's a note & no more");
    (note.severity, note.since, note.next) = ("warning".into(), None, String::new());
    snapshot.alarms = vec![specimen::failing(None, "no <answer>"), note];
    (snapshot.state, snapshot.unproved) = ("failing".into(), vec!["nobody knows".into()]);
    snapshot
}

/// Returns the page of more stores than it lists, some of which know little of themselves.
fn many_stores() -> StatusSnapshot {
    let mut stores: Vec<_> = (0..52).map(|n| specimen::store(&format!("loja-{n}"))).collect();
    let first = &mut stores[0];
    (first.last_run, first.token_expires_at, first.budget, first.lag_seconds) = (None, None, None, None);
    stores[1].last_run.as_mut().unwrap().finished_at = None;
    let mut snapshot = specimen::snapshot(stores);
    snapshot.alarms = vec![specimen::failing(Some("loja-7"), "x")];
    snapshot.service.started_at = None;
    snapshot
}

/// Returns the page with one element a line.
fn lines(page: &str) -> String {
    let style = page.find("<style>").unwrap()..page.find("</style>").unwrap();
    let page = page.replace(&page[style], "<style>");
    let page = page.replace("><", ">\n<");
    page.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_pages_are_as_they_were_reviewed() {
    for language in Language::ALL {
        let (locale, tag) = (Locale::of(language), language.tag());
        insta::assert_snapshot!(format!("one-store-{tag}"), lines(&page(&one_store(), false, locale)));
        insta::assert_snapshot!(format!("many-stores-{tag}"), lines(&page(&many_stores(), true, locale)));
        insta::assert_snapshot!(format!("paused-{tag}"), lines(&page(&one_store(), true, locale)));
        insta::assert_snapshot!(format!("unknown-{tag}"), lines(&unknown("<loja> & 'co'", locale)));
    }
}
