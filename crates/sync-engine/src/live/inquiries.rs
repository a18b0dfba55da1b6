//! Answers questions about the store beside all other work.

use std::time::Duration;

use espelho_api_client::limit::Lane;
use espelho_model::watch;
use futures_util::future::BoxFuture;

use super::{AdminRequests, Inquiry, Live};
use crate::{Examination, Problem, Question, examine};

/// The longest wait for an answer.
const LONGEST: Duration = Duration::from_secs(5);

impl Live<'_> {
    pub(super) fn boxed_inquiries<'s>(
        &'s self,
        admin_requests: &'s dyn AdminRequests,
    ) -> BoxFuture<'s, Result<(), Problem>> {
        Box::pin(self.answer_inquiries(admin_requests))
    }

    /// Answers one question after the other until the work on the store ends.
    async fn answer_inquiries(&self, admin_requests: &dyn AdminRequests) -> Result<(), Problem> {
        while !self.is_stopping() {
            let waiting = watch::idle();
            let Inquiry { question, answer } = tokio::select! {
                () = self.context.stop.cancelled() => return Ok(()),
                inquiry = admin_requests.next_inquiry() => inquiry,
            };
            drop(waiting);
            // After this time the caller gets no answer; a login in progress continues in its own task.
            tokio::select! {
                () = self.context.stop.cancelled() => return Ok(()),
                () = self.context.clock.sleep(LONGEST) => {}
                found = self.answer_to(question) => answer(&found),
            }
        }
        Ok(())
    }

    async fn answer_to(&self, question: Question) -> Examination {
        let client = self.context.client.in_lane(Lane::Interactive);
        match question {
            Question::Webhook if self.options.receives => {
                Examination::Webhook(self.webhook_round_trip(&client).await)
            }
            _ => examine(&client, &self.context.page_parameter, question).await,
        }
    }
}
