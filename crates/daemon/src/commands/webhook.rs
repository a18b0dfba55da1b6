//! `espelho webhook`: `move` allows a webhook to get another address, `replay` has deliveries handled again.

mod replay;

use espelho_model::{sync::RunState, text, text::Text};
use espelho_sync_engine::{Problem, Trouble};
use serde_json::json;

use super::{
    reading::{Reading, named},
    reload::{Ended, NO_SERVICE, refused, reload},
    say,
};
use crate::{
    cli::{Cli, MoveArgs, ReplayArgs},
    context::webhook_owner,
    exit,
};

/// Moves a webhook to the configured address. A service of this installation reads the configuration first: its login
/// registers the address that it knows.
pub(super) async fn let_move(cli: &Cli, arguments: &MoveArgs) -> u8 {
    let store = arguments.store();
    let reading = match Reading::open(cli).await {
        Ok(reading) => reading,
        Err(code) => return code,
    };
    let done = move_to_configured(&reading, store).await;
    reading.store.close().await;
    let moved = match done {
        Ok(moved) => moved,
        Err(problem) => return say(&problem, cli),
    };
    let (state, text) = (moved.state(), moved.text().with("store", store));
    match cli.json {
        true => println!("{}", json!({ "state": state.as_str(), "message": text.message(cli.locale) })),
        false => {
            println!("{}", text.message(cli.locale));
            text.next(cli.locale).iter().for_each(|next| println!("{next}"));
        }
    }
    if state == RunState::Complete { exit::COMPLETE } else { exit::PARTIAL }
}

/// The result of a move.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Moved {
    /// The webhook has the configured address.
    Already(String),
    /// The service has read the configuration, and its next login moves the webhook.
    ByService,
    /// The next login moves it; no service runs here.
    ByNextLogin,
    /// The next login moves it, of a service that is not known to have read the configuration.
    Unconfirmed,
}

impl Moved {
    /// Judges what became of the service's reading; a refused one moves nothing.
    fn after(reloaded: Result<Ended, Problem>) -> Result<Self, Problem> {
        match reloaded {
            Ok(Ended::Whole | Ended::Partly(_)) => Ok(Self::ByService),
            Ok(Ended::Refused(mistakes)) => Err(refused(&mistakes)),
            Ok(Ended::Unknown) => Ok(Self::Unconfirmed),
            Err(problem) if NO_SERVICE.contains(&problem.text.id()) => Ok(Self::ByNextLogin),
            Err(_) => Ok(Self::Unconfirmed),
        }
    }

    fn state(&self) -> RunState {
        match self {
            Self::Already(_) | Self::ByService | Self::ByNextLogin => RunState::Complete,
            Self::Unconfirmed => RunState::Partial,
        }
    }

    fn text(&self) -> Text {
        match self {
            Self::Already(address) => text!("run-webhook-there", address = address),
            Self::ByService => text!("run-webhook-moving"),
            Self::ByNextLogin => text!("run-webhook-moved"),
            Self::Unconfirmed => text!("run-webhook-unconfirmed"),
        }
    }
}

async fn move_to_configured(reading: &Reading, store: &str) -> Result<Moved, Problem> {
    named(&reading.configuration, Some(store))?;
    let config = reading.configuration.stores.iter().find(|config| config.key.as_str() == store);
    let refuse =
        |text: Text| Problem::of(Trouble::Configuration, "webhook_address", text.with("store", store));
    let (config, webhook) = match config.map(|config| (config, config.webhook.as_ref())) {
        Some((config, Some(webhook))) if webhook.secret.is_none() => (config, webhook),
        Some((_, Some(_))) => return Err(refuse(text!("run-webhook-by-hand"))),
        _ => return Err(refuse(text!("run-webhook-none"))),
    };
    let (inbox, owner) = (reading.store.inbox(), webhook_owner(config));
    let registered = inbox.webhook_address(owner).await?.map(|registered| registered.url);
    let is_there = registered.as_ref() == Some(&webhook.public_url);
    // The service reads after it: it would tell for a moment of an address that is not its own.
    if !is_there {
        inbox.let_webhook_move(&config.key).await?;
    }
    let moved = Moved::after(reload(&reading.configuration, &reading.clock).await);
    if let (Err(_), Some(url)) = (&moved, registered.filter(|_| !is_there)) {
        inbox.keep_webhook_address(webhook_owner(config), &url).await?;
    }
    let moved = moved?;
    if is_there {
        return Ok(Moved::Already(webhook.public_url.clone()));
    }
    // A login with the files before may have come between.
    let now = inbox.webhook_address(webhook_owner(config)).await?;
    if now.is_some_and(|now| now.url != webhook.public_url) {
        inbox.let_webhook_move(&config.key).await?;
    }
    Ok(moved)
}

pub(super) async fn replay(cli: &Cli, arguments: &ReplayArgs) -> u8 {
    replay::run(cli, arguments).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_move_is_only_sure_where_the_service_has_read_the_address_or_none_runs() {
        let failed = |id: &'static str| Err(Problem::of(Trouble::Failure, "reload", Text::new(id)));
        for (reloaded, expected) in [
            (Ok(Ended::Whole), Some(Moved::ByService)),
            (Ok(Ended::Partly(vec!["language".into()])), Some(Moved::ByService)),
            (Ok(Ended::Unknown), Some(Moved::Unconfirmed)),
            (Ok(Ended::Refused(vec![Text::new("a")])), None),
            (failed("run-reload-no-service"), Some(Moved::ByNextLogin)),
            (failed("run-reload-other"), Some(Moved::ByNextLogin)),
            (failed("run-reload-denied"), Some(Moved::Unconfirmed)),
            (failed("run-reload-not-here"), Some(Moved::Unconfirmed)),
        ] {
            let told = format!("{reloaded:?}");
            assert_eq!(Moved::after(reloaded).ok(), expected, "{told}");
        }
    }
}
