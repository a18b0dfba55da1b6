//! Price tiers (`price.delete_tier`): removes one tier, in as many steps as the rules of prices need. `prices` executes
//! the steps, and settles them.

use espelho_model::text;
use espelho_store::{Command, Effect};
use futures_util::future::BoxFuture;

use super::super::{
    command_context::CommandContext, fields::FieldType, handler::CommandHandler,
    price_requests::current_tiers, services::Services,
};
use crate::{
    Error,
    plan::{
        push::{Message, Verdict, evidence::EvidenceKind, invalid, price_step::StepEvidence},
        tiers::Tier,
    },
};

/// `price.delete_tier`. Its effects are steps of prices.
pub(super) struct PriceDeleteTier;

impl CommandHandler for PriceDeleteTier {
    fn subject_key(&self, command: &Command) -> String {
        format!("prices/{}", command.key)
    }

    fn changes_product(&self) -> bool {
        true
    }

    fn fields(&self) -> Option<&'static [(&'static str, FieldType)]> {
        Some(&[("min_quantity", FieldType::Other)])
    }

    fn evidence(&self) -> Option<EvidenceKind> {
        Some(EvidenceKind::of::<StepEvidence>())
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
}

async fn execute(services: &Services<'_>, cx: &CommandContext<'_>) -> Result<Verdict, Error> {
    let quantity =
        cx.data["min_quantity"].as_u64().or_else(|| cx.data["min_quantity"].as_str()?.parse().ok());
    let Some(quantity) = quantity.and_then(|q| u32::try_from(q).ok()) else {
        return Ok(Verdict::Failed(invalid(text!(
            "value-missing",
            field = "data.min_quantity",
            example = "{\"min_quantity\": 10}"
        ))));
    };
    let Some(product) = services.products.by_sku(&cx.command.key).await? else {
        return services.products.unknown_sku_of_command(&cx.command.key).await;
    };
    let detail = services.products.read(&product).await?;
    let desired: Vec<Tier> =
        current_tiers(&detail).into_iter().filter(|tier| tier.min_quantity != quantity).collect();
    // The steps of an earlier attempt never showed: a person wants them sent again.
    let sent: &[Effect] = if cx.is_new_attempt() { &[] } else { &cx.effects };
    let of_command = (Some(cx.identity()), sent);
    let prices = &services.prices;
    let applied =
        prices.apply_tiers(&product, &detail, &desired, &[quantity], of_command, &cx.intent()).await?;
    let verdict = match applied.unwrap_or_else(|refused| refused.verdict) {
        // A row of prices is there in another way; the tier is there as before.
        Verdict::DoneBut(_) => Verdict::Failed(Message::new("not_as_sent", text!("push-tier-still-there"))),
        other => other,
    };
    if verdict == Verdict::Done(None) {
        services
            .context
            .store
            .intents()
            .supersede_tier(&services.context.lease, &cx.command.key, i64::from(quantity))
            .await?;
    }
    Ok(verdict)
}
