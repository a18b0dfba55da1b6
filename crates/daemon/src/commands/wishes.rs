//! `espelho stock set`, `price set`, `orders`, `labels`, `campaigns join`, `import`: they only write the tables that an ERP writes.

use std::path::Path;

use espelho_model::{StoreKey, push::CommandKind, text};
use espelho_store::{PriceWish, StockWish};
use espelho_sync_engine::{Problem, Trouble};
use rust_decimal::Decimal;
use serde_json::{Value, json};

use super::{
    reading::{Reading, named},
    say,
};
use crate::{
    cli::{
        CampaignsCommand, Cli, ImportArgs, ImportKind, LabelsCommand, OrdersCommand, PriceCommand,
        StockCommand,
    },
    exit,
    import::{self, Rows},
};

/// What is to be written.
pub(super) enum Wish<'a> {
    Stock(&'a StockCommand),
    Price(&'a PriceCommand),
    Orders(&'a OrdersCommand),
    Labels(&'a LabelsCommand),
    Campaigns(&'a CampaignsCommand),
    Import(&'a ImportArgs),
}

pub(super) async fn run(cli: &Cli, wish: Wish<'_>) -> u8 {
    let reading = match Reading::open(cli).await {
        Ok(reading) => reading,
        Err(code) => return code,
    };
    let written = write(&reading, wish).await;
    reading.store.close().await;
    match written {
        Ok(told) => {
            match cli.json {
                true => println!("{told}"),
                false => println!("{}", in_words(&told)),
            }
            exit::COMPLETE
        }
        Err(problem) => say(&problem, cli),
    }
}

fn in_words(told: &Value) -> String {
    match (told["command"].as_i64(), told["rows"].as_u64()) {
        (Some(id), _) => {
            format!("comando / command {id}: SELECT state, error, hint FROM commands WHERE id = {id}")
        }
        (_, Some(rows)) => format!("{rows} linha(s) gravada(s) / row(s) written"),
        _ => told.to_string(),
    }
}

async fn write(reading: &Reading, wish: Wish<'_>) -> Result<Value, Problem> {
    match wish {
        Wish::Stock(StockCommand::Set { sku, location, quantity, store }) => {
            let wish = StockWish {
                sku: sku.clone(),
                location: location.clone(),
                quantity: number("quantity", quantity)?,
            };
            write_rows(reading, store.as_deref(), Rows::Stock(vec![wish])).await
        }
        Wish::Stock(StockCommand::Adjust { sku, location, delta, store }) => {
            let data = json!({"location_id": location, "delta": number("delta", delta)?.to_string()});
            give(reading, store.as_deref(), CommandKind::StockAdjust, sku, data).await
        }
        Wish::Price(PriceCommand::Set { sku, price, min_quantity, store }) => {
            let price = Some(number("price", price)?);
            let wish = PriceWish {
                sku: sku.clone(),
                min_quantity: i64::from(*min_quantity),
                price,
                discount_percent: None,
                package: [None; 4],
            };
            write_rows(reading, store.as_deref(), Rows::Prices(vec![wish])).await
        }
        Wish::Orders(OrdersCommand::Advance { number, status, data, store }) => {
            let data = match data {
                Some(text) => {
                    serde_json::from_str(text).map_err(|error| bad(format!("--data is not JSON: {error}")))?
                }
                None => Value::Null,
            };
            let data = json!({"status": status, "data": data});
            give(reading, store.as_deref(), CommandKind::OrderStatus, number, data).await
        }
        Wish::Orders(OrdersCommand::Notes { number, text, store }) => {
            let text = (!text.is_empty()).then_some(text);
            give(reading, store.as_deref(), CommandKind::OrderNotes, number, json!({"notes": text})).await
        }
        Wish::Labels(LabelsCommand::Generate { number, format, regenerate, store }) => {
            let mut data = json!({});
            if let Some(format) = format {
                data["format"] = json!(format);
            }
            if *regenerate {
                data["regenerate"] = json!(true);
            }
            give(reading, store.as_deref(), CommandKind::LabelsGenerate, number, data).await
        }
        Wish::Campaigns(CampaignsCommand::Join { campaign, listings, store }) => {
            let data = json!({"publication_ids": listings});
            give(reading, store.as_deref(), CommandKind::CampaignOptIn, campaign, data).await
        }
        Wish::Import(ImportArgs { kind, file, store }) => {
            let rows = read_file(*kind, file)?;
            write_rows(reading, store.as_deref(), rows).await
        }
    }
}

fn read_file(kind: ImportKind, file: &Path) -> Result<Rows, Problem> {
    let text = std::fs::read(file).map_err(|error| bad(format!("{}: {error}", file.display())))?;
    import::rows(kind, &text).map_err(|bad| {
        let text = text!("files-bad-lines", file = file.display().to_string(), lines = bad.texts());
        Problem::of(Trouble::Failure, "bad_lines", text)
    })
}

/// The only store, where there is only one.
fn the_store(reading: &Reading, asked: Option<&str>) -> Result<StoreKey, Problem> {
    match named(&reading.configuration, asked)?.as_slice() {
        [only] => Ok(only.clone()),
        _ => Err(bad("there are several stores; name one with --store KEY".to_owned())),
    }
}

async fn write_rows(reading: &Reading, store: Option<&str>, rows: Rows) -> Result<Value, Problem> {
    let store = the_store(reading, store)?;
    let count = rows.len();
    rows.write(&reading.store, &store).await.map_err(|error| Problem::from_store(&error))?;
    Ok(json!({"state": "complete", "rows": count}))
}

async fn give(
    reading: &Reading,
    store: Option<&str>,
    kind: CommandKind,
    key: &str,
    data: Value,
) -> Result<Value, Problem> {
    let store = the_store(reading, store)?;
    let id = reading.store.command(&store, kind, key, Some(data.to_string())).await;
    Ok(json!({"state": "complete", "command": id.map_err(|error| Problem::from_store(&error))?}))
}

fn number(name: &str, text: &str) -> Result<Decimal, Problem> {
    import::number(text).ok_or_else(|| bad(format!("{name} is {text:?}, which is no number")))
}

fn bad(error: String) -> Problem {
    Problem::worded(Trouble::Configuration, "usage", &error, "see espelho help for the command")
}
