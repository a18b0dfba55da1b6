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
mod forget;
mod get;
mod grants;
mod init;
mod intents;
mod man;
mod migrate;
mod notice;
mod pause;
mod plan;
mod prompt;
mod prune;
mod reading;
mod reload;
mod restore;
mod resync;
mod run;
mod sandbox;
mod status;
mod token;
mod webhook;

use std::net::SocketAddr;

use clap::CommandFactory as _;
use espelho_model::{text, text::Text};
use espelho_sync_engine::{Problem, Trouble};

use self::intents::IntentCommand;
use crate::{
    cli::{Cli, Command, EndedStateArg, GetCommand, NoticeCommand, TokenCommand, WebhookCommand},
    config::{self, ConfigError, Configuration},
    decisions::Decision,
    exit, help, report, users,
};

/// Runs a command, and returns its exit code.
pub(crate) async fn run(cli: Cli) -> u8 {
    if cli.resync.resync && cli.command.is_some() {
        eprintln!("espelho: {}", text!("run-resync-alone").message(cli.locale));
        return exit::CONFIGURATION;
    }
    if cli.resync.resync {
        return resync::run(&cli).await;
    }
    match &cli.command {
        None | Some(Command::Run) => run::run(&cli).await,
        Some(Command::Demo(arguments)) => demo::run(&cli, arguments).await,
        Some(Command::Sandbox(arguments)) => sandbox::run(&cli, arguments).await,
        Some(Command::Init(arguments)) => init::run(&cli, arguments).await,
        Some(Command::Check) => check::run(&cli),
        Some(Command::Reload) => reload::run(&cli).await,
        Some(Command::Doctor(arguments)) => doctor::run(&cli, arguments).await,
        Some(Command::Migrate(arguments)) => migrate::run(&cli, arguments).await,
        Some(Command::Webhook(WebhookCommand::Move(arguments))) => webhook::let_move(&cli, arguments).await,
        Some(Command::Webhook(WebhookCommand::Replay(arguments))) => webhook::replay(&cli, arguments).await,
        Some(Command::Webhook(WebhookCommand::Test { write })) => {
            intents::run(&cli, IntentCommand::WebhookTest(write)).await
        }
        Some(Command::Token(TokenCommand::Status { store })) => token::status(&cli, store.as_deref()).await,
        Some(Command::Notice(NoticeCommand::Test { channel })) => {
            notice::test(&cli, channel.as_deref()).await
        }
        Some(Command::Backup(arguments)) => backup::run(&cli, arguments).await,
        Some(Command::Restore { path, replace }) => restore::run(&cli, path, *replace).await,
        Some(Command::Prune(arguments)) => prune::run(&cli, arguments).await,
        Some(Command::Status(arguments)) => status::run(&cli, arguments).await,
        Some(Command::Man(arguments)) => man::run(&cli, arguments),
        Some(Command::Errors(arguments)) => errors::run(&cli, arguments).await,
        Some(Command::Explain(arguments)) => explain::run(&cli, arguments).await,
        Some(Command::Get(GetCommand::Order(arguments))) => get::order(&cli, arguments).await,
        Some(Command::Held { store }) => decide::held(&cli, store.as_deref()).await,
        Some(Command::Release(arguments)) => decide::decide(&cli, Decision::Release, arguments, None).await,
        Some(Command::Retry(arguments)) => {
            let decision = if arguments.ignored { Decision::BringBack } else { Decision::Retry };
            decide::decide(&cli, decision, &arguments.decide, None).await
        }
        Some(Command::Ignore(arguments)) => {
            let state = arguments.state.map(EndedStateArg::state);
            decide::decide(&cli, Decision::Ignore, &arguments.decide, state).await
        }
        Some(Command::Pause(arguments)) => pause::pause(&cli, arguments).await,
        Some(Command::Resume(arguments)) => pause::resume(&cli, arguments).await,
        Some(Command::Forget(arguments)) => forget::run(&cli, arguments).await,
        Some(Command::Plan { store, apply }) => plan::run(&cli, store.as_deref(), *apply).await,
        Some(Command::Stock(command)) => intents::run(&cli, IntentCommand::Stock(command)).await,
        Some(Command::Price(command)) => intents::run(&cli, IntentCommand::Price(command)).await,
        Some(Command::Orders(command)) => intents::run(&cli, IntentCommand::Orders(command)).await,
        Some(Command::Labels(command)) => intents::run(&cli, IntentCommand::Labels(command)).await,
        Some(Command::Campaigns(command)) => intents::run(&cli, IntentCommand::Campaigns(command)).await,
        Some(Command::Import(arguments)) => intents::run(&cli, IntentCommand::Import(arguments)).await,
        Some(Command::Grants { role }) => grants::run(&cli, role),
        Some(Command::Feed(arguments)) => feed::run(&cli, arguments).await,
        Some(Command::Audit(arguments)) => audit::run(&cli, arguments).await,
        Some(Command::Completions { shell }) => {
            let mut script = Vec::new();
            let mut command = help::in_language(Cli::command(), cli.locale);
            clap_complete::generate(*shell, &mut command, "espelho", &mut script);
            print!("{}", String::from_utf8_lossy(&script));
            exit::COMPLETE
        }
    }
}

/// Reads the configuration, or prints every mistake in it.
fn load(cli: &Cli) -> Result<Configuration, u8> {
    or_report(config::load(&config::directory(cli.config.as_deref())), cli)
}

/// Reads the configuration without its secrets, for a command that only reads the database.
fn load_to_read(cli: &Cli) -> Result<Configuration, u8> {
    or_report(config::load_without_secrets(&config::directory(cli.config.as_deref())), cli)
}

/// Reads where the service is asked. A mistake in a store's file does not matter: the running service has the files of its
/// start or of its last reload.
fn load_listen(cli: &Cli) -> Result<SocketAddr, u8> {
    or_report(
        config::load_listen(&config::directory(cli.config.as_deref())).map_err(|error| vec![error]),
        cli,
    )
}

fn or_report<T>(loaded: Result<T, Vec<ConfigError>>, cli: &Cli) -> Result<T, u8> {
    loaded.map_err(|mistakes| report_mistakes(&mistakes, cli))
}

/// Prints the mistakes of a configuration, for programs too; returns the exit code.
fn report_mistakes(mistakes: &[ConfigError], cli: &Cli) -> u8 {
    let problems = say_mistakes(mistakes, cli);
    if cli.json {
        println!("{}", report::failure_json(&problems, cli.locale));
    }
    exit::CONFIGURATION
}

/// Prints the mistakes of a configuration for people, and returns them as problems.
fn say_mistakes(mistakes: &[ConfigError], cli: &Cli) -> Vec<Problem> {
    let problem = |mistake: &ConfigError| {
        Problem::new(Trouble::Configuration, "configuration", mistake, mistake.text())
    };
    let problems: Vec<Problem> = mistakes.iter().map(problem).collect();
    for (problem, mistake) in problems.iter().zip(mistakes) {
        eprintln!("espelho: {}", problem.message(cli.locale));
        // A mistake in a file has its next step in its message.
        if mistake.is_of_another_user() {
            eprintln!("  {}", text!("run-next-step", next = problem.next(cli.locale)).message(cli.locale));
        }
    }
    problems
}

/// Prints a problem that kept a command from starting, and returns the exit code.
fn say(problem: &Problem, cli: &Cli) -> u8 {
    eprint!("espelho:\n{}", report::problem_lines(problem, cli.locale));
    if cli.json {
        println!("{}", report::failure_json(std::slice::from_ref(problem), cli.locale));
    }
    match problem.trouble {
        Trouble::Configuration => exit::CONFIGURATION,
        Trouble::Authentication => exit::AUTHENTICATION,
        Trouble::Held => exit::HELD,
        Trouble::Guard => exit::GUARD,
        Trouble::Failure | Trouble::Stopped => exit::FAILED,
    }
}

/// Returns the message that signals cannot be handled.
fn no_signals(error: &anyhow::Error) -> Text {
    text!("run-signals", problem = format!("{error:#}"))
}

/// Returns the operating system user who runs the command: the person behind `sudo`, where there is one.
fn operator() -> String {
    let names = ["SUDO_USER", "USER", "LOGNAME"].into_iter().filter_map(|name| std::env::var(name).ok());
    let name =
        names.filter(|name| !name.trim().is_empty()).map(|name| name.chars().take(64).collect()).next();
    let id = rustix::process::getuid().as_raw();
    name.or_else(|| users::name_of(id)).unwrap_or_else(|| format!("uid {id}"))
}

/// Returns who acts, as the record of acts names somebody at the command line. No operator of the page has a colon in the name.
fn actor() -> String {
    format!("cli:{}", operator())
}

fn in_full(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text.push_str(": ");
        text.push_str(&inner.to_string());
        cause = inner.source();
    }
    text
}
