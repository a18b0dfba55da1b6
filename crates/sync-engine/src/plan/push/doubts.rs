//! Values that are not as they were asked for, or listed, without an explanation, and since when.

use std::{collections::HashMap, time::Duration};

/// The values that differ, by key: levels of stock, and orders beside their listing rows.
#[derive(Debug, Default)]
pub struct Doubts {
    since: HashMap<String, Doubt>,
}

#[derive(Debug)]
struct Doubt {
    /// The revision of the row that asked for the value, or the fingerprint of the one that lists it.
    revision: i64,
    /// When it was first seen to differ.
    since: Duration,
}

impl Doubts {
    /// Notes that a value differs; returns for how long it has. Another revision of its row is another intent, and begins
    /// anew: a doubt of long ago, which some other reading has answered, would leave it no time.
    pub fn doubted_for(&mut self, key: String, revision: i64, now: Duration) -> Duration {
        let doubt = self.since.entry(key).or_insert(Doubt { revision, since: now });
        if doubt.revision != revision {
            *doubt = Doubt { revision, since: now };
        }
        now.saturating_sub(doubt.since)
    }

    /// Notes that a value is explained, or answered.
    pub fn end(&mut self, key: &str) {
        self.since.remove(key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_doubted_since_it_first_differed_for_this_revision() {
        let mut doubts = Doubts::default();
        let mut doubted_for = |key: &str, revision, second| {
            doubts.doubted_for(key.to_owned(), revision, Duration::from_secs(second)).as_secs()
        };
        for (key, revision, second, expected, why) in [
            ("A", 1, 10, 0, "it was not seen before"),
            ("A", 1, 15, 5, "it still differs"),
            ("B", 1, 15, 0, "another level"),
            ("A", 2, 3_600, 0, "another revision, an hour later"),
            ("A", 2, 3_630, 30, "it still differs"),
            ("B", 1, 3_630, 3_615, "it differs all the time"),
        ] {
            assert_eq!(doubted_for(key, revision, second), expected, "{key} {revision} {second}: {why}");
        }
        doubts.end("A");
        assert_eq!(doubts.doubted_for("A".to_owned(), 2, Duration::from_secs(3_700)), Duration::ZERO);
    }
}
