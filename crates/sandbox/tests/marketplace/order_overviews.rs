//! The listings and numbers over many orders: stalled, dashboard, and the bulk transition.

use std::collections::BTreeSet;

use crate::support::{Bench, unlimited};
use espelho_sandbox::{ListShape, NewOrder, Options};
use serde_json::{Value, json};

const STORE: &str = "loja-1";
const STALLED: &str = "/api/v1/sellers/orders/stalled";
const DASHBOARD: &str = "/api/v1/sellers/orders/dashboard";
const BULK: &str = "/api/v1/sellers/orders/bulk/transition";

async fn stalled(bench: &Bench) -> Vec<Value> {
    let mut rows = Vec::new();
    for page in 1.. {
        let data = bench.get(&format!("{STALLED}?per_page=50&page={page}")).await.data();
        let data = data.as_array().unwrap().clone();
        if data.is_empty() {
            break;
        }
        assert!(data.len() <= 50);
        rows.extend(data);
    }
    rows
}

// proves: ORD-033, ORD-034, ORD-035, ORD-037, ORD-018
#[tokio::test]
async fn stalled_orders_are_the_late_ones_once_each_oldest_deadline_first() {
    let bench = Bench::start(unlimited()).await;
    let rows = stalled(&bench).await;
    let numbers: BTreeSet<_> = rows.iter().map(|row| row["order_number"].as_str().unwrap()).collect();
    assert_eq!(numbers.len(), rows.len(), "each order once");
    let late = bench.orders("late=1").await;
    let late: BTreeSet<_> = late.iter().map(|row| row["order_number"].as_str().unwrap()).collect();
    assert_eq!(numbers, late);
    let deadlines: Vec<_> = rows.iter().map(|row| row["deadline_at"].as_str().unwrap()).collect();
    assert!(deadlines.is_sorted());
    for row in &rows {
        let order = bench.order(row["order_number"].as_str().unwrap()).await;
        for field in ["status_label", "status_color"] {
            assert_eq!(row[field], order[field]);
        }
        assert!(["nfe", "picking", "production", "boleto"].contains(&row["reason"].as_str().unwrap()));
    }
}

// proves: ORD-038
#[tokio::test]
async fn of_several_expired_deadlines_the_first_is_the_reason() {
    let bench = Bench::start(unlimited()).await;
    let number = bench.control().orders().place(STORE, NewOrder::default());
    bench.walk(&number, &["preparing"]).await;
    let find = async || stalled(&bench).await.into_iter().find(|row| row["order_number"] == json!(number));
    assert_eq!(find().await, None);
    bench.control().forward(86_460);
    let row = find().await.unwrap();
    assert_eq!(row["reason"], json!("nfe"));
    bench.control().forward(10 * 86_400);
    let later = find().await.unwrap();
    assert_eq!((&later["reason"], &later["deadline_at"]), (&row["reason"], &row["deadline_at"]));
    bench.control().orders().issue_invoice(STORE, &number, "nfe").unwrap();
    bench.control().forward(2 * 86_400 + 60);
    assert_eq!(find().await.unwrap()["reason"], json!("picking"));
}

// proves: ORD-033, ORD-038
#[tokio::test]
async fn neither_a_note_nor_a_document_moves_a_deadline() {
    let bench = Bench::start(unlimited()).await;
    let number = bench.control().orders().place(STORE, NewOrder::default());
    bench.walk(&number, &["preparing"]).await;
    bench.control().forward(3 * 86_400);
    let find = async || stalled(&bench).await.into_iter().find(|row| row["order_number"] == json!(number));
    let before = find().await.unwrap();
    let notes = format!("/api/v1/sellers/orders/{number}/notes");
    bench.put(&notes, &json!({"notes": "cliente ligou"})).await.data();
    let after = find().await.unwrap();
    assert_eq!((&after["reason"], &after["deadline_at"]), (&before["reason"], &before["deadline_at"]));
    bench.control().orders().issue_invoice(STORE, &number, "nfe").unwrap();
    let picking = find().await.unwrap();
    assert_eq!(picking["reason"], json!("picking"), "it is still not ready");
    assert!(picking["deadline_at"].as_str().unwrap() > before["deadline_at"].as_str().unwrap());
    bench.walk(&number, &["ready_to_ship"]).await;
    assert_eq!(find().await, None, "a new status has a deadline of its own");
}

// proves: ORD-036
#[tokio::test]
async fn stalled_pages_hold_fifty_at_most() {
    let bench = Bench::start(unlimited()).await;
    bench.control().forward(30 * 86_400);
    let bench = Bench { token: bench.login().await, ..bench };
    let all = stalled(&bench).await;
    let second = bench.get(&format!("{STALLED}?page=2&per_page=3")).await;
    assert_eq!(second.data(), json!(all[3..6]));
    assert_eq!(second.json()["meta"]["total"], json!(all.len()));
    for query in ["per_page=51", "per_page=0", "page=0", "page=x", "per_page=99999999999999999999999"] {
        let errors = bench.get(&format!("{STALLED}?{query}")).await.refused(422, "VALIDATION_ERROR");
        assert!(errors[query.split('=').next().unwrap()][0].is_string());
    }
}

#[tokio::test]
async fn stalled_takes_the_shape_of_the_other_listings() {
    let bench = Bench::start(Options { list_shape: ListShape::Envelope, ..unlimited() }).await;
    let body = bench.get(STALLED).await.json();
    assert!(body["data"]["data"].is_array());
    assert_eq!(body["data"]["meta"]["pagination"]["per_page"], json!(20));
}

// proves: ORD-039, ORD-040, ORD-041, ORD-042, ORD-043
#[tokio::test]
async fn the_dashboard_adds_up_and_compares_with_the_days_before() {
    let bench = Bench::start(unlimited()).await;
    let rows = bench.orders("").await;
    for (query, days) in [("", 30), ("?days=7", 7), ("?days=1", 1), ("?days=365", 365)] {
        let board = bench.get(&format!("{DASHBOARD}{query}")).await.data();
        assert_eq!(board["days"], json!(days));
        let daily = board["daily"].as_array().unwrap();
        assert_eq!(daily.len(), days);
        assert_eq!(daily.last().unwrap()["date"], json!("2026-04-01"), "today is the last day");
        for day in daily {
            check_day(day, &rows);
        }
        for field in ["sold", "pending", "cancelled"] {
            let sum: u64 = daily.iter().map(|day| day[field].as_u64().unwrap()).sum();
            assert_eq!(board["totals"][field], json!(sum), "{field} over {days}");
        }
        let twice = bench.get(&format!("{DASHBOARD}?days={}", (days * 2).min(365))).await.data();
        if days * 2 <= 365 {
            let before =
                twice["totals"]["sold"].as_u64().unwrap() - board["totals"]["sold"].as_u64().unwrap();
            assert_eq!(board["comparison"]["previous"]["sold"], json!(before));
        }
        let recent: Vec<_> = board["recent_orders"].as_array().unwrap().clone();
        assert_eq!(recent, rows[..10]);
    }
    for query in ["days=0", "days=366", "days=x", "days=-1"] {
        let errors = bench.get(&format!("{DASHBOARD}?{query}")).await.refused(422, "VALIDATION_ERROR");
        assert!(errors["days"][0].is_string());
    }
}

fn check_day(day: &Value, rows: &[Value]) {
    let of_day = rows.iter().filter(|row| row["created_at"].as_str().unwrap()[..10] == day["date"]);
    let mut counts = [0_u64; 3];
    for row in of_day {
        counts[match row["status"].as_str().unwrap() {
            "waiting_payment" => 1,
            "cancelled" | "payment_expired" => 2,
            _ => 0,
        }] += 1;
    }
    assert_eq!(json!([day["sold"], day["pending"], day["cancelled"]]), json!(counts), "{day}");
}

// proves: ORD-056
#[tokio::test]
async fn many_orders_move_in_one_call_and_each_has_its_result() {
    let bench = Bench::start(unlimited()).await;
    let control = bench.control();
    let good: Vec<_> = (0..3).map(|_| control.orders().place(STORE, NewOrder::default())).collect();
    let unpaid = control.orders().place(STORE, NewOrder::default().unpaid());
    let numbers = [&good[0], &unpaid, &good[1], "nobody", &good[2]];
    let body = json!({"action": "mark-preparing", "order_numbers": numbers});
    let data = bench.post(BULK, &body).await.data();
    assert_eq!((&data["total"], &data["succeeded"], &data["failed"]), (&json!(5), &json!(3), &json!(2)));
    let codes: Vec<_> = data["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|result| result["message_code"].as_str().unwrap())
        .collect();
    assert_eq!(codes, ["SUCCESS", "VALIDATION_ERROR", "SUCCESS", "NOT_FOUND", "SUCCESS"]);
    assert!(data["results"][1]["errors"]["status"][0].as_str().unwrap().contains("waiting_payment"));
    for number in &good {
        assert_eq!(bench.order(number).await["status"], json!("preparing"));
    }
    let gated = bench.post(BULK, &json!({"action": "mark-shipped", "order_numbers": [good[0]]})).await.data();
    assert!(gated["results"][0]["errors"]["fiscal"][0].is_string());
}

// proves: ORD-057
#[tokio::test]
async fn two_hundred_orders_are_the_most_of_a_call() {
    let bench = Bench::start(unlimited()).await;
    let numbers: Vec<_> = (0..201).map(|at| format!("nobody-{at}")).collect();
    let body = |count: usize| json!({"action": "mark-preparing", "order_numbers": numbers[..count]});
    assert_eq!(bench.post(BULK, &body(200)).await.data()["failed"], json!(200));
    let errors = bench.post(BULK, &body(201)).await.refused(422, "VALIDATION_ERROR");
    assert!(errors["order_numbers"][0].is_string());
}

// proves: ORD-058
#[tokio::test]
async fn ten_actions_are_allowed_in_bulk_and_no_other() {
    let bench = Bench::start(unlimited()).await;
    let mut allowed = 0;
    for action in [
        "mark-preparing",
        "mark-ready-to-ship",
        "mark-shipped",
        "mark-delivered",
        "cancel",
        "mark-ready-for-pickup",
        "mark-picked-up",
        "mark-pickup-expired",
        "mark-paid",
        "mark-available",
        "mark-restocked",
        "start-production",
        "await-materials",
        "resume-production",
        "finish-production",
        "anything",
    ] {
        let body =
            json!({"action": action, "order_numbers": ["x"], "data": {"reason": "sem estoque no centro"}});
        let reply = bench.post(BULK, &body).await;
        allowed += usize::from(reply.status == 200);
        if reply.status != 200 {
            assert!(reply.refused(422, "VALIDATION_ERROR")["action"][0].is_string());
        }
    }
    assert_eq!(allowed, 10);
}

#[tokio::test]
async fn a_bulk_body_of_any_other_shape_is_refused_by_field() {
    let bench = Bench::start(unlimited()).await;
    let cancel = |data: Value| json!({"action": "cancel", "order_numbers": ["x"], "data": data});
    for (body, field) in [
        (json!({}), "action"),
        (json!([]), "order_numbers"),
        (json!({"action": 5, "order_numbers": ["x"]}), "action"),
        (json!({"action": "cancel"}), "order_numbers"),
        (json!({"action": "cancel", "order_numbers": []}), "order_numbers"),
        (json!({"action": "cancel", "order_numbers": "x"}), "order_numbers"),
        (json!({"action": "cancel", "order_numbers": [null, "x"]}), "order_numbers.0"),
        (cancel(json!({"reason": "curto"})), "data.reason"),
        (cancel(json!(3)), "data"),
    ] {
        let errors = bench.post(BULK, &body).await.refused(422, "VALIDATION_ERROR");
        assert!(errors[field][0].is_string(), "{body}: {errors}");
    }
}
