//! Details that fold away: the stores in numbers, and of a single store its data, intents, sweeps and tables.

use chrono::{DateTime, Utc};
use espelho_model::{
    sync::Counts,
    text,
    text::{Arg, words as catalogue},
};

use super::{
    sheet::{Cell, Sheet},
    words::{Words, store_address},
};
use crate::{
    status::{StatusSnapshot, StoreSnapshot, count_age, counted, drift, here, holder, intent_headings, rate},
    terminal::shown,
};

/// The stores that are listed.
const LISTED: usize = 50;

/// A snapshot in the words of a language.
struct Details<'d> {
    snapshot: &'d StatusSnapshot,
    words: Words,
}

/// Returns the tables, and the sentences below them.
pub(super) fn behind_the_scenes(snapshot: &StatusSnapshot, words: Words) -> (Vec<Sheet>, Vec<String>) {
    let details = Details { snapshot, words };
    let mut sheets = vec![details.stores()];
    let mut lines = Vec::new();
    if let [store] = &snapshot.stores[..] {
        sheets.push(details.data(store));
        sheets.push(details.intents(store));
        sheets.push(details.sweeps(store));
        sheets.push(details.tables(store));
        lines.extend(details.lines(store));
    }
    sheets.retain(|sheet| !sheet.rows.is_empty());
    (sheets, lines)
}

impl Details<'_> {
    fn since(&self, then: Option<DateTime<Utc>>) -> String {
        self.words.span(then.map(|then| (self.snapshot.at - then).num_seconds()))
    }

    fn until(&self, then: Option<DateTime<Utc>>) -> String {
        self.words.span(then.map(|then| (then - self.snapshot.at).num_seconds()))
    }

    fn stores(&self) -> Sheet {
        let columns = [
            (text!("status-store"), false),
            (text!("status-last-run"), false),
            (text!("status-lag"), true),
            (text!("status-inbox"), true),
            (text!("status-token"), true),
            (text!("status-budget"), true),
        ];
        let mut sheet = Sheet::new(&text!("status-stores"), &columns, self.words.0);
        let row = |store: &StoreSnapshot| {
            let budget =
                store.budget.as_ref().map(|budget| format!("{} / {}", budget.held, budget.per_minute));
            let is_refused = self.snapshot.refuses_token_of(store);
            let token = match is_refused {
                true => self.words.say(&text!("status-token-refused")),
                false => self.until(store.token_expires_at),
            };
            vec![
                Cell::foreign(&store.store).to(store_address(&store.store)),
                Cell::new(self.last_run(store)).with_note(self.run_figures(store)),
                Cell::new(self.words.span(store.lag_seconds)),
                Cell::new(self.words.number(store.inbox.backlog)),
                Cell::new(token).bad_if(is_refused),
                Cell::new(budget.unwrap_or_else(|| "–".to_owned())),
            ]
        };
        sheet.rows = self.snapshot.stores.iter().take(LISTED).map(row).collect();
        let hidden = self.snapshot.stores.len().saturating_sub(LISTED);
        sheet.foot = (hidden > 0).then(|| self.words.say(&text!("status-more-rows", count = hidden)));
        sheet
    }

    /// Returns the state of the last run and its age.
    fn last_run(&self, store: &StoreSnapshot) -> String {
        let Some(run) = &store.last_run else { return "–".to_owned() };
        let ended = run.finished_at.unwrap_or(run.started_at);
        let ago = self.words.ago((self.snapshot.at - ended).num_seconds());
        format!("{}, {ago}", shown(&self.words.say(&catalogue::run_state(&run.state))))
    }

    /// Returns the numbers of the last run, which it writes at its end.
    fn run_figures(&self, store: &StoreSnapshot) -> Option<String> {
        let run = store.last_run.as_ref().filter(|run| run.finished_at.is_some())?;
        let Counts { seen, changed, failed, .. } = run.counts;
        Some(self.words.say(&text!("status-run-figures", seen = seen, changed = changed, failed = failed)))
    }

    fn data(&self, store: &StoreSnapshot) -> Sheet {
        let columns = [
            (text!("status-data"), false),
            (text!("status-here"), true),
            (text!("status-counted"), true),
            (text!("status-read"), true),
            (text!("status-audit"), true),
            (text!("status-errors"), true),
        ];
        let mut sheet = Sheet::new(&text!("status-data"), &columns, self.words.0);
        let (at, locale) = (self.snapshot.at, self.words.0);
        sheet.rows.extend(store.resources.iter().map(|row| {
            vec![
                Cell::new(self.words.resource(&row.resource)),
                Cell::new(self.words.number(here(store, row))),
                Cell::new(counted(store, row, at, locale)),
                Cell::new(self.words.span(row.lag_seconds)),
                Cell::new(drift(row, at, locale)).bad_if(row.drifts()),
                Cell::new(self.words.number(row.errors)).bad_if(row.errors > 0),
            ]
        }));
        sheet.foot = count_age(store, at, locale);
        sheet
    }

    fn intents(&self, store: &StoreSnapshot) -> Sheet {
        let columns = intent_headings(text!("status-table"));
        let mut sheet = Sheet::new(&text!("status-erp"), &columns, self.words.0);
        sheet.rows.extend(store.wanted.iter().map(|rows| {
            let bad = |number: u64| Cell::new(self.words.number(number)).bad_if(number > 0);
            vec![
                Cell::new(self.words.entity(&rows.entity)),
                Cell::new(self.words.number(rows.open)),
                Cell::new(self.words.span(rows.oldest_open_seconds)),
                bad(rows.failed),
                bad(rows.held),
                bad(rows.doubtful),
                Cell::code(&rows.next_step(&store.store)),
            ]
        }));
        sheet
    }

    fn sweeps(&self, store: &StoreSnapshot) -> Sheet {
        let columns = [
            (text!("status-sweep"), false),
            (text!("status-every"), true),
            (text!("status-per-minute"), true),
            (text!("status-read"), true),
            (text!("status-next-in"), true),
            (text!("status-failure"), false),
        ];
        let mut sheet = Sheet::new(&text!("status-sweeps"), &columns, self.words.0);
        sheet.rows.extend(store.sweeps.rows.iter().map(|row| {
            let every = i64::try_from(row.every_seconds).unwrap_or(i64::MAX);
            let rarer = row.stretched.then(|| self.words.say(&text!("status-rarer")));
            vec![
                Cell::new(self.words.sweep(&row.sweep)),
                Cell::new(self.words.span(Some(every))).with_note(rarer),
                Cell::new(rate(row.requests_per_minute, self.words.0)),
                Cell::new(self.since(row.last_success)),
                Cell::new(self.until(row.next_due)),
                Cell::foreign(row.problem.as_deref().unwrap_or("–")).bad_if(row.problem.is_some()),
            ]
        }));
        let total = self.words.say(&text!("status-total"));
        let per_minute = self.words.say(&text!("status-per-minute"));
        let sum = format!("{total}: {} {per_minute}", rate(store.sweeps.requests_per_minute, self.words.0));
        sheet.foot = (!sheet.rows.is_empty()).then_some(sum);
        sheet
    }

    fn tables(&self, store: &StoreSnapshot) -> Sheet {
        let columns = [
            (text!("status-table"), false),
            (text!("status-live"), true),
            (text!("status-gone"), true),
            (text!("status-changed"), true),
        ];
        let mut sheet = Sheet::new(&text!("status-tables"), &columns, self.words.0);
        sheet.rows.extend(store.tables.iter().map(|table| {
            vec![
                Cell::code(&table.table),
                Cell::new(self.words.number(table.live)),
                Cell::new(self.words.number(table.gone)),
                Cell::new(self.since(table.last_mirrored)),
            ]
        }));
        sheet
    }

    /// Returns when webhooks were heard, and who works on the store.
    fn lines(&self, store: &StoreSnapshot) -> Vec<String> {
        let when = |then: Option<DateTime<Utc>>| match then {
            Some(then) => {
                text!("status-ago", span = Arg::Seconds((self.snapshot.at - then).num_seconds()))
            }
            None => text!("status-never"),
        };
        let webhook = store.sweeps.webhook.as_ref().map(|webhook| {
            let (heard, test) = (when(webhook.heard_at), when(webhook.test_heard_at));
            self.words.say(&text!("status-webhook-line", heard = heard, test = test))
        });
        let holder = holder(self.snapshot, store).map(|holder| shown(&self.words.say(&holder)));
        webhook.into_iter().chain(holder).collect()
    }
}
