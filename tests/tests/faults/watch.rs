//! One fault, from its cause to its end, on every surface.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::Write as _,
    time::Duration,
};

use espelho_tests::{
    HttpSink, Kind, Surface, Surfaces,
    surfaces::{Alarm, Shown},
};
use tokio::time::Instant;

use crate::stage::{ALARMS, ALIVE, FAILING, Stage};

/// The promise is 60 s; a loaded test machine gets half as much again.
const LONGEST: Duration = Duration::from_secs(90);
/// The interval between reads of the surfaces.
const INTERVAL: Duration = Duration::from_millis(500);

/// A fault in progress.
pub(crate) struct Watch<'s> {
    surfaces: &'s Surfaces,
    sink: &'s HttpSink,
    kind: Kind,
    fault: &'static str,
    code: &'static str,
    /// Other codes that the same cause may raise.
    companions: Vec<&'static str>,
    /// Surfaces that cannot show it while it lasts.
    silent: Vec<Surface>,
    longest: Duration,
    since: Instant,
    raised_after: f64,
}

impl Stage {
    /// Watches a fault whose cause has just begun.
    pub(crate) fn watch(&self, fault: &'static str, code: &'static str) -> Watch<'_> {
        Watch {
            surfaces: &self.surfaces,
            sink: &self.sink,
            kind: self.kind,
            fault,
            code,
            companions: Vec::new(),
            silent: Vec::new(),
            longest: LONGEST,
            since: Instant::now(),
            raised_after: 0.0,
        }
    }
}

impl Watch<'_> {
    /// Allows further codes that the cause may raise.
    pub(crate) fn beside(mut self, companions: &[&'static str]) -> Self {
        self.companions.extend(companions);
        self
    }

    /// Excludes surfaces that cannot show it while it lasts.
    pub(crate) fn unseen_on(mut self, silent: &[Surface]) -> Self {
        self.silent.extend(silent);
        self
    }

    /// Extends the time limit, because its detection itself takes this long.
    pub(crate) fn found_within(mut self, span: Duration) -> Self {
        self.longest += span;
        self
    }

    /// Waits until every surface names it, and people hear of it. Returns the alarm.
    pub(crate) async fn raised(&mut self) -> Alarm {
        let alarm = self.is_shown().await;
        if self.is_told() {
            self.people_hear_of_it(&alarm).await;
        }
        alarm
    }

    /// Waits until every surface names it, and none names anything else. Returns the alarm.
    pub(crate) async fn is_shown(&mut self) -> Alarm {
        let mut open: Vec<Surface> =
            Surface::ALL.into_iter().filter(|surface| !self.silent.contains(surface)).collect();
        let mut last = BTreeMap::new();
        let mut ticks = tokio::time::interval(INTERVAL);
        while !open.is_empty() {
            ticks.tick().await;
            // The first one is the cheapest; the others are read once it shows something.
            let asked = if open.contains(&Surface::Http) { vec![Surface::Http] } else { open.clone() };
            for surface in asked {
                let shown = self.read(surface).await;
                if shown.as_ref().is_some_and(|shown| shown.codes.contains(self.code)) {
                    open.retain(|other| *other != surface);
                }
                last.insert(surface, shown);
            }
            assert!(
                self.since.elapsed() < self.longest,
                "{} is not raised on {open:?}: {}",
                self.code,
                told(&last)
            );
        }
        self.raised_after = self.since.elapsed().as_secs_f64();
        let (code, status) = self.surfaces.status().await;
        assert_eq!(code, 3, "espelho status while {} lasts: {status:?}", self.code);
        let alarm = self.surfaces.alarm(self.code).await.expect("the alarm is told in full");
        for name in ["text", "next", "since"] {
            assert!(!alarm.text(name).is_empty(), "an alarm has a {name}: {alarm:?}");
        }
        assert!(alarm.0["count"].as_u64().is_some_and(|count| count >= 1), "{alarm:?}");
        alarm
    }

    /// Returns whether a process lives that could tell people of it.
    fn is_told(&self) -> bool {
        self.code != "service_stopped"
    }

    /// Waits until one message says that it began, and until the dead-man switch hears of it.
    async fn people_hear_of_it(&self, alarm: &Alarm) {
        self.told("raised").await;
        let told = &self.messages("raised")[0];
        // It may have become worse between the two: a token that worked is dead.
        let now = self.surfaces.alarm(self.code).await;
        let shown = [Some(alarm), now.as_ref()];
        let is_shown = shown.iter().flatten().any(|alarm| told["severity"] == alarm.text("severity"));
        assert!(is_shown, "{shown:?}: {told}");
        assert!(!told["text"].as_str().unwrap_or_default().is_empty(), "{told}");
        let called = if told["severity"] == "failing" { FAILING } else { ALIVE };
        let before = self.sink.at(called).len();
        espelho_tests::until("the dead-man switch is called", async || self.sink.at(called).len() > before)
            .await;
    }

    /// Waits until people have heard this of it.
    async fn told(&self, event: &str) {
        let told = espelho_tests::until("people hear of it", async || !self.messages(event).is_empty());
        let what = format!("{} {event} within {:?}", self.code, self.longest);
        let left = self.longest.saturating_sub(self.since.elapsed());
        assert!(tokio::time::timeout(left, told).await.is_ok(), "{what}: {:?}", self.sink.at(ALARMS));
    }

    /// Returns the messages about it with this event.
    fn messages(&self, event: &str) -> Vec<serde_json::Value> {
        let about = self.sink.about(ALARMS, self.code);
        about.into_iter().filter(|message| message["event"] == event).collect()
    }

    /// Waits until one message says that it is over, and checks that none was repeated.
    async fn people_hear_of_its_end(&self) {
        self.told("ended").await;
        let (raised, ended) = (self.messages("raised"), self.messages("ended"));
        assert_eq!((raised.len(), ended.len()), (1, 1), "{raised:?} {ended:?}");
        assert_eq!(raised[0]["notice"], ended[0]["notice"]);
        assert!(ended[0]["ended_at"].is_string(), "{ended:?}");
    }

    /// Releases the stage, so that it can be changed. Returns the fault, its code, and after how many seconds it was
    /// raised.
    pub(crate) fn pause(self) -> (&'static str, &'static str, f64) {
        (self.fault, self.code, self.raised_after)
    }

    /// Sets after how many seconds it was raised.
    pub(crate) fn after(self, raised_after: f64) -> Self {
        Self { raised_after, ..self }
    }

    /// Records that the cause ends now.
    pub(crate) fn ends(&mut self) {
        self.since = Instant::now();
    }

    /// Waits until no surface shows it any more, and `espelho status` exits with 0. Writes the line of the table.
    pub(crate) async fn cleared(mut self) {
        let mut open: BTreeSet<Surface> = Surface::ALL.into();
        let mut last = BTreeMap::new();
        let mut ticks = tokio::time::interval(INTERVAL);
        while !open.is_empty() {
            ticks.tick().await;
            let asked = match open.contains(&Surface::Http) {
                true => vec![Surface::Http],
                false => open.iter().copied().collect(),
            };
            for surface in asked {
                let shown = match surface {
                    // We cannot read the view of a stage on another disk.
                    Surface::View => Some(self.read(surface).await.unwrap_or_default()),
                    surface => self.read(surface).await,
                };
                if shown.as_ref().is_some_and(|shown| !shown.codes.contains(self.code)) {
                    open.remove(&surface);
                }
                last.insert(surface, shown);
            }
            assert!(self.since.elapsed() < self.longest, "{} stays on {open:?}: {}", self.code, told(&last));
        }
        self.write_line(self.since.elapsed().as_secs_f64());
        loop {
            let (code, status) = self.surfaces.status().await;
            if code == 0 {
                break;
            }
            assert!(self.since.elapsed() < self.longest * 2, "all should be well: {status:?}");
            ticks.tick().await;
        }
        if self.is_told() {
            self.people_hear_of_its_end().await;
        }
        // The companion alarms are cleared as well; the view follows within seconds.
        for surface in Surface::ALL {
            while let Some(shown) = self.read(surface).await.filter(|shown| !shown.codes.is_empty()) {
                assert!(self.since.elapsed() < self.longest * 2, "{surface:?} shows {:?} still", shown.codes);
                ticks.tick().await;
            }
        }
    }

    /// Reads a surface, and checks that it shows no false alarm.
    async fn read(&self, surface: Surface) -> Option<Shown> {
        let shown = self.surfaces.read(surface).await?;
        let is_expected = |code: &&String| *code == self.code || self.companions.contains(&code.as_str());
        let strange: Vec<_> = shown.codes.iter().filter(|code| !is_expected(code)).collect();
        assert!(
            strange.is_empty(),
            "{surface:?} shows {strange:?} beside {}:\n{}",
            self.code,
            start_of(&shown.text)
        );
        Some(shown)
    }

    fn write_line(&mut self, cleared_after: f64) {
        let line = format!(
            "{} ({:?}) | {} | {:.1} | {cleared_after:.1}\n",
            self.fault, self.kind, self.code, self.raised_after
        );
        eprint!("{line}");
        if let Some(path) = std::env::var_os("ESPELHO_FAULTS_TABLE") {
            let mut file = std::fs::File::options().create(true).append(true).open(path).unwrap();
            file.write_all(line.as_bytes()).unwrap();
        }
    }
}

/// Formats the last contents of the surfaces, one line each.
fn told(last: &BTreeMap<Surface, Option<Shown>>) -> String {
    let line = |(surface, shown): (&Surface, &Option<Shown>)| match shown {
        Some(shown) => format!("\n{surface:?} shows {:?}: {}", shown.codes, start_of(&shown.text)),
        None => format!("\n{surface:?} does not answer"),
    };
    last.iter().map(line).collect()
}

fn start_of(text: &str) -> String {
    text.chars().take(1_500).collect()
}
