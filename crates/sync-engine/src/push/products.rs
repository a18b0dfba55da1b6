//! Products: reads one into the mirror, and finds one by its SKU.

use std::time::Duration;

use espelho_api_client::{Client, resources::products::ProductDetail};
use espelho_model::{ProductId, push::CommandKind, sync::Resource, text};

use crate::{
    Error, StoreContext,
    live::write_if_changed,
    plan::push::{Message, Verdict},
    pull::{ProductsPull, Pull as _},
};

/// The wait of a row whose SKU may still come.
const UNKNOWN_SKU_RECHECK_INTERVAL: Duration = Duration::from_secs(5);

/// The wait of a row whose SKU two products share: a person, or a reading that misses one of them, ends that.
const SHARED_SKU_RECHECK_INTERVAL: Duration = Duration::from_secs(60);

/// Reads products, and mirrors what it reads.
pub(crate) struct Products<'c> {
    context: &'c StoreContext,
    client: Client,
}

impl<'c> Products<'c> {
    /// Creates the reader of a store's products.
    pub(super) fn new(context: &'c StoreContext, client: Client) -> Self {
        Self { context, client }
    }

    /// Reads a product and mirrors it, so that everybody sees the state after a push.
    pub(super) async fn read(&self, id: &ProductId) -> Result<ProductDetail, Error> {
        let (store, key) = (&self.context.store, &self.context.key);
        let row = || store.mirror().known(key, Resource::Products, vec![id.as_str().to_owned()]);
        let known = row().await?.get(id.as_str()).copied();
        let locations = store.mirror().location_names(key).await?;
        let pull = ProductsPull::new(self.client.clone(), locations, self.context.page_parameter.clone());
        let fetched = pull.detail(id.as_str()).await?;
        let detail = fetched.detail.clone();
        let _writing = self.context.writing.lock().await;
        let now = row().await?.get(id.as_str()).copied();
        // Another task has mirrored a later reading: that one stays.
        if now.map(|known| known.content_hash) == known.map(|known| known.content_hash) {
            let mut tx = store.begin(&self.context.lease).await?;
            write_if_changed::<ProductsPull>(&mut tx, id.as_str(), known, fetched, None, None).await?;
            tx.staleness().note_products_read(vec![id.clone()]).await?;
            tx.commit().await?;
            self.context.note_product(known.as_ref());
        }
        Ok(detail)
    }

    /// Mirrors a product after an effect of ours. The effect is done, whatever the reading returns.
    pub(super) async fn refresh(&self, id: &ProductId) -> Result<(), Error> {
        match self.read(id).await {
            Err(Error::Api(error)) if !(error.is_authentication() || error.is_not_ours()) => {
                tracing::info!(store = %self.context.key, product = %id, %error, "product not read after its change; will be read later");
                Ok(())
            }
            read => read.map(drop),
        }
    }

    /// Returns the only product with a SKU, as far as the mirror knows.
    pub(super) async fn by_sku(&self, sku: &str) -> Result<Option<ProductId>, Error> {
        let mut products = self.of_sku(sku).await?;
        Ok(if products.len() == 1 { products.pop() } else { None })
    }

    /// Says whether the mirror has a product with a SKU.
    pub(super) async fn has_sku(&self, sku: &str) -> Result<bool, Error> {
        Ok(!self.of_sku(sku).await?.is_empty())
    }

    /// Returns the verdict for a SKU that more than one product has: nobody knows which of them the ERP means.
    pub(super) async fn shared_sku(&self, sku: &str) -> Result<Option<Verdict>, Error> {
        let verdict = |message| Verdict::Waiting(message, SHARED_SKU_RECHECK_INTERVAL);
        Ok(shared(sku, &self.of_sku(sku).await?).map(verdict))
    }

    async fn of_sku(&self, sku: &str) -> Result<Vec<ProductId>, Error> {
        Ok(self.context.store.lookups().products_by_sku(&self.context.key, sku.trim()).await?)
    }

    /// Says whether the mirror has all products: a SKU that it does not know is then unknown.
    pub(super) async fn are_all_mirrored(&self) -> Result<bool, Error> {
        Ok(self.context.store.runs().has_all_products(&self.context.key).await?)
    }

    /// Returns what to say of an unknown SKU where the mirror has all products; nothing while a product with it is
    /// being created.
    pub(super) async fn never_comes(&self, sku: &str) -> Result<Option<Message>, Error> {
        let (store, key) = (&self.context.store, &self.context.key);
        let is_coming = store.commands().is_commanded(key, CommandKind::ProductCreate.as_str(), sku).await?;
        Ok((!is_coming).then(|| unknown(sku)))
    }

    /// Returns the verdict for a SKU that names no product alone: it may come with the first reconciliation, or with a
    /// product that is being created, or two products have it.
    pub(super) async fn unknown_sku(&self, sku: &str) -> Result<Verdict, Error> {
        if let Some(verdict) = self.shared_sku(sku).await? {
            return Ok(verdict);
        }
        let never = match self.are_all_mirrored().await? {
            true => self.never_comes(sku).await?,
            false => None,
        };
        let wait = || Verdict::Waiting(awaited(sku), UNKNOWN_SKU_RECHECK_INTERVAL);
        Ok(never.map_or_else(wait, Verdict::Failed))
    }

    /// Returns the same verdict in the words for a command, which does not go again by itself once it fails.
    pub(super) async fn unknown_sku_of_command(&self, sku: &str) -> Result<Verdict, Error> {
        Ok(in_words_for_a_command(self.unknown_sku(sku).await?, sku))
    }
}

/// Returns what a row waits for whose SKU these products share.
pub(super) fn shared(sku: &str, products: &[ProductId]) -> Option<Message> {
    let [one, other, ..] = products else { return None };
    let text = text!("push-shared-sku", sku = sku, one = one.as_str(), other = other.as_str());
    Some(Message::new("shared_sku", text))
}

fn unknown(sku: &str) -> Message {
    Message::new("unknown_sku", text!("push-unknown-sku", sku = sku))
}

/// Returns what a row waits for that goes on by itself, whatever kind it is of.
fn awaited(sku: &str) -> Message {
    Message::new("unknown_sku", text!("push-sku-awaited", sku = sku))
}

fn in_words_for_a_command(verdict: Verdict, sku: &str) -> Verdict {
    match verdict {
        Verdict::Failed(_) => {
            Verdict::Failed(Message::new("unknown_sku", text!("push-unknown-sku-command", sku = sku)))
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use espelho_model::text::{Language, Locale};

    use super::*;

    #[test]
    fn a_sku_of_two_products_names_both_and_a_sku_of_one_is_not_shared() {
        let products = ["01P", "02P"].map(ProductId::new);
        assert!(shared("CAN-01", &[]).is_none() && shared("CAN-01", &products[..1]).is_none());
        let message = shared("CAN-01", &products).unwrap();
        assert_eq!(message.code, "shared_sku");
        for locale in Language::ALL.map(Locale::of) {
            let words = message.text.message(locale);
            assert!(["CAN-01", "01P", "02P"].iter().all(|part| words.contains(part)), "{words}");
        }
    }

    #[test]
    fn a_row_with_an_unknown_sku_is_corrected_a_command_is_tried_again_and_one_that_waits_goes_by_itself() {
        let row = || Verdict::Failed(unknown("CAN-01"));
        let waits = || Verdict::Waiting(awaited("CAN-01"), UNKNOWN_SKU_RECHECK_INTERVAL);
        for (verdict, says_retry, says_table) in [
            (row(), false, true),
            (in_words_for_a_command(row(), "CAN-01"), true, false),
            (waits(), false, false),
            (in_words_for_a_command(waits(), "CAN-01"), false, false),
        ] {
            let (Verdict::Failed(message) | Verdict::Waiting(message, _)) = verdict else {
                panic!("{says_retry}")
            };
            assert_eq!(message.code, "unknown_sku");
            for locale in Language::ALL.map(Locale::of) {
                let next = message.text.next(locale).unwrap();
                assert_eq!(next.contains("espelho retry"), says_retry, "{next}");
                assert_eq!(next.contains("erp_stock"), says_table, "{next}");
            }
        }
    }
}
