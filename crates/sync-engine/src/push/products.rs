//! Products: reads one into the mirror, creates and changes them.

use std::time::Duration;

use espelho_api_client::{
    Invalid,
    resources::products::{
        ProductDetail, ProductQuery,
        draft::{
            BaseUnit, NewProduct, NewSku, PriceType, ProductChanges, ProductName, ProductSwitches,
            ProductUpdate,
        },
        measures::{Dimensions, Measures},
    },
};
use espelho_model::{ProductId, sync::Resource, text, text::Text};
use serde_json::{Map, Value, json};

use super::{
    Pusher,
    cause::{Cause, refused},
    commands::{CommandContext, id_in},
    journal::ExecutionResult,
};
use crate::{
    live::put,
    plan::push::{
        Message, Settlement, Verdict, invalid,
        product::{CreationEvidence, UpdateEvidence, number, shows},
    },
    pull::{ProductsPull, Pull as _},
};

const SWITCHES: [&str; 4] =
    ["is_available_for_sale", "is_industrializable", "allow_sale_without_stock", "auto_wholesale_pricing"];

impl Pusher<'_> {
    /// Reads a product and mirrors it, so that everybody sees the state after a push.
    pub(super) async fn read_product(&self, id: &ProductId) -> Result<ProductDetail, Cause> {
        let (store, key) = (&self.context.store, &self.context.key);
        let row = || store.mirror().known(key, Resource::Products, vec![id.as_str().to_owned()]);
        let known = row().await?.get(id.as_str()).copied();
        let locations = store.mirror().location_ids(key).await?;
        let pull = ProductsPull::new(self.client.clone(), locations, self.context.page_parameter.clone());
        let fetched = pull.detail(id.as_str()).await?;
        let detail = fetched.detail.clone();
        let _writing = self.context.writing.lock().await;
        let now = row().await?.get(id.as_str()).copied();
        // Another task has mirrored a later reading: that one stays.
        if now.map(|known| known.content_hash) == known.map(|known| known.content_hash) {
            let mut tx = store.begin(&self.context.lease).await?;
            put(&mut tx, &pull, id.as_str(), known, fetched, (None, None)).await?;
            tx.staleness().note_products_read(vec![id.clone()]).await?;
            tx.commit().await?;
        }
        Ok(detail)
    }

    /// Mirrors a product after an effect of ours. The effect is done, whatever the reading returns.
    pub(super) async fn refresh_product(&self, id: &ProductId) -> Result<(), Cause> {
        match self.read_product(id).await {
            Err(Cause::Api(error)) if !(error.is_authentication() || error.is_not_ours()) => {
                tracing::info!(store = %self.context.key, product = %id, %error, "product not read after its change; will be read later");
                Ok(())
            }
            read => read.map(drop),
        }
    }

    /// Returns the product with a SKU, as far as the mirror knows.
    pub(super) async fn product_of(&self, sku: &str) -> Result<Option<ProductId>, Cause> {
        Ok(self.context.store.lookups().product_by_sku(&self.context.key, sku.trim()).await?)
    }

    /// Executes `product.create`.
    pub(super) async fn create_product(&self, cx: &CommandContext<'_>) -> Result<Verdict, Cause> {
        if let Some(created) = cx.confirmed("product.create") {
            let id = created.answer.as_deref().and_then(id_in);
            if let Some(id) = &id {
                self.refresh_product(&ProductId::new(id.clone())).await?;
            }
            return Ok(Verdict::Done(id.map(|id| json!({"id": id}))));
        }
        let named = sku_of(&cx.command.key, &cx.data).and_then(|sku| Ok((new_product(sku, &cx.data)?, sku)));
        let (new, sku) = match named {
            Ok(named) => named,
            Err(problem) => return Ok(Verdict::Failed(invalid(problem))),
        };
        if self.product_of(sku).await?.is_some() {
            return Ok(Verdict::Failed(exists(sku)));
        }
        let request = new.request();
        let effect = cx.effect(&request, &CreationEvidence { sku: sku.to_owned() });
        match self.execute_once(effect, &cx.intent(), &request).await? {
            ExecutionResult::Applied(_) => Ok(Verdict::Sent),
            ExecutionResult::Refused(error) => refused(error),
            ExecutionResult::Unknown => Ok(Verdict::RetryAfter(Duration::ZERO)),
        }
    }

    /// Searches all products for a SKU: no route finds a product by its SKU, and a SKU is unique in the store.
    pub(super) async fn find_sku(&self, sku: &str) -> Result<Settlement, Cause> {
        let parameter = self.context.page_parameter.clone();
        let mut last = Vec::new();
        for page in 1.. {
            let query = ProductQuery { per_page: Some(100), page, page_parameter: parameter.clone() };
            let rows = self.client.list_products(&query).await?.rows;
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

    /// Executes `product.update`.
    pub(super) async fn update_product(&self, cx: &CommandContext<'_>) -> Result<Verdict, Cause> {
        let Some(product) = self.product_of(&cx.command.key).await? else {
            return self.unknown_sku(&cx.command.key).await;
        };
        let changes = match changes(&cx.data) {
            Ok(changes) => changes,
            Err(problem) => return Ok(Verdict::Failed(invalid(problem))),
        };
        if shows(&cx.data, &self.read_product(&product).await?) {
            return Ok(Verdict::Done(None));
        }
        if cx.confirmed("product.update").is_some() {
            let message = Message::new("not_as_sent", text!("push-product-not-as-sent"));
            return Ok(Verdict::Failed(message));
        }
        let request = match ProductUpdate::new(changes) {
            Ok(update) => update.request(&product),
            Err(error) => return Ok(Verdict::Failed(invalid(error.text()))),
        };
        let data = cx.data.as_object().cloned().unwrap_or_default();
        let effect = cx.effect(&request, &UpdateEvidence { product: product.as_str().to_owned(), data });
        match self.execute_once(effect, &cx.intent(), &request).await? {
            ExecutionResult::Applied(_) => Ok(Verdict::Sent),
            ExecutionResult::Refused(error) => refused(error),
            ExecutionResult::Unknown => Ok(Verdict::RetryAfter(Duration::ZERO)),
        }
    }
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

/// Reads the changes, under the API document's names.
fn changes(data: &Value) -> Result<ProductChanges, Text> {
    let Some(fields) = data.as_object() else { return Err(text!("value-not-object")) };
    check_names(fields, &["sku"])?;
    let message = |error: Invalid| error.text();
    let text = |name: &str| match &data[name] {
        Value::Null => Ok(None),
        Value::String(text) => Ok(Some(text.as_str())),
        _ => Err(text!("value-not-text", field = name)),
    };
    let name = text("name")?.map(|name| ProductName::new("name", name).map_err(message)).transpose()?;
    let mut switches = [None; 4];
    for (switch, name) in switches.iter_mut().zip(SWITCHES) {
        *switch = match &data[name] {
            Value::Null => None,
            Value::Bool(on) => Some(*on),
            _ => return Err(text!("value-not-boolean", field = name)),
        };
    }
    let [is_available_for_sale, is_industrializable, allow_sale_without_stock, auto_wholesale_pricing] =
        switches;
    Ok(ProductChanges {
        name,
        base_unit: text("base_unit")?.map(|word| BaseUnit::parse(word).map_err(message)).transpose()?,
        price_type: text("price_type")?.map(|word| PriceType::parse(word).map_err(message)).transpose()?,
        dimensions: dimensions(data)?,
        switches: ProductSwitches {
            is_available_for_sale,
            is_industrializable,
            allow_sale_without_stock,
            auto_wholesale_pricing,
        },
    })
}

/// Product fields that belong to another table, or to none.
const ELSEWHERE: [(&str, Option<&str>); 4] = [
    ("price", Some("erp_prices")),
    ("quantity", Some("erp_stock")),
    ("reserved_quantity", None),
    ("available_quantity", None),
];

fn check_names(fields: &Map<String, Value>, more: &[&str]) -> Result<(), Text> {
    let known = ["name", "base_unit", "price_type", "dimensions", "height", "width", "length", "weight"];
    let is_known = |name: &&String| {
        let name = name.as_str();
        known.contains(&name) || SWITCHES.contains(&name) || more.contains(&name)
    };
    match fields.keys().find(|name| !is_known(name)) {
        Some(name) => Err(match ELSEWHERE.iter().find(|(own, _)| own == name) {
            Some((_, Some(table))) => text!("value-elsewhere", field = name, table = *table),
            Some((_, None)) => text!("value-computed", field = name),
            None => text!("value-unknown-field", field = name),
        }),
        None => Ok(()),
    }
}

/// Reads the dimensions, nested as in the API or flat as in the table `products`.
fn dimensions(data: &Value) -> Result<Option<Dimensions>, Text> {
    let measure = |name: &str| {
        let value = if data["dimensions"].is_object() { &data["dimensions"][name] } else { &data[name] };
        match value {
            Value::Null => Ok(None),
            other => number(other).map(Some).ok_or_else(|| text!("value-not-number", field = name)),
        }
    };
    let message = |error: Invalid| error.text();
    let all = [measure("height")?, measure("width")?, measure("length")?, measure("weight")?];
    match all {
        [None, None, None, None] => Ok(None),
        [Some(height), Some(width), Some(length), Some(weight)] => {
            Dimensions::new(Measures { height, width, length, weight }).map(Some).map_err(message)
        }
        _ => Err(text!("value-dimensions")),
    }
}
