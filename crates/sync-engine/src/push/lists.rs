//! Price lists and the store's page. No route reads price lists: a request without an answer stays doubtful.

use std::time::Duration;

use chrono::NaiveDate;
use espelho_api_client::{
    ApiRequest, Invalid, Text as Limited,
    resources::{
        price_lists::{
            NewPriceList, PriceListChanges, PriceListMode, PriceListName, PriceListUpdate, price_list_in,
            settings_request,
        },
        store_page::{Change, StorePageChanges, StorePageUpdate},
        webhook::test_request,
    },
};
use espelho_model::{PriceListId, price_list::PriceList, push::CommandKind, text, text::Text};
use espelho_store::NewEffect;
use serde_json::{Value, json};

use super::{
    Pusher,
    cause::{Cause, refused},
    commands::{CommandContext, id_in},
    journal::ExecutionResult,
};
use crate::plan::push::{
    Verdict,
    evidence::{Evidence as _, write},
    invalid,
    store_page::PageEvidence,
};

/// Reads the id of a price list from a command's key.
fn list_id(key: &str) -> Option<PriceListId> {
    (!key.trim().is_empty()).then(|| PriceListId::new(key.trim()))
}

impl Pusher<'_> {
    pub(super) async fn create_price_list(&self, cx: &CommandContext<'_>) -> Result<Verdict, Cause> {
        if let Err(problem) = check_fields(&cx.data, &["name", "mode"]) {
            return Ok(Verdict::Failed(invalid(problem)));
        }
        let text = |name: &'static str| cx.data[name].as_str().unwrap_or_default().to_owned();
        let build = || -> Result<ApiRequest, Invalid> {
            let name = PriceListName::new("name", text("name"))?;
            Ok(NewPriceList { name, mode: PriceListMode::parse(&text("mode"))? }.request())
        };
        self.once(cx, "price_list.create", None, build()).await
    }

    pub(super) async fn update_price_list(&self, cx: &CommandContext<'_>) -> Result<Verdict, Cause> {
        let Some(list) = list_id(&cx.command.key) else {
            return Ok(Verdict::Failed(invalid(text!("value-price-list-key"))));
        };
        if let Err(problem) = check_fields(&cx.data, &["name", "mode", "position", "is_active"]) {
            return Ok(Verdict::Failed(invalid(problem)));
        }
        let build = || -> Result<ApiRequest, Invalid> {
            let name = cx.data["name"].as_str().map(|name| PriceListName::new("name", name)).transpose()?;
            let mode = cx.data["mode"].as_str().map(PriceListMode::parse).transpose()?;
            let position = whole(&cx.data["position"]);
            let changes =
                PriceListChanges { name, mode, position, is_active: cx.data["is_active"].as_bool() };
            Ok(PriceListUpdate::new(changes)?.request(&list))
        };
        self.once(cx, "price_list.update", None, build()).await
    }

    pub(super) async fn switch_price_lists(&self, cx: &CommandContext<'_>) -> Result<Verdict, Cause> {
        match cx.data["price_lists_enabled"].as_bool() {
            Some(enabled) => self.once(cx, "price_lists.settings", None, Ok(settings_request(enabled))).await,
            None => {
                Ok(Verdict::Failed(invalid(text!("value-not-boolean", field = "data.price_lists_enabled"))))
            }
        }
    }

    pub(super) async fn test_webhook(&self, cx: &CommandContext<'_>) -> Result<Verdict, Cause> {
        self.once(cx, "webhook.test", None, Ok(test_request())).await
    }

    pub(super) async fn update_store_page(&self, cx: &CommandContext<'_>) -> Result<Verdict, Cause> {
        let evidence = write(&PageEvidence(cx.data.as_object().cloned().unwrap_or_default()));
        self.once(cx, PageEvidence::KIND, Some(evidence), page_request(&cx.data)).await
    }

    /// Sends a request that needs no reading before it.
    async fn once(
        &self,
        cx: &CommandContext<'_>,
        kind: &'static str,
        evidence: Option<String>,
        request: Result<ApiRequest, Invalid>,
    ) -> Result<Verdict, Cause> {
        if let Some(effect) = cx.confirmed(kind) {
            return self.taken(cx, effect.answer.as_deref().unwrap_or_default()).await;
        }
        let request = match request {
            Ok(request) => request,
            Err(error) => return Ok(Verdict::Failed(invalid(error.text()))),
        };
        match self
            .execute_once(
                NewEffect { evidence, ..cx.effect_without_evidence(kind, &request) },
                &cx.intent(),
                &request,
            )
            .await?
        {
            ExecutionResult::Applied(answer) => self.taken(cx, answer.as_str()).await,
            ExecutionResult::Refused(error) => refused(error),
            ExecutionResult::Unknown => Ok(Verdict::RetryAfter(Duration::ZERO)),
        }
    }

    /// Completes a command from an answer. Nothing else reports price lists, so they are mirrored from it.
    async fn taken(&self, cx: &CommandContext<'_>, answer: &str) -> Result<Verdict, Cause> {
        let is_new = cx.kind == CommandKind::PriceListCreate;
        if let Some(list) =
            price_list_in(answer).filter(|_| is_new || cx.kind == CommandKind::PriceListUpdate)
        {
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
                let mut tx = self.context.store.begin(&self.context.lease).await?;
                tx.mirror().write_price_lists(vec![list]).await?;
                tx.commit().await?;
            }
        }
        Ok(Verdict::Done(id_in(answer).map(|id| json!({"id": id}))))
    }
}

/// Checks that each field is in the API document and has its type: a field that is not understood must not be dropped.
fn check_fields(data: &Value, known: &[&str]) -> Result<(), Text> {
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
fn whole(value: &Value) -> Option<u32> {
    let text = value.as_str().and_then(|text| text.trim().parse().ok());
    text.or_else(|| value.as_u64().and_then(|number| u32::try_from(number).ok()))
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
    Ok(StorePageUpdate::new(changes)?.request())
}

fn change<T>(
    data: &Value,
    name: &str,
    read: impl Fn(&str) -> Result<T, Invalid>,
) -> Result<Change<T>, Invalid> {
    match data.get(name) {
        None => Ok(Change::Leave),
        Some(Value::Null) => Ok(Change::Clear),
        Some(value) => read(value.as_str().unwrap_or_default()).map(Change::Set),
    }
}
