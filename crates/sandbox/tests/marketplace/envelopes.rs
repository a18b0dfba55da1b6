//! The envelopes of answers, the language of what people read, and the description that both are held to.

use crate::support::{Bench, contract, unlimited};
use reqwest::Method;
use serde_json::{Value, json};

const CAMPAIGNS: &str = "/api/seller/discounts/campaigns";

// proves: ENV-001, ENV-002, ENV-003, ERR-002
#[tokio::test]
async fn every_success_is_a_json_envelope_around_data() {
    let bench = Bench::start(unlimited()).await;
    for path in [
        "/api/stores/auth/session",
        "/api/v1/sellers/orders",
        "/api/v1/sellers/orders/enums",
        "/api/v1/sellers/orders/summary",
        "/api/seller/discounts/campaigns/calendar",
        "/api/seller/discounts/campaigns/summary",
        "/api/products",
        "/api/global/enums/order/status",
    ] {
        let reply = bench.get(path).await;
        assert_eq!(
            (reply.status, &reply.headers["content-type"]),
            (200, &"application/json".parse().unwrap())
        );
        let body = reply.json();
        assert_eq!((&body["success"], &body["message_code"]), (&json!(true), &json!("SUCCESS")), "{path}");
        assert!(body.get("data").is_some() && body.get("errors").is_none());
        let anonymous = bench.plain(Method::GET, path, "").await;
        assert_eq!(anonymous.status == 401, !path.contains("/global/"), "{path}");
    }
}

// proves: AUT-012, AUT-013, ERR-002
#[tokio::test]
async fn every_route_that_is_not_public_wants_a_token() {
    let bench = Bench::start(unlimited()).await;
    let document: Value = serde_json::from_str(espelho_sandbox::openapi()).unwrap();
    let mut public = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for method in methods.as_object().unwrap().keys() {
            let method = Method::from_bytes(method.to_uppercase().as_bytes()).unwrap();
            let reply = bench.plain(method, &path.replace("{id}", "1"), "").await;
            if reply.status == 401 {
                assert_eq!(reply.refused(401, "UNAUTHORIZED"), json!([]), "{path}");
            } else {
                public.push(path.as_str());
            }
        }
    }
    let documented =
        |path: &&str| *path == "/api/global/enums/order/status" || *path == "/api/integration/auth";
    assert!(public.iter().all(documented), "{public:?}");
    assert!(public.contains(&"/api/integration/auth"), "it says which fields are missing");
}

// proves: ENV-003, ENV-005, ENV-016, ENV-017, ENV-018, ENV-019, ENV-020, ENV-021, ENV-022, ENV-023, ERR-003
#[tokio::test]
async fn every_refusal_is_the_error_envelope_and_explains_itself_in_portuguese() {
    let bench = Bench::start(unlimited()).await;
    bench.control().credentials().set_feature("loja-1", "sales_force", false);
    let wrong = json!({"username": "x", "password": "y"});
    let (lists, opt_in) = ("/api/seller/price-lists", format!("{CAMPAIGNS}/101/opt-in"));
    for (reply, status, code, text) in [
        (bench.plain(Method::GET, "/api/products", "").await, 401, "UNAUTHORIZED", "inválido"),
        (bench.auth(&wrong).await, 401, "UNAUTHORIZED", "Credenciais inválidas"),
        (bench.post(lists, &json!({})).await, 403, "FORBIDDEN", "não está habilitado"),
        (bench.get(&format!("{CAMPAIGNS}/9999")).await, 404, "NOT_FOUND", "Recurso não encontrado"),
        (bench.get("/api/nothing").await, 404, "NOT_FOUND", "Rota não encontrada"),
        (bench.delete(lists).await, 405, "METHOD_NOT_ALLOWED", "Método não permitido"),
        (bench.post(&opt_in, &json!({})).await, 422, "VALIDATION_ERROR", "são inválidos"),
        (
            bench.post("/api/integration/webhook/test", &json!({})).await,
            422,
            "WEBHOOK_NOT_ACTIVE",
            "webhook ativo",
        ),
    ] {
        reply.refused(status, code);
        assert_eq!(reply.headers["content-type"], "application/json");
        let description = reply.json()["description"].as_str().unwrap().to_owned();
        assert!(description.contains(text), "{description}");
    }
    let errors = bench.post(&opt_in, &json!({})).await.refused(422, "VALIDATION_ERROR");
    assert_eq!(errors, json!({"publication_ids": ["O campo publication_ids é obrigatório."]}));
}

// proves: ENV-005
#[tokio::test]
async fn labels_are_portuguese() {
    let bench = Bench::start(unlimited()).await;
    let enums = bench.get("/api/v1/sellers/orders/enums").await.data();
    let label = |list: &str, value: &str| {
        let words = enums[list].as_array().unwrap();
        words.iter().find(|word| word["value"] == value).unwrap()["label"].clone()
    };
    assert_eq!(label("statuses", "awaiting_campaign_conclusion"), json!("Aguardando Campanha"));
    assert_eq!(label("statuses", "shipped"), json!("Enviado"));
    for (value, text) in [
        ("reserved", "Reservado"),
        ("sold_reserved", "Reservado vendido"),
        ("awaiting_restock", "Aguardando reposição"),
        ("in_production", "Em produção"),
        ("committed", "Baixado"),
        ("released", "Liberado"),
        ("not_applicable", "Sem controle de estoque"),
    ] {
        assert_eq!(label("item_stock_statuses", value), json!(text));
    }
    for row in bench.orders("").await {
        assert_eq!(row["status_label"], label("statuses", row["status"].as_str().unwrap()));
        assert_eq!(row["channel_label"], label("channels", row["channel"].as_str().unwrap()));
    }
}

#[tokio::test]
async fn no_body_however_odd_is_answered_with_a_server_error() {
    let bench = Bench::start(unlimited()).await;
    let deep = "[".repeat(100_000);
    let wide = format!("{{\"name\":\"{}\"}}", "a".repeat(1 << 20));
    let odd: [&[u8]; 12] = [
        b"",
        b"null",
        b"\xFF\xFE",
        b"{\"publication_ids\":[\"\xFF\"]}",
        b"{\"position\":1e999}",
        b"{\"position\":123456789012345678901234567890}",
        b"{\"name\":{\"a\":[1,2,{}]},\"mode\":[]}",
        b"{\"username\":[],\"password\":{},\"webhook\":{\"url\":{},\"events\":{}}}",
        b"{\"username\":\"\\u0000\",\"password\":\"\\ud800\"}",
        b"--boundary\r\n",
        deep.as_bytes(),
        wide.as_bytes(),
    ];
    bench.post("/api/seller/price-lists", &json!({"name": "x", "mode": "auto"})).await;
    let routes = [
        (Method::POST, "/api/integration/auth"),
        (Method::POST, "/api/seller/price-lists"),
        (Method::PUT, "/api/seller/price-lists/1"),
        (Method::PUT, "/api/seller/price-lists/settings"),
        (Method::POST, "/api/seller/discounts/campaigns/101/opt-in"),
        (Method::POST, "/api/integration/webhook/test"),
        (Method::GET, "/api/seller/discounts/campaigns/calendar"),
    ];
    for (method, path) in routes {
        for (at, body) in odd.iter().enumerate() {
            for content_type in ["application/json", "text/plain", "multipart/form-data; boundary=boundary"] {
                bench.hands.forward(60);
                let request = bench.http.request(method.clone(), bench.url(path)).bearer_auth(&bench.token);
                let request = request.header("content-type", content_type).body(body.to_vec());
                let reply = crate::support::Reply::read(request.send().await.unwrap()).await;
                assert!(reply.status < 500, "{method} {path} {at}");
                contract::check(method.as_str(), path, reply.status, &reply.bytes);
            }
        }
    }
}

#[test]
fn every_schema_of_the_description_is_one() {
    assert!(contract::compile_all() > 50);
}

#[test]
fn the_description_is_held_to() {
    let session = |body: Value| {
        let check =
            || contract::check("GET", "/api/stores/auth/session?x=1", 200, body.to_string().as_bytes());
        std::panic::catch_unwind(check).is_ok()
    };
    let data = json!({"id": 1, "name": "a", "code": "b", "status": "c", "type": "d",
        "limits": {"products": 1, "users": 1}, "features": [],
        "company": {"tax_id": "11222333000181", "legal_name": "e", "tax_regime": "f"},
        "auth_type": "integration_token"});
    let envelope = |data: &Value| json!({"success": true, "message_code": "SUCCESS", "data": data});
    assert!(session(envelope(&data)));
    for (field, value) in
        [("id", json!("1")), ("auth_type", json!("other")), ("more", json!(1)), ("name", Value::Null)]
    {
        let mut odd = data.clone();
        odd[field] = value;
        assert!(!session(envelope(&odd)), "{field}");
    }
    assert!(!session(json!({"success": true, "data": data})));
    let undescribed = || contract::check("GET", "/api/stores/auth/session", 418, b"{}");
    assert!(std::panic::catch_unwind(undescribed).is_err());
}
