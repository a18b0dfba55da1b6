//! Campaigns with the listings in them, and the store's images: read whole, because nothing tells of their changes.

use std::collections::HashSet;

use espelho_api_client::{
    Error as ApiError, RowPage,
    resources::{
        campaigns::EligibleQuery,
        media::{MediaPerPage, MediaQuery},
        paging::Paging,
    },
};
use espelho_model::{CampaignId, MediaId, campaign::Campaign};
use espelho_store::{Error as StoreError, Listed};
use futures_util::{FutureExt as _, future::BoxFuture};

use super::{
    Live,
    profile::is_final,
    whole::{Whole, all},
};
use crate::Problem;

impl Live<'_> {
    /// Mirrors the campaigns that have not ended, and what is or could be in each.
    pub(super) async fn look_at_campaigns(&self) -> Result<(), Problem> {
        let client = self.poll();
        let client = &client;
        let whole = self.all(|paging| client.campaign_calendar(paging).boxed()).await;
        let whole = match whole {
            Ok(whole) => whole,
            // A credential without the ability for it has no campaigns.
            Err(ApiError::Refused { status: 403 | 404, .. }) => return Ok(()),
            Err(error) => return Err(Problem::from_api(&error)),
        };
        let ids: Vec<CampaignId> = whole.rows.iter().map(|campaign| campaign.id).collect();
        self.write_campaigns(whole.rows, Vec::new()).await.map_err(|e| Problem::from_store(&e))?;
        for id in &ids {
            if self.is_stopping() {
                return Ok(());
            }
            self.look_into_campaign(*id).await?;
        }
        self.campaigns_read.notify_one();
        match whole.is_complete {
            true => self.look_at_ended_campaigns(&ids).await,
            false => Ok(()),
        }
    }

    async fn look_into_campaign(&self, id: CampaignId) -> Result<(), Problem> {
        let client = self.poll();
        let client = &client;
        let eligible = self.all(|paging| {
            async move { client.eligible_listings(id, &EligibleQuery { search: None, paging }).await }.boxed()
        });
        let (eligible, enrolled) = match eligible.await {
            Ok(eligible) => (eligible, self.all(|paging| client.enrolled_listings(id, paging).boxed()).await),
            Err(error) if is_final(&error) => return Ok(()),
            Err(error) => return Err(Problem::from_api(&error)),
        };
        let enrolled = match enrolled {
            Ok(enrolled) => enrolled,
            Err(error) if is_final(&error) => return Ok(()),
            Err(error) => return Err(Problem::from_api(&error)),
        };
        if !eligible.is_complete || !enrolled.is_complete {
            return Ok(());
        }
        let written = async {
            let mut tx = self.context.store.begin(&self.context.lease).await?;
            tx.write_campaign_listings(id, eligible.rows, enrolled.rows).await?;
            tx.commit().await
        };
        written.await.map_err(|e| Problem::from_store(&e))
    }

    /// The calendar leaves out what has ended. Each campaign that it no longer has is asked for once: it is over, or gone.
    async fn look_at_ended_campaigns(&self, listed: &[CampaignId]) -> Result<(), Problem> {
        let listed: HashSet<String> = listed.iter().map(ToString::to_string).collect();
        let (mut ended, mut gone) = (Vec::new(), Vec::new());
        for id in self.live_ids(Listed::Campaigns).await? {
            let is_settled = listed.contains(&id) || self.known().ended_campaigns.contains(&id);
            let Some(number) = CampaignId::parse(&id).filter(|_| !is_settled) else { continue };
            match self.poll().campaign(number).await {
                Ok(read) => {
                    self.known().ended_campaigns.insert(id);
                    ended.push(read.value);
                }
                Err(ApiError::Refused { status: 404 | 410, .. }) => gone.push(id),
                Err(error) if is_final(&error) => (),
                Err(error) => return Err(Problem::from_api(&error)),
            }
        }
        self.write_campaigns(ended, gone).await.map_err(|e| Problem::from_store(&e))
    }

    async fn write_campaigns(&self, campaigns: Vec<Campaign>, gone: Vec<String>) -> Result<(), StoreError> {
        let mut tx = self.context.store.begin(&self.context.lease).await?;
        tx.write_campaigns(campaigns).await?;
        tx.mark_listed_gone(Listed::Campaigns, gone).await?;
        tx.commit().await
    }

    /// Mirrors the store's images, and marks those that are neither listed nor answered for any more.
    pub(super) async fn look_at_media(&self) -> Result<(), Problem> {
        let client = self.poll();
        let client = &client;
        let whole = self.all(|paging: Paging| {
            let per_page = paging.per_page.and_then(|rows| MediaPerPage::new(rows).ok());
            let query = MediaQuery { per_page, page: Some(paging.page), ..MediaQuery::default() };
            async move { client.list_images(&query).await }.boxed()
        });
        let whole = match whole.await {
            Ok(whole) => whole,
            Err(ApiError::Refused { status: 403 | 404, .. }) => return Ok(()),
            Err(error) => return Err(Problem::from_api(&error)),
        };
        let listed: HashSet<String> = whole.rows.iter().map(|image| image.id.as_str().to_owned()).collect();
        let mut gone = Vec::new();
        if whole.is_complete {
            for id in self.live_ids(Listed::MediaImages).await? {
                if listed.contains(&id) {
                    continue;
                }
                match client.image(&MediaId::new(id.as_str())).await {
                    Err(ApiError::Refused { status: 404 | 410, .. }) => gone.push(id),
                    Err(error) if !is_final(&error) => return Err(Problem::from_api(&error)),
                    _ => (),
                }
            }
        }
        let written = async {
            let mut tx = self.context.store.begin(&self.context.lease).await?;
            tx.write_media_images(whole.rows).await?;
            tx.mark_listed_gone(Listed::MediaImages, gone).await?;
            tx.commit().await
        };
        written.await.map_err(|e| Problem::from_store(&e))
    }

    async fn live_ids(&self, listed: Listed) -> Result<Vec<String>, Problem> {
        let (mut ids, mut after) = (Vec::new(), String::new());
        loop {
            let batch = self.context.store.live_ids(&self.context.key, listed, &after).await;
            let batch = batch.map_err(|e| Problem::from_store(&e))?;
            let Some(last) = batch.last() else { return Ok(ids) };
            after.clone_from(last);
            ids.extend(batch);
        }
    }

    async fn all<'a, T: PartialEq + Send>(
        &self,
        page_of: impl Fn(Paging) -> BoxFuture<'a, Result<RowPage<T>, ApiError>>,
    ) -> Result<Whole<T>, ApiError> {
        all(&self.context.stop, page_of).await
    }
}
