//! Fault points: places where a test has the service panic, or die, on an input of its choice.
//!
//! Only builds with debug assertions have them. `ESPELHO_FAULTS` lists rules, separated by `;`: `POINT=WORD` panics at
//! the point where the input contains the word, `POINT==WORD` where it is the word, and with `!` at its end a rule ends
//! the process on the spot, as an abort, a stack overflow or the kernel's out-of-memory killer does.

/// The rules of this process.
#[cfg(debug_assertions)]
static RULES: std::sync::LazyLock<std::sync::RwLock<Vec<Rule>>> =
    std::sync::LazyLock::new(|| rules(&std::env::var("ESPELHO_FAULTS").unwrap_or_default()).into());

/// Panics or ends the process, if a test's rule says so.
#[cfg(debug_assertions)]
#[track_caller]
pub fn point(name: &str, input: impl AsRef<[u8]>) {
    let ends_process = {
        let rules = RULES.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        let Some(rule) = rules.iter().find(|rule| rule.applies(name, input.as_ref())) else { return };
        rule.ends_process
    };
    if ends_process {
        std::process::abort();
    }
    STRIKES.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    panic!("a fault point: {}", String::from_utf8_lossy(input.as_ref()));
}

/// How often a rule has panicked.
#[cfg(debug_assertions)]
static STRIKES: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);

/// Returns how often a rule has panicked in this process.
#[cfg(debug_assertions)]
pub fn strikes() -> u64 {
    STRIKES.load(std::sync::atomic::Ordering::Relaxed)
}

/// Adds rules, for tests within this process.
#[cfg(debug_assertions)]
pub fn provoke(text: &str) {
    RULES.write().unwrap_or_else(std::sync::PoisonError::into_inner).extend(rules(text));
}

/// Does nothing in a build for users.
#[cfg(not(debug_assertions))]
#[inline(always)]
pub fn point(_name: &str, _input: impl AsRef<[u8]>) {}

#[cfg(debug_assertions)]
struct Rule {
    point: String,
    word: String,
    is_whole: bool,
    ends_process: bool,
}

#[cfg(debug_assertions)]
impl Rule {
    fn applies(&self, point: &str, input: &[u8]) -> bool {
        let word = self.word.as_bytes();
        let contains = || word.is_empty() || input.windows(word.len()).any(|part| part == word);
        self.point == point && if self.is_whole { input == word } else { contains() }
    }
}

#[cfg(debug_assertions)]
fn rules(text: &str) -> Vec<Rule> {
    let rules = text.split(';').filter_map(|rule| rule.split_once('='));
    rules
        .map(|(point, word)| Rule {
            point: point.to_owned(),
            word: word.trim_start_matches('=').trim_end_matches('!').to_owned(),
            is_whole: word.starts_with('='),
            ends_process: word.ends_with('!'),
        })
        .collect()
}

#[cfg(all(test, debug_assertions))]
mod tests {
    use super::*;

    #[test]
    fn a_rule_applies_to_its_point_and_to_inputs_with_its_word() {
        let rules = rules("order=77;delivery=boom!;sweep=;product==5");
        let applies = |point: &str, input: &str| {
            rules.iter().find(|rule| rule.applies(point, input.as_bytes())).map(|rule| rule.ends_process)
        };
        assert_eq!(applies("order", "1077"), Some(false));
        assert_eq!(applies("order", "1078"), None);
        assert_eq!(applies("delivery", r#"{"x":"boom"}"#), Some(true));
        assert_eq!(applies("product", "77"), None);
        assert_eq!(applies("sweep", "products"), Some(false));
        assert_eq!((applies("product", "5"), applies("product", "50")), (Some(false), None));
    }
}
