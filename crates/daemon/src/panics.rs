//! Panics: one log line each, and the end of the service if one of its own tasks panicked. A panic within the work on
//! one input, or within one store's task, is contained (`espelho_model::containment`): here it only gets its place.

use std::{
    panic::PanicHookInfo,
    sync::{Arc, OnceLock},
};

use espelho_model::containment;
use tokio_util::sync::CancellationToken;

tokio::task_local! {
    static CONTAINED: ();
}

/// Listens for panics.
#[derive(Clone, Default)]
pub(crate) struct Panics {
    heard: CancellationToken,
    first: Arc<OnceLock<String>>,
}

impl Panics {
    /// Starts to listen to all threads of the process: a panic in a task that nobody awaits is otherwise silent, for
    /// example in the scheduler's.
    pub(crate) fn listen() -> Self {
        let panics = Self::default();
        let (before, ours) = (std::panic::take_hook(), panics.clone());
        std::panic::set_hook(Box::new(move |panic| {
            // Without a subscriber (before the configuration is read, in tests) the default hook is better.
            if !tracing::dispatcher::has_been_set() {
                before(panic);
            }
            ours.hear(panic);
        }));
        panics
    }

    /// Resolves with the message of the first panic in a task of the service.
    pub(crate) async fn first(&self) -> String {
        self.heard.cancelled().await;
        self.first.get().cloned().unwrap_or_default()
    }

    /// Returns the message of the first panic, if there was one.
    pub(crate) fn said(&self) -> Option<&String> {
        self.first.get()
    }

    fn hear(&self, panic: &PanicHookInfo<'_>) {
        let message = panic.payload_as_str().unwrap_or("without words");
        let location = panic.location().map(ToString::to_string).unwrap_or_default();
        if containment::note(panic.location()) {
            // Its message may quote what it worked on, and that may be data of a person.
            tracing::error!(location, contained = true, "a part of a task has panicked");
            return;
        }
        let contained = CONTAINED.try_with(|()| ()).is_ok();
        tracing::error!(error = message, location, contained, "a task has panicked");
        if !contained {
            let _ = self.first.set(format!("{message} ({location})"));
            self.heard.cancel();
        }
    }
}

/// Runs the work of one connection: its panic ends only that connection; otherwise a client that triggers one could end
/// the service.
pub(crate) fn contained<F: Future>(work: F) -> impl Future<Output = F::Output> {
    CONTAINED.scope((), work)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// One test must not receive the panics of another.
    pub(crate) static ALONE: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

    #[tokio::test]
    async fn a_panic_of_a_task_is_heard_and_one_of_a_connection_is_not() {
        let _alone = ALONE.lock().await;
        let panics = Panics::listen();
        let connection = tokio::spawn(contained(async { panic!("a request that nobody thought of") }));
        assert!(connection.await.is_err());
        assert!(panics.first.get().is_none() && !panics.heard.is_cancelled());
        let task = tokio::spawn(async { panic!("a task that nobody waits for") });
        assert!(
            panics.first().await.starts_with("a task that nobody waits for (crates/daemon/src/panics.rs:")
        );
        assert!(task.await.is_err());
    }
}
