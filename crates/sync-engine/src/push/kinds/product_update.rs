//! Changed products (`product.update`): reads the product, changes what differs, and reads it again. A guard
//! holds a change of the pricing mode like a price.

use std::time::Duration;

use espelho_api_client::resources::products::{ProductDetail, draft::ProductUpdate as Update};
use espelho_model::{ProductId, text};
use espelho_store::{Command, Effect};
use futures_util::future::BoxFuture;

use super::{
    super::{
        command_context::CommandContext,
        handler::{CommandHandler, SettleResult},
        journal::ExecutionResult,
        price_requests::{current_tiers, mode_after, mode_of},
        refused::refused,
        services::Services,
    },
    product_fields::changes,
};
use crate::{
    Error,
    plan::{
        guards::PriceHeld,
        push::{
            Message, Verdict,
            evidence::{EvidenceKind, read},
            invalid,
            price_rows::{held_by_mode_guard, held_message},
            product::{UpdateEvidence, is_overwritten, may_be_overwritten_for, settle_update, shows},
            read_after_write::read_again_in,
        },
    },
};

/// `product.update`.
pub(super) struct ProductUpdate;

impl CommandHandler for ProductUpdate {
    fn subject_key(&self, command: &Command) -> String {
        format!("product/{}", command.key)
    }

    fn changes_product(&self) -> bool {
        true
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

    fn settle<'a>(&'a self, services: &'a Services<'a>, effect: &'a Effect) -> BoxFuture<'a, SettleResult> {
        Box::pin(settle(services, effect))
    }
}

async fn execute(services: &Services<'_>, cx: &CommandContext<'_>) -> Result<Verdict, Error> {
    let Some(product) = services.products.by_sku(&cx.command.key).await? else {
        return services.products.unknown_sku_of_command(&cx.command.key).await;
    };
    let changes = match changes(&cx.data) {
        Ok(changes) => changes,
        Err(problem) => return Ok(Verdict::Failed(invalid(problem))),
    };
    let request = match Update::new(changes) {
        Ok(update) => update.request(&product),
        Err(error) => return Ok(Verdict::Failed(invalid(error.text()))),
    };
    let detail = services.products.read(&product).await?;
    let now = services.context.clock.now();
    let effects = services.context.store.journal().effects_on(&services.context.key, &cx.subject).await?;
    if shows(&cx.data, &detail) {
        let left = may_be_overwritten_for(&cx.data, &detail, &effects, now);
        return Ok(left.map_or(Verdict::Done(None), Verdict::Unsettled));
    }
    let is_missing =
        |sent: &&Effect| !cx.is_new_attempt() && !is_overwritten(sent, &cx.data, &detail, &effects, now);
    if let Some(sent) = cx.confirmed("product.update").filter(is_missing) {
        if let Some(wait) = read_again_in(sent, now) {
            return Ok(Verdict::Unsettled(wait));
        }
        let message = Message::new("not_as_sent", text!("push-product-not-as-sent"));
        return Ok(Verdict::Failed(message));
    }
    if let Some(message) = held_by_guards(services, cx, &detail) {
        return Ok(Verdict::Held(message));
    }
    let data = cx.data.as_object().cloned().unwrap_or_default();
    let effect = cx.effect(&request, &UpdateEvidence { product: product.as_str().to_owned(), data });
    match services.journal.execute_once(effect, &cx.intent(), &request).await? {
        ExecutionResult::Applied(_) => Ok(Verdict::Sent),
        ExecutionResult::Refused(error) => refused(error),
        ExecutionResult::Unknown => Ok(Verdict::RetryAfter(Duration::ZERO)),
    }
}

/// Returns the words for a price that would result from another mode of pricing, and that a guard holds.
fn held_by_guards(
    services: &Services<'_>,
    cx: &CommandContext<'_>,
    detail: &ProductDetail,
) -> Option<Message> {
    let options = services.options;
    let sku = cx.command.key.trim();
    let floor = options.floors.get(sku).copied();
    let modes = [mode_of(detail), mode_after(&cx.data, detail)];
    let (held, price) = held_by_mode_guard(&options.guards, floor, modes, &current_tiers(detail))?;
    let may_pass = held != PriceHeld::Zero && cx.is_released;
    (!may_pass).then(|| held_message(sku, &held, price))
}

async fn settle(services: &Services<'_>, effect: &Effect) -> SettleResult {
    let evidence: UpdateEvidence = read(effect)?;
    let detail = services.products.read(&ProductId::new(&evidence.product)).await?;
    Ok(settle_update(&evidence, &detail))
}
