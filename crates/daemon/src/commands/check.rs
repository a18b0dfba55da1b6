//! `espelho check`: the configuration, and nothing else.

use espelho_model::text;
use espelho_store::Store;
use espelho_sync_engine::{Problem, Trouble};
use serde_json::json;

use super::{load, say};
use crate::{cli::Cli, config, exit};

pub(super) fn run(cli: &Cli) -> u8 {
    let configuration = match load(cli) {
        Ok(configuration) => configuration,
        Err(code) => return code,
    };
    if let Err(error) = Store::check_address(&configuration.installation.database.url) {
        return say(&Problem::from_store(&error), cli);
    }
    let folder = config::directory(cli.config.as_deref());
    if let Some(file) = configuration.not_the_services(&folder) {
        let denied = text!("config-file-not-services", path = file.display().to_string());
        say(&Problem::of(Trouble::Configuration, "configuration", denied), cli);
        return exit::PARTIAL;
    }
    let stores: Vec<&str> = configuration.stores.iter().map(|store| store.key.as_str()).collect();
    match cli.json {
        true => println!("{}", json!({ "state": "complete", "stores": stores })),
        false => {
            let text = text!("run-check-valid", stores = stores.join(", "));
            println!("{}", text.message(cli.locale));
        }
    }
    exit::COMPLETE
}
