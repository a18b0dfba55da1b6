//! Requests to the service on this machine: HTTP/1.0 over a plain socket, so that an answer ends with its connection.
//!
//! The marketplace's client never uses this module, and its requests never leave the machine.

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use espelho_model::Clock;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader, Lines},
    net::TcpStream,
};

/// A listener that does not start to answer within this time is not the service.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
/// The maximum bytes of an answer that is read as a whole.
const LARGEST: u64 = 64 << 20;
/// The maximum number of lines in an answer's head.
const HEADERS: usize = 64;

/// An answer whose head is read.
pub(crate) struct Answer {
    pub status: u16,
    body: BufReader<TcpStream>,
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
    let mut stream = TcpStream::connect(address).await?;
    let body = body.unwrap_or_default();
    let request = format!(
        "{method} {path} HTTP/1.0\r\nHost: {address}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await?;
    let mut answer = BufReader::new(stream);
    let status = read_line(&mut answer).await?;
    let status = status.split(' ').nth(1).and_then(|code| code.parse().ok());
    let status = status.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))?;
    for _ in 0..HEADERS {
        if read_line(&mut answer).await?.is_empty() {
            return Ok(Answer { status, body: answer });
        }
    }
    Err(io::ErrorKind::InvalidData.into())
}

async fn read_line(from: &mut BufReader<TcpStream>) -> io::Result<String> {
    let mut line = String::new();
    from.take(16 << 10).read_line(&mut line).await?;
    if !line.ends_with('\n') {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(line.trim_end().to_owned())
}

impl Answer {
    /// Returns the whole body.
    pub(crate) async fn text(self) -> io::Result<String> {
        let mut text = String::new();
        self.body.take(LARGEST).read_to_string(&mut text).await?;
        Ok(text)
    }

    /// Returns the body line by line, as it comes.
    pub(crate) fn lines(self) -> Lines<BufReader<TcpStream>> {
        self.body.lines()
    }
}

#[cfg(test)]
mod tests {
    use espelho_model::clock::SystemClock;
    use tokio::net::TcpListener;

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
