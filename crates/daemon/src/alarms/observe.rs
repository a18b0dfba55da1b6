//! Observations: from the database, from the clients, and from the stores' tasks.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use chrono::{DateTime, TimeDelta, Utc};
use espelho_api_client::{
    client_metrics::UnreadableField,
    contact::{Contact, TroubleKind},
};
use espelho_model::{Clock, pause::Pause, sync::Resource, time::past};
use espelho_store::{
    AuditRecord, DatabaseTrouble, DueDeadlines, EndedRun, Error, FiscalQueue, NoticeChannel, PeerAlarm,
    RemoteCount, RowsInTrouble, SharedSkus, Store, StoreProof, SweepOverview, ZeroPrices,
};
use espelho_sync_engine::plan::{
    alarms::{
        ChannelTrouble, ContactKind, ContactTrouble, CredentialKind, CredentialTrouble, Deadlines,
        Observations, OpenDifferences, OtherAddress, Owner, RefusedWrites, Rows, ServiceObservation,
        StoreObservation, SweepObservation, UnreachedCount, UnreadablePassword, UnreadableValues,
        WebhookObservation, WebhookSilence,
    },
    silence::was_proved,
    webhook_news::as_known,
};
use tokio::task::JoinHandle;

use super::{
    backups,
    database::DatabaseState,
    heartbeats::PastWork,
    rows::{rows_of, sharing_rows, zero_rows},
};
use crate::{
    health::StoreHealth,
    status::{Live, ShownStore, sweep_periods},
};

/// How often deadlines are read: their view reads the open orders.
const DEADLINES_EVERY: Duration = Duration::from_secs(30);
/// How often the stores' progress is read: it costs a few rows for each store.
const PROGRESS_EVERY: Duration = Duration::from_secs(12);
/// How far ahead deadlines are reported.
const AHEAD: TimeDelta = TimeDelta::hours(24);
/// The span before a start of which the page shows how the stores were.
const PAST: TimeDelta = TimeDelta::hours(1);
/// How long to wait for the database; its earlier answer stands meanwhile.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(3);

/// One reading of the database.
#[derive(Clone, Default)]
struct Read {
    troubled: Arc<ByStore<RowsInTrouble>>,
    unseen: Arc<ByStore<UnseenRows>>,
    progress: Arc<Progress>,
    deadlines: Arc<ByStore<DueDeadlines>>,
    fiscal: Arc<ByStore<FiscalQueue>>,
    /// The SKUs that products share, by the store's key.
    shared: Arc<BTreeMap<String, SharedSkus>>,
    /// The prices of zero, by the store's key.
    zeroes: Arc<BTreeMap<String, ZeroPrices>>,
    pauses: Vec<Pause>,
    channels: Vec<NoticeChannel>,
    schema: Arc<[String]>,
    others: Arc<[PeerAlarm]>,
    /// The runs of the hour before the service was started; `None` until they are read, once.
    last_runs: Option<Arc<[EndedRun]>>,
}

/// The store of rows of the ERP that it has not looked at, how many there are, and since when.
type UnseenRows = (String, u64, Option<DateTime<Utc>>);

/// Rows by the store's key.
type ByStore<T> = BTreeMap<String, Vec<T>>;

/// The stores' progress, by the store's key.
#[derive(Default)]
struct Progress {
    proofs: BTreeMap<String, StoreProof>,
    swept: BTreeMap<String, SweepOverview>,
    held: Option<std::collections::BTreeSet<String>>,
}

impl Progress {
    async fn read(store: &Store) -> Result<Self, Error> {
        Ok(Self {
            proofs: store.overview().proofs().await?,
            swept: store.runs().sweep_overview(None).await?,
            held: store.leases().held_stores().await?,
        })
    }
}

/// Reads the database repeatedly, one reading at a time, each in its own task.
#[derive(Default)]
pub(crate) struct Facts {
    /// The name of this process among those that share the database; `None` where no service asks.
    instance: Option<Arc<str>>,
    read: Read,
    under_way: Option<JoinHandle<Result<Read, Error>>>,
    deadlines_at: Option<Duration>,
    progress_at: Option<Duration>,
    /// When the last reconciliation ended that a reading has taken notice of.
    ended: Option<DateTime<Utc>>,
}

impl Facts {
    /// Knows nothing yet, as this process of the service.
    pub(super) fn of(instance: &str) -> Self {
        Self { instance: Some(instance.into()), ..Self::default() }
    }

    /// Returns the alarms that other processes on the same database have found.
    pub(super) fn others(&self) -> Arc<[PeerAlarm]> {
        Arc::clone(&self.read.others)
    }

    /// Returns what the database tells of the last hour of these stores, once that has been read.
    pub(super) fn past_work(&self, shown: &[ShownStore], at: DateTime<Utc>) -> Option<Vec<PastWork>> {
        let last_runs = self.read.last_runs.as_ref()?;
        let mut work = Vec::new();
        for ShownStore { key, .. } in shown {
            let runs = last_runs.iter().filter(|run| run.store == key.as_str());
            work.extend(runs.filter_map(|run| PastWork::of_run(key, run)));
            let sweeps =
                self.read.progress.swept.get(key.as_str()).into_iter().flat_map(|swept| &swept.sweeps);
            work.extend(sweeps.filter_map(|sweep| PastWork::of_sweep(key, sweep)));
        }
        work.retain(|past| past.is_of_hour_before(at));
        Some(work)
    }

    /// Starts a reading of the database, or continues to wait for a slow one.
    /// `ended` is when the last reconciliation ended.
    pub(crate) async fn refresh(
        &mut self,
        store: &Store,
        clock: &Arc<dyn Clock>,
        ended: Option<DateTime<Utc>>,
    ) {
        let (now, at) = (clock.monotonic(), clock.now());
        let mut reading = match self.under_way.take() {
            Some(reading) => reading,
            None => {
                let wants = self.wants(now, ended);
                tokio::spawn(read(store.clone(), at, self.read.clone(), wants, self.instance.clone()))
            }
        };
        let ended = tokio::select! {
            ended = &mut reading => Some(ended),
            () = clock.sleep(ANSWER_TIMEOUT) => None,
        };
        match ended {
            Some(Ok(Ok(read))) => self.read = read,
            Some(Ok(Err(error))) => tracing::debug!(%error, "cannot read the observations from the database"),
            Some(Err(_)) => {}
            None => self.under_way = Some(reading),
        }
    }

    /// Decides what the next reading reads. A reconciliation that has just ended is shown at once.
    fn wants(&mut self, now: Duration, ended: Option<DateTime<Utc>>) -> Wants {
        let has_ended = ended > self.ended;
        self.ended = ended;
        Wants {
            deadlines: is_due(&mut self.deadlines_at, DEADLINES_EVERY, now),
            progress: is_due(&mut self.progress_at, PROGRESS_EVERY, now) || has_ended,
        }
    }

    /// Combines everything that is known now.
    pub(super) fn observations(
        &self,
        shown: &[ShownStore],
        live: &Live,
        database: DatabaseState,
        at: DateTime<Utc>,
    ) -> Observations {
        let stores = shown.iter().map(|shown| {
            let mut seen = self.of_store(shown, at);
            live.health.see(&shown.key, |health| add_health(&mut seen, shown, health, &self.read, at));
            if let Some(metrics) = live.store_metrics.of(&shown.key) {
                metrics.see_contact(|contact, ahead| add_contact(&mut seen, shown, contact, ahead, at));
                seen.unreadable = metrics.unreadable_fields().into_iter().map(unreadable).collect();
            }
            seen
        });
        let stores: Vec<StoreObservation> = stores.collect();
        Observations {
            at,
            service: ServiceObservation::Running,
            written_at: past(database.written_at, at),
            database: database.trouble,
            schema_defects: Arc::clone(&self.read.schema),
            free_bytes: live.free_bytes(),
            database_file: crate::http::file_of(&live.store),
            refused_configuration: live.health.refused_configuration(),
            stores,
            strangers: self.strangers(shown),
            channels: self.channels(&live.notice_channels),
            backups: backups::observed(live.store.file(), at),
        }
    }

    /// Returns a store as the database knows it.
    fn of_store(&self, shown: &ShownStore, at: DateTime<Utc>) -> StoreObservation {
        let name = shown.key.as_str();
        let proof = self.read.progress.proofs.get(name);
        let swept = self.read.progress.swept.get(name);
        let rows = self.read.troubled.get(name).into_iter().flatten();
        let unseen = self.read.unseen.get(name).into_iter().flatten();
        let unseen = unseen.filter_map(|(_, count, since)| Some((*count, (*since)?)));
        let due = self.read.deadlines.get(name).into_iter().flatten();
        let fiscal = self.read.fiscal.get(name).and_then(|queues| queues.first());
        let shared = self.read.shared.get(name);
        let zeroes = self.read.zeroes.get(name);
        StoreObservation {
            key: shown.key.clone(),
            base_url: shown.base_url.clone(),
            owner: match self.read.progress.held.as_ref().is_some_and(|held| held.contains(name)) {
                true => Owner::Elsewhere,
                false => Owner::Nobody(None),
            },
            answered_at: None,
            contact: None,
            failing_routes: None,
            unreadable: Vec::new(),
            credential: None,
            held_up_at: None,
            is_password_unproved: false,
            unreadable_password: None,
            missing_scopes: Vec::new(),
            refused_writes: None,
            ahead_seconds: None,
            webhook: shown.webhook_address.is_some().then(WebhookObservation::default),
            token_expires_at: proof.and_then(|proof| proof.token_expires_at),
            rows: rows
                .filter_map(rows_of)
                .chain(shared.map(sharing_rows))
                .chain(zeroes.map(zero_rows))
                .collect(),
            inbox: proof.and_then(|proof| proof.backlog).filter(|_| shown.webhook_address.is_some()),
            unseen: unseen.reduce(|one, other| (one.0 + other.0, one.1.min(other.1))),
            sweeps: sweeps(shown, swept, at),
            behind: behind(swept, at),
            differing: differing(swept, at),
            complete_at: proof.and_then(|proof| proof.complete_at),
            run_problem: None,
            deadlines: due.map(deadlines_of).collect(),
            fiscal: fiscal.map(|queue| (queue.waiting, queue.usual)),
            pauses: self.read.pauses.iter().filter(|pause| pause.store == shown.key).cloned().collect(),
        }
    }

    /// Returns the configured channels of messages that fail.
    fn channels(&self, configured: &[&str]) -> Vec<ChannelTrouble> {
        let failing = self.read.channels.iter().filter(|row| configured.contains(&row.channel.as_str()));
        let trouble = |row: &NoticeChannel| {
            Some(ChannelTrouble {
                channel: row.channel.clone(),
                since: row.failed_since?,
                symptom: row.symptom.clone(),
                detail: row.error.clone().unwrap_or_default(),
            })
        };
        failing.filter_map(trouble).collect()
    }

    fn strangers(&self, shown: &[ShownStore]) -> Option<Rows> {
        let is_shown = |store: &str| shown.iter().any(|shown| shown.key.as_str() == store);
        let strangers =
            self.read.troubled.values().flatten().filter(|rows| {
                rows.code == "unknown_store" && rows.state == "failed" && !is_shown(&rows.store)
            });
        strangers.filter_map(rows_of).reduce(|one, other| Rows {
            count: one.count + other.count,
            since: [one.since, other.since].into_iter().flatten().min(),
            ..one
        })
    }
}

/// Returns the recorded observations for when no service answers.
///
/// # Errors
/// When the database does not answer.
pub(crate) async fn offline(
    store: &Store,
    shown: &[ShownStore],
    at: DateTime<Utc>,
) -> Result<Observations, Error> {
    let wants = Wants { deadlines: true, progress: true };
    let read = read(store.clone(), at, Read::default(), wants, None).await?;
    let facts = Facts { read, ..Facts::default() };
    let stores = shown.iter().map(|shown| facts.of_store(shown, at)).collect();
    Ok(Observations {
        at,
        service: ServiceObservation::Silent(store.alarms().last_beat().await?),
        written_at: None,
        database: None,
        schema_defects: Arc::clone(&facts.read.schema),
        free_bytes: crate::http::free(store),
        database_file: crate::http::file_of(store),
        refused_configuration: None,
        stores,
        strangers: facts.strangers(shown),
        channels: Vec::new(),
        backups: backups::observed(store.file(), at),
    })
}

/// Tells whether something is due, and notes that it is done now.
fn is_due(last: &mut Option<Duration>, every: Duration, now: Duration) -> bool {
    let is_due = last.is_none_or(|then| now.saturating_sub(then) >= every);
    if is_due {
        *last = Some(now);
    }
    is_due
}

/// The parts that a reading reads anew, besides the rows in trouble.
#[derive(Clone, Copy)]
struct Wants {
    deadlines: bool,
    progress: bool,
}

/// Reads the schema first: where a table is missing, the other readings fail, and what they said before stands.
async fn read(
    store: Store,
    at: DateTime<Utc>,
    known: Read,
    wants: Wants,
    instance: Option<Arc<str>>,
) -> Result<Read, Error> {
    let schema: Arc<[String]> = match wants.deadlines {
        true => store.schema_defects().await?.iter().map(ToString::to_string).collect(),
        false => Arc::clone(&known.schema),
    };
    match read_rows(&store, at, known.clone(), wants, instance.as_deref()).await {
        Err(_) if !schema.is_empty() => Ok(Read { schema, ..known }),
        read => Ok(Read { schema, ..read? }),
    }
}

async fn read_rows(
    store: &Store,
    at: DateTime<Utc>,
    known: Read,
    wants: Wants,
    instance: Option<&str>,
) -> Result<Read, Error> {
    let progress = match wants.progress {
        true => Arc::new(Progress::read(store).await?),
        false => known.progress,
    };
    let (deadlines, fiscal, shared, zeroes) = match wants.deadlines {
        true => (
            by_store(store.overview().due_deadlines(at + AHEAD).await?, |due| due.store.clone()),
            by_store(store.overview().fiscal_queues().await?, |queue| queue.store.clone()),
            Arc::new(store.overview().shared_skus().await?),
            or_known(store.overview().zero_prices().await.map(Arc::new), known.zeroes)?,
        ),
        false => (known.deadlines, known.fiscal, known.shared, known.zeroes),
    };
    let troubled = store.overview().rows_in_trouble().await;
    let troubled = troubled.map(|rows| by_store(rows, |rows| rows.store.clone()));
    let unseen = store.overview().unseen_rows().await;
    let unseen = unseen.map(|rows| by_store(rows, |(store, ..)| store.clone()));
    Ok(Read {
        troubled: or_known(troubled, known.troubled)?,
        unseen: or_known(unseen, known.unseen)?,
        pauses: store.pauses().recent().await?,
        channels: store.notices().channels().await?,
        progress,
        deadlines,
        fiscal,
        shared,
        zeroes,
        schema: known.schema,
        last_runs: match (known.last_runs, instance) {
            (None, Some(_)) => Some(store.runs().ended_since(at - PAST).await?.into()),
            (known, _) => known,
        },
        // A file has one service.
        others: match instance.filter(|_| store.leases().is_shared()) {
            Some(instance) => {
                or_known(store.alarms().of_others(instance).await.map(Arc::from), known.others)?
            }
            None => known.others,
        },
    })
}

/// Sorts rows by store.
fn by_store<T>(rows: Vec<T>, store: impl Fn(&T) -> String) -> Arc<ByStore<T>> {
    let mut of = ByStore::default();
    for row in rows {
        of.entry(store(&row)).or_default().push(row);
    }
    Arc::new(of)
}

/// Returns what is known of a table that the ERP keeps locked: the rest is read all the same.
fn or_known<T>(read: Result<T, Error>, known: T) -> Result<T, Error> {
    match read {
        Err(error) if error.trouble() == DatabaseTrouble::Busy => Ok(known),
        read => read,
    }
}

fn sweeps(shown: &ShownStore, swept: Option<&SweepOverview>, at: DateTime<Utc>) -> Vec<SweepObservation> {
    let records = swept.map(|swept| swept.sweeps.as_slice()).unwrap_or_default();
    let seen = |(kind, every): (&'static str, Duration)| {
        let record = records.iter().find(|record| record.kind == kind);
        SweepObservation {
            kind,
            every_seconds: i64::try_from(every.as_secs()).unwrap_or(i64::MAX),
            succeeded_at: record.and_then(|record| past(record.succeeded_at, at)),
            has_failed: record.is_some_and(|record| record.problem.is_some()),
        }
    };
    sweep_periods(shown, swept, at).into_iter().map(seen).collect()
}

/// Returns the counts that a mirror has not reached; a count of the future is from before the clock was set back.
fn behind(swept: Option<&SweepOverview>, at: DateTime<Utc>) -> Vec<UnreachedCount> {
    let counts = swept.map(|swept| swept.counts.as_slice()).unwrap_or_default();
    let seen = |count: &RemoteCount| {
        let since = past(count.behind_since, at)?;
        Some(UnreachedCount { kind: count.kind.clone(), remote: count.remote, local: count.local, since })
    };
    counts.iter().filter_map(seen).collect()
}

/// Returns what the last audits found to differ and is still open, with the parts of orders that it is in; an audit of the
/// future is from before the clock was set back.
fn differing(swept: Option<&SweepOverview>, at: DateTime<Utc>) -> Vec<OpenDifferences> {
    let audits = swept.map(|swept| swept.audits.as_slice()).unwrap_or_default();
    let seen = |audit: &AuditRecord| {
        let at = past(Some(audit.at), at)?;
        let (resource, rows, compared) = (audit.resource.clone(), audit.differing, audit.compared);
        let parts = swept.filter(|_| resource == Resource::Orders.as_str());
        let parts = parts.map(|swept| swept.differing_parts.clone()).unwrap_or_default();
        (rows > 0).then_some(OpenDifferences { resource, parts, rows, compared, at })
    };
    audits.iter().filter_map(seen).collect()
}

fn deadlines_of(due: &DueDeadlines) -> Deadlines {
    Deadlines {
        kind: due.kind.clone(),
        past: due.past,
        near: due.all.saturating_sub(due.past),
        first: (due.first_key.clone(), due.first_at),
    }
}

/// Adds the state that the store's task reports.
fn add_health(
    seen: &mut StoreObservation,
    shown: &ShownStore,
    health: &StoreHealth,
    read: &Read,
    at: DateTime<Utc>,
) {
    seen.owner = health.owner(matches!(seen.owner, Owner::Elsewhere));
    seen.is_password_unproved = health.is_password_unproved;
    seen.unreadable_password = health.unreadable_password.clone().map(|(since, why)| {
        let place = shown.password_place.clone();
        UnreadablePassword { since, why, place }
    });
    if health.is_held() {
        seen.run_problem.clone_from(&health.problem);
    }
    let Some(address) = &shown.webhook_address else { return };
    let kept = read.progress.swept.get(shown.key.as_str()).and_then(|swept| swept.watch.as_ref());
    let kept = kept.map(|watch| as_known(watch, at));
    let heard = past(health.webhook.and_then(|webhook| webhook.heard_at), at);
    let silence = match (health.webhook, kept.as_ref().filter(|_| health.is_held())) {
        (Some(webhook), _) => webhook.silent_since.map(|since| (since, webhook.missed)),
        // The record of before a restart counts until the work on the store has read it.
        (None, Some(watch)) => {
            watch.missed_since.filter(|_| was_proved(watch)).map(|since| (since, watch.missed))
        }
        (None, None) => None,
    };
    seen.webhook = Some(WebhookObservation {
        heard_at: heard.max(kept.as_ref().and_then(|watch| watch.heard_at)),
        silence: silence.map(|(since, missed)| WebhookSilence { since, missed, address: address.clone() }),
        lost: health.webhook.and_then(|webhook| webhook.lost),
        is_open: health.webhook.is_some_and(|webhook| webhook.is_open),
        elsewhere: health
            .webhook_elsewhere
            .clone()
            .map(|registered| OtherAddress { registered, configured: address.clone() }),
        unverified: health.unverified,
    });
}

fn unreadable(of: UnreadableField) -> UnreadableValues {
    let (path, method) = of.route;
    UnreadableValues {
        field: of.field.to_owned(),
        route: format!("{method} {path}"),
        values: of.values,
        since: of.since,
    }
}

/// Adds what the store's client has observed of the marketplace.
fn add_contact(
    seen: &mut StoreObservation,
    shown: &ShownStore,
    contact: &Contact,
    ahead: Option<i64>,
    at: DateTime<Utc>,
) {
    seen.answered_at = past(contact.answered_at, at);
    seen.ahead_seconds = ahead;
    seen.contact = contact.transport().and_then(|trouble| {
        let kind = match trouble.kind {
            TroubleKind::Unreachable => ContactKind::Unreachable,
            TroubleKind::Errors => ContactKind::Errors,
            TroubleKind::Throttled => ContactKind::Throttled,
            TroubleKind::Credential | TroubleKind::ForeignLogin | TroubleKind::Scope => return None,
        };
        let (symptom, detail) = (trouble.symptom.clone(), trouble.detail.clone());
        Some(ContactTrouble { kind, since: trouble.since, symptom, detail, routes: Vec::new() })
    });
    seen.failing_routes = contact.failing_routes(at, seen.do_sweeps_read(at)).map(|failing| ContactTrouble {
        kind: ContactKind::Errors,
        since: failing.since,
        symptom: failing.failure.symptom,
        detail: failing.failure.detail,
        routes: failing.routes,
    });
    seen.credential = contact.credential().map(|trouble| CredentialTrouble {
        kind: match trouble.kind {
            TroubleKind::ForeignLogin => CredentialKind::Foreign,
            _ => CredentialKind::Refused,
        },
        has_token: !contact.is_shut_out(),
        since: trouble.since,
        place: shown.password_place.clone(),
        refused_fields: contact
            .refused_login_fields()
            .map(|fields| if fields.is_empty() { "none" } else { fields }.to_owned()),
    });
    seen.missing_scopes = contact.scope_of_reads().map(|trouble| trouble.abilities).unwrap_or_default();
    let writes = contact.scope_of_writes().filter(|trouble| !trouble.abilities.is_empty());
    seen.refused_writes =
        writes.map(|trouble| RefusedWrites { scopes: trouble.abilities, last: trouble.last });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rows_of_unknown_stores_are_one_alarm_with_the_same_example_at_each_reading() {
        let row = |store: &str, code: &str| RowsInTrouble {
            store: store.to_owned(),
            entity: "price".to_owned(),
            state: "failed".to_owned(),
            code: code.to_owned(),
            rows: 2,
            since: None,
            key: format!("{store}-1"),
            error: String::new(),
            hint: String::new(),
            message: None,
        };
        let unknown = ["lojas", "loja", "outra"].map(|store| row(store, "unknown_store"));
        for _ in 0..20 {
            let rows = [&unknown[..], &[row("loja", "price_zero")]].concat();
            let read = Read { troubled: by_store(rows, |rows| rows.store.clone()), ..Read::default() };
            let strangers = Facts { read, ..Facts::default() }.strangers(&[]).unwrap();
            assert_eq!((strangers.count, strangers.example.as_str()), (6, "price loja-1"));
        }
    }

    #[test]
    fn the_end_of_a_reconciliation_is_read_at_once_and_everything_else_in_its_time() {
        let mut facts = Facts::default();
        let (first, second) = (DateTime::UNIX_EPOCH, DateTime::UNIX_EPOCH + TimeDelta::days(1));
        for (second_of_reading, ended, deadlines, progress) in [
            (0, None, true, true),
            (3, None, false, false),
            (6, Some(first), false, true),
            (9, Some(first), false, false),
            (12, Some(first), false, true),
            (15, Some(second), false, true),
            (18, Some(second), false, false),
            (30, Some(second), true, true),
        ] {
            let wants = facts.wants(Duration::from_secs(second_of_reading), ended);
            assert_eq!((wants.deadlines, wants.progress), (deadlines, progress), "{second_of_reading}");
        }
    }
}
