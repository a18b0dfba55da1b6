//! Receivers of messages about alarms: an HTTP server that keeps what is posted to it and which addresses are called, and a
//! mail server that keeps mails. Both speak as little of their protocol as a test needs.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
};

use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::{TcpListener, TcpStream},
    task::AbortHandle,
};

/// A request that arrived.
#[derive(Clone, Debug)]
pub struct Received {
    /// Its path with the query.
    pub path: String,
    /// Its headers, one a line, as sent.
    pub head: String,
    /// Its body; null if it is no JSON.
    pub body: Value,
    /// Its body as it came.
    pub bytes: Vec<u8>,
}

/// A receiver of HTTP requests. Dropping it closes its port.
#[derive(Debug)]
pub struct HttpSink {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
    serving: AbortHandle,
}

#[derive(Debug, Default)]
struct State {
    received: Vec<Received>,
    /// So many messages are answered with 503 first.
    refusals: usize,
}

impl HttpSink {
    /// Opens a receiver on a free port.
    ///
    /// # Panics
    /// When there is none.
    pub async fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("a bound port");
        let state = Arc::<Mutex<State>>::default();
        let kept = Arc::clone(&state);
        let serving = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(answer(stream, Arc::clone(&kept)));
            }
        });
        Self { address, state, serving: serving.abort_handle() }
    }

    /// Returns an address of it.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Refuses so many messages from now on.
    pub fn refuse(&self, messages: usize) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).refusals = messages;
    }

    /// Returns what was accepted at a path.
    pub fn at(&self, path: &str) -> Vec<Received> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.received.iter().filter(|received| received.path == path).cloned().collect()
    }

    /// Returns the messages that were accepted at a path, about a code.
    pub fn about(&self, path: &str, code: &str) -> Vec<Value> {
        let of_code = |received: Received| Some(received.body).filter(|body| body["code"] == code);
        self.at(path).into_iter().filter_map(of_code).collect()
    }
}

impl Drop for HttpSink {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn answer(stream: TcpStream, state: Arc<Mutex<State>>) -> Option<()> {
    let mut stream = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if stream.read_line(&mut head).await.ok()? == 0 {
            return None;
        }
    }
    let path = head.split(' ').nth(1)?.to_owned();
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    });
    let mut body = vec![0; length.unwrap_or_default()];
    stream.read_exact(&mut body).await.ok()?;
    let status = {
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        match state.refusals.checked_sub(1).filter(|_| head.starts_with("POST ")) {
            Some(left) => {
                state.refusals = left;
                "503 Service Unavailable"
            }
            None => {
                let (json, bytes) = (serde_json::from_slice(&body).unwrap_or_default(), body);
                state.received.push(Received { path, head, body: json, bytes });
                "204 No Content"
            }
        }
    };
    let answer = format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
    stream.get_mut().write_all(answer.as_bytes()).await.ok()
}

/// A mail that arrived.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mail {
    /// The recipients of the envelope.
    pub to: Vec<String>,
    /// The mail with its headers.
    pub text: String,
}

/// A mail server. Dropping it closes its port.
#[derive(Debug)]
pub struct MailSink {
    address: SocketAddr,
    mails: Arc<Mutex<Vec<Mail>>>,
    serving: AbortHandle,
}

impl MailSink {
    /// Opens a mail server on a free port.
    ///
    /// # Panics
    /// When there is none.
    pub async fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("a bound port");
        let mails = Arc::<Mutex<Vec<Mail>>>::default();
        let kept = Arc::clone(&mails);
        let serving = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(take_mail(stream, Arc::clone(&kept)));
            }
        });
        Self { address, mails, serving: serving.abort_handle() }
    }

    /// Returns its port.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Returns the mails that were taken.
    pub fn mails(&self) -> Vec<Mail> {
        self.mails.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for MailSink {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// Speaks the commands of RFC 5321 that a client without extensions needs.
async fn take_mail(stream: TcpStream, mails: Arc<Mutex<Vec<Mail>>>) -> Option<()> {
    let (read, mut write) = stream.into_split();
    let mut lines = BufReader::new(read);
    write.write_all(b"220 sink\r\n").await.ok()?;
    let mut mail = Mail::default();
    loop {
        let line = line_of(&mut lines).await?;
        let verb = line.trim_end().split([' ', ':']).next().unwrap_or_default().to_ascii_uppercase();
        let reply: &[u8] = match verb.as_str() {
            "EHLO" | "HELO" => b"250 sink\r\n",
            "RCPT" => {
                mail.to.push(line.trim().to_owned());
                b"250 ok\r\n"
            }
            "DATA" => {
                write.write_all(b"354 go on\r\n").await.ok()?;
                loop {
                    let line = line_of(&mut lines).await?;
                    if line == ".\r\n" {
                        break;
                    }
                    mail.text.push_str(&line);
                }
                mails.lock().unwrap_or_else(PoisonError::into_inner).push(std::mem::take(&mut mail));
                b"250 taken\r\n"
            }
            "QUIT" => {
                write.write_all(b"221 bye\r\n").await.ok()?;
                return Some(());
            }
            _ => b"250 ok\r\n",
        };
        write.write_all(reply).await.ok()?;
    }
}

async fn line_of(lines: &mut BufReader<impl AsyncRead + Unpin>) -> Option<String> {
    let mut line = String::new();
    (lines.read_line(&mut line).await.ok()? > 0).then_some(line)
}
