//! Listings that could join campaigns, for the store's opt-in policy.

use espelho_model::StoreKey;
use rust_decimal::Decimal;

use crate::{
    Error, Lease,
    driver::{Row, Value},
    intents::Commands,
};

pub(crate) const JOINABLE: &str = "SELECT l.campaign_id, l.item_id, CAST(l.price AS TEXT) AS price, CAST(l.discount_preview AS \
    TEXT) AS preview, \
    g.category_id FROM campaign_listings l \
    JOIN campaigns c ON c.store = l.store AND c.id = l.campaign_id AND c.gone_at IS NULL \
    LEFT JOIN listings g ON g.store = l.store AND g.id = l.item_id \
    WHERE l.store = $1 AND l.gone_at IS NULL AND NOT l.enrolled AND COALESCE(c.status, '') NOT IN ('finished', \
    'cancelled') \
    AND (c.opt_in_deadline IS NULL OR c.opt_in_deadline > $2) ORDER BY l.campaign_id, l.item_id";
pub(crate) const ASKED: &str = "SELECT key, COALESCE(CAST(data AS TEXT), '') FROM commands \
    WHERE store = $1 AND kind = 'campaign.opt_in'";
pub(crate) const BY_POLICY: &str = "INSERT INTO commands (store, kind, key, data, updated_at) \
    VALUES ($1, 'campaign.opt_in', $2, $3, $4) RETURNING id";
/// Holds the command: every command begins as a new one, and its number is known only after the insert.
pub(crate) const HELD_BY_POLICY: &str = "UPDATE commands SET state = 'held', error_code = $1, error = $2, \
    hint = replace($3, '{id}', CAST(id AS TEXT)) WHERE id = $4";
/// The price of a listing at its opt-in: in this campaign, or else in the campaign mirrored last.
pub(crate) const JOINED: &str = "INSERT INTO campaign_prices (store, campaign_id, item_id, price, preview, joined_at) \
    SELECT store, CAST($3 AS TEXT), item_id, price, CASE WHEN campaign_id = $3 THEN discount_preview END, $1 FROM \
    campaign_listings \
    WHERE store = $2 AND item_id = $4 AND price IS NOT NULL AND gone_at IS NULL \
    ORDER BY CASE WHEN campaign_id = $3 THEN 0 ELSE 1 END, mirrored_at DESC LIMIT 1 \
    ON CONFLICT (store, campaign_id, item_id) DO UPDATE SET price = excluded.price, preview = excluded.preview, \
    joined_at = excluded.joined_at";

/// A listing that could join a campaign.
#[derive(Clone, Debug, PartialEq)]
pub struct CampaignCandidate {
    /// The campaign's id.
    pub campaign: String,
    /// The listing's `item_id`.
    pub item: String,
    /// Its price.
    pub price: Option<Decimal>,
    /// Its price in the campaign.
    pub preview: Option<Decimal>,
    /// Its category, if the mirror has it.
    pub category: Option<String>,
}

impl Commands<'_> {
    /// The listings that can still join a campaign.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn joinable_listings(self, store: &StoreKey) -> Result<Vec<CampaignCandidate>, Error> {
        let values: Vec<Value> = vec![store.as_str().into(), self.clock.now().into()];
        let rows = self.database.fetch("read joinable listings", JOINABLE, values).await?;
        let joinable = |row: &Row| {
            Ok(CampaignCandidate {
                campaign: row.text("campaign_id")?,
                item: row.text("item_id")?,
                price: row.optional_decimal("price")?,
                preview: row.optional_decimal("preview")?,
                category: row.optional_text("category_id")?,
            })
        };
        rows.iter().map(joinable).collect()
    }

    /// Key and data of all opt-in commands, finished ones too.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn asked_to_join(self, store: &StoreKey) -> Result<Vec<(String, String)>, Error> {
        let rows =
            self.database.fetch_erp("read commands to join", ASKED, vec![store.as_str().into()]).await?;
        rows.iter().map(|row| Ok((row.text(0)?, row.text(1)?))).collect()
    }

    /// Writes an opt-in command; `held` makes it a held one with these words, in which `{id}` stands for its number.
    ///
    /// # Errors
    /// [`Error::LeaseLost`] when another instance has taken the store; when the database does not answer.
    pub async fn command_by_policy(
        self,
        lease: &Lease,
        campaign: &str,
        data: String,
        held: Option<[&str; 3]>,
    ) -> Result<(), Error> {
        let values: Vec<Value> = vec![
            lease.store().as_str().into(),
            campaign.into(),
            Value::Json(Some(data)),
            self.clock.now().into(),
        ];
        let mut tx = self.database.begin().await?;
        lease.check(self.clock.now(), &mut tx).await?;
        let rows = tx.fetch("give a command by policy", BY_POLICY.to_owned(), values).await?;
        let id = rows.first().map_or(Ok(0), |row| row.int(0))?;
        if let Some([code, error, hint]) = held {
            let words: Vec<Value> = vec![code.into(), error.into(), hint.into(), id.into()];
            tx.execute("hold a command by policy", HELD_BY_POLICY, words).await?;
        }
        tx.commit().await
    }

    /// Records the price of listings before they join a campaign: afterwards the marketplace does not show it any
    /// more.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn note_campaign_prices(
        self,
        store: &StoreKey,
        campaign: &str,
        listings: &[&str],
    ) -> Result<(), Error> {
        let now = self.clock.now();
        let mut tx = self.database.begin().await?;
        for listing in listings {
            let values: Vec<Value> =
                vec![now.into(), store.as_str().into(), campaign.into(), (*listing).into()];
            tx.execute("keep a listing's price", JOINED, values).await?;
        }
        tx.commit().await
    }
}
