//! Compares the layers of the workspace with cargo and the sources (docs/ARCHITECTURE.md).
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    process::Command,
};

use espelho_tests::modules::Modules;
use serde_json::Value;

/// The allowed dependencies within the workspace, in the order of the layers.
const LAYERS: [(&str, &[&str]); 7] = [
    ("espelho-model", &[]),
    ("espelho-api-client", &["espelho-model"]),
    ("espelho-store", &["espelho-model"]),
    ("espelho-sync-engine", &["espelho-model", "espelho-api-client", "espelho-store"]),
    // The sandbox shares no type with the client that is tested against it.
    ("espelho-sandbox", &[]),
    (
        "espelho-daemon",
        &["espelho-model", "espelho-api-client", "espelho-store", "espelho-sync-engine", "espelho-sandbox"],
    ),
    // For tests of any layer.
    ("espelho-test-database", &[]),
];

/// Dependencies of tests alone: where their databases come from; and the engine's component tests run the sandbox in their
/// own process, and speak to it over HTTP.
const OF_TESTS: [(&str, &str); 3] = [
    ("espelho-sync-engine", "espelho-sandbox"),
    ("espelho-sync-engine", "espelho-test-database"),
    ("espelho-store", "espelho-test-database"),
];

/// Crates that the product does not contain.
const TESTS: [&str; 2] = ["espelho-tests", "espelho-test-database"];

/// Packages that only some crates may use. Tests may use all of them.
const OWNERS: [(&str, &[&str]); 19] = [
    ("sqlx", &["espelho-store"]),
    // The daemon uses reqwest's `Url` to check addresses, and sends messages about alarms; the sandbox sends webhooks.
    ("reqwest", &["espelho-api-client", "espelho-daemon", "espelho-sandbox"]),
    ("governor", &["espelho-api-client"]),
    ("backoff", &["espelho-api-client"]),
    ("anyhow", &["espelho-daemon"]),
    ("config", &["espelho-daemon"]),
    ("toml", &["espelho-daemon"]),
    ("tokio-cron-scheduler", &["espelho-daemon"]),
    ("clap_complete", &["espelho-daemon"]),
    ("indicatif", &["espelho-daemon"]),
    ("axum", &["espelho-daemon"]),
    ("tracing-subscriber", &["espelho-daemon"]),
    ("metrics-exporter-prometheus", &["espelho-daemon"]),
    ("metrics-process", &["espelho-daemon"]),
    ("askama", &["espelho-daemon"]),
    ("comfy-table", &["espelho-daemon"]),
    ("textwrap", &["espelho-daemon"]),
    ("hyper", &["espelho-daemon", "espelho-sandbox"]),
    ("lettre", &["espelho-daemon"]),
];

/// Words that only the file that owns the thing may use.
const BANNED: [(&str, &[&str]); 13] = [
    ("Utc::now", &["model/src/clock.rs", "sandbox/src/clock.rs"]),
    ("Local::now", &[]),
    ("SystemTime::now", &[]),
    ("Instant::now", &["model/src/clock.rs", "sandbox/src/clock.rs"]),
    ("time::sleep", &["model/src/clock.rs", "sandbox/src/clock.rs"]),
    ("thread::sleep", &[]),
    ("reqwest::get", &[]),
    // All requests to the marketplace, and files behind signed addresses, which must never see the token.
    ("client.execute(", &["api-client/src/send.rs", "api-client/src/signed.rs", "api-client/src/probe.rs"]),
    ("sqlx::", &["store/"]),
    // A statement is a fixed text with placeholders for values; only the driver writes the placeholders of a list.
    ("AssertSqlSafe", &["store/src/driver/mod.rs", "store/src/driver/tx.rs"]),
    ("QueryBuilder", &[]),
    ("clippy::all", &[]),
    ("unsafe ", &[]),
];

#[test]
fn crates_depend_only_on_the_layers_below_them() {
    let dependencies = dependencies();
    let members: BTreeSet<&str> = dependencies.keys().map(String::as_str).collect();
    let known: BTreeSet<&str> = LAYERS.iter().map(|(name, _)| *name).chain(["espelho-tests"]).collect();
    assert_eq!(members, known, "a crate is missing from the layers");
    for (name, allowed) in LAYERS {
        let inner = dependencies[name].iter().filter(|d| d.name.starts_with("espelho-"));
        let is_for_tests = |d: &&Dependency| d.kind == "dev" && OF_TESTS.contains(&(name, d.name.as_str()));
        for dependency in inner.filter(|d| !is_for_tests(d)) {
            assert!(allowed.contains(&dependency.name.as_str()), "{name} depends on {}", dependency.name);
        }
    }
}

/// Crates whose modules import each other in circles still, and in how many.
const CIRCLES: [(&str, usize); 0] = [];

#[test]
fn modules_do_not_import_each_other_in_circles() {
    for name in ["model", "api-client", "store", "sync-engine", "sandbox", "daemon"] {
        let circles = Modules::read(&root().join("crates").join(name).join("src")).circles();
        let known = CIRCLES.iter().find(|(own, _)| *own == name).map_or(0, |(_, count)| *count);
        assert_eq!(circles.len(), known, "{name}: {circles:#?}");
    }
}

/// Words that would make a decision wait, or look at more than it is given.
const IMPURE: [&str; 8] =
    ["async ", ".await", "tokio", "std::fs", "std::net", "std::env", "std::process", "monotonic()"];

#[test]
fn what_decides_is_pure() {
    let plan = root().join("crates/sync-engine/src/plan");
    for (path, text) in texts_below(vec![plan]).into_iter().filter(|(path, _)| !path.ends_with("tests.rs")) {
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
        for line in lines {
            let found = IMPURE.iter().find(|word| line.contains(**word));
            assert!(found.is_none(), "{}: {line}", path.display());
        }
    }
}

#[test]
fn the_tests_that_hold_the_invariants_exist() {
    let page = std::fs::read_to_string(root().join("docs/ARCHITECTURE.md")).unwrap();
    let invariants = page.split_once("## Invariants").unwrap().1;
    let is_test =
        |word: &&str| word.matches('_').count() >= 3 && word.chars().all(|c| c == '_' || c.is_alphanumeric());
    let named: Vec<&str> = invariants.split('`').skip(1).step_by(2).filter(is_test).collect();
    assert!(named.len() >= 20, "{named:?}");
    let all: Vec<(PathBuf, String)> =
        ["crates", "tests"].iter().flat_map(|folder| texts_below(vec![root().join(folder)])).collect();
    for name in named {
        let function = format!("fn {name}(");
        assert!(all.iter().any(|(_, text)| text.contains(&function)), "no test is called {name}");
    }
}

#[test]
fn packages_are_used_by_the_crates_that_own_them() {
    for (name, dependencies) in dependencies() {
        let normal = dependencies.iter().filter(|d| d.kind != "dev" && !TESTS.contains(&name.as_str()));
        for dependency in normal {
            let owners = OWNERS.iter().find(|(package, _)| *package == dependency.name);
            assert!(
                owners.is_none_or(|(_, owners)| owners.contains(&name.as_str())),
                "{name} depends on {}, which belongs to {owners:?}",
                dependency.name
            );
        }
    }
}

#[test]
fn sqlx_is_for_the_store_and_the_tests_even_in_development() {
    for (name, dependencies) in dependencies() {
        // The ERP of the component tests speaks SQL.
        let is_rig = |d: &Dependency| name == "espelho-sync-engine" && d.kind == "dev";
        let uses = dependencies.iter().any(|d| d.name == "sqlx" && !is_rig(d));
        assert!(!uses || name == "espelho-store" || TESTS.contains(&name.as_str()), "{name} depends on sqlx");
    }
}

#[test]
fn the_daemon_sends_nothing_but_messages_about_alarms() {
    for (path, text) in sources() {
        let mentions: Vec<&str> = text.lines().filter(|line| line.contains("reqwest::")).collect();
        let senders = ["sandbox/src/webhooks/sender.rs", "daemon/src/outgoing.rs"];
        let may_send = path.starts_with("api-client/") || senders.contains(&path.as_str());
        let allowed = may_send || mentions.iter().all(|line| line.contains("reqwest::Url"));
        assert!(allowed, "{path}: {mentions:?}");
    }
}

// withstands: F129
#[test]
fn banned_words_stay_in_the_files_that_own_them() {
    let mut found = Vec::new();
    for (path, text) in sources() {
        for (word, owners) in BANNED {
            let owned = owners.iter().any(|owner| path.starts_with(owner));
            let uses = |line: &&str| line.contains(word) && !line.trim_start().starts_with("//");
            if let Some(line) = text.lines().find(uses).filter(|_| !owned) {
                found.push(format!("{path}: {}", line.trim()));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

// withstands: F040
#[test]
fn signatures_are_compared_in_constant_time_and_in_one_place_only() {
    let mut compared_in = Vec::new();
    for (path, text) in sources() {
        // The sandbox makes signatures, and receives none.
        if path.starts_with("sandbox/") || path.contains("/tests/") || !text.contains("Hmac") {
            continue;
        }
        assert!(text.contains("mac.verify_slice("), "{path} makes signatures and does not compare them");
        for hasty in ["finalize", "into_bytes", "== claimed", "claimed =="] {
            assert!(!text.contains(hasty), "{path}: {hasty}");
        }
        compared_in.push(path);
    }
    assert_eq!(compared_in, ["api-client/src/webhook/signature.rs"]);
}

#[test]
fn libraries_document_everything_public() {
    for name in ["model", "api-client", "store", "sync-engine", "sandbox"] {
        let text = std::fs::read_to_string(root().join("crates").join(name).join("src/lib.rs")).unwrap();
        assert!(text.contains("#![deny(missing_docs)]"), "{name} does not deny missing_docs");
    }
}

#[test]
fn no_file_is_named_after_nothing() {
    for (path, _) in sources() {
        let stem = Path::new(&path).file_stem().unwrap().to_string_lossy().into_owned();
        assert!(
            !["utils", "util", "common", "helpers", "helper", "manager", "misc"].contains(&stem.as_str()),
            "{path}"
        );
    }
}

#[test]
fn migrations_have_the_same_names_on_both_databases() {
    let names = |folder: &str| -> Vec<String> {
        let files = std::fs::read_dir(root().join("migrations").join(folder)).unwrap().map(Result::unwrap);
        let files = files.filter(|file| file.path().is_file());
        files.map(|file| file.file_name().to_string_lossy().into_owned()).collect()
    };
    let sorted = |mut names: Vec<String>| {
        names.sort();
        names
    };
    // On SQLite, durable data is in a second file.
    let on_sqlite = [names("sqlite"), names("sqlite/inbox")].concat();
    assert_eq!(sorted(on_sqlite), sorted(names("postgres")));
}

/// Programs on a bare Debian, and the compiler that `tests/run` installs.
const PROGRAMS: [&str; 6] = ["sh", "bash", "cc", "mount", "umount", "unshare"];

#[test]
fn no_test_starts_a_program_that_a_bare_machine_lacks() {
    // Split, so that this file does not count as one that starts a program.
    let start = concat!("Command::", "new(\"");
    let texts = texts_below(["tests/src", "tests/tests", "crates"].map(|folder| root().join(folder)).into());
    let named = |(_, text): &(PathBuf, String)| {
        text.split(start)
            .skip(1)
            .filter_map(|rest| rest.split('"').next().map(str::to_owned))
            .collect::<Vec<_>>()
    };
    let started: BTreeSet<String> = texts.iter().flat_map(named).collect();
    assert!(started.contains("sh"), "{started:?}");
    let lacking: Vec<_> = started.iter().filter(|name| !PROGRAMS.contains(&name.as_str())).collect();
    assert!(lacking.is_empty(), "{lacking:?}");
}

struct Dependency {
    name: String,
    kind: String,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// Returns the dependencies of each crate of the workspace.
fn dependencies() -> BTreeMap<String, Vec<Dependency>> {
    let arguments = ["metadata", "--format-version=1", "--no-deps", "--offline"];
    let output = Command::new(env!("CARGO")).args(arguments).current_dir(root()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap().iter();
    packages.map(|package| (text(&package["name"]), dependencies_of(package))).collect()
}

fn dependencies_of(package: &Value) -> Vec<Dependency> {
    let dependency = |d: &Value| Dependency {
        name: text(&d["name"]),
        kind: d["kind"].as_str().unwrap_or("normal").to_owned(),
    };
    package["dependencies"].as_array().unwrap().iter().map(dependency).collect()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// Returns every source of the product without its tests, by its path below `crates`.
fn sources() -> Vec<(String, String)> {
    let crates = root().join("crates");
    let folders = std::fs::read_dir(&crates).unwrap().map(|entry| entry.unwrap().path().join("src"));
    let of_the_product = |(path, text): (PathBuf, String)| {
        // The file's own tests follow.
        let product = text.split("#[cfg(test)]").next().unwrap_or_default().to_owned();
        (path.strip_prefix(&crates).unwrap().display().to_string(), product)
    };
    let sources: Vec<_> = texts_below(folders.collect()).into_iter().map(of_the_product).collect();
    assert!(sources.len() > 50, "the sources were not found");
    sources
}

/// Returns every Rust file in and below these folders.
fn texts_below(mut folders: Vec<PathBuf>) -> Vec<(PathBuf, String)> {
    let mut texts = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                texts.push((path, text));
            }
        }
    }
    texts
}
