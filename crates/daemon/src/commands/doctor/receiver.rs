//! Checks whether the webhook receiver listens on this machine: only the receiver refuses a delivery without a
//! signature.

use std::io;

use espelho_model::text;

use super::{facts::StoreFacts, finding::Finding};
use crate::local;

pub(super) async fn look(store: &StoreFacts<'_>) -> Finding {
    if store.config.webhook.is_none() {
        return Finding::absent(text!("doctor-webhook-none"));
    }
    // systemd may hold the port of a service that was stopped, and would start it for this delivery.
    if store.all.status().is_none() {
        return Finding::not_seen(text!("doctor-receiver-no-service"));
    }
    let section = &store.all.configuration.installation.webhooks;
    let path = format!("/webhooks/{}", store.config.key);
    let speaks_tls = section.tls().is_some();
    let answer = match speaks_tls {
        // The certificate is for the public name; from here, only the accepted connection is visible.
        true => local::connects(section.listen, &store.all.clock).await.map(|()| None),
        false => local::request(section.listen, "POST", &path, Some("{}"), &store.all.clock)
            .await
            .map(|answer| Some(answer.status)),
    };
    judge(&answer, &section.listen.to_string())
}

fn judge(answer: &io::Result<Option<u16>>, address: &str) -> Finding {
    match answer {
        Ok(Some(401)) => Finding::green(text!("doctor-receiver", address = address)),
        Ok(None) => Finding::green(text!("doctor-receiver-tls", address = address)),
        Ok(Some(status)) => {
            let status = status.to_string();
            Finding::red(text!("doctor-receiver-other", address = address, status = status))
        }
        Err(error) => {
            Finding::red(text!("doctor-receiver-closed", address = address, cause = error.to_string()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::finding::State, *};

    #[test]
    fn only_our_receiver_refuses_what_is_not_signed() {
        let closed = || Err(io::ErrorKind::ConnectionRefused.into());
        for (answer, state) in [
            (Ok(Some(401)), State::Green),
            (Ok(None), State::Green),
            (Ok(Some(404)), State::Red),
            (Ok(Some(200)), State::Red),
            (closed(), State::Red),
        ] {
            assert_eq!(judge(&answer, "127.0.0.1:8788").state, state, "{answer:?}");
        }
    }
}
