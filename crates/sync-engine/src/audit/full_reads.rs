//! Compares what is read in full: campaigns with their listings, images, and what the store reports about itself.
//!
//! What no sweep has mirrored yet is late, not different.

use std::collections::{BTreeMap, BTreeSet};

use espelho_api_client::{
    Client, Error as ApiError,
    resources::{
        campaigns::EligibleQuery,
        media::{MediaPerPage, MediaQuery},
        paging::Paging,
        store_page::is_closed,
    },
};
use espelho_model::{CampaignId, MediaId, text, text::Text};
use espelho_store::{AuditDifference, Compared, LeaseTx, Unlike};
use futures_util::FutureExt as _;

use super::{Difference, ResourceAudit, Subject, name_of};
use crate::{
    Error, Problem, StoreContext,
    live::full_listing::{FullListing, read_all_pages},
    plan::schedule::Sweep,
    pull::is_final,
};

/// Compares, and once more if something differs: on a busy store it may have changed between the two reads. `open` are
/// the earlier differences.
pub(super) async fn compare(
    context: &StoreContext,
    client: Client,
    subject: Subject,
    open: &[AuditDifference],
    sample: usize,
) -> ResourceAudit {
    let sweep = match subject {
        Subject::Campaigns => Sweep::Campaigns,
        Subject::Media => Sweep::Media,
        Subject::Profile => Sweep::Profile,
        // Listings are compared in `listed`; no route reads price lists.
        Subject::Orders | Subject::Products | Subject::PriceLists => return ResourceAudit::begun(subject),
    };
    match is_mirrored(context, sweep).await {
        Err(problem) => {
            return ResourceAudit { problem: Some(problem.into()), ..ResourceAudit::begun(subject) };
        }
        Ok(false) => return ResourceAudit::noted(subject, text!("run-audit-not-mirrored")),
        Ok(true) => (),
    }
    let comparison = Comparison { context, client, open, sample };
    let mut report = comparison.run(subject).await;
    if report.differing > 0 && report.problem.is_none() {
        report = comparison.run(subject).await;
    }
    report
}

async fn is_mirrored(context: &StoreContext, sweep: Sweep) -> Result<bool, Error> {
    let sweeps = context.store.runs().sweeps(&context.key).await?;
    Ok(sweeps.iter().any(|record| record.kind == sweep.as_str() && record.succeeded_at.is_some()))
}

struct Comparison<'c> {
    context: &'c StoreContext,
    client: Client,
    open: &'c [AuditDifference],
    sample: usize,
}

/// The comparison with the names of what it could not compare, or why there is nothing to compare.
type Outcome = Result<Result<(Compared, BTreeSet<String>), Text>, Error>;

impl Comparison<'_> {
    async fn run(&self, subject: Subject) -> ResourceAudit {
        let compared = match subject {
            Subject::Campaigns => self.campaigns().await,
            Subject::Media => self.images().await,
            Subject::Profile => self.profile().await,
            Subject::Orders | Subject::Products | Subject::PriceLists => {
                return ResourceAudit::begun(subject);
            }
        };
        match compared {
            Ok(Ok((compared, unread))) => ResourceAudit { unread, ..report(subject, compared) },
            Ok(Err(note)) => ResourceAudit::noted(subject, note),
            Err(problem) => ResourceAudit { problem: Some(problem.into()), ..ResourceAudit::begun(subject) },
        }
    }

    /// Begins a transaction that is dropped, not committed: an audit changes nothing.
    async fn begin(&self) -> Result<LeaseTx<'_>, Error> {
        self.context.store.begin(&self.context.lease).await.map_err(Error::from)
    }

    async fn campaigns(&self) -> Outcome {
        let client = &self.client;
        let listed =
            read_all_pages(&self.context.stop, |paging| client.campaigns().calendar(paging).boxed()).await;
        let mut campaigns = match listed {
            Ok(FullListing { rows, is_complete: true }) => rows,
            Ok(_) => return Ok(Err(text!("run-audit-endless"))),
            Err(error) => return refused(&error),
        };
        let running: Vec<CampaignId> = campaigns.iter().map(|campaign| campaign.id).collect();
        // The calendar omits ended campaigns: that is no difference as long as they can be read by themselves.
        let compared = self.begin().await?.mirror().compare_campaigns(campaigns.clone()).await?;
        let ended = compared.unlike.iter().filter(|(_, unlike)| **unlike == Unlike::Surplus);
        let mut passed_over = BTreeSet::new();
        for (n, id) in ended.map(|(id, _)| id).enumerate() {
            let is_due = n < self.sample || self.open.iter().any(|of| of.key == *id);
            let Some(number) = CampaignId::parse(id).filter(|_| is_due) else {
                passed_over.insert(id.clone());
                continue;
            };
            match client.campaigns().get(number).await {
                Ok(read) => campaigns.push(read.value),
                Err(error) if error.is_absent() => (),
                Err(error) if is_final(&error) => drop(passed_over.insert(id.clone())),
                Err(error) => return Err(error.into()),
            }
        }
        let mut compared = self.begin().await?.mirror().compare_campaigns(campaigns).await?;
        compared.unlike.retain(|id, _| !passed_over.contains(id));
        let mut unread = passed_over;
        for id in running {
            let Some(listings) = self.listings(id).await? else {
                let campaign = id.to_string();
                let of_it = self.open.iter().filter(|of| of.key == campaign && !of.part.is_empty());
                unread.extend(of_it.map(name_of));
                continue;
            };
            compared.said += listings.said;
            compared.mirrored += listings.mirrored;
            compared.unlike.extend(listings.unlike);
        }
        Ok(Ok((compared, unread)))
    }

    /// Compares the enrolled and eligible listings of a campaign; `None` if they cannot be read to their end.
    async fn listings(&self, id: CampaignId) -> Result<Option<Compared>, Error> {
        let (client, stop) = (&self.client, &self.context.stop);
        let eligible = read_all_pages(stop, |paging| {
            async move {
                client.campaigns().eligible_listings(id, &EligibleQuery { search: None, paging }).await
            }
            .boxed()
        });
        let enrolled =
            read_all_pages(stop, |paging| client.campaigns().enrolled_listings(id, paging).boxed());
        match (eligible.await, enrolled.await) {
            (Ok(eligible), Ok(enrolled)) if eligible.is_complete && enrolled.is_complete => {
                let mut tx = self.begin().await?;
                let compared = tx.mirror().compare_campaign_listings(id, eligible.rows, enrolled.rows).await;
                compared.map(Some).map_err(Error::from)
            }
            (Err(error), _) | (_, Err(error)) if !is_final(&error) => Err(error.into()),
            _ => Ok(None),
        }
    }

    async fn images(&self) -> Outcome {
        let client = &self.client;
        let listed = read_all_pages(&self.context.stop, |paging: Paging| {
            let per_page = paging.per_page.and_then(|rows| MediaPerPage::new(rows).ok());
            let query = MediaQuery { per_page, page: Some(paging.page), ..MediaQuery::default() };
            async move { client.media().list(&query).await }.boxed()
        });
        let images = match listed.await {
            Ok(FullListing { rows, is_complete: true }) => rows,
            Ok(_) => return Ok(Err(text!("run-audit-endless"))),
            Err(error) => return refused(&error),
        };
        let compared = self.begin().await?.mirror().compare_media_images(images).await;
        let mut compared = compared?;
        let surplus = compared.unlike.iter().filter(|(_, unlike)| **unlike == Unlike::Surplus);
        let surplus: Vec<String> = surplus.map(|(id, _)| id.clone()).take(self.sample).collect();
        for id in surplus {
            // An unlisted image that still answers is not gone.
            if client.media().get(&MediaId::new(id.as_str())).await.is_ok() {
                compared.unlike.remove(&id);
            }
        }
        Ok(Ok((compared, BTreeSet::new())))
    }

    async fn profile(&self) -> Outcome {
        let session = match self.client.auth().session().await {
            Ok(read) => read.value,
            Err(error) => return refused(&error),
        };
        let page = match self.client.store_page().get().await {
            Ok(read) => Some(read.value),
            Err(error) if is_closed(&error) || is_final(&error) => None,
            Err(error) => return Err(error.into()),
        };
        let compared = self.begin().await?.mirror().compare_profile(session, page.as_ref()).await;
        Ok(Ok((compared?, BTreeSet::new())))
    }
}

/// A credential without access has nothing to compare.
fn refused(error: &ApiError) -> Outcome {
    match is_final(error) {
        true => Ok(Err(text!("run-audit-closed", why = error.text()))),
        false => Err(Problem::from_api(error).into()),
    }
}

fn report(subject: Subject, compared: Compared) -> ResourceAudit {
    let Compared { said, mirrored, unlike } = compared;
    let differing = unlike.len() as u64;
    let differences: BTreeMap<String, Difference> =
        unlike.into_iter().map(|(key, unlike)| (key, of_unlike(unlike))).collect();
    ResourceAudit {
        listed: said,
        mirrored,
        differing,
        differences: differences.into_iter().take(ResourceAudit::SHOWN).collect(),
        ..ResourceAudit::begun(subject)
    }
}

fn of_unlike(unlike: Unlike) -> Difference {
    match unlike {
        Unlike::Missing => Difference::Missing,
        Unlike::Surplus => Difference::Surplus,
        Unlike::Content => Difference::Detail,
        Unlike::Edited => Difference::Edited,
    }
}
