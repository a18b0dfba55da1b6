//! Products, prices, stock, images, categories and listings.

use crate::scripted::bench;
use espelho_api_client::{
    Class, Invalid, Text,
    resources::{
        categories::{AttributeId, AttributeQuery, CategoryLevel, CategorySearch, Combination, Only},
        listings::{ListingDraft, ListingTitle},
        media::{MediaQuery, ProductImage},
        products::{
            BaseUnit, Movement, NewProduct, Price, PriceType, ProductChanges, ProductUpdate, Quantity, Tier,
            WholesaleQuantity, draft::ProductSwitches,
        },
    },
};
use espelho_model::{CategoryId, LocationId, MediaId, ProductId, RawJson, Sku};

const IMAGE: &str = r#"{"id":"01J9Z3K5T7V9X1B3D5F7H9K1M3","original_source":"https://m.example/o.webp","urls":[],"in_use":false,"reference_id":null,"reference_model":null}"#;
const LISTING: &str = r#"{"item_id":"MPB-0000000000001","title":"Caneca","type":{"value":"default","label":"Próprio"},"status":{"value":"draft","label":"Rascunho"}}"#;

fn product() -> ProductId {
    ProductId::new("P1")
}

fn new_product() -> Result<NewProduct, Invalid> {
    Ok(NewProduct {
        name: Text::new("name", "Caneca")?,
        sku: Text::new("sku", "CAN-1")?,
        base_unit: BaseUnit::Un,
        price_type: PriceType::Default,
        dimensions: None,
        switches: ProductSwitches::default(),
    })
}

// proves: PRD-002, PRD-006, PRD-021, ENV-003
#[tokio::test]
async fn a_product_is_created_changed_and_given_an_image() {
    let bench = bench().await;
    bench.will_give(201, r#"{"id":"P1","sku":"CAN-1"}"#);
    let created = bench.client.products().create(&new_product().unwrap()).await.unwrap();
    assert_eq!(created.value, Some(product()));
    assert_eq!(bench.header("content-type").as_deref(), Some("application/json"));
    assert_eq!(
        bench.request(),
        r#"POST /api/products {"name":"Caneca","sku":"CAN-1","base_unit":"un","price_type":"default"}"#
    );
    let changes = ProductChanges { base_unit: Some(BaseUnit::Cx), ..ProductChanges::default() };
    bench.will_give(200, "null");
    bench.client.products().update(&product(), &ProductUpdate::new(changes).unwrap()).await.unwrap();
    assert_eq!(bench.request(), r#"PUT /api/products/P1 {"base_unit":"cx"}"#);
    bench.will_give(201, "[]");
    bench.client.products().add_to_gallery(&product(), &MediaId::new("M1")).await.unwrap();
    assert_eq!(bench.request(), r#"POST /api/products/P1/gallery {"image_id":"M1"}"#);
}

// proves: PRD-020, ERR-016
#[tokio::test]
async fn a_sub_store_that_mirrors_is_told_so_by_its_code() {
    let bench = bench().await;
    bench.will_refuse(422, "SUBSTORE_CANNOT_CREATE_SKU", "[]");
    let error = bench.client.products().create(&new_product().unwrap()).await.unwrap_err();
    assert_eq!((error.code().as_str(), error.class()), ("SUBSTORE_CANNOT_CREATE_SKU", Class::Permanent));
    assert_eq!(bench.forget(), 1);
}

// proves: PRD-001
#[tokio::test]
async fn the_units_are_asked_for_with_the_token() {
    let bench = bench().await;
    bench.will_give(200, r#"[{"value":"un","label":"Unidade"}]"#);
    let units = bench.client.products().units().await.unwrap();
    assert_eq!((units.value[0].value.as_str(), units.value[0].label.as_deref()), ("un", Some("Unidade")));
    assert!(bench.header("authorization").is_some_and(|token| token.starts_with("Bearer ")));
    assert_eq!(bench.request(), "GET /api/global/enums/product/units");
}

// proves: PRD-003, PRD-004, PRC-001, STK-007
#[tokio::test]
async fn a_product_its_tiers_and_its_stock_have_routes_of_their_own() {
    let bench = bench().await;
    bench.will_give(200, r#"{"product":{"id":"P1","sku":"CAN-1"},"prices":[],"stock":{"stocks":[]}}"#);
    assert_eq!(
        bench.client.products().get(&product()).await.unwrap().value.product.sku,
        Some(Sku::new("CAN-1"))
    );
    assert_eq!(bench.request(), "GET /api/products/P1");
    bench.will_give(200, r#"[{"min_quantity":1,"value":19.9}]"#);
    assert_eq!(bench.client.products().prices(&product()).await.unwrap().value.len(), 1);
    assert_eq!(bench.request(), "GET /api/products/P1/prices");
    bench.will_give(
        200,
        r#"{"total":1,"stocks":[{"location_stock":7,"quantity":1}],"locations":[{"location_id":7}]}"#,
    );
    let stock = bench.client.products().stock(&product(), Some(&Sku::new("CAN-1"))).await.unwrap().value;
    assert_eq!((stock.levels.len(), stock.locations.len()), (1, 1));
    assert_eq!(bench.request(), "GET /api/products/P1/stock");
}

// proves: PRC-006, PRC-008, PRC-009, PRC-023, PRC-024
#[tokio::test]
async fn tiers_are_written_one_by_one_and_each_with_its_price() {
    let bench = bench().await;
    let base = Tier::Base(Price::new("12.345".parse().unwrap()).unwrap());
    bench.will_give(201, "[]");
    bench.client.products().create_tier(&product(), &base).await.unwrap();
    assert_eq!(bench.request(), r#"POST /api/products/P1/prices {"min_quantity":1,"price":12.345}"#);
    bench.will_give(200, "{}");
    bench.client.products().update_tier(&product(), &base).await.unwrap();
    assert_eq!(bench.request(), r#"PUT /api/products/P1/prices/1 {"price":12.345}"#);
    bench.will_answer(204, "");
    bench.client.products().delete_tier(&product(), WholesaleQuantity::new(10).unwrap()).await.unwrap();
    assert_eq!(bench.request(), "DELETE /api/products/P1/prices/10");
}

// proves: STK-013, STK-014, STK-015, STK-016
#[tokio::test]
async fn stock_is_set_or_moved_at_a_location() {
    let bench = bench().await;
    let [five, half] = ["5", "0.5"].map(|text| Quantity::new(text.parse().unwrap()).unwrap());
    for (movement, body) in [
        (Movement::Set(five), r#"{"location_id":7,"quantity":5}"#),
        (Movement::Increment(half), r#"{"location_id":7,"quantity":0.5,"increment":true}"#),
        (Movement::Decrement(half), r#"{"location_id":7,"quantity":0.5,"decrement":true}"#),
    ] {
        bench.will_give(200, "{}");
        bench.client.products().move_stock(&product(), &LocationId::new("7"), movement).await.unwrap();
        assert_eq!(bench.request(), format!("POST /api/products/P1/stock {body}"));
    }
}

#[tokio::test]
async fn an_increment_whose_answer_is_lost_is_not_sent_again() {
    let bench = bench().await;
    bench.will_answer(502, "<html>Bad Gateway</html>");
    let movement = Movement::Increment(Quantity::new(1.into()).unwrap());
    let error =
        bench.client.products().move_stock(&product(), &LocationId::new("7"), movement).await.unwrap_err();
    assert_eq!((error.class(), bench.forget()), (Class::Ambiguous, 1));
}

// proves: MED-001, MED-002, MED-006
#[tokio::test]
async fn an_image_goes_up_as_a_form_with_one_file() {
    let bench = bench().await;
    let image = ProductImage::new(b"\x89PNG\r\n\x1A\nIHDR".to_vec()).unwrap();
    bench.will_give(201, IMAGE);
    let made = bench.client.media().upload(&image).await.unwrap();
    assert_eq!(made.value.unwrap().id.as_str(), "01J9Z3K5T7V9X1B3D5F7H9K1M3");
    let form = bench.header("content-type").unwrap();
    let boundary = form.strip_prefix("multipart/form-data; boundary=").unwrap().to_owned();
    let request = bench.request();
    assert!(request.starts_with("POST /api/media/upload "), "{request}");
    for part in [
        boundary.as_str(),
        r#"Content-Disposition: form-data; name="image"; filename="image.png""#,
        "Content-Type: image/png",
        "IHDR",
    ] {
        assert!(request.contains(part), "{part} in {request}");
    }
    assert_eq!(request.matches("Content-Disposition").count(), 1);
}

// proves: MED-014, MED-021, MED-024
#[tokio::test]
async fn images_are_listed_read_and_deleted() {
    let bench = bench().await;
    let id = MediaId::new("01J9Z3K5T7V9X1B3D5F7H9K1M3");
    bench.will_give(200, &format!("[{IMAGE},{{}}]"));
    let page = bench
        .client
        .media()
        .list(&MediaQuery { in_use: Some(false), ..MediaQuery::default() })
        .await
        .unwrap();
    assert_eq!((page.rows.len(), page.rows_without_id), (1, 1));
    assert_eq!(bench.request(), "GET /api/media?filter%5Bin_use%5D=false");
    bench.will_give(200, IMAGE);
    assert_eq!(bench.client.media().get(&id).await.unwrap().value.in_use, Some(false));
    assert_eq!(bench.request(), "GET /api/media/01J9Z3K5T7V9X1B3D5F7H9K1M3");
    bench.will_answer(204, "");
    bench.client.media().delete(&id).await.unwrap();
    assert_eq!(bench.request(), "DELETE /api/media/01J9Z3K5T7V9X1B3D5F7H9K1M3");
}

// proves: MED-025, ERR-010
#[tokio::test]
async fn an_image_in_use_is_not_deleted_and_not_tried_again() {
    let bench = bench().await;
    bench.will_refuse(409, "", "[]");
    let error = bench.client.media().delete(&MediaId::new("M1")).await.unwrap_err();
    assert_eq!((error.class(), bench.forget()), (Class::Permanent, 1));
    assert!(error.to_string().contains("409"), "{error}");
}

// proves: LST-001, LST-004, LST-005
#[tokio::test]
async fn categories_are_searched_walked_and_grouped_by_department() {
    let bench = bench().await;
    bench.will_give(200, r#"[{"id":12,"name":"Canecas"}]"#);
    let search = CategorySearch::new("caneca", None).unwrap();
    assert_eq!(bench.client.categories().search(&search).await.unwrap().rows.len(), 1);
    assert_eq!(bench.request(), "GET /api/categories/search?search=caneca");
    bench.will_give(200, r#"{"data":[{"id":1,"name":"Casa"}],"meta":{}}"#);
    let top = bench.client.categories().browse(&CategoryLevel::default()).await.unwrap();
    assert_eq!(top.rows[0].value.id, CategoryId::new(1));
    assert_eq!(bench.request(), "GET /api/categories/browse");
    bench.will_give(200, r#"[{"id":3,"name":"Casa"}]"#);
    assert_eq!(
        bench.client.categories().departments().await.unwrap().rows[0].value.name.as_deref(),
        Some("Casa")
    );
    assert_eq!(bench.request(), "GET /api/categories/departaments");
}

// proves: LST-006, LST-009, LST-012, LST-016
#[tokio::test]
async fn the_variations_of_a_category_are_read_and_combined() {
    let bench = bench().await;
    let category = CategoryId::new(12);
    bench.will_give(200, r#"[{"id":20,"name":"Cor","is_variant":true}]"#);
    let query = AttributeQuery { matrix: false, only: Some(Only::Variations) };
    let attributes = bench.client.categories().attributes(category, &query).await.unwrap().value;
    assert_eq!(attributes.attributes[0].id.as_str(), "20");
    assert_eq!(bench.request(), "GET /api/categories/12/attributes?only_variations=1");
    bench.will_give(200, r#"{"combinations":[["Azul"],["Verde"]],"primary_attribute":20}"#);
    let values = ["Azul", "Verde"].map(|value| AttributeId::Text(value.into())).to_vec();
    let combination = Combination::new(vec![(AttributeId::Number(20), values)], None).unwrap();
    let combined = bench.client.categories().combine_attributes(category, &combination).await.unwrap().value;
    assert_eq!(
        combined.combinations.iter().map(RawJson::as_str).collect::<Vec<_>>(),
        [r#"["Azul"]"#, r#"["Verde"]"#]
    );
    assert_eq!(
        bench.request(),
        r#"POST /api/categories/12/combine-attributes {"attributes":{"20":["Azul","Verde"]}}"#
    );
}

// proves: LST-017, LST-018, LST-031, LST-043
#[tokio::test]
async fn a_listing_is_simulated_created_and_published() {
    let bench = bench().await;
    let draft = ListingDraft::new(ListingTitle::new("title", "Caneca").unwrap());
    bench.will_give(200, "{}");
    bench.client.listings().simulate(&draft).await.unwrap();
    assert_eq!(bench.request(), r#"POST /api/items/simulate {"title":"Caneca"}"#);
    bench.will_give(201, LISTING);
    let listing = bench.client.listings().create(&draft).await.unwrap().value.unwrap();
    assert_eq!((listing.item_id.as_str(), listing.status.as_deref()), ("MPB-0000000000001", Some("draft")));
    assert_eq!(bench.request(), r#"POST /api/items/create {"title":"Caneca"}"#);
    bench.will_give(200, &LISTING.replace("draft", "pending_review"));
    let listing = bench.client.listings().publish(&listing.item_id).await.unwrap().value.unwrap();
    assert_eq!(listing.status.as_deref(), Some("pending_review"));
    assert_eq!(bench.request(), "PUT /api/items/MPB-0000000000001/publish");
}

#[tokio::test]
async fn a_draft_that_would_not_do_is_refused_and_not_tried_again() {
    let bench = bench().await;
    bench.will_answer(
        422,
        r#"{"success":false,"code":422,"message_code":"VALIDATION_ERROR","description":"Anúncio incompleto.","data":{"reason":"missing_attributes","details":["Cor"]},"errors":[],"meta":[]}"#,
    );
    let draft = ListingDraft::new(ListingTitle::new("title", "Caneca").unwrap());
    let error = bench.client.listings().simulate(&draft).await.unwrap_err();
    assert_eq!((error.class(), bench.forget()), (Class::Permanent, 1));
    assert!(error.text().to_string().contains("Anúncio incompleto."), "{error}");
}
