//! Generated orders, products and histories, for properties that hold of all of them.

use chrono::{DateTime, Utc};
use espelho_model::{
    ContentHash, LineId, OrderNumber, ProductId, RawJson,
    order::{Order, OrderItem},
    product::{PriceTier, Product, StockLevel},
    sync::Resource,
};
use espelho_store::{Lease, LeaseTx, Op, Store};
use proptest::{
    collection::{btree_map, vec},
    option,
    prelude::*,
    test_runner::{Config, TestRunner},
};
use rust_decimal::Decimal;
use tokio::runtime::Handle;

use crate::{
    examples::{level, tier},
    world::{write_orders, write_products},
};

/// A step of a history: one transaction.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Orders(Vec<Order>),
    Products(Vec<Product>),
    Gone(Resource, Vec<String>),
    Relisted(Resource, String, i64),
    /// A transaction without a commit.
    Lost(Vec<Order>),
}

/// Checks every generated value on the test's runtime, and shrinks a failing one.
pub(crate) fn for_all<S: Strategy>(cases: u32, values: &S, check: impl AsyncFn(S::Value)) {
    let config = Config { failure_persistence: None, max_shrink_iters: 200, ..Config::with_cases(cases) };
    let outcome = TestRunner::new(config).run(values, |value| {
        tokio::task::block_in_place(|| Handle::current().block_on(check(value)));
        Ok(())
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
}

/// Executes a step as a run would: a known row becomes an update.
pub(crate) async fn apply(store: &Store, lease: &Lease, step: Step) {
    let (orders, products) = match &step {
        Step::Orders(orders) | Step::Lost(orders) => (orders.clone(), Vec::new()),
        Step::Products(products) => (Vec::new(), products.clone()),
        Step::Gone(..) | Step::Relisted(..) => Default::default(),
    };
    let numbers = orders.iter().map(|order| order.number.as_str().to_owned()).collect();
    let known = store.mirror().known(lease.store(), Resource::Orders, numbers).await.unwrap();
    let (old_orders, new_orders) =
        orders.into_iter().partition(|order| known.contains_key(order.number.as_str()));
    let ids = products.iter().map(|product| product.id.as_str().to_owned()).collect();
    let known = store.mirror().known(lease.store(), Resource::Products, ids).await.unwrap();
    let (old_products, new_products) =
        products.into_iter().partition(|product| known.contains_key(product.id.as_str()));
    let mut tx = store.begin(lease).await.unwrap();
    write_orders(&mut tx, Op::Update, old_orders).await;
    write_orders(&mut tx, Op::Insert, new_orders).await;
    write_products(&mut tx, Op::Update, old_products).await;
    write_products(&mut tx, Op::Insert, new_products).await;
    finish(tx, step).await;
}

async fn finish(mut tx: LeaseTx<'_>, step: Step) {
    match step {
        Step::Orders(_) | Step::Products(_) => {}
        Step::Gone(resource, keys) => drop(tx.mirror().mark_gone(resource, keys).await.unwrap()),
        Step::Relisted(resource, key, hash) => {
            tx.mirror().relist(resource, &key, ContentHash::from_i64(hash)).await.unwrap();
        }
        Step::Lost(_) => return,
    }
    tx.commit().await.unwrap();
}

/// Any step over a handful of keys, so that steps collide.
pub(crate) fn step() -> impl Strategy<Value = Step> {
    let keys = |keys: &'static [&'static str]| vec(key(keys), 0..4).prop_map(without_repetition);
    prop_oneof![
        4 => orders().prop_map(Step::Orders),
        4 => products().prop_map(Step::Products),
        1 => orders().prop_map(Step::Lost),
        1 => keys(NUMBERS).prop_map(|keys| Step::Gone(Resource::Orders, keys)),
        1 => keys(IDS).prop_map(|keys| Step::Gone(Resource::Products, keys)),
        1 => (key(NUMBERS), any::<i64>()).prop_map(|(key, hash)| Step::Relisted(Resource::Orders, key, hash)),
        1 => (key(IDS), any::<i64>()).prop_map(|(key, hash)| Step::Relisted(Resource::Products, key, hash)),
    ]
}

fn without_repetition(mut keys: Vec<String>) -> Vec<String> {
    keys.sort();
    keys.dedup();
    keys
}

const NUMBERS: &[&str] = &["1001", "1002", "AB-7", "ab-7", "ç", "it's"];
const IDS: &[&str] = &["01J8Z3K5T2", "01j8z3k5t2", "P", "ß"];
const LINES: &[&str] = &["1", "2", "10", "x y", "é"];
const SKUS: &[&str] = &["CAMISA-P", "camisa-p", "CALÇA"];

fn key(keys: &'static [&'static str]) -> impl Strategy<Value = String> {
    prop::sample::select(keys).prop_map(str::to_owned)
}

/// Text without U+0000, which the wire reader has replaced already.
fn text() -> impl Strategy<Value = Option<String>> {
    let text = prop_oneof!["\\PC{0,12}", any::<String>().prop_map(|text| text.replace('\0', ""))];
    option::of(text)
}

fn decimal() -> impl Strategy<Value = Option<Decimal>> {
    // 15 digits: SQLite keeps that many exactly.
    const LARGEST: i128 = 999_999_999_999_999;
    let money = (-9_999_999i128..9_999_999, 0u32..=4);
    let digits = (-LARGEST..=LARGEST, 0u32..=28);
    let zeros = (Just(0i128), 0u32..=4);
    let number = prop_oneof![4 => money, 4 => digits, 1 => zeros];
    option::of(number.prop_map(|(digits, scale)| Decimal::from_i128_with_scale(digits, scale)))
}

fn time() -> impl Strategy<Value = Option<DateTime<Utc>>> {
    // The years 1 to 9999.
    let micros = prop_oneof![
        -62_135_596_800_000_000i64..253_402_300_800_000_000,
        1_700_000_000_000_000i64..1_900_000_000_000_000
    ];
    option::of(micros.prop_map(|micros| DateTime::from_timestamp_micros(micros).unwrap()))
}

/// Any object with any text in it, U+0000 included.
fn raw() -> impl Strategy<Value = RawJson> {
    let object = (any::<String>(), any::<i64>(), option::of(any::<bool>()));
    object.prop_map(|(text, number, truth)| {
        RawJson::new(&serde_json::json!({"text": text, "number": number, "truth": truth}).to_string())
    })
}

fn orders() -> impl Strategy<Value = Vec<Order>> {
    let orders = btree_map(key(NUMBERS), order(), 0..4);
    let named = |(number, order): (String, Order)| Order { number: OrderNumber::new(number), ..order };
    orders.prop_map(move |orders| orders.into_iter().map(named).collect())
}

fn order() -> impl Strategy<Value = Order> {
    let texts = [(); 15].map(|()| text());
    let amounts = [(); 4].map(|()| decimal());
    let times = [(); 8].map(|()| time());
    let counts = (option::of(0i64..100_000), any::<Option<i64>>());
    let truths = any::<[Option<bool>; 2]>();
    let parts = (texts, amounts, times, counts, truths, vec(line(), 0..12), raw());
    parts.prop_map(|(texts, amounts, times, (items_count, lines_count), truths, items, raw)| {
        let [status, workflow_type, order_type, channel, delivery_method, checkout_group_id, ..] =
            texts.clone();
        let [.., status_label, customer_city, customer_state, _, customer_id, customer_name, payment_method] =
            texts.clone();
        let [.., payment_status, notes, _, _, _, _, _, _, _] = texts;
        let [total_products, total_shipping, total_discounts, total_order] = amounts;
        let [
            payment_expires_at,
            release_at,
            picked_up_at,
            created_at,
            updated_at,
            ship_by,
            invoice_by,
            pick_by,
        ] = times;
        let [is_collective, is_awaiting_campaign] = truths;
        Order {
            number: OrderNumber::new(""),
            status,
            workflow_type,
            order_type,
            channel,
            delivery_method,
            checkout_group_id,
            customer_id,
            customer_name,
            total_products,
            total_shipping,
            total_discounts,
            total_order,
            items_count: items_count.map(Decimal::from),
            lines_count,
            payment_method,
            payment_status,
            payment_expires_at,
            is_collective,
            is_awaiting_campaign,
            release_at,
            picked_up_at,
            notes,
            created_at,
            updated_at,
            status_label,
            customer_city,
            customer_state,
            ship_by,
            invoice_by,
            pick_by,
            items,
            raw,
        }
    })
}

fn line() -> impl Strategy<Value = OrderItem> {
    let parts = (
        key(LINES),
        [(); 4].map(|()| text()),
        [(); 3].map(|()| decimal()),
        any::<Option<i64>>(),
        any::<Option<bool>>(),
        raw(),
    );
    parts.prop_map(|(id, texts, amounts, price_scale, is_blocking_stock, raw)| {
        let [product_id, sku, stock_status, name] = texts;
        let [quantity, unit_price, net_value] = amounts;
        let id = LineId::new(id);
        OrderItem {
            id,
            product_id,
            sku,
            quantity,
            unit_price,
            net_value,
            price_scale,
            stock_status,
            is_blocking_stock,
            name,
            raw,
        }
    })
}

fn products() -> impl Strategy<Value = Vec<Product>> {
    let products = btree_map(key(IDS), product(), 0..4);
    let named = |(id, product): (String, Product)| Product { id: ProductId::new(id), ..product };
    products.prop_map(move |products| products.into_iter().map(named).collect())
}

fn product() -> impl Strategy<Value = Product> {
    let texts = [(); 4].map(|()| text());
    let amounts = [(); 8].map(|()| decimal());
    let parts = (
        texts,
        amounts,
        any::<[Option<bool>; 2]>(),
        vec(price_tier(), 0..8),
        vec(stock_level(), 0..8),
        raw(),
    );
    parts.prop_map(|(texts, amounts, truths, prices, stock, raw)| {
        let [sku, name, base_unit, price_type] = texts;
        let [height, width, length, weight, price, quantity, reserved_quantity, available_quantity] = amounts;
        let [is_available_for_sale, auto_wholesale_pricing] = truths;
        Product {
            id: ProductId::new(""),
            sku: sku.map(espelho_model::Sku::new),
            name,
            base_unit,
            price_type,
            is_available_for_sale,
            auto_wholesale_pricing,
            height,
            width,
            length,
            weight,
            price,
            quantity,
            reserved_quantity,
            available_quantity,
            prices,
            stock,
            raw,
        }
    })
}

fn price_tier() -> impl Strategy<Value = PriceTier> {
    (prop_oneof![1i64..4, any::<i64>()], decimal(), decimal(), raw()).prop_map(
        |(min_quantity, value, discount_percent, raw)| PriceTier {
            value,
            discount_percent,
            raw,
            ..tier(min_quantity, "1")
        },
    )
}

fn stock_level() -> impl Strategy<Value = StockLevel> {
    (key(SKUS), "[A-C]", decimal(), decimal(), raw()).prop_map(
        |(sku, location, quantity, available_quantity, raw)| StockLevel {
            quantity,
            available_quantity,
            raw,
            ..level(&sku, &location, "1")
        },
    )
}
