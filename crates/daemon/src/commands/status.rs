//! `espelho status`: the state of everything. It asks the service if that answers; otherwise it reads the database.

use std::{collections::BTreeSet, io::IsTerminal as _, net::SocketAddr, sync::Arc, time::Duration};

use espelho_model::{
    Clock, StoreKey,
    clock::SystemClock,
    text,
    text::{Locale, Text},
    time::fixed_width,
};
use espelho_store::Store;
use espelho_sync_engine::{
    Problem, Trouble,
    plan::alarms::{Code, Severity, decide},
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{
    load_listen, no_signals,
    reading::{Reading, attach, is_of_another, named},
    report_mistakes, say, say_mistakes,
};
use crate::{
    alarms::{self, ShownAlarm, ShownVerdict},
    cli::{Cli, StatusArgs},
    config::{self, ConfigError, Configuration},
    context::stop_on_signals,
    exit, local, ports, report,
    status::{self, Counted, ServiceState, StatusSnapshot, TextStyle, WatchedReadings},
};

/// How often `--watch` looks.
const EVERY: Duration = Duration::from_secs(2);
/// So many stores that the service does not know are named.
const NAMED: usize = 5;
/// Moves the cursor home. Every line then clears the rest of itself, and the last one what is below: nothing flickers.
const HOME: &str = "\x1b[H";
const CLEAR_BELOW: &str = "\x1b[J";

pub(super) async fn run(cli: &Cli, arguments: &StatusArgs) -> u8 {
    if arguments.alive {
        return match load_listen(cli) {
            Ok(listen) => alive(listen, cli).await,
            Err(code) => code,
        };
    }
    let configuration = match config::load_without_secrets(&config::directory(cli.config.as_deref())) {
        Ok(configuration) => configuration,
        Err(mistakes) => return show_beside_mistakes(&mistakes, cli, arguments.store.as_deref()).await,
    };
    let of = match named(&configuration, arguments.store.as_deref()) {
        Ok(keys) => arguments.store.as_ref().and(keys.into_iter().next()),
        Err(problem) => return say(&problem, cli),
    };
    let clock = SystemClock::shared();
    let mut reader = StateReader {
        configuration: &configuration,
        of: of.as_ref(),
        locale: cli.locale,
        clock: &clock,
        kept: None,
        ours: None,
    };
    if !arguments.watch {
        let read = reader.read().await;
        reader.end().await;
        return match read {
            Ok(snapshot) => show(&snapshot, cli, None),
            Err(problem) => show_unread(&problem, cli, &*clock),
        };
    }
    let stop = CancellationToken::new();
    if let Err(error) = stop_on_signals(&stop) {
        eprintln!("espelho: {}", no_signals(&error).message(cli.locale));
        return exit::FAILED;
    }
    let (mut code, mut frame) = (exit::PARTIAL, Frame::default());
    while !stop.is_cancelled() {
        code = match reader.read().await {
            Ok(snapshot) => show(&snapshot, cli, Some(&mut frame)),
            Err(problem) => show_unread(&problem, cli, &*clock),
        };
        tokio::select! { () = clock.sleep(EVERY) => {}, () = stop.cancelled() => {} }
    }
    reader.end().await;
    code
}

/// Prints the mistakes of a configuration that cannot be read, then the state as the running service tells it: that one
/// has the files of its start or of its last reload. Its address may be the usual one, because the line with another has
/// the mistake: it is named. Returns the exit code of the mistakes.
pub(super) async fn show_beside_mistakes(mistakes: &[ConfigError], cli: &Cli, of: Option<&str>) -> u8 {
    // The address of a folder without a configuration is nobody's.
    if mistakes.iter().any(ConfigError::is_none_yet) {
        return report_mistakes(mistakes, cli);
    }
    let (clock, of) = (SystemClock::shared(), of.and_then(|name| StoreKey::new(name).ok()));
    let configuration = config::load_readable(&config::directory(cli.config.as_deref()));
    let address = configuration.installation.http.listen.to_string();
    let told = ask_own_service(&configuration, of.as_ref(), cli.locale, &clock).await;
    let problems = say_mistakes(mistakes, cli);
    let beside = match told {
        Some(_) => text!("status-beside-mistakes", address = address),
        None => text!("status-none-beside-mistakes", address = address),
    };
    eprintln!("espelho: {}", beside.message(cli.locale));
    match (told, cli.json) {
        (Some(snapshot), true) => println!("{}", with_errors(&snapshot, &problems, cli.locale)),
        (Some(snapshot), false) => {
            show(&snapshot, cli, None);
        }
        (None, true) => println!("{}", report::failure_json(&problems, cli.locale)),
        (None, false) => {}
    }
    exit::CONFIGURATION
}

/// Returns the object of a snapshot beside problems.
fn with_errors(snapshot: &StatusSnapshot, problems: &[Problem], locale: Locale) -> Value {
    let errors: Vec<Value> = problems.iter().map(|problem| report::problem_json(problem, locale)).collect();
    let mut object = json!(snapshot);
    object["errors"] = json!(errors);
    object
}

/// Asks `/livez`, and returns the exit code: alarms make no service unhealthy that answers.
async fn alive(listen: SocketAddr, cli: &Cli) -> u8 {
    let answer = local::request(listen, "GET", "/livez", None, &SystemClock::shared()).await;
    let hangs = match answer {
        Ok(answer) if answer.status == 200 => None,
        Ok(answer) => {
            let said = answer.text().await.unwrap_or_default();
            Some(text!("words-quoted", said = said.trim()))
        }
        Err(error) => Some(local::failure(&error)),
    };
    if cli.json {
        println!("{}", json!({ "alive": hangs.is_none() }));
    }
    match hangs {
        None => exit::COMPLETE,
        Some(cause) => {
            let text = text!("status-not-alive", address = listen.to_string(), cause = cause);
            eprintln!("espelho: {}", text.message(cli.locale));
            exit::FAILED
        }
    }
}

/// The screen of a watched terminal.
#[derive(Default)]
struct Frame {
    is_begun: bool,
    readings: WatchedReadings,
}

impl Frame {
    /// Returns the text that replaces the last one on the screen.
    fn replace(&mut self, text: &str) -> String {
        // The first one leaves what was on the screen in its history.
        let start = if std::mem::replace(&mut self.is_begun, true) { HOME } else { "\x1b[2J\x1b[H" };
        let lines: String = text.lines().map(|line| format!("{line}\x1b[K\n")).collect();
        format!("{start}{lines}{CLEAR_BELOW}")
    }
}

/// Prints a snapshot, and returns the exit code that it stands for.
fn show(snapshot: &StatusSnapshot, cli: &Cli, frame: Option<&mut Frame>) -> u8 {
    let is_terminal = std::io::stdout().is_terminal();
    let colours = is_terminal && std::env::var_os("NO_COLOR").is_none();
    let (is_watched, mut once) = (frame.is_some(), Frame::default());
    let frame = frame.unwrap_or(&mut once);
    frame.readings.note(snapshot);
    let text = || status::show(snapshot, &frame.readings, TextStyle { colours, locale: cli.locale });
    match (cli.json, is_watched && is_terminal) {
        (true, _) => println!("{}", serde_json::json!(snapshot)),
        (false, true) => {
            let text = text();
            print!("{}", frame.replace(&text));
        }
        (false, false) => print!("{}", text()),
    }
    match snapshot.state.as_str() {
        "ok" => exit::COMPLETE,
        _ => exit::PARTIAL,
    }
}

/// Prints why the state cannot be read: an alarm as well, in the same shape. Returns the exit code.
fn show_unread(problem: &Problem, cli: &Cli, clock: &dyn Clock) -> u8 {
    if problem.trouble == Trouble::Configuration {
        return say(problem, cli);
    }
    let (error, next) = (problem.message(cli.locale), problem.next(cli.locale));
    eprint!("espelho:\n{}", report::problem_lines(problem, cli.locale));
    if cli.json {
        let alarm = json!({
            "code": Code::DatabaseUnreachable.as_str(), "severity": "failing", "store": null, "count": 1,
            "since": null, "text": error, "next": next,
        });
        let errors = json!([{ "code": problem.code, "error": error, "hint": next }]);
        let at = fixed_width(clock.now());
        println!("{}", json!({ "state": "failing", "at": at, "alarms": [alarm], "errors": errors }));
    }
    exit::PARTIAL
}

/// Reads the state, once or again and again.
struct StateReader<'r> {
    configuration: &'r Configuration,
    of: Option<&'r StoreKey>,
    locale: Locale,
    clock: &'r Arc<dyn Clock>,
    /// The connection to a database server. A file is opened for each reading: it may be replaced between two of them.
    kept: Option<Store>,
    /// The installation and file of the service that was found to be this installation's.
    ours: Option<(Option<String>, Option<String>)>,
}

impl StateReader<'_> {
    /// Asks the service of this installation, else reads the database.
    async fn read(&mut self) -> Result<StatusSnapshot, Problem> {
        let (listen, locale) = (self.configuration.installation.http.listen, self.locale);
        let Some(answer) = ask_service(listen, self.of, locale, self.clock).await else {
            let taken = || ports::taken("http.listen", listen);
            return self.recorded().await.map(|snapshot| beside_another(snapshot, taken, locale));
        };
        if !self.is_of_another(&answer.service).await {
            let configured = self.configuration.stores.iter().map(|store| &store.key);
            let unknown = match self.of {
                // The service has answered for this store.
                Some(_) => Vec::new(),
                None => unknown_to(&answer, configured),
            };
            return Ok(warn_of_unknown(answer, &unknown, locale));
        }
        match self.recorded().await {
            Ok(snapshot) => {
                let other = || Some(text!("status-other-installation", address = listen.to_string()));
                Ok(beside_another(snapshot, other, locale))
            }
            Err(problem) => {
                let other = text!("status-other-installation", address = listen.to_string());
                eprintln!("espelho: {}", other.message(locale));
                Err(problem)
            }
        }
    }

    /// Tells whether a service is another installation's. What was found out once about it stands.
    async fn is_of_another(&mut self, service: &ServiceState) -> bool {
        let told = (service.installation.clone(), service.file.clone());
        if self.ours.as_ref() == Some(&told) {
            return false;
        }
        let (installation, file) = (told.0.as_deref(), told.1.as_deref());
        let is_another = is_of_another((installation, file), self.configuration, self.clock).await;
        self.ours = (!is_another).then_some(told);
        is_another
    }

    /// Reads the database.
    async fn recorded(&mut self) -> Result<StatusSnapshot, Problem> {
        let store = match self.kept.take() {
            Some(store) => store,
            None => attach(self.configuration, self.clock).await?,
        };
        let snapshot = self.recorded_in(&store).await;
        match snapshot.is_ok() && store.leases().is_shared() {
            true => self.kept = Some(store),
            false => store.close().await,
        }
        snapshot
    }

    async fn recorded_in(&self, store: &Store) -> Result<StatusSnapshot, Problem> {
        let (shown, of) = (self.configuration.shown(), self.of);
        let counted = match Counted::recorded(store, of).await? {
            Some(recorded) if of.is_some() || recorded.has_all_of(&shown) => recorded,
            _ => Counted::take(store, &**self.clock, of).await?,
        };
        let snapshot = status::collect(store, &**self.clock, (&shown, of), &counted, None).await?;
        let seen = alarms::offline(store, &shown, self.clock.now()).await?;
        Ok(snapshot.judged(ShownVerdict::of(&decide(&seen), self.locale)))
    }

    /// Closes what is kept.
    async fn end(self) {
        if let Some(store) = self.kept {
            store.close().await;
        }
    }
}

/// Returns the alarms that `espelho status` shows: those of this installation's service, or those on record while none
/// answers. A database that does not say them has just said so to the caller.
pub(super) async fn standing_alarms(
    reading: &Reading,
    of: Option<&StoreKey>,
    locale: Locale,
) -> Vec<ShownAlarm> {
    let Reading { configuration, store, clock } = reading;
    if let Some(answer) = ask_own_service(configuration, of, locale, clock).await {
        return answer.alarms;
    }
    match alarms::offline(store, &configuration.shown(), clock.now()).await {
        Ok(seen) => ShownVerdict::of(&decide(&seen), locale).alarms,
        Err(_) => Vec::new(),
    }
}

/// Says on the alarm of the stopped service that another program has its address.
fn beside_another(
    mut snapshot: StatusSnapshot,
    other: impl Fn() -> Option<Text>,
    locale: Locale,
) -> StatusSnapshot {
    for alarm in snapshot.alarms.iter_mut().filter(|alarm| alarm.code == Code::ServiceStopped.as_str()) {
        let Some(other) = other() else { continue };
        alarm.text = format!("{} {}", alarm.text, other.message(locale));
        alarm.next = other.next(locale).unwrap_or_default();
    }
    snapshot
}

/// Returns the snapshot of this installation's service, if that answers.
async fn ask_own_service(
    configuration: &Configuration,
    of: Option<&StoreKey>,
    locale: Locale,
    clock: &Arc<dyn Clock>,
) -> Option<StatusSnapshot> {
    let answer = ask_service(configuration.installation.http.listen, of, locale, clock).await?;
    let told = (answer.service.installation.as_deref(), answer.service.file.as_deref());
    (!is_of_another(told, configuration, clock).await).then_some(answer)
}

/// Returns the running service's own snapshot. Any other answer at the address is not from the service. One that does
/// not know the store shows none, and says so.
async fn ask_service(
    listen: SocketAddr,
    of: Option<&StoreKey>,
    locale: Locale,
    clock: &Arc<dyn Clock>,
) -> Option<StatusSnapshot> {
    let of_all = format!("/status?lang={}", locale.language);
    let path = of.map_or_else(|| of_all.clone(), |key| format!("{of_all}&store={key}"));
    let answer = local::request(listen, "GET", &path, None, clock).await.ok()?;
    match (answer.status, of) {
        (200, _) => serde_json::from_str(&answer.text().await.ok()?).ok(),
        (404, Some(key)) => {
            let answer = local::request(listen, "GET", &of_all, None, clock).await.ok()?;
            let answer: StatusSnapshot = serde_json::from_str(&answer.text().await.ok()?).ok()?;
            Some(warn_of_unknown(StatusSnapshot { stores: Vec::new(), ..answer }, &[key], locale))
        }
        _ => None,
    }
}

/// Returns the configured stores that a service does not have. One without any has not read its database yet.
fn unknown_to<'c>(
    snapshot: &StatusSnapshot,
    configured: impl Iterator<Item = &'c StoreKey>,
) -> Vec<&'c StoreKey> {
    let known: BTreeSet<&str> = snapshot.stores.iter().map(|store| store.store.as_str()).collect();
    configured.filter(|key| !known.is_empty() && !known.contains(key.as_str())).collect()
}

/// Warns of configured stores that the running service does not have: its configuration is from before them, and only
/// whoever reads the files can tell.
fn warn_of_unknown(mut snapshot: StatusSnapshot, unknown: &[&StoreKey], locale: Locale) -> StatusSnapshot {
    if unknown.is_empty() {
        return snapshot;
    }
    let named: Vec<&str> = unknown.iter().take(NAMED).map(|key| key.as_str()).collect();
    let more = if unknown.len() > NAMED { ", …" } else { "" };
    let stores = format!("{}{more}", named.join(", "));
    let text = text!("alarm-not-loaded", count = unknown.len(), stores = stores);
    let only = match unknown {
        [key] => Some(key.to_string()),
        _ => None,
    };
    let alarm = ShownAlarm {
        code: Code::NotHeld.as_str().to_owned(),
        severity: Severity::Warning.as_str().to_owned(),
        store: only,
        count: unknown.len() as u64,
        text: text.message(locale),
        next: text.next(locale).unwrap_or_default(),
        ..ShownAlarm::default()
    };
    let (state, alarms) = (std::mem::take(&mut snapshot.state), std::mem::take(&mut snapshot.alarms));
    let unproved = std::mem::take(&mut snapshot.unproved);
    snapshot.judged(ShownVerdict { state, alarms, unproved }.with_others([alarm]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::specimen;

    #[test]
    fn the_alarm_of_the_stopped_service_says_that_another_one_has_its_address() {
        let stopped = ShownAlarm {
            code: Code::ServiceStopped.as_str().to_owned(),
            ..specimen::failing(None, "O serviço está parado.")
        };
        let alarms = vec![stopped, specimen::failing(None, "outro")];
        let snapshot = StatusSnapshot { alarms, ..specimen::snapshot(Vec::new()) };
        let other = || Some(text!("status-other-installation", address = "127.0.0.1:8787"));
        let untouched = beside_another(snapshot.clone(), || None, Locale::default());
        assert_eq!(untouched.alarms, snapshot.alarms, "nobody has it");
        let shown = beside_another(snapshot, other, Locale::default()).alarms;
        assert!(shown[0].text.starts_with("O serviço está parado. Em 127.0.0.1:8787 "), "{}", shown[0].text);
        assert!(shown[0].next.contains("http.listen"), "{}", shown[0].next);
        assert_eq!(shown[1], specimen::failing(None, "outro"));
    }

    #[test]
    fn a_store_that_the_running_service_does_not_know_is_a_warning_that_asks_for_a_reload() {
        let keys = ["loja-1", "loja-2", "loja-3"].map(|key| StoreKey::new(key).unwrap());
        let snapshot = |state: &str, stores: &[&str]| StatusSnapshot {
            state: state.into(),
            ..specimen::snapshot(stores.iter().map(|key| specimen::store(key)).collect())
        };
        for (state, known, expected, only, said) in [
            ("ok", &["loja-1", "loja-2", "loja-3"][..], "ok", None, ""),
            ("ok", &["loja-1", "loja-3"], "warning", Some("loja-2"), "não conhece a loja loja-2:"),
            (
                "failing",
                &["loja-1"],
                "failing",
                None,
                "não conhece 2 lojas da configuração (loja-2, loja-3):",
            ),
            // It has not read its database yet.
            ("unknown", &[], "unknown", None, ""),
        ] {
            let snapshot = snapshot(state, known);
            let unknown = unknown_to(&snapshot, keys.iter());
            let shown = warn_of_unknown(snapshot, &unknown, Locale::default());
            assert_eq!(shown.state, expected, "{known:?}");
            assert_eq!(shown.alarms.len(), usize::from(!said.is_empty()), "{known:?}");
            for alarm in &shown.alarms {
                assert_eq!((alarm.code.as_str(), alarm.store.as_deref()), ("not_held", only));
                assert!(alarm.text.contains(said) && alarm.next.contains("reload"), "{alarm:?}");
            }
        }
    }

    #[test]
    fn what_the_service_tells_beside_a_broken_configuration_keeps_its_keys_and_names_the_mistakes() {
        let text = text!("config-at", place = "stores/loja-1.toml:2", problem = "x");
        let problem = Problem::of(Trouble::Configuration, "configuration", text);
        let object = with_errors(&specimen::snapshot(Vec::new()), &[problem], Locale::default());
        assert_eq!((&object["state"], &object["service"]["running"]), (&json!("ok"), &json!(true)));
        assert_eq!(object["errors"][0]["error"], json!("stores/loja-1.toml:2: x"));
    }

    #[test]
    fn a_watched_screen_is_cleared_once_and_then_overwritten_line_by_line() {
        let mut frame = Frame::default();
        assert_eq!(frame.replace("a\nb\n"), "\x1b[2J\x1b[Ha\x1b[K\nb\x1b[K\n\x1b[J");
        assert_eq!(frame.replace("c\n"), "\x1b[Hc\x1b[K\n\x1b[J");
    }
}
