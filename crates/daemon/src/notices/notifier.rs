//! The task that tells people of alarms. Every three seconds it looks at the latest verdict, and at what other processes
//! report; decides; records; and sends, one message at a time by each channel.
//!
//! A message is in the table before it goes out, and each attempt is noted before it is made. So a kill loses
//! nothing; a message whose attempt was under way at a kill is sent once more, with the same `id`.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use chrono::{DateTime, TimeDelta, Utc};
use espelho_model::{Clock, text::Locale};
use espelho_store::{Error, NewNoticeDelivery, Notice, NoticeState, PeerAlarm, Store};
use espelho_sync_engine::plan::{
    alarms::Severity,
    notices::{AlarmKey, Decision, Episode, Evidence, FLAP, Rules, Scene, Sightings, decide, retry_after},
};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::{
    Channels, Content, Message, Sent, Unsent,
    message::About,
    unrecorded::{Told, Unrecorded},
};
use crate::{
    alarms::{Board, Posted, ShownAlarm},
    metric::list,
};

/// How often it looks.
const EVERY: Duration = Duration::from_secs(3);
/// The database takes writes if it took one within this time: the prober writes every twelve seconds.
const WRITES: TimeDelta = TimeDelta::seconds(20);
/// The database may take this long for one look.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
/// An attempt of which nothing is known after this time ended with its process.
const ATTEMPT: TimeDelta = TimeDelta::seconds(60);
/// The same for a program, beside its own time.
const GUARD: TimeDelta = TimeDelta::seconds(30);

/// The task of the service that tells people of alarms.
pub(crate) struct Notifier {
    pub(crate) store: Store,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) board: Arc<Board>,
    pub(crate) channels: Channels,
    /// The longest time that the configured program may take.
    pub(crate) program_time: Duration,
    pub(crate) rules: Rules,
    pub(crate) locale: Locale,
    /// The name of this process among those that share the database.
    pub(crate) instance: String,
    /// The name of this machine, for people.
    pub(crate) host: String,
    /// The file of what cannot be recorded.
    pub(crate) file: PathBuf,
    pub(crate) stop: CancellationToken,
}

/// The message of an attempt, and what became of it.
struct Ended {
    id: String,
    channel: String,
    event: &'static str,
    attempts: u32,
    sent: Sent,
}

/// The notifier's knowledge and work under way.
struct Work {
    notifier: Notifier,
    names: Vec<&'static str>,
    sightings: Sightings,
    /// The processes that were alive when the database was last read.
    instances: BTreeSet<String>,
    /// The alarms that other processes reported then.
    others: Vec<PeerAlarm>,
    /// The messages that were on record then.
    episodes: Vec<Episode>,
    unrecorded: Unrecorded,
    /// Ended attempts that could not be recorded yet.
    unsettled: Vec<Ended>,
    sending: JoinSet<Ended>,
    /// The channels that are in use.
    busy: HashSet<String>,
}

/// The alarms that stand, by their identity.
type Standing = BTreeMap<AlarmKey, ShownAlarm>;

impl Notifier {
    /// Runs until the service stops; without a channel it does nothing.
    pub(crate) async fn run(self) {
        let names = self.channels.names();
        if names.is_empty() {
            return;
        }
        tracing::info!(channels = names.join(", "), "alarms are told");
        let stop = self.stop.clone();
        let mut work = Work {
            names,
            sightings: Sightings::begin(self.clock.now()),
            instances: BTreeSet::new(),
            others: Vec::new(),
            episodes: Vec::new(),
            unrecorded: Unrecorded::read(self.file.clone()),
            unsettled: Vec::new(),
            sending: JoinSet::new(),
            busy: HashSet::new(),
            notifier: self,
        };
        while !stop.is_cancelled() {
            work.look().await;
            let clock = Arc::clone(&work.notifier.clock);
            tokio::select! {
                Some(Ok(ended)) = work.sending.join_next() => work.settle(ended).await,
                () = clock.sleep(EVERY) => {}
                () = stop.cancelled() => {}
            }
        }
        // Attempts under way end; the caller limits the time.
        while let Some(ended) = work.sending.join_next().await {
            if let Ok(ended) = ended {
                work.settle(ended).await;
            }
        }
    }
}

impl Work {
    async fn look(&mut self) {
        let Some(posted) = self.notifier.board.latest() else { return };
        let at = self.notifier.clock.now();
        let takes_writes = posted.seen.written_at.is_some_and(|written| (at - written).abs() <= WRITES);
        if !takes_writes {
            return self.tell_unrecorded(&posted, at);
        }
        let clock = Arc::clone(&self.notifier.clock);
        let told = tokio::select! {
            told = self.tell(&posted, at) => told,
            () = clock.sleep(ANSWER_TIMEOUT) => return tracing::debug!("the record of messages does not answer"),
        };
        if let Err(error) = told {
            tracing::debug!(%error, "cannot read or write the record of messages; will retry");
        }
    }

    /// Looks, decides and sends, with everything on record.
    async fn tell(&mut self, posted: &Posted, at: DateTime<Utc>) -> Result<(), Error> {
        let store = self.notifier.store.clone();
        let (notices, instance) = (store.notices(), self.notifier.instance.clone());
        while let Some(ended) = self.unsettled.first() {
            record(&store, ended, at).await?;
            self.unsettled.remove(0);
        }
        self.record_unrecorded(&store).await?;
        let is_alone = !store.leases().is_shared();
        if is_alone {
            self.instances = [instance.clone()].into();
        } else {
            self.others = store.alarms().of_others(&instance).await?;
            self.instances = store.alarms().live_instances().await?.into_iter().collect();
        }
        let standing = self.standing(posted);
        self.note(at, &standing);
        if !notices.own(&instance, is_alone).await? {
            return Ok(());
        }
        self.episodes = notices.recent(at - FLAP).await?.iter().filter_map(episode).collect();
        for decision in self.decisions(posted, at, &standing) {
            match decision {
                Decision::Raise { code, severity, members, quiet } => {
                    let notice = self.notice(code, severity, &members, quiet, &standing, at);
                    let way = |channel: &&str| NewNoticeDelivery {
                        channel: (*channel).to_owned(),
                        state: NoticeState::Open,
                        attempts: 0,
                        due_at: at,
                        delivered_at: None,
                    };
                    let ways: Vec<_> = self.names.iter().map(way).collect();
                    if notices.raise(Some(&instance), &notice, &ways).await? {
                        log_raised(&notice, members.len());
                    }
                }
                Decision::End { id, ended_at } => {
                    notices.end(&instance, &id, ended_at, false).await?;
                }
                Decision::Absorb { id } => {
                    notices.end(&instance, &id, at, true).await?;
                }
            }
        }
        for due in notices.due().await? {
            let is_ours = self.names.contains(&due.channel.as_str());
            if !is_ours || self.busy.contains(&due.channel) {
                continue;
            }
            if notices.attempt(&instance, &due, at + self.guard()).await? {
                let event = if due.event == "ended" { "ended" } else { "raised" };
                self.send(&due.notice, due.channel, event, due.attempts + 1);
            }
        }
        Ok(())
    }

    /// Tells what concerns the database itself, which takes no writes; everything else waits for it.
    fn tell_unrecorded(&mut self, posted: &Posted, at: DateTime<Utc>) {
        let standing = self.standing(posted);
        self.note(at, &standing);
        let of_database: Standing = standing.into_iter().filter(|(key, _)| key.is_about_database()).collect();
        for decision in self.decisions(posted, at, &of_database) {
            if let Decision::Raise { code, severity, members, quiet } = decision {
                let notice = self.notice(code, severity, &members, quiet, &of_database, at);
                log_raised(&notice, members.len());
                self.unrecorded.add(notice, &self.names);
            }
        }
        for channel in self.names.clone() {
            if self.busy.contains(channel) {
                continue;
            }
            if let Some(told) = self.unrecorded.attempt(channel, at, at + self.guard()) {
                self.send(&told.notice(), channel.to_owned(), "raised", 0);
            }
        }
    }

    /// Moves what was told without a record into the table.
    async fn record_unrecorded(&mut self, store: &Store) -> Result<(), Error> {
        while let Some((notice, ways)) = self.unrecorded.first() {
            if !self.sending.is_empty() {
                // How its attempt ends is noted first.
                return Ok(());
            }
            store.notices().raise(None, &notice, &ways).await?;
            self.unrecorded.recorded(&notice.id);
        }
        Ok(())
    }

    /// Returns the alarms that this process finds, and those that others report.
    fn standing(&self, posted: &Posted) -> Standing {
        let mut standing = Standing::new();
        let locale = self.notifier.locale;
        let own = posted.verdict.alarms.iter().map(|alarm| ShownAlarm::of(alarm, locale));
        let others = self.others.iter().map(|other| ShownAlarm::recorded(other, locale.language, locale));
        for alarm in own.chain(others) {
            let key = AlarmKey::new(&alarm.code, alarm.store.as_deref(), &alarm.cause);
            let is_worse = |known: &ShownAlarm| alarm.is_failing() && !known.is_failing();
            if standing.get(&key).is_none_or(is_worse) {
                standing.insert(key, alarm);
            }
        }
        standing
    }

    fn note(&mut self, at: DateTime<Utc>, standing: &Standing) {
        self.sightings.note(at, self.instances.clone(), &severities(standing));
    }

    fn decisions(&self, posted: &Posted, at: DateTime<Utc>, standing: &Standing) -> Vec<Decision> {
        let unrecorded = self.unrecorded.all().map(Told::notice);
        let mut episodes = self.episodes.clone();
        episodes.extend(unrecorded.filter_map(|notice| episode(&notice)));
        let (severities, evidence) = (severities(standing), Evidence::of(&posted.seen));
        let scene = Scene {
            at,
            standing: &severities,
            sightings: &self.sightings,
            evidence: &evidence,
            episodes: &episodes,
        };
        decide(self.notifier.rules, scene)
    }

    fn notice(
        &self,
        code: String,
        severity: Severity,
        members: &BTreeSet<AlarmKey>,
        quiet: TimeDelta,
        standing: &Standing,
        at: DateTime<Utc>,
    ) -> Notice {
        let mut alarms: Vec<&ShownAlarm> = members.iter().filter_map(|key| standing.get(key)).collect();
        alarms.sort_by_key(|alarm| !alarm.is_failing());
        let content = Content::of(&alarms, self.notifier.locale);
        Notice {
            id: new_id(at),
            code,
            severity: severity.as_str().to_owned(),
            members: serde_json::to_string(members).unwrap_or_default(),
            quiet_seconds: quiet.num_seconds(),
            content: serde_json::to_string(&content).unwrap_or_default(),
            raised_at: at,
            ended_at: None,
        }
    }

    /// After this time an attempt of which nothing is known is over.
    fn guard(&self) -> TimeDelta {
        let program = TimeDelta::from_std(self.notifier.program_time).unwrap_or(ATTEMPT);
        ATTEMPT.max(program + GUARD)
    }

    fn send(&mut self, notice: &Notice, channel: String, event: &'static str, attempts: u32) {
        let content: Content = serde_json::from_str(&notice.content).unwrap_or_default();
        let about = About {
            notice: &notice.id,
            code: &notice.code,
            severity: &notice.severity,
            raised_at: notice.raised_at,
            ended_at: notice.ended_at,
            host: &self.notifier.host,
        };
        let message = match event {
            "ended" => Message::ended(about, &content, self.notifier.locale),
            _ => Message::raised(about, &content, self.notifier.locale),
        };
        self.busy.insert(channel.clone());
        let (channels, id) = (self.notifier.channels.clone(), notice.id.clone());
        self.sending.spawn(async move {
            let sent = channels.send(&channel, &message).await;
            Ended { id, channel, event, attempts, sent }
        });
    }

    /// Records how an attempt ended.
    async fn settle(&mut self, ended: Ended) {
        self.busy.remove(&ended.channel);
        let Ended { id, channel, event, sent, .. } = &ended;
        let result = if sent.is_ok() { "sent" } else { "failed" };
        list::NOTICES.counter(&[channel.as_str(), result]).increment(1);
        match sent {
            Ok(answer) => {
                tracing::info!(channel, event, notice = id, answer, "a message about an alarm went out");
            }
            Err(unsent) => {
                let (error, next_step) = (unsent.detail.as_str(), "espelho notice test");
                tracing::warn!(
                    channel,
                    event,
                    notice = id,
                    error,
                    next_step,
                    "a message about an alarm did not go out"
                );
            }
        }
        let now = self.notifier.clock.now();
        if self.unrecorded.settle(id, channel, sent.is_ok(), now) {
            return;
        }
        let (store, clock) = (self.notifier.store.clone(), Arc::clone(&self.notifier.clock));
        let recorded = tokio::select! {
            recorded = record(&store, &ended, now) => recorded.is_ok(),
            () = clock.sleep(ANSWER_TIMEOUT) => false,
        };
        if !recorded {
            self.unsettled.push(ended);
        }
    }
}

fn log_raised(Notice { id, code, severity, .. }: &Notice, alarms: usize) {
    tracing::info!(notice = id, code, severity, alarms, "people are told of an alarm");
}

/// Records how an attempt ended.
async fn record(store: &Store, ended: &Ended, now: DateTime<Utc>) -> Result<(), Error> {
    let Ended { id, channel, event, attempts, sent } = ended;
    match sent {
        Ok(_) => store.notices().delivered(id, channel, event).await,
        Err(Unsent { symptom, detail }) => {
            let due_at = retry_after(*attempts).map(|delay| now + delay);
            if due_at.is_none() {
                list::NOTICES.counter(&[channel.as_str(), "given_up"]).increment(1);
            }
            store.notices().failed((id, channel, event), (symptom, detail.as_str()), due_at).await
        }
    }
}

fn severities(standing: &Standing) -> BTreeMap<AlarmKey, Severity> {
    let severity = |alarm: &ShownAlarm| Severity::parse(&alarm.severity).unwrap_or(Severity::Warning);
    standing.iter().map(|(key, alarm)| (key.clone(), severity(alarm))).collect()
}

/// Returns a message as an episode; `None` for one that a later version has written in another way.
fn episode(notice: &Notice) -> Option<Episode> {
    Some(Episode {
        id: notice.id.clone(),
        code: notice.code.clone(),
        severity: Severity::parse(&notice.severity)?,
        members: serde_json::from_str(&notice.members).ok()?,
        raised_at: notice.raised_at,
        quiet: TimeDelta::seconds(notice.quiet_seconds),
        ended_at: notice.ended_at,
    })
}

/// Returns an identifier that no other message has, a ULID.
pub(crate) fn new_id(at: DateTime<Utc>) -> String {
    ulid::Ulid::from_datetime(at.into()).to_string()
}
