//! A rolling restart of two services over one PostgreSQL, as an upgrade makes it, while deliveries come.

use std::{
    collections::BTreeSet,
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use espelho_tests::{
    Installation, Kind, Running, Shop,
    installation::{STORE, free_address},
    shop::{Order, PASSWORD, USERNAME},
    until,
};
use tokio::task::JoinHandle;

use super::{
    calls::{callers, calling_in_turn, logins},
    receiving::{SECRET, ask, bodies, signed},
};

const DELIVERIES: usize = 400;

/// A delivery like no other, of one of the shop's orders.
fn delivery(n: usize) -> String {
    let order = n % 3 + 1;
    format!(r#"{{"event":"order.paid","data":{{"store_id":1,"order_number":"P{order:05}"}},"n":{n}}}"#)
}

/// A machine of the installation: its configuration, and the address of its receiver.
struct Machine {
    installation: Installation,
    webhooks: SocketAddr,
}

impl Machine {
    fn of(installation: Installation, shop: &Shop) -> Self {
        let webhooks = free_address();
        installation.write_main(&format!(
            "[webhooks]\nlisten = \"{webhooks}\"\n[schedule]\nreconcile = \"* * * * * *\"\n"
        ));
        installation.write("stores/loja-1.whsec", &format!("{SECRET}\n"));
        let webhook =
            "[webhook]\npublic_url = \"http://127.0.0.1/webhooks/loja-1\"\nsecret_file = \"loja-1.whsec\"\n";
        installation.write_store_with(STORE, &shop.base_url(), USERNAME, PASSWORD, webhook);
        Self { installation, webhooks }
    }

    async fn start(&self) -> Running {
        let mut service = self.installation.start(&["run"]);
        let test = signed(r#"{"event":"webhook.test","data":{}}"#);
        until("it receives", async || {
            assert!(!service.has_ended(), "the service has ended");
            ask(self.webhooks, test.as_bytes()).await.is_some_and(|(status, _)| status == 200)
        })
        .await;
        service
    }
}

/// Deliveries through whichever receiver takes them, as a load balancer sends them: each is offered to one and, where that
/// does not take it, to the other. Nothing is tried a second time.
struct Stream {
    taken: Arc<Mutex<BTreeSet<String>>>,
    refused: Arc<Mutex<Vec<String>>>,
    ends: Arc<AtomicBool>,
    senders: Vec<JoinHandle<()>>,
}

impl Stream {
    fn begin(addresses: [SocketAddr; 2]) -> Self {
        let (taken, refused) = (Arc::default(), Arc::default());
        let stream = Self { taken, refused, ends: Arc::default(), senders: Vec::new() };
        let next = Arc::new(AtomicUsize::new(0));
        let senders = (0..4).map(|_| {
            let (taken, refused) = (Arc::clone(&stream.taken), Arc::clone(&stream.refused));
            let (next, ends) = (Arc::clone(&next), Arc::clone(&stream.ends));
            tokio::spawn(async move {
                while !ends.load(Ordering::SeqCst) {
                    let n = next.fetch_add(1, Ordering::SeqCst);
                    let body = delivery(n);
                    let mut turns = addresses;
                    turns.rotate_left(n % 2);
                    let mut answers = Vec::new();
                    for address in turns {
                        match ask(address, signed(&body).as_bytes()).await {
                            Some((200, _)) => {
                                taken.lock().unwrap().insert(body.clone());
                                answers.clear();
                                break;
                            }
                            other => answers.push(format!("{address}: {other:?}")),
                        }
                    }
                    if !answers.is_empty() {
                        refused.lock().unwrap().push(format!("{body}: {answers:?}"));
                    }
                }
            })
        });
        let senders = senders.collect();
        Self { senders, ..stream }
    }

    async fn more_is_taken(&self) {
        let before = self.taken.lock().unwrap().len();
        until("more is taken", async || self.taken.lock().unwrap().len() >= before + DELIVERIES / 4).await;
    }

    async fn end(self) -> (BTreeSet<String>, Vec<String>) {
        self.ends.store(true, Ordering::SeqCst);
        for sender in self.senders {
            sender.await.unwrap();
        }
        let (taken, refused) = (self.taken.lock().unwrap().clone(), self.refused.lock().unwrap().clone());
        (taken, refused)
    }
}

async fn calls_by(shop: &Shop, process: u32) {
    let before = shop.count(|call| call.process == Some(process));
    until("it works on the store", async || shop.count(|call| call.process == Some(process)) > before).await;
}

// withstands: F111
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rolling_restart_refuses_no_delivery_and_logs_in_never() {
    let shop = Shop::open(Order::many(3)).await;
    let first = Machine::of(Installation::on(Kind::Postgres).await, &shop);
    let second = Machine::of(first.installation.beside(), &shop);
    let mut one = first.start().await;
    calls_by(&shop, one.id()).await;
    let mut two = second.start().await;
    let stream = Stream::begin([first.webhooks, second.webhooks]);
    let mut owners = vec![one.id()];
    for turn in 0..4 {
        stream.more_is_taken().await;
        // The owner goes, the other one takes the store, and the owner comes again and stands by.
        let (machine, service, other) =
            if turn % 2 == 0 { (&first, &mut one, two.id()) } else { (&second, &mut two, one.id()) };
        service.terminate().await;
        calls_by(&shop, other).await;
        owners.push(other);
        let restarted = machine.start().await;
        std::mem::replace(service, restarted).end().await.expect(0);
    }
    stream.more_is_taken().await;
    let (taken, refused) = stream.end().await;
    assert_eq!(refused, Vec::<String>::new(), "of {} deliveries", taken.len());
    assert!(taken.len() >= DELIVERIES, "{}", taken.len());
    let kept = bodies(&first.installation).await;
    assert!(taken.is_subset(&kept), "lost: {:?}", taken.difference(&kept).next());
    let calls = shop.take_calls();
    assert_eq!(logins(&calls), 1, "the first start of all");
    assert_eq!(callers(&calls).len(), owners.len(), "each service that was owner called: {owners:?}");
    assert!(calling_in_turn(&calls), "two owners at a time: {:?}", callers(&calls));
    let mirror = first.installation.mirror().await;
    until("every delivery is handled", async || {
        mirror
            .ask("SELECT CAST(id AS TEXT) AS id FROM webhook_inbox WHERE handled_at IS NULL")
            .await
            .is_empty()
    })
    .await;
    for service in [one, two] {
        service.terminate().await;
        service.end().await.expect(0);
    }
}
