//! The fields of a price list in a command's data and in the marketplace's answers.

use espelho_api_client::resources::price_lists::price_list_in;
use espelho_model::{price_list::PriceList, push::CommandKind, text, text::Text};
use serde_json::Value;

use super::{
    super::{command_context::CommandContext, services::Services},
    send_once::done,
};
use crate::{Error, plan::push::Verdict};

/// Checks that each field is in the API document and has its type: a field that is not understood must not be dropped.
pub(super) fn check_fields(data: &Value, known: &[&str]) -> Result<(), Text> {
    let Some(fields) = data.as_object() else { return Err(text!("value-not-object")) };
    for (name, value) in fields {
        let is_fit = match name.as_str() {
            _ if !known.contains(&name.as_str()) => {
                return Err(text!("value-unknown-field-of", field = name, known = known.join(", ")));
            }
            "position" => whole(value).is_some(),
            "is_active" => value.is_boolean(),
            _ => value.is_string(),
        };
        if !is_fit {
            return Err(text!("value-does-not-fit", field = name, value = value.to_string()));
        }
    }
    Ok(())
}

/// Reads a whole number of 0 or more, from a number or from text.
pub(super) fn whole(value: &Value) -> Option<u32> {
    let text = value.as_str().and_then(|text| text.trim().parse().ok());
    text.or_else(|| value.as_u64().and_then(|number| u32::try_from(number).ok()))
}

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
