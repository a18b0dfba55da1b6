//! The codes (`item_id`) of the listings that products have of their own.

/// Digits of a listing code that name the product; the rest names the store.
const PRODUCTS_PER_STORE: u64 = 1_000_000;

/// The listing code (`item_id`) of a product: prefix and 13 digits.
pub(crate) fn code_of(store: u64, product: u32) -> String {
    format!("ANU-{:013}", 1_000_000_000_000 + store * PRODUCTS_PER_STORE + u64::from(product))
}

/// The product of a listing code, if it is one of the store.
pub(crate) fn product_of(store: u64, code: &str) -> Option<u32> {
    let digits = code.strip_prefix("ANU-").filter(|digits| digits.len() == 13)?;
    let number = digits.parse::<u64>().ok()?.checked_sub(1_000_000_000_000)?;
    let product = u32::try_from(number % PRODUCTS_PER_STORE).ok()?;
    (number / PRODUCTS_PER_STORE == store).then_some(product)
}
