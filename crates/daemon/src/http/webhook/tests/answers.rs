//! Which answer each request gets.

use super::*;

#[tokio::test]
async fn a_delivery_is_in_the_inbox_when_it_is_acknowledged_and_its_store_is_woken() {
    let receiving = Receiving::with(wide()).await;
    let body = br#"{"event":"order.paid","data":{"store_id":1},"timestamp":"t","webhook_id":"w"}"#;
    assert_eq!(receiving.status(signed(body)).await, 200);
    let inbox = receiving.world.inbox().await;
    assert_eq!(inbox.len(), 1);
    assert_eq!((inbox[0].event.as_deref(), inbox[0].body.as_slice()), (Some("order.paid"), body.as_slice()));
    assert_eq!(inbox[0].digest.len(), 64);
    receiving.store_wakers.inbox.notified().await;
}

// withstands: F048
#[tokio::test]
async fn whatever_is_rightly_signed_is_kept_as_it_came() {
    let receiving = Receiving::with(wide()).await;
    let bodies: [&[u8]; 8] = [
        b"",
        b"{",
        b"\xff\xfe\x00",
        br#"{"event":"order.teleported","data":{"store_id":1,"more":[1]},"surprise":true}"#,
        br#"{"event":"order.paid","data":{"store_id":"of another store"}}"#,
        br#"{"event":"webhook.test","data":{"source":"seller.webhook-test"}}"#,
        br#"{"event":"a","event":"b"}"#,
        &[b'['; 100_000],
    ];
    for body in bodies {
        assert_eq!(receiving.status(signed(body)).await, 200);
    }
    let kept: Vec<_> = receiving.world.inbox().await.into_iter().map(|row| row.body).collect();
    assert_eq!(kept, bodies);
}

// proves: WHK-009, WHK-011
// withstands: F039
#[tokio::test]
async fn only_one_whole_signature_of_these_very_bytes_counts() {
    let receiving = Receiving::with(wide()).await;
    let body = br#"{"event":"order.paid"}"#;
    let right = signature(SECRET, body);
    let wrong = signature("whsec_outro", body);
    let header = |value: &str| request("POST /webhooks/loja", &[("X-Webhook-Signature", value)], body);
    let twice = |a: &str, b: &str| {
        let headers = [("X-Webhook-Signature", a), ("x-webhook-signature", b)];
        request("POST /webhooks/loja", &headers, body)
    };
    let bad = [
        request("POST /webhooks/loja", &[], body),
        header(""),
        header(&wrong),
        header(&right[..70]),
        header(&format!("{right}0")),
        header(&right["sha256=".len()..]),
        header(&right.replace("sha256", "sha512")),
        header(&right.replace("sha256=", "SHA256=")),
        header(&format!("sha256={}", right["sha256=".len()..].to_ascii_uppercase())),
        header(&format!("{right},{right}")),
        header(&format!("sha256={}", "z".repeat(64))),
        twice(&right, &right),
        twice(&right, &wrong),
    ];
    for request in &bad {
        assert_eq!(receiving.status(request).await, 401, "{}", String::from_utf8_lossy(request));
    }
    assert!(receiving.world.inbox().await.is_empty());
    assert_eq!(receiving.status(header(&right)).await, 200);
}

// withstands: F041
#[tokio::test]
async fn other_paths_methods_and_encodings_are_refused() {
    let receiving = Receiving::with(wide()).await;
    let body = b"{}";
    let signature = signature(SECRET, body);
    let signed = |line: &str, more: &[(&str, &str)]| {
        request(line, &[&[("X-Webhook-Signature", signature.as_str())], more].concat(), body)
    };
    for path in [
        "/",
        "/webhooks",
        "/webhooks/",
        "/webhooks/nobody",
        "/webhooks/loja/",
        "/webhooks/../loja",
        "/metrics",
    ] {
        assert_eq!(receiving.status(signed(&format!("POST {path}"), &[])).await, 404, "{path}");
    }
    for method in ["GET", "PUT", "DELETE", "OPTIONS"] {
        let (status, head) =
            receiving.connect().await.ask(signed(&format!("{method} /webhooks/loja"), &[])).await;
        assert!(status == 405 && head.contains("allow: post"), "{method}: {head}");
    }
    for encoding in ["gzip", "identity, gzip", "br, gzip"] {
        let encoded = signed("POST /webhooks/loja", &[("Content-Encoding", encoding)]);
        assert_eq!(receiving.status(encoded).await, 415, "{encoding}");
    }
    assert!(receiving.world.inbox().await.is_empty());
    let as_it_is = signed("POST /webhooks/loja", &[("Content-Encoding", "Identity")]);
    assert_eq!(receiving.status(as_it_is).await, 200, "identity is no encoding");
    assert_eq!(receiving.status(signed("POST /webhooks/loja?from=portal", &[])).await, 200);
}

// withstands: F042
#[tokio::test]
async fn bodies_and_heads_have_their_caps() {
    let receiving = Receiving::with(wide()).await;
    let largest = vec![b'x'; deliver::MOST_BODY];
    assert_eq!(receiving.status(signed(&largest)).await, 200);
    let declared = [("Content-Length", "262145"), ("X-Webhook-Signature", &signature(SECRET, b""))];
    assert_eq!(receiving.status(request("POST /webhooks/loja", &declared, b"")).await, 413);
    // A body without a declared length is cut off where it becomes too long.
    let chunked = [("Transfer-Encoding", "chunked"), ("X-Webhook-Signature", &signature(SECRET, b""))];
    let chunk = [b"40000\r\n".as_slice(), &largest, b"\r\n1\r\nx\r\n0\r\n\r\n"].concat();
    assert_eq!(receiving.status(request("POST /webhooks/loja", &chunked, &chunk)).await, 413);
    let names: Vec<String> = (0..70).map(|n| format!("X-Header-{n}")).collect();
    let many: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "1")).collect();
    assert_eq!(receiving.status(request("POST /webhooks/loja", &many, b"")).await, 431);
    let long = "x".repeat(40_000);
    assert_eq!(receiving.status(request("POST /webhooks/loja", &[("X-Long", &long)], b"")).await, 431);
    assert_eq!(receiving.world.inbox().await.len(), 1);
}

#[tokio::test]
async fn chunks_and_keep_alive_and_requests_sent_together_are_fine() {
    let receiving = Receiving::with(wide()).await;
    let mut talk = receiving.connect().await;
    let chunked =
        [("Transfer-Encoding", "chunked"), ("X-Webhook-Signature", &signature(SECRET, b"{\"a\":1}"))];
    let body = b"3\r\n{\"a\r\n4\r\n\":1}\r\n0\r\nX-Trailer: 1\r\n\r\n";
    assert_eq!(talk.ask(request("POST /webhooks/loja", &chunked, body)).await.0, 200);
    talk.say([signed(b"1"), signed(b"2"), signed(b"3")].concat()).await;
    for _ in 0..3 {
        assert_eq!(talk.answer().await.0, 200);
    }
    let kept: Vec<_> = receiving.world.inbox().await.into_iter().map(|row| row.body).collect();
    assert_eq!(kept, [b"{\"a\":1}".as_slice(), b"1", b"2", b"3"]);
}

// withstands: F036
#[tokio::test]
async fn a_secret_that_a_login_brings_is_known_at_once_and_the_old_one_stays_for_a_day() {
    let receiving = Receiving::with(wide()).await;
    let outra = StoreKey::new("outra").unwrap();
    let to_outra = |secret: &str| {
        let signature = signature(secret, b"{}");
        request("POST /webhooks/outra", &[("X-Webhook-Signature", &signature)], b"{}")
    };
    receiving.world.store.inbox().keep_secret(&outra, "whsec_a").await.unwrap();
    assert_eq!(receiving.status(to_outra("whsec_a")).await, 200);
    assert_eq!(receiving.status(to_outra(SECRET)).await, 401, "the secret of another store");
    receiving.world.store.inbox().keep_secret(&outra, "whsec_b").await.unwrap();
    let mut asked = 0;
    // The secrets are read at most once a second; until then a new one is not known.
    while receiving.status(to_outra("whsec_b")).await != 200 {
        asked += 1;
        assert!(asked < 1_000_000);
    }
    assert_eq!(receiving.status(to_outra("whsec_a")).await, 200);
    assert_eq!(receiving.status(to_outra("whsec_c")).await, 401);
}

// withstands: F046
#[tokio::test]
async fn without_a_database_deliveries_are_asked_to_come_again() {
    let receiving = Receiving::with(wide()).await;
    assert_eq!(receiving.status(signed(b"before")).await, 200);
    receiving.world.store.close().await;
    let (status, head) = receiving.connect().await.ask(signed(b"after")).await;
    assert!(status == 503 && head.contains("retry-after: "), "{head}");
    // Whether the secret is right cannot be known either.
    let unknown = request("POST /webhooks/outra", &[("X-Webhook-Signature", &signature("x", b""))], b"");
    assert_eq!(receiving.status(unknown).await, 503);
}

// withstands: F044, F046
#[tokio::test]
async fn bodies_that_find_no_memory_are_asked_to_come_again() {
    let receiving = Receiving::with(Limits { queue_bytes: 1_000, ..wide() }).await;
    assert_eq!(receiving.status(signed(&[b'x'; 1_001])).await, 503);
    assert_eq!(receiving.status(signed(&[b'x'; 1_000])).await, 200);
    receiving.store_wakers.gap.notified().await;
    assert_eq!(receiving.status(signed(&[b'y'; 1_000])).await, 200, "the memory was not given back");
}

// withstands: F035
#[tokio::test]
async fn deliveries_that_no_known_secret_has_signed_are_counted_until_one_is_verified() {
    let receiving = Receiving::with(wide()).await;
    let unverified =
        |key: &str| receiving.health.snapshot().get(&StoreKey::new(key).unwrap()).map(|h| h.unverified);
    let lost =
        request("POST /webhooks/loja", &[("X-Webhook-Signature", &signature("whsec_perdido", b"{}"))], b"{}");
    for in_a_row in 1..=3 {
        assert_eq!(receiving.status(&lost).await, 401);
        assert_eq!(unverified("loja"), Some(in_a_row));
    }
    // Anybody can send a request without a signature; it says nothing about the secret.
    assert_eq!(receiving.status(request("POST /webhooks/loja", &[], b"{}")).await, 401);
    assert_eq!((unverified("loja"), unverified("outra")), (Some(3), None));
    assert_eq!(receiving.status(signed(b"{}")).await, 200);
    assert_eq!(unverified("loja"), Some(0));
}

#[tokio::test]
async fn the_stores_that_receive_may_change_while_it_receives() {
    let receiving = Receiving::with(wide()).await;
    assert_eq!(receiving.status(signed(b"{}")).await, 200);
    let store = StoreKey::new("nova").unwrap();
    receiving.webhooks.serve(vec![(store, Some("whsec_novo".into()))]);
    assert_eq!(receiving.status(signed(b"{}")).await, 404);
    let nova =
        |secret| request("POST /webhooks/nova", &[("X-Webhook-Signature", &signature(secret, b"{}"))], b"{}");
    assert_eq!(receiving.status(nova("whsec_novo")).await, 200);
    assert_eq!(receiving.status(nova(SECRET)).await, 401);
    receiving.webhooks.serve(vec![(loja(), Some("whsec_novo".into()))]);
    assert_eq!(receiving.status(signed(b"{}")).await, 401, "its secret is another one");
    assert_eq!(receiving.status(nova("whsec_novo")).await, 404);
}
