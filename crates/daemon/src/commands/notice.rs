//! `espelho notice test`: sends a test message by every configured channel.

use std::sync::Arc;

use espelho_model::{Clock, clock::SystemClock, text};
use espelho_store::Store;
use espelho_sync_engine::{Problem, Trouble};
use serde_json::{Value, json};

use super::{load, reading::attach, say};
use crate::{
    cli::Cli,
    config::Configuration,
    context::host_name,
    exit,
    notices::{Channels, Message, Sent, call, new_id},
};

/// How a channel is named that only calls an address.
const PING: &str = "ping";

pub(super) async fn test(cli: &Cli, only: Option<&str>) -> u8 {
    let configuration = match load(cli) {
        Ok(configuration) => configuration,
        Err(code) => return code,
    };
    let clock = SystemClock::shared();
    let channels = Channels::of(&configuration.notices, configuration.locale(), Arc::clone(&clock));
    let mut names = channels.names();
    names.extend(configuration.notices.ping.as_ref().map(|_| PING));
    names.retain(|name| only.is_none_or(|only| only == *name));
    if names.is_empty() {
        let text = match only {
            Some(only) => text!("notice-test-absent", channel = only),
            None => text!("notice-test-none"),
        };
        return say(&Problem::of(Trouble::Configuration, "no_channel", text), cli);
    }
    // Before the first start there is no database, and a test needs none.
    let store = attach(&configuration, &clock).await.ok();
    let mut results = Vec::new();
    for name in names {
        let sent = send(&configuration, &channels, name, &clock).await;
        record(store.as_ref(), name, &sent).await;
        if !cli.json {
            show(name, &sent, cli);
        }
        results.push((name, sent));
    }
    if let Some(store) = store {
        store.close().await;
    }
    let (state, code) = state_of(&results);
    if cli.json {
        let each: Vec<Value> = results.iter().map(|(name, sent)| as_json(name, sent)).collect();
        println!("{}", json!({ "state": state, "channels": each }));
    }
    code
}

async fn send(
    configuration: &Configuration,
    channels: &Channels,
    name: &str,
    clock: &Arc<dyn Clock>,
) -> Sent {
    match &configuration.notices.ping {
        Some(ping) if name == PING => call(channels, &ping.url).await,
        _ => {
            let (host, at) = (host_name(), clock.now());
            let message = Message::test(name, &new_id(at), &host, at, configuration.locale());
            channels.send(name, &message).await
        }
    }
}

/// Records how a channel fares, so that the alarm about it ends with a test that succeeds.
async fn record(store: Option<&Store>, name: &str, sent: &Sent) {
    let Some(store) = store.filter(|_| name != PING) else { return };
    let failure = sent.as_ref().err().map(|unsent| (&unsent.symptom, unsent.detail.as_str()));
    if let Err(error) = store.notices().record_channel(name, failure).await {
        tracing::debug!(%error, "the result of the test is not on record");
    }
}

fn show(name: &str, sent: &Sent, cli: &Cli) {
    let (sign, text) = match sent {
        Ok(answer) => ("✓", text!("notice-test-sent", channel = name, answer = answer.as_str())),
        Err(unsent) => ("✗", text!("notice-test-failed", channel = name, error = unsent.detail.as_str())),
    };
    println!("{sign} {}", text.message(cli.locale));
    text.next(cli.locale).iter().for_each(|next| println!("  {next}"));
}

fn as_json(name: &str, sent: &Sent) -> Value {
    let (result, detail) = match sent {
        Ok(answer) => ("sent", answer),
        Err(unsent) => ("failed", &unsent.detail),
    };
    json!({ "channel": name, "result": result, "detail": detail })
}

fn state_of(results: &[(&str, Sent)]) -> (&'static str, u8) {
    match (results.iter().any(|(_, sent)| sent.is_ok()), results.iter().any(|(_, sent)| sent.is_err())) {
        (_, false) => ("complete", exit::COMPLETE),
        (true, true) => ("partial", exit::PARTIAL),
        (false, true) => ("failed", exit::FAILED),
    }
}

#[cfg(test)]
mod tests {
    use espelho_model::symptom::Symptom;

    use super::*;
    use crate::notices::Unsent;

    #[test]
    fn the_exit_code_says_whether_all_some_or_none_went_out() {
        let sent = || Ok("HTTP 200".to_owned());
        let failed = || Err(Unsent::new(Symptom::Status(500), "HTTP 500"));
        for (results, expected) in [
            (vec![("webhook", sent())], ("complete", exit::COMPLETE)),
            (vec![("webhook", sent()), ("smtp", failed())], ("partial", exit::PARTIAL)),
            (vec![("webhook", failed())], ("failed", exit::FAILED)),
        ] {
            assert_eq!(state_of(&results), expected);
        }
    }
}
