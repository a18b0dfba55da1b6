//! Messages to people about alarms: what was told, what became of it by each channel, and which process tells.
//!
//! Of the processes that share the database one tells: the row of `notice_owner` names it, and every write that begins a
//! message or an attempt checks it in its own transaction. Another one takes the row when the owner's heartbeat is
//! silent. An attempt is noted before it is made.

use chrono::{DateTime, TimeDelta, Utc};
use espelho_model::symptom::Symptom;

use crate::{
    Error,
    driver::{Insert, Row, Tx, Value},
    operations::Notices,
};

pub(crate) const OWNER: &str = "SELECT instance FROM notice_owner WHERE name = 'notices'";
/// An owner whose heartbeat is silent for two beats tells nothing any more.
pub(crate) const TAKE_OVER: &str = "INSERT INTO notice_owner (name, instance) VALUES ('notices', $1) \
    ON CONFLICT (name) DO UPDATE SET instance = excluded.instance \
    WHERE NOT EXISTS (SELECT 1 FROM v_services s WHERE s.instance = notice_owner.instance \
    AND s.state <> 'stopped' AND s.silent_seconds BETWEEN -30 AND 30)";
pub(crate) const TAKE: &str = "INSERT INTO notice_owner (name, instance) VALUES ('notices', $1) \
    ON CONFLICT (name) DO UPDATE SET instance = excluded.instance";
pub(crate) const RECENT: &str = "SELECT id, code, severity, members, quiet_seconds, content, raised_at, ended_at \
    FROM notices WHERE ended_at IS NULL OR raised_at > $1 ORDER BY raised_at, id";
pub(crate) const RAISE: &str = "INSERT INTO notices \
    (id, code, severity, members, quiet_seconds, content, raised_at) VALUES ($1, $2, $3, $4, $5, $6, $7) \
    ON CONFLICT (id) DO NOTHING";
pub(crate) const DELIVER: Insert = Insert {
    operation: "note the messages",
    head: "INSERT INTO notice_deliveries (notice, channel, event, state, attempts, due_at, delivered_at, error)",
    columns: 8,
    tail: "ON CONFLICT (notice, channel, event) DO NOTHING",
};
pub(crate) const END: &str = "UPDATE notices SET ended_at = $2 WHERE id = $1 AND ended_at IS NULL";
/// The end goes out where the beginning went, or still goes.
pub(crate) const TELL_END: &str = "INSERT INTO notice_deliveries (notice, channel, event, state, due_at) \
    SELECT notice, channel, 'ended', 'open', due_at FROM notice_deliveries \
    WHERE notice = $1 AND event = 'raised' AND state <> 'given_up' \
    ON CONFLICT (notice, channel, event) DO NOTHING";
/// A time far ahead comes from a clock that was set back since.
pub(crate) const DUE: &str = "SELECT n.id, n.code, n.severity, n.members, n.quiet_seconds, n.content, n.raised_at, \
    n.ended_at, d.channel, d.event, d.attempts \
    FROM notice_deliveries d JOIN notices n ON n.id = d.notice \
    WHERE d.state = 'open' AND (d.due_at <= $1 OR d.due_at > $2) \
    AND NOT EXISTS (SELECT 1 FROM notice_deliveries r WHERE d.event = 'ended' AND r.notice = d.notice \
    AND r.channel = d.channel AND r.event = 'raised' AND r.state = 'open') \
    ORDER BY n.raised_at, n.id, d.channel, d.event DESC LIMIT 100";
pub(crate) const ATTEMPT: &str = "UPDATE notice_deliveries SET attempts = attempts + 1, due_at = $5 \
    WHERE notice = $1 AND channel = $2 AND event = $3 AND attempts = $4 AND state = 'open'";
pub(crate) const DELIVERED: &str = "UPDATE notice_deliveries \
    SET state = 'delivered', delivered_at = $4, due_at = $4, error = NULL \
    WHERE notice = $1 AND channel = $2 AND event = $3";
/// A channel that works again takes at once what waits for it.
pub(crate) const RESUME: &str =
    "UPDATE notice_deliveries SET due_at = $2 WHERE channel = $1 AND state = 'open' AND due_at > $2";
pub(crate) const RETRY: &str = "UPDATE notice_deliveries SET due_at = $4, error = $5 \
    WHERE notice = $1 AND channel = $2 AND event = $3 AND state = 'open'";
/// Nobody hears of the end of a message whose beginning is given up.
pub(crate) const GIVE_UP: &str = "UPDATE notice_deliveries SET state = 'given_up', error = $3 \
    WHERE notice = $1 AND channel = $2 AND state = 'open'";
pub(crate) const WORKS: &str = "INSERT INTO notice_channels (channel, delivered_at) VALUES ($1, $2) \
    ON CONFLICT (channel) DO UPDATE SET delivered_at = excluded.delivered_at, failed_since = NULL, error = NULL, \
    symptom = NULL";
pub(crate) const FAILS: &str = "INSERT INTO notice_channels (channel, failed_since, error, symptom) \
    VALUES ($1, $2, $3, $4) \
    ON CONFLICT (channel) DO UPDATE SET error = excluded.error, symptom = excluded.symptom, \
    failed_since = COALESCE(notice_channels.failed_since, excluded.failed_since)";
pub(crate) const CHANNELS: &str =
    "SELECT channel, delivered_at, failed_since, error, symptom FROM notice_channels ORDER BY channel";
pub(crate) const FORGET_DELIVERIES: &str = "DELETE FROM notice_deliveries WHERE notice IN \
    (SELECT id FROM notices WHERE ended_at < $1)";
pub(crate) const FORGET: &str = "DELETE FROM notices WHERE ended_at < $1";

/// For how long a message is kept after its end.
const KEPT: TimeDelta = TimeDelta::days(90);
/// No attempt is planned further ahead.
const FURTHEST: TimeDelta = TimeDelta::hours(1);

/// A message about alarms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// Its unique identifier.
    pub id: String,
    /// The code of its alarms.
    pub code: String,
    /// `warning` or `failing`.
    pub severity: String,
    /// The identities of its alarms, as JSON.
    pub members: String,
    /// For how many seconds its alarms must be gone before the end is told.
    pub quiet_seconds: i64,
    /// The content, as JSON.
    pub content: String,
    /// When it was raised.
    pub raised_at: DateTime<Utc>,
    /// When it was over.
    pub ended_at: Option<DateTime<Utc>>,
}

/// The state of a message on its way by one channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum NoticeState {
    /// It is to go out.
    Open,
    /// The other side has taken it.
    Delivered,
    /// It is not tried any more.
    GivenUp,
}

/// A message `raised` on its way by one channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewNoticeDelivery {
    /// The channel.
    pub channel: String,
    /// Its state so far.
    pub state: NoticeState,
    /// How often it was tried.
    pub attempts: u32,
    /// When it is tried next.
    pub due_at: DateTime<Utc>,
    /// When the other side took it.
    pub delivered_at: Option<DateTime<Utc>>,
}

/// A message that is due by one channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DueNotice {
    /// The message.
    pub notice: Notice,
    /// The channel.
    pub channel: String,
    /// `raised` or `ended`.
    pub event: String,
    /// How often it was tried.
    pub attempts: u32,
}

/// How a channel fares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoticeChannel {
    /// Its name.
    pub channel: String,
    /// When the last message went out by it.
    pub delivered_at: Option<DateTime<Utc>>,
    /// Since when nothing goes out by it.
    pub failed_since: Option<DateTime<Utc>>,
    /// The last failure, in the words of a library, of the other side or of a program.
    pub error: Option<String>,
    /// Its kind, for people.
    pub symptom: Symptom,
}

impl Notices<'_> {
    /// Makes this process the one that tells, if none does; returns whether it is. `alone` says that no other process can
    /// be alive.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn own(self, instance: &str, alone: bool) -> Result<bool, Error> {
        let rows = self.database.fetch("read who tells alarms", OWNER, Vec::new()).await?;
        if rows.first().map(|row| row.text(0)).transpose()?.is_some_and(|owner| owner == instance) {
            return Ok(true);
        }
        let sql = if alone { TAKE } else { TAKE_OVER };
        let taken = self.database.execute("tell alarms from now on", sql, vec![instance.into()]).await?;
        Ok(taken == 1)
    }

    /// The messages that are not over, and those that were raised after a time; the oldest first.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn recent(self, since: DateTime<Utc>) -> Result<Vec<Notice>, Error> {
        let rows = self.database.fetch("read the messages", RECENT, vec![since.into()]).await?;
        rows.iter().map(notice).collect()
    }

    /// Begins a message with its ways out; returns whether `owner` still tells. Without an owner it records what this
    /// process has told while nothing could be recorded. A message that is on record already stays as it is.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn raise(
        self,
        owner: Option<&str>,
        notice: &Notice,
        deliveries: &[NewNoticeDelivery],
    ) -> Result<bool, Error> {
        let mut tx = self.database.begin().await?;
        if let Some(owner) = owner
            && !owns(&mut tx, owner).await?
        {
            return Ok(false);
        }
        let old = self.clock.now() - KEPT;
        tx.execute("forget old messages", FORGET_DELIVERIES, vec![old.into()]).await?;
        tx.execute("forget old messages", FORGET, vec![old.into()]).await?;
        let values = vec![
            notice.id.as_str().into(),
            notice.code.as_str().into(),
            notice.severity.as_str().into(),
            notice.members.as_str().into(),
            notice.quiet_seconds.into(),
            notice.content.as_str().into(),
            notice.raised_at.into(),
        ];
        tx.execute("raise a message", RAISE, values).await?;
        let values = deliveries.iter().flat_map(|delivery| delivery_values(&notice.id, delivery));
        tx.insert(&DELIVER, values.collect()).await?;
        tx.commit().await?;
        Ok(true)
    }

    /// Ends a message; returns whether the end is to be told by this owner. It goes out by the channels by which the
    /// beginning went out, unless it ends in silence.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn end(
        self,
        owner: &str,
        id: &str,
        ended_at: DateTime<Utc>,
        silently: bool,
    ) -> Result<bool, Error> {
        let mut tx = self.database.begin().await?;
        if !owns(&mut tx, owner).await? {
            return Ok(false);
        }
        let ended = tx.execute("end a message", END, vec![id.into(), ended_at.into()]).await?;
        if ended == 1 && !silently {
            tx.execute("tell the end of a message", TELL_END, vec![id.into()]).await?;
        }
        tx.commit().await?;
        Ok(ended == 1)
    }

    /// The messages that are to go out now, each channel's in their order.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn due(self) -> Result<Vec<DueNotice>, Error> {
        let now = self.clock.now();
        let values = vec![now.into(), (now + FURTHEST).into()];
        let rows = self.database.fetch("read the messages that are due", DUE, values).await?;
        rows.iter().map(due).collect()
    }

    /// Notes that an attempt begins; returns whether it may: the owner still tells, and nobody else tries it. If this
    /// process ends before it says how the attempt ended, the message is due again at `due_at`.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn attempt(self, owner: &str, due: &DueNotice, due_at: DateTime<Utc>) -> Result<bool, Error> {
        let mut tx = self.database.begin().await?;
        if !owns(&mut tx, owner).await? {
            return Ok(false);
        }
        let mut values = way(&due.notice.id, &due.channel, &due.event);
        values.extend([i64::from(due.attempts).into(), due_at.into()]);
        let noted = tx.execute("note an attempt", ATTEMPT, values).await?;
        tx.commit().await?;
        Ok(noted == 1)
    }

    /// Records that a message went out.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn delivered(self, id: &str, channel: &str, event: &str) -> Result<(), Error> {
        let now = self.clock.now();
        let mut values = way(id, channel, event);
        values.push(now.into());
        let mut tx = self.database.begin().await?;
        tx.execute("record a message", DELIVERED, values).await?;
        tx.execute("record a channel", WORKS, vec![channel.into(), now.into()]).await?;
        tx.execute("resume a channel", RESUME, vec![channel.into(), now.into()]).await?;
        tx.commit().await
    }

    /// Records that an attempt failed: the message is tried again at `due_at`, or given up.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn failed(
        self,
        (id, channel, event): (&str, &str, &str),
        (symptom, error): (&Symptom, &str),
        due_at: Option<DateTime<Utc>>,
    ) -> Result<(), Error> {
        let mut tx = self.database.begin().await?;
        match due_at {
            Some(due_at) => {
                let mut values = way(id, channel, event);
                values.extend([due_at.into(), error.into()]);
                tx.execute("retry a message", RETRY, values).await?
            }
            None => {
                tx.execute("give up a message", GIVE_UP, vec![id.into(), channel.into(), error.into()])
                    .await?
            }
        };
        let values = vec![channel.into(), self.clock.now().into(), error.into(), kept(symptom).into()];
        tx.execute("record a channel", FAILS, values).await?;
        tx.commit().await
    }

    /// Records how a channel fares, without a message: after a test.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn record_channel(self, channel: &str, failure: Option<(&Symptom, &str)>) -> Result<(), Error> {
        let values = || -> Vec<Value> { vec![channel.into(), self.clock.now().into()] };
        let mut tx = self.database.begin().await?;
        match failure {
            None => {
                tx.execute("record a channel", WORKS, values()).await?;
                tx.execute("resume a channel", RESUME, values()).await?;
            }
            Some((symptom, error)) => {
                let values = [values(), vec![error.into(), kept(symptom).into()]].concat();
                tx.execute("record a channel", FAILS, values).await?;
            }
        }
        tx.commit().await
    }

    /// How each channel fares that was ever used.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn channels(self) -> Result<Vec<NoticeChannel>, Error> {
        let rows = self.database.fetch("read the channels", CHANNELS, Vec::new()).await?;
        let channel = |row: &Row| {
            Ok(NoticeChannel {
                channel: row.text("channel")?,
                delivered_at: row.optional_time("delivered_at")?,
                failed_since: row.optional_time("failed_since")?,
                error: row.optional_text("error")?,
                symptom: row.optional_text("symptom")?.map(|kept| symptom(&kept)).unwrap_or_default(),
            })
        };
        rows.iter().map(channel).collect()
    }
}

/// Tells whether a process still tells. On PostgreSQL nobody takes over before this transaction ends.
async fn owns(tx: &mut Tx, instance: &str) -> Result<bool, Error> {
    let rows = tx.fetch_for_update("read who tells alarms", OWNER, Vec::new()).await?;
    Ok(rows.first().map(|row| row.text(0)).transpose()?.is_some_and(|owner| owner == instance))
}

fn kept(symptom: &Symptom) -> String {
    serde_json::to_string(symptom).unwrap_or_default()
}

/// A later version may keep kinds that this one does not know.
fn symptom(kept: &str) -> Symptom {
    serde_json::from_str(kept).unwrap_or_default()
}

fn way(id: &str, channel: &str, event: &str) -> Vec<Value> {
    vec![id.into(), channel.into(), event.into()]
}

fn delivery_values(id: &str, delivery: &NewNoticeDelivery) -> [Value; 8] {
    let state: &'static str = delivery.state.into();
    [
        id.into(),
        delivery.channel.as_str().into(),
        "raised".into(),
        state.into(),
        i64::from(delivery.attempts).into(),
        delivery.due_at.into(),
        delivery.delivered_at.into(),
        None::<String>.into(),
    ]
}

fn notice(row: &Row) -> Result<Notice, Error> {
    Ok(Notice {
        id: row.text("id")?,
        code: row.text("code")?,
        severity: row.text("severity")?,
        members: row.text("members")?,
        quiet_seconds: row.int("quiet_seconds")?,
        content: row.text("content")?,
        raised_at: row.time("raised_at")?,
        ended_at: row.optional_time("ended_at")?,
    })
}

fn due(row: &Row) -> Result<DueNotice, Error> {
    Ok(DueNotice {
        notice: notice(row)?,
        channel: row.text("channel")?,
        event: row.text("event")?,
        attempts: u32::try_from(row.int("attempts")?).unwrap_or(u32::MAX),
    })
}
