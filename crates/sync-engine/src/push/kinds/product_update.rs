//! Changed products (`product.update`): reads the product, changes what differs, and reads it again.

use std::time::Duration;

use espelho_api_client::resources::products::draft::ProductUpdate as Update;
use espelho_model::{ProductId, text};
use espelho_store::{Command, Effect};
use futures_util::future::BoxFuture;

use super::{
    super::{
        command_context::CommandContext,
        handler::{CommandHandler, Settled},
        journal::ExecutionResult,
        refused::refused,
        services::Services,
    },
    product_fields::changes,
};
use crate::{
    Error,
    plan::push::{
        Message, Verdict,
        evidence::{EvidenceKind, read},
        invalid,
        product::{UpdateEvidence, settle_update, shows},
    },
};

/// `product.update`.
pub(super) struct ProductUpdate;

impl CommandHandler for ProductUpdate {
    fn subject_key(&self, command: &Command) -> String {
        format!("product/{}", command.key)
    }

    /// The pricing of a product decides what its price steps mean.
    fn conflicting_key(&self, command: &Command) -> Option<String> {
        Some(format!("prices/{}", command.key))
    }

    fn evidence(&self) -> Option<EvidenceKind> {
        Some(EvidenceKind::of::<UpdateEvidence>())
    }

    fn cost(&self) -> u32 {
        3
    }

    fn execute<'a>(
        &'a self,
        services: &'a Services<'a>,
        cx: &'a CommandContext<'a>,
    ) -> BoxFuture<'a, Result<Verdict, Error>> {
        Box::pin(execute(services, cx))
    }

    fn settle<'a>(&'a self, services: &'a Services<'a>, effect: &'a Effect) -> BoxFuture<'a, Settled> {
        Box::pin(settle(services, effect))
    }
}

async fn execute(services: &Services<'_>, cx: &CommandContext<'_>) -> Result<Verdict, Error> {
    let Some(product) = services.products.by_sku(&cx.command.key).await? else {
        return services.products.unknown_sku(&cx.command.key).await;
    };
    let changes = match changes(&cx.data) {
        Ok(changes) => changes,
        Err(problem) => return Ok(Verdict::Failed(invalid(problem))),
    };
    let request = match Update::new(changes) {
        Ok(update) => update.request(&product),
        Err(error) => return Ok(Verdict::Failed(invalid(error.text()))),
    };
    if shows(&cx.data, &services.products.read(&product).await?) {
        return Ok(Verdict::Done(None));
    }
    if cx.confirmed("product.update").is_some() {
        let message = Message::new("not_as_sent", text!("push-product-not-as-sent"));
        return Ok(Verdict::Failed(message));
    }
    let data = cx.data.as_object().cloned().unwrap_or_default();
    let effect = cx.effect(&request, &UpdateEvidence { product: product.as_str().to_owned(), data });
    match services.journal.execute_once(effect, &cx.intent(), &request).await? {
        ExecutionResult::Applied(_) => Ok(Verdict::Sent),
        ExecutionResult::Refused(error) => refused(error),
        ExecutionResult::Unknown => Ok(Verdict::RetryAfter(Duration::ZERO)),
    }
}

async fn settle(services: &Services<'_>, effect: &Effect) -> Settled {
    let evidence: UpdateEvidence = read(effect)?;
    let detail = services.products.read(&ProductId::new(&evidence.product)).await?;
    Ok(settle_update(&evidence, &detail))
}
