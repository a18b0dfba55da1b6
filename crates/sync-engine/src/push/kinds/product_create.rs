//! New products (`product.create`): created once; a lost answer is settled by a search for the SKU.

use std::time::Duration;

use espelho_api_client::{
    Invalid,
    resources::products::{
        ProductQuery,
        draft::{BaseUnit, NewProduct, NewSku, PriceType, ProductName},
    },
};
use espelho_model::{ProductId, text, text::Text};
use espelho_store::{Command, Effect};
use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use super::{
    super::{
        command_context::{CommandContext, id_in},
        handler::{CommandHandler, SettleResult},
        journal::ExecutionResult,
        refused::refused,
        services::Services,
    },
    product_fields::{changes, check_names},
};
use crate::{
    Error,
    plan::push::{
        Message, Settlement, Verdict,
        evidence::{EvidenceKind, read},
        invalid,
        product::CreationEvidence,
    },
};

/// `product.create`.
pub(super) struct ProductCreate;

impl CommandHandler for ProductCreate {
    fn subject_key(&self, command: &Command) -> String {
        format!("product/{}", command.key)
    }

    fn evidence(&self) -> Option<EvidenceKind> {
        Some(EvidenceKind::of::<CreationEvidence>())
    }

    fn cost(&self) -> u32 {
        2
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
    if let Some(created) = cx.confirmed("product.create") {
        let id = created.answer.as_deref().and_then(id_in);
        if let Some(id) = &id {
            services.products.refresh(&ProductId::new(id.clone())).await?;
        }
        return Ok(Verdict::Done(id.map(|id| json!({"id": id}))));
    }
    let named = sku_of(&cx.command.key, &cx.data).and_then(|sku| Ok((new_product(sku, &cx.data)?, sku)));
    let (new, sku) = match named {
        Ok(named) => named,
        Err(problem) => return Ok(Verdict::Failed(invalid(problem))),
    };
    if services.products.has_sku(sku).await? {
        return Ok(Verdict::Failed(exists(sku)));
    }
    let request = new.request();
    let effect = cx.effect(&request, &CreationEvidence { sku: sku.to_owned() });
    match services.journal.execute_once(effect, &cx.intent(), &request).await? {
        ExecutionResult::Applied(_) => Ok(Verdict::Sent),
        ExecutionResult::Refused(error) => refused(error),
        ExecutionResult::Unknown => Ok(Verdict::RetryAfter(Duration::ZERO)),
    }
}

/// Searches all products for a SKU: no route finds a product by its SKU, and a SKU is unique in the store.
async fn find_sku(services: &Services<'_>, sku: &str) -> Result<Settlement, Error> {
    let parameter = services.context.page_parameter.clone();
    let mut last = Vec::new();
    for page in 1.. {
        let query = ProductQuery { per_page: Some(100), page, page_parameter: parameter.clone() };
        let rows = services.client.products().list(&query).await?.rows;
        let keys: Vec<String> = rows.iter().map(|row| row.key.clone()).collect();
        if keys.is_empty() || keys == last {
            break;
        }
        let found = rows.iter().find(|row| {
            let row: Value = serde_json::from_str(&row.text).unwrap_or_default();
            [&row["sku"], &row["product"]["sku"]].iter().any(|own| own.as_str() == Some(sku))
        });
        if let Some(row) = found {
            let answer = Some(json!({"id": row.key}).to_string());
            return Ok(Settlement::Happened { answer, how: "the SKU is in the catalogue" });
        }
        last = keys;
    }
    Ok(Settlement::DidNotHappen { how: "no product has the SKU" })
}

async fn settle(services: &Services<'_>, effect: &Effect) -> SettleResult {
    let evidence: CreationEvidence = read(effect)?;
    Ok(find_sku(services, &evidence.sku).await?)
}

fn exists(sku: &str) -> Message {
    Message::new("sku_exists", text!("push-sku-exists", sku = sku))
}

/// Returns the SKU of a product to create: the command's key, or the SKU in its data when the key is empty.
fn sku_of<'a>(key: &'a str, data: &'a Value) -> Result<&'a str, Text> {
    match (key.trim(), data["sku"].as_str().map(str::trim)) {
        ("", sku) => Ok(sku.unwrap_or_default()),
        (key, Some(sku)) if key != sku => Err(text!("value-two-skus", key = key, sku = sku)),
        (key, _) => Ok(key),
    }
}

fn new_product(sku: &str, data: &Value) -> Result<NewProduct, Text> {
    let message = |error: Invalid| error.text();
    let Some(fields) = data.as_object() else { return Err(text!("value-not-object")) };
    check_names(fields, &["sku"])?;
    let changes = changes(data)?;
    Ok(NewProduct {
        name: ProductName::new("name", data["name"].as_str().unwrap_or_default()).map_err(message)?,
        sku: NewSku::new("sku", sku).map_err(message)?,
        base_unit: changes.base_unit.unwrap_or(BaseUnit::Un),
        price_type: changes.price_type.unwrap_or(PriceType::Default),
        dimensions: changes.dimensions,
        switches: changes.switches,
    })
}
