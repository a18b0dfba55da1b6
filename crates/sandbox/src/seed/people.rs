//! Buyers.

use std::sync::Arc;

use super::names;
use crate::{people::Person, random::Random, text};

/// Generates this number of buyers.
pub(super) fn people(seed: u64, count: usize) -> Vec<Person> {
    // Thousands of buyers share the text of a place.
    let shared = |text: &str| -> Arc<str> { text.into() };
    let places: Vec<_> =
        names::PLACES.iter().map(|((city, state), _)| (shared(city), shared(state))).collect();
    let shares: Vec<(usize, u32)> =
        names::PLACES.iter().enumerate().map(|(at, (_, share))| (at, *share)).collect();
    (0..count)
        .map(|at| {
            let mut random = Random::of(&[seed, at as u64, 0x9E09]);
            let (city, state) = places[random.weighted(&shares)].clone();
            Person::new(random.ulid(), person_name(&mut random), city, state)
        })
        .collect()
}

/// Invents a name.
pub(crate) fn person_name(random: &mut Random) -> String {
    let (first, middle, last) =
        (random.pick(&names::FIRST), random.pick(&names::MIDDLE), random.pick(&names::LAST));
    let space = if middle.is_empty() { "" } else { " " };
    format!("{first}{space}{middle} {last}")
}

impl Person {
    pub(crate) fn new(uid: u128, name: String, city: Arc<str>, state: Arc<str>) -> Self {
        Self { uid, folded: text::fold(&name).into(), name: name.into(), city, state }
    }
}
