//! The ways by which messages go out.

use std::{sync::Arc, time::Duration};

use espelho_api_client::error::without_known;
use espelho_model::{Clock, symptom::Symptom, text::Locale};

use super::{Message, Sent, Unsent, exec, smtp::Smtp};
use crate::{
    config::{ExecConfig, NoticeWebhook, NoticesConfig},
    outgoing::Http,
    terminal::shown,
};

/// An exchange that takes longer has failed. A program has its own time beside.
const LONGEST: Duration = Duration::from_secs(25);
/// A failure is told in this many characters.
const DETAIL: usize = 300;

/// The configured ways out.
#[derive(Clone)]
pub(crate) struct Channels {
    http: Http,
    webhook: Option<NoticeWebhook>,
    smtp: Option<Smtp>,
    exec: Option<ExecConfig>,
    locale: Locale,
    clock: Arc<dyn Clock>,
}

impl Channels {
    /// Returns the configured ways out. Nothing is connected before the first message.
    pub(crate) fn of(config: &NoticesConfig, locale: Locale, clock: Arc<dyn Clock>) -> Self {
        Self {
            http: Http::default(),
            webhook: config.webhook.clone(),
            smtp: config.smtp.clone().map(Smtp::new),
            exec: config.exec.clone(),
            locale,
            clock,
        }
    }

    /// Returns the names of the configured ones.
    pub(crate) fn names(&self) -> Vec<&'static str> {
        let names = [
            self.webhook.as_ref().map(|_| "webhook"),
            self.smtp.as_ref().map(|_| "smtp"),
            self.exec.as_ref().map(|_| "exec"),
        ];
        names.into_iter().flatten().collect()
    }

    /// Sends a message by one of them, and waits for what becomes of it.
    pub(crate) async fn send(&self, channel: &str, message: &Message) -> Sent {
        let longest = match (channel, &self.exec) {
            ("exec", Some(exec)) => exec.timeout + LONGEST,
            _ => LONGEST,
        };
        let sent = tokio::select! {
            sent = self.send_by(channel, message) => sent,
            () = self.clock.sleep(longest) => {
                Err(Unsent::new(Symptom::TimedOut, format!("no answer in {} s", longest.as_secs())))
            }
        };
        // The other side's answer may repeat the message, and its secrets.
        let clean = |said: String| without_known(&shown(&said), DETAIL);
        sent.map(clean).map_err(|unsent| Unsent::new(unsent.symptom, clean(unsent.detail)))
    }

    async fn send_by(&self, channel: &str, message: &Message) -> Sent {
        match (channel, &self.webhook, &self.smtp, &self.exec) {
            ("webhook", Some(webhook), ..) => {
                self.http.post(&webhook.url, webhook.token.as_ref(), &message.id, message.json()).await
            }
            ("smtp", _, Some(smtp), _) => smtp.send(message, self.locale).await,
            ("exec", .., Some(exec)) => exec::run(exec, message, &*self.clock).await,
            _ => Err(Unsent::new(Symptom::Other, "not configured")),
        }
    }

    /// Returns the HTTP connections, for the dead-man switch.
    pub(crate) fn http(&self) -> &Http {
        &self.http
    }
}
