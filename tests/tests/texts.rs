//! Compares the text catalogue with the code that names its messages, and the pages of error codes with both.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use espelho_model::text::{Language, Locale, Text};
use espelho_sync_engine::plan::alarms::Code;
use espelho_tests::error_codes::{ErrorCodes, GivenCode, codes_in, given_codes};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Collects every identifier that code or a template names as `text!("…"`.
fn named_in(folder: &Path, named: &mut BTreeSet<(String, String)>) {
    for entry in fs::read_dir(folder).expect("the folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            named_in(&path, named);
        } else if path.extension().is_some_and(|extension| extension == "rs" || extension == "html") {
            let source = fs::read_to_string(&path).expect("a source");
            let code = source.lines().filter(|line| !line.trim_start().starts_with("//"));
            let code: String = code.collect::<Vec<_>>().join("\n");
            for after in code.split("text!(").skip(1) {
                let id = after.trim_start().strip_prefix('"').and_then(|rest| rest.split_once('"'));
                if let Some((id, _)) = id {
                    named.insert((id.to_owned(), path.display().to_string()));
                }
            }
        }
    }
}

#[test]
fn every_message_that_code_names_is_in_the_catalogue() {
    let mut named = BTreeSet::new();
    named_in(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates"), &mut named);
    assert!(!named.is_empty(), "no code names a message");
    let unknown: Vec<_> = named.iter().filter(|(id, _)| !Text::new(id.clone()).is_known()).collect();
    assert!(unknown.is_empty(), "not in the catalogue: {unknown:#?}");
}

#[test]
fn every_error_code_of_the_sources_is_explained() {
    let codes = ErrorCodes::read(&root());
    assert_eq!(codes.faults(), Vec::<String>::new());
    let given = given_codes(&root());
    assert!(given.len() > 100, "the sources were not understood: {given:#?}");
    let missing = codes.missing(&given);
    assert!(missing.is_empty(), "tests/errors.toml lacks them, or explains them otherwise: {missing:#?}");
    for code in Code::ALL {
        assert!(codes.has("alarms", code.as_str()), "the alarm {code} is not explained");
    }
}

#[test]
fn every_alarm_is_described_and_has_a_first_step() {
    let page = |name: &str| fs::read_to_string(root().join("docs").join(name)).expect("a page");
    let (described, handbook) = (page("ALARMS.md"), page("OPERATIONS.md"));
    let steps: Vec<&str> = handbook
        .lines()
        .skip_while(|line| *line != "| alarm | first |")
        .take_while(|line| line.starts_with('|'))
        .filter_map(|line| line.split('|').nth(1))
        .collect();
    for code in Code::ALL {
        assert!(described.contains(&format!("\n- `{code}`\n")), "docs/ALARMS.md says nothing of {code}");
        let has_step = steps.iter().any(|codes| codes.contains(&format!("`{code}`")));
        assert!(has_step, "docs/OPERATIONS.md has no first step for {code}");
    }
}

#[test]
fn every_cause_of_a_row_has_a_name_for_the_title_of_its_card() {
    let codes = ErrorCodes::read(&root());
    for place in ["rows", "marketplace", "mirror"] {
        // One in capitals stands for many, which have a name together.
        let is_one = |code: &&str| !code.chars().any(|letter| letter.is_ascii_uppercase());
        let name = |code: &str| Text::new(format!("errors-code-{}", code.replace('_', "-")));
        let nameless: Vec<&str> =
            codes.codes_of(place).filter(is_one).filter(|code| !name(code).is_known()).collect();
        assert_eq!(nameless, Vec::<&str>::new(), "{place}");
    }
}

#[test]
fn every_explained_error_code_is_one_that_somebody_gives() {
    let mut folders = ["crates/api-client", "crates/store", "crates/sync-engine", "crates/daemon"]
        .map(|name| root().join(name).join("src"))
        .to_vec();
    folders.push(root().join("migrations"));
    let mut sources = String::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("the folder") {
            let path = entry.expect("an entry").path();
            match path.is_dir() {
                true => folders.push(path),
                false => sources.push_str(&fs::read_to_string(&path).unwrap_or_default()),
            }
        }
    }
    let codes = ErrorCodes::read(&root());
    let is_given =
        |code: &str| sources.contains(&format!("\"{code}\"")) || sources.contains(&format!("'{code}'"));
    // One in capitals stands for many.
    let is_one = |code: &&&str| !code.chars().any(|letter| letter.is_ascii_uppercase());
    let all = codes.codes();
    let lost: Vec<_> = all.iter().filter(is_one).filter(|code| !is_given(code)).collect();
    assert!(lost.is_empty(), "nobody gives {lost:?}");
}

#[test]
fn the_pages_of_error_codes_say_what_the_catalogue_says() {
    let codes = ErrorCodes::read(&root());
    for (language, name) in [(Language::English, "ERRORS.md"), (Language::Portuguese, "ERRORS.pt-BR.md")] {
        let (page, path) = (codes.page(language), root().join("docs").join(name));
        if std::env::var_os("ESPELHO_BLESS").is_some() {
            fs::write(&path, &page).expect("the page is written");
        }
        let written = fs::read_to_string(&path).unwrap_or_default();
        assert!(written == page, "docs/{name} is out of date: run ESPELHO_BLESS=1 tests/run texts");
    }
}

#[test]
fn the_package_speaks_the_language_of_whoever_installs_it() {
    for name in ["postinst", "postrm"] {
        let script = fs::read_to_string(root().join("systemd/deb").join(name)).expect("a script");
        let (_, rest) = script.split_once("say() {").expect("a function");
        let (body, _) = rest.split_once("\n}\n").expect("its end");
        let elsewhere = script.replacen(body, "", 1);
        assert!(elsewhere.contains("say \"") && !elsewhere.contains("echo"), "{name} speaks by another way");
        for (locale, expected) in [
            (&[("LANG", "pt_BR.UTF-8")][..], "espelho: olá\n"),
            (&[("LANG", "en_US.UTF-8")], "espelho: hello\n"),
            (&[("LANG", "pt_BR.UTF-8"), ("LC_ALL", "C.UTF-8")], "espelho: hello\n"),
            (&[("LANG", "C"), ("LC_MESSAGES", "pt_PT")], "espelho: olá\n"),
            (&[], "espelho: hello\n"),
        ] {
            let mut shell = Command::new("sh");
            shell.env_clear().envs(locale.iter().copied());
            let said = shell
                .args(["-euc", &format!("say() {{{body}\n}}\nsay olá hello")])
                .output()
                .expect("a shell");
            assert_eq!(String::from_utf8_lossy(&said.stdout), expected, "{name} {locale:?}");
        }
    }
}

#[test]
fn codes_are_found_in_a_source_with_the_message_beside_them() {
    let check = |source: &str, expected: &[(&str, Option<&str>)]| {
        let found = codes_in(source, "x.rs");
        let expected: Vec<GivenCode> = expected
            .iter()
            .map(|(code, text)| GivenCode {
                code: (*code).to_owned(),
                text: text.map(str::to_owned),
                file: "x.rs".to_owned(),
            })
            .collect();
        assert_eq!(found, expected, "{source}");
    };
    check("Message::new(\"rain\", text!(\"push-rain\"))", &[("rain", Some("push-rain"))]);
    check("Message::new(\n    \"rain\",\n    text,\n)", &[("rain", None)]);
    check("Problem::of(Trouble::Failure, \"rain\", text!(\"x\", a = 1))", &[("rain", Some("x"))]);
    check("Problem::new(Trouble::Failure, \"rain\", &error, text!(\"x\"))", &[("rain", Some("x"))]);
    check("(Trouble::Held, \"held\")", &[("held", None)]);
    check("\"SET error_code = 'rain', x\"", &[("rain", None)]);
    check("// Message::new(\"rain\", text)\nlet word = \"sun\";", &[]);
}

/// Returns the identifier and the names of the arguments of each `text!("…"` in a source.
fn calls_in(code: &str) -> Vec<(String, Vec<String>)> {
    let call = |after: &str| {
        let (id, arguments) = after.trim_start().strip_prefix('"')?.split_once('"')?;
        let mut depth = 1;
        let of_call = |letter: &char| {
            depth += i32::from("([{".contains(*letter)) - i32::from(")]}".contains(*letter));
            depth > 0
        };
        let arguments: String = arguments.chars().take_while(of_call).collect();
        let names = arguments.split(" = ").map(|before| before.rsplit([' ', '(']).next().unwrap_or_default());
        Some((id.to_owned(), names.map(str::to_owned).collect()))
    };
    code.split("text!(").skip(1).filter_map(call).collect()
}

#[test]
fn a_finding_of_doctor_has_every_argument_of_its_sentence_and_of_the_next_step_that_it_borrows() {
    // Its fields are added where the finding is made.
    const ADDED_LATER: [&str; 1] = ["doctor-login-refused"];
    let folder = root().join("crates/daemon/src/commands/doctor");
    let mut calls = Vec::new();
    for entry in fs::read_dir(folder).expect("the folder") {
        calls.extend(calls_in(&fs::read_to_string(entry.expect("an entry").path()).expect("a source")));
    }
    let findings = calls.into_iter().filter(|(id, _)| id.starts_with("doctor-"));
    let mut checked = 0;
    for (id, names) in findings.filter(|(id, _)| !ADDED_LATER.contains(&id.as_str())) {
        let text = names.iter().fold(Text::new(id), |text, name| text.with(name.clone(), "x"));
        for locale in Language::ALL.map(Locale::of) {
            let said = [Some(text.message(locale)), text.next(locale)];
            let gaps: Vec<_> = said.into_iter().flatten().filter(|said| said.contains("{$")).collect();
            assert!(gaps.is_empty(), "{}: {gaps:?}", text.id());
        }
        checked += 1;
    }
    assert!(checked > 50, "{checked}");
}
