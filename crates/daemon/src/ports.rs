//! A port on which the service cannot listen: who has it, and what to do.

mod holder;

use std::{io, net::SocketAddr};

use espelho_model::{clock::SystemClock, text, text::Text};
use espelho_sync_engine::{Problem, Trouble};
use serde::Deserialize;

use self::holder::Process;
use crate::{config::StoreConfig, local};

/// The binary's name, as Linux shows a process.
const ESPELHO: &str = "espelho";

/// An espelho that answers on the port, according to its `/status`.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
struct Neighbour {
    service: Service,
    #[serde(default)]
    stores: Vec<Shown>,
}

#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
struct Service {
    version: String,
    process: Option<u32>,
}

#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
struct Shown {
    store: String,
}

impl Neighbour {
    fn serves(&self, stores: &[StoreConfig]) -> bool {
        self.stores.iter().any(|shown| stores.iter().any(|store| store.key.as_str() == shown.store))
    }
}

/// Returns why `key` (`http.listen`, `webhooks.listen`) cannot be used. Another espelho that serves one of our stores
/// gets the exit code for "another instance holds the store".
pub(crate) async fn refusal(
    key: &'static str,
    address: SocketAddr,
    error: &io::Error,
    stores: &[StoreConfig],
) -> Problem {
    let neighbour = match error.kind() {
        io::ErrorKind::AddrInUse => neighbour(address).await,
        _ => None,
    };
    let holder = match &neighbour {
        Some(neighbour) => neighbour.service.process.map(|id| Process { id, name: ESPELHO.into() }),
        None => holder::of(address),
    };
    let serves_ours = neighbour.as_ref().is_some_and(|neighbour| neighbour.serves(stores));
    let text = explain(key, address, error, holder.as_ref(), neighbour.as_ref());
    Problem::of(if serves_ours { Trouble::Held } else { Trouble::Failure }, "port_refused", text)
}

/// Asks `/status` at the address: returns whether an espelho answers that works on one of these stores.
pub(crate) async fn is_served(address: SocketAddr, stores: &[StoreConfig]) -> bool {
    neighbour(address).await.is_some_and(|neighbour| neighbour.serves(stores))
}

/// Returns the espelho that answers at the address, if there is one.
async fn neighbour(address: SocketAddr) -> Option<Neighbour> {
    let answer = local::request(address, "GET", "/status", None, &SystemClock::shared()).await.ok()?;
    serde_json::from_str(&answer.text().await.ok()?).ok()
}

/// Returns why `option` cannot be listened on, without asking what answers there. On a command line its next step is
/// the caller's, because no key of a configuration chooses the port.
pub(crate) fn reason(option: &'static str, address: SocketAddr, error: &io::Error) -> Text {
    let is_taken = error.kind() == io::ErrorKind::AddrInUse;
    let holder = is_taken.then(|| holder::of(address)).flatten();
    explain(option, address, error, holder.as_ref(), None)
}

/// Returns the program that listens on the address of `key` in the service's place: another one by its name, else one that
/// may be the service itself, which hangs. Nothing listens there meanwhile: that would keep a service from starting.
pub(crate) fn taken(key: &'static str, address: SocketAddr) -> Option<Text> {
    let unnamed = || {
        text!("ports-listens", key = key, address = address.to_string(), port = address.port().to_string())
    };
    holder::is_taken(address).then(|| taken_by_other(key, address).unwrap_or_else(unnamed))
}

/// Returns the program that listens on the address of `key`, if it can be named and is no espelho.
pub(crate) fn taken_by_other(key: &'static str, address: SocketAddr) -> Option<Text> {
    let holder = holder::of(address).filter(|process| process.name != ESPELHO)?;
    Some(explain(key, address, &io::ErrorKind::AddrInUse.into(), Some(&holder), None))
}

fn explain(
    key: &'static str,
    address: SocketAddr,
    error: &io::Error,
    holder: Option<&Process>,
    neighbour: Option<&Neighbour>,
) -> Text {
    let text = match (error.kind(), holder, neighbour) {
        (io::ErrorKind::AddrInUse, Some(process), Some(neighbour)) => {
            let version = neighbour.service.version.as_str();
            text!("ports-taken-by-service", process = process.id.to_string(), version = version)
        }
        (io::ErrorKind::AddrInUse, Some(process), None) if process.name == ESPELHO => {
            text!("ports-taken-by-espelho", process = process.id.to_string())
        }
        (io::ErrorKind::AddrInUse, Some(process), None) => {
            let name = process.name.as_str();
            text!("ports-taken-by-program", program = name, process = process.id.to_string())
        }
        (io::ErrorKind::AddrInUse, None, _) => text!("ports-taken", port = address.port().to_string()),
        (io::ErrorKind::PermissionDenied, ..) => text!("ports-not-permitted"),
        (io::ErrorKind::AddrNotAvailable, ..) => text!("ports-not-of-this-machine"),
        _ => text!("ports-refused", error = error.to_string()),
    };
    text.with("key", key).with("address", address.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_listens_is_told() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let said = taken("http.listen", address).unwrap().message(text::Locale::default());
        assert!(said.contains(&address.to_string()), "{said}");
        // An address of documents (RFC 5737), and a port that needs rights.
        assert_eq!(taken("http.listen", "192.0.2.1:1".parse().unwrap()), None);
    }

    #[test]
    fn whoever_has_the_port_is_named_with_the_next_step() {
        let neighbour =
            |process| Neighbour { service: Service { version: "0.1.0".into(), process }, stores: Vec::new() };
        let process = |name: &str| Some(Process { id: 4_711, name: name.into() });
        let (in_use, denied) = (io::ErrorKind::AddrInUse, io::ErrorKind::PermissionDenied);
        for (kind, holder, neighbour, words) in [
            (
                in_use,
                process("espelho"),
                Some(neighbour(Some(4_711))),
                &["4711", "0.1.0", "espelho.toml", "espelho status"][..],
            ),
            (in_use, process("espelho"), None, &["4711", "espelho"]),
            (in_use, process("nginx"), None, &["nginx", "4711", "kill 4711"]),
            (in_use, None, None, &["ss -ltnp", ":8787"]),
            (denied, None, None, &["1024"]),
            (io::ErrorKind::AddrNotAvailable, None, None, &["http.listen"]),
            (io::ErrorKind::Other, None, None, &["other error"]),
        ] {
            let address = "127.0.0.1:8787".parse().unwrap();
            let text = explain("http.listen", address, &kind.into(), holder.as_ref(), neighbour.as_ref());
            for locale in text::Language::ALL.map(text::Locale::of) {
                let said = format!("{} {}", text.message(locale), text.next(locale).unwrap());
                assert!(said.contains("http.listen") && said.contains("127.0.0.1:8787"), "{said}");
                assert!(words.iter().all(|word| said.contains(word)), "{words:?} in {said}");
            }
        }
    }

    #[test]
    fn a_neighbour_is_read_from_its_status_whatever_else_that_says() {
        let status = r#"{"state":"ok","service":{"running":true,"version":"9.0.0","process":7,"x":1},
            "stores":[{"store":"loja-1","anything":{}}]}"#;
        let neighbour: Neighbour = serde_json::from_str(status).unwrap();
        assert_eq!(neighbour.service, Service { version: "9.0.0".into(), process: Some(7) });
        assert_eq!(neighbour.stores, [Shown { store: "loja-1".into() }]);
        assert!(serde_json::from_str::<Neighbour>("{\"status\":\"up\"}").is_err());
    }
}
