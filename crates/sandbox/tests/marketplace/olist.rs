//! Loading the Olist data set, from a tiny folder in its dialect.

use std::{fs::File, io::Write, path::Path};

use crate::support::{Bench, unlimited};
use espelho_sandbox::{Olist, OlistSplit, Options};
use flate2::{Compression, write::GzEncoder};
use serde_json::json;

const TABLES: [(&str, &str); 6] = [
    (
        "olist_orders_dataset",
        "\"order_id\",\"customer_id\",\"order_status\",\"order_purchase_timestamp\",\"order_approved_at\",\
         \"order_delivered_carrier_date\",\"order_delivered_customer_date\",\"order_estimated_delivery_date\"\n\
         \"1one\",c1,delivered,2017-10-02 10:56:33,2017-10-02 11:07:15,2017-10-04 19:55:00,2017-10-10 21:25:13,\
          2017-10-18 00:00:00\n\
         two,c2,shipped,2018-01-01 00:00:00,,,,2018-02-01 00:00:00\n\
         none,c3,unavailable,2018-01-02 23:59:59,2018-01-02 23:59:58,,,2018-02-01 00:00:00\n",
    ),
    (
        "olist_order_items_dataset",
        "\"order_id\",\"order_item_id\",\"product_id\",\"seller_id\",\"shipping_limit_date\",\"price\",\
         \"freight_value\"\n\
         1one,1,p1,sellerAAA1,2017-10-05 00:00:00,58.90,13.29\n\
         1one,2,p1,sellerAAA1,2017-10-05 00:00:00,58.90,13.29\n\
         1one,3,p2,sellerAAA1,2017-10-05 00:00:00,0.85,0.00\n\
         two,1,p1,sellerAAA2,2018-01-05 00:00:00,60.00,10.01\n\
         two,2,p2,sellerAAA1,2018-01-05 00:00:00,1.99,2.02\n",
    ),
    (
        "olist_order_payments_dataset",
        "\"order_id\",\"payment_sequential\",\"payment_type\",\"payment_installments\",\"payment_value\"\n\
         1one,1,voucher,1,5.00\n1one,2,boleto,1,140.23\ntwo,1,credit_card,3,74.02\n",
    ),
    (
        "olist_customers_dataset",
        "\"customer_id\",\"customer_unique_id\",\"customer_zip_code_prefix\",\"customer_city\",\"customer_state\"\n\
         c1,u1,\"01234\",santa barbara d'oeste,SP\nc2,u1,\"01234\",santa barbara d'oeste,SP\nc3,u3,99999,rio,RJ\n",
    ),
    (
        "olist_products_dataset",
        "\"product_id\",\"product_category_name\",\"product_name_lenght\",\"product_description_lenght\",\
         \"product_photos_qty\",\"product_weight_g\",\"product_length_cm\",\"product_height_cm\",\
          \"product_width_cm\"\n\
         p1,cama_mesa_banho,40,287,1,225,16,10,14\np2,,,,,,,,\n",
    ),
    (
        "olist_sellers_dataset",
        "\"seller_id\",\"seller_zip_code_prefix\",\"seller_city\",\"seller_state\"\n\
         sellerAAA1,\"13023\",campinas,SP\nsellerAAA2,13844,mogi guacu,SP\n",
    ),
];

fn write(dir: &Path) {
    for (name, text) in TABLES {
        let file = File::create(dir.join(format!("{name}.csv.gz"))).unwrap();
        let mut gzip = GzEncoder::new(file, Compression::fast());
        gzip.write_all(text.as_bytes()).unwrap();
        gzip.finish().unwrap();
    }
}

async fn load(split: OlistSplit) -> Bench {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path());
    let olist = Some(Olist { dir: dir.path().to_owned(), split });
    Bench::start(Options { olist, ..unlimited() }).await
}

#[tokio::test]
async fn one_store_holds_every_order_with_exact_sums() {
    let bench = load(OlistSplit::OneStore).await;
    assert_eq!(bench.access().key, "olist");
    assert_eq!(bench.orders("").await.len(), 3);
    let order = bench.order("1one").await;
    assert_eq!(
        order["totals"].to_string(),
        json!({"products": 118.65, "shipping": 26.58, "discounts": 0.0, "order": 145.23}).to_string()
    );
    assert_eq!((&order["items_count"], &order["lines_count"]), (&json!(3), &json!(2)));
    let quantities: Vec<_> = order["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| (item["sku"].clone(), item["quantity"].clone()))
        .collect();
    assert_eq!(quantities, [(json!("p1"), json!(2)), (json!("p2"), json!(1))]);
    assert_eq!(order["created_at"], json!("2017-10-02T10:56:33-03:00"));
    assert_eq!(order["updated_at"], json!("2017-10-10T21:25:13-03:00"));
    assert_eq!(order["payment_method"], json!("boleto"), "the method of the largest payment");
    assert_eq!(order["customer"]["city"], json!("santa barbara d'oeste"));
    assert_eq!(bench.order("two").await["customer"], order["customer"], "one person, two records");
}

#[tokio::test]
async fn an_order_without_items_is_there_and_empty() {
    let bench = load(OlistSplit::OneStore).await;
    let order = bench.order("none").await;
    assert_eq!(
        (&order["status"], &order["items"], &order["lines_count"]),
        (&json!("cancelled"), &json!([]), &json!(0))
    );
    assert_eq!(order["totals"]["order"].to_string(), "0.0");
}

#[tokio::test]
async fn products_come_with_their_measures_and_invented_names() {
    let bench = load(OlistSplit::OneStore).await;
    let products = bench.get("/api/products").await.data();
    assert_eq!(products.as_array().unwrap().len(), 2);
    assert_eq!((&products[0]["sku"], &products[0]["name"]), (&json!("p1"), &json!("Cama mesa banho p1")));
    assert_eq!(
        products[0]["dimensions"],
        json!({"height": 10.0, "width": 14.0, "length": 16.0, "weight": 0.225})
    );
    assert_eq!(products[0]["price"], json!(60.0), "the price it was last sold at");
    assert_eq!((&products[1]["name"], &products[1]["dimensions"]), (&json!("Produto p2"), &json!(null)));
    let id = products[0]["id"].as_str().unwrap();
    assert_eq!(bench.order("1one").await["items"][0]["product_id"], json!(id));
    assert_eq!(bench.get(&format!("/api/products/{id}")).await.data()["product"]["sku"], json!("p1"));
}

#[tokio::test]
async fn each_seller_is_a_store_and_a_shared_order_is_divided() {
    let bench = load(OlistSplit::PerSeller).await;
    let stores = bench.sandbox.stores();
    let keys: Vec<_> = stores.iter().map(|store| store.key.as_str()).collect();
    assert_eq!(keys, ["s-sellerAA", "s-sellerAA-2"]);
    let first = bench.order("two-2").await;
    assert_eq!(first["totals"]["order"], json!(4.01));
    assert_eq!(first["items"][0]["sku"], json!("p2"));
    bench.get("/api/v1/sellers/orders/two-1").await.refused(404, "NOT_FOUND");
    assert_eq!(bench.orders("").await.len(), 2, "1one and its part of two");
    let token = format!("Bearer {}", bench.login_to(&stores[1]).await);
    let second = bench.get_with(&token, "/api/v1/sellers/orders/two-1").await.data();
    assert_eq!(second["totals"]["products"], json!(60.0));
    let products = bench.get_with(&token, "/api/products").await.data();
    assert_eq!(products.as_array().unwrap().len(), 1, "a store has what it sold");
}

#[tokio::test]
async fn a_missing_or_broken_table_is_named() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path());
    let file = File::create(dir.path().join("olist_order_payments_dataset.csv.gz")).unwrap();
    let mut gzip = GzEncoder::new(file, Compression::fast());
    gzip.write_all(b"a,b,c,d,e\n1one,1,boleto,1,much\n").unwrap();
    gzip.finish().unwrap();
    let fails = async || {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let olist = Some(Olist { dir: dir.path().to_owned(), split: OlistSplit::OneStore });
        let options = Options { olist, ..unlimited() };
        espelho_sandbox::start(listener, options).await.err().unwrap().to_string()
    };
    assert!(
        fails()
            .await
            .ends_with("olist_order_payments_dataset.csv.gz: record 1 has an unreadable payment_value")
    );
    std::fs::remove_file(dir.path().join("olist_sellers_dataset.csv.gz")).unwrap();
    assert!(fails().await.starts_with("cannot open "));
}
