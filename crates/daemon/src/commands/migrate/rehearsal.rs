//! `espelho migrate --rehearse`: the pending migrations on a copy, beside a running service.

use espelho_model::{clock::SystemClock, text};
use espelho_store::{Rehearsal, Store, rehearse};
use espelho_sync_engine::{Problem, Trouble};
use tokio_util::sync::CancellationToken;

use super::{
    super::{backup::Bar, no_signals, say},
    report::Report,
};
use crate::{
    cli::Cli, config::Configuration, context::stop_on_signals, exit, place::Place, report::problem_lines,
};

pub(super) async fn run(cli: &Cli, configuration: &Configuration) -> u8 {
    let stop = CancellationToken::new();
    if let Err(error) = stop_on_signals(&stop) {
        eprintln!("espelho: {}", no_signals(&error).message(cli.locale));
        return exit::FAILED;
    }
    let place = match Place::to_read(configuration) {
        Ok(place) => place,
        Err(problem) => return say(&problem, cli),
    };
    let rehearsal = match rehearsed(&place, &stop).await {
        Ok(rehearsal) => rehearsal,
        Err(problem) => return say(&problem, cli),
    };
    let report = Report { address: Store::shown(&place.url), rehearsal };
    match cli.json {
        true => println!("{}", report.as_json(cli.locale)),
        false => println!("{}", report.as_text(cli.locale)),
    }
    let Some((code, problem)) = report.problem() else { return exit::COMPLETE };
    eprint!("espelho:\n{}", problem_lines(&problem, cli.locale));
    code
}

async fn rehearsed(place: &Place, stop: &CancellationToken) -> Result<Rehearsal, Problem> {
    let bar = Bar::new();
    let told = |name, done, all| bar.tell(name, done, all);
    let rehearsal = rehearse(&place.url, SystemClock::shared(), &told, stop.cancelled()).await?;
    rehearsal.ok_or_else(|| Problem::of(Trouble::Stopped, "stopped", text!("rehearsal-stopped")))
}
