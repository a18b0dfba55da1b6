//! The company behind a store, as the session and the public page show it.

use crate::json::Json;

/// The code of a store in the portal.
pub(crate) fn code(store: u64) -> String {
    format!("LJ{store:05}")
}

/// The company behind a store, by the identifier and the name of the store.
pub(crate) fn write_company(json: &mut Json, id: u64, name: &str) {
    json.open_object();
    json.key("tax_id").raw_text(&tax_id(id));
    json.key("legal_name").text(&format!("{name} Comércio Ltda."));
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
