//! `espelho run`: the service.

use std::sync::Arc;

use espelho_sync_engine::{Problem, Silent, Trouble};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::{load, no_signals, say};
use crate::{
    cli::Cli,
    config,
    context::{Shared, stop_on_signals},
    exit,
    files::raise_file_limit,
    http::webhook::{self, OpenError},
    lifecycle::{Outside, Service},
    panics::Panics,
    ports,
    reload::Reloads,
    telemetry,
    traces::Traces,
};

pub(super) async fn run(cli: &Cli) -> u8 {
    let configuration = match load(cli) {
        Ok(configuration) => configuration,
        Err(code) => return code,
    };
    let traces = Traces::of(&configuration.installation.traces);
    telemetry::start_with_traces(
        configuration.installation.log.format,
        &configuration.installation.log.level,
        traces.as_ref(),
    );
    raise_file_limit();
    let outside = match (
        Panics::listen(),
        Reloads::of(config::directory(cli.config.as_deref()), espelho_model::clock::SystemClock::shared()),
    ) {
        (panics, Ok(reloads)) => Outside { panics, reloads: Some(reloads) },
        (_, Err(error)) => {
            eprintln!("espelho: {}", no_signals(&error.into()).message(cli.locale));
            return exit::FAILED;
        }
    };
    let stop = CancellationToken::new();
    if let Err(error) = stop_on_signals(&stop) {
        eprintln!("espelho: {}", no_signals(&error).message(cli.locale));
        return exit::FAILED;
    }
    let listen = configuration.installation.http.listen;
    let listener = match TcpListener::bind(listen).await {
        Ok(listener) => listener,
        Err(error) => {
            let problem = ports::refusal("http.listen", listen, &error, &configuration.stores).await;
            return say(&problem, cli);
        }
    };
    let webhooks = match webhook::open(&configuration) {
        Ok(webhooks) => webhooks,
        Err(OpenError::Listen(listen, error)) => {
            let problem = ports::refusal("webhooks.listen", listen, &error, &configuration.stores).await;
            return say(&problem, cli);
        }
        Err(OpenError::Certificate(why)) => {
            return say(&Problem::of(Trouble::Failure, "certificate", why), cli);
        }
    };
    let shared = match Shared::open(&configuration, "run", Arc::new(Silent), stop).await {
        Ok(shared) => shared,
        Err(problem) => return say(&problem, cli),
    };
    let ended = Service::new(shared, configuration).run(listener, webhooks, outside).await;
    Traces::end(traces).await;
    match ended {
        Ok(()) => exit::COMPLETE,
        Err(problem) => say(&problem, cli),
    }
}
