//! A service that receives webhooks, plain sockets that send deliveries, and access to its inbox.

use std::{collections::BTreeSet, net::SocketAddr, process::Stdio};

use espelho_tests::{Installation, Kind, Mirror, Outcome, Running, Shop, installation::STORE, truth, until};
use hmac::{Hmac, KeyInit as _, Mac as _};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    process::Child,
};

pub(crate) const SECRET: &str = "whsec_da-loja-1";

/// A service that receives webhooks for `loja-1`.
pub(crate) struct Receiving {
    pub(crate) _shop: Shop,
    pub(crate) installation: Installation,
    pub(crate) service: Running,
    pub(crate) webhooks: SocketAddr,
    pub(crate) health: String,
}

impl Receiving {
    pub(crate) async fn on(kind: Kind) -> Self {
        Self::with(kind, "").await
    }

    /// Starts it with further lines in `[webhooks]`.
    pub(crate) async fn with(kind: Kind, more: &str) -> Self {
        let (shop, installation) = prepare(kind, &format!("listen = \"127.0.0.1:0\"\n{more}")).await;
        let mut service = installation.start(&["run"]);
        let mut listening = Vec::new();
        until("it listens twice", async || {
            assert!(!service.has_ended(), "the service has ended");
            listening = listening_at(service.id());
            listening.len() == 2
        })
        .await;
        let probe = b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n";
        let is_health = ask(listening[0], probe).await.is_some_and(|(status, _)| status == 200);
        let (health, webhooks) =
            if is_health { (listening[0], listening[1]) } else { (listening[1], listening[0]) };
        let health = format!("http://{health}");
        Self { _shop: shop, installation, service, webhooks, health }
    }

    pub(crate) async fn status(&self, request: impl AsRef<[u8]>) -> u16 {
        ask(self.webhooks, request.as_ref()).await.unwrap().0
    }

    pub(crate) async fn bodies(&self) -> BTreeSet<String> {
        bodies(&self.installation).await
    }

    pub(crate) async fn metrics(&self) -> String {
        truth::get(&format!("{}/metrics", self.health)).await.1
    }

    pub(crate) async fn stop(self) -> Outcome {
        self.service.terminate().await;
        self.service.end().await.expect(0)
    }
}

/// Returns a shop without orders, and an installation whose only store has a webhook.
pub(crate) async fn prepare(kind: Kind, webhooks: &str) -> (Shop, Installation) {
    let (shop, installation) = (Shop::open(Vec::new()).await, Installation::on(kind).await);
    installation.write_main(&format!("[webhooks]\n{webhooks}"));
    installation.write("stores/loja-1.whsec", &format!("{SECRET}\n"));
    let webhook =
        "[webhook]\npublic_url = \"http://127.0.0.1/webhooks/loja-1\"\nsecret_file = \"loja-1.whsec\"\n";
    let (username, password) = (espelho_tests::shop::USERNAME, espelho_tests::shop::PASSWORD);
    installation.write_store_with(STORE, &shop.base_url(), username, password, webhook);
    (shop, installation)
}

/// Returns the addresses on which a process listens.
pub(crate) fn listening_at(process: u32) -> Vec<SocketAddr> {
    let links = std::fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten();
    let links = links.filter_map(|fd| Some(std::fs::read_link(fd.path()).ok()?.to_str()?.to_owned()));
    let sockets: BTreeSet<String> =
        links.filter_map(|link| Some(link.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned())).collect();
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
    let address = |line: &str| {
        let columns: Vec<&str> = line.split_whitespace().collect();
        let is_ours = columns.get(3) == Some(&"0A") && sockets.contains(*columns.get(9)?);
        let port = u16::from_str_radix(columns.get(1)?.split(':').nth(1)?, 16).ok()?;
        is_ours.then(|| SocketAddr::from(([127, 0, 0, 1], port)))
    };
    table.lines().filter_map(address).collect()
}

/// Opens the mirror's database together with the inbox, which on SQLite is a separate file.
pub(crate) async fn with_inbox(installation: &Installation) -> Mirror {
    let mirror = installation.mirror().await;
    if matches!(mirror, Mirror::Sqlite(_)) {
        let file = installation.dir().join("espelho.db-inbox");
        mirror.execute(&format!("ATTACH DATABASE '{}' AS inbox", file.display())).await;
    }
    mirror
}

/// Returns the bodies in the inbox.
pub(crate) async fn bodies(installation: &Installation) -> BTreeSet<String> {
    let mirror = with_inbox(installation).await;
    let text = match mirror {
        Mirror::Sqlite(_) => "CAST(body AS TEXT)",
        Mirror::Postgres(_) => "convert_from(body, 'UTF8')",
    };
    let rows = mirror.ask(&format!("SELECT {text} AS body FROM webhook_inbox WHERE store = '{STORE}'")).await;
    rows.into_iter().map(|row| row["body"].clone()).collect()
}

pub(crate) fn signature(secret: &str, body: &str) -> String {
    let mac = Hmac::<sha2::Sha256>::new_from_slice(secret.as_bytes()).unwrap().chain_update(body);
    let hex: String = mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256={hex}")
}

pub(crate) fn request(headers: &[&str], body: &str) -> String {
    let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
    format!(
        "POST /webhooks/{STORE} HTTP/1.1\r\nHost: erp.example\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n{headers}\r\n{body}",
        body.len()
    )
}

pub(crate) fn signed_with(secret: &str, body: &str) -> String {
    request(&[&format!("X-Webhook-Signature: {}", signature(secret, body))], body)
}

pub(crate) fn signed(body: &str) -> String {
    signed_with(SECRET, body)
}

pub(crate) fn paid(number: impl std::fmt::Display) -> String {
    format!(r#"{{"event":"order.paid","data":{{"store_id":1,"order_number":"{number}"}}}}"#)
}

/// Sends a request on a new connection; returns the status and the head of the answer, if there is one.
pub(crate) async fn ask(address: SocketAddr, request: &[u8]) -> Option<(u16, String)> {
    let mut socket = TcpStream::connect(address).await.ok()?;
    socket.write_all(request).await.ok()?;
    answer(&mut socket).await
}

pub(crate) async fn answer(socket: &mut TcpStream) -> Option<(u16, String)> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(socket.read_u8().await.ok()?);
    }
    let head = String::from_utf8(head).ok()?.to_ascii_lowercase();
    Some((head.get(9..12)?.parse().ok()?, head))
}

/// Starts the service with our socket, as systemd does, after the shell's `first`.
pub(crate) fn start_with_socket(
    installation: &Installation,
    socket: &std::net::TcpListener,
    first: &str,
) -> Child {
    // A shell replaces itself with the service, because LISTEN_PID must be the service's own; the socket comes as its
    // stdin.
    let command = installation.command(&["run"]);
    let program = command.as_std().get_program().to_owned();
    let script = format!("{first}exec 3<&0 0</dev/null; export LISTEN_FDS=1 LISTEN_PID=$$; exec \"$@\"");
    let mut shell = tokio::process::Command::new("sh");
    shell.arg("-c").arg(script).arg("sh").arg(program).args(command.as_std().get_args());
    let stdin = std::os::fd::OwnedFd::from(socket.try_clone().unwrap());
    shell.stdin(stdin).stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true).spawn().unwrap()
}
