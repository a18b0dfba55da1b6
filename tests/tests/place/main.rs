//! The location of the database, and which users may open its files.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

mod folders;
mod group;

use std::path::Path;

use espelho_tests::{Installation, Kind, installation::binary};
use tokio::process::Command;

/// Creates an installation with a relative database address and its own state directory.
async fn relative() -> Installation {
    let installation = Installation::on(Kind::Sqlite).await;
    installation
        .write("espelho.toml", "[database]\nurl = \"sqlite:espelho.db\"\n[http]\nlisten = \"127.0.0.1:0\"\n");
    std::fs::create_dir(installation.dir().join("state")).unwrap();
    installation
}

/// Builds a command that is run in a folder and gets only the configuration.
fn typed(program: &Path, installation: &Installation, folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("ESPELHO_") {
            command.env_remove(name);
        }
    }
    command.env_remove("STATE_DIRECTORY").env("LC_ALL", "pt_BR.UTF-8").current_dir(folder);
    command.env("ESPELHO_CONFIG", installation.dir());
    command.arg("--config").arg(installation.dir()).args(arguments);
    command
}

fn typed_in(installation: &Installation, folder: &Path, arguments: &[&str]) -> Command {
    typed(&binary(), installation, folder, arguments)
}
