//! The command line of `espelho sandbox`.

use clap::{CommandFactory, Parser};
use espelho_sandbox::{ListShape, OlistSplit, Options, Window, cli::Args};

#[derive(Debug, Parser)]
struct Program {
    #[command(flatten)]
    args: Args,
}

fn options(line: &str) -> Result<Options, clap::error::ErrorKind> {
    let words = std::iter::once("sandbox").chain(line.split_whitespace());
    Program::try_parse_from(words).map(|program| Options::from(&program.args)).map_err(|error| error.kind())
}

#[test]
fn without_arguments_the_options_are_the_default_ones() {
    let parsed = options("").unwrap();
    assert_eq!(format!("{parsed:?}"), format!("{:?}", Options::default()));
}

#[test]
fn every_argument_reaches_its_option() {
    let line = "--stores 3 --orders 10 --products 5 --seed 9 --rate off --rate-window first-hit \
                --list-shape laravel --numbers-as-strings --ignore-page --control --strict-scopes --public-webhooks";
    let parsed = options(line).unwrap();
    assert_eq!((parsed.stores, parsed.orders, parsed.products, parsed.seed), (3, 10, 5, 9));
    assert_eq!((parsed.rate, parsed.window), (None, Window::FirstHit));
    assert_eq!(parsed.list_shape, ListShape::Laravel);
    assert!(parsed.numbers_as_strings && parsed.ignore_page && parsed.control);
    assert!(parsed.strict_scopes && !parsed.local_webhooks);
    let olist = options("--olist /data --olist-split per-seller").unwrap().olist.unwrap();
    assert_eq!((olist.dir.to_str(), olist.split), (Some("/data"), OlistSplit::PerSeller));
    assert_eq!(options("--olist /data").unwrap().olist.unwrap().split, OlistSplit::OneStore);
    for window in ["fixed", "sliding"] {
        options(&format!("--rate 1 --rate-window {window}")).unwrap();
    }
}

#[test]
fn the_storage_has_an_address_and_the_beta_a_switch() {
    let parsed = options("--storage-listen 127.0.0.1:9000 --open-store-page").unwrap();
    assert_eq!((parsed.storage, parsed.store_page), (Some(([127, 0, 0, 1], 9000).into()), true));
    assert_eq!(options("--storage-listen x").unwrap_err(), clap::error::ErrorKind::ValueValidation);
}

#[test]
fn arguments_that_contradict_each_other_are_refused() {
    use clap::error::ErrorKind;
    let kind = |line: &str| options(line).unwrap_err();
    assert_eq!(kind("--olist /data --orders 10"), ErrorKind::ArgumentConflict);
    assert_eq!(kind("--olist-split per-seller"), ErrorKind::MissingRequiredArgument);
    assert_eq!(kind("--rate 0"), ErrorKind::ValueValidation);
    assert_eq!(kind("--listen nowhere"), ErrorKind::ValueValidation);
}

#[test]
fn the_long_help_explains_every_option_under_a_heading_and_shows_how_to_begin() {
    let mut command = Program::command();
    for argument in command.get_arguments().filter(|argument| argument.get_id() != "help") {
        assert!(argument.get_help().is_some() && argument.get_help_heading().is_some(), "{argument}");
    }
    let help = command.render_long_help().to_string();
    for text in [
        "Examples:",
        "/api/integration/auth",
        "/openapi.json",
        "/_sandbox/clock",
        "--control",
        "Request limit:",
    ] {
        assert!(help.contains(text), "{text} in {help}");
    }
}
