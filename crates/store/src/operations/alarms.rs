//! Heartbeats and alarms: each process of the service records here that it runs and what is wrong; every surface
//! reads it here (`v_alarms`). The database's clock measures the age of a heartbeat.

use chrono::{DateTime, Utc};
use espelho_model::{
    text,
    text::{Locale, Text},
};

use crate::{
    Error,
    driver::{Insert, Row, Value},
    mirror::rows::last_of_each,
    operations::Alarms,
};

pub(crate) const HEARTBEAT_INTERVAL: &str = "INSERT INTO services (instance, process, version, started_at, state) \
    VALUES ($1, $2, $3, $4, $5) \
    ON CONFLICT (instance) DO UPDATE SET process = excluded.process, version = excluded.version, \
    started_at = excluded.started_at, beat_at = excluded.beat_at, state = excluded.state";
pub(crate) const CLEAR: &str = "DELETE FROM alarms WHERE instance = $1";
pub(crate) const RAISE: Insert = Insert {
    operation: "record alarms",
    head: "INSERT INTO alarms (instance, store, code, cause, severity, count, since, text, next)",
    columns: 9,
    tail: "",
};
/// The heartbeat stays, so that the time since the last running process is known.
pub(crate) const END: &str = "UPDATE services SET state = 'stopped' WHERE instance = $1";
/// Deletes processes that were silent for a day.
pub(crate) const CLEAR_SILENT: &str =
    "DELETE FROM alarms WHERE instance IN (SELECT instance FROM v_services WHERE silent_seconds > 86400)";
pub(crate) const END_SILENT: &str =
    "DELETE FROM services WHERE instance IN (SELECT instance FROM v_services WHERE silent_seconds > 86400)";
pub(crate) const RECORDED: &str = "SELECT store, code, severity, count, since, text, next FROM v_alarms \
    ORDER BY severity, code, COALESCE(store, '')";
pub(crate) const OF_OTHERS: &str = "SELECT a.store, a.code, a.cause, a.severity, a.count, a.since, a.text, a.next, \
    a.instance FROM alarms a JOIN v_services s ON s.instance = a.instance \
    WHERE a.instance <> $1 AND s.state <> 'stopped' AND s.silent_seconds BETWEEN -40 AND 40 \
    ORDER BY a.code, a.store, a.cause, a.instance";
pub(crate) const LIVE: &str = "SELECT instance FROM v_services \
    WHERE state <> 'stopped' AND silent_seconds BETWEEN -40 AND 40 ORDER BY instance";
pub(crate) const LAST_BEAT: &str = "SELECT max(beat_at) FROM services";
pub(crate) const WORDS: &str = "INSERT INTO service_words (code, text, next) VALUES ($1, $2, $3) \
    ON CONFLICT (code) DO UPDATE SET text = excluded.text, next = excluded.next";

/// A process of the service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceInstance {
    /// Its unique name.
    pub instance: String,
    /// Its process id.
    pub process: u32,
    /// The version of espelho.
    pub version: String,
    /// When it started.
    pub started_at: DateTime<Utc>,
    /// Its state: `ok`, `warning`, `failing` or `unknown`.
    pub state: String,
}

/// A problem that one process has found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlarmRow {
    /// The affected store; `None`: all.
    pub store: Option<String>,
    /// Its code.
    pub code: String,
    /// Tells it from another alarm with the same code.
    pub cause: String,
    /// `warning` or `failing`.
    pub severity: String,
    /// The number of affected rows or calls.
    pub count: u64,
    /// When it began, if known.
    pub since: Option<DateTime<Utc>>,
    /// The cause, in the installation's language.
    pub text: String,
    /// The next step, in the same language.
    pub next: String,
}

/// An alarm that another live process has found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerAlarm {
    /// The name of the process.
    pub instance: String,
    /// Its alarm.
    pub alarm: AlarmRow,
}

/// A row of `v_alarms`: the alarms of all live processes, once for each cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedAlarm {
    /// The affected store; `None`: all.
    pub store: Option<String>,
    /// Its code.
    pub code: String,
    /// `warning` or `failing`.
    pub severity: String,
    /// The number of affected rows or calls.
    pub count: u64,
    /// When it began, if known.
    pub since: Option<DateTime<Utc>>,
    /// The cause, in the installation's language.
    pub text: String,
    /// The next step, in the same language.
    pub next: String,
}

impl Alarms<'_> {
    /// Records a process's heartbeat and replaces its alarms.
    ///
    /// # Errors
    /// When the database does not answer; then neither is recorded.
    pub async fn beat(self, service: &ServiceInstance, alarms: &[AlarmRow]) -> Result<(), Error> {
        let instance = service.instance.as_str();
        let key = |alarm: &AlarmRow| (alarm.store.clone(), alarm.code.clone(), alarm.cause.clone());
        let alarms = last_of_each(alarms.to_vec(), key);
        let mut tx = self.database.begin().await?;
        tx.execute("record a sign of life", HEARTBEAT_INTERVAL, service_values(service)).await?;
        tx.execute("clear alarms", CLEAR, vec![instance.into()]).await?;
        tx.insert(&RAISE, alarms.into_iter().flat_map(|alarm| alarm_values(instance, alarm)).collect())
            .await?;
        tx.execute("clear the alarms of silent processes", CLEAR_SILENT, Vec::new()).await?;
        tx.execute("forget silent processes", END_SILENT, Vec::new()).await?;
        tx.commit().await
    }

    /// Removes a stopping process and its alarms.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn end_service(self, instance: &str) -> Result<(), Error> {
        let mut tx = self.database.begin().await?;
        tx.execute("clear alarms", CLEAR, vec![instance.into()]).await?;
        tx.execute("forget a process", END, vec![instance.into()]).await?;
        tx.commit().await
    }

    /// The alarms of all live processes; `service_stopped` without any.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn recorded_alarms(self) -> Result<Vec<RecordedAlarm>, Error> {
        let rows = self.database.fetch("read the alarms", RECORDED, Vec::new()).await?;
        rows.iter().map(recorded).collect()
    }

    /// The alarms that other live processes have found.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn of_others(self, instance: &str) -> Result<Vec<PeerAlarm>, Error> {
        let rows = self.database.fetch("read the alarms of others", OF_OTHERS, vec![instance.into()]).await?;
        rows.iter().map(peer_alarm).collect()
    }

    /// The processes that have given a sign of life lately.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn live_instances(self) -> Result<Vec<String>, Error> {
        let rows = self.database.fetch("read the live processes", LIVE, Vec::new()).await?;
        rows.iter().map(|row| row.text(0)).collect()
    }

    /// The time of the last heartbeat, by the database's clock.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn last_beat(self) -> Result<Option<DateTime<Utc>>, Error> {
        let rows = self.database.fetch("read the last sign of life", LAST_BEAT, Vec::new()).await?;
        rows.first().map_or(Ok(None), |row| row.optional_time(0))
    }

    /// Stores the sentences of the views, in the installation's language.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn keep_service_words(self, locale: Locale) -> Result<(), Error> {
        // The view fills in what stands in braces, row by row.
        let shared_sku = text!("run-shared-sku", sku = "{sku}", one = "{one}", other = "{other}");
        let words: [(&str, Text); 4] = [
            ("service_stopped", text!("store-service-stopped")),
            ("campaign_price", text!("store-campaign-price")),
            ("price_zero", text!("store-price-zero")),
            ("shared_sku", shared_sku),
        ];
        let mut tx = self.database.begin().await?;
        for (code, text) in words {
            let next = text.next(locale).unwrap_or_default();
            tx.execute("keep a sentence", WORDS, vec![code.into(), text.message(locale).into(), next.into()])
                .await?;
        }
        tx.commit().await
    }
}

fn service_values(service: &ServiceInstance) -> Vec<Value> {
    vec![
        service.instance.as_str().into(),
        i64::from(service.process).into(),
        service.version.as_str().into(),
        service.started_at.into(),
        service.state.as_str().into(),
    ]
}

fn alarm_values(instance: &str, alarm: AlarmRow) -> [Value; 9] {
    [
        instance.into(),
        alarm.store.unwrap_or_default().into(),
        alarm.code.into(),
        alarm.cause.into(),
        alarm.severity.into(),
        i64::try_from(alarm.count).unwrap_or(i64::MAX).into(),
        alarm.since.into(),
        alarm.text.into(),
        alarm.next.into(),
    ]
}

fn peer_alarm(row: &Row) -> Result<PeerAlarm, Error> {
    let alarm = AlarmRow {
        store: Some(row.text("store")?).filter(|store| !store.is_empty()),
        code: row.text("code")?,
        cause: row.text("cause")?,
        severity: row.text("severity")?,
        count: row.count("count")?,
        since: row.optional_time("since")?,
        text: row.text("text")?,
        next: row.text("next")?,
    };
    Ok(PeerAlarm { instance: row.text("instance")?, alarm })
}

fn recorded(row: &Row) -> Result<RecordedAlarm, Error> {
    Ok(RecordedAlarm {
        store: row.optional_text("store")?,
        code: row.text("code")?,
        severity: row.text("severity")?,
        count: row.count("count")?,
        since: row.optional_time("since")?,
        text: row.text("text")?,
        next: row.text("next")?,
    })
}
