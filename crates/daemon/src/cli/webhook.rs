//! `espelho webhook` on the command line.

use std::time::Duration;

use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, Utc};
use clap::{Args, Subcommand};
use espelho_model::text::Tz;
use espelho_store::DeliveryName;

use super::WriteArgs;

/// `espelho webhook`.
#[derive(Clone, Debug, Subcommand)]
pub enum WebhookCommand {
    /// Lets the next login give a store's webhook the address that is configured now. Whoever receives at the address of
    /// before receives nothing any more.
    Move(MoveArgs),
    /// Has kept deliveries handled again.
    Replay(ReplayArgs),
    /// Asks the marketplace for a test delivery to a store's webhook.
    Test {
        /// The store, and how long to wait.
        #[command(flatten)]
        write: WriteArgs,
    },
}

/// `espelho webhook move`.
#[derive(Args, Clone, Debug)]
pub struct MoveArgs {
    /// The store.
    #[arg(value_name = "KEY", required_unless_present = "store")]
    pub key: Option<String>,
    /// The store, as other commands name it.
    #[arg(long, value_name = "KEY", conflicts_with = "key")]
    pub store: Option<String>,
}

impl MoveArgs {
    /// Returns the store, which one of the two arguments names.
    pub fn store(&self) -> &str {
        self.key.as_deref().or(self.store.as_deref()).unwrap_or_default()
    }
}

/// `espelho webhook replay`.
#[derive(Args, Clone, Debug)]
pub struct ReplayArgs {
    /// Which delivery: its number in the inbox, or its key in `espelho errors`.
    #[arg(value_name = "DELIVERY-ID", required_unless_present = "all", value_parser = delivery_name)]
    pub delivery: Option<DeliveryName>,
    /// All kept deliveries that the options select.
    #[arg(long, conflicts_with = "delivery")]
    pub all: bool,
    /// Only of this store.
    #[arg(long, value_name = "KEY")]
    pub store: Option<String>,
    /// Only those that arrived then or later: a span before now (90s, 30m, 2h, 1d), a day (2026-01-31, 31/01/2026), or a
    /// time (2026-01-31T14:05, local unless it ends with an offset).
    #[arg(long, value_name = "TIME", conflicts_with = "delivery", value_parser = since)]
    pub since: Option<Since>,
    /// Only of this event, as in `webhook_inbox.event`: order.paid.
    #[arg(long, value_name = "EVENT", conflicts_with = "delivery")]
    pub event: Option<String>,
    /// Say which they are, and change nothing.
    #[arg(long)]
    pub dry_run: bool,
}

/// The beginning of a period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Since {
    /// So long before now.
    Ago(Duration),
    /// A time on the installation's clock.
    Local(NaiveDateTime),
    /// An instant.
    At(DateTime<Utc>),
}

impl Since {
    /// Returns the instant. A local time that a zone skips begins with the next one; of two, the earlier counts.
    pub fn instant(self, now: DateTime<Utc>, zone: Tz) -> DateTime<Utc> {
        match self {
            Self::Ago(span) => now - TimeDelta::from_std(span).unwrap_or(TimeDelta::zero()),
            Self::At(at) => at,
            Self::Local(local) => {
                let later = local + TimeDelta::hours(1);
                let found = [local, later].iter().find_map(|local| local.and_local_timezone(zone).earliest());
                found.map_or_else(|| local.and_utc(), |found| found.to_utc())
            }
        }
    }
}

fn delivery_name(text: &str) -> Result<DeliveryName, String> {
    DeliveryName::parse(text).ok_or_else(|| format!("{text:?}: 4711 / 0123456789abcdef0123456789abcdef"))
}

/// Parses the beginning of a period.
fn since(text: &str) -> Result<Since, String> {
    let day = || super::day(text).ok().map(|day: NaiveDate| Since::Local(day.and_time(NaiveTime::MIN)));
    let local = || {
        let forms = ["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M", "%d/%m/%Y %H:%M"];
        forms.iter().find_map(|form| NaiveDateTime::parse_from_str(text, form).ok()).map(Since::Local)
    };
    let at = || DateTime::parse_from_rfc3339(text).ok().map(|at| Since::At(at.to_utc()));
    let span = crate::config::span(text).map(Since::Ago);
    span.or_else(day)
        .or_else(local)
        .or_else(at)
        .ok_or_else(|| format!("{text:?}: 2h / 2026-01-31 / 31/01/2026 14:05 / 2026-01-31T14:05:00Z"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_period_begins_a_span_ago_on_a_day_or_at_a_time() {
        let now: DateTime<Utc> = "2026-11-25T12:00:00Z".parse().unwrap();
        for (text, expected) in [
            ("2h", Some("2026-11-25T10:00:00Z")),
            ("90", Some("2026-11-25T11:58:30Z")),
            ("2026-11-20", Some("2026-11-20T03:00:00Z")),
            ("20/11/2026", Some("2026-11-20T03:00:00Z")),
            ("2026-11-20T14:05", Some("2026-11-20T17:05:00Z")),
            ("20/11/2026 14:05", Some("2026-11-20T17:05:00Z")),
            ("2026-11-20T14:05:00Z", Some("2026-11-20T14:05:00Z")),
            ("2026-11-20T14:05:00-02:00", Some("2026-11-20T16:05:00Z")),
            // In São Paulo 2018-11-04 began at 01:00.
            ("2018-11-04", Some("2018-11-04T03:00:00Z")),
            ("yesterday", None),
            ("", None),
        ] {
            let instant = since(text).ok().map(|since| since.instant(now, Tz::America__Sao_Paulo));
            assert_eq!(instant, expected.map(|at| at.parse().unwrap()), "{text:?}");
        }
    }
}
