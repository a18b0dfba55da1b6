//! A running service as seen from outside: its pages, and its end.

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use crate::{Outcome, Running, truth, until};

/// Waits until a service on a known port is ready.
pub async fn ready(service: &mut Running, base: &str) {
    until("the service is ready", async || {
        assert!(!service.has_ended(), "the service has ended");
        connect(base).await.is_some() && truth::get(&format!("{base}/readyz")).await.0 == 200
    })
    .await;
}

/// Stops a service and checks that it ends successfully.
pub async fn stopped(service: Running) -> Outcome {
    service.terminate().await;
    service.end().await.expect(0)
}

/// Returns a service's answer to exactly these bytes.
///
/// # Panics
/// When it does not answer.
pub async fn answer(base: &str, request: &str) -> String {
    let mut stream = connect(base).await.expect("the service listens");
    stream.write_all(request.as_bytes()).await.expect("the service reads");
    let mut text = String::new();
    stream.read_to_string(&mut text).await.expect("the service answers");
    text
}

async fn connect(base: &str) -> Option<TcpStream> {
    TcpStream::connect(base.trim_start_matches("http://")).await.ok()
}
