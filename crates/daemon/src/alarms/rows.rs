//! Rows that need attention, as the alarms read them.

use espelho_model::{ProductId, next_step::PRICE_ZERO, text, text::Text};
use espelho_store::{RowsInTrouble, SharedSkus, ZeroPrices};
use espelho_sync_engine::plan::alarms::{RowState, Rows};

/// Returns rows in trouble of one table, state and cause.
pub(super) fn rows_of(rows: &RowsInTrouble) -> Option<Rows> {
    let state = match rows.state.as_str() {
        "failed" => RowState::Failed,
        "done" => RowState::Noted,
        "held" => RowState::Held,
        "doubtful" => RowState::Doubtful,
        "waiting" => RowState::Waiting,
        _ => return None,
    };
    let kept = rows.message.as_deref().and_then(|message| serde_json::from_str::<Text>(message).ok());
    let words = match kept.filter(Text::is_known) {
        Some(kept) => kept,
        // Such a row has no column for an answer.
        None if rows.entity == "order" && rows.code == "unknown_store" => {
            text!("store-taken-unknown-store", store = rows.store.as_str())
        }
        None => text!("raw", error = rows.error.as_str(), hint = rows.hint.as_str()),
    };
    Some(Rows {
        state,
        code: rows.code.clone(),
        count: rows.rows,
        since: rows.since,
        example: format!("{} {}", rows.entity, rows.key),
        words,
    })
}

/// Returns the products that share a SKU, as rows that failed: each of them is one of `v_errors`.
pub(super) fn sharing_rows(shared: &SharedSkus) -> Rows {
    let [one, other] = shared.products.each_ref().map(ProductId::as_str);
    Rows {
        state: RowState::Failed,
        code: "shared_sku".to_owned(),
        count: shared.rows,
        since: shared.since,
        example: format!("products {one}"),
        words: text!("run-shared-sku", sku = shared.sku.as_str(), one = one, other = other),
    }
}

/// Returns the tiers that the mirror shows at zero, as rows that failed: each of them is one of `v_errors`.
pub(super) fn zero_rows(zeroes: &ZeroPrices) -> Rows {
    Rows {
        state: RowState::Failed,
        code: PRICE_ZERO.to_owned(),
        count: zeroes.tiers,
        since: zeroes.since,
        example: format!("price {}", zeroes.key),
        words: text!("store-price-zero"),
    }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use espelho_model::text::{Language, Locale};

    use super::*;

    #[test]
    fn products_that_share_a_sku_are_one_cause_that_names_two_of_them() {
        let rows = sharing_rows(&SharedSkus {
            sku: "CAN-01".into(),
            products: ["01P", "02P"].map(ProductId::new),
            rows: 5,
            since: Some(DateTime::UNIX_EPOCH),
        });
        assert_eq!((rows.state, rows.code.as_str(), rows.count), (RowState::Failed, "shared_sku", 5));
        assert_eq!(rows.example, "products 01P");
        for locale in Language::ALL.map(Locale::of) {
            let words = rows.words.message(locale);
            assert!(["CAN-01", "01P", "02P"].iter().all(|part| words.contains(part)), "{words}");
        }
    }

    // withstands: F013
    #[test]
    fn prices_of_zero_are_rows_that_failed_with_the_next_step_of_their_words() {
        let rows = zero_rows(&ZeroPrices { tiers: 2, since: None, key: "CAN-01/10".to_owned() });
        assert_eq!((rows.state, rows.code.as_str(), rows.count), (RowState::Failed, "price_zero", 2));
        assert_eq!(rows.example, "price CAN-01/10");
        for locale in Language::ALL.map(Locale::of) {
            assert!(rows.words.next(locale).is_some_and(|next| next.contains("erp_prices")));
        }
    }
}
