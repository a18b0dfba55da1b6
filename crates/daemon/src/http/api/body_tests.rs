use std::sync::Arc;

use super::{
    super::tokens::{Fingerprint, Scope, Token},
    *,
};

fn read(target: Target, body: &str) -> Result<Rows, Problem> {
    let known = ["minha-loja", "outra"].map(|key| StoreKey::new(key).unwrap()).into();
    let token = Token {
        name: "erp".into(),
        fingerprint: Fingerprint::of("x"),
        scopes: vec![Scope::Write],
        stores: Some(vec![StoreKey::new("minha-loja").unwrap()]),
    };
    let caller = Caller(Arc::new(token));
    rows(target, body.as_bytes(), &Stores { known: &known, caller: &caller })
}

/// The first fault of a batch: row, column and code.
fn fault(target: Target, body: &str) -> (usize, String, &'static str) {
    let problem = read(target, body).unwrap_err();
    let fault = problem.faults.first().unwrap_or_else(|| panic!("{body}: {problem:?}"));
    (fault.row, fault.column.clone().unwrap_or_default(), fault.code)
}

#[test]
fn a_row_that_cannot_be_written_is_named_by_its_place_column_and_code() {
    use Target::{Commands, Prices, Stock};
    let good = r#"{"store": "minha-loja", "sku": "A", "location_id": 1, "quantity": 1}"#;
    for (target, row, column, code) in [
        (Stock, r#"{"sku": "A"}"#, "store", "missing"),
        (Stock, r#"{"store": "minha loja"}"#, "store", "unknown_store"),
        (Stock, r#"{"store": "minha-loja", "location_id": "1", "quantity": 1}"#, "sku", "missing"),
        (
            Stock,
            r#"{"store": "minha-loja", "sku": " ", "location_id": "1", "quantity": 1}"#,
            "sku",
            "missing",
        ),
        (Stock, r#"{"store": "minha-loja", "sku": "A", "location_id": "1"}"#, "quantity", "missing"),
        (
            Stock,
            r#"{"store": "minha-loja", "sku": "A", "location_id": "1", "quantity": null}"#,
            "quantity",
            "missing",
        ),
        (
            Stock,
            r#"{"store": "minha-loja", "sku": "A", "location_id": "1", "quantity": -1}"#,
            "quantity",
            "invalid_data",
        ),
        (
            Stock,
            r#"{"store": "minha-loja", "sku": "A", "location_id": "1", "quantity": "x"}"#,
            "quantity",
            "invalid_data",
        ),
        (
            Stock,
            r#"{"store": "minha-loja", "sku": "A", "location_id": "1", "quantity": true}"#,
            "quantity",
            "invalid_data",
        ),
        (
            Stock,
            r#"{"store": "minha-loja", "sku": "A", "location_id": 1.5, "quantity": 1}"#,
            "location_id",
            "invalid_data",
        ),
        (
            Stock,
            r#"{"store": "minha-loja", "sku": "a\u0000", "location_id": 1, "quantity": 1}"#,
            "sku",
            "invalid_data",
        ),
        (Stock, r#"{"store": "minha-loja", "qty": 1}"#, "qty", "unknown_column"),
        (Stock, r#"[1]"#, "", "not_an_object"),
        (
            Stock,
            r#"{"store": "minha-loja", "sku": "A", "location_id": 1, "quantity": 1, "quantity": 2}"#,
            "",
            "invalid_data",
        ),
        (
            Commands,
            r#"{"store": "minha-loja", "kind": "order.status", "key": "1",
                "data": {"status": "paid", "status": "preparing"}}"#,
            "",
            "invalid_data",
        ),
        (Prices, r#"{"store": "minha-loja", "sku": "A"}"#, "price", "invalid_data"),
        (
            Prices,
            r#"{"store": "minha-loja", "sku": "A", "price": 1, "min_quantity": 1.5}"#,
            "min_quantity",
            "invalid_data",
        ),
        (
            Prices,
            r#"{"store": "minha-loja", "sku": "A", "price": 1, "min_quantity": 0}"#,
            "min_quantity",
            "invalid_data",
        ),
        (
            Prices,
            r#"{"store": "minha-loja", "sku": "A", "discount_percent": 100}"#,
            "discount_percent",
            "invalid_data",
        ),
        (
            Prices,
            r#"{"store": "minha-loja", "sku": "A", "price": 1, "package_width": 1}"#,
            "package_*",
            "invalid_data",
        ),
        (Commands, r#"{"store": "minha-loja", "kind": "order.cancel"}"#, "kind", "unknown_kind"),
        (Commands, r#"{"store": "minha-loja", "kind": "order.notes", "data": [1]}"#, "data", "invalid_data"),
        (
            Commands,
            r#"{"store": "minha-loja", "kind": "order.notes", "data": {"notes": "\u0000"}}"#,
            "data",
            "invalid_data",
        ),
        (
            Commands,
            r#"{"store": "minha-loja", "kind": "order.status", "data": {"status": "shiped"}}"#,
            "data",
            "unknown_status",
        ),
        (
            Commands,
            r#"{"store": "minha-loja", "kind": "labels.generate", "data": {"format": "a5"}}"#,
            "data",
            "unknown_format",
        ),
    ] {
        let body = match target {
            Stock => format!("[{good}, {row}]"),
            _ => format!("[{row}]"),
        };
        let place = usize::from(target == Stock);
        assert_eq!(fault(target, &body), (place, column.to_owned(), code), "{body}");
    }
    let long = format!(
        r#"[{{"store": "minha-loja", "sku": "{}", "location_id": 1, "quantity": 1}}]"#,
        "A".repeat(801)
    );
    assert_eq!(fault(Stock, &long).2, "too_large");
}

#[test]
fn numbers_are_exact_whether_they_come_as_numbers_or_as_texts() {
    let body = r#"[{"store": "minha-loja", "sku": "A", "price": 0.1}, {"store": "minha-loja", "sku": "A",
        "min_quantity": "10", "price": "1234567890123.45"}]"#;
    let Batch::Prices(rows) = read(Target::Prices, body).unwrap().batch else { panic!("they are prices") };
    let prices: Vec<String> = rows.iter().map(|(_, row)| row.price.unwrap().to_string()).collect();
    assert_eq!(prices, ["0.1", "1234567890123.45"]);
    assert_eq!((rows[0].1.min_quantity, rows[1].1.min_quantity), (1, 10));
}

#[test]
fn a_store_that_the_token_is_not_for_is_forbidden() {
    let body = r#"[{"store": "outra", "order_number": "1"}]"#;
    assert_eq!(read(Target::Orders { claims: true }, body).unwrap_err().code, "store_forbidden");
}

#[test]
fn a_body_is_an_array_of_a_thousand_rows_at_most() {
    let code = |body: &str| read(Target::Stock, body).unwrap_err().code;
    for body in ["", "{}", "null", "[", "[1,]", "\"x\"", "[\"\\ud800"] {
        assert_eq!(code(body), "invalid_json", "{body}");
    }
    assert_eq!(code(&format!("[{}]", vec!["1"; 1_001].join(","))), "too_many_rows");
    assert_eq!(
        read(Target::Stock, &format!("[{}]", vec!["1"; 1_000].join(","))).unwrap_err().faults.len(),
        1_000
    );
    assert!(read(Target::Stock, " [] ").unwrap().names.is_empty());
}

#[test]
fn the_data_of_a_command_stay_as_they_were_sent() {
    let body = r#"[{"store": "minha-loja", "kind": "stock.adjust", "key": "A", "data": {"delta": 1.10}}]"#;
    let Rows { batch: Batch::Commands(rows), names } = read(Target::Commands, body).unwrap() else {
        panic!("they are commands")
    };
    assert_eq!(rows[0].data.as_deref(), Some(r#"{"delta": 1.10}"#));
    assert_eq!(names[0], json!({"store": "minha-loja", "kind": "stock.adjust", "key": "A"}));
}
