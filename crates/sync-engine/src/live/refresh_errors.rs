//! Handles a failed refresh: retries it, shows it on the row, or ends the work on the store.

use espelho_api_client::{Class, Error as ApiError};
use espelho_model::{sync::Resource, text, text::Text};
use espelho_store::Error as StoreError;
use futures_util::future::BoxFuture;

use super::{
    Live, ends_all,
    queue::Ended,
    refresh_request::{Entity, RefreshRequest, Urgency},
};
use crate::{Problem, report::failure};

impl Live<'_> {
    pub(super) async fn after_store_error(
        &self,
        entity: &Entity,
        error: &StoreError,
    ) -> Result<Ended, Problem> {
        let problem = Problem::from_store(error);
        if ends_all(&problem) {
            return Err(problem);
        }
        tracing::warn!(store = %self.context.key, ?entity, error = problem.error, "a refreshed row could not be written");
        if !error.concerns_a_row() {
            return Ok(Ended::Failed { after: None });
        }
        let text = text!("database-unwritable", cause = problem.error);
        self.note_failure(entity, "unwritable".into(), text).await;
        Ok(Ended::Done)
    }

    pub(super) async fn after_api_error(
        &self,
        entity: &Entity,
        request: &RefreshRequest,
        is_last: bool,
        error: &ApiError,
    ) -> Result<Ended, Problem> {
        if error.is_authentication() {
            return Err(Problem::from_api(error));
        }
        if let ApiError::Refused { status: 404 | 410, .. } = error {
            return Ok(self.after_not_found(entity, request, is_last).await);
        }
        match error.class() {
            Class::Transient { after } => Ok(Ended::Failed { after }),
            Class::Reauthenticate => Ok(Ended::Failed { after: None }),
            Class::Permanent | Class::Ambiguous => {
                tracing::warn!(store = %self.context.key, ?entity, %error, "an entity cannot be read");
                self.note_failure(entity, error.code(), error.text()).await;
                Ok(Ended::Done)
            }
        }
    }

    /// Handles the answer that an order does not exist. If the mirror has the order, the denial is recorded.
    pub(super) async fn after_denial(
        &self,
        entity: &Entity,
        request: &RefreshRequest,
        is_last: bool,
        error: &ApiError,
    ) -> Result<Ended, Problem> {
        if let Entity::Order(number) = entity
            && let Err(error) = self.record_denial(number).await
        {
            return self.after_store_error(entity, &error).await;
        }
        self.after_api_error(entity, request, is_last, error).await
    }

    /// Handles a 404: the marketplace may not show yet what a delivery reported, or what a sweep listed is gone again.
    /// A complete pass decides whether it is gone for good; for an order that is denied repeatedly,
    /// [`Live::record_denial`] decides.
    async fn after_not_found(&self, entity: &Entity, request: &RefreshRequest, is_last: bool) -> Ended {
        if let Entity::Product(_) = entity {
            // The identifier may be of another kind than the route takes: then only the listing shows what changed.
            self.known().has_unknown_product = true;
            return Ended::Done;
        }
        if request.urgency != Urgency::Hinted {
            return Ended::Done;
        }
        if is_last {
            self.note_failure(entity, "not_found".into(), text!("run-not-found")).await;
        }
        Ended::NotYet
    }

    /// Shows on its row that an entity cannot be read although everything else can.
    pub(super) fn boxed_note_unreadable<'s>(
        &'s self,
        entity: &'s Entity,
        problem: &'s Problem,
    ) -> BoxFuture<'s, ()> {
        Box::pin(self.note_failure(entity, problem.code.clone(), problem.text.clone()))
    }

    async fn note_failure(&self, entity: &Entity, code: String, text: Text) {
        let (resource, key) = match entity {
            Entity::Order(number) => (Resource::Orders, number.as_str().to_owned()),
            Entity::Product(id) => (Resource::Products, id.as_str().to_owned()),
        };
        let noted = async {
            let mut tx = self.context.store.begin(&self.context.lease).await?;
            tx.failures().note_failures(resource, &[failure(key, code, text, self.context.locale)]).await?;
            tx.commit().await
        };
        if let Err(error) = noted.await {
            tracing::warn!(store = %self.context.key, %error, "a failure could not be recorded");
        }
    }
}
