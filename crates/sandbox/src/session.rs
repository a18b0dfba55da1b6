//! GET `/api/stores/auth/session`.

use crate::{
    answer::{Answer, Refusal},
    call::Call,
    json::Json,
    route::Route,
    store::Store,
};

/// The routes of this area.
pub(crate) const ROUTES: &[Route] = &[Route::get("/api/stores/auth/session", show)];

/// Who the token speaks for.
fn show(call: &Call) -> Result<Answer, Refusal> {
    let store = call.store()?;
    Ok(Answer::success(false, |json| {
        json.open_object();
        json.key("id").id(store.id);
        json.key("name").text(&store.name);
        json.key("code").raw_text(&code(store));
        json.key("status").raw_text("active");
        json.key("type").raw_text("seller");
        json.key("limits").raw(r#"{"products":100000,"users":20}"#);
        json.key("features").open_array();
        for feature in store.features().iter() {
            json.text(feature);
        }
        json.close_array();
        write_company(json.key("company"), store);
        json.key("auth_type").raw_text("integration_token");
        json.close_object();
    }))
}

/// The code of a store in the portal.
pub(crate) fn code(store: &Store) -> String {
    format!("LJ{:05}", store.id)
}

/// The company behind a store.
pub(crate) fn write_company(json: &mut Json, store: &Store) {
    json.open_object();
    json.key("tax_id").raw_text(&tax_id(store.id));
    json.key("legal_name").text(&format!("{} Comércio Ltda.", store.name));
    json.key("tax_regime").raw_text("simples_nacional");
    json.close_object();
}

/// A CNPJ with valid check digits, so that an ERP that checks them accepts it.
fn tax_id(id: u64) -> String {
    let mut digits: Vec<u64> = format!("{:08}0001", 10_000_000 + id % 80_000_000)
        .bytes()
        .map(|byte| u64::from(byte - b'0'))
        .collect();
    for _ in 0..2 {
        let weighted = digits.iter().rev().zip((2..=9).cycle()).map(|(digit, weight)| digit * weight);
        let rest = weighted.sum::<u64>() % 11;
        digits.push(if rest < 2 { 0 } else { 11 - rest });
    }
    digits.iter().map(u64::to_string).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_check_digits_of_a_tax_id_are_right() {
        // 11.222.333/0001-81 is the usual example of a valid CNPJ.
        assert_eq!(super::tax_id(1_222_333), "11222333000181");
    }
}
