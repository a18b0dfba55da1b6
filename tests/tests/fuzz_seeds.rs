//! Replays the inputs of the fuzz targets (`tests/fuzz`): those that each target starts from, and those that once found
//! something.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

use std::{
    fs,
    path::{Path, PathBuf},
};

use espelho_api_client::fuzzing as client;
use espelho_daemon::fuzzing as daemon;
use espelho_model::fuzzing as model;
use espelho_sync_engine::fuzzing as engine;

fn seeds() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds")
}

fn replay(target: &str, mut read: impl FnMut(&[u8])) {
    let files: Vec<PathBuf> =
        fs::read_dir(seeds().join(target)).unwrap().map(|file| file.unwrap().path()).collect();
    assert!(!files.is_empty(), "{target} has inputs");
    for file in files {
        read(&fs::read(&file).unwrap());
    }
}

fn replay_text(target: &str, read: impl Fn(&str)) {
    replay(target, |bytes| read(&String::from_utf8_lossy(bytes)));
}

#[test]
fn inputs_that_once_found_something_are_read_without_a_panic() {
    let folder = tempfile::tempdir().unwrap();
    replay("answer", client::answer);
    replay("delivery", client::delivery);
    replay_text("signed_address", client::signed_address);
    replay_text("command", engine::command);
    replay_text("price", engine::price);
    replay_text("level", engine::level);
    replay("csv", daemon::csv);
    replay("configuration", |files| daemon::configuration(folder.path(), files));
    replay_text("person", model::person);
    let mut targets: Vec<_> =
        fs::read_dir(seeds()).unwrap().map(|target| target.unwrap().file_name()).collect();
    targets.sort();
    let replayed = [
        "answer",
        "command",
        "configuration",
        "csv",
        "delivery",
        "level",
        "person",
        "price",
        "signed_address",
    ];
    assert_eq!(targets, replayed, "each target is replayed");
}
