//! The verdict: compares the rows with the marketplace's effects.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use super::{
    Killed, Stage,
    erp::{Erp, Given, START},
    wire::{What, Wire},
};
use crate::truth::text;

/// How far the mirror may lag behind when a level was written, in requests.
const LAG: u64 = 5_000;

/// The results of a run.
#[derive(Debug, Default)]
pub struct Report {
    /// How often the service was killed.
    pub kills: u64,
    /// Commands, levels and prices that were written.
    pub writes: u64,
    /// The commands among them.
    pub commands: u64,
    /// Commands by state.
    pub states: BTreeMap<String, u64>,
    /// Requests that the marketplace received, writes that it performed, and answers that were lost afterwards.
    pub requests: [u64; 3],
    /// Orders that were sold.
    pub orders: u64,
    /// Effects that are missing.
    pub lost: Vec<String>,
    /// Effects that happened more than once.
    pub doubled: Vec<String>,
    /// Rows with a wrong state.
    pub wrong: Vec<String>,
    /// Rows in doubt, with their texts.
    pub doubtful: Vec<String>,
    /// The time from a start to the first request, in ms: median, 90th percentile, longest.
    pub back: [u64; 3],
    /// The duration of the killing, in s.
    pub seconds: f64,
}

impl Report {
    /// Returns whether nothing was lost, doubled or settled wrongly, and at most this share of the commands (in
    /// thousandths) is in doubt.
    pub fn is_clean(&self, doubtful_per_mille: u64) -> bool {
        let clean = self.lost.is_empty() && self.doubled.is_empty() && self.wrong.is_empty();
        clean && self.doubtful.len() as u64 * 1_000 <= doubtful_per_mille * self.commands
    }

    /// Returns whether processes were killed while the ERP wrote and the marketplace performed writes.
    pub fn has_worked(&self) -> bool {
        let [requests, done, _] = self.requests;
        self.kills > 0 && self.commands > 0 && requests > 0 && done > 0
    }

    /// Returns whether a kill also left at least one write without its answer.
    pub fn has_provoked(&self) -> bool {
        self.has_worked() && self.requests.iter().all(|count| *count > 0)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [requests, done, unanswered] = self.requests;
        writeln!(f, "kills             {:>8}  in {:.0} s", self.kills, self.seconds)?;
        let [median, most, longest] = self.back;
        writeln!(f, "back at work      {median:>8}  ms (median), {most} (nine of ten), {longest} (longest)")?;
        writeln!(
            f,
            "rows written      {:>8}  {} of them commands, {} orders sold",
            self.writes, self.commands, self.orders
        )?;
        writeln!(f, "requests          {requests:>8}  {done} writes done, {unanswered} of them unanswered")?;
        writeln!(f, "states of commands  {:?}", self.states)?;
        for (name, found) in [
            ("lost", &self.lost),
            ("doubled", &self.doubled),
            ("wrongly settled", &self.wrong),
            ("doubtful", &self.doubtful),
        ] {
            writeln!(f, "{name:<17} {:>8}", found.len())?;
            for one in found.iter().take(20) {
                writeln!(f, "    {one}")?;
            }
        }
        Ok(())
    }
}

pub(super) async fn judge(stage: &Stage, erp: &Erp<'_>, wire: &Wire, killed: Killed) -> Report {
    let mut report = Report {
        kills: killed.kills,
        writes: erp.writes,
        commands: erp.commands.len() as u64,
        requests: [wire.requests, wire.writes.len() as u64, wire.lost],
        orders: erp.sales.len() as u64,
        seconds: killed.took.as_secs_f64(),
        ..Report::default()
    };
    let mut back = killed.back;
    back.sort_unstable();
    report.back = [50, 90, 100].map(|share| {
        let at = (back.len() * share / 100).min(back.len().saturating_sub(1));
        back.get(at).copied().unwrap_or_default()
    });
    for given in erp.commands.values() {
        *report.states.entry(given.state.clone()).or_default() += 1;
    }
    for open in erp.open_rows().await {
        report.wrong.push(format!("still open: {open}"));
    }
    movements(erp, wire, &mut report);
    levels(stage, erp, wire, &mut report).await;
    orders(stage, erp, wire, &mut report).await;
    prices(stage, erp, &mut report).await;
    words(stage, &mut report).await;
    report
}

/// Returns what was dispatched and when, by SKU. A transition to `shipped` counts once for each order.
fn dispatches<'w>(erp: &'w Erp<'_>, wire: &'w Wire) -> impl Iterator<Item = (u64, &'w str, i64)> {
    let mut seen = BTreeSet::new();
    let shipped = wire.writes.iter().filter_map(move |write| match &write.what {
        What::Order(number, status) if status == "shipped" && seen.insert(number) => {
            Some((write.seq, number))
        }
        _ => None,
    });
    shipped.flat_map(|(seq, number)| {
        let lines = erp.sales.get(number).into_iter().flat_map(|sale| &sale.lines);
        lines.map(move |(sku, quantity)| (seq, sku.as_str(), *quantity))
    })
}

/// Compares the movements of each SKU, in order, with those that reached the marketplace.
fn movements(erp: &Erp<'_>, wire: &Wire, report: &mut Report) {
    for goods in &erp.deltas {
        let sent: Vec<i64> = wire
            .writes
            .iter()
            .filter_map(|write| match &write.what {
                What::Moved(id, delta) if *id == goods.id => Some(*delta),
                _ => None,
            })
            .collect();
        let given: Vec<(i64, i64, &str)> = erp
            .commands
            .iter()
            .filter(|(_, given)| given.kind == "stock.adjust" && given.key == goods.sku)
            .map(|(id, given)| (*id, given.data["delta"].as_i64().unwrap_or_default(), given.state.as_str()))
            .collect();
        let Some((id, delta)) = first_that_does_not_fit(&given, &sent) else { continue };
        let done: i64 = given.iter().filter(|(.., state)| *state == "done").count() as i64;
        let words = format!(
            "{}: command {id} ({delta:+}) is the first that does not fit; {done} done, {} sent",
            goods.sku,
            sent.len()
        );
        match (sent.len() as i64).cmp(&done) {
            std::cmp::Ordering::Less => report.lost.push(words),
            std::cmp::Ordering::Greater => report.doubled.push(words),
            std::cmp::Ordering::Equal => report.wrong.push(words),
        }
    }
}

/// Returns the first movement that does not fit. A done movement was sent once and in order, a failed one was not
/// sent, and one in doubt may be either.
fn first_that_does_not_fit(given: &[(i64, i64, &str)], sent: &[i64]) -> Option<(i64, i64)> {
    let mut at = BTreeSet::from([0_usize]);
    for (id, delta, state) in given {
        let after = at.iter().filter(|at| sent.get(**at) == Some(delta)).map(|at| at + 1);
        let next: BTreeSet<usize> = match *state {
            "done" => after.collect(),
            "doubtful" => after.chain(at.iter().copied()).collect(),
            _ => continue,
        };
        if next.is_empty() {
            return Some((*id, *delta));
        }
        at = next;
    }
    (!at.contains(&sent.len())).then(|| given.last().map(|(id, delta, _)| (*id, *delta))).flatten()
}

/// Compares the stock: the sent and dispatched quantities add up to the current one, which is the last desired level
/// less what was sold.
async fn levels(stage: &Stage, erp: &Erp<'_>, wire: &Wire, report: &mut Report) {
    for goods in erp.levels.iter().chain(&erp.deltas) {
        let there = quantity_of(stage, &goods.id).await;
        let sold: Vec<(u64, i64)> = dispatches(erp, wire)
            .filter(|(_, sku, _)| *sku == goods.sku)
            .map(|(seq, _, quantity)| (seq, quantity))
            .collect();
        let mut set = (0, START);
        let mut moved = 0;
        for write in &wire.writes {
            match &write.what {
                What::Set(id, quantity) if *id == goods.id => set = (write.seq, *quantity),
                What::Moved(id, delta) if *id == goods.id => moved += delta,
                _ => (),
            }
        }
        let since =
            |from: u64| sold.iter().filter(|(seq, _)| *seq > from).map(|(_, quantity)| quantity).sum::<i64>();
        if there != set.1 + moved - since(set.0) {
            report.wrong.push(format!(
                "{}: {there} is there; {} was set, {moved} moved and {} sold since",
                goods.sku,
                set.1,
                since(set.0)
            ));
        }
        let Some((wanted, requests)) = erp.wanted_levels.get(&goods.sku) else { continue };
        let from = requests.saturating_sub(LAG);
        let mut fits = sold.iter().map(|(seq, _)| *seq).filter(|seq| *seq >= from).chain([from]).map(since);
        if !fits.any(|sold| there == wanted - sold) {
            report.lost.push(format!(
                "{}: the level {wanted} was wanted last (after {requests} requests), {there} is there, set to {} by request {}, {} sold since then",
                goods.sku, set.1, set.0, since(*requests)
            ));
        }
    }
}

async fn quantity_of(stage: &Stage, id: &str) -> i64 {
    let stock = stage.truth.data(&format!("/api/products/{id}/stock")).await;
    let rows = stock["stocks"].as_array().map_or(&[][..], Vec::as_slice);
    rows.iter().filter_map(|row| row["quantity"].as_f64()).map(|quantity| quantity as i64).sum()
}

/// Checks that each order has the status of its last transition, that each transition happened once, and that its
/// labels were generated once.
async fn orders(stage: &Stage, erp: &Erp<'_>, wire: &Wire, report: &mut Report) {
    let mut made: BTreeMap<&str, u64> = BTreeMap::new();
    for write in &wire.writes {
        if let What::Labels(number) = &write.what {
            *made.entry(number).or_default() += 1;
        }
    }
    let mut given: BTreeMap<&str, Vec<&Given>> = BTreeMap::new();
    for one in erp.commands.values().filter(|given| given.kind != "stock.adjust") {
        given.entry(&one.key).or_default().push(one);
    }
    for (number, given) in given {
        let made = made.get(number).copied().unwrap_or_default();
        for one in given.iter().filter(|one| one.kind == "labels.generate") {
            match (one.state.as_str(), made) {
                ("done", 1) | ("doubtful", 0 | 1) | ("failed", 0) => (),
                ("done", 0) => report.lost.push(format!("{number}: no labels were made")),
                (_, 2..) => report.doubled.push(format!("{number}: labels were made {made} times")),
                (state, _) => {
                    report.wrong.push(format!("{number}: labels are {state}, and were made {made} times"));
                }
            }
        }
        let events = stage.truth.data(&format!("/api/v1/sellers/orders/{number}/events")).await;
        let moves: Vec<String> = events
            .as_array()
            .or_else(|| events["events"].as_array())
            .map_or(&[][..], Vec::as_slice)
            .iter()
            .filter_map(|event| event["new_status"].as_str().map(str::to_owned))
            .collect();
        for one in given.iter().filter(|one| one.kind == "order.status") {
            let status = text(&one.data["status"]);
            let times = moves.iter().filter(|there| **there == status).count();
            match (one.state.as_str(), times) {
                ("done", 1) | ("doubtful", 0 | 1) | ("failed", 0) => (),
                ("done", 0) => report.lost.push(format!("{number}: never was {status}")),
                (_, 2..) => report.doubled.push(format!("{number}: was made {status} {times} times")),
                (state, _) => {
                    report.wrong.push(format!("{number}: {status} is {state}, and happened {times} times"));
                }
            }
        }
    }
}

async fn prices(stage: &Stage, erp: &Erp<'_>, report: &mut Report) {
    for goods in &erp.priced {
        let Some(wanted) = erp.wanted_prices.get(&goods.sku) else { continue };
        let detail = stage.truth.data(&format!("/api/products/{}", goods.id)).await;
        let there = detail["prices"][0]["value"].as_f64().unwrap_or_default();
        if format!("{there:.2}") != *wanted {
            report.lost.push(format!("{}: the price {wanted} was wanted last, {there} is there", goods.sku));
        }
    }
}

/// Collects the rows that are not done, with their texts.
async fn words(stage: &Stage, report: &mut Report) {
    let sql = "SELECT kind || ' ' || key || ' (' || CAST(id AS TEXT) || ') ' || state || ' ' || COALESCE(error_code, '') || ': ' \
        || COALESCE(error, '') || ' ' || COALESCE(hint, '') AS w FROM commands WHERE state NOT IN ('done', 'new', 'waiting', 'sending')";
    for row in stage.ask(sql).await {
        match row.contains(" doubtful ") {
            true => report.doubtful.push(row),
            false => report.wrong.push(row),
        }
    }
    for table in ["erp_stock", "erp_prices"] {
        let sql = format!(
            "SELECT sku || ' ' || state || ' ' || COALESCE(error_code, '') || ': ' || COALESCE(error, '') AS w FROM {table} \
             WHERE state NOT IN ('done', 'new', 'waiting', 'sending')"
        );
        report.wrong.extend(stage.ask(&sql).await.into_iter().map(|row| format!("{table} {row}")));
    }
}
