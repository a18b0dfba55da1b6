//! Compares the systemd unit with the binary's behaviour.

use std::collections::BTreeMap;

use espelho_tests::{Installation, Kind};

fn directives() -> BTreeMap<&'static str, &'static str> {
    let lines = include_str!("../../../systemd/espelho.service").lines();
    lines.filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once('=')).collect()
}

// withstands: F114
#[tokio::test]
async fn starts_are_bounded_and_what_another_one_would_not_heal_has_an_exit_code_of_its_own() {
    let unit = directives();
    let number = |name: &str| unit[name].trim_end_matches('s').parse::<u32>().unwrap();
    let span = number("StartLimitBurst") * number("RestartSec");
    assert!(span < number("StartLimitIntervalSec"), "the bound is never met");
    assert_eq!(unit["Restart"], "on-failure");
    let for_good: Vec<&str> = unit["RestartPreventExitStatus"].split(' ').collect();
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
    let unit = directives();
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
