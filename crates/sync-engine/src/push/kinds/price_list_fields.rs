//! The fields of a price list in the marketplace's answers.

use espelho_api_client::resources::price_lists::price_list_in;
use espelho_model::{price_list::PriceList, push::CommandKind};

use super::{
    super::{command_context::CommandContext, services::Services},
    send_once::done,
};
use crate::{Error, plan::push::Verdict};

/// Completes a command from an answer. Nothing else reports price lists, so they are mirrored from it.
pub(super) async fn mirror_and_finish(
    services: &Services<'_>,
    cx: &CommandContext<'_>,
    answer: &str,
) -> Result<Verdict, Error> {
    let is_new = cx.kind == CommandKind::PriceListCreate;
    if let Some(list) = price_list_in(answer).filter(|_| is_new || cx.kind == CommandKind::PriceListUpdate) {
        let asked = |name: &str| cx.data[name].as_str().map(str::to_owned);
        let list = PriceList {
            name: list.name.or_else(|| asked("name")),
            mode: list.mode.or_else(|| asked("mode")),
            // API document, "Price list": it starts `true`.
            is_active: list.is_active.or_else(|| is_new.then_some(true)),
            ..list
        };
        // An answer with the id alone would empty the row of an existing list.
        if is_new || list.name.is_some() && list.mode.is_some() {
            let mut tx = services.context.store.begin(&services.context.lease).await?;
            tx.mirror().write_price_lists(vec![list]).await?;
            tx.commit().await?;
        }
    }
    Ok(done(answer))
}
