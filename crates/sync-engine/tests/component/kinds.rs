//! Every kind of command, in every fate that its request can have.

use std::fs;

use espelho_model::push::CommandKind;
use espelho_sandbox::{Fault, NewCampaign, NewWebhook};
use serde_json::{Value, json};

use crate::{
    goods::png,
    listings::shirt,
    support::{Kind, Rig, STORE, Setup, cut_after, cut_before, refused_with},
};

/// A kind of command.
pub(crate) struct Case {
    pub(crate) kind: CommandKind,
    /// A part of its route.
    pub(crate) route: &'static str,
    /// A part of its path, and its method.
    path: (&'static str, &'static str),
    /// Whether a lost answer can be found out by reading.
    pub(crate) is_provable: bool,
}

const fn case(
    kind: CommandKind,
    route: &'static str,
    path: (&'static str, &'static str),
    is_provable: bool,
) -> Case {
    Case { kind, route, path, is_provable }
}

/// Every kind, in an order in which each finds what it needs.
pub(crate) const CASES: [Case; 17] = [
    case(CommandKind::OrderStatus, "POST /api/v1/sellers/orders/{id}/status", ("POST", "/status"), true),
    case(CommandKind::OrderNotes, "PUT /api/v1/sellers/orders/{id}/notes", ("PUT", "/notes"), true),
    case(CommandKind::LabelsGenerate, "shipment-labels/generate", ("POST", "shipment-labels/generate"), true),
    case(CommandKind::CampaignOptIn, "/opt-in", ("POST", "/opt-in"), true),
    case(CommandKind::PriceListCreate, "POST /api/seller/price-lists", ("POST", "/price-lists"), false),
    case(CommandKind::PriceListUpdate, "PUT /api/seller/price-lists/{id}", ("PUT", "/price-lists/"), false),
    case(CommandKind::PriceListsSettings, "price-lists/settings", ("PUT", "/price-lists/settings"), false),
    case(CommandKind::ProductCreate, "POST /api/products", ("POST", "/api/products"), true),
    case(CommandKind::ProductUpdate, "PUT /api/products/{id}", ("PUT", "/api/products/"), true),
    case(CommandKind::StockAdjust, "POST /api/products/{id}/stock", ("POST", "/stock"), true),
    case(CommandKind::PriceDeleteTier, "DELETE /api/products/{id}/prices", ("DELETE", "/prices/"), true),
    case(CommandKind::MediaUpload, "/media/upload", ("POST", "/media/upload"), true),
    case(CommandKind::GalleryAdd, "POST /api/products/{id}/gallery", ("POST", "/gallery"), true),
    case(CommandKind::ListingCreate, "POST /api/items/create", ("POST", "/items/create"), false),
    case(CommandKind::ListingPublish, "PUT /api/items/{id}/publish", ("PUT", "/publish"), false),
    case(CommandKind::StorePageUpdate, "PUT /api/stores/page", ("PUT", "/stores/page"), true),
    case(CommandKind::WebhookTest, "/api/integration/webhook/test", ("POST", "/webhook/test"), false),
];

impl Case {
    /// Returns how often its request was sent.
    pub(crate) fn sent(&self, rig: &Rig) -> usize {
        let (method, path) = self.path;
        rig.writes(path).iter().filter(|entry| entry.method == method).count()
    }
}

pub(crate) async fn stage() -> Rig {
    stage_on(Kind::Sqlite).await
}

/// A store in which every kind of command can be carried out.
pub(crate) async fn stage_on(kind: Kind) -> Rig {
    let setup = Setup::on(kind).with(|setup| setup.world.store_page = true);
    let rig = setup.start().await;
    let access = rig.sandbox.stores().remove(0);
    let webhook = NewWebhook {
        url: Some(format!("{}/nobody", rig.sandbox.base_url())),
        events: Some(vec!["order.*".to_owned()]),
        headers: None,
        active: None,
    };
    rig.control().webhooks().create(&access.username, webhook).unwrap();
    rig
}

/// Returns key and data of a command that can succeed, and makes what it needs.
pub(crate) async fn wanted(rig: &mut Rig, kind: CommandKind) -> (String, Value) {
    let goods = rig.goods().await;
    let one = &goods[0];
    let file = |name: &str, extra: u8| {
        let mut picture = png();
        picture.push(extra);
        fs::write(rig.dir().join(name), picture).unwrap();
        json!({"path": name})
    };
    match kind {
        CommandKind::OrderStatus => (rig.sell("standard", &one.sku), json!({"status": "preparing"})),
        CommandKind::OrderNotes => {
            let number = rig.sell("standard", &one.sku);
            rig.mirror_again().await;
            (number, json!({"notes": "ligar antes"}))
        }
        CommandKind::LabelsGenerate => {
            let number = rig.sell("standard", &one.sku);
            let prepared = rig.command("order.status", &number, &json!({"status": "preparing"})).await;
            assert_eq!(prepared[0], "done", "{prepared:?}");
            (number, json!({"format": "zebra"}))
        }
        CommandKind::CampaignOptIn => {
            let campaign = rig.control().campaigns().create(&NewCampaign::default()).unwrap();
            let listing = rig.control().listings().active(&rig.key()).remove(0);
            (campaign.to_string(), json!({"publication_ids": [listing["item_id"]]}))
        }
        CommandKind::PriceListCreate => (String::new(), json!({"name": "Atacado", "mode": "manual"})),
        CommandKind::PriceListUpdate => {
            let made =
                rig.command("price_list.create", "", &json!({"name": "Revenda", "mode": "manual"})).await;
            assert_eq!(made[0], "done", "{made:?}");
            let id = rig.ask("SELECT id FROM price_lists WHERE name = 'Revenda'").await.remove(0);
            (id, json!({"name": "Varejo"}))
        }
        CommandKind::PriceListsSettings => (String::new(), json!({"price_lists_enabled": true})),
        CommandKind::ProductCreate => {
            ("CAN-NOVA".to_owned(), json!({"name": "Caneca nova", "base_unit": "un"}))
        }
        CommandKind::ProductUpdate => (one.sku.clone(), json!({"name": "Nome novo"})),
        CommandKind::StockAdjust => (one.sku.clone(), json!({"location_id": one.location, "delta": 3})),
        CommandKind::PriceDeleteTier => {
            let sql = "SELECT p.sku || '|' || CAST(t.min_quantity AS TEXT) FROM products p JOIN product_prices t \
                ON t.product_id = p.id WHERE p.price_type = 'wholesale' AND NOT p.auto_wholesale_pricing \
                ORDER BY t.min_quantity DESC LIMIT 1";
            let row = rig.ask(sql).await.remove(0);
            let (sku, quantity) = row.split_once('|').unwrap();
            (sku.to_owned(), json!({"min_quantity": quantity.parse::<u32>().unwrap()}))
        }
        CommandKind::MediaUpload => ("foto".to_owned(), file("foto.png", 1)),
        CommandKind::GalleryAdd => (one.sku.clone(), file("outra.png", 2)),
        CommandKind::ListingCreate => ("camiseta".to_owned(), listing(rig, "Camiseta básica").await),
        CommandKind::ListingPublish => {
            let draft = listing(rig, "Camiseta lisa").await;
            let made = rig.command("listing.create", "lisa", &draft).await;
            assert_eq!(made[0], "done", "{made:?}");
            (rig.ask("SELECT id FROM listings WHERE title = 'Camiseta lisa'").await.remove(0), json!({}))
        }
        CommandKind::StorePageUpdate => (String::new(), json!({"description": "Loja de canecas"})),
        CommandKind::WebhookTest => (String::new(), json!({})),
    }
}

async fn listing(rig: &Rig, title: &str) -> Value {
    let mut picture = png();
    picture.push(3);
    fs::write(rig.dir().join("camiseta.png"), picture).unwrap();
    let uploaded = rig.command("media.upload", "camiseta", &json!({"path": "camiseta.png"})).await;
    assert_eq!(uploaded[0], "done", "{uploaded:?}");
    let sql =
        "SELECT CAST(result AS TEXT) FROM commands WHERE kind = 'media.upload' ORDER BY id DESC LIMIT 1";
    let result: Value = serde_json::from_str(&rig.ask(sql).await[0]).unwrap();
    let sku = rig.goods().await[0].sku.clone();
    shirt(title, &sku, result["image_id"].as_str().unwrap())
}

/// Gives each kind of command under a fault; says what became of it and how often it was sent.
pub(crate) async fn fates(fault: Option<Fault>, mut judge: impl FnMut(&Case, &[String; 4], usize)) {
    let mut rig = stage().await;
    for case in &CASES {
        let (key, data) = wanted(&mut rig, case.kind).await;
        let before = case.sent(&rig);
        if let Some(fault) = &fault {
            rig.fault(case.route, 1, fault.clone());
        }
        let answer = rig.command(case.kind.as_str(), &key, &data).await;
        judge(case, &answer, case.sent(&rig) - before);
        assert!(!rig.control().faults().has_any(), "{:?}: the fault did not strike", case.kind);
    }
    let open = "SELECT kind FROM effects WHERE state IN ('planned', 'sent')";
    assert_eq!(rig.journal.ask(open).await, Vec::<String>::new(), "everything is settled");
    rig.stop().await;
}

#[test]
fn no_kind_of_command_is_missing() {
    let kinds: Vec<_> = CASES.iter().map(|case| case.kind.as_str()).collect();
    let all: Vec<_> = CommandKind::ALL.iter().map(|kind| kind.as_str()).collect();
    assert_eq!(kinds, all);
}

#[tokio::test]
async fn a_command_that_the_marketplace_takes_is_done_by_one_request() {
    fates(None, |case, answer, sent| {
        assert_eq!((answer[0].as_str(), sent), ("done", 1), "{:?}: {answer:?}", case.kind);
    })
    .await;
}

#[tokio::test]
async fn a_command_that_the_marketplace_refuses_fails_and_is_not_sent_again() {
    fates(Some(refused_with(422, "VALIDATION_ERROR")), |case, answer, sent| {
        assert_eq!((answer[0].as_str(), sent), ("failed", 1), "{:?}: {answer:?}", case.kind);
        assert!(!answer[1].is_empty() && !answer[2].is_empty() && !answer[3].is_empty(), "{answer:?}");
    })
    .await;
}

// withstands: F001
#[tokio::test]
async fn a_command_that_was_cut_off_before_its_effect_is_sent_again_where_a_read_proves_it() {
    fates(Some(cut_before()), |case, answer, sent| {
        // Labels that do not show may still be in the making: only a person asks for them again.
        let may_still_come = case.kind == CommandKind::LabelsGenerate;
        let expected = if case.is_provable && !may_still_come { ("done", 2) } else { ("doubtful", 1) };
        assert_eq!((answer[0].as_str(), sent), expected, "{:?}: {answer:?}", case.kind);
    })
    .await;
}

// withstands: F001
#[tokio::test]
async fn a_command_whose_answer_was_lost_is_not_sent_again() {
    fates(Some(cut_after()), |case, answer, sent| {
        let state = if case.is_provable { "done" } else { "doubtful" };
        assert_eq!((answer[0].as_str(), sent), (state, 1), "{:?}: {answer:?}", case.kind);
    })
    .await;
}

// withstands: F002
#[tokio::test]
async fn a_command_whose_request_was_under_way_at_a_kill_is_settled_by_the_next_engine() {
    let mut rig = stage().await;
    for case in &CASES {
        let (key, data) = wanted(&mut rig, case.kind).await;
        let before = case.sent(&rig);
        // The marketplace does its work, and the engine dies before it knows.
        rig.fault(case.route, 1, cut_after());
        let id = rig.give(case.kind.as_str(), &key, &data).await;
        rig.until("it was sent", async || case.sent(&rig) > before).await;
        rig.kill().await;
        rig.start().await;
        let answer = rig.outcome(id, |state| !["new", "waiting", "sending"].contains(&state)).await;
        let state = if case.is_provable { "done" } else { "doubtful" };
        let sent = case.sent(&rig) - before;
        assert_eq!((answer[0].as_str(), sent), (state, 1), "{:?}: {answer:?}", case.kind);
    }
    rig.stop().await;
}

// withstands: F003
#[tokio::test]
async fn evidence_that_cannot_be_read_proves_nothing() {
    let mut rig = stage().await;
    for case in &CASES {
        let (key, data) = wanted(&mut rig, case.kind).await;
        let before = case.sent(&rig);
        rig.fault(case.route, 1, cut_after());
        let id = rig.give(case.kind.as_str(), &key, &data).await;
        rig.until("it was sent", async || case.sent(&rig) > before).await;
        rig.kill().await;
        rig.journal.execute("UPDATE effects SET evidence = '{\"v\": 99}' WHERE state = 'sent'").await;
        rig.start().await;
        let answer = rig.outcome(id, |state| !["new", "waiting", "sending"].contains(&state)).await;
        let sent = case.sent(&rig) - before;
        assert_eq!((answer[0].as_str(), sent), ("doubtful", 1), "{:?}: {answer:?}", case.kind);
    }
    rig.stop().await;
}

#[tokio::test]
async fn a_command_that_was_only_planned_at_a_kill_is_sent_by_the_next_engine() {
    let mut rig = stage().await;
    rig.stop().await;
    let goods = rig.goods().await;
    let data = json!({"location_id": goods[0].location, "delta": 2});
    let id = rig.give("stock.adjust", &goods[0].sku, &data).await;
    // The journal has it as planned, as a kill between the plan and the request leaves it.
    let begun = format!(
        "INSERT INTO effects (store, key, kind, command_id, request, state, planned_at) VALUES ('{STORE}', \
         'stock/{}/{}', 'stock.adjust', {id}, 'POST', 'planned', '{}')",
        goods[0].sku,
        goods[0].location,
        rig.parts.clock.now().format("%Y-%m-%dT%H:%M:%S%.6fZ")
    );
    rig.journal.execute(&begun).await;
    rig.start().await;
    assert_eq!(rig.outcome(id, |state| state == "done").await[0], "done");
    assert_eq!((rig.stock_of(&goods[0]).await, rig.writes("/stock").len()), (goods[0].quantity + 2, 1));
    let planned = "SELECT state || ' ' || COALESCE(code, '') FROM effects ORDER BY id";
    assert_eq!(rig.journal.ask(planned).await, ["refuted never_left", "confirmed "]);
    rig.stop().await;
}
