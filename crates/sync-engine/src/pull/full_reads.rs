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
    campaign::{Campaign, EligibleListing, EnrolledListing},
    sync::{Counts, RunState, Target},
    text,
    text::Text,
};
use espelho_store::{Error as StoreError, Failure, Listed};
use futures_util::{FutureExt as _, future::BoxFuture};

use crate::{
    Error, Position, ResourceReport, StoreContext, labels,
    live::full_listing::{FullListing, read_all_pages},
    plan::{
        gone::{LostListings, has_just_ended},
        unread_listings::{CampaignFailure, FailingCampaigns, UnreadListings},
    },
    report::failure,
};

/// Reads a target in full and reports the result.
pub(crate) async fn read_in_full(
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
    let reader = FullReader { context, client };
    let read = match target {
        Target::Campaigns => {
            let lost = LostListings::new(accept_gone);
            let mut memory = CampaignMemory { lost, ..CampaignMemory::default() };
            let read = reader.campaigns(&mut memory).await;
            if memory.lost.rows() > 0 {
                let (rows, store) = (memory.lost.rows(), context.key.as_str());
                report.notes.push(text!("run-note-listings-kept", rows = rows, store = store));
            }
            read.map(|read| {
                report.failures = read.failures;
                report.failures.truncate(ResourceReport::SHOWN);
                read.counts
            })
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
pub(crate) struct FullReader<'c> {
    pub(crate) context: &'c StoreContext,
    pub(crate) client: &'c Client,
}

/// The result of reading the campaigns.
#[derive(Default)]
pub(crate) struct CampaignsRead {
    pub(crate) counts: Counts,
    /// Campaigns that could not be read to their end.
    pub(crate) failures: Vec<Failure>,
}

/// The campaigns' state between two readings.
#[derive(Default)]
pub(crate) struct CampaignMemory {
    /// Campaigns that were read once more since they ended: they no longer change.
    settled: HashSet<String>,
    /// The listings that the last reading missed and did not believe to be gone.
    lost: LostListings,
    failing: FailingCampaigns,
    /// Ended campaigns that could not be read to their end.
    unread: UnreadListings,
}

/// The end of a reading of one campaign.
enum CampaignReading {
    Complete,
    Failed(CampaignFailure),
    Stopped,
}

/// What the store reports about itself.
pub(crate) struct ProfileRead {
    pub(crate) counts: Counts,
    /// The store's id.
    pub(crate) id: Option<String>,
}

impl FullReader<'_> {
    /// Mirrors the campaigns that have not ended, with their enrolled and eligible listings. Mirrors each ended
    /// campaign once more.
    pub(crate) async fn campaigns(&self, memory: &mut CampaignMemory) -> Result<CampaignsRead, Error> {
        let client = self.client;
        let listing = match self.read_all_pages(|paging| client.campaigns().calendar(paging).boxed()).await {
            Ok(listing) => listing,
            // A credential without this ability has no campaigns.
            Err(error) if is_withheld(&error) => return Ok(CampaignsRead::default()),
            Err(error) => return Err(error.into()),
        };
        let ids: Vec<CampaignId> = listing.rows.iter().map(|campaign| campaign.id).collect();
        let mut read = CampaignsRead::default();
        memory.failing.begin();
        read.counts.add(self.write_campaigns(listing.rows, Vec::new(), &[]).await?);
        for (done, id) in ids.iter().enumerate() {
            if self.context.stop.is_cancelled() {
                return Ok(read);
            }
            self.listings_of(*id, memory, &mut read).await?;
            let position = Position::new(done as u64 + 1, Some(ids.len() as u64), 0, 0);
            self.context.progress.advance(&self.context.key, Target::Campaigns, position);
        }
        if listing.is_complete {
            self.ended_campaigns(&ids, memory, &mut read).await?;
        }
        Ok(read)
    }

    /// Mirrors the listings of a campaign. If they cannot be read to their end, the campaign shows why, and the others
    /// are read all the same.
    async fn listings_of(
        &self,
        id: CampaignId,
        memory: &mut CampaignMemory,
        read: &mut CampaignsRead,
    ) -> Result<CampaignReading, Error> {
        let (eligible, enrolled) = match self.listed_of(id).await {
            Ok((eligible, enrolled)) if eligible.is_complete && enrolled.is_complete => {
                (eligible.rows, enrolled.rows)
            }
            Ok(_) if self.context.stop.is_cancelled() => return Ok(CampaignReading::Stopped),
            Ok(_) => {
                memory.failing.note_answered(id);
                let text = text!("run-listings-incomplete", campaign = id.to_string());
                Box::pin(self.note_unread(id, "incomplete".to_owned(), text, read)).await?;
                return Ok(CampaignReading::Failed(CampaignFailure::Passing));
            }
            Err(error) => {
                let failure = Box::pin(self.note_failed(id, error, memory, read)).await?;
                return Ok(CampaignReading::Failed(failure));
            }
        };
        memory.failing.note_answered(id);
        let lost = &mut memory.lost;
        let written = async {
            let mut tx = self.context.store.begin(&self.context.lease).await?;
            tx.compare_columns();
            let missing = tx.mirror().missing_campaign_listings(id, &eligible, &enrolled).await?;
            let (rows, counts) = (missing.keys.len(), (missing.live, missing.listed));
            let are_gone = lost.are_gone(self.context.gone_guard, id, missing.keys, counts);
            if !are_gone {
                tracing::warn!(store = %self.context.key, campaign = %id, rows, "too many listings are missing; they stay until the next sweep misses them too");
            }
            let counts = tx.mirror().write_campaign_listings(id, eligible, enrolled, are_gone).await?;
            tx.failures().clear_campaign_failures(vec![id.to_string()]).await?;
            tx.commit().await?;
            Ok::<_, StoreError>(counts)
        };
        read.counts.add(written.await?);
        Ok(CampaignReading::Complete)
    }

    /// Requests the eligible and the enrolled listings of a campaign.
    async fn listed_of(
        &self,
        id: CampaignId,
    ) -> Result<(FullListing<EligibleListing>, FullListing<EnrolledListing>), ApiError> {
        let client = self.client;
        let eligible = self.read_all_pages(|paging| {
            async move {
                client.campaigns().eligible_listings(id, &EligibleQuery { search: None, paging }).await
            }
            .boxed()
        });
        let eligible = eligible.await?;
        let enrolled =
            self.read_all_pages(|paging| client.campaigns().enrolled_listings(id, paging).boxed()).await?;
        Ok((eligible, enrolled))
    }

    /// Shows on a campaign why it cannot be read. Returns the error if the others would fail too. Callers box it: it is
    /// large and rarely runs.
    async fn note_failed(
        &self,
        id: CampaignId,
        error: ApiError,
        memory: &mut CampaignMemory,
        read: &mut CampaignsRead,
    ) -> Result<CampaignFailure, Error> {
        let failure = CampaignFailure::of(&error);
        let is_common = match failure {
            CampaignFailure::Common => return Err(error.into()),
            CampaignFailure::Passing => memory.failing.note_failed(id),
            CampaignFailure::Refused => {
                memory.failing.note_answered(id);
                false
            }
        };
        self.note_unread(id, error.code(), error.text(), read).await?;
        if is_common { Err(error.into()) } else { Ok(failure) }
    }

    /// Shows on a campaign why it cannot be read to its end.
    async fn note_unread(
        &self,
        id: CampaignId,
        code: String,
        text: Text,
        read: &mut CampaignsRead,
    ) -> Result<(), Error> {
        tracing::warn!(store = %self.context.key, campaign = %id, code, "a campaign cannot be read to its end; will retry");
        let failure = failure(id.to_string(), code, text, self.context.locale);
        let noted = async {
            let mut tx = self.context.store.begin(&self.context.lease).await?;
            tx.failures().note_campaign_failures(std::slice::from_ref(&failure)).await?;
            tx.commit().await
        };
        noted.await?;
        read.counts.failed += 1;
        read.failures.push(failure);
        Ok(())
    }

    /// Requests each campaign that the calendar no longer lists once: it has ended, or is gone. What happened to its
    /// listings since the reading before its end is read with it: again while that reading is not complete, or too many
    /// of them are missing.
    async fn ended_campaigns(
        &self,
        listed: &[CampaignId],
        memory: &mut CampaignMemory,
        read: &mut CampaignsRead,
    ) -> Result<(), Error> {
        let listed: HashSet<String> = listed.iter().map(ToString::to_string).collect();
        let (mut ended, mut gone, mut settled) = (Vec::new(), Vec::new(), Vec::new());
        for id in self.live_ids(Listed::Campaigns).await? {
            let is_settled = listed.contains(&id) || memory.settled.contains(&id);
            let Some(number) = CampaignId::parse(&id).filter(|_| !is_settled) else { continue };
            let now = self.context.clock.monotonic();
            if !memory.unread.is_due(number, now) {
                continue;
            }
            match self.client.campaigns().get(number).await {
                Ok(campaign) => {
                    memory.failing.note_answered(number);
                    let reads = has_just_ended(campaign.value.ends_at, self.context.clock.now())
                        && !memory.unread.is_hopeless(number, now);
                    let reading = match reads {
                        true => self.listings_of(number, memory, read).await?,
                        // Nothing of it is left to read.
                        false => CampaignReading::Complete,
                    };
                    match reading {
                        CampaignReading::Complete => {
                            memory.unread.forget(number);
                            if !(reads && memory.lost.is_open(number)) {
                                settled.push(id);
                            }
                        }
                        CampaignReading::Failed(failure) => memory.unread.note_failed(number, failure, now),
                        CampaignReading::Stopped => (),
                    }
                    ended.push(campaign.value);
                }
                Err(error) if error.is_absent() => {
                    memory.failing.note_answered(number);
                    memory.unread.forget(number);
                    gone.push(id);
                }
                Err(error) => {
                    let failure = Box::pin(self.note_ended_failed(number, error, memory, read)).await?;
                    memory.unread.note_failed(number, failure, now);
                    if memory.unread.is_hopeless(number, now) {
                        memory.unread.forget(number);
                        settled.push(id);
                    }
                }
            }
        }
        read.counts.add(self.write_campaigns(ended, gone, &settled).await?);
        memory.settled.extend(settled);
        Ok(())
    }

    /// Records that an ended campaign itself could not be read. Its rows stay as they were read last: a refusal is no
    /// failure of theirs, and of one that ended long ago nothing is left to read; but what passes leaves the last
    /// reading of another one open, and is shown. Callers box it.
    async fn note_ended_failed(
        &self,
        id: CampaignId,
        error: ApiError,
        memory: &mut CampaignMemory,
        read: &mut CampaignsRead,
    ) -> Result<CampaignFailure, Error> {
        let failure = CampaignFailure::of(&error);
        let is_over = failure == CampaignFailure::Passing && self.ended_long_ago(id).await?;
        if failure != CampaignFailure::Refused && !is_over {
            return self.note_failed(id, error, memory, read).await;
        }
        tracing::warn!(store = %self.context.key, campaign = %id, code = error.code(), "an ended campaign cannot be read; it stays as it was read last");
        if failure == CampaignFailure::Refused {
            memory.failing.note_answered(id);
        } else if memory.failing.note_failed(id) {
            return Err(error.into());
        }
        let cleared = async {
            let mut tx = self.context.store.begin(&self.context.lease).await?;
            tx.failures().clear_campaign_failures(vec![id.to_string()]).await?;
            tx.commit().await
        };
        cleared.await?;
        Ok(failure)
    }

    /// Tells whether a campaign ended so long ago, as it was mirrored last, that its listings are not read any more.
    async fn ended_long_ago(&self, id: CampaignId) -> Result<bool, Error> {
        let ends_at = self.context.store.mirror().campaign_end(&self.context.key, id).await?;
        Ok(!has_just_ended(ends_at, self.context.clock.now()))
    }

    /// Writes campaigns, and marks those in `gone`. Neither these nor those in `settled` are read any more.
    async fn write_campaigns(
        &self,
        campaigns: Vec<Campaign>,
        gone: Vec<String>,
        settled: &[String],
    ) -> Result<Counts, Error> {
        let written = async {
            let mut tx = self.context.store.begin(&self.context.lease).await?;
            tx.compare_columns();
            let mut counts = tx.mirror().write_campaigns(campaigns).await?;
            tx.failures().clear_campaign_failures([gone.as_slice(), settled].concat()).await?;
            counts.gone += tx.mirror().mark_listed_gone(Listed::Campaigns, gone).await?;
            tx.commit().await?;
            Ok::<_, StoreError>(counts)
        };
        written.await.map_err(Error::from)
    }

    /// Mirrors the store's images. Marks those gone that are no longer listed and no longer answer.
    pub(crate) async fn images(&self) -> Result<Counts, Error> {
        let client = self.client;
        let listing = self.read_all_pages(|paging: Paging| {
            let per_page = paging.per_page.and_then(|rows| MediaPerPage::new(rows).ok());
            let query = MediaQuery { per_page, page: Some(paging.page), ..MediaQuery::default() };
            async move { client.media().list(&query).await }.boxed()
        });
        let listing = match listing.await {
            Ok(listing) => listing,
            Err(error) if is_withheld(&error) => return Ok(Counts::default()),
            Err(error) => return Err(error.into()),
        };
        let listed: HashSet<String> = listing.rows.iter().map(|image| image.id.as_str().to_owned()).collect();
        let mut gone = Vec::new();
        if listing.is_complete {
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
            let mut counts = tx.mirror().write_media_images(listing.rows).await?;
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
        let labels = labels::fetch_ready(self.context).await?.into_report();
        report.failures = labels.failures;
        Ok(labels.counts)
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

    async fn read_all_pages<'a, T: PartialEq + Send>(
        &self,
        page_of: impl Fn(Paging) -> BoxFuture<'a, Result<RowPage<T>, ApiError>>,
    ) -> Result<FullListing<T>, ApiError> {
        read_all_pages(&self.context.stop, page_of).await
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
