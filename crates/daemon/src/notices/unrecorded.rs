//! Messages that were told while the database took no writes: about the database itself. They are kept in a small file, so
//! that a restart neither repeats them nor forgets to say that they are over, and move into the table as soon as it takes
//! them.

use std::path::PathBuf;

use chrono::{DateTime, Utc};
use espelho_store::{NewNoticeDelivery, Notice, NoticeState};
use espelho_sync_engine::plan::notices::retry_after;
use serde::{Deserialize, Serialize};

/// The messages, and the file that keeps them.
pub(super) struct Unrecorded {
    messages: Vec<Told>,
    file: PathBuf,
}

/// A message on its way by each channel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Told {
    id: String,
    code: String,
    severity: String,
    members: String,
    quiet_seconds: i64,
    content: String,
    raised_at: DateTime<Utc>,
    ways: Vec<Way>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Way {
    channel: String,
    is_open: bool,
    attempts: u32,
    due_at: DateTime<Utc>,
    delivered_at: Option<DateTime<Utc>>,
}

impl Told {
    /// Returns it as a row of the table.
    pub(super) fn notice(&self) -> Notice {
        Notice {
            id: self.id.clone(),
            code: self.code.clone(),
            severity: self.severity.clone(),
            members: self.members.clone(),
            quiet_seconds: self.quiet_seconds,
            content: self.content.clone(),
            raised_at: self.raised_at,
            ended_at: None,
        }
    }

    fn deliveries(&self) -> Vec<NewNoticeDelivery> {
        let delivery = |way: &Way| NewNoticeDelivery {
            channel: way.channel.clone(),
            state: match (way.is_open, way.delivered_at) {
                (true, _) => NoticeState::Open,
                (false, Some(_)) => NoticeState::Delivered,
                (false, None) => NoticeState::GivenUp,
            },
            attempts: way.attempts,
            due_at: way.due_at,
            delivered_at: way.delivered_at,
        };
        self.ways.iter().map(delivery).collect()
    }
}

impl Unrecorded {
    /// Reads what an earlier process left.
    pub(super) fn read(file: PathBuf) -> Self {
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let messages = serde_json::from_str(&text).unwrap_or_default();
        Self { messages, file }
    }

    /// Adds a message that goes out by these channels now.
    pub(super) fn add(&mut self, notice: Notice, channels: &[&str]) {
        let way = |channel: &&str| Way {
            channel: (*channel).to_owned(),
            is_open: true,
            attempts: 0,
            due_at: notice.raised_at,
            delivered_at: None,
        };
        let ways = channels.iter().map(way).collect();
        let Notice { id, code, severity, members, quiet_seconds, content, raised_at, .. } = notice;
        self.messages.push(Told { id, code, severity, members, quiet_seconds, content, raised_at, ways });
        self.keep();
    }

    /// Returns the messages.
    pub(super) fn all(&self) -> impl Iterator<Item = &Told> {
        self.messages.iter()
    }

    /// Returns the first message that is due by a channel, and notes the attempt.
    pub(super) fn attempt(
        &mut self,
        channel: &str,
        now: DateTime<Utc>,
        guard: DateTime<Utc>,
    ) -> Option<Told> {
        let is_due = |way: &Way| way.channel == channel && way.is_open && way.due_at <= now;
        let told = self.messages.iter_mut().find(|told| told.ways.iter().any(is_due))?;
        let way = told.ways.iter_mut().find(|way| is_due(way))?;
        (way.attempts, way.due_at) = (way.attempts + 1, guard);
        let told = told.clone();
        self.keep();
        Some(told)
    }

    /// Notes how an attempt ended; returns whether the message is one of these.
    pub(super) fn settle(&mut self, id: &str, channel: &str, is_sent: bool, now: DateTime<Utc>) -> bool {
        let Some(told) = self.messages.iter_mut().find(|told| told.id == id) else { return false };
        for way in told.ways.iter_mut().filter(|way| way.channel == channel) {
            let retry = retry_after(way.attempts).filter(|_| !is_sent);
            way.is_open = retry.is_some();
            way.due_at = retry.map_or(now, |delay| now + delay);
            way.delivered_at = is_sent.then_some(now);
        }
        self.keep();
        true
    }

    /// Returns the first message as rows of the table.
    pub(super) fn first(&self) -> Option<(Notice, Vec<NewNoticeDelivery>)> {
        self.messages.first().map(|told| (told.notice(), told.deliveries()))
    }

    /// Drops a message that is in the table now.
    pub(super) fn recorded(&mut self, id: &str) {
        self.messages.retain(|told| told.id != id);
        self.keep();
    }

    /// Writes the file anew, or removes it. A disk that is full keeps the old one, or none: then a restart while it is
    /// full may repeat a message.
    fn keep(&self) {
        let written = match self.messages.is_empty() {
            true => std::fs::remove_file(&self.file),
            false => self.write(),
        };
        if let Err(error) = written
            && error.kind() != std::io::ErrorKind::NotFound
        {
            tracing::debug!(file = %self.file.display(), %error, "a message that was told is not kept");
        }
    }

    fn write(&self) -> std::io::Result<()> {
        let draft = self.file.with_extension("new");
        std::fs::write(&draft, serde_json::to_vec(&self.messages)?)?;
        std::fs::rename(draft, &self.file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(1_795_000_000 + second, 0).unwrap()
    }

    fn notice(id: &str) -> Notice {
        Notice {
            id: id.to_owned(),
            code: "database_unreachable".to_owned(),
            severity: "failing".to_owned(),
            members: "[]".to_owned(),
            quiet_seconds: 5,
            content: "{}".to_owned(),
            raised_at: at(0),
            ended_at: None,
        }
    }

    #[test]
    fn what_was_told_survives_a_restart_and_is_not_told_again() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("notices.json");
        let mut told = Unrecorded::read(file.clone());
        told.add(notice("n1"), &["webhook", "smtp"]);
        assert!(told.attempt("webhook", at(0), at(60)).is_some());
        // The process is killed in the middle: it is due again, once the first attempt must be over.
        let mut told = Unrecorded::read(file.clone());
        assert_eq!(told.attempt("webhook", at(59), at(120)), None);
        assert!(told.attempt("webhook", at(60), at(120)).is_some());
        assert!(told.settle("n1", "webhook", true, at(61)) && !told.settle("n2", "webhook", true, at(61)));
        assert!(told.attempt("smtp", at(61), at(120)).is_some());
        assert!(told.settle("n1", "smtp", false, at(62)));
        let mut told = Unrecorded::read(file.clone());
        assert_eq!(told.attempt("webhook", at(900), at(999)), None, "it was told");
        assert_eq!(told.attempt("smtp", at(66), at(120)), None);
        assert!(told.attempt("smtp", at(67), at(120)).is_some(), "five seconds after the failure");
        let (first, deliveries) = told.first().unwrap();
        let states =
            deliveries.iter().map(|delivery| (delivery.channel.as_str(), delivery.state, delivery.attempts));
        let expected = [("webhook", NoticeState::Delivered, 2), ("smtp", NoticeState::Open, 2)];
        assert_eq!((first.id.as_str(), states.collect::<Vec<_>>()), ("n1", expected.to_vec()));
        told.recorded("n1");
        assert!(!file.exists() && Unrecorded::read(file).first().is_none());
    }
}
