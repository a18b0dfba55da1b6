//! Answers questions about the store beside all other work.

use std::time::Duration;

use espelho_api_client::limit::Lane;
use espelho_model::watch;
use futures_util::future::BoxFuture;

use super::{
    options::{AdminRequests, Inquiry},
    webhook_watch::WebhookWatch,
};
use crate::{Error, Examination, Question, StoreContext, examine};

/// The longest wait for an answer.
const LONGEST: Duration = Duration::from_secs(5);

/// The questions about a store.
pub(super) struct Inquiries<'c> {
    context: &'c StoreContext,
    watch: &'c WebhookWatch<'c>,
    admin_requests: &'c dyn AdminRequests,
}

impl<'c> Inquiries<'c> {
    /// Returns what answers the questions that come over `admin_requests`.
    pub(super) fn new(
        context: &'c StoreContext,
        watch: &'c WebhookWatch<'c>,
        admin_requests: &'c dyn AdminRequests,
    ) -> Self {
        Self { context, watch, admin_requests }
    }

    // Not `async`: the future of an `async` function would also reserve space for the boxed value.
    pub(super) fn boxed_run(&self) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(self.run())
    }

    /// Answers one question after the other until the work on the store ends.
    async fn run(&self) -> Result<(), Error> {
        while !self.context.stop.is_cancelled() {
            let waiting = watch::idle();
            let Inquiry { question, answer } = tokio::select! {
                () = self.context.stop.cancelled() => return Ok(()),
                inquiry = self.admin_requests.next_inquiry() => inquiry,
            };
            drop(waiting);
            // After this time the caller gets no answer; a login in progress continues in its own task.
            tokio::select! {
                () = self.context.stop.cancelled() => return Ok(()),
                () = self.context.clock.sleep(LONGEST) => {}
                found = self.boxed_answer(question) => answer(&found),
            }
        }
        Ok(())
    }

    fn boxed_answer(&self, question: Question) -> BoxFuture<'_, Examination> {
        Box::pin(self.answer_to(question))
    }

    async fn answer_to(&self, question: Question) -> Examination {
        let client = self.context.client.in_lane(Lane::Interactive);
        match question {
            Question::Webhook if self.watch.receives() => {
                Examination::Webhook(self.watch.round_trip(&client).await)
            }
            _ => examine(&client, &self.context.page_parameter, question).await,
        }
    }
}
