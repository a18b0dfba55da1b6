//! How a run went, for the operator, for `--json` and for the exit code.

use espelho_model::{
    StoreKey,
    sync::{Counts, RunState, Target},
    text,
    text::{Language, Locale, Text},
};
use espelho_store::Failure;

/// The kind of thing that ended a resource or a store early; it decides the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// Something failed.
    Failure,
    /// The credential is not accepted, or somebody else uses it.
    Authentication,
    /// A guard refused to go on.
    Guard,
    /// Another instance holds the store.
    Held,
    /// The configuration and the database do not fit.
    Configuration,
    /// The operator stopped the run.
    Stopped,
}

/// Why something ended early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Its kind.
    pub trouble: Trouble,
    /// A short stable code.
    pub code: String,
    /// The cause, and the next step, for people.
    pub text: Text,
    /// The cause with its own causes, in English, for logs.
    pub error: String,
}

/// How one resource of one store went.
#[derive(Clone, Debug)]
pub struct ResourceReport {
    /// Which resource.
    pub resource: Target,
    /// How it ended.
    pub state: RunState,
    /// Rows.
    pub counts: Counts,
    /// Listing pages read by this run.
    pub pages: u64,
    /// Details read by this run.
    pub details: u64,
    /// The rows that failed, at most [`ResourceReport::SHOWN`] of them; all are in `sync_failures`.
    pub failures: Vec<Failure>,
    /// Why it ended early, if it did.
    pub problem: Option<Problem>,
    /// What the operator should know though nothing failed.
    pub notes: Vec<Text>,
    /// The page at which an interrupted pass was taken up again.
    pub resumed_at: Option<u64>,
}

/// How one store went.
#[derive(Clone, Debug)]
pub struct StoreReport {
    /// Which store.
    pub store: StoreKey,
    /// How it ended.
    pub state: RunState,
    /// Its resources, in the order in which they were read.
    pub resources: Vec<ResourceReport>,
    /// Requests sent with the token.
    pub requests: u64,
    /// 429 answers.
    pub rate_limited: u64,
    /// Logins made.
    pub logins: u64,
    /// Seconds it took.
    pub seconds: f64,
    /// Why nothing was begun, if so.
    pub problem: Option<Problem>,
}

impl Problem {
    /// A problem from an error and its causes.
    pub fn new(trouble: Trouble, code: &str, error: &dyn std::error::Error, text: Text) -> Self {
        Self { trouble, code: code.to_owned(), error: with_causes(error), text }
    }

    /// A problem that is no error of a library.
    pub fn of(trouble: Trouble, code: &str, text: Text) -> Self {
        Self { trouble, code: code.to_owned(), error: text.to_string(), text }
    }

    /// A problem in words that are at hand already, in the reader's language.
    pub fn worded(trouble: Trouble, code: &str, error: &str, hint: &str) -> Self {
        Self::of(trouble, code, text!("run-worded", error = error, next = hint))
    }

    /// The cause, for people.
    pub fn message(&self, locale: Locale) -> String {
        self.text.message(locale)
    }

    /// The next step, for people.
    pub fn next(&self, locale: Locale) -> String {
        self.text.next(locale).unwrap_or_default()
    }

    /// The next step in English, for logs.
    pub fn hint(&self) -> String {
        self.next(Locale::of(Language::English))
    }

    /// Cause and next step in one line, for people.
    pub fn in_one_line(&self, locale: Locale) -> String {
        format!("{}; {}", self.message(locale), self.next(locale))
    }

    /// A problem with the marketplace.
    pub fn from_api(error: &espelho_api_client::Error) -> Self {
        let trouble = match error {
            error if error.is_not_ours() => Trouble::Held,
            error if error.is_authentication() => Trouble::Authentication,
            _ => Trouble::Failure,
        };
        Self::new(trouble, &error.code(), error, error.text())
    }

    /// A problem with the database.
    pub fn from_store(error: &espelho_store::Error) -> Self {
        use espelho_store::Error as E;
        let (trouble, code) = match error {
            E::Held { .. } | E::LeaseLost { .. } | E::InUse { .. } | E::Restoring { .. } => {
                (Trouble::Held, "held")
            }
            E::OtherStore { .. } | E::Newer { .. } | E::Address { .. } => {
                (Trouble::Configuration, "configuration")
            }
            E::BackupExists { .. } | E::NoBackup { .. } => (Trouble::Configuration, "backup"),
            E::WebhookElsewhere { .. } => (Trouble::Guard, "webhook_address"),
            E::Occupied { .. } => (Trouble::Guard, "occupied"),
            _ => (Trouble::Failure, "database"),
        };
        Self::new(trouble, code, error, error.text())
    }
}

impl Problem {
    /// Whether somebody else has the store now.
    pub fn is_lost(&self) -> bool {
        self.trouble == Trouble::Held
    }

    /// Whether the marketplace does not let us in.
    pub fn is_authentication(&self) -> bool {
        self.trouble == Trouble::Authentication
    }
}

impl ResourceReport {
    /// How many failed rows a report lists.
    pub const SHOWN: usize = 20;

    /// The report of a resource that has not begun.
    pub fn new(resource: impl Into<Target>) -> Self {
        Self {
            resource: resource.into(),
            state: RunState::Complete,
            counts: Counts::default(),
            pages: 0,
            details: 0,
            failures: Vec::new(),
            problem: None,
            notes: Vec::new(),
            resumed_at: None,
        }
    }
}

impl StoreReport {
    /// The report of a store whose work could not begin.
    pub fn not_begun(store: StoreKey, problem: Problem) -> Self {
        Self {
            store,
            state: RunState::Failed,
            resources: Vec::new(),
            requests: 0,
            rate_limited: 0,
            logins: 0,
            seconds: 0.0,
            problem: Some(problem),
        }
    }

    /// All rows of all resources.
    pub fn counts(&self) -> Counts {
        let mut sum = Counts::default();
        self.resources.iter().for_each(|r| sum.add(r.counts));
        sum
    }

    /// The problems of the store and of its resources, the store's own first.
    pub fn problems(&self) -> impl Iterator<Item = &Problem> {
        self.problem.iter().chain(self.resources.iter().filter_map(|r| r.problem.as_ref()))
    }
}

/// A failure as its row shows it.
pub(crate) fn failure(key: String, code: String, text: Text, locale: Locale) -> Failure {
    let hint = text.next(locale).unwrap_or_default();
    Failure { key, code, error: text.message(locale), hint, message: Some(text) }
}

/// An error with its causes in one line. No error prints its source itself.
pub(crate) fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let inner_text = inner.to_string();
        // Some libraries do print their source; saying it twice helps nobody.
        if !text.ends_with(&inner_text) {
            text.push_str(": ");
            text.push_str(&inner_text);
        }
        cause = inner.source();
    }
    text
}
