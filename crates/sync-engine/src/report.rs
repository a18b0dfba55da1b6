//! The result of a run, for the operator, `--json` and the exit code.

use espelho_model::{
    StoreKey,
    sync::{Counts, RunState, Target},
    text,
    text::{Language, Locale, Text},
};
use espelho_store::Failure;
use serde::{Deserialize, Deserializer, Serialize, de::IgnoredAny};

/// The kind of problem that ended a resource or a store early; it decides the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Trouble {
    /// The credential is rejected, or another program uses it.
    Authentication,
    /// A guard refused to continue.
    Guard,
    /// Another instance holds the store.
    Held,
    /// The configuration and the database do not match.
    Configuration,
    /// The operator stopped the run.
    Stopped,
    /// Something failed; also what a report says that has an unknown word.
    #[serde(other)]
    Failure,
}

/// Why a resource or a store ended early.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Problem {
    /// Its kind.
    pub trouble: Trouble,
    /// A short stable code.
    pub code: String,
    /// The cause and the next step, for people.
    pub text: Text,
    /// The cause with its own causes, in English, for logs.
    pub error: String,
}

/// The result for one resource of one store.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct ResourceReport {
    /// Which resource.
    pub resource: Target,
    /// How it ended.
    pub state: RunState,
    /// Counts of rows.
    #[serde(flatten)]
    pub counts: Counts,
    /// Listing pages read by this run.
    pub pages: u64,
    /// Details read by this run.
    pub details: u64,
    /// The failed rows, at most [`ResourceReport::SHOWN`] of them; `sync_failures` has all.
    pub failures: Vec<Failure>,
    /// Why it ended early, if it did.
    pub problem: Option<Problem>,
    /// What the operator should know although nothing failed.
    pub notes: Vec<Text>,
    /// The page at which an interrupted pass resumed.
    pub resumed_at: Option<u64>,
}

/// The result for one store; its JSON goes from the service to a command.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct StoreReport {
    /// Which store.
    pub store: StoreKey,
    /// How it ended.
    pub state: RunState,
    /// Its resources, in the order in which they were read.
    #[serde(deserialize_with = "known")]
    pub resources: Vec<ResourceReport>,
    /// Requests sent with the token.
    pub requests: u64,
    /// 429 answers.
    pub rate_limited: u64,
    /// Logins made.
    pub logins: u64,
    /// The duration in seconds.
    pub seconds: f64,
    /// Why the work did not start, if it did not.
    pub problem: Option<Problem>,
}

impl Problem {
    /// Creates a problem from an error and its causes.
    pub fn new(trouble: Trouble, code: &str, error: &dyn std::error::Error, text: Text) -> Self {
        Self { trouble, code: code.to_owned(), error: with_causes(error), text }
    }

    /// Creates a problem without a library error.
    pub fn of(trouble: Trouble, code: &str, text: Text) -> Self {
        Self { trouble, code: code.to_owned(), error: text.without_quotes().to_string(), text }
    }

    /// Creates the problem of work that was stopped before its end.
    pub(crate) fn stopped() -> Self {
        Self::of(Trouble::Stopped, "stopped", text!("run-stopped"))
    }

    /// Creates a problem from a text that exists already, in the reader's language.
    pub fn worded(trouble: Trouble, code: &str, error: &str, hint: &str) -> Self {
        Self::of(trouble, code, text!("run-worded", error = error, next = hint))
    }

    /// Returns the cause, for people.
    pub fn message(&self, locale: Locale) -> String {
        self.text.message(locale)
    }

    /// Returns the next step, for people.
    pub fn next(&self, locale: Locale) -> String {
        self.text.next(locale).unwrap_or_default()
    }

    /// Returns the next step in English, for logs.
    pub fn hint(&self) -> String {
        self.next(Locale::of(Language::English))
    }

    /// Returns cause and next step in one line, for people.
    pub fn in_one_line(&self, locale: Locale) -> String {
        joined(&self.message(locale), &self.next(locale))
    }

    /// Creates a problem from an API error.
    pub fn from_api(error: &espelho_api_client::Error) -> Self {
        let trouble = match error {
            error if error.is_stopped() => Trouble::Stopped,
            error if error.is_not_ours() => Trouble::Held,
            error if error.is_authentication() => Trouble::Authentication,
            _ => Trouble::Failure,
        };
        Self::new(trouble, &error.code(), error, error.text())
    }

    /// Creates a problem from a database error.
    pub fn from_store(error: &espelho_store::Error) -> Self {
        use espelho_store::Error as E;
        let (trouble, code) = match error {
            // The database has no part in it, and its words would send people to the disk.
            error if error.is_closed() => return Self::stopped(),
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

impl From<espelho_api_client::Error> for Problem {
    fn from(error: espelho_api_client::Error) -> Self {
        Self::from_api(&error)
    }
}

impl From<espelho_store::Error> for Problem {
    fn from(error: espelho_store::Error) -> Self {
        Self::from_store(&error)
    }
}

impl Problem {
    /// Whether another owner has the store now.
    pub fn is_lost(&self) -> bool {
        self.trouble == Trouble::Held
    }

    /// Whether the marketplace rejects the credential.
    pub fn is_authentication(&self) -> bool {
        self.trouble == Trouble::Authentication
    }
}

impl ResourceReport {
    /// The most failed rows that a report lists.
    pub const SHOWN: usize = 20;

    /// Returns the report of a resource that has not started.
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
    /// Returns the report of a store whose work could not start.
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

    /// Returns the counts of all resources together.
    pub fn counts(&self) -> Counts {
        let mut sum = Counts::default();
        self.resources.iter().for_each(|r| sum.add(r.counts));
        sum
    }

    /// Returns the problems of the store and of its resources, the store's own first.
    pub fn problems(&self) -> impl Iterator<Item = &Problem> {
        self.problem.iter().chain(self.resources.iter().filter_map(|r| r.problem.as_ref()))
    }
}

/// Joins a cause and its next step. A cause that ends as a sentence stays one.
fn joined(cause: &str, next: &str) -> String {
    match next {
        "" => cause.to_owned(),
        next if cause.ends_with(['.', '!', '?', '”']) => format!("{cause} {next}"),
        next => format!("{cause}; {next}"),
    }
}

/// Returns a failure in the form that its row shows.
pub(crate) fn failure(key: String, code: String, text: Text, locale: Locale) -> Failure {
    let hint = text.next(locale).unwrap_or_default();
    Failure { key, code, error: text.message(locale), hint, message: Some(text) }
}

/// Joins an error and its causes in one line. Our own errors never print their source.
pub(crate) fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let inner_text = inner.to_string();
        // Some libraries print their source themselves: do not repeat it.
        if !text.ends_with(&inner_text) {
            text.push_str(": ");
            text.push_str(&inner_text);
        }
        cause = inner.source();
    }
    text
}

/// Reads what this version knows of a list, and leaves out what only a newer version knows.
pub(crate) fn known<'de, T: Deserialize<'de>, D: Deserializer<'de>>(from: D) -> Result<Vec<T>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Element<T> {
        Known(T),
        Unknown(IgnoredAny),
    }
    let elements = Vec::<Element<T>>::deserialize(from)?.into_iter();
    let known = elements.filter_map(|element| match element {
        Element::Known(known) => Some(known),
        Element::Unknown(_) => None,
    });
    Ok(known.collect())
}

#[cfg(test)]
mod tests {
    use espelho_model::clock::SystemClock;
    use espelho_store::Store;

    use super::*;

    #[tokio::test]
    async fn work_that_finds_its_own_connections_closed_was_stopped_by_no_database() {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", folder.path().join("espelho.db").display());
        let store = Store::open(&url, SystemClock::shared()).await.unwrap();
        store.close().await;
        let error = store.mirror().location_names(&StoreKey::new("loja").unwrap()).await.unwrap_err();
        let problem = Problem::from_store(&error);
        assert_eq!((problem.trouble, problem.code.as_str()), (Trouble::Stopped, "stopped"), "{error:?}");
    }

    #[test]
    fn a_cause_and_its_next_step_are_two_sentences_or_one() {
        for (cause, next, expected) in [
            ("Sem conexão.", "O espelho tenta de novo.", "Sem conexão. O espelho tenta de novo."),
            ("a conexão caiu", "espelho doctor", "a conexão caiu; espelho doctor"),
            ("Respondeu: “erro”", "Avise.", "Respondeu: “erro” Avise."),
            ("Sem conexão.", "", "Sem conexão."),
        ] {
            assert_eq!(joined(cause, next), expected);
        }
    }
}
