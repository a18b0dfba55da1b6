//! `espelho status`: how everything is. The service is asked where it answers; else the database is looked at.

use std::{io::IsTerminal as _, net::SocketAddr, sync::Arc};

use espelho_model::{Clock, StoreKey, clock::SystemClock};
use espelho_sync_engine::Problem;

use super::{
    load,
    reading::{attach, named},
    say,
};
use crate::{
    cli::Cli,
    config::Configuration,
    exit, local,
    status::{self, Counted, Health, Look, Picture},
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
    let asked = ask_service(configuration.installation.http.listen, of.as_ref(), &clock).await;
    let picture = match asked {
        Some(picture) => picture,
        None => match look(&configuration, of.as_ref(), &clock).await {
            Ok(picture) => picture,
            Err(problem) => return say(&problem, cli),
        },
    };
    let colours = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    match cli.json {
        true => println!("{}", serde_json::json!(picture)),
        false => print!("{}", status::show(&picture, Look { colours })),
    }
    match picture.state {
        Health::Ok => exit::COMPLETE,
        Health::Failing => exit::PARTIAL,
    }
}

/// The running service's own picture. Whatever else answers there is not the service.
async fn ask_service(listen: SocketAddr, of: Option<&StoreKey>, clock: &Arc<dyn Clock>) -> Option<Picture> {
    let path = of.map_or_else(|| "/status".to_owned(), |key| format!("/status?store={key}"));
    let answer = local::request(listen, "GET", &path, None, clock).await.ok()?;
    if answer.status != 200 {
        return None;
    }
    serde_json::from_str(&answer.text().await.ok()?).ok()
}

async fn look(
    configuration: &Configuration,
    of: Option<&StoreKey>,
    clock: &Arc<dyn Clock>,
) -> Result<Picture, Problem> {
    let store = attach(configuration, clock).await?;
    let shown = configuration.shown();
    let picture = async {
        let counted = Counted::take(&store, of).await?;
        status::collect(&store, &**clock, (&shown, of), &counted, None).await
    };
    let picture = picture.await;
    store.close().await;
    picture.map_err(|error| Problem::from_store(&error))
}
