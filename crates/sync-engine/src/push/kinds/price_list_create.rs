//! New price lists (`price_list.create`). No route reads them: a request without an answer stays doubtful.

use espelho_api_client::{
    ApiRequest, Invalid,
    resources::price_lists::{NewPriceList, PriceListMode, PriceListName},
};
use espelho_store::Command;
use futures_util::future::BoxFuture;

use super::{
    super::{
        command_context::CommandContext, fields::FieldType, handler::CommandHandler, services::Services,
    },
    price_list_fields::mirror_and_finish,
    send_once::send_once,
};
use crate::{Error, plan::push::Verdict};

/// `price_list.create`.
pub(super) struct PriceListCreate;

impl CommandHandler for PriceListCreate {
    fn subject_key(&self, command: &Command) -> String {
        format!("command/{}", command.id)
    }

    fn fields(&self) -> Option<&'static [(&'static str, FieldType)]> {
        Some(&[("name", FieldType::Text), ("mode", FieldType::Text)])
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
    let text = |name: &'static str| cx.data[name].as_str().unwrap_or_default().to_owned();
    let build = || -> Result<ApiRequest, Invalid> {
        let name = PriceListName::new("name", text("name"))?;
        Ok(NewPriceList { name, mode: PriceListMode::parse(&text("mode"))? }.request())
    };
    match send_once(services, cx, cx.kind.as_str(), None, build()).await? {
        Ok(answer) => mirror_and_finish(services, cx, &answer).await,
        Err(verdict) => Ok(verdict),
    }
}
