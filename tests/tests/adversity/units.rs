//! Compares the systemd units, the package and the container with the binary's behaviour.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use espelho_tests::{Installation, Kind};

const SERVICE: &str = include_str!("../../../systemd/espelho.service");
const SOCKET: &str = include_str!("../../../systemd/espelho.socket");

fn directives(unit: &'static str) -> BTreeMap<&'static str, &'static str> {
    unit.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once('=')).collect()
}

// withstands: F114
#[tokio::test]
async fn starts_are_paced_and_what_another_one_would_not_heal_has_an_exit_code_of_its_own() {
    let (unit, socket) = (directives(SERVICE), directives(SOCKET));
    // A start limit that is hit takes the socket down for good; the socket's own limit is never met by restarts.
    assert_eq!(unit["StartLimitIntervalSec"], "0");
    assert!(!unit.contains_key("StartLimitBurst"), "{unit:?}");
    let number = |text: &str| text.trim_end_matches('s').parse::<u32>().unwrap();
    let starts = number(socket["TriggerLimitIntervalSec"]).div_ceil(number(unit["RestartSec"])) + 1;
    assert!(starts < number(socket["TriggerLimitBurst"]), "{starts} restarts kill the socket");
    assert_eq!(unit["Restart"], "on-failure");
    let for_good: Vec<&str> = unit["RestartPreventExitStatus"].split(' ').collect();
    assert!(!for_good.contains(&"6"), "a store that is held becomes free");
    let installation = Installation::on(Kind::Sqlite).await;
    installation.write("stores/loja-1.toml", "environment = \"sandbox\"\nbase_ulr = \"x\"\n");
    let ended = installation.run(&["run"]).await;
    assert!(for_good.contains(&ended.code.to_string().as_str()), "{ended}");
    installation.write("espelho.toml", "[database]\nurl = \"sqlite:nowhere/espelho.db\"\n");
    installation.write("stores/loja-1.toml", "");
    let ended = installation.run(&["run"]).await;
    assert_ne!(ended.code, 0, "{ended}");
}

// withstands: F116, F127
#[test]
fn the_unit_bounds_memory_and_keeps_secrets_out_of_swap_dumps_and_the_hands_of_others() {
    let unit = directives(SERVICE);
    for (name, value) in [
        ("UMask", "0077"),
        ("StateDirectoryMode", "2770"),
        ("LimitCORE", "0"),
        ("MemorySwapMax", "0"),
        ("MemoryHigh", "256M"),
        ("MemoryMax", "384M"),
        ("User", "espelho"),
        ("Group", "espelho"),
    ] {
        assert_eq!(unit.get(name), Some(&value), "{name}");
    }
}

#[test]
fn the_package_has_every_page_that_its_texts_name() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let manifest: toml::Table = toml::from_str(include_str!("../../../crates/daemon/Cargo.toml")).unwrap();
    let assets = manifest["package"]["metadata"]["deb"]["assets"].as_array().unwrap();
    let packaged: Vec<&str> =
        assets.iter().map(|asset| asset[0].as_str().unwrap().trim_start_matches("../../")).collect();
    let has = |file: &str| {
        packaged.iter().any(|source| match source.split_once('*') {
            Some((folder, ending)) => {
                let name = file.strip_prefix(folder).and_then(|rest| rest.strip_suffix(ending));
                name.is_some_and(|name| !name.contains('/'))
            }
            None => *source == file,
        })
    };
    let mut named: BTreeSet<String> =
        ["README.md", "README.pt-BR.md", "CHANGELOG.md", "docs/OPERATIONS.md", "docs/SCHEMA.md"]
            .map(str::to_owned)
            .into();
    for place in ["README.md", "README.pt-BR.md", "crates/model/texts", "config", "systemd"] {
        for rest in text_below(&root.join(place)).split("docs/").skip(1) {
            let is_of_name = |letter: &char| letter.is_ascii_alphanumeric() || ".-_".contains(*letter);
            let name: String = rest.chars().take_while(is_of_name).collect();
            let name = name.trim_end_matches('.');
            if name.ends_with(".md") {
                named.insert(format!("docs/{name}"));
            }
        }
    }
    for file in named {
        assert!(root.join(&file).is_file() && has(&file), "{file} is named and not in the package");
    }
}

/// Returns the text of a file, or of all files below a folder.
fn text_below(path: &Path) -> String {
    match path.is_dir() {
        true => fs::read_dir(path).unwrap().map(|entry| text_below(&entry.unwrap().path())).collect(),
        false => fs::read_to_string(path).unwrap_or_default(),
    }
}

#[test]
fn the_container_is_built_by_the_toolchain_that_the_workspace_names() {
    let workspace: toml::Table = toml::from_str(include_str!("../../../Cargo.toml")).unwrap();
    let version = workspace["workspace"]["package"]["rust-version"].as_str().unwrap();
    let from = format!("FROM docker.io/library/rust:{version}-");
    assert!(include_str!("../../../systemd/Containerfile").contains(&from), "{from}");
}
