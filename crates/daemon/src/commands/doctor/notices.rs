//! Checks whether people hear of alarms: by which ways, and how the last message fared. It sends none.

use espelho_model::{text, text::Text};
use espelho_store::NoticeChannel;

use super::{facts::Facts, finding::Finding};
use crate::{config::NoticesSection, notices::Channels};

pub(super) async fn look(facts: &Facts) -> Finding {
    let config = &facts.configuration.notices;
    let is_written = facts.configuration.installation.notices != NoticesSection::default();
    let names =
        Channels::of(config, facts.configuration.locale(), std::sync::Arc::clone(&facts.clock)).names();
    let known = match facts.store() {
        Some(store) if !names.is_empty() => store.notices().channels().await.ok(),
        _ => Some(Vec::new()),
    };
    match names.is_empty() && config.ping.is_none() && is_written && facts.mistakes.are_any() {
        true => Finding::absent(text!("doctor-notices-mistake")),
        false => judge(&names, config.ping.is_some(), known.as_deref()),
    }
}

fn judge(names: &[&str], pings: bool, known: Option<&[NoticeChannel]>) -> Finding {
    if names.is_empty() {
        return match pings {
            true => Finding::green(text!("doctor-notices-ping")),
            false => Finding::not_configured(text!("doctor-notices-none")),
        };
    }
    let Some(known) = known else { return Finding::not_seen(text!("doctor-notices-unread")) };
    let row = |name: &&str| known.iter().find(|row| row.channel == **name);
    let failing = names.iter().filter_map(row).find(|row| row.failed_since.is_some());
    if let Some(NoticeChannel { channel, failed_since: Some(since), error, .. }) = failing {
        let detail = error.as_deref().unwrap_or_default();
        return Finding::red(text!(
            "doctor-notices-failing",
            channel = channel,
            since = *since,
            detail = detail
        ));
    }
    let untried = names.iter().find(|name| row(name).is_none_or(|row| row.delivered_at.is_none()));
    if let Some(name) = untried {
        return Finding::yellow(text!("doctor-notices-untried", channel = *name));
    }
    let last = |name: &&str| {
        row(name)
            .and_then(|row| row.delivered_at)
            .map(|at| text!("doctor-notices-last", channel = *name, at = at))
    };
    let each: Vec<Text> = names.iter().filter_map(last).collect();
    Finding::green(text!("doctor-notices", each = each))
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use espelho_model::symptom::Symptom;

    use super::{super::finding::State, *};

    #[test]
    fn a_channel_is_green_only_after_a_message_went_out_by_it() {
        let row = |channel: &str, works: bool, fails: bool| NoticeChannel {
            channel: channel.to_owned(),
            delivered_at: works.then_some(DateTime::UNIX_EPOCH),
            failed_since: fails.then_some(DateTime::UNIX_EPOCH),
            error: None,
            symptom: Symptom::default(),
        };
        for (names, pings, known, state) in [
            (&[][..], false, Some(vec![]), State::NotConfigured),
            (&[], true, Some(vec![]), State::Green),
            (&["smtp"], false, Some(vec![]), State::Yellow),
            (&["smtp"], false, Some(vec![row("webhook", true, false)]), State::Yellow),
            (&["smtp"], false, Some(vec![row("smtp", true, false)]), State::Green),
            (&["smtp"], false, Some(vec![row("smtp", true, true)]), State::Red),
            (&["smtp", "exec"], false, Some(vec![row("smtp", true, false)]), State::Yellow),
            (&["smtp"], false, None, State::Unknown),
        ] {
            assert_eq!(judge(names, pings, known.as_deref()).state, state, "{names:?} {known:?}");
        }
    }
}
