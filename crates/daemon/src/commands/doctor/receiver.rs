//! Checks whether the webhook receiver listens on this machine: only the receiver refuses a delivery without a
//! signature.

use std::{io, net::SocketAddr};

use espelho_model::text;
use serde_json::Value;

use super::{
    facts::StoreFacts,
    finding::{Finding, State},
};
use crate::local;

pub(super) async fn look(store: &StoreFacts<'_>) -> Finding {
    // systemd may hold the port of a service that was stopped, and would start it for this delivery.
    let Some(told) = store.all.status() else {
        return Finding::not_seen(text!("doctor-receiver-no-service"));
    };
    // The service answers 404 for a store that it does not have; one without any has not read its database yet.
    let has_stores = told["stores"].as_array().is_some_and(|stores| !stores.is_empty());
    if has_stores && store.status().is_none() {
        return Finding::absent(text!("doctor-webhook-not-its"));
    }
    let section = &store.all.configuration.installation.webhooks;
    let (socket, listen) = (socket_of(store), listens_on(store));
    let path = format!("/webhooks/{}", store.config.key);
    let speaks_tls = section.tls().is_some();
    let answer = match speaks_tls {
        // The certificate is for the public name; from here, only the accepted connection is visible.
        true => local::connects(listen, &store.all.clock).await.map(|()| None),
        false => local::request(listen, "POST", &path, Some("{}"), &store.all.clock)
            .await
            .map(|answer| Some(answer.status)),
    };
    let finding = judge(&answer, &listen.to_string());
    match socket {
        Some(socket) if finding.state == State::Green => Finding::yellow(text!(
            "doctor-receiver-socket",
            address = socket.to_string(),
            configured = section.listen.to_string()
        )),
        _ => finding,
    }
}

/// Returns the address at which the service receives.
pub(super) fn listens_on(store: &StoreFacts<'_>) -> SocketAddr {
    socket_of(store).unwrap_or(store.all.configuration.installation.webhooks.listen)
}

fn socket_of(store: &StoreFacts<'_>) -> Option<SocketAddr> {
    socket_in(store.all.status(), store.all.configuration.installation.webhooks.listen)
}

/// Returns the address of systemd's socket, if the service says that it uses one in place of the configured address.
fn socket_in(status: Option<&Value>, configured: SocketAddr) -> Option<SocketAddr> {
    let told: SocketAddr = status?["service"]["webhook_socket"].as_str()?.parse().ok()?;
    Some(told).filter(|told| *told != configured)
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
            Finding::red(text!("doctor-receiver-closed", address = address, cause = local::failure(error)))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_address_of_systemds_socket_counts_where_it_is_not_the_configured_one() {
        let [configured, socket]: [SocketAddr; 2] =
            ["127.0.0.1:9000", "127.0.0.1:8788"].map(|address| address.parse().unwrap());
        for (told, expected) in [
            (json!({"service": {"webhook_socket": "127.0.0.1:8788"}}), Some(socket)),
            // The configuration names it by now; the service has not read it yet.
            (json!({"service": {"webhook_socket": "127.0.0.1:9000"}}), None),
            (json!({"service": {}}), None),
            (json!({"service": {"webhook_socket": "x"}}), None),
        ] {
            assert_eq!(socket_in(Some(&told), configured), expected, "{told}");
        }
        assert_eq!(socket_in(None, configured), None);
    }

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
