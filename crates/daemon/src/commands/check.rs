//! `espelho check`: the configuration, and nothing else.

use serde_json::json;

use super::load;
use crate::{cli::Cli, exit};

pub(super) fn run(cli: &Cli) -> u8 {
    let configuration = match load(cli) {
        Ok(configuration) => configuration,
        Err(code) => return code,
    };
    let stores: Vec<&str> = configuration.stores.iter().map(|store| store.key.as_str()).collect();
    match cli.json {
        true => println!("{}", json!({ "state": "complete", "stores": stores })),
        false => println!("the configuration is valid; stores: {}", stores.join(", ")),
    }
    exit::COMPLETE
}
