//! When each marketplace last answered a store of this process.
//!
//! An answer to one store proves that the marketplace can be reached. So thousands of stores need not each ask whether it can.

use std::{collections::HashMap, sync::Arc};

use chrono::{DateTime, Utc};
use parking_lot::Mutex;

/// The marketplaces of a process, by their address.
#[derive(Debug, Default)]
pub struct Marketplaces(Mutex<HashMap<String, Arc<Marketplace>>>);

/// A marketplace, as the stores of a process share it.
#[derive(Debug, Default)]
pub struct Marketplace {
    answered_at: Mutex<Option<DateTime<Utc>>>,
}

impl Marketplaces {
    /// Returns the marketplace at an address.
    pub fn at(&self, base_url: &str) -> Arc<Marketplace> {
        Arc::clone(self.0.lock().entry(base_url.to_owned()).or_default())
    }
}

impl Marketplace {
    /// Notes when it last answered one of its stores; returns when it last answered any, as far as that was noted. A time
    /// after `now` is from before the clock was set back.
    pub fn note_answered(&self, at: Option<DateTime<Utc>>, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
        let of_past = |time: Option<DateTime<Utc>>| time.filter(|time| *time <= now);
        let mut last = self.answered_at.lock();
        *last = of_past(at).max(of_past(*last));
        *last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_answer_to_any_store_counts_for_all_of_a_marketplace() {
        let at = |second| DateTime::from_timestamp(second, 0);
        let now = at(30).unwrap();
        let marketplaces = Marketplaces::default();
        let (one, other) = (marketplaces.at("https://a"), marketplaces.at("https://b"));
        assert_eq!(one.note_answered(None, now), None);
        assert_eq!(one.note_answered(at(20), now), at(20));
        assert_eq!(marketplaces.at("https://a").note_answered(at(5), now), at(20));
        assert_eq!(other.note_answered(None, now), None, "another marketplace");
        let set_back = at(10).unwrap();
        assert_eq!(one.note_answered(at(7), set_back), at(7), "the clock was set back");
        assert_eq!(one.note_answered(at(20), set_back), at(7));
    }
}
