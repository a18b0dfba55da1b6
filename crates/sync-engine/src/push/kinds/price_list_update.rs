//! Changed price lists (`price_list.update`). No route reads them: a request without an answer stays doubtful.

use espelho_api_client::{
    ApiRequest, Invalid,
    resources::price_lists::{PriceListChanges, PriceListMode, PriceListName, PriceListUpdate as Update},
};
use espelho_model::{PriceListId, text};
use espelho_store::Command;
use futures_util::future::BoxFuture;

use super::{
    super::{
        command_context::CommandContext,
        fields::{FieldType, whole},
        handler::CommandHandler,
        services::Services,
    },
    price_list_fields::mirror_and_finish,
    send_once::send_once,
};
use crate::{
    Error,
    plan::push::{Verdict, invalid},
};

/// The fields of a command.
const FIELDS: [(&str, FieldType); 4] = [
    ("name", FieldType::Text),
    ("mode", FieldType::Text),
    ("position", FieldType::Whole),
    ("is_active", FieldType::Flag),
];

/// `price_list.update`.
pub(super) struct PriceListUpdate;

impl CommandHandler for PriceListUpdate {
    fn subject_key(&self, command: &Command) -> String {
        format!("price_list/{}", command.key)
    }

    fn fields(&self) -> Option<&'static [(&'static str, FieldType)]> {
        Some(&FIELDS)
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
    let Some(list) = list_id(&cx.command.key) else {
        return Ok(Verdict::Failed(invalid(text!("value-price-list-key"))));
    };
    let build = || -> Result<ApiRequest, Invalid> {
        let name = cx.data["name"].as_str().map(|name| PriceListName::new("name", name)).transpose()?;
        let mode = cx.data["mode"].as_str().map(PriceListMode::parse).transpose()?;
        let position = whole(&cx.data["position"]);
        let changes = PriceListChanges { name, mode, position, is_active: cx.data["is_active"].as_bool() };
        Ok(Update::new(changes)?.request(&list))
    };
    match send_once(services, cx, cx.kind.as_str(), None, build()).await? {
        Ok(answer) => mirror_and_finish(services, cx, &answer).await,
        Err(verdict) => Ok(verdict),
    }
}

/// Reads the id of a price list from a command's key.
fn list_id(key: &str) -> Option<PriceListId> {
    (!key.trim().is_empty()).then(|| PriceListId::new(key.trim()))
}
