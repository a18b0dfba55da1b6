//! `espelho run`: the service.

use std::sync::Arc;

use espelho_sync_engine::Silent;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::{load, say};
use crate::{
    cli::Cli,
    config::Configuration,
    context::{Shared, stop_on_signals},
    exit,
    http::webhook::{self, Tls},
    lifecycle::Service,
    telemetry,
};

pub(super) async fn run(cli: &Cli) -> u8 {
    let configuration = match load(cli) {
        Ok(configuration) => configuration,
        Err(code) => return code,
    };
    telemetry::start(configuration.installation.log.format, &configuration.installation.log.level);
    let stop = CancellationToken::new();
    if let Err(error) = stop_on_signals(&stop) {
        eprintln!("espelho: {error:#}");
        return exit::FAILED;
    }
    let listen = configuration.installation.http.listen;
    let listener = match TcpListener::bind(listen).await {
        Ok(listener) => listener,
        Err(error) => {
            eprintln!(
                "espelho: http.listen {listen} cannot be used ({error}); stop what listens there or choose another port"
            );
            return exit::FAILED;
        }
    };
    let webhooks = match webhook_listener(&configuration) {
        Ok(webhooks) => webhooks,
        Err(why) => {
            eprintln!("espelho: {why}");
            return exit::FAILED;
        }
    };
    let shared = match Shared::open(&configuration, "run", Arc::new(Silent), stop).await {
        Ok(shared) => shared,
        Err(problem) => return say(&problem, cli.json),
    };
    match Service::new(shared, configuration).run(listener, webhooks).await {
        Ok(()) => exit::COMPLETE,
        Err(problem) => say(&problem, cli.json),
    }
}

/// The receiver's socket and certificate, where a store receives webhooks.
fn webhook_listener(configuration: &Configuration) -> Result<Option<(TcpListener, Option<Tls>)>, String> {
    if configuration.stores.iter().all(|store| store.webhook.is_none()) {
        return Ok(None);
    }
    let section = &configuration.installation.webhooks;
    let tls = section.tls().map(Tls::load).transpose();
    let tls =
        tls.map_err(|e| format!("the receiver's certificate cannot be used ({e}); it takes PEM files"))?;
    let listener = webhook::listen(section.listen).map_err(|error| {
        let listen = section.listen;
        format!("webhooks.listen {listen} cannot be used ({error}); stop what listens there or choose another port")
    })?;
    Ok(Some((listener, tls)))
}
