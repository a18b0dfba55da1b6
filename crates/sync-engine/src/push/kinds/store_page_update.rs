//! The texts of the store's page (`store_page.update`).

use chrono::NaiveDate;
use espelho_api_client::{
    ApiRequest, Invalid, Text as Limited,
    resources::store_page::{Change, StorePageChanges, StorePageUpdate as Update},
};
use espelho_model::text;
use espelho_store::{Command, Effect};
use futures_util::future::BoxFuture;
use serde_json::Value;

use super::{
    super::{
        command_context::CommandContext,
        fields::FieldType,
        handler::{CommandHandler, SettleResult},
        services::Services,
    },
    send_once::{done, send_once},
};
use crate::{
    Error,
    plan::push::{
        Verdict,
        evidence::{EvidenceKind, read, write},
        store_page::{self, PageEvidence},
    },
};

/// The fields of a command; `null` clears one. A value of another type must not pass for an empty text.
const FIELDS: [(&str, FieldType); 4] = [
    ("short_description", FieldType::TextOrNull),
    ("description", FieldType::TextOrNull),
    ("full_description", FieldType::TextOrNull),
    ("foundation_date", FieldType::TextOrNull),
];

/// `store_page.update`.
pub(super) struct StorePageUpdate;

impl CommandHandler for StorePageUpdate {
    fn subject_key(&self, _: &Command) -> String {
        "store_page".to_owned()
    }

    fn fields(&self) -> Option<&'static [(&'static str, FieldType)]> {
        Some(&FIELDS)
    }

    fn evidence(&self) -> Option<EvidenceKind> {
        Some(EvidenceKind::of::<PageEvidence>())
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
    let evidence = write(&PageEvidence(cx.data.as_object().cloned().unwrap_or_default()));
    let request = page_request(&cx.data);
    let sent = send_once(services, cx, cx.kind.as_str(), Some(evidence), request).await?;
    Ok(sent.map_or_else(|verdict| verdict, |answer| done(&answer)))
}

async fn settle(services: &Services<'_>, effect: &Effect) -> SettleResult {
    let evidence: PageEvidence = read(effect)?;
    let page = services.client.store_page().get().await?.value;
    Ok(store_page::settle(&evidence, &page))
}

fn page_request(data: &Value) -> Result<ApiRequest, Invalid> {
    let changes = StorePageChanges {
        short_description: change(data, "short_description", |text| Limited::new("short_description", text))?,
        description: change(data, "description", |text| Limited::new("description", text))?,
        full_description: change(data, "full_description", |text| Ok(text.to_owned()))?,
        foundation_date: change(data, "foundation_date", |text| {
            text.parse::<NaiveDate>().map_err(|_| Invalid::Value {
                field: "foundation_date",
                value: text.to_owned(),
                rule: text!("value-rule-date"),
            })
        })?,
    };
    Ok(Update::new(changes)?.request())
}

fn change<T>(
    data: &Value,
    name: &str,
    read: impl Fn(&str) -> Result<T, Invalid>,
) -> Result<Change<T>, Invalid> {
    match data.get(name) {
        Some(Value::String(text)) => read(text).map(Change::Set),
        Some(Value::Null) => Ok(Change::Clear),
        // the check of the fields lets no other type pass.
        Some(_) | None => Ok(Change::Leave),
    }
}
