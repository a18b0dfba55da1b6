//! The tables of the mirror that one set of functions writes, so that one set of tests can go through them.

use espelho_model::{CampaignId, sync::Counts};
use espelho_store::{Lease, PageTx};

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
    /// The column that tells rows of one parent apart.
    pub(crate) id: &'static str,
    /// What the feed puts before the id.
    pub(crate) parent: &'static str,
    /// The column that holds what a specimen says.
    pub(crate) said: &'static str,
    /// Whether a write names all there are, so that the others are gone.
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

/// Every kind but the store's profile, of which there is one.
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
    /// Writes rows that say something.
    pub(crate) async fn write(self, tx: &mut PageTx<'_>, ids: &[&str], said: &str) -> Counts {
        macro_rules! all {
            ($make:ident) => {
                ids.iter().map(|id| $make(id, said)).collect()
            };
        }
        let order = order_number();
        let counts = match self.table {
            "order_invoices" => tx.write_invoices(&order, all!(invoice)).await,
            "order_events" => tx.write_order_events(&order, all!(event)).await,
            "order_benefits" => tx.write_financial(&order, financial(vec![], all!(benefit), vec![])).await,
            "order_splits" => tx.write_financial(&order, financial(all!(split), vec![], vec![])).await,
            "order_commissions" => {
                tx.write_financial(&order, financial(vec![], vec![], all!(commission))).await
            }
            "shipments" => tx.write_shipments(&order, all!(shipment)).await,
            "shipment_labels" => {
                let mut of = shipment("S", "the same");
                of.labels = all!(label);
                tx.write_shipments(&order, vec![of]).await
            }
            "campaigns" => {
                let campaigns = ids.iter().map(|id| campaign(id.parse().unwrap(), said));
                tx.write_campaigns(campaigns.collect()).await
            }
            "campaign_listings" => {
                tx.write_campaign_listings(CampaignId::new(7), all!(eligible), all!(enrolled)).await
            }
            "price_lists" => tx.write_price_lists(all!(price_list)).await,
            "media_images" => tx.write_media_images(all!(image)).await,
            "listings" => tx.write_listings(all!(listing), time("2026-11-27T06:00:00Z")).await,
            "occurrences" => tx.write_occurrences(all!(occurrence)).await,
            "conversations" => tx.write_conversations(all!(conversation)).await,
            "conversation_messages" => tx.write_messages(all!(message)).await,
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

    /// Ids and what they say, of rows that are not gone.
    pub(crate) async fn live(self, world: &World) -> Vec<[String; 2]> {
        let rows = self.rows(world).await.into_iter().filter(|row| row.get("gone_at").is_none());
        rows.map(|row| [self.id, self.said].map(|column| row.get(column).unwrap().to_owned())).collect()
    }

    /// What the feed has told of this kind, as `key op`, since a number.
    pub(crate) async fn told(self, world: &World, after: i64) -> Vec<String> {
        let changes = world.store.changes_after(after, 100_000).await.unwrap();
        let mine = changes.into_iter().filter(|change| change.entity == self.entity);
        mine.map(|change| format!("{} {}", change.key, change.op.as_str())).collect()
    }
}

/// The last number of the feed.
pub(crate) async fn newest(world: &World) -> i64 {
    world.store.feed_bounds().await.unwrap().map_or(0, |(_, newest)| newest)
}
