//! Requests to the service on this machine.
//!
//! The marketplace's client never uses this module, and its requests never leave the machine.

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use espelho_model::{Clock, StoreKey, symptom::Symptom, text, text::Text};
use futures_util::TryStreamExt as _;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::{
    Request,
    body::{Bytes, Incoming},
    client::conn::http1,
    header,
};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::{
    io::{AsyncBufRead, AsyncBufReadExt as _, Lines},
    net::TcpStream,
};
use tokio_util::io::StreamReader;

/// A listener that does not start to answer within this time is not the service.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
/// The maximum bytes of an answer that is read as a whole.
const LARGEST: usize = 64 << 20;

/// An answer whose head is read.
pub(crate) struct Answer {
    pub status: u16,
    body: Incoming,
}

/// Sends a request to the service that listens on `listen`, if there is one.
pub(crate) async fn request(
    listen: SocketAddr,
    method: &str,
    path: &str,
    body: Option<&str>,
    clock: &Arc<dyn Clock>,
) -> io::Result<Answer> {
    let asking = transport(here(listen), method, path, body);
    tokio::select! {
        answer = asking => answer,
        () = clock.sleep(ANSWER_TIMEOUT) => Err(io::ErrorKind::TimedOut.into()),
    }
}

/// Returns how many deliveries in a row came to a store without a signature by a known secret, as the service counts.
pub(crate) async fn unverified(listen: SocketAddr, store: &StoreKey, clock: &Arc<dyn Clock>) -> Option<u64> {
    let path = format!("/status?store={store}");
    let told = request(listen, "GET", &path, None, clock).await.ok()?.text().await.ok()?;
    let told: Value = serde_json::from_str(&told).ok()?;
    told["stores"][0]["unverified"].as_u64()
}

/// Returns why a request or a connection failed. The system's own words, which are English, are quoted where the catalogue
/// has none.
pub(crate) fn failure(error: &io::Error) -> Text {
    match Symptom::of_io(error.kind()) {
        Some(symptom) => symptom.text(),
        None => text!("words-quoted", said = error.to_string()),
    }
}

/// Connects to the address; succeeds if a process accepts the connection.
pub(crate) async fn connects(listen: SocketAddr, clock: &Arc<dyn Clock>) -> io::Result<()> {
    tokio::select! {
        connected = TcpStream::connect(here(listen)) => connected.map(drop),
        () = clock.sleep(ANSWER_TIMEOUT) => Err(io::ErrorKind::TimedOut.into()),
    }
}

/// Returns the address at which to reach a service, also one that listens on all addresses.
fn here(listen: SocketAddr) -> SocketAddr {
    let mut address = listen;
    if listen.ip().is_unspecified() {
        address.set_ip(match listen {
            SocketAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
            SocketAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
        });
    }
    address
}

async fn transport(address: SocketAddr, method: &str, path: &str, body: Option<&str>) -> io::Result<Answer> {
    let stream = TcpStream::connect(address).await?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(io::Error::other)?;
    // It ends with the answer, or when nobody reads the answer any more; the request reports its error.
    tokio::spawn(connection);
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header(header::HOST, address.to_string())
        .header(header::CONNECTION, "close")
        .header(header::CONTENT_TYPE, "application/json")
        .body(Full::new(Bytes::from(body.unwrap_or_default().to_owned())))
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
    let (head, body) = sender.send_request(request).await.map_err(io::Error::other)?.into_parts();
    Ok(Answer { status: head.status.as_u16(), body })
}

impl Answer {
    /// Returns the whole body.
    pub(crate) async fn text(self) -> io::Result<String> {
        let body = Limited::new(self.body, LARGEST).collect().await.map_err(io::Error::other)?;
        String::from_utf8(body.to_bytes().into()).map_err(io::Error::other)
    }

    /// Returns the body line by line, as it comes.
    pub(crate) fn lines(self) -> Lines<impl AsyncBufRead + Unpin> {
        StreamReader::new(self.body.into_data_stream().map_err(io::Error::other)).lines()
    }
}

#[cfg(test)]
mod tests {
    use espelho_model::clock::SystemClock;
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::TcpListener,
    };

    use super::*;

    /// Returns the address of a listener that answers one request with these bytes.
    async fn answering(bytes: &'static str) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = [0; 4_096];
            let _ = stream.read(&mut request).await.unwrap();
            stream.write_all(bytes.as_bytes()).await.unwrap();
        });
        address
    }

    #[test]
    fn a_failure_is_told_in_the_reader_s_words_and_what_has_none_is_quoted() {
        use espelho_model::text::Locale;
        for (error, expected) in [
            (io::ErrorKind::TimedOut.into(), "sem resposta dentro do prazo"),
            (io::ErrorKind::ConnectionRefused.into(), "a conexão foi recusada"),
            (io::Error::other("operation was canceled"), "“operation was canceled”"),
        ] {
            assert_eq!(failure(&error).message(Locale::default()), expected);
        }
    }

    #[tokio::test]
    async fn an_answer_ends_with_its_connection() {
        let address = answering("HTTP/1.1 200 OK\r\na: b\r\n\r\n{\"a\":\n1}").await;
        let answer = request(address, "GET", "/status", None, &SystemClock::shared()).await.unwrap();
        assert_eq!(answer.status, 200);
        assert_eq!(answer.text().await.unwrap(), "{\"a\":\n1}");
    }

    #[tokio::test]
    async fn what_speaks_no_http_is_no_service() {
        for bytes in ["", "SSH-2.0-OpenSSH_9\r\n", "HTTP/1.1 200 OK\r\nno end"] {
            let address = answering(bytes).await;
            assert!(request(address, "GET", "/", None, &SystemClock::shared()).await.is_err(), "{bytes:?}");
        }
    }

    #[test]
    fn a_service_on_all_addresses_is_asked_on_this_machine() {
        let check = |listen: &str, asked: &str| {
            assert_eq!(here(listen.parse().unwrap()), asked.parse::<SocketAddr>().unwrap());
        };
        check("0.0.0.0:8787", "127.0.0.1:8787");
        check("[::]:8787", "[::1]:8787");
        check("10.1.2.3:8787", "10.1.2.3:8787");
    }
}
