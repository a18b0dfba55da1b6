//! A receiver of webhooks: keeps what it is sent, and answers as it is told.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex},
};

use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::mpsc,
    task::JoinHandle,
};

/// What a receiver was sent.
pub(crate) struct Delivered {
    /// Method, path and version.
    pub(crate) line: String,
    /// By lower-case name.
    pub(crate) headers: HashMap<String, String>,
    pub(crate) body: Vec<u8>,
}

impl Delivered {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    pub(crate) fn event(&self) -> String {
        self.json()["event"].as_str().unwrap().to_owned()
    }

    pub(crate) fn data(&self) -> Value {
        self.json()["data"].clone()
    }

    /// Whether the signature is that of the raw body under a secret.
    pub(crate) fn is_signed_with(&self, secret: &str) -> bool {
        use hmac::{KeyInit, Mac};
        let mut mac = hmac::Hmac::<sha2::Sha256>::new_from_slice(secret.as_bytes()).unwrap();
        mac.update(&self.body);
        self.headers["x-webhook-signature"] == format!("sha256={}", hex::encode(mac.finalize().into_bytes()))
    }
}

/// The status that stands for no answer at all.
pub(crate) const SILENCE: u16 = 0;

pub(crate) struct Receiver {
    pub(crate) url: String,
    arrived: mpsc::UnboundedReceiver<Delivered>,
    answers: Arc<Mutex<VecDeque<u16>>>,
    task: JoinHandle<()>,
}

impl Receiver {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/ganchos", listener.local_addr().unwrap());
        let (tell, arrived) = mpsc::unbounded_channel();
        let answers = Arc::new(Mutex::new(VecDeque::new()));
        let script = Arc::clone(&answers);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, tell.clone(), Arc::clone(&script)));
            }
        });
        Self { url, arrived, answers, task }
    }

    /// The next answers; 200 once they are used up.
    pub(crate) fn answer(&self, statuses: &[u16]) {
        self.answers.lock().unwrap().extend(statuses);
    }

    /// Waits for a delivery.
    pub(crate) async fn next(&mut self) -> Delivered {
        self.arrived.recv().await.unwrap()
    }

    /// How many arrived that nobody has looked at.
    pub(crate) fn count(&self) -> usize {
        self.arrived.len()
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(
    mut stream: TcpStream,
    tell: mpsc::UnboundedSender<Delivered>,
    answers: Arc<Mutex<VecDeque<u16>>>,
) {
    let Some(delivered) = read(&mut stream).await else { return };
    let status = answers.lock().unwrap().pop_front().unwrap_or(200);
    let _ = tell.send(delivered);
    if status == SILENCE {
        // Nothing comes, not even the end.
        std::future::pending::<()>().await;
    }
    let answer =
        format!("HTTP/1.1 {status} X\r\nlocation: /moved\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    let _ = stream.write_all(answer.as_bytes()).await;
}

async fn read(stream: &mut TcpStream) -> Option<Delivered> {
    let mut bytes = Vec::new();
    let head = loop {
        if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break at;
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let text = String::from_utf8_lossy(&bytes[..head]).into_owned();
    let mut lines = text.lines();
    let line = lines.next()?.to_owned();
    let headers: HashMap<_, _> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()))
        .collect();
    let length: usize = headers.get("content-length")?.parse().ok()?;
    let mut body = bytes[head + 4..].to_vec();
    while body.len() < length {
        if stream.read_buf(&mut body).await.ok()? == 0 {
            return None;
        }
    }
    Some(Delivered { line, headers, body })
}
