//! `espelho sandbox`: serves the marketplace in a box, and tells people in their language where it is and how to log in.

use std::net::SocketAddr;

use espelho_model::{
    text,
    text::{Locale, Text},
};
use espelho_sandbox::{
    Error, StoreAccess,
    cli::{Args, announcement, interrupted, open},
};
use espelho_sync_engine::{Problem, Trouble};

use super::say;
use crate::{cli::Cli, exit, ports};

/// The most stores whose credentials are printed for people.
const SHOWN: usize = 5;

/// A running sandbox, as people are told of it.
struct Served<'a> {
    base_url: &'a str,
    storage: &'a str,
    has_levers: bool,
}

pub(super) async fn run(cli: &Cli, arguments: &Args) -> u8 {
    match serve(cli, arguments).await {
        Ok(()) => exit::COMPLETE,
        Err(error) => say(&refusal(&error, arguments), cli),
    }
}

async fn serve(cli: &Cli, arguments: &Args) -> Result<(), Error> {
    if let Some(folder) = &arguments.olist {
        let text = text!("sandbox-loading", folder = folder.display().to_string());
        eprintln!("{}", text.message(cli.locale));
    }
    let sandbox = open(arguments).await?;
    let (base_url, storage, stores) = (sandbox.base_url(), sandbox.storage_origin(), sandbox.stores());
    let has_levers = sandbox.control().is_served();
    let served = Served { base_url: &base_url, storage: &storage, has_levers };
    for line in greeting(&served, &stores, cli.locale) {
        eprintln!("{line}");
    }
    if cli.json || arguments.json {
        println!("{}", announcement(base_url, &stores));
    }
    interrupted().await?;
    sandbox.stop().await;
    Ok(())
}

/// Returns the lines for people: the page first, which has everything else.
fn greeting(served: &Served<'_>, stores: &[StoreAccess], locale: Locale) -> Vec<String> {
    let Served { base_url, storage, has_levers } = *served;
    let page = if has_levers { text!("sandbox-page-controls") } else { text!("sandbox-page") };
    let mut lines = vec![
        page.with("address", format!("{base_url}/")),
        text!("sandbox-api", address = base_url),
        text!("sandbox-storage", address = storage),
    ];
    lines.extend(stores.iter().take(SHOWN).map(|StoreAccess { key, username, password, .. }| {
        text!("sandbox-credential", store = key, username = username, password = password)
    }));
    if stores.len() > SHOWN {
        lines.push(text!("sandbox-more", more = stores.len() - SHOWN));
    }
    lines.extend(stores.first().map(|store| text!("sandbox-try", command = login(base_url, store))));
    lines.push(text!("sandbox-end"));
    lines.iter().map(|text| text.message(locale)).collect()
}

/// Returns a command line that logs in.
fn login(base_url: &str, StoreAccess { username, password, .. }: &StoreAccess) -> String {
    format!(
        "curl -s {base_url}/api/integration/auth -H 'Content-Type: application/json' \\\n  \
         -d '{{\"username\":\"{username}\",\"password\":\"{password}\"}}'"
    )
}

/// Returns why the sandbox does not serve.
fn refusal(error: &Error, arguments: &Args) -> Problem {
    let file = |path: &std::path::Path| path.display().to_string();
    let unreadable = |text: Text| Problem::new(Trouble::Failure, "unreadable_data", error, text);
    match error {
        Error::Listen { address, source } => {
            let text = taken(address, source, arguments);
            Problem::new(Trouble::Failure, "port_refused", error, text)
        }
        Error::OpenTable { path, source } => {
            unreadable(text!("sandbox-file-unopened", file = file(path), problem = source.to_string()))
        }
        Error::ReadTable { path, source } => {
            unreadable(text!("sandbox-file-unreadable", file = file(path), problem = source.to_string()))
        }
        Error::BadValue { path, record, column } => unreadable(text!(
            "sandbox-bad-value",
            file = file(path),
            record = record.to_string(),
            column = *column
        )),
        Error::Options(_) | Error::Signal { .. } => not_started(error),
    }
}

/// Returns the problem of a sandbox that failed for a reason that no option changes.
pub(super) fn not_started(error: &Error) -> Problem {
    let text = text!("sandbox-not-started", problem = super::in_full(error));
    Problem::new(Trouble::Failure, "not_started", error, text)
}

/// Returns why an address cannot be listened on, with the option that chooses another port.
fn taken(address: &str, error: &std::io::Error, arguments: &Args) -> Text {
    let Ok(parsed) = address.parse::<SocketAddr>() else {
        return text!("sandbox-not-started", problem = error.to_string());
    };
    let option = if parsed == arguments.listen { "--listen" } else { "--storage-listen" };
    let free = SocketAddr::new(parsed.ip(), 0).to_string();
    text!("sandbox-port", why = ports::reason(option, parsed, error), option = option, free = free)
}

#[cfg(test)]
mod tests {
    use std::{io, path::PathBuf};

    use clap::Parser;
    use espelho_model::text::Language;

    use super::*;

    #[derive(Debug, Parser)]
    struct Program {
        #[command(flatten)]
        arguments: Args,
    }

    fn arguments(line: &str) -> Args {
        let words = std::iter::once("sandbox").chain(line.split_whitespace());
        Program::try_parse_from(words).unwrap().arguments
    }

    fn stores(count: usize) -> Vec<StoreAccess> {
        let store = |number: usize| StoreAccess {
            key: format!("loja-{number}"),
            name: "Casa".into(),
            username: format!("loja-{number}@abc"),
            password: "segredo".into(),
        };
        (1..=count).map(store).collect()
    }

    #[test]
    fn a_sandbox_says_in_one_language_where_its_page_is_and_how_to_log_in() {
        let served = |has_levers| Served {
            base_url: "http://127.0.0.1:8799",
            storage: "http://127.0.0.1:4000",
            has_levers,
        };
        let [portuguese, english] =
            Language::ALL.map(|language| greeting(&served(false), &stores(7), Locale::of(language)));
        for lines in [&portuguese, &english] {
            assert!(
                lines[0].contains("http://127.0.0.1:8799/ ") && lines[0].contains("--control"),
                "{lines:?}"
            );
            let said = lines.join("\n");
            assert!(said.contains("http://127.0.0.1:4000") && said.contains("loja-1@abc"), "{said}");
            assert!(said.contains("curl -s http://127.0.0.1:8799/api/integration/auth"), "{said}");
            assert_eq!(lines.iter().filter(|line| line.contains("segredo")).count(), SHOWN + 1, "{said}");
        }
        let differs = portuguese.iter().zip(&english).all(|(one, other)| one != other);
        assert!(differs && portuguese[0].starts_with("Abra") && english[0].starts_with("Open"));
        let said = greeting(&served(true), &stores(1), Locale::of(Language::Portuguese));
        assert!(said[0].contains("controles") && !said[0].contains("--control"), "{said:?}");
    }

    #[test]
    fn a_sandbox_that_does_not_start_says_why_and_what_to_do_in_one_language() {
        let path = || PathBuf::from("/data/olist_orders.csv.gz");
        let gone = || io::Error::from(io::ErrorKind::NotFound);
        let listen = |address: &str, kind: io::ErrorKind| Error::Listen {
            address: address.into(),
            source: kind.into(),
        };
        for (error, code, words) in [
            (
                listen("192.0.2.1:8799", io::ErrorKind::AddrNotAvailable),
                "port_refused",
                ["--listen", "192.0.2.1:0"],
            ),
            (
                listen("192.0.2.1:9000", io::ErrorKind::PermissionDenied),
                "port_refused",
                ["--storage-listen", "192.0.2.1:0"],
            ),
            (
                Error::OpenTable { path: path(), source: gone() },
                "unreadable_data",
                ["olist_orders", "--olist"],
            ),
            (
                Error::BadValue { path: path(), record: 3, column: "price" },
                "unreadable_data",
                ["olist_orders", "price"],
            ),
            (Error::Options("no world"), "not_started", ["no world", "espelho"]),
        ] {
            let problem = refusal(&error, &arguments("--listen 192.0.2.1:8799"));
            assert_eq!(problem.code, code);
            let said = Language::ALL.map(Locale::of).map(|locale| problem.in_one_line(locale));
            assert!(words.iter().all(|word| said.iter().all(|said| said.contains(word))), "{said:?}");
            assert!(!problem.next(Locale::default()).is_empty() && said[0] != said[1], "{said:?}");
            assert!(!said.iter().any(|said| said.contains("espelho.toml")), "{said:?}");
        }
    }
}
