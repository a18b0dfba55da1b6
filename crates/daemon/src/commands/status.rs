//! `espelho status`: the state of everything. It asks the service if that answers; otherwise it reads the database.

use std::{io::IsTerminal as _, net::SocketAddr, sync::Arc};

use espelho_model::{Clock, StoreKey, clock::SystemClock, text::Locale};
use espelho_sync_engine::{Problem, plan::alarms::decide};

use super::{
    load,
    reading::{attach, named},
    say,
};
use crate::{
    alarms::{self, ShownVerdict},
    cli::Cli,
    config::Configuration,
    exit, local,
    status::{self, Counted, StatusSnapshot, TextStyle},
};

pub(super) async fn run(cli: &Cli, store: Option<&str>) -> u8 {
    let configuration = match load(cli) {
        Ok(configuration) => configuration,
        Err(code) => return code,
    };
    let of = match named(&configuration, store) {
        Ok(keys) => store.and(keys.into_iter().next()),
        Err(problem) => return say(&problem, cli),
    };
    let clock = SystemClock::shared();
    let listen = configuration.installation.http.listen;
    let asked = ask_service(listen, of.as_ref(), cli.locale, &clock).await;
    let snapshot = match asked {
        Some(snapshot) => snapshot,
        None => match style(&configuration, of.as_ref(), cli.locale, &clock).await {
            Ok(snapshot) => snapshot,
            Err(problem) => return say(&problem, cli),
        },
    };
    let colours = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    match cli.json {
        true => println!("{}", serde_json::json!(snapshot)),
        false => print!("{}", status::show(&snapshot, TextStyle { colours, locale: cli.locale })),
    }
    match snapshot.state.as_str() {
        "ok" => exit::COMPLETE,
        _ => exit::PARTIAL,
    }
}

/// Returns the running service's own snapshot. Any other answer at the address is not from the service.
async fn ask_service(
    listen: SocketAddr,
    of: Option<&StoreKey>,
    locale: Locale,
    clock: &Arc<dyn Clock>,
) -> Option<StatusSnapshot> {
    let store = of.map(|key| format!("&store={key}")).unwrap_or_default();
    let path = format!("/status?lang={}{store}", locale.language);
    let answer = local::request(listen, "GET", &path, None, clock).await.ok()?;
    if answer.status != 200 {
        return None;
    }
    serde_json::from_str(&answer.text().await.ok()?).ok()
}

async fn style(
    configuration: &Configuration,
    of: Option<&StoreKey>,
    locale: Locale,
    clock: &Arc<dyn Clock>,
) -> Result<StatusSnapshot, Problem> {
    let store = attach(configuration, clock).await?;
    let shown = configuration.shown();
    let snapshot = async {
        let counted = match Counted::recorded(&store, of).await? {
            Some(recorded) if of.is_some() || recorded.has_all_of(&shown) => recorded,
            _ => Counted::take(&store, &**clock, of).await?,
        };
        let snapshot = status::collect(&store, &**clock, (&shown, of), &counted, None).await?;
        let seen = alarms::offline(&store, &shown, clock.now()).await?;
        Ok::<_, Problem>(snapshot.judged(ShownVerdict::of(&decide(&seen), locale)))
    };
    let snapshot = snapshot.await;
    store.close().await;
    snapshot
}
