//! Compares the API document's statements with the tests that prove them (docs/CONFORMANCE.md).
//!
//! The first two tests check the repository; the others use doctored sources to check that the ledger finds faults.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

use std::{
    fs,
    path::{Path, PathBuf},
};

use espelho_tests::ledger::{Area, Below, ConformanceLedger, anchor, claims};

#[test]
fn every_statement_of_the_conformance_ledger_is_proved() {
    let faults = ConformanceLedger::read(&root()).faults();
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn the_conformance_page_says_what_the_ledger_says() {
    let page = ConformanceLedger::read(&root()).page();
    let path = root().join("docs/CONFORMANCE.md");
    if std::env::var_os("ESPELHO_BLESS").is_some() {
        fs::write(&path, &page).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(written == page, "docs/CONFORMANCE.md is out of date: run ESPELHO_BLESS=1 tests/run conformance");
}

/// Two statements: the first for both sides, the second for the sandbox alone.
const STATEMENTS: &str = r#"
area = "Orders"
section = "Endpoints / Orders"
rank = 1

[[statement]]
id = "ORD-001"
says = "orders are listed"
sides = ["sandbox", "client"]

[[statement]]
id = "ORD-002"
says = "newest first | by default"
sides = ["sandbox"]
"#;

const SANDBOX: &str = "crates/sandbox/tests/orders.rs";
const CLIENT: &str = "crates/api-client/tests/orders.rs";
const END_TO_END: &str = "tests/tests/orders.rs";

/// Sources that prove all of [`STATEMENTS`].
const SANDBOX_SOURCE: &str = "CLAIM ORD-001, ORD-002\n#[test]\nfn orders_are_listed() {}\n";
const CLIENT_SOURCE: &str = "CLAIM ORD-001\n#[tokio::test]\nasync fn rows_are_read() {}\n";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// Inserts claims into a source. This file must not contain them literally, because they would count.
fn doctored(source: &str) -> String {
    source.replace("CLAIM", concat!("// ", "proves:"))
}

fn ledger(statements: &str, sources: &[(&str, &str)]) -> ConformanceLedger {
    let mut ledger = ConformanceLedger {
        areas: vec![Area::parse("orders.toml", statements)],
        ..ConformanceLedger::default()
    };
    ledger.claims = sources.iter().flat_map(|(file, source)| claims(file, &doctored(source))).collect();
    ledger.anchors = ["known-heading".to_owned()].into();
    ledger
}

fn faults(sources: &[(&str, &str)]) -> Vec<String> {
    ledger(STATEMENTS, sources).faults()
}

/// Returns the item below the only claim of a source.
fn below(source: &str) -> Below {
    let found = claims(SANDBOX, &doctored(source));
    assert_eq!(found.len(), 1, "{found:?}");
    found.into_iter().next().unwrap().below
}

/// Returns [`STATEMENTS`] with one more, whose last lines are given.
fn with_statement(rest: &str) -> String {
    format!("{STATEMENTS}\n[[statement]]\nid = \"ORD-003\"\nsays = \"x\"\n{rest}\n")
}

fn faults_with_statement(rest: &str) -> Vec<String> {
    ledger(&with_statement(rest), &[(SANDBOX, SANDBOX_SOURCE), (CLIENT, CLIENT_SOURCE)]).faults()
}

#[test]
fn a_ledger_in_order_has_no_faults() {
    assert!(faults(&[(SANDBOX, SANDBOX_SOURCE), (CLIENT, CLIENT_SOURCE)]).is_empty());
}

#[test]
fn a_lost_test_is_missed_on_its_side() {
    assert_eq!(
        faults(&[(SANDBOX, SANDBOX_SOURCE), (CLIENT, "#[tokio::test]\nasync fn rows_are_read() {}\n")]),
        ["ORD-001 has no proof on the client side: orders are listed"]
    );
    assert_eq!(
        faults(&[(CLIENT, CLIENT_SOURCE)]),
        [
            "ORD-001 has no proof on the sandbox side: orders are listed",
            "ORD-002 has no proof on the sandbox side: newest first | by default"
        ]
    );
}

#[test]
fn an_end_to_end_test_proves_both_sides() {
    assert!(faults(&[(END_TO_END, SANDBOX_SOURCE)]).is_empty());
}

#[test]
fn a_test_of_another_crate_proves_nothing() {
    let found = faults(&[("crates/store/tests/orders.rs", SANDBOX_SOURCE), (CLIENT, CLIENT_SOURCE)]);
    assert_eq!(found.len(), 2, "{found:?}");
}

#[test]
fn an_unknown_id_is_named_with_its_place() {
    let source = SANDBOX_SOURCE.replace("ORD-002", "ORD-002, ORD-999");
    assert_eq!(
        faults(&[(SANDBOX, &source), (CLIENT, CLIENT_SOURCE)]),
        ["crates/sandbox/tests/orders.rs:1: no statement is called ORD-999"]
    );
}

#[test]
fn a_claim_above_a_helper_function_is_no_proof() {
    let helper = "\nCLAIM ORD-001\nasync fn rows() {}\n";
    assert_eq!(
        faults(&[(SANDBOX, SANDBOX_SOURCE), (CLIENT, helper)]),
        [
            "ORD-001 has no proof on the client side: orders are listed",
            "crates/api-client/tests/orders.rs:2: ORD-001 would be proved by rows, which is no test"
        ]
    );
}

#[test]
fn an_ignored_test_is_no_proof() {
    for ignored in ["#[ignore]", "#[ignore = \"slow\"]", "#[cfg_attr(windows, ignore)]"] {
        let source = CLIENT_SOURCE.replace("async", &format!("{ignored}\nasync"));
        assert_eq!(
            faults(&[(SANDBOX, SANDBOX_SOURCE), (CLIENT, &source)]),
            [
                "ORD-001 has no proof on the client side: orders are listed",
                "crates/api-client/tests/orders.rs:1: ORD-001 would be proved by rows_are_read, which is ignored"
            ]
        );
    }
}

#[test]
fn a_claim_above_nothing_is_a_fault() {
    let found = faults(&[
        (SANDBOX, SANDBOX_SOURCE),
        (CLIENT, CLIENT_SOURCE),
        (END_TO_END, "CLAIM ORD-001\n\nmod x;"),
    ]);
    assert_eq!(found, ["tests/tests/orders.rs:1: the claim to prove ORD-001 stands above no test"]);
}

#[test]
fn a_claim_without_ids_is_a_fault() {
    let found = faults(&[
        (SANDBOX, SANDBOX_SOURCE),
        (CLIENT, CLIENT_SOURCE),
        (END_TO_END, "CLAIM \n#[test]\nfn x() {}"),
    ]);
    assert_eq!(found, ["tests/tests/orders.rs:1: the claim names no statement"]);
}

#[test]
fn an_id_given_twice_is_a_fault() {
    let mut ledger = ledger(STATEMENTS, &[(SANDBOX, SANDBOX_SOURCE), (CLIENT, CLIENT_SOURCE)]);
    ledger.areas.push(Area::parse("more.toml", &STATEMENTS.replace("ORD-002", "ORD-003")));
    assert!(
        ledger.faults().contains(&"ORD-001 names two statements, in orders.toml and in more.toml".to_owned())
    );
}

#[test]
fn a_statement_for_nobody_says_why() {
    assert_eq!(
        faults_with_statement("sides = []"),
        ["ORD-003 has no side and does not say why: give it `because` or `assumption`"]
    );
    assert!(faults_with_statement("sides = []\nbecause = \"the portal alone does it\"").is_empty());
}

#[test]
fn a_statement_that_is_proved_has_no_reason_not_to_be() {
    let both = faults_with_statement("sides = [\"sandbox\"]\nbecause = \"x\"");
    assert!(
        both.contains(&"ORD-003 has sides that prove it and a reason why nobody can: keep one".to_owned())
    );
    let statements = STATEMENTS.replace("sides = [\"sandbox\"]", "sides = []\nbecause = \"x\"");
    assert_eq!(
        ledger(&statements, &[(SANDBOX, SANDBOX_SOURCE), (CLIENT, CLIENT_SOURCE)]).faults(),
        ["ORD-002 says that nobody can prove it, and crates/sandbox/tests/orders.rs: orders_are_listed does"]
    );
}

#[test]
fn an_open_question_is_answered_by_a_heading() {
    assert!(faults_with_statement("sides = []\nassumption = \"known-heading\"").is_empty());
    assert_eq!(
        faults_with_statement("sides = []\nassumption = \"lost\""),
        ["ORD-003 is answered by docs/ASSUMPTIONS.md#lost, which is no heading there"]
    );
}

#[test]
#[should_panic(expected = "orders.toml")]
fn a_misspelt_key_is_not_passed_over() {
    ledger(&with_statement("side = [\"sandbox\"]"), &[]);
}

#[test]
fn a_test_is_found_below_comments_and_long_attributes() {
    for source in [
        "CLAIM ORD-001\n#[test]\nfn t() {}",
        "CLAIM ORD-001\n// CLAIM is no claim here\n/// Why.\n#[test]\nfn t() {}",
        "CLAIM ORD-001\n#[tokio::test(\n    flavor = \"multi_thread\",\n)]\nasync fn t() {}",
        "CLAIM ORD-001\n#[test]\n#[should_panic(expected = \"ignored\")]\nfn t() {}",
        "proptest! {\n    CLAIM ORD-001\n    #[test]\n    fn t(x in 0..9_u8) { x; }\n}",
        "on_both_databases!(s, t);\nCLAIM ORD-001\nasync fn t(kind: Kind) {}",
        "CLAIM ORD-001\nasync fn t(kind: Kind) {}\non_both_databases! {\n    s,\n    t,\n}",
    ] {
        assert_eq!(below(source), Below::Test("t".to_owned()), "{source}");
    }
}

#[test]
fn claims_on_several_lines_belong_to_one_test() {
    let source = doctored("CLAIM ORD-001\nCLAIM ORD-002,\n#[test]\nfn t() {}");
    let found = claims(SANDBOX, &source);
    assert_eq!(found.len(), 2);
    assert!(found.iter().all(|claim| claim.below == Below::Test("t".to_owned())));
    assert_eq!((found[1].line, found[1].ids.as_slice()), (2, ["ORD-002".to_owned()].as_slice()));
}

#[test]
fn a_test_further_down_does_not_take_the_claim_of_another_line() {
    assert_eq!(below("CLAIM ORD-001\nstruct X;\n#[test]\nfn t() {}"), Below::Nothing);
    assert_eq!(below("CLAIM ORD-001\nlet f = x.fn_like(\"fn t(\");"), Below::Nothing);
    assert_eq!(below("CLAIM ORD-001\n// #[test]\nfn t() {}"), Below::Other("t".to_owned()));
}

#[test]
fn anchors_are_those_of_the_rendered_headings() {
    assert_eq!(anchor("## Names of a line's price fields").as_deref(), Some("names-of-a-lines-price-fields"));
    assert_eq!(anchor("### `date_from` and `date_to`").as_deref(), Some("date_from-and-date_to"));
    assert_eq!(anchor("#no heading"), None);
    assert_eq!(anchor("text # with a sign"), None);
}

#[test]
fn the_page_shows_each_proof_and_each_gap() {
    let statements = with_statement("sides = []\nassumption = \"known-heading\"");
    let page = ledger(&statements, &[(SANDBOX, SANDBOX_SOURCE)]).page();
    for line in [
        "| [Orders](#orders) | 3 | 2 of 2 | 0 of 1 |",
        "| all | 3 | 2 of 2 | 0 of 1 |",
        "In the document: Endpoints / Orders.",
    ] {
        assert!(page.lines().any(|found| found == line), "{line}\n{page}");
    }
    let list = "\
- **ORD-001** orders are listed
  - sandbox:
    - crates/sandbox/tests/orders.rs: orders_are_listed
  - client: **none**
- **ORD-002** newest first | by default
  - sandbox:
    - crates/sandbox/tests/orders.rs: orders_are_listed
- **ORD-003** x
  - sandbox: [assumed](ASSUMPTIONS.md#known-heading)
  - client: [assumed](ASSUMPTIONS.md#known-heading)
";
    assert!(page.ends_with(list), "{page}");
}
