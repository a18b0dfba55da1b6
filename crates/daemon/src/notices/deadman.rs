//! The dead-man switch: an address that is called while everything that must work does. Who watches it hears when the
//! calls stop: with the service, with its machine, with its database, or with its network.

use std::{sync::Arc, time::Duration};

use chrono::TimeDelta;
use espelho_model::Clock;
use espelho_sync_engine::plan::{
    alarms::State,
    notices::{Ping, PingProof, ping},
};
use secrecy::SecretString;
use tokio_util::sync::CancellationToken;

use super::{Channels, Sent};
use crate::{alarms::Board, config::PingConfig, metric::list};

/// How often the state is looked at between two calls.
const LOOKS: Duration = Duration::from_secs(3);

/// Calls until the service stops.
pub(crate) struct DeadMan {
    pub(crate) config: PingConfig,
    pub(crate) channels: Channels,
    pub(crate) board: Arc<Board>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) stop: CancellationToken,
}

/// Calls an address of the dead-man switch once.
pub(crate) async fn call(channels: &Channels, url: &SecretString) -> Sent {
    channels.http().get(url).await
}

/// The state, and since when it is that.
struct Lasting {
    state: State,
    since: Duration,
}

impl DeadMan {
    /// Runs until the service stops. The first call comes with the first proof.
    pub(crate) async fn run(self) {
        let (mut lasting, mut last): (Option<Lasting>, Option<(Ping, Duration)>) = (None, None);
        let mut fails = false;
        while !self.stop.is_cancelled() {
            let now = self.clock.monotonic();
            let heard = ping(self.proof(&mut lasting));
            let is_due = match last {
                // A change is told at once.
                Some((before, at)) => before != heard || now.saturating_sub(at) >= self.config.every,
                None => true,
            };
            let url = match heard {
                Ping::Alive => Some(&self.config.url),
                Ping::Failing => self.config.fail_url.as_ref(),
                Ping::Silent => None,
            };
            if is_due {
                last = Some((heard, now));
                if let Some(url) = url {
                    let sent = tokio::select! {
                        sent = call(&self.channels, url) => sent,
                        () = self.stop.cancelled() => return,
                    };
                    note(&sent, &mut fails);
                }
            }
            tokio::select! { () = self.clock.sleep(LOOKS) => {}, () = self.stop.cancelled() => {} }
        }
    }

    fn proof(&self, lasting: &mut Option<Lasting>) -> Option<PingProof> {
        let posted = self.board.latest()?;
        let (now, at) = (self.clock.monotonic(), self.clock.now());
        let state = posted.verdict.state;
        let since = match lasting {
            Some(known) if known.state == state => known.since,
            _ => lasting.insert(Lasting { state, since: now }).since,
        };
        let lasts = TimeDelta::from_std(now.saturating_sub(since)).unwrap_or(TimeDelta::MAX);
        let written = posted.seen.written_at.map(|written| at - written);
        Some(PingProof { state, lasts, age: at - posted.seen.at, written })
    }
}

/// Counts a call, and logs when calls begin to fail or work again.
fn note(sent: &Sent, fails: &mut bool) {
    let result = if sent.is_ok() { "sent" } else { "failed" };
    list::NOTICES.counter(&["ping", result]).increment(1);
    match sent {
        Err(error) if !*fails => {
            let next_step = "espelho notice test";
            let error = error.detail.as_str();
            tracing::warn!(channel = "ping", error, next_step, "the dead-man switch cannot be called");
        }
        Ok(_) if *fails => tracing::info!(channel = "ping", "the dead-man switch is called again"),
        _ => {}
    }
    *fails = sent.is_err();
}
