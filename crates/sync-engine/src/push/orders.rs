//! Order status (`order.status`): reads what the marketplace offers, requests the transition, waits for invoices.
//! `plan::push::order_status` decides.

use std::time::Duration;

use espelho_api_client::{
    Documented, Error as ApiError,
    resources::orders::{PossibleStatuses, Transition},
};
use espelho_model::{OrderNumber, push::PushState, text};

use super::{
    Pusher,
    cause::{Cause, refused},
    commands::CommandContext,
    journal::ExecutionResult,
};
use crate::plan::push::{
    Verdict, invalid,
    order_status::{
        Action, TransitionEvidence, WAITING_INVOICE, decide, has_been, is_there, payload,
        still_waits_for_invoice, too_late, wait_without_news, waits_for_invoice,
    },
};

/// The interval at which the mirror is read for an invoice.
const INVOICE_RECHECK_INTERVAL: Duration = Duration::from_secs(2);

impl Pusher<'_> {
    pub(super) async fn move_order(&self, cx: &CommandContext<'_>) -> Result<Verdict, Cause> {
        let number = OrderNumber::new(cx.command.key.clone());
        let Some(target) = cx.data["status"].as_str().filter(|status| !status.is_empty()) else {
            return Ok(Verdict::Failed(invalid(text!(
                "value-missing",
                field = "data.status",
                example = "{\"status\": \"preparing\"}"
            ))));
        };
        if cx.confirmed("order.status").is_some() {
            self.listener.order(&number);
            return Ok(Verdict::Done(None));
        }
        if self.waits_for_invoice(cx, &number).await? {
            return Ok(Verdict::Waiting(waits_for_invoice(&[]), INVOICE_RECHECK_INTERVAL));
        }
        let mark = self.context.store.journal().last_effect(&self.context.key).await?;
        let possible = match self.client.possible_statuses(&number).await {
            Ok(possible) => possible,
            Err(error) => return refused(error),
        };
        let transition = match self.next_step(cx, &number, target, &possible).await? {
            Ok(transition) => transition,
            Err(verdict) => {
                if verdict == Verdict::Done(None) {
                    self.listener.order(&number);
                }
                return Ok(verdict);
            }
        };
        let request = transition.request(&number);
        // Every effect up to the mark was planned before the order reached the target.
        let evidence = TransitionEvidence {
            order: number.as_str().to_owned(),
            target: target.to_owned(),
            from: possible.current_status,
            mark: Some(mark),
        };
        let effect = cx.effect(&request, &evidence);
        // Documents that the mirror learns of after this are news.
        let documents = self.context.store.lookups().current_invoices(&self.context.key, &number).await?;
        let acted = self.execute_once(effect, &cx.intent(), &request).await?;
        self.listener.order(&number);
        match acted {
            ExecutionResult::Applied(_) => Ok(Verdict::Done(None)),
            ExecutionResult::Unknown => Ok(Verdict::RetryAfter(Duration::ZERO)),
            ExecutionResult::Refused(error) => self.refused_transition(cx, &number, documents, error).await,
        }
    }

    /// Decides the next step, and reads the order's timeline where the decision needs it.
    async fn next_step(
        &self,
        cx: &CommandContext<'_>,
        number: &OrderNumber,
        target: &str,
        possible: &PossibleStatuses,
    ) -> Result<Result<Transition, Verdict>, Cause> {
        let mut been = None;
        loop {
            match decide(target, payload(&cx.data), possible, been) {
                Action::Answer(verdict) => return Ok(Err(verdict)),
                Action::Send(transition) => return Ok(Ok(transition)),
                Action::ReadTimeline => been = Some(self.has_been(cx, number, target).await?),
            }
        }
    }

    async fn refused_transition(
        &self,
        cx: &CommandContext<'_>,
        number: &OrderNumber,
        documents: Vec<String>,
        error: ApiError,
    ) -> Result<Verdict, Cause> {
        match error.kind() {
            Some(Documented::FiscalGate(words)) => {
                let until = self.context.clock.monotonic() + self.without_news(cx);
                self.state().documents.insert(cx.command.id, (Some(documents), until));
                Ok(Verdict::Waiting(waits_for_invoice(&words), INVOICE_RECHECK_INTERVAL))
            }
            // The order moved between the reading and the request: perhaps to the target.
            Some(Documented::ImpossibleTransition) => {
                let target = cx.data["status"].as_str().unwrap_or_default();
                let now = self.client.possible_statuses(number).await?;
                let has_moved = is_there(target, &now.current_status)
                    || matches!(self.next_step(cx, number, target, &now).await?, Err(Verdict::Done(None)));
                match has_moved {
                    true => Ok(Verdict::Done(None)),
                    false if target == "cancelled" => Ok(Verdict::Failed(too_late())),
                    false => refused(error),
                }
            }
            _ => refused(error),
        }
    }

    /// Says whether a command was refused for lack of an invoice and there is still none. Webhooks and sweeps bring
    /// news; when they bring none for a while, the documents are read. The transition is not requested again before
    /// there is an invoice.
    async fn waits_for_invoice(&self, cx: &CommandContext<'_>, number: &OrderNumber) -> Result<bool, Cause> {
        let id = cx.command.id;
        let noted = self.state().documents.get(&id).cloned();
        let now = self.context.clock.monotonic();
        let (then, until) = match noted {
            Some(noted) => noted,
            // After a restart the row has this information.
            None if cx.command.code.as_deref() == Some(WAITING_INVOICE) => (None, now),
            None => return Ok(false),
        };
        // A person asked for a retry (`espelho retry`).
        if cx.command.state == Some(PushState::New) {
            self.state().documents.remove(&id);
            return Ok(false);
        }
        let documents = self.context.store.lookups().current_invoices(&self.context.key, number).await?;
        let is_changed = then.as_ref().is_some_and(|then| *then != documents);
        if !is_changed && now < until {
            return Ok(true);
        }
        if !is_changed {
            // The order may have moved on without us.
            let order = self.client.order(number).await?.value;
            let fiscal = self.client.order_fiscal(number).await?.value;
            if still_waits_for_invoice(&order, fiscal.iter().any(|document| document.is_current)) {
                let until = now + self.without_news(cx);
                self.state().documents.insert(id, (Some(documents), until));
                return Ok(true);
            }
        }
        self.state().documents.remove(&id);
        Ok(false)
    }

    fn without_news(&self, cx: &CommandContext<'_>) -> Duration {
        wait_without_news(cx.command.created_at, self.context.clock.now())
    }

    async fn has_been(
        &self,
        cx: &CommandContext<'_>,
        number: &OrderNumber,
        target: &str,
    ) -> Result<bool, Cause> {
        let was_tried = cx.effects.iter().any(|effect| effect.sent_at.is_some());
        let events = self.client.order_events(number).await?.value;
        Ok(has_been(target, &events, was_tried, cx.command.created_at))
    }
}
