//! Contains panics: one input that panics ends the work on that input, and nothing else.
//!
//! A contained piece of work returns [`Panicked`] with the place in the code, never with the message: the message of a
//! panic may quote what it was working on, and that may be data of a person. The place comes from the process's panic
//! hook, which calls [`note`].

use std::{
    cell::{Cell, RefCell},
    fmt,
    panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind},
    pin::Pin,
    task::{Context, Poll},
};

thread_local! {
    /// How many contained pieces of work are on this thread's stack.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    /// Where the last contained panic of this thread happened.
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// A contained piece of work has panicked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Panicked {
    /// The place in the code, as `file:line`; empty where no hook has noted it.
    pub place: String,
}

impl fmt::Display for Panicked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a panic at {}", self.place)
    }
}

/// Runs a function; its panic ends only the function.
///
/// # Errors
/// When the function panicked.
pub fn run<T>(work: impl FnOnce() -> T) -> Result<T, Panicked> {
    let entered = Entered::new();
    let ended = catch_unwind(AssertUnwindSafe(work));
    drop(entered);
    ended.map_err(|_| Panicked { place: PLACE.take().unwrap_or_default() })
}

/// Runs a future; its panic ends only the future, which is dropped.
pub fn contained<F: Future>(work: F) -> Contained<F> {
    Contained(Some(Box::pin(work)))
}

/// Panics on this thread too, at the same place: for work whose own task has panicked.
pub fn resume(panicked: Panicked) -> ! {
    PLACE.replace(Some(panicked.place));
    resume_unwind(Box::new(()))
}

/// Notes the place of a panic, for the process's panic hook. Returns whether the panic is contained.
pub fn note(place: Option<&Location<'_>>) -> bool {
    let is_contained = DEPTH.get() > 0;
    if is_contained {
        PLACE.replace(place.map(|place| format!("{}:{}", place.file(), place.line())));
    }
    is_contained
}

/// A contained future.
pub struct Contained<F>(Option<Pin<Box<F>>>);

impl<F: Future> Future for Contained<F> {
    type Output = Result<F::Output, Panicked>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(work) = &mut self.0 else { return Poll::Pending };
        match run(|| work.as_mut().poll(context)) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(output)) => {
                self.0 = None;
                Poll::Ready(Ok(output))
            }
            Err(panicked) => {
                // Dropping it releases what it held; a second panic on the way ends nothing either.
                let left = self.0.take();
                let _ = run(|| drop(left));
                Poll::Ready(Err(panicked))
            }
        }
    }
}

/// Counts the contained work on this thread's stack.
struct Entered;

impl Entered {
    fn new() -> Self {
        DEPTH.set(DEPTH.get() + 1);
        Self
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::rc::Rc;

    #[test]
    fn a_panic_ends_its_own_work_and_what_it_held_is_released() {
        let held = Rc::new(());
        let inner = Rc::clone(&held);
        let work = contained(async move {
            let _held = inner;
            std::future::ready(()).await;
            if Rc::strong_count(&_held) > 0 {
                panic!("Maria da Silva");
            }
        });
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        assert!(runtime.block_on(work).is_err());
        assert_eq!(Rc::strong_count(&held), 1);
        assert_eq!(runtime.block_on(contained(async { 5 })), Ok(5));
        assert!(!note(None), "nothing is contained any more");
    }

    #[test]
    fn the_place_is_noted_within_contained_work_only() {
        let ended = run(|| {
            assert!(note(Some(Location::caller())));
            resume_unwind(Box::new(()));
        });
        let place = ended.unwrap_err().place;
        assert!(place.starts_with("crates/model/src/containment.rs:"), "{place}");
        assert_eq!(run(|| 1), Ok(1));
        let panicked = Panicked { place: "there.rs:5".to_owned() };
        assert_eq!(run(|| resume(panicked.clone())), Err(panicked), "it keeps its place");
    }
}
