//! The mirrored tables that share one set of write functions, so that one set of tests can go through them.

use espelho_model::{CampaignId, sync::Counts};
use espelho_store::{Lease, LeaseTx};

use crate::{
    examples::time,
    specimens::{
        benefit, campaign, commission, conversation, eligible, enrolled, event, financial, image, invoice,
        label, listing, message, occurrence, order_number, price_list, shipment, split,
    },
    tables::Line,
    world::World,
};

/// A kind of row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    pub(crate) table: &'static str,
    pub(crate) entity: &'static str,
    /// The id's column.
    pub(crate) id: &'static str,
    /// The prefix of the id in the feed.
    pub(crate) parent: &'static str,
    /// The column with a specimen's text.
    pub(crate) said: &'static str,
    /// Whether a write replaces all rows, so that the others are gone.
    pub(crate) whole: bool,
}

const fn kind(
    [table, entity, id]: [&'static str; 3],
    parent: &'static str,
    said: &'static str,
    whole: bool,
) -> Kind {
    Kind { table, entity, id, parent, said, whole }
}

/// Every kind but the store's profile, which has one row.
pub(crate) const KINDS: [Kind; 15] = [
    kind(["order_invoices", "order_invoice", "id"], "N-1/", "status", true),
    kind(["order_events", "order_event", "id"], "N-1/", "description", true),
    kind(["order_benefits", "order_benefit", "id"], "N-1/", "name", true),
    kind(["order_splits", "order_split", "id"], "N-1/", "name", true),
    kind(["order_commissions", "order_commission", "line_id"], "N-1/", "product_id", true),
    kind(["shipments", "shipment", "id"], "N-1/", "tracking_code", true),
    kind(["shipment_labels", "shipment_label", "id"], "N-1/", "source", true),
    kind(["campaigns", "campaign", "id"], "", "name", false),
    kind(["campaign_listings", "campaign_listing", "item_id"], "7/", "title", true),
    kind(["price_lists", "price_list", "id"], "", "name", false),
    kind(["media_images", "media_image", "id"], "", "original_source", false),
    kind(["listings", "listing", "id"], "", "title", false),
    kind(["occurrences", "occurrence", "id"], "", "title", false),
    kind(["conversations", "conversation", "id"], "", "type", false),
    kind(["conversation_messages", "conversation_message", "id"], "C/", "body", false),
];

impl Kind {
    /// Writes rows with these texts.
    pub(crate) async fn write(self, tx: &mut LeaseTx<'_>, ids: &[&str], said: &str) -> Counts {
        macro_rules! all {
            ($make:ident) => {
                ids.iter().map(|id| $make(id, said)).collect()
            };
        }
        let order = order_number();
        let counts = match self.table {
            "order_invoices" => tx.mirror().write_invoices(&order, all!(invoice)).await,
            "order_events" => tx.mirror().write_order_events(&order, all!(event)).await,
            "order_benefits" => {
                tx.mirror().write_financial(&order, financial(vec![], all!(benefit), vec![])).await
            }
            "order_splits" => {
                tx.mirror().write_financial(&order, financial(all!(split), vec![], vec![])).await
            }
            "order_commissions" => {
                tx.mirror().write_financial(&order, financial(vec![], vec![], all!(commission))).await
            }
            "shipments" => tx.mirror().write_shipments(&order, all!(shipment)).await,
            "shipment_labels" => {
                let mut of = shipment("S", "the same");
                of.labels = all!(label);
                tx.mirror().write_shipments(&order, vec![of]).await
            }
            "campaigns" => {
                let campaigns = ids.iter().map(|id| campaign(id.parse().unwrap(), said));
                tx.mirror().write_campaigns(campaigns.collect()).await
            }
            "campaign_listings" => {
                let (campaign, eligible, enrolled) = (CampaignId::new(7), all!(eligible), all!(enrolled));
                tx.mirror().write_campaign_listings(campaign, eligible, enrolled, true).await
            }
            "price_lists" => tx.mirror().write_price_lists(all!(price_list)).await,
            "media_images" => tx.mirror().write_media_images(all!(image)).await,
            "listings" => tx.mirror().write_listings(all!(listing), time("2026-11-27T06:00:00Z")).await,
            "occurrences" => tx.mirror().write_occurrences(all!(occurrence)).await,
            "conversations" => tx.mirror().write_conversations(all!(conversation)).await,
            "conversation_messages" => tx.mirror().write_messages(all!(message)).await,
            other => panic!("{other} is not written by itself"),
        };
        counts.unwrap()
    }

    /// Writes rows in a transaction of their own.
    pub(crate) async fn keep(self, world: &World, lease: &Lease, ids: &[&str], said: &str) -> Counts {
        let mut tx = world.store.begin(lease).await.unwrap();
        let counts = self.write(&mut tx, ids, said).await;
        tx.commit().await.unwrap();
        counts
    }

    /// The rows, by id.
    pub(crate) async fn rows(self, world: &World) -> Vec<Line> {
        let mut rows = world.tables.all(self.table).await;
        rows.sort_by_key(|row| row.get(self.id).map(str::to_owned));
        rows
    }

    /// Ids and texts of the live rows.
    pub(crate) async fn live(self, world: &World) -> Vec<[String; 2]> {
        let rows = self.rows(world).await.into_iter().filter(|row| row.get("gone_at").is_none());
        rows.map(|row| [self.id, self.said].map(|column| row.get(column).unwrap().to_owned())).collect()
    }

    /// The feed's entries of this kind after a number, as `key op`.
    pub(crate) async fn told(self, world: &World, after: i64) -> Vec<String> {
        let changes = world.store.changes().changes_after(after, 100_000).await.unwrap();
        let mine = changes.into_iter().filter(|change| change.entity == self.entity);
        mine.map(|change| format!("{} {}", change.key, change.op.as_str())).collect()
    }
}

/// The last number of the feed.
pub(crate) async fn newest(world: &World) -> i64 {
    world.store.changes().feed_bounds().await.unwrap().map_or(0, |(_, newest)| newest)
}
