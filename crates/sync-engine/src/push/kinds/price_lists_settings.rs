//! The store's price lists switched on or off (`price_lists.settings`). No route reads the setting: a request without an
//! answer stays doubtful.

use espelho_api_client::{ApiRequest, resources::price_lists::settings_request};
use espelho_model::{ProductId, text};
use espelho_store::Command;
use futures_util::future::BoxFuture;
use serde_json::Value;

use super::{
    super::{
        command_context::CommandContext, fields::FieldType, handler::CommandHandler, services::Services,
    },
    send_once::{done, send_once},
};
use crate::{
    Error,
    plan::push::{Verdict, invalid},
};

/// `price_lists.settings`.
pub(super) struct PriceListsSettings;

impl CommandHandler for PriceListsSettings {
    fn subject_key(&self, _: &Command) -> String {
        "price_lists".to_owned()
    }

    fn fields(&self) -> Option<&'static [(&'static str, FieldType)]> {
        Some(&[("price_lists_enabled", FieldType::Other)])
    }

    fn planned_request(&self, _: &Command, data: &Value, _: Option<&ProductId>) -> Option<ApiRequest> {
        Some(settings_request(data["price_lists_enabled"].as_bool()?))
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
    let Some(enabled) = cx.data["price_lists_enabled"].as_bool() else {
        let problem = text!("value-not-boolean", field = "data.price_lists_enabled");
        return Ok(Verdict::Failed(invalid(problem)));
    };
    let sent = send_once(services, cx, cx.kind.as_str(), None, Ok(settings_request(enabled))).await?;
    Ok(sent.map_or_else(|verdict| verdict, |answer| done(&answer)))
}
