//! Decides in which location a level lies that names it instead of giving its id.
//!
//! The document does not say what `location_stock` holds. The client resolves a name of the same answer; the detail of a
//! product may name locations that only an earlier answer has described.

use std::collections::HashMap;

use espelho_model::{LocationId, product::StockLevel};

/// The described locations with their names.
pub type LocationNames = HashMap<LocationId, Option<String>>;

/// Gives levels the ids of their locations. What is an id of a location is no name, and a name that two locations have
/// is none.
pub fn locate(levels: &mut [StockLevel], names: &LocationNames) {
    for level in levels.iter_mut().filter(|level| !names.contains_key(&level.location_id)) {
        let told = level.location_id.as_str();
        let mut called = names.iter().filter(|(_, name)| name.as_deref() == Some(told));
        if let (Some((only, _)), None) = (called.next(), called.next()) {
            level.location_id = only.clone();
        }
    }
}

#[cfg(test)]
mod tests {
    use espelho_model::{RawJson, Sku};

    use super::*;

    #[test]
    fn a_level_lies_in_the_only_location_that_is_called_as_it_tells() {
        let names =
            [("7", Some("CD")), ("8", Some("Loja")), ("9", Some("Loja")), ("10", None), ("11", Some("8"))];
        let names: LocationNames =
            names.map(|(id, name)| (LocationId::new(id), name.map(str::to_owned))).into_iter().collect();
        for (told, expected, why) in [
            ("7", "7", "it is an id"),
            ("CD", "7", "one location is called so"),
            ("Loja", "Loja", "two are"),
            ("8", "8", "an id is no name"),
            ("12", "12", "nobody knows it"),
            ("cd", "cd", "names are taken as they are"),
        ] {
            let level = StockLevel {
                sku: Sku::new("S"),
                location_id: LocationId::new(told),
                quantity: None,
                reserved_quantity: None,
                available_quantity: None,
                raw: RawJson::new("{}"),
            };
            let mut levels = [level];
            locate(&mut levels, &names);
            assert_eq!(levels[0].location_id.as_str(), expected, "{why}");
        }
    }
}
