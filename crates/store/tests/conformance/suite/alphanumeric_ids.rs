//! Tax numbers and access keys with letters (Brazil, since July 2026) are text, to the last character.

use std::collections::BTreeMap;

use espelho_model::fiscal::FiscalDocument;

use crate::{
    specimens::{invoice, order_number, session},
    world::World,
};

const KEYS: u64 = 10_000;

/// A text of letters and digits that looks random; some are digits alone, and some look like a number with an exponent.
fn key(number: u64, length: usize) -> String {
    let mut state = number.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1);
    let mut next = |kinds: &[u8]| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        kinds[(state % kinds.len() as u64) as usize] as char
    };
    let (digits, all) = (b"0123456789", b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ");
    match number % 4 {
        0 => (0..length).map(|_| next(digits)).collect(),
        1 => (0..length).map(|at| if at == 2 { 'E' } else { next(digits) }).collect(),
        2 => (0..length).map(|at| if at < length / 2 { '0' } else { next(all) }).collect(),
        _ => (0..length).map(|_| next(all)).collect(),
    }
}

// withstands: F153
pub(crate) async fn ten_thousand_access_keys_with_letters_come_back_unchanged(world: &World) {
    let lease = world.lease().await;
    let expected: BTreeMap<String, String> = (0..KEYS).map(|n| (format!("{n:05}"), key(n, 44))).collect();
    let documents: Vec<FiscalDocument> = expected
        .iter()
        .map(|(id, key)| FiscalDocument { access_key: Some(key.clone()), ..invoice(id, "issued") })
        .collect();
    let mut tx = world.store.begin(&lease).await.unwrap();
    tx.mirror().write_invoices(&order_number(), documents).await.unwrap();
    tx.commit().await.unwrap();
    let rows = world.tables.texts("SELECT id, access_key FROM order_invoices").await;
    let kept: BTreeMap<String, String> =
        rows.into_iter().map(|mut row| (row.remove(0).unwrap(), row.remove(0).unwrap())).collect();
    assert!(kept == expected);
}

// withstands: F153
pub(crate) async fn a_cnpj_with_letters_comes_back_unchanged(world: &World) {
    let lease = world.lease().await;
    for number in 0..40 {
        let cnpj = key(number, 14);
        let mut told = session(Some("55"), "Minha Loja");
        told.company.as_mut().unwrap().tax_id = Some(cnpj.clone());
        let mut tx = world.store.begin(&lease).await.unwrap();
        tx.mirror().write_profile(told, None).await.unwrap();
        tx.commit().await.unwrap();
        assert_eq!(world.tables.list("SELECT tax_id FROM store_profiles").await, [cnpj]);
    }
}
