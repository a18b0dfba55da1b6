//! Price lists and the store's page. No route reads price lists: what is asked for and not answered stays in doubt.

use std::time::Duration;

use chrono::NaiveDate;
use espelho_api_client::{
    ApiRequest, Invalid, Text,
    resources::{
        price_lists::{
            NewPriceList, PriceListChanges, PriceListMode, PriceListName, PriceListUpdate, settings_request,
        },
        store_page::{Change, StorePageChanges, StorePageUpdate},
        webhook::test_request,
    },
};
use serde_json::{Value, json};

use super::{
    Pusher,
    commands::{Ask, id_in},
    evidence::list_id,
    journal::{Acted, Evidence},
    stock::invalid,
    verdict::{Cause, Verdict},
};

impl Pusher<'_> {
    pub(super) async fn create_price_list(&self, ask: &Ask<'_>) -> Result<Verdict, Cause> {
        let text = |name: &'static str| ask.data[name].as_str().unwrap_or_default().to_owned();
        let build = || -> Result<ApiRequest, Invalid> {
            let name = PriceListName::new("name", text("name"))?;
            Ok(NewPriceList { name, mode: PriceListMode::parse(&text("mode"))? }.request())
        };
        self.once(ask, "price_list.create", build()).await
    }

    pub(super) async fn update_price_list(&self, ask: &Ask<'_>) -> Result<Verdict, Cause> {
        let Some(list) = list_id(&ask.command.key) else {
            return Ok(Verdict::Failed(invalid("key is the price list's id")));
        };
        let build = || -> Result<ApiRequest, Invalid> {
            let name = ask.data["name"].as_str().map(|name| PriceListName::new("name", name)).transpose()?;
            let mode = ask.data["mode"].as_str().map(PriceListMode::parse).transpose()?;
            let position = ask.data["position"].as_u64().and_then(|position| u32::try_from(position).ok());
            let changes =
                PriceListChanges { name, mode, position, is_active: ask.data["is_active"].as_bool() };
            Ok(PriceListUpdate::new(changes)?.request(&list))
        };
        self.once(ask, "price_list.update", build()).await
    }

    pub(super) async fn switch_price_lists(&self, ask: &Ask<'_>) -> Result<Verdict, Cause> {
        match ask.data["price_lists_enabled"].as_bool() {
            Some(enabled) => self.once(ask, "price_lists.settings", Ok(settings_request(enabled))).await,
            None => Ok(Verdict::Failed(invalid("data.price_lists_enabled is neither true nor false"))),
        }
    }

    pub(super) async fn test_webhook(&self, ask: &Ask<'_>) -> Result<Verdict, Cause> {
        self.once(ask, "webhook.test", Ok(test_request())).await
    }

    pub(super) async fn update_store_page(&self, ask: &Ask<'_>) -> Result<Verdict, Cause> {
        self.once(ask, "store_page.update", page_request(&ask.data)).await
    }

    /// Sends a request that nothing has to be read before.
    async fn once(
        &self,
        ask: &Ask<'_>,
        kind: &'static str,
        request: Result<ApiRequest, Invalid>,
    ) -> Result<Verdict, Cause> {
        if let Some(effect) = ask.confirmed(kind) {
            let id = effect.answer.as_deref().and_then(id_in);
            return Ok(Verdict::Done(id.map(|id| json!({"id": id}))));
        }
        let request = match request {
            Ok(request) => request,
            Err(error) => return Ok(Verdict::Failed(invalid(&error.to_string()))),
        };
        match self.act(ask.effect(kind, &request, &ask.data), &request).await? {
            Acted::Applied(answer) => Ok(Verdict::Done(id_in(answer.as_str()).map(|id| json!({"id": id})))),
            Acted::Refused(error) => super::refused(error),
            Acted::Unknown => Ok(Verdict::Again(Duration::ZERO)),
        }
    }

    pub(super) async fn evidence_of_page(&self, known: &Value) -> Result<Evidence, Cause> {
        let page = self.client.store_page().await?.value;
        let shows = |name: &str, own: &Option<String>| {
            known.get(name).is_none_or(|wanted| {
                wanted.as_str().unwrap_or_default() == own.as_deref().unwrap_or_default()
            })
        };
        let is_there = shows("short_description", &page.short_description)
            && shows("description", &page.description)
            && shows("full_description", &page.full_description)
            && shows("foundation_date", &page.foundation_date.map(|date| date.to_string()));
        Ok(match is_there {
            true => Evidence::Happened { answer: None, how: "the page shows it" },
            false => Evidence::DidNot { how: "the page does not show it" },
        })
    }
}

fn page_request(data: &Value) -> Result<ApiRequest, Invalid> {
    let changes = StorePageChanges {
        short_description: change(data, "short_description", |text| Text::new("short_description", text))?,
        description: change(data, "description", |text| Text::new("description", text))?,
        full_description: change(data, "full_description", |text| Ok(text.to_owned()))?,
        foundation_date: change(data, "foundation_date", |text| {
            text.parse::<NaiveDate>().map_err(|_| Invalid::Value {
                field: "foundation_date",
                value: text.to_owned(),
                rule: "a date like 2018-03-01",
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
