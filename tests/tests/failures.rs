//! Compares the catalogue of failures with the tests that show them (docs/FAILURES.md).
//!
//! The first three tests check the repository; the others use doctored sources to check that the catalogue finds
//! faults.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

use std::{
    fs,
    path::{Path, PathBuf},
};

use espelho_tests::{
    catalogue::{Area, Catalogue},
    ledger::tagged,
};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

#[test]
fn every_failure_of_the_catalogue_is_shown_or_says_what_it_waits_for() {
    let faults = Catalogue::read(&root()).faults(|file| root().join(file).is_file());
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn the_catalogue_has_every_number_from_1_to_155() {
    let catalogue = Catalogue::read(&root());
    let ids = catalogue.areas.iter().flat_map(|area| &area.failures).map(|failure| failure.id.clone());
    let expected: Vec<String> = (1..=155).map(|n| format!("F{n:03}")).collect();
    assert_eq!(ids.collect::<Vec<_>>(), expected);
}

#[test]
fn the_page_of_failures_says_what_the_catalogue_says() {
    let page = Catalogue::read(&root()).page();
    let path = root().join("docs/FAILURES.md");
    if std::env::var_os("ESPELHO_BLESS").is_some() {
        fs::write(&path, &page).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(written == page, "docs/FAILURES.md is out of date: run ESPELHO_BLESS=1 tests/run failures");
}

const TAG: &str = "// shows:";

/// Returns the faults of a catalogue of one failure, with `rest` in its entry, for a source.
fn faults(rest: &str, source: &str) -> Vec<String> {
    let entry = format!("id = \"F001\"\nhappens = \"rain\"\nresponse = \"umbrella\"\n{rest}\n");
    let area = Area::parse(&format!("area = \"Weather\"\nrank = 1\n[[failure]]\n{entry}"));
    let claims = tagged(TAG, "tests/weather.rs", source);
    Catalogue { areas: vec![area], claims }.faults(|file| file == "tests/run")
}

const CLAIM: &str = "// shows: F001\n#[test]\nfn it_rains() {}\n";

#[test]
fn a_failure_with_a_test_is_in_order() {
    assert!(faults("", CLAIM).is_empty());
    assert!(faults("waits = \"spring\"", "").is_empty());
    assert!(faults("shown_by = { file = \"tests/run\", how = \"x\" }", "").is_empty());
}

#[test]
fn a_lost_test_is_missed() {
    assert_eq!(faults("", "#[test]\nfn it_rains() {}\n"), ["F001 is shown by no test: rain"]);
    let ignored = CLAIM.replace("#[test]", "#[test]\n#[ignore]");
    assert_eq!(faults("", &ignored).len(), 2);
}

#[test]
fn a_failure_does_not_wait_for_what_is_shown() {
    assert_eq!(faults("waits = \"spring\"", CLAIM), ["F001 is shown, and yet waits for spring: keep one"]);
}

#[test]
fn a_check_that_is_no_file_is_named() {
    let lost = faults("shown_by = { file = \"tests/lost\", how = \"x\" }", "");
    assert_eq!(lost, ["F001 is shown by tests/lost, which is no file"]);
}

#[test]
fn a_claim_of_an_unknown_failure_is_named_with_its_place() {
    let found = faults("", &CLAIM.replace("F001", "F001, F999"));
    assert_eq!(found, ["tests/weather.rs:1: no failure is called F999"]);
}
