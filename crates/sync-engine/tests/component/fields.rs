//! Commands whose data cannot be carried out: refused on their row, by the field's name, before anything is sent.

use serde_json::{Value, json};

use crate::{
    kinds::stage,
    support::{Kind, Rig, STORE, Setup},
};

/// What a command is about.
#[derive(Clone, Copy, Debug)]
enum Key {
    Sku,
    Order,
    Word(&'static str),
}

use Key::{Order, Sku, Word};

/// Kind, key and data of a command, and what its refusal names.
fn refused() -> Vec<(&'static str, Key, Value, &'static str)> {
    vec![
        ("store_page.update", Word(""), json!({"full_description": 5}), "full_description"),
        ("store_page.update", Word(""), json!({"description": ["Loja"]}), "description"),
        ("store_page.update", Word(""), json!({"short_description": {"pt": "Loja"}}), "short_description"),
        ("store_page.update", Word(""), json!({"description": false}), "description"),
        ("store_page.update", Word(""), json!({"foundation_date": 1998}), "foundation_date"),
        ("store_page.update", Word(""), json!({"foundation_date": "ontem"}), "foundation_date"),
        ("store_page.update", Word(""), json!({"foundation_date": ""}), "foundation_date"),
        ("store_page.update", Word(""), json!({"titulo": "Loja"}), "titulo"),
        ("store_page.update", Word(""), json!({"description": "Loja", "logo": null}), "logo"),
        ("store_page.update", Word(""), json!({"short_description": "x".repeat(256)}), "short_description"),
        ("store_page.update", Word(""), json!({"description": "x".repeat(501)}), "description"),
        ("store_page.update", Word(""), json!({}), ""),
        ("store_page.update", Word(""), json!(["Loja"]), ""),
        ("store_page.update", Word(""), json!("Loja"), ""),
        ("labels.generate", Order, json!({"formato": "zebra"}), "formato"),
        ("labels.generate", Order, json!({"format": "zebra", "copies": 2}), "copies"),
        ("labels.generate", Order, json!({"regenerate": "sim"}), "regenerate"),
        ("labels.generate", Order, json!({"regenerate": 1}), "regenerate"),
        ("labels.generate", Order, json!({"format": 5}), "5"),
        ("labels.generate", Order, json!({"format": "papiro"}), "papiro"),
        ("labels.generate", Order, json!(["zebra"]), ""),
        ("price_list.create", Word(""), json!({"name": "Atacado", "mode": "manual", "cor": "azul"}), "cor"),
        ("price_list.create", Word(""), json!({"name": 5, "mode": "manual"}), "name"),
        ("price_list.create", Word(""), json!({"name": "", "mode": "manual"}), "name"),
        ("price_list.create", Word(""), json!({"name": "Atacado", "mode": "livre"}), "livre"),
        ("price_list.update", Word("9"), json!({"nome": "Atacado"}), "nome"),
        ("price_list.update", Word("9"), json!({"is_active": "sim"}), "is_active"),
        ("price_list.update", Word("9"), json!({"is_active": null}), "is_active"),
        ("price_list.update", Word("9"), json!({"position": -1}), "position"),
        ("price_list.update", Word("9"), json!({"position": "primeiro"}), "position"),
        ("price_list.update", Word("9"), json!({}), ""),
        ("price_list.update", Word(" "), json!({"name": "Atacado"}), ""),
        ("price_lists.settings", Word(""), json!({"price_lists_enabled": "sim"}), "price_lists_enabled"),
        ("price_lists.settings", Word(""), json!({}), "price_lists_enabled"),
        ("product.create", Word("CAN-1"), json!({"name": "Caneca", "preco": 1}), "preco"),
        ("product.create", Word("CAN-1"), json!({"name": "Caneca", "price": 1}), "erp_prices"),
        ("product.create", Word("CAN-1"), json!({"name": "Caneca", "quantity": 1}), "erp_stock"),
        (
            "product.create",
            Word("CAN-1"),
            json!({"name": "Caneca", "reserved_quantity": 1}),
            "reserved_quantity",
        ),
        ("product.create", Word("CAN-1"), json!({"name": 5}), "name"),
        ("product.create", Word("CAN-1"), json!({}), "name"),
        ("product.create", Word("CAN-1"), json!({"name": "Caneca", "sku": "CAN-2"}), "CAN-2"),
        ("product.create", Word("CAN-1"), json!({"name": "Caneca", "height": 1}), "height"),
        ("product.create", Word("CAN-1"), json!({"name": "Caneca", "height": "alto"}), "height"),
        (
            "product.create",
            Word("CAN-1"),
            json!({"name": "Caneca", "is_industrializable": "sim"}),
            "is_industrializable",
        ),
        ("product.create", Word(""), json!({"name": "Caneca"}), "sku"),
        ("product.update", Sku, json!({"nome": "Caneca"}), "nome"),
        ("product.update", Sku, json!({"price": 1}), "erp_prices"),
        ("product.update", Sku, json!({"name": ["Caneca"]}), "name"),
        ("product.update", Sku, json!({"allow_sale_without_stock": 1}), "allow_sale_without_stock"),
        ("product.update", Sku, json!([]), ""),
        ("stock.adjust", Sku, json!({"delta": 1}), "location_id"),
        ("stock.adjust", Sku, json!({"location_id": null, "delta": 1}), "location_id"),
        ("stock.adjust", Sku, json!({"location_id": 1}), "delta"),
        ("stock.adjust", Sku, json!({"location_id": 1, "delta": "dois"}), "delta"),
        ("stock.adjust", Sku, json!({"location_id": 1, "delta": 0}), ""),
        ("price.delete_tier", Sku, json!({}), "min_quantity"),
        ("price.delete_tier", Sku, json!({"min_quantity": -1}), "min_quantity"),
        ("price.delete_tier", Sku, json!({"min_quantity": "dez"}), "min_quantity"),
        ("price.delete_tier", Sku, json!({"min_quantity": 4_294_967_296_u64}), "min_quantity"),
        ("order.status", Order, json!({}), "status"),
        ("order.status", Order, json!({"status": ""}), "status"),
        ("order.status", Order, json!({"status": 5}), "status"),
        ("order.notes", Order, json!({}), "notes"),
        ("order.notes", Order, json!({"notes": 5}), "notes"),
        ("order.notes", Order, json!({"notes": ["ligar"]}), "notes"),
        ("campaign.opt_in", Word("verão"), json!({"publication_ids": ["MPB-1"]}), ""),
        ("campaign.opt_in", Word("7"), json!({"publication_ids": "MPB-1"}), "publication_ids"),
        ("campaign.opt_in", Word("7"), json!({"publication_ids": [5]}), "publication_ids"),
        ("campaign.opt_in", Word("7"), json!({"publication_ids": []}), ""),
        ("campaign.opt_in", Word("7"), json!({}), "publication_ids"),
        ("media.upload", Word("foto"), json!({}), "path"),
        ("media.upload", Word("foto"), json!({"path": 5}), "path"),
        ("media.upload", Word("foto"), json!({"path": "nada.png"}), "nada.png"),
        ("gallery.add", Sku, json!({}), "path"),
        ("gallery.add", Sku, json!({"image_id": 5}), "path"),
        ("gallery.add", Sku, json!({"path": "nada.png"}), "nada.png"),
        ("listing.create", Word("a"), json!({"title": 5}), ""),
        ("listing.create", Word("a"), json!({"images": [{"path": "nada.png"}]}), "nada.png"),
        ("listing.create", Word("a"), json!([]), ""),
        ("listing.publish", Word("nada"), json!({}), ""),
    ]
}

// withstands: F012
#[tokio::test]
async fn data_that_cannot_be_carried_out_is_refused_by_its_field_and_nothing_is_sent() {
    let mut rig = stage().await;
    let sku = rig.goods().await[0].sku.clone();
    let order = rig.sell("standard", &sku);
    for (kind, key, data, named) in refused() {
        let key = match key {
            Sku => &sku,
            Order => &order,
            Word(word) => word,
        };
        let [state, code, error, hint] = rig.command(kind, key, &data).await;
        assert_eq!((state.as_str(), code.as_str()), ("failed", "invalid_data"), "{kind} {data}: {error}");
        assert!(error.contains(named), "{kind} {data}: {error} does not name {named}");
        assert!(!hint.is_empty(), "{kind} {data}");
    }
    assert_eq!(rig.writes("/api/").len(), 0, "{:?}", rig.writes("/api/"));
    assert!(rig.journal.ask("SELECT kind FROM effects").await.is_empty(), "and nothing was planned");
    rig.stop().await;
}

/// PostgreSQL's `jsonb` keeps the last of two values before anybody sees the first.
#[tokio::test]
async fn a_field_that_is_there_twice_is_refused_by_its_name_and_nothing_is_sent() {
    let mut rig = stage().await;
    let order = rig.sell("standard", &rig.goods().await[0].sku);
    let data = r#"{"status":"preparing","status":"cancelled"}"#;
    rig.write(&format!(
        "INSERT INTO commands (store, kind, key, data) VALUES ('{STORE}', 'order.status', '{order}', '{data}')"
    ))
    .await;
    let answers = "SELECT state || ' ' || error_code || ' ' || error AS s FROM commands WHERE state <> 'new'";
    let answers = rig.shown(answers, |answers| answers.len() == 1).await;
    assert!(answers[0].starts_with("failed invalid_data") && answers[0].contains("“status”"), "{answers:?}");
    assert_eq!(rig.writes("/api/").len(), 0);
    rig.stop().await;
}

/// What a wrong type must never do: pass for an empty text.
#[tokio::test]
async fn a_text_of_the_store_page_survives_every_value_of_another_type() {
    let mut rig = Setup::on(Kind::Sqlite).with(|setup| setup.world.store_page = true).start().await;
    let texts = json!({"short_description": "Bancos", "description": "De madeira", "full_description": "Feitos à mão"});
    assert_eq!(rig.command("store_page.update", "", &texts).await[0], "done");
    let shown = async |rig: &Rig| rig.truth.data("/api/stores/page").await.to_string();
    for field in ["short_description", "description", "full_description"] {
        for value in [json!(5), json!(0), json!(true), json!([]), json!(["x"]), json!({}), json!({"pt": "x"})]
        {
            let answer = rig.command("store_page.update", "", &json!({field: value})).await;
            assert_eq!(answer[1], "invalid_data", "{field} {value}: {answer:?}");
        }
        let page = shown(&rig).await;
        for text in ["Bancos", "De madeira", "Feitos à mão"] {
            assert!(page.contains(text), "{field}: {text} is gone: {page}");
        }
    }
    // Only `null` and a text change it, and only the field that is named.
    assert_eq!(rig.command("store_page.update", "", &json!({"description": null})).await[0], "done");
    let page = shown(&rig).await;
    assert!(
        !page.contains("De madeira") && page.contains("Bancos") && page.contains("Feitos à mão"),
        "{page}"
    );
    assert_eq!(rig.writes("/stores/page").len(), 2);
    rig.stop().await;
}

#[tokio::test]
async fn data_that_is_no_json_or_too_large_is_refused_on_its_row() {
    let mut rig = Rig::on(Kind::Sqlite).await;
    let sku = rig.goods().await[0].sku.clone();
    for (data, code) in [
        ("{", "invalid_data"),
        ("nenhum", "invalid_data"),
        ("{\"name\": \"x\"", "invalid_data"),
        ("", "invalid_data"),
    ] {
        rig.write(&format!(
            "INSERT INTO commands (store, kind, key, data) VALUES ('{STORE}', 'product.update', '{sku}', '{data}')"
        ))
        .await;
        let id = rig.ask("SELECT CAST(max(id) AS TEXT) FROM commands").await[0].parse().unwrap();
        let answer = rig.outcome(id, |state| !["new", "waiting", "sending"].contains(&state)).await;
        assert_eq!((answer[0].as_str(), answer[1].as_str()), ("failed", code), "{data:?}: {answer:?}");
    }
    assert!(rig.writes("/api/").is_empty());
    rig.stop().await;
}
