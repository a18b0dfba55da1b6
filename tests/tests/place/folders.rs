//! Commands find the service's database from any folder, and create no second one.

use std::{fs, path::Path};

use espelho_tests::{Installation, Outcome, Running, Shop, installation::free_address, shop::Order, until};
use tokio::process::Command;

use super::{relative, typed_in};

/// No user may create a file there, not even root.
const UNWRITABLE: &str = "/proc";
/// Commands that need only a database, and succeed with it.
const COMMANDS: [&[&str]; 7] = [
    &["errors"],
    &["held"],
    &["feed", "--consumer", "erp"],
    &["plan"],
    &["explain", "order", "P00001"],
    &["migrate"],
    &["--resync"],
];

async fn end(command: Command) -> Outcome {
    Running::of(command).end().await
}

/// Runs a command in a folder, with the state directory of the installation.
async fn given(installation: &Installation, folder: &str, arguments: &[&str]) -> Outcome {
    let mut command = typed_in(installation, Path::new(folder), arguments);
    command.env("STATE_DIRECTORY", installation.dir().join("state"));
    end(command).await
}

// withstands: F138
#[tokio::test]
async fn every_command_finds_the_database_from_the_root_and_from_a_folder_that_nobody_may_write_to() {
    let shop = Shop::open(Order::many(3)).await;
    let installation = relative().await;
    shop.join(&installation);
    given(&installation, UNWRITABLE, &["--resync"]).await.expect(0);
    assert!(installation.dir().join("state/espelho.db").is_file());
    for folder in ["/", UNWRITABLE] {
        for arguments in COMMANDS {
            given(&installation, folder, arguments).await.expect(0);
        }
        // No service runs, so `status` may exit with 3; it still finds the store.
        let status = given(&installation, folder, &["status"]).await;
        assert!(status.stdout.contains("loja-1"), "{status}");
        for name in ["espelho.db", "labels", "backups"] {
            assert!(!Path::new(folder).join(name).exists(), "{name} in {folder}");
        }
    }
    given(&installation, UNWRITABLE, &["backup"]).await.expect(0);
    assert!(installation.dir().join("state/backups").is_dir());
}

#[tokio::test]
async fn who_finds_no_database_says_where_it_looked_and_why_there() {
    let installation = relative().await;
    installation.write_store("loja-1", "http://127.0.0.1:1", "u", "p");
    let state = installation.dir().join("state");
    for (arguments, code) in
        [(&["status"][..], 3), (&["errors"], 1), (&["backup"], 1), (&["held"], 1), (&["audit"], 1)]
    {
        let missing = given(&installation, "/", arguments).await.expect(code);
        let file = state.join("espelho.db");
        missing
            .says("Não há banco de dados")
            .says(file.to_str().unwrap())
            .says("STATE_DIRECTORY")
            .says("espelho migrate");
    }
    assert_eq!(fs::read_dir(&state).unwrap().count(), 0, "whoever looks makes nothing");
    let mut elsewhere = typed_in(&installation, &state, &["errors"]);
    elsewhere.env_remove("ESPELHO_CONFIG").env("STATE_DIRECTORY", &state);
    let named = format!("espelho --config {} migrate", installation.dir().display());
    end(elsewhere).await.expect(1).says(&named);
    let missing = end(typed_in(&installation, &state, &["status", "--json"])).await.expect(3);
    let said = missing.json();
    assert_eq!(
        (&said["state"], &said["alarms"][0]["code"]),
        (&"failing".into(), &"database_unreachable".into())
    );
    match Path::new("/var/lib/espelho").exists() {
        true => missing.says("/var/lib/espelho/espelho.db"),
        false => missing.says(state.join("espelho.db").to_str().unwrap()).says("pasta atual"),
    };
}

#[tokio::test]
async fn no_second_database_is_made_by_accident() {
    let shop = Shop::open(Order::many(1)).await;
    let installation = relative().await;
    shop.join(&installation);
    let (state, other) = (installation.dir().join("state"), installation.dir().join("work"));
    fs::create_dir(&other).unwrap();
    let mut first = typed_in(&installation, Path::new("/"), &["migrate"]);
    first.env("STATE_DIRECTORY", &other);
    end(first).await.expect(0);
    let here = other.to_str().unwrap();
    for arguments in [&["migrate"][..], &["run"], &["--resync"], &["restore", "/nowhere"]] {
        let refused = given(&installation, here, arguments).await.expect(2);
        for place in [&state, &other] {
            assert!(refused.stderr.contains(place.join("espelho.db").to_str().unwrap()), "{refused}");
        }
        refused.says("migrate --new");
        assert_eq!(fs::read_dir(&state).unwrap().count(), 0, "{arguments:?}");
    }
    assert!(shop.take_calls().is_empty());
    given(&installation, here, &["migrate", "--new"]).await.expect(0);
    // If one exists, the others no longer matter.
    given(&installation, here, &["--resync"]).await.expect(0);
}

#[tokio::test]
async fn a_copy_is_put_back_from_inside_its_own_folder() {
    let shop = Shop::open(Order::many(2)).await;
    let installation = relative().await;
    shop.join(&installation);
    given(&installation, "/", &["--resync"]).await.expect(0);
    let (state, copy) = (installation.dir().join("state"), installation.dir().join("copy"));
    given(&installation, "/", &["backup", copy.to_str().unwrap()]).await.expect(0);
    fs::rename(&state, installation.dir().join("lost")).unwrap();
    fs::create_dir(&state).unwrap();
    given(&installation, copy.to_str().unwrap(), &["restore", "."]).await.expect(0);
    assert!(state.join("espelho.db").is_file());
    let story = given(&installation, "/", &["explain", "order", "P00001"]).await.expect(0);
    assert!(story.stdout.contains("P00001"), "{story}");
}

// withstands: F138
#[tokio::test]
async fn no_second_database_is_made_beside_a_service_that_works_with_another() {
    let shop = Shop::open(Order::many(1)).await;
    let installation = relative().await;
    let listen = free_address();
    installation.write(
        "espelho.toml",
        &format!("[database]\nurl = \"sqlite:espelho.db\"\n[http]\nlisten = \"{listen}\"\n"),
    );
    shop.join(&installation);
    let (state, other) = (installation.dir().join("state"), installation.dir().join("work"));
    fs::create_dir(&other).unwrap();
    let mut service = typed_in(&installation, Path::new("/"), &["run"]);
    service.env("STATE_DIRECTORY", &state);
    let service = Running::of(service);
    let mirrored = async || {
        let status = given(&installation, "/", &["status", "--json"]).await;
        serde_json::from_str(&status.stdout)
            .is_ok_and(|status: serde_json::Value| status["stores"][0]["last_success"].is_string())
    };
    until("the service has mirrored the store", mirrored).await;
    let logins = || shop.count(|call| call.path == "/api/integration/auth");
    let before = logins();
    for arguments in [&["migrate"][..], &["--resync"], &["restore", "/nowhere"], &["run"]] {
        let mut typed = typed_in(&installation, &other, arguments);
        typed.env("STATE_DIRECTORY", &other);
        let refused = end(typed).await.expect(6).says(&listen.to_string());
        // The check of the port, which cannot be shared, comes first.
        if arguments != ["run"] {
            refused.says("STATE_DIRECTORY");
        }
        assert_eq!(fs::read_dir(&other).unwrap().count(), 0, "{arguments:?}");
    }
    assert_eq!(logins(), before, "the service's token lives on");
    service.terminate().await;
    service.end().await.expect(0);
}

/// The folder of an installed service takes precedence over the working directory. This runs only if the user may
/// create mounts; the decision itself is a pure function with its own table test (`daemon::place`).
#[tokio::test]
async fn an_installed_service_is_found_without_being_told_of_it() {
    let mounts = |program: &str, arguments: &[&str]| {
        let mut command = Command::new("unshare");
        command.args(["--map-root-user", "--mount", program]).args(arguments);
        command
    };
    if !mounts("true", &[]).status().await.is_ok_and(|ended| ended.success()) {
        return;
    }
    let shop = Shop::open(Order::many(2)).await;
    let installation = relative().await;
    shop.join(&installation);
    let var_lib = installation.dir().join("var-lib");
    fs::create_dir_all(var_lib.join("espelho")).unwrap();
    for arguments in [&["--resync"][..], &["errors"], &["migrate"]] {
        let typed = typed_in(&installation, Path::new("/"), arguments);
        let script = "mount --bind \"$0\" /var/lib && exec \"$@\"";
        let mut command = mounts("sh", &["-c", script, var_lib.to_str().unwrap()]);
        command.arg(typed.as_std().get_program()).args(typed.as_std().get_args()).current_dir("/");
        command.env_remove("STATE_DIRECTORY");
        end(command).await.expect(0);
    }
    assert!(var_lib.join("espelho/espelho.db").is_file());
}
