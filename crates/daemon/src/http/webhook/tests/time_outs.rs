//! Sockets that stall, and the end of the receiver.

use super::*;

/// Returns limits that expire soon.
fn short() -> Limits {
    let soon = Duration::from_millis(300);
    Limits { header: soon, request: 2 * soon, idle: soon, ..wide() }
}

#[tokio::test]
async fn silence_and_half_a_head_are_cut_off() {
    let receiving = Receiving::with(short()).await;
    let silent = receiving.connect().await;
    let mut half = receiving.connect().await;
    half.say("POST /webhooks/loja HTTP/1.1\r\nHost: x\r\n").await;
    tokio::join!(silent.comes_to_its_end(), half.comes_to_its_end());
}

#[tokio::test]
async fn half_a_body_is_told_so_and_cut_off() {
    let receiving = Receiving::with(short()).await;
    let mut half = receiving.connect().await;
    let headers = [("Content-Length", "10"), ("X-Webhook-Signature", &signature(SECRET, b""))];
    let (status, _) = half.ask(request("POST /webhooks/loja", &headers, b"12345")).await;
    assert_eq!(status, 408);
    half.comes_to_its_end().await;
    assert!(receiving.world.inbox().await.is_empty());
}

#[tokio::test]
async fn a_connection_without_another_request_comes_to_its_end() {
    let receiving = Receiving::with(short()).await;
    let mut talk = receiving.connect().await;
    assert_eq!(talk.ask(signed(b"1")).await.0, 200);
    talk.comes_to_its_end().await;
}

#[tokio::test]
async fn stalled_sockets_make_room_for_deliveries() {
    let receiving = Receiving::with(Limits { connections: 20, ..wide() }).await;
    let mut good = receiving.connect().await;
    assert_eq!(good.ask(signed(b"first")).await.0, 200);
    let mut stalled = Vec::new();
    for n in 0..200 {
        let mut talk = receiving.connect().await;
        talk.say("POST /webhooks/loja HTTP/1.1\r\n").await;
        stalled.push(talk);
        if n % 20 == 0 {
            assert_eq!(receiving.status(signed(format!("{n}").as_bytes())).await, 200);
        }
    }
    assert_eq!(good.ask(signed(b"last")).await.0, 200, "whoever has delivered stays connected");
    stalled.truncate(150);
    for talk in stalled {
        talk.comes_to_its_end().await;
    }
}

#[tokio::test]
async fn a_receiver_whose_task_has_ended_says_so_and_can_still_be_stopped() {
    let mut receiving = Receiving::with(wide()).await;
    assert!(futures_util::poll!(std::pin::pin!(receiving.webhooks.failed())).is_pending());
    receiving.webhooks.accepting.abort();
    receiving.webhooks.failed().await;
    receiving.webhooks.stop().await;
}

#[tokio::test]
async fn the_end_answers_what_is_under_way_and_accepts_no_more() {
    let receiving = Receiving::with(wide()).await;
    let mut half = receiving.connect().await;
    let body = b"0123456789";
    let (head, rest) = {
        let whole = signed(body);
        let at = whole.len() - 5;
        (whole[..at].to_vec(), whole[at..].to_vec())
    };
    half.say(head).await;
    let mut idle = receiving.connect().await;
    assert_eq!(idle.ask(signed(b"idle")).await.0, 200);
    let Receiving { world, address, webhooks, .. } = receiving;
    let stopping = tokio::spawn(webhooks.stop());
    idle.comes_to_its_end().await;
    assert!(TcpStream::connect(address).await.is_err(), "it still listens");
    half.say(rest).await;
    let (status, answer) = half.answer().await;
    assert!(status == 200 && answer.contains("connection: close"), "{answer}");
    stopping.await.unwrap();
    assert_eq!(world.inbox().await.len(), 2);
}
