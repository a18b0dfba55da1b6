//! Reads what has no change events in full: campaigns with their listings, the store's images, and the store itself.
//! The live mirror's sweeps and one-shot runs share this code.

use std::collections::HashSet;

use espelho_api_client::{
    Class, Client, Error as ApiError, RowPage,
    resources::{
        campaigns::EligibleQuery,
        media::{MediaPerPage, MediaQuery},
        paging::Paging,
        store_page::is_closed,
    },
};
use espelho_model::{
    CampaignId, MediaId,
    campaign::Campaign,
    sync::{Counts, RunState, Target},
    text,
};
use espelho_store::{Error as StoreError, Listed};
use futures_util::{FutureExt as _, future::BoxFuture};

use crate::{
    Error, Position, ResourceReport, StoreContext,
    labels::{self, FetchedLabels},
    live::whole::{Whole, all},
    plan::gone::{LostListings, has_just_ended},
};

/// Reads a target in full and reports the result.
pub(crate) async fn read_whole(
    context: &StoreContext,
    client: &Client,
    target: Target,
    dry_run: bool,
    accept_gone: bool,
) -> ResourceReport {
    let mut report = ResourceReport::new(target);
    if dry_run {
        report.notes.push(text!("engine-not-in-dry-run"));
        return report;
    }
    context.progress.begin(&context.key, target, 0);
    let reader = WholeReader { context, client };
    let read = match target {
        Target::Campaigns => {
            let mut lost = LostListings::new(accept_gone);
            let read = reader.campaigns(&HashSet::new(), &mut lost).await.map(|read| read.counts);
            if lost.rows() > 0 {
                let store = context.key.as_str();
                report.notes.push(text!("run-note-listings-kept", rows = lost.rows(), store = store));
            }
            read
        }
        Target::MediaImages => reader.images().await,
        Target::Labels => reader.labels(&mut report).await,
        Target::Profile => {
            reader.profile().await.and_then(|read| read.map(|read| read.counts).map_err(Error::from))
        }
        // `reconcile` reads listings and sub-resources by other ways.
        Target::Listed(_)
        | Target::Shipments
        | Target::Tracking
        | Target::Invoices
        | Target::Events
        | Target::Financial => {
            report.state = RunState::Failed;
            context.progress.end(&context.key, target);
            return report;
        }
    };
    context.progress.end(&context.key, target);
    match read {
        Ok(counts) => {
            report.counts = counts;
            report.state = if counts.failed == 0 { RunState::Complete } else { RunState::Partial };
        }
        Err(problem) => (report.state, report.problem) = (RunState::Failed, Some(problem.into())),
    }
    report
}

/// Reads listings to their end.
pub(crate) struct WholeReader<'c> {
    pub(crate) context: &'c StoreContext,
    pub(crate) client: &'c Client,
}

/// The result of reading the campaigns.
#[derive(Default)]
pub(crate) struct CampaignsRead {
    pub(crate) counts: Counts,
    /// Campaigns that the calendar omits and that still answer: they have ended.
    pub(crate) ended: Vec<String>,
}

/// What the store reports about itself.
pub(crate) struct ProfileRead {
    pub(crate) counts: Counts,
    /// The store's id.
    pub(crate) id: Option<String>,
}

impl WholeReader<'_> {
    /// Mirrors the campaigns that have not ended, with their enrolled and eligible listings. Mirrors each ended
    /// campaign once more, except those in `settled`.
    pub(crate) async fn campaigns(
        &self,
        settled: &HashSet<String>,
        lost: &mut LostListings,
    ) -> Result<CampaignsRead, Error> {
        let client = self.client;
        let whole = match self.all(|paging| client.campaigns().calendar(paging).boxed()).await {
            Ok(whole) => whole,
            // A credential without this ability has no campaigns.
            Err(error) if is_withheld(&error) => return Ok(CampaignsRead::default()),
            Err(error) => return Err(error.into()),
        };
        let ids: Vec<CampaignId> = whole.rows.iter().map(|campaign| campaign.id).collect();
        let mut read = CampaignsRead::default();
        read.counts.add(self.write_campaigns(whole.rows, Vec::new()).await?);
        for (done, id) in ids.iter().enumerate() {
            if self.context.stop.is_cancelled() {
                return Ok(read);
            }
            read.counts.add(self.listings_of(*id, lost).await?);
            let position = Position::new(done as u64 + 1, Some(ids.len() as u64), 0, 0);
            self.context.progress.advance(&self.context.key, Target::Campaigns, position);
        }
        if whole.is_complete {
            self.ended_campaigns(&ids, settled, lost, &mut read).await?;
        }
        Ok(read)
    }

    async fn listings_of(&self, id: CampaignId, lost: &mut LostListings) -> Result<Counts, Error> {
        let client = self.client;
        let eligible = self.all(|paging| {
            async move {
                client.campaigns().eligible_listings(id, &EligibleQuery { search: None, paging }).await
            }
            .boxed()
        });
        let (eligible, enrolled) = match eligible.await {
            Ok(eligible) => {
                (eligible, self.all(|paging| client.campaigns().enrolled_listings(id, paging).boxed()).await)
            }
            Err(error) if is_final(&error) => return Ok(Counts::default()),
            Err(error) => return Err(error.into()),
        };
        let enrolled = match enrolled {
            Ok(enrolled) => enrolled,
            Err(error) if is_final(&error) => return Ok(Counts::default()),
            Err(error) => return Err(error.into()),
        };
        if !eligible.is_complete || !enrolled.is_complete {
            return Ok(Counts::default());
        }
        let written = async {
            let mut tx = self.context.store.begin(&self.context.lease).await?;
            tx.compare_columns();
            let missing = tx.mirror().missing_campaign_listings(id, &eligible.rows, &enrolled.rows).await?;
            let (rows, counts) = (missing.keys.len(), (missing.live, missing.listed));
            let are_gone = lost.are_gone(self.context.gone_guard, id, missing.keys, counts);
            if !are_gone {
                tracing::warn!(store = %self.context.key, campaign = %id, rows, "too many listings are missing; they stay until the next sweep misses them too");
            }
            let (eligible, enrolled) = (eligible.rows, enrolled.rows);
            let counts = tx.mirror().write_campaign_listings(id, eligible, enrolled, are_gone).await?;
            tx.commit().await?;
            Ok::<_, StoreError>(counts)
        };
        written.await.map_err(Error::from)
    }

    /// Requests each campaign that the calendar no longer lists once: it has ended, or is gone. What happened to its
    /// listings since the reading before its end is read with it, again while too many of them are missing.
    async fn ended_campaigns(
        &self,
        listed: &[CampaignId],
        settled: &HashSet<String>,
        lost: &mut LostListings,
        read: &mut CampaignsRead,
    ) -> Result<(), Error> {
        let listed: HashSet<String> = listed.iter().map(ToString::to_string).collect();
        let (mut ended, mut gone) = (Vec::new(), Vec::new());
        for id in self.live_ids(Listed::Campaigns).await? {
            let is_settled = listed.contains(&id) || settled.contains(&id);
            let Some(number) = CampaignId::parse(&id).filter(|_| !is_settled) else { continue };
            match self.client.campaigns().get(number).await {
                Ok(campaign) => {
                    let has_just_ended = has_just_ended(campaign.value.ends_at, self.context.clock.now());
                    if has_just_ended {
                        read.counts.add(self.listings_of(number, lost).await?);
                    }
                    if !has_just_ended || !lost.is_open(number) {
                        read.ended.push(id);
                    }
                    ended.push(campaign.value);
                }
                Err(error) if error.is_absent() => gone.push(id),
                Err(error) if is_final(&error) => (),
                Err(error) => return Err(error.into()),
            }
        }
        read.counts.add(self.write_campaigns(ended, gone).await?);
        Ok(())
    }

    async fn write_campaigns(&self, campaigns: Vec<Campaign>, gone: Vec<String>) -> Result<Counts, Error> {
        let written = async {
            let mut tx = self.context.store.begin(&self.context.lease).await?;
            tx.compare_columns();
            let mut counts = tx.mirror().write_campaigns(campaigns).await?;
            counts.gone += tx.mirror().mark_listed_gone(Listed::Campaigns, gone).await?;
            tx.commit().await?;
            Ok::<_, StoreError>(counts)
        };
        written.await.map_err(Error::from)
    }

    /// Mirrors the store's images. Marks those gone that are no longer listed and no longer answer.
    pub(crate) async fn images(&self) -> Result<Counts, Error> {
        let client = self.client;
        let whole = self.all(|paging: Paging| {
            let per_page = paging.per_page.and_then(|rows| MediaPerPage::new(rows).ok());
            let query = MediaQuery { per_page, page: Some(paging.page), ..MediaQuery::default() };
            async move { client.media().list(&query).await }.boxed()
        });
        let whole = match whole.await {
            Ok(whole) => whole,
            Err(error) if is_withheld(&error) => return Ok(Counts::default()),
            Err(error) => return Err(error.into()),
        };
        let listed: HashSet<String> = whole.rows.iter().map(|image| image.id.as_str().to_owned()).collect();
        let mut gone = Vec::new();
        if whole.is_complete {
            for id in self.live_ids(Listed::MediaImages).await? {
                if listed.contains(&id) {
                    continue;
                }
                match client.media().get(&MediaId::new(id.as_str())).await {
                    Err(error) if error.is_absent() => gone.push(id),
                    Err(error) if !is_final(&error) => return Err(error.into()),
                    _ => (),
                }
            }
        }
        let written = async {
            let mut tx = self.context.store.begin(&self.context.lease).await?;
            tx.compare_columns();
            let mut counts = tx.mirror().write_media_images(whole.rows).await?;
            counts.gone += tx.mirror().mark_listed_gone(Listed::MediaImages, gone).await?;
            tx.commit().await?;
            Ok::<_, StoreError>(counts)
        };
        written.await.map_err(Error::from)
    }

    /// Mirrors the store's session and page. The inner `Err` is the session's own refusal.
    pub(crate) async fn profile(&self) -> Result<Result<ProfileRead, ApiError>, Error> {
        let session = match self.client.auth().session().await {
            Ok(read) => read.value,
            Err(error) => return Ok(Err(error)),
        };
        let id = session.id.as_ref().map(|id| id.as_str().to_owned());
        let page = match self.client.store_page().get().await {
            Ok(read) => Some(read.value),
            Err(error) if is_closed(&error) || is_final(&error) => None,
            Err(error) => return Err(error.into()),
        };
        let written = async {
            let mut tx = self.context.store.begin(&self.context.lease).await?;
            tx.compare_columns();
            let counts = tx.mirror().write_profile(session, page).await?;
            tx.commit().await?;
            Ok::<_, StoreError>(counts)
        };
        let counts = written.await?;
        Ok(Ok(ProfileRead { counts, id }))
    }

    /// Fetches the label files that are ready.
    async fn labels(&self, report: &mut ResourceReport) -> Result<Counts, Error> {
        if self.context.labels.is_none() {
            report.notes.push(text!("engine-labels-off"));
        }
        let FetchedLabels { fetched, failed } = labels::fetch_ready(self.context).await?;
        Ok(Counts { seen: fetched + failed, changed: fetched, gone: 0, failed })
    }

    async fn live_ids(&self, listed: Listed) -> Result<Vec<String>, Error> {
        let (mut ids, mut after) = (Vec::new(), String::new());
        loop {
            let batch = self.context.store.mirror().live_ids(&self.context.key, listed, &after).await;
            let batch = batch?;
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

/// Whether the marketplace has no such listing for this credential.
fn is_withheld(error: &ApiError) -> bool {
    error.is_absent() || matches!(error, ApiError::Refused { status: 403, .. })
}

/// Whether a retry would get the same answer.
pub(crate) fn is_final(error: &ApiError) -> bool {
    error.class() == Class::Permanent && !error.is_authentication() && !error.is_not_ours()
}
