//! Shows that two products have one SKU: their levels share rows of the mirror, and no intent for it can be sent.

use espelho_model::{sync::Resource, text, text::Locale};
use espelho_store::{Error as StoreError, Failure, PageTx};

use crate::report::failure;

/// Shows on both products that they share a SKU, where one of them was written. The store ends that by itself.
pub(crate) async fn note_shared_skus(
    tx: &mut PageTx<'_>,
    written: Vec<String>,
    locale: Locale,
) -> Result<(), StoreError> {
    let mut failures: Vec<Failure> = Vec::new();
    for shared in tx.mirror().shared_skus(written).await? {
        let [one, other] = &shared.products;
        let text =
            text!("run-shared-sku", sku = shared.sku.as_str(), one = one.as_str(), other = other.as_str());
        failures.extend(
            [one, other]
                .map(|product| failure(product.as_str().into(), "shared_sku".into(), text.clone(), locale)),
        );
    }
    tx.failures().note_failures(Resource::Products, &failures).await
}
