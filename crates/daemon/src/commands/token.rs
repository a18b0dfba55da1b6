//! `espelho token status`: what the database knows of each store's token. It never logs in, and shows no token.

mod standing;

use std::path::Path;

use chrono::{DateTime, TimeDelta, Utc};
use espelho_model::text::Locale;
use espelho_store::Error;
use espelho_sync_engine::{Problem, plan::alarms::Code};
use serde_json::json;

use self::standing::{Records, Standing};
use super::{
    reading::{Reading, named},
    say,
};
use crate::{cli::Cli, config, config::StoreConfig, exit};

/// The store keeps logins for a week.
const LOGINS_KEPT: TimeDelta = TimeDelta::days(7);

pub(super) async fn status(cli: &Cli, store: Option<&str>) -> u8 {
    let reading = match Reading::open(cli).await {
        Ok(reading) => reading,
        Err(code) => return code,
    };
    let standings = match named(&reading.configuration, store) {
        Ok(keys) => {
            let stores = reading.configuration.stores.iter().filter(|config| keys.contains(&config.key));
            let directory = config::directory(cli.config.as_deref());
            read(&reading, &directory, stores).await.map_err(Problem::from)
        }
        Err(problem) => Err(problem),
    };
    reading.store.close().await;
    match standings {
        Ok(standings) => {
            show(&standings, cli, reading.clock.now());
            exit::COMPLETE
        }
        Err(problem) => say(&problem, cli),
    }
}

async fn read<'c>(
    reading: &Reading,
    directory: &Path,
    stores: impl Iterator<Item = &'c StoreConfig>,
) -> Result<Vec<Standing>, Error> {
    let (now, tokens) = (reading.clock.now(), reading.store.tokens());
    let alarms = reading.store.alarms().recorded_alarms().await?;
    let mut standings = Vec::new();
    for config in stores {
        let is_about = |store: &Option<String>| store.as_deref() == Some(config.key.as_str());
        let refused = alarms
            .iter()
            .find(|alarm| alarm.code == Code::CredentialRefused.as_str() && is_about(&alarm.store));
        let logins = tokens.logins_since(&config.key, now - LOGINS_KEPT).await?;
        let records = Records {
            token: tokens.token(&config.key).await?,
            logins: logins.into_iter().map(|login| (login.at, login.reason)).collect(),
            refused: refused.map(|alarm| alarm.since),
            written_at: config.password_written_at(directory),
        };
        standings.push(Standing::of(config, records, now));
    }
    Ok(standings)
}

fn show(standings: &[Standing], cli: &Cli, now: DateTime<Utc>) {
    if cli.json {
        let stores: Vec<_> = standings.iter().map(|standing| standing.as_json(now)).collect();
        println!("{}", json!({ "stores": stores }));
        return;
    }
    standings.iter().for_each(|standing| print!("{}", lines(standing, cli.locale, now)));
}

fn lines(standing: &Standing, locale: Locale, now: DateTime<Utc>) -> String {
    let lines = standing.words(now).into_iter().map(|text| format!("  {}\n", text.message(locale)));
    format!("{}:\n{}", standing.store, lines.collect::<String>())
}
