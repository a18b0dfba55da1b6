//! Orders over the wire: what is sent, what is read from the answer, and what an unclear answer to a write means.
#![expect(clippy::unwrap_used, reason = "these are tests")]

mod support;

use espelho_api_client::{
    Class, Documented,
    resources::orders::{BulkBody, BulkTransition, StalledQuery, Transition},
};
use espelho_model::OrderNumber;
use serde_json::{Value, json};

use support::{Bench, answer, bench, body, header, http};

fn number() -> OrderNumber {
    OrderNumber::new("1")
}

fn ok(data: &Value) -> Vec<u8> {
    support::json(&json!({"success": true, "message_code": "SUCCESS", "data": data}).to_string())
}

async fn moved(bench: &Bench) -> Result<Option<String>, espelho_api_client::Error> {
    let read = bench.client.orders().transition(&number(), &Transition::preparing()).await?;
    Ok(read.value.status)
}

// proves: ORD-045, ORD-054, ORD-055, AUT-012, ENV-001, ENV-003
#[tokio::test]
async fn a_transition_is_sent_once_with_the_token_and_gives_back_the_order() {
    let bench = bench(vec![ok(&json!({"order_number": 1, "status": "preparing"}))]).await;
    assert_eq!(moved(&bench).await.unwrap().as_deref(), Some("preparing"));
    let requests = bench.script.requests.lock().unwrap().clone();
    assert_eq!(requests.len(), 1);
    assert!(requests[0].starts_with("POST /api/v1/sellers/orders/1/status HTTP/1.1"), "{}", requests[0]);
    assert_eq!(header(&requests[0], "content-type"), Some("application/json"));
    assert_eq!(header(&requests[0], "authorization"), Some("Bearer sk_live_0001"));
    assert_eq!(body(&requests[0]), r#"{"status":"preparing"}"#);
}

#[tokio::test]
async fn a_write_whose_answer_is_not_understood_is_ambiguous_and_not_sent_again() {
    for unclear in [
        support::json(r#"{"success":true,"data":{"id":7}}"#),
        support::json(r#"{"success":true,"data":{"order_number":"2"}}"#),
        support::json(r#"{"success":true,"data":[]}"#),
        support::json(r#"{"success":false,"description":"talvez"}"#),
        support::json(r#"{"success":true,"da"#),
        http("200 OK", "Content-Type: text/html\r\n", "<html>"),
        http("200 OK", "", ""),
        answer("500 Internal Server Error", r#"{"success":false}"#),
        http("502 Bad Gateway", "", "<html>"),
        b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{\"success\":trCUT".to_vec(),
        Vec::new(),
    ] {
        let words = String::from_utf8_lossy(&unclear).into_owned();
        let bench = bench(vec![unclear]).await;
        let error = moved(&bench).await.unwrap_err();
        assert_eq!((error.class(), bench.sent()), (Class::Ambiguous, 1), "{words}: {error}");
    }
}

// proves: ERR-012, ERR-013, ERR-014, ERR-018, ERR-019
#[tokio::test]
async fn a_write_that_is_refused_is_refused_for_good_and_says_which_error_of_the_document_it_is() {
    let refusal = |errors: &str| {
        answer(
            "422 Unprocessable Entity",
            &format!(
                r#"{{"success":false,"code":422,"message_code":"VALIDATION_ERROR","description":"Não","data":[],"errors":{errors},"meta":[]}}"#
            ),
        )
    };
    let check = async |errors: &str, expected: Documented| {
        let bench = bench(vec![refusal(errors)]).await;
        let error = moved(&bench).await.unwrap_err();
        assert_eq!((error.class(), bench.sent()), (Class::Permanent, 1));
        assert_eq!(error.kind(), Some(expected));
    };
    check(
        r#"{"status":["Transição impossível de shipped para preparing"]}"#,
        Documented::ImpossibleTransition,
    )
    .await;
    let bench =
        bench(vec![refusal(r#"{"status":["Transição impossível de shipped para preparing"]}"#)]).await;
    let words = moved(&bench).await.unwrap_err().text().to_string();
    assert!(words.contains("de shipped para preparing"), "{words}");
    check(r#"{"fiscal":["Emita a NF-e"]}"#, Documented::FiscalGate(vec!["Emita a NF-e".into()])).await;
    check(r#"{"data.reason":["curto"]}"#, Documented::InvalidFields).await;
}

// proves: ERR-002, ERR-032, ERR-033
#[tokio::test]
async fn a_write_that_was_not_looked_at_is_sent_again() {
    let refused = answer("401 Unauthorized", r#"{"success":false,"message_code":"UNAUTHORIZED"}"#);
    let too_many = http("429 Too Many Requests", "Retry-After: 7\r\n", "{}");
    let bench = bench(vec![refused, too_many]).await;
    assert_eq!(moved(&bench).await.unwrap().as_deref(), Some("paid"));
    assert_eq!((bench.sent(), bench.client.stats().logins), (3, 2));
    assert_eq!(bench.waits(), [7]);
}

// proves: ORD-069, ORD-070
#[tokio::test]
async fn notes_are_taken_whatever_the_answer_says_about_them() {
    for said in [
        ok(&json!({"notes": "x"})),
        ok(&Value::Null),
        ok(&json!([])),
        http("204 No Content", "", ""),
        http("202 Accepted", "", ""),
    ] {
        let bench = bench(vec![said.clone(), said]).await;
        bench.client.orders().set_notes(&number(), Some("ligar antes")).await.unwrap();
        bench.client.orders().set_notes(&number(), None).await.unwrap();
        let requests = bench.script.requests.lock().unwrap().clone();
        assert!(requests[0].starts_with("PUT /api/v1/sellers/orders/1/notes "), "{}", requests[0]);
        assert_eq!(
            requests.iter().map(|r| body(r)).collect::<Vec<_>>(),
            [r#"{"notes":"ligar antes"}"#, r#"{"notes":null}"#]
        );
    }
    let denied = bench(vec![support::json(r#"{"success":false}"#)]).await;
    assert_eq!(
        denied.client.orders().set_notes(&number(), None).await.unwrap_err().class(),
        Class::Ambiguous
    );
}

// proves: ORD-026
#[tokio::test]
async fn what_is_only_shown_to_people_is_given_as_it_was_sent() {
    let status = json!({"value": "paid", "label": "Pago", "color": "#0a0"});
    let line = json!({"value": "reserved", "label": "Reservado"});
    let enums = json!({"statuses": [status], "item_stock_statuses": [line]});
    let by_workflow =
        json!({"standard": ["paid", "preparing"], "collective": ["awaiting_campaign_conclusion"]});
    let summary = json!({"orders": 3, "revenue": "59.70", "average_ticket": "19.90",
        "by_status": {"preparing": 1, "ready_to_ship": 1, "shipped": 0, "delivered_today": 1},
        "by_channel": {"marketplace": 3}, "late": {"nfe": 1, "picking": 0, "production": 0, "boleto": 0}});
    let dashboard = json!({"daily": [{"date": "2026-11-20", "sold": "1.00", "pending": "0.00", "cancelled": "0.00"}],
        "totals": {"sold": "1.00"}, "previous": {"sold": "2.00"}, "recent_orders": [{"order_number": "1"}]});
    let sent = [&enums, &by_workflow, &summary, &dashboard];
    let bench = bench(sent.iter().map(|&data| ok(data)).collect()).await;
    let client = &bench.client;
    assert_eq!(client.orders().enums().await.unwrap(), enums);
    assert_eq!(client.orders().statuses_by_workflow().await.unwrap(), by_workflow);
    assert_eq!(client.orders().summary().await.unwrap(), summary);
    assert_eq!(client.orders().dashboard(None).await.unwrap(), dashboard);
}

// proves: LIM-002, ORD-021, ORD-025, ORD-027, ORD-033, ORD-039, ORD-048, ORD-059, ORD-066, ORD-071
#[tokio::test]
async fn every_view_of_orders_is_asked_for_at_its_documented_address() {
    let list = ok(&json!([]));
    let bench = bench(vec![
        ok(&json!({"statuses": [{"value": "paid", "label": "Pago", "color": "#0a0"}], "item_stock_statuses": []})),
        ok(&json!({"standard": ["paid"]})),
        ok(&json!({"orders": 3})),
        ok(&json!({"days": []})),
        list.clone(),
        ok(&json!({"current_status": "paid", "workflow_type": "standard", "next_actions": []})),
        ok(&json!({"status": "paid", "shipments": []})),
        list.clone(),
        ok(&json!({"splits": []})),
        list,
    ])
    .await;
    let client = &bench.client;
    assert_eq!(client.orders().enums().await.unwrap()["statuses"][0]["label"], "Pago");
    assert_eq!(client.orders().statuses_by_workflow().await.unwrap(), json!({"standard": ["paid"]}));
    assert_eq!(client.orders().summary().await.unwrap(), json!({"orders": 3}));
    client.orders().dashboard(Some(7)).await.unwrap();
    assert_eq!(client.orders().stalled(StalledQuery::page(1)).await.unwrap().rows, []);
    assert_eq!(client.orders().possible_statuses(&number()).await.unwrap().current_status, "paid");
    assert_eq!(client.orders().tracking(&number()).await.unwrap().value.status.as_deref(), Some("paid"));
    assert_eq!(client.orders().events(&number()).await.unwrap().value, []);
    assert_eq!(client.orders().financial(&number()).await.unwrap().value.splits, []);
    assert_eq!(client.orders().fiscal(&number()).await.unwrap().value, []);
    assert_eq!(bench.client.limiter().held(), 10, "all of them out of one budget");
    let expected = [
        "/api/v1/sellers/orders/enums",
        "/api/global/enums/order/status",
        "/api/v1/sellers/orders/summary",
        "/api/v1/sellers/orders/dashboard?days=7",
        "/api/v1/sellers/orders/stalled?page=1&per_page=50",
        "/api/v1/sellers/orders/1/possible-statuses",
        "/api/v1/sellers/orders/1/tracking",
        "/api/v1/sellers/orders/1/events",
        "/api/v1/sellers/orders/1/financial",
        "/api/v1/sellers/orders/1/fiscal",
    ];
    assert_eq!(bench.lines(), expected.map(|path| format!("GET {path} HTTP/1.1")));
    let requests = bench.script.requests.lock().unwrap().clone();
    let without_token: Vec<_> =
        requests.iter().filter(|r| header(r, "authorization").is_none()).map(|r| r.lines().next()).collect();
    assert_eq!(without_token, [Some("GET /api/global/enums/order/status HTTP/1.1")]);
}

// proves: ORD-056
#[tokio::test]
async fn a_bulk_transition_gives_its_answer_as_sent_and_is_ambiguous_like_any_write() {
    let bulk =
        BulkTransition::undocumented(&BulkBody::default(), "mark-preparing", &[number()], None).unwrap();
    let bench = bench(vec![ok(&json!({"done": 1, "failed": []})), http("500 Oops", "", "")]).await;
    assert_eq!(bench.client.orders().bulk_transition(&bulk).await.unwrap(), json!({"done": 1, "failed": []}));
    assert_eq!(bench.client.orders().bulk_transition(&bulk).await.unwrap_err().class(), Class::Ambiguous);
    assert_eq!(bench.sent(), 2);
    let sent = bench.script.requests.lock().unwrap()[0].clone();
    assert_eq!(body(&sent), r#"{"action":"mark-preparing","order_numbers":["1"]}"#);
}

#[tokio::test]
async fn an_order_that_answers_a_read_oddly_is_an_error_for_good() {
    let bench = bench(vec![support::json(r#"{"success":true,"data":{"id":7}}"#)]).await;
    let error = bench.order().await.unwrap_err();
    assert_eq!((error.class(), bench.sent()), (Class::Permanent, 1), "{error}");
}
