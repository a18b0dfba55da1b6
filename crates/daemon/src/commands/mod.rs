//! The commands, one file each.

mod audit;
mod backup;
mod check;
mod decide;
mod demo;
mod doctor;
mod errors;
mod explain;
mod feed;
mod migrate;
mod plan;
mod prompt;
mod reading;
mod restore;
mod resync;
mod run;
mod status;
mod webhook;
mod wishes;

use clap::CommandFactory as _;
use espelho_sync_engine::{Problem, Trouble};

use self::{decide::Decision, wishes::Wish};
use crate::{
    cli::{Cli, Command, WebhookCommand},
    config::{self, Configuration},
    exit, report,
};

/// Runs a command; gives the exit code.
pub(crate) async fn run(cli: Cli) -> u8 {
    if cli.resync.resync && cli.command.is_some() {
        eprintln!("espelho: --resync is a run of its own; leave the command out");
        return exit::CONFIGURATION;
    }
    if cli.resync.resync {
        return resync::run(&cli).await;
    }
    match &cli.command {
        None | Some(Command::Run) => run::run(&cli).await,
        Some(Command::Demo(arguments)) => demo::run(arguments, cli.json).await,
        Some(Command::Sandbox(arguments)) => sandbox(arguments.clone(), cli.json).await,
        Some(Command::Check) => check::run(&cli),
        Some(Command::Doctor) => doctor::run(&cli).await,
        Some(Command::Migrate) => migrate::run(&cli).await,
        Some(Command::Webhook(WebhookCommand::Move { store })) => webhook::let_move(&cli, store).await,
        Some(Command::Backup { path }) => backup::run(&cli, path.as_deref()).await,
        Some(Command::Restore { path, replace }) => restore::run(&cli, path, *replace).await,
        Some(Command::Status { store }) => status::run(&cli, store.as_deref()).await,
        Some(Command::Errors(arguments)) => errors::run(&cli, arguments).await,
        Some(Command::Explain(arguments)) => explain::run(&cli, arguments).await,
        Some(Command::Held) => decide::held(&cli).await,
        Some(Command::Release(arguments)) => decide::decide(&cli, Decision::Release, arguments).await,
        Some(Command::Retry(arguments)) => {
            let decision = if arguments.ignored { Decision::BringBack } else { Decision::Retry };
            decide::decide(&cli, decision, &arguments.decide).await
        }
        Some(Command::Ignore(arguments)) => decide::decide(&cli, Decision::Ignore, arguments).await,
        Some(Command::Plan { store, apply }) => plan::run(&cli, store.as_deref(), *apply).await,
        Some(Command::Stock(command)) => wishes::run(&cli, Wish::Stock(command)).await,
        Some(Command::Price(command)) => wishes::run(&cli, Wish::Price(command)).await,
        Some(Command::Orders(command)) => wishes::run(&cli, Wish::Orders(command)).await,
        Some(Command::Labels(command)) => wishes::run(&cli, Wish::Labels(command)).await,
        Some(Command::Campaigns(command)) => wishes::run(&cli, Wish::Campaigns(command)).await,
        Some(Command::Import(arguments)) => wishes::run(&cli, Wish::Import(arguments)).await,
        Some(Command::Feed(arguments)) => feed::run(&cli, arguments).await,
        Some(Command::Audit(arguments)) => audit::run(&cli, arguments).await,
        Some(Command::Completions { shell }) => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Cli::command(), "espelho", &mut script);
            print!("{}", String::from_utf8_lossy(&script));
            exit::COMPLETE
        }
    }
}

async fn sandbox(mut arguments: espelho_sandbox::cli::Args, json: bool) -> u8 {
    arguments.json |= json;
    match espelho_sandbox::cli::run(arguments).await {
        Ok(()) => exit::COMPLETE,
        Err(error) => {
            eprintln!("espelho sandbox: {}", in_full(&error));
            exit::FAILED
        }
    }
}

/// Reads the configuration, or says every mistake in it.
fn load(cli: &Cli) -> Result<Configuration, u8> {
    config::load(&config::directory(cli.config.as_deref())).map_err(|errors| {
        let problems: Vec<Problem> = errors
            .iter()
            .map(|error| {
                Problem::new(
                    Trouble::Configuration,
                    "configuration",
                    error,
                    "correct it and run `espelho check`",
                )
            })
            .collect();
        problems.iter().for_each(|problem| eprintln!("espelho: {}", problem.error));
        if cli.json {
            println!("{}", report::failure_json(&problems));
        }
        exit::CONFIGURATION
    })
}

/// Says a problem that kept a command from beginning; gives the exit code.
fn say(problem: &Problem, json: bool) -> u8 {
    eprint!("espelho:\n{}", report::problem_lines(problem));
    if json {
        println!("{}", report::failure_json(std::slice::from_ref(problem)));
    }
    match problem.trouble {
        Trouble::Configuration => exit::CONFIGURATION,
        Trouble::Authentication => exit::AUTHENTICATION,
        Trouble::Held => exit::HELD,
        Trouble::Guard => exit::GUARD,
        Trouble::Failure | Trouble::Stopped => exit::FAILED,
    }
}

fn in_full(error: &dyn std::error::Error) -> String {
    Problem::new(Trouble::Failure, "", error, "").error
}
