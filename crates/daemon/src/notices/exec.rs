//! Messages by a program of the operator's: the JSON on its input, the same in its environment. No shell reads anything,
//! and the program does not inherit this process's environment, which may hold secrets.

use std::process::Stdio;

use chrono::{DateTime, SecondsFormat, Utc};
use espelho_model::{Clock, symptom::Symptom};
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    process::{Child, Command},
};

use super::{Message, Sent, Unsent};
use crate::config::ExecConfig;

/// The environment variables that the program inherits.
const INHERITED: [&str; 6] = ["PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR"];
/// So much of what it says on its standard error is read.
const SAID: u64 = 1_024;

/// Runs the program with a message, and waits for its end; it is killed with all that it started when its time is over.
pub(super) async fn run(config: &ExecConfig, message: &Message, clock: &dyn Clock) -> Sent {
    let mut command = Command::new(&config.program);
    command.args(&config.arguments).env_clear();
    for name in INHERITED {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    command.envs(variables(message));
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command
        .process_group(0)
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| other(format!("{}: {error}", config.program.display())))?;
    let group = Group(child.id());
    tokio::select! {
        ended = end_of(&mut child, message.json()) => ended,
        () = clock.sleep(config.timeout) => {
            group.kill();
            let _ = child.wait().await;
            Err(Unsent::new(Symptom::TimedOut, format!("killed after {} s", config.timeout.as_secs())))
        }
    }
}

/// The process group of the program and of all that it starts.
struct Group(Option<u32>);

impl Group {
    fn kill(&self) {
        let group = self.0.and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        if let Some(group) = group {
            // It may be over.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

async fn end_of(child: &mut Child, json: String) -> Sent {
    let (input, mut said) = (child.stdin.take(), child.stderr.take());
    let write = async {
        if let Some(mut input) = input {
            // A program that does not read its input is none the worse.
            let _ = input.write_all(json.as_bytes()).await;
        }
    };
    let read = async {
        let mut words = Vec::new();
        if let Some(said) = &mut said {
            let _ = said.take(SAID).read_to_end(&mut words).await;
        }
        // The rest is not kept, but read, so that the program does not wait.
        if let Some(said) = &mut said {
            let _ = tokio::io::copy(said, &mut tokio::io::sink()).await;
        }
        words
    };
    let ((), words, status) = tokio::join!(write, read, child.wait());
    let status = status.map_err(|error| other(error.to_string()))?;
    match status.success() {
        true => Ok("exit 0".to_owned()),
        false => {
            let words = String::from_utf8_lossy(&words);
            let first = words.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
            Err(other(format!("{status}: {first}").trim_end_matches([':', ' ']).to_owned()))
        }
    }
}

/// A program's words are its own, and say nothing of a kind.
fn other(detail: String) -> Unsent {
    Unsent::new(Symptom::Other, detail)
}

/// Returns the message as environment variables. A NUL, which none may contain, becomes a space.
fn variables(message: &Message) -> Vec<(&'static str, String)> {
    let time = |at: Option<DateTime<Utc>>| {
        at.map(|at| at.to_rfc3339_opts(SecondsFormat::Secs, true)).unwrap_or_default()
    };
    let variables = [
        ("ESPELHO_ALARM_ID", message.id.clone()),
        ("ESPELHO_ALARM_EVENT", message.event.to_owned()),
        ("ESPELHO_ALARM_CODE", message.code.clone()),
        ("ESPELHO_ALARM_SEVERITY", message.severity.clone()),
        ("ESPELHO_ALARM_STORE", message.store.clone().unwrap_or_default()),
        ("ESPELHO_ALARM_STORES", message.stores.join(",")),
        ("ESPELHO_ALARM_COUNT", message.count.to_string()),
        ("ESPELHO_ALARM_SINCE", time(message.since)),
        ("ESPELHO_ALARM_ENDED_AT", time(message.ended_at)),
        ("ESPELHO_ALARM_TITLE", message.title.clone()),
        ("ESPELHO_ALARM_TEXT", message.text.clone()),
        ("ESPELHO_ALARM_NEXT", message.next.clone()),
        ("ESPELHO_ALARM_HOST", message.host.clone()),
    ];
    variables.into_iter().map(|(name, value)| (name, value.replace('\0', " "))).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use espelho_model::{clock::SystemClock, text::Locale};

    use super::*;

    fn shell(script: &str) -> ExecConfig {
        ExecConfig {
            program: "/bin/sh".into(),
            arguments: vec!["-c".to_owned(), script.to_owned()],
            timeout: Duration::from_secs(30),
        }
    }

    fn message() -> Message {
        Message::test("exec", "n1", "erp-01", DateTime::from_timestamp(0, 0).unwrap(), Locale::default())
    }

    #[tokio::test]
    async fn a_program_gets_the_message_twice_and_no_environment_of_ours() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("told");
        let script = format!(
            "read -r json; printf '%s|%s|%s' \"$ESPELHO_ALARM_EVENT\" \"${{CARGO_PKG_NAME-none}}\" \"$json\" > '{}'",
            file.display()
        );
        let sent = run(&shell(&script), &message(), &*SystemClock::shared()).await;
        assert_eq!(sent, Ok("exit 0".to_owned()));
        let told = std::fs::read_to_string(file).unwrap();
        let (event, rest) = told.split_once('|').unwrap();
        let (inherited, json) = rest.split_once('|').unwrap();
        assert_eq!((event, inherited), ("test", "none"));
        assert_eq!(json, message().json());
    }

    #[tokio::test]
    async fn a_program_that_fails_says_why_and_one_that_hangs_is_killed_with_its_children() {
        let clock = SystemClock::shared();
        let failed = run(&shell("echo 'sem rede' >&2; exit 7"), &message(), &*clock).await;
        assert_eq!(failed, Err(Unsent::new(Symptom::Other, "exit status: 7: sem rede")));
        let hangs = ExecConfig { timeout: Duration::from_millis(200), ..shell("sleep 600 & sleep 600") };
        let killed = run(&hangs, &message(), &*clock).await;
        assert_eq!(killed, Err(Unsent::new(Symptom::TimedOut, "killed after 0 s")));
        let absent = ExecConfig { program: "/nowhere/program".into(), ..shell("") };
        let unsent = run(&absent, &message(), &*clock).await.unwrap_err();
        assert!(unsent.detail.starts_with("/nowhere/program: "), "{unsent:?}");
        // One that does not read its input is none the worse.
        assert_eq!(run(&shell("exit 0"), &message(), &*clock).await, Ok("exit 0".to_owned()));
    }
}
