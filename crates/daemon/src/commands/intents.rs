//! `espelho stock`, `price`, `orders`, `labels`, `campaigns join`, `import`, `webhook test`: write the tables that an ERP writes, and
//! report the outcome.
//!
//! [`crate::intent_rules`] refuses in advance what the tables would refuse, `wait` polls the row, `delay` finds why it is
//! still open, `answer` finds the words.

mod answer;
mod delay;
mod wait;

use std::{
    io::{ErrorKind, IsTerminal as _},
    path::Path,
    time::Duration,
};

use espelho_model::{
    StoreKey,
    doubled_names::doubled_name,
    push::{CommandKind, PushState},
    text,
    text::{Arg, Locale},
};
use espelho_store::{DesiredPrice, DesiredStock, IntentKind};
use espelho_sync_engine::Problem;
use rust_decimal::Decimal;
use serde_json::{Value, json};

use self::{
    answer::{Arrival, Became, Deed, spoken},
    wait::Written,
};
use super::{
    prompt,
    reading::{Reading, named},
    say,
};
use crate::{
    cli::{
        CampaignsCommand, Cli, ImportArgs, ImportKind, LabelsCommand, OrdersCommand, PriceCommand,
        StockCommand, WriteArgs,
    },
    exit,
    import::{self, Rows},
    intent_rules::{self as check, Known, Refusal},
    number::{self, Convention},
};

/// A command that writes intents.
pub(super) enum IntentCommand<'a> {
    Stock(&'a StockCommand),
    Price(&'a PriceCommand),
    Orders(&'a OrdersCommand),
    Labels(&'a LabelsCommand),
    Campaigns(&'a CampaignsCommand),
    Import(&'a ImportArgs),
    WebhookTest(&'a WriteArgs),
}

/// The reason why nothing is written.
enum Stopped {
    Refused(Refusal),
    Failed(Problem),
}

impl From<Refusal> for Stopped {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<espelho_store::Error> for Stopped {
    fn from(error: espelho_store::Error) -> Self {
        Self::Failed(Problem::from_store(&error))
    }
}

impl From<Problem> for Stopped {
    fn from(problem: Problem) -> Self {
        Self::Failed(problem)
    }
}

/// The rows or the command to write.
enum Intent {
    Rows(Rows),
    Command { kind: CommandKind, key: String, data: Value },
}

/// An intent that has passed its checks.
struct Checked {
    store: StoreKey,
    deed: Deed,
    intent: Intent,
}

pub(super) async fn run(cli: &Cli, intent: IntentCommand<'_>) -> u8 {
    let reading = match Reading::open(cli).await {
        Ok(reading) => reading,
        Err(code) => return code,
    };
    let ended = carry_out(cli, &reading, &intent).await;
    reading.store.close().await;
    match ended {
        Ok(code) => code,
        Err(Stopped::Failed(problem)) => say(&problem, cli),
        Err(Stopped::Refused(refusal)) => refuse(cli, &refusal),
    }
}

fn refuse(cli: &Cli, Refusal { code, text }: &Refusal) -> u8 {
    let (error, next) = (text.message(cli.locale), text.next(cli.locale).unwrap_or_default());
    eprintln!("✗ {error}");
    if !next.is_empty() {
        eprintln!("  {next}");
    }
    if cli.json {
        println!("{}", json!({"state": "failed", "errors": [{"code": code, "error": error, "hint": next}]}));
    }
    match *code {
        "bad_lines" => exit::FAILED,
        _ => exit::CONFIGURATION,
    }
}

async fn carry_out(cli: &Cli, reading: &Reading, intent: &IntentCommand<'_>) -> Result<u8, Stopped> {
    let args = intent.args();
    let Checked { store, deed, intent } = checked(cli, reading, intent).await?;
    let (written, command) = write(reading, store, intent).await?;
    let longest = match args.wait {
        Some(seconds) => Some(Duration::from_secs(seconds.into())),
        None => (!args.no_wait && std::io::stdout().is_terminal()).then_some(match deed {
            Deed::TestDelivery => wait::LONGEST_TEST,
            _ => wait::LONGEST,
        }),
    };
    let became = match longest {
        Some(longest) => wait::wait(reading, &written, longest).await?,
        // A stopped service sends no test delivery.
        None if deed == Deed::TestDelivery && !wait::is_served(reading, &written.store).await? => {
            Became::ServiceStopped
        }
        None => Became::Written,
    };
    let delay = delay::find(reading, &written, &became, cli.locale).await?;
    let spoken = match &delay {
        Some(delay) => spoken(&deed, &became, command).delayed_by(delay),
        None => spoken(&deed, &became, command),
    };
    match cli.json {
        true => {
            let mut told = as_json(reading, &written, command, &became).await?;
            told["delayed_by"] = json!(delay.map(|delay| delay.code));
            println!("{told}");
        }
        false => println!("{}", spoken.lines(cli.locale)),
    }
    Ok(spoken.code)
}

/// Returns the row as it is now, with the contract's stable keys.
async fn as_json(
    reading: &Reading,
    written: &Written,
    command: Option<i64>,
    became: &Became,
) -> Result<Value, espelho_store::Error> {
    let Written { store, intent, keys, .. } = written;
    let mut told = json!({
        "store": store.as_str(), "entity": intent.as_str(), "rows": keys.len(),
        "service_stopped": *became == Became::ServiceStopped,
    });
    if let Some(command) = command {
        told["command"] = json!(command);
    }
    if let Became::Rows { done, open, refused } = became {
        told["done"] = json!(done);
        told["open"] = json!(open);
        told["refused"] = json!(refused);
    }
    // The command did not wait for the delivery.
    if *became == Became::Written && written.last_test_before.is_some() {
        told["arrived"] = Value::Null;
    }
    if let Became::Tested(arrival) = became {
        told["arrived"] = json!(*arrival == Arrival::Arrived);
        told["signature_refused"] = json!(*arrival == Arrival::Refused);
    }
    if let [key] = keys.as_slice() {
        let row = reading.store.intents().answer_of(store.as_str(), *intent, key).await?;
        told["key"] = json!(key);
        told["state"] = json!(row.as_ref().and_then(|row| row.state).map(PushState::as_str));
        told["error_code"] = json!(row.as_ref().and_then(|row| row.code.clone()));
        told["error"] = json!(row.as_ref().and_then(|row| row.error.clone()));
        told["hint"] = json!(row.and_then(|row| row.hint));
    }
    Ok(told)
}

async fn write(
    reading: &Reading,
    store: StoreKey,
    intent: Intent,
) -> Result<(Written, Option<i64>), espelho_store::Error> {
    match intent {
        Intent::Rows(rows) => {
            let (intent, keys) = match &rows {
                Rows::Stock(rows) => (
                    IntentKind::Stock,
                    rows.iter().map(|row| format!("{}/{}", row.sku, row.location)).collect(),
                ),
                Rows::Prices(rows) => {
                    let key = |row: &DesiredPrice| format!("{}/{}", row.sku, row.min_quantity);
                    (IntentKind::Price, rows.iter().map(key).collect())
                }
            };
            rows.write(&reading.store, &store).await?;
            let written = Written { store, intent, keys, last_test_before: None, unverified_before: None };
            Ok((written, None))
        }
        Intent::Command { kind, key, data } => {
            let (last_test_before, unverified_before) = match kind {
                CommandKind::WebhookTest => (
                    Some(wait::last_test_delivery(reading, &store, 0).await?),
                    wait::unverified(reading, &store).await,
                ),
                _ => (None, None),
            };
            let id = reading.store.commands().command(&store, kind, &key, Some(data.to_string())).await?;
            let (intent, keys) = (IntentKind::Command, vec![id.to_string()]);
            Ok((Written { store, intent, keys, last_test_before, unverified_before }, Some(id)))
        }
    }
}

impl<'a> IntentCommand<'a> {
    fn args(&self) -> &'a WriteArgs {
        match self {
            Self::Stock(StockCommand::Set { write, .. } | StockCommand::Adjust { write, .. })
            | Self::Price(PriceCommand::Set { write, .. })
            | Self::Orders(OrdersCommand::Advance { write, .. } | OrdersCommand::Notes { write, .. })
            | Self::Labels(LabelsCommand::Generate { write, .. })
            | Self::Campaigns(CampaignsCommand::Join { write, .. })
            | Self::Import(ImportArgs { write, .. }) => write,
            Self::WebhookTest(write) => write,
        }
    }
}

async fn checked(cli: &Cli, reading: &Reading, intent: &IntentCommand<'_>) -> Result<Checked, Stopped> {
    let store = the_store(reading, intent.args().store.as_deref())?;
    let (deed, intent) = match intent {
        IntentCommand::Stock(command) => stock(cli.locale, reading, &store, command).await?,
        IntentCommand::Price(command) => price(cli.locale, reading, &store, command).await?,
        IntentCommand::Orders(command) => orders(command)?,
        IntentCommand::Labels(command) => labels(command)?,
        IntentCommand::Campaigns(CampaignsCommand::Join { campaign, listings, .. }) => {
            let data = json!({"publication_ids": listings});
            let deed = Deed::Campaign { campaign: campaign.clone(), listings: listings.len() };
            (deed, Intent::Command { kind: CommandKind::CampaignOptIn, key: campaign.clone(), data })
        }
        IntentCommand::WebhookTest(_) => {
            let (kind, key) = (CommandKind::WebhookTest, store.as_str().to_owned());
            (Deed::TestDelivery, Intent::Command { kind, key, data: Value::Null })
        }
        IntentCommand::Import(ImportArgs { kind, file, .. }) => {
            let rows = read_file(cli.locale, *kind, file, &known(reading, &store).await?)?;
            (Deed::File { rows: rows.len() }, Intent::Rows(rows))
        }
    };
    Ok(Checked { store, deed, intent })
}

async fn stock(
    locale: Locale,
    reading: &Reading,
    store: &StoreKey,
    command: &StockCommand,
) -> Result<(Deed, Intent), Stopped> {
    let (StockCommand::Set { sku, location, .. } | StockCommand::Adjust { sku, location, .. }) = command;
    let known = known(reading, store).await?;
    check::sku(sku, &known)?;
    let (place, name) = check::location(location, &known)?;
    let unit = reading.store.lookups().base_unit(store, sku).await?;
    match command {
        StockCommand::Set { quantity, .. } => {
            let quantity = number_of(locale, quantity, Arg::Quantity)?;
            check::quantity(quantity, unit.as_deref())?;
            let before = reading.store.lookups().mirrored_level(store, sku, &place).await?;
            let deed = Deed::Level { sku: sku.clone(), location: name, before, after: quantity };
            let row = DesiredStock { sku: sku.clone(), location: place, quantity };
            Ok((deed, Intent::Rows(Rows::Stock(vec![row]))))
        }
        StockCommand::Adjust { delta, .. } => {
            let delta = number_of(locale, delta, Arg::Quantity)?;
            check::delta(delta, unit.as_deref())?;
            let data = json!({"location_id": place, "delta": delta.to_string()});
            let deed = Deed::Movement { sku: sku.clone(), location: name, delta };
            Ok((deed, Intent::Command { kind: CommandKind::StockAdjust, key: sku.clone(), data }))
        }
    }
}

async fn price(
    locale: Locale,
    reading: &Reading,
    store: &StoreKey,
    PriceCommand::Set { sku, price, min_quantity, .. }: &PriceCommand,
) -> Result<(Deed, Intent), Stopped> {
    check::sku(sku, &known(reading, store).await?)?;
    let price = number_of(locale, price, Arg::Money)?;
    check::price(price, *min_quantity)?;
    let before = reading.store.lookups().mirrored_price(store, sku, i64::from(*min_quantity)).await?;
    let deed = Deed::Price { sku: sku.clone(), min_quantity: *min_quantity, before, after: price };
    let row = DesiredPrice {
        sku: sku.clone(),
        min_quantity: i64::from(*min_quantity),
        price: Some(price),
        discount_percent: None,
        package: [None; 4],
    };
    Ok((deed, Intent::Rows(Rows::Prices(vec![row]))))
}

fn orders(command: &OrdersCommand) -> Result<(Deed, Intent), Refusal> {
    match command {
        OrdersCommand::Advance { number, status, data, .. } => {
            let status = check::status_named(status)?;
            if let Some(field) = data.as_deref().and_then(doubled_name) {
                return Err(Refusal::new("usage", text!("value-doubled-field", field = field)));
            }
            let data = match data {
                Some(text) => serde_json::from_str(text).map_err(|error| {
                    let (line, column) = (error.line(), error.column());
                    Refusal::new("usage", text!("intents-no-json", line = line, column = column))
                })?,
                None => Value::Null,
            };
            let data = json!({"status": status, "data": data});
            let deed = Deed::Status { order: number.clone(), status: status.to_owned() };
            Ok((deed, Intent::Command { kind: CommandKind::OrderStatus, key: number.clone(), data }))
        }
        OrdersCommand::Notes { number, text, .. } => {
            let text = (!text.is_empty()).then_some(text);
            let deed = Deed::Notes { order: number.clone() };
            let data = json!({"notes": text});
            Ok((deed, Intent::Command { kind: CommandKind::OrderNotes, key: number.clone(), data }))
        }
    }
}

fn labels(command: &LabelsCommand) -> Result<(Deed, Intent), Refusal> {
    let LabelsCommand::Generate { number, format, regenerate, .. } = command;
    let mut data = json!({});
    if let Some(format) = format {
        check::format(format)?;
        data["format"] = json!(format);
    }
    if *regenerate {
        data["regenerate"] = json!(true);
    }
    let deed = Deed::Labels { order: number.clone() };
    Ok((deed, Intent::Command { kind: CommandKind::LabelsGenerate, key: number.clone(), data }))
}

fn read_file(locale: Locale, kind: ImportKind, file: &Path, known: &Known) -> Result<Rows, Refusal> {
    let name = file.display().to_string();
    let bytes = std::fs::read(file).map_err(|error| {
        let problem = match error.kind() {
            ErrorKind::NotFound => text!("files-missing"),
            _ => text!("words-quoted", said = error.to_string()),
        };
        Refusal::new("usage", text!("intents-no-file", file = name.as_str(), problem = problem))
    })?;
    import::rows(kind, &bytes, known).map_err(|bad| {
        let lines: Vec<String> = bad.texts().iter().map(|text| text.message(locale)).collect();
        Refusal::new("bad_lines", text!("intents-bad-lines", file = name.as_str(), lines = lines.join("; ")))
    })
}

async fn known(reading: &Reading, store: &StoreKey) -> Result<Known, espelho_store::Error> {
    let is_mirrored = reading.store.runs().has_all_products(store).await?;
    if !is_mirrored {
        return Ok(Known::default());
    }
    let (skus, locations) =
        (reading.store.lookups().skus(store).await?, reading.store.lookups().stock_locations(store).await?);
    Ok(Known { skus: skus.into_iter().collect(), locations, is_mirrored })
}

/// Returns the named store, or the only one.
fn the_store(reading: &Reading, asked: Option<&str>) -> Result<StoreKey, Stopped> {
    match named(&reading.configuration, asked)?.as_slice() {
        [only] => Ok(only.clone()),
        all => {
            let known: Vec<&str> = all.iter().map(StoreKey::as_str).collect();
            Err(Refusal::new("usage", text!("intents-several-stores", known = known.join(", "))).into())
        }
    }
}

/// Parses a number. An ambiguous number is asked back on a terminal, and refused elsewhere.
fn number_of(locale: Locale, text: &str, shown: fn(Decimal) -> Arg) -> Result<Decimal, Refusal> {
    let (thousands, decimals) = match number::read(text, Convention::Unknown) {
        number::Reading::Clear(number) => return Ok(number),
        number::Reading::Unreadable => {
            return Err(Refusal::new("usage", text!("intents-no-number", text = text)));
        }
        number::Reading::Ambiguous { thousands, decimals } => (thousands, decimals.normalize()),
    };
    if prompt::is_possible() {
        let question = text!(
            "intents-ambiguous-question",
            text = text,
            thousands = shown(thousands),
            decimals = shown(decimals)
        );
        match prompt::ask(&question.message(locale)).as_deref() {
            Some("1") => return Ok(thousands),
            Some("2") => return Ok(decimals),
            _ => (),
        }
    }
    let refusal = text!(
        "intents-ambiguous",
        text = text,
        thousands = shown(thousands),
        decimals = shown(decimals),
        plain = thousands.to_string(),
        exact = decimals.to_string()
    );
    Err(Refusal::new("ambiguous_number", refusal))
}
