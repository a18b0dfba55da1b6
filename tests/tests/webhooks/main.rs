//! The webhook receiver: the real binary, plain sockets, and the inbox read with plain SQL.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

mod receiving;

use std::{
    collections::BTreeSet,
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use espelho_tests::{Kind, Mirror, installation::STORE, on_both_databases, until};
use receiving::{
    Receiving, SECRET, answer, ask, bodies, listening_at, paid, prepare, request, signature, signed,
    signed_with, start_with_socket, with_inbox,
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

on_both_databases![
    a_delivery_is_a_row_when_it_is_acknowledged,
    a_secret_is_accepted_for_a_day_after_the_next_one,
    nothing_acknowledged_is_lost_by_kill_9_and_systemds_socket_refuses_nobody,
    what_cannot_be_written_is_asked_to_come_again,
];

async fn a_delivery_is_a_row_when_it_is_acknowledged(kind: Kind) {
    let receiving = Receiving::on(kind).await;
    let mut expected = BTreeSet::new();
    for n in 0..20 {
        assert_eq!(receiving.status(signed(&paid(n))).await, 200);
        expected.insert(paid(n));
        assert_eq!(receiving.bodies().await, expected);
    }
    let odd =
        [r#"{"event":"order.teleported","more":[]}"#, r#"{"event":"webhook.test","data":{}}"#, "not JSON"];
    for body in odd {
        assert_eq!(receiving.status(signed(body)).await, 200, "{body}");
        expected.insert(body.to_owned());
    }
    assert_eq!(receiving.bodies().await, expected);
    let rows = with_inbox(&receiving.installation).await;
    let rows = rows.ask("SELECT event, digest FROM webhook_inbox WHERE event = 'webhook.test'").await;
    assert!(rows.len() == 1 && rows[0]["digest"].len() == 64, "{rows:?}");
    receiving.stop().await;
}

async fn a_secret_is_accepted_for_a_day_after_the_next_one(kind: Kind) {
    let receiving = Receiving::on(kind).await;
    let inbox = with_inbox(&receiving.installation).await;
    let ago = |hours: u32| match inbox {
        Mirror::Sqlite(_) => format!("strftime('%Y-%m-%dT%H:%M:%f000Z', 'now', '-{hours} hours')"),
        Mirror::Postgres(_) => format!("now() - interval '{hours} hours'"),
    };
    for (secret, retired_at) in
        [("whsec_new", "NULL".to_owned()), ("whsec_old", ago(23)), ("whsec_gone", ago(25))]
    {
        let obtained_at = ago(100);
        let sql = format!(
            "INSERT INTO webhook_secrets VALUES ('{STORE}', '{secret}', {obtained_at}, {retired_at})"
        );
        inbox.execute(&sql).await;
    }
    for (secret, status) in [("whsec_new", 200), ("whsec_old", 200), ("whsec_gone", 401), (SECRET, 200)] {
        assert_eq!(receiving.status(signed_with(secret, &paid(secret))).await, status, "{secret}");
    }
    assert_eq!(receiving.bodies().await.len(), 3);
    receiving.stop().await;
}

async fn what_cannot_be_written_is_asked_to_come_again(kind: Kind) {
    let receiving = Receiving::on(kind).await;
    let inbox = with_inbox(&receiving.installation).await;
    let schema = if kind == Kind::Sqlite { "inbox." } else { "" };
    assert_eq!(receiving.status(signed(&paid(1))).await, 200);
    inbox.execute(&format!("ALTER TABLE {schema}webhook_inbox RENAME TO hidden")).await;
    let (status, head) = ask(receiving.webhooks, signed(&paid(2)).as_bytes()).await.unwrap();
    assert!(status == 503 && head.contains("retry-after: "), "{head}");
    inbox.execute(&format!("ALTER TABLE {schema}hidden RENAME TO webhook_inbox")).await;
    assert_eq!(receiving.status(signed(&paid(2))).await, 200);
    assert_eq!(receiving.bodies().await, BTreeSet::from([paid(1), paid(2)]));
    let shed = format!("espelho_webhooks_total{{store=\"{STORE}\",event=\"other\",result=\"shed\"}} 1");
    assert!(receiving.metrics().await.contains(&shed), "{}", receiving.metrics().await);
    receiving.stop().await.says("deliveries are refused").says("deliveries are taken again");
}

// withstands: F045
async fn nothing_acknowledged_is_lost_by_kill_9_and_systemds_socket_refuses_nobody(kind: Kind) {
    const DELIVERIES: usize = 2_000;
    const KILLS: usize = 4;
    let (_shop, installation) = prepare(kind, "").await;
    let socket = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap();
    let acked = Arc::new(Mutex::new(BTreeSet::new()));
    let next = Arc::new(AtomicUsize::new(0));
    let mut service = start_with_socket(&installation, &socket, "");
    let senders: Vec<_> = (0..16)
        .map(|_| {
            let (acked, next) = (Arc::clone(&acked), Arc::clone(&next));
            tokio::spawn(async move {
                let mut broken = 0;
                loop {
                    let n = next.fetch_add(1, Ordering::SeqCst);
                    if n >= DELIVERIES {
                        return broken;
                    }
                    // No connection is ever refused: the socket exists even while the service does not.
                    let mut connection = TcpStream::connect(address).await.unwrap();
                    while connection.write_all(signed(&paid(n)).as_bytes()).await.is_err()
                        || answer(&mut connection).await.is_none_or(|(status, _)| status != 200)
                    {
                        broken += 1;
                        connection = TcpStream::connect(address).await.unwrap();
                    }
                    acked.lock().unwrap().insert(paid(n));
                }
            })
        })
        .collect();
    for kill in 1..=KILLS {
        until("more is acknowledged", async || {
            acked.lock().unwrap().len() >= kill * DELIVERIES / (KILLS + 1)
        })
        .await;
        service.kill().await.unwrap();
        let certain = acked.lock().unwrap().clone();
        let kept = bodies(&installation).await;
        assert!(certain.is_subset(&kept), "lost: {:?}", certain.difference(&kept).next());
        service = start_with_socket(&installation, &socket, "");
    }
    for sender in senders {
        sender.await.unwrap();
    }
    service.kill().await.unwrap();
    assert_eq!(acked.lock().unwrap().len(), DELIVERIES);
    assert_eq!(bodies(&installation).await, *acked.lock().unwrap());
}

// proves: WHK-011
#[tokio::test]
async fn what_is_not_signed_as_the_document_says_is_answered_401_and_not_kept() {
    let receiving = Receiving::on(Kind::Sqlite).await;
    let body = paid(1);
    let right = signature(SECRET, &body);
    let header = |value: &str| format!("X-Webhook-Signature: {value}");
    let bad = [
        vec![],
        vec![header("")],
        vec![header(&signature("whsec_outra", &body))],
        vec![header(&signature(SECRET, &paid(2)))],
        vec![header(&right[..70])],
        vec![header(&right.replace("sha256=", ""))],
        vec![header(&right), header(&right)],
        vec![header(&format!("sha256={}", right["sha256=".len()..].to_ascii_uppercase()))],
    ];
    for headers in bad {
        let headers: Vec<&str> = headers.iter().map(String::as_str).collect();
        assert_eq!(receiving.status(request(&headers, &body)).await, 401, "{headers:?}");
    }
    assert!(receiving.bodies().await.is_empty());
    assert_eq!(receiving.status(signed(&body)).await, 200);
    assert_eq!(receiving.status(request(&[&header(&right), "Content-Encoding: gzip"], &body)).await, 415);
    assert_eq!(receiving.status(signed(&"x".repeat(256 << 10))).await, 200);
    assert_eq!(
        receiving.status(signed(&body).replace("Content-Length: ", "Content-Length: 9999999")).await,
        413
    );
    let many: String = (0..70).map(|n| format!("X-{n}: 1\r\n")).collect();
    assert_eq!(receiving.status(signed(&body).replace("\r\nHost", &format!("\r\n{many}Host"))).await, 431);
    assert_eq!(receiving.status(signed(&body).replace("loja-1 HTTP", "loja-2 HTTP")).await, 404);
    assert_eq!(receiving.status(signed(&body).replace("POST", "PUT")).await, 405);
    let metrics = receiving.metrics().await;
    for line in [
        "espelho_webhooks_total{store=\"loja-1\",event=\"order.paid\",result=\"stored\"} 1",
        "espelho_webhooks_total{store=\"loja-1\",event=\"other\",result=\"bad_signature\"} 8",
        "espelho_webhook_ack_duration_seconds_count 2",
        "espelho_inbox_oldest_age_seconds{store=\"loja-1\"} ",
    ] {
        assert!(metrics.contains(line), "no {line} in\n{metrics}");
    }
    receiving.stop().await;
}

// withstands: F043
#[tokio::test]
async fn stalled_sockets_are_closed_and_keep_nobody_out() {
    let limits = "max_connections = 50\nheader_seconds = 1\nrequest_seconds = 2\nidle_seconds = 2\n";
    let receiving = Receiving::with(Kind::Sqlite, limits).await;
    let whole = signed(&paid("stalled"));
    let mut stalled = Vec::new();
    for n in 0..300 {
        let mut socket = TcpStream::connect(receiving.webhooks).await.unwrap();
        socket.write_all(&whole.as_bytes()[..[0, 40, whole.len() - 1][n % 3]]).await.unwrap();
        stalled.push(socket);
        if n % 25 == 0 {
            assert_eq!(receiving.status(signed(&paid(n))).await, 200, "after {n} stalled sockets");
        }
    }
    let all_closed = async {
        for mut socket in stalled {
            let mut rest = Vec::new();
            // Reset or closed: either way it is over.
            let _ = socket.read_to_end(&mut rest).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(15), all_closed).await.expect("they stay open");
    assert_eq!(receiving.bodies().await.len(), 12);
    receiving.stop().await;
}

// withstands: F117
#[tokio::test]
async fn few_file_descriptors_mean_few_connections_and_no_refused_delivery() {
    let (_shop, installation) = prepare(Kind::Sqlite, "").await;
    let socket = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap();
    let _service = start_with_socket(&installation, &socket, "ulimit -n 64; ");
    let mut stalled = Vec::new();
    for n in 0..200 {
        stalled.push(TcpStream::connect(address).await.unwrap());
        if n % 20 == 0 {
            assert_eq!(ask(address, signed(&paid(n)).as_bytes()).await.unwrap().0, 200, "after {n} sockets");
        }
    }
    assert_eq!(bodies(&installation).await.len(), 10);
}

#[tokio::test]
async fn a_service_that_is_stopped_answers_what_has_arrived() {
    let receiving = Receiving::on(Kind::Sqlite).await;
    let whole = signed(&paid(1));
    let (most, rest) = whole.split_at(whole.len() - 3);
    let mut socket = TcpStream::connect(receiving.webhooks).await.unwrap();
    socket.write_all(most.as_bytes()).await.unwrap();
    // When a later request is answered on another connection, this one's head has been read.
    assert_eq!(receiving.status(signed(&paid(2))).await, 200);
    receiving.service.terminate().await;
    until("it listens no more", async || TcpStream::connect(receiving.webhooks).await.is_err()).await;
    socket.write_all(rest.as_bytes()).await.unwrap();
    assert_eq!(answer(&mut socket).await.unwrap().0, 200);
    let Receiving { installation, service, .. } = receiving;
    service.end().await.expect(0);
    assert_eq!(bodies(&installation).await, BTreeSet::from([paid(1), paid(2)]));
}

#[tokio::test]
async fn with_a_certificate_deliveries_come_over_tls() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tls");
    let (certificate, key) = (fixtures.join("first.crt"), fixtures.join("first.key"));
    let files = format!(
        "tls_certificate_file = \"{}\"\ntls_key_file = \"{}\"\n",
        certificate.display(),
        key.display()
    );
    let receiving = Receiving::with(Kind::Sqlite, &files).await;
    let _ = rustls::crypto::ring::default_provider().install_default();
    let root = reqwest::Certificate::from_pem(&std::fs::read(certificate).unwrap()).unwrap();
    let client = reqwest::Client::builder().tls_certs_only([root]).no_proxy().build().unwrap();
    let url = format!("https://localhost:{}/webhooks/{STORE}", receiving.webhooks.port());
    let body = paid(1);
    let delivery =
        client.post(url).header("X-Webhook-Signature", signature(SECRET, &body)).body(body.clone());
    #[expect(clippy::disallowed_methods, reason = "the test is the marketplace here")]
    let answer = delivery.send().await.unwrap();
    assert_eq!(answer.status(), 200);
    assert_eq!(receiving.bodies().await, BTreeSet::from([body]));
    assert!(ask(receiving.webhooks, signed(&paid(2)).as_bytes()).await.is_none(), "it speaks plain HTTP too");
    receiving.stop().await;
}

#[tokio::test]
async fn without_a_webhook_nothing_listens_for_one_and_a_taken_port_is_named() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let listen = format!("listen = \"{}\"\n", taken.local_addr().unwrap());
    let (shop, installation) = prepare(Kind::Sqlite, &listen).await;
    installation.run(&["run"]).await.expect(1).says("webhooks.listen 127.0.0.1:").says("another port");
    shop.join(&installation);
    let mut service = installation.start(&["run"]);
    until("it listens", async || {
        assert!(!service.has_ended(), "the service has ended");
        !listening_at(service.id()).is_empty()
    })
    .await;
    service.terminate().await;
    service.end().await.expect(0);
}

#[tokio::test]
async fn a_receiver_that_cannot_be_is_refused_with_the_key_that_is_wrong() {
    let check = async |section: &str, words: &str| {
        let (_shop, installation) = prepare(Kind::Sqlite, section).await;
        installation.run(&["check"]).await.expect(2).says(words);
    };
    check("max_conections = 5\n", "did you mean \"max_connections\"").await;
    check("queue = 0\n", "espelho.toml:").await;
    check("tls_key_file = \"x\"\n", "tls_certificate_file").await;
    let (_shop, installation) =
        prepare(Kind::Sqlite, "tls_certificate_file = \"nowhere.crt\"\ntls_key_file = \"nowhere.key\"\n")
            .await;
    installation.run(&["run"]).await.expect(1).says("nowhere.crt");
}
