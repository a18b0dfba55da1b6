//! Traces: what a collector is sent.

use espelho_tests::{Installation, Kind, Shop, shop::Order, sink::HttpSink};

/// True if bytes are within others.
fn within(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.windows(wanted.len()).any(|window| window == wanted)
}

/// An installation with a shop, whose traces go to a sink.
async fn traced(shop: &Shop, sink: &HttpSink) -> Installation {
    let installation = Installation::on(Kind::Sqlite).await;
    shop.join(&installation);
    installation.write_main(&format!("[traces]\nendpoint = \"{}\"\n", sink.url("/v1/traces")));
    installation
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_orders_trace_has_the_id_that_explain_tells_its_calls_and_nothing_of_a_person() {
    let (shop, sink) = (Shop::open(Order::many(2)).await, HttpSink::open().await);
    let installation = traced(&shop, &sink).await;
    installation.resync(&[]).await.expect(0);
    let sent: Vec<u8> = sink.at("/v1/traces").into_iter().flat_map(|request| request.bytes).collect();
    let told = installation.run(&["explain", "P00001", "--json"]).await.expect(0).json();
    let trace_id = told["found"][0]["trace_id"].as_str().unwrap().to_owned();
    let id: Vec<u8> = (0..16).map(|n| u8::from_str_radix(&trace_id[2 * n..2 * n + 2], 16).unwrap()).collect();
    let spans = sent.windows(16).filter(|window| *window == id.as_slice()).count();
    assert_eq!(spans, 2, "the reading and its call");
    for words in ["espelho", "P00001", "GET /api/v1/sellers/orders/{id}", "http.response.status_code"] {
        assert!(within(&sent, words.as_bytes()), "{words}");
    }
    let people = installation.mirror().await.ask("SELECT customer_name FROM orders").await;
    assert_eq!(people.len(), 2);
    for person in people {
        assert!(!within(&sent, person["customer_name"].as_bytes()), "{person:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_collector_that_refuses_or_is_not_there_costs_nothing_but_its_traces() {
    let (shop, sink) = (Shop::open(Order::many(2)).await, HttpSink::open().await);
    let installation = traced(&shop, &sink).await;
    sink.refuse(1_000);
    installation.resync(&[]).await.expect(0);
    drop(sink);
    installation.resync(&[]).await.expect(0);
    installation.write_main("[traces]\nendpoint = \"http://collector.example:4318/v1/traces\"\n");
    installation.run(&["check"]).await.expect(2).says("traces.endpoint");
}
