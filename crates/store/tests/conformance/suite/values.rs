//! Numbers, times and texts are stored unchanged, in the types that people expect.

use chrono::{DateTime, Utc};
use espelho_model::{RawJson, order::Order, product::Product, time::fixed_width};
use espelho_store::Op;
use rust_decimal::Decimal;

use crate::{
    examples::{bare_order, decimal, level, line, order, product, tier, time},
    tables::plain,
    world::{World, minha_loja},
};

/// Numbers of up to 15 significant digits, which both databases keep exactly.
const DECIMALS: &[&str] = &[
    "0",
    "0.10",
    "0.3",
    "19.90",
    "12.345",
    "-5.00",
    "1000000",
    "1234.56",
    "10000.0001",
    "99999999.999",
    "9999999999999.99",
    "999999999999999",
    "1000000000000000",
    "9007199254740993",
    "0.000000000000001",
    "-0.0000000000000000000000000001",
];

/// Longer ones: PostgreSQL keeps them, SQLite keeps their first 15 digits.
const LONG: &[(&str, &str)] = &[
    ("9999999999999999999999999999", "10000000000000000000000000000"),
    ("0.9999999999999999999999999999", "1"),
    ("12345678901234.12345678901234", "12345678901234.1"),
];

async fn kept(world: &World, numbers: &[&str]) -> [Vec<String>; 2] {
    let lease = world.lease().await;
    let of = |(n, text): (usize, &&str)| {
        let value = Some(decimal(text));
        let mut item = line("1");
        (item.unit_price, item.net_value, item.quantity) = (value, value, value);
        Order { total_order: value, items: vec![item], ..bare_order(&format!("{n:02}")) }
    };
    world.write_orders(&lease, Op::Insert, numbers.iter().enumerate().map(of).collect()).await;
    let totals = "SELECT CAST(total_order AS TEXT) FROM orders ORDER BY order_number";
    let prices = "SELECT CAST(unit_price AS TEXT) FROM order_items ORDER BY order_number";
    [world.tables.numbers(totals).await, world.tables.numbers(prices).await]
}

pub(crate) async fn decimals_of_fifteen_digits_are_exact(world: &World) {
    let expected: Vec<String> = DECIMALS.iter().map(|number| plain(number)).collect();
    for read in kept(world, DECIMALS).await {
        assert_eq!(read, expected);
    }
}

pub(crate) async fn longer_decimals_keep_at_least_their_first_fifteen_digits(world: &World) {
    let sent: Vec<&str> = LONG.iter().map(|(sent, _)| *sent).collect();
    let expected: Vec<&str> =
        LONG.iter().map(|(sent, rounded)| *world.tables.either(rounded, sent)).collect();
    for read in kept(world, &sent).await {
        assert_eq!(read, expected);
    }
}

/// PostgreSQL keeps no decimals of a zero, so its text may differ; its value and its missing sign must not.
pub(crate) async fn zero_is_zero_however_it_was_written(world: &World) {
    let lease = world.lease().await;
    let of = |text: &str| Order { total_order: Some(decimal(text)), ..bare_order(text) };
    world.write_orders(&lease, Op::Insert, ["0", "0.00", "0.000", "-0.00", "-0"].map(of).to_vec()).await;
    for zero in world.tables.list("SELECT CAST(total_order AS TEXT) FROM orders").await {
        assert!(["0", "0.00", "0.000"].contains(&zero.as_str()), "{zero}");
    }
}

// withstands: F140
/// As text `9` is above `100`: 400 of 400 orders were above 100 instead of 199.
pub(crate) async fn amounts_compare_sort_and_add_up_as_numbers(world: &World) {
    let lease = world.lease().await;
    let totals = ["9", "100.5", "20.10", "1000", "99.99", "-3"];
    let of = |text: &str| Order { total_order: Some(decimal(text)), ..bare_order(text) };
    world.write_orders(&lease, Op::Insert, totals.map(of).to_vec()).await;
    for (sql, expected) in [
        (
            "SELECT CAST(total_order AS TEXT) AS total FROM orders WHERE total_order > 100 ORDER BY total_order",
            &["100.5", "1000"][..],
        ),
        ("SELECT CAST(total_order AS TEXT) FROM orders WHERE total_order = 20.1", &["20.1"]),
        ("SELECT CAST(max(total_order) AS TEXT) FROM orders", &["1000"]),
        ("SELECT CAST(min(total_order) AS TEXT) FROM orders", &["-3"]),
        ("SELECT CAST(sum(total_order) AS TEXT) FROM orders", &["1226.59"]),
        (
            "SELECT CAST(total_order AS TEXT) AS total FROM orders ORDER BY total_order DESC",
            &["1000", "100.5", "99.99", "20.1", "9", "-3"],
        ),
    ] {
        assert_eq!(world.tables.numbers(sql).await, expected, "{sql}");
    }
}

/// A level of the ERP is compared as a number with the mirrored one.
pub(crate) async fn drift_is_a_difference_of_numbers_and_not_of_digits(world: &World) {
    let lease = world.lease().await;
    let stock = ["7", "7.5", "0.1", "1000000", "3"].into_iter().enumerate();
    let stock = stock.map(|(n, quantity)| level(&format!("S{n}"), "1", quantity)).collect();
    world.write_products(&lease, Op::Insert, vec![Product { stock, ..product("P-1", "Camisa") }]).await;
    let wanted = "INSERT INTO erp_stock (store, sku, location_id, quantity) VALUES ('minha-loja', 'S0', '1', '7.000'), \
        ('minha-loja', 'S1', '1', 7.50), ('minha-loja', 'S2', '1', '0.10'), ('minha-loja', 'S3', '1', 1e6), ('minha-loja', 'S4', '1', 30)";
    assert_eq!(world.tables.execute(wanted).await, 5);
    assert_eq!(
        world.tables.list("SELECT key || ' ' || wanted || ' ' || mirrored FROM v_drift").await,
        ["S4/1 30 3"]
    );
    // As texts, 30 would be less than 4 and 3 less than 20.
    for (condition, expected) in [
        ("wanted_number > 4", 1),
        ("mirrored_number < 20", 1),
        ("wanted_number > 100", 0),
        ("abs(wanted_number - mirrored_number) = 27", 1),
    ] {
        let sql = format!("SELECT key FROM v_drift WHERE {condition}");
        assert_eq!(world.tables.list(&sql).await.len(), expected, "{condition}");
    }
    let tiers = "INSERT INTO erp_prices (store, sku, min_quantity, price) VALUES ('minha-loja', 'S0', 5, 10), \
        ('minha-loja', 'S0', 6, 10)";
    world.tables.execute(tiers).await;
    world.tables.execute("UPDATE erp_prices SET state = 'superseded' WHERE min_quantity = 5").await;
    world.tables.execute("UPDATE erp_prices SET state = 'ignored' WHERE min_quantity = 6").await;
    let prices = "SELECT key || ' ' || state FROM v_drift WHERE entity = 'price'";
    assert_eq!(world.tables.list(prices).await, ["S0/6 ignored"], "a superseded tier is wanted no more");
    let open = world.store.intents().open_stock_page(&minha_loja(), None).await.unwrap();
    let levels = open.iter().take(4).map(|level| (level.quantity, level.mirrored));
    for (wanted, mirrored) in levels {
        assert!(wanted.is_some() && wanted == mirrored, "{wanted:?} {mirrored:?}");
    }
}

pub(crate) async fn the_sum_of_a_tenth_and_two_tenths_is_three_tenths(world: &World) {
    let lease = world.lease().await;
    let sum = Some(decimal("0.10") + decimal("0.20"));
    world.write_orders(&lease, Op::Insert, vec![Order { total_order: sum, ..bare_order("1") }]).await;
    let read = world.tables.numbers("SELECT CAST(total_order AS TEXT) FROM orders").await;
    assert_eq!(read, ["0.3"]);
}

pub(crate) async fn a_count_of_items_is_a_number(world: &World) {
    let lease = world.lease().await;
    let counts = ["0", "3", "250", "1000000"].map(decimal);
    let of = |count: Decimal| Order { items_count: Some(count), ..bare_order(&count.to_string()) };
    world.write_orders(&lease, Op::Insert, counts.map(of).to_vec()).await;
    let numeric = world.tables.either("integer", "numeric");
    assert_eq!(world.tables.stored_types("orders", "items_count").await, [numeric]);
    let sum = world.tables.list("SELECT CAST(sum(items_count) AS TEXT) FROM orders").await;
    assert_eq!(sum, ["1000253"]);
    // Sold by weight: a fraction, equal on both sides.
    let half = Order { items_count: Some(decimal("2.375")), ..bare_order("half") };
    world.write_orders(&lease, Op::Insert, vec![half]).await;
    let read = "SELECT CAST(items_count AS TEXT) FROM orders WHERE order_number = 'half'";
    assert_eq!(world.tables.list(read).await, ["2.375"]);
}

pub(crate) async fn times_are_exact_to_the_microsecond(world: &World) {
    let lease = world.lease().await;
    let times: Vec<DateTime<Utc>> = [
        "0001-01-01T00:00:00Z",
        "1899-12-31T23:59:59.999999Z",
        "1969-12-31T23:59:59.999999Z",
        "1999-12-31T23:59:59.999999Z",
        "2000-01-01T00:00:00.000001Z",
        "2018-11-04T00:00:00-03:00",
        "2026-11-27T06:30:00.123456Z",
        "9999-12-31T23:59:59.999999Z",
    ]
    .map(time)
    .to_vec();
    let of = |(n, &time): (usize, &DateTime<Utc>)| Order {
        created_at: Some(time),
        updated_at: Some(time),
        ..bare_order(&n.to_string())
    };
    world.write_orders(&lease, Op::Insert, times.iter().enumerate().map(of).collect()).await;
    let mut orders = world.tables.all("orders").await;
    orders.sort_by_key(|line| line.get("order_number").map(str::to_owned));
    let read: Vec<Option<&str>> = orders.iter().map(|line| line.get("created_at")).collect();
    let expected: Vec<String> = times.iter().copied().map(fixed_width).collect();
    assert_eq!(read, expected.iter().map(|text| Some(text.as_str())).collect::<Vec<_>>());
    let sorted = "SELECT order_number FROM orders ORDER BY updated_at";
    assert_eq!(world.tables.list(sorted).await, ["0", "1", "2", "3", "4", "5", "6", "7"]);
}

/// The wire reader accepts second 60; no database function does.
pub(crate) async fn a_leap_second_is_kept_as_a_time_that_databases_know(world: &World) {
    let lease = world.lease().await;
    let created_at = Some(time("2016-12-31T23:59:60Z"));
    world.write_orders(&lease, Op::Insert, vec![Order { created_at, ..bare_order("1") }]).await;
    let next = world.tables.all("orders").await.remove(0);
    assert_eq!(next.get("created_at"), Some("2017-01-01T00:00:00.000000Z"));
}

pub(crate) async fn accents_emoji_and_quotes_arrive_as_they_are(world: &World) {
    let lease = world.lease().await;
    let texts = [
        "João Ação Muñoz Ⅷ",
        "🎉👩‍👩‍👧‍👦 entrega às 15h",
        "'; DROP TABLE orders; --",
        "$1 $2 ? ?1 :a @b \"quoted\"",
        "a\\u0000 back\\slash\ttab\r\nline",
        "\u{1}\u{7f}\u{feff}\u{202e}\u{fffd}",
        "  ",
        "",
    ];
    let of = |text: &&str| Order {
        customer_name: Some((*text).to_owned()),
        notes: Some((*text).to_owned()),
        raw: RawJson::new(&serde_json::json!({"notes": text}).to_string()),
        ..bare_order(&format!("n{text}"))
    };
    world.write_orders(&lease, Op::Insert, texts.iter().map(of).collect()).await;
    let orders = world.tables.all("orders").await;
    assert_eq!(orders.len(), texts.len());
    for text in texts {
        let number = format!("n{text}");
        let line = orders.iter().find(|line| line.get("order_number") == Some(&number)).unwrap();
        assert_eq!((line.get("customer_name"), line.get("notes")), (Some(text), Some(text)));
        assert_eq!(line.get("raw"), Some(serde_json::json!({"notes": text}).to_string().as_str()));
    }
}

pub(crate) async fn escapes_that_no_database_holds_are_shown_as_text(world: &World) {
    let lease = world.lease().await;
    let cases = [
        (r#"{"a":"x\u0000y"}"#, r#"{"a":"x\\u0000y"}"#),
        (r#"{"a":"\ud83d."}"#, r#"{"a":"\\ud83d."}"#),
        (r#"{"a":"\ude00"}"#, r#"{"a":"\\ude00"}"#),
        (r#"{"a":"\ud83d\ude00"}"#, r#"{"a":"😀"}"#),
        (r#"{"a\u0000":[1,null,true]}"#, r#"{"a\\u0000":[1,null,true]}"#),
    ];
    for (n, (received, shown)) in cases.into_iter().enumerate() {
        let raw = RawJson::new(received);
        let mut item = line("1");
        item.raw = raw.clone();
        let number = n.to_string();
        let order = Order { raw, items: vec![item], ..bare_order(&number) };
        world.write_orders(&lease, Op::Insert, vec![order]).await;
        for table in ["orders", "order_items"] {
            let all = world.tables.all(table).await;
            let line = all.iter().find(|line| line.get("order_number") == Some(&number)).unwrap();
            assert_eq!(line.get("raw"), Some(shown), "{table}: {received}");
        }
    }
}

pub(crate) async fn columns_have_the_types_that_people_expect(world: &World) {
    let lease = world.lease().await;
    let full_order = Order { items: vec![line("1")], ..order("1", "paid") };
    world.write_orders(&lease, Op::Insert, vec![full_order]).await;
    let mut full_product = product("P-1", "Camisa");
    (full_product.prices, full_product.stock) = (vec![tier(1, "1.50")], vec![level("S", "L", "1")]);
    world.write_products(&lease, Op::Insert, vec![full_product]).await;
    const TEXT: [&str; 2] = ["text", "text"];
    const DECIMAL: [&str; 2] = ["integer real", "numeric"];
    const TIME: [&str; 2] = ["text", "timestamp with time zone"];
    const TRUTH: [&str; 2] = ["integer", "boolean"];
    const WHOLE: [&str; 2] = ["integer", "bigint"];
    const JSON: [&str; 2] = ["text", "jsonb"];
    for (table, columns, [sqlite, postgres]) in [
        ("orders", "order_number status customer_name notes", TEXT),
        ("orders", "total_products total_shipping total_discounts total_order", DECIMAL),
        ("orders", "created_at updated_at mirrored_at payment_expires_at release_at picked_up_at", TIME),
        ("orders", "is_collective is_awaiting_campaign", TRUTH),
        ("orders", "lines_count content_hash listing_hash", WHOLE),
        ("orders", "raw", JSON),
        ("order_items", "quantity unit_price net_value", DECIMAL),
        ("order_items", "is_blocking_stock", TRUTH),
        ("order_items", "price_scale", WHOLE),
        ("order_items", "raw", JSON),
        (
            "products",
            "height width length weight price quantity reserved_quantity available_quantity",
            DECIMAL,
        ),
        ("products", "is_available_for_sale auto_wholesale_pricing", TRUTH),
        ("products", "raw", JSON),
        ("product_prices", "min_quantity", WHOLE),
        ("product_prices", "value discount_percent package_weight package_height package_length", DECIMAL),
        ("product_stock", "quantity reserved_quantity available_quantity", DECIMAL),
    ] {
        for column in columns.split(' ') {
            let stored = world.tables.stored_types(table, column).await;
            let expected = world.tables.either(sqlite, postgres);
            assert!(
                !stored.is_empty() && stored.iter().all(|stored| expected.contains(stored.as_str())),
                "{table}.{column}: {stored:?}"
            );
        }
    }
}
