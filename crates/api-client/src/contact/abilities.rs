//! The abilities that the token lacks, as far as refusals show it. Pure.

use super::{Contact, Trouble};
use crate::route::{Route, is_listing};

impl Contact {
    /// Returns the abilities that the token lacks, over all routes, as one trouble. A listing that was refused without a
    /// name of an ability stands for it.
    pub fn scope(&self) -> Option<Trouble> {
        self.scope_of(|_| true)
    }

    /// Returns those that refused reads show. Such a read is repeated until it is accepted.
    pub fn scope_of_reads(&self) -> Option<Trouble> {
        self.scope_of(|route| self.refused_reads.contains_key(route))
    }

    /// Returns those that only refused writes show. Nothing is written to find out whether they are there again.
    pub fn scope_of_writes(&self) -> Option<Trouble> {
        self.scope_of(|route| !self.refused_reads.contains_key(route))
    }

    fn scope_of(&self, is_meant: impl Fn(&Route) -> bool) -> Option<Trouble> {
        let meant: Vec<_> = self.scopes.iter().filter(|(route, _)| is_meant(route)).collect();
        let (_, latest) = meant.iter().max_by_key(|(_, trouble)| trouble.last)?;
        let since = meant.iter().map(|(_, trouble)| trouble.since).min()?;
        let mut abilities: Vec<_> =
            meant.iter().flat_map(|(route, trouble)| lacked(**route, trouble)).collect();
        abilities.sort_unstable();
        abilities.dedup();
        let times = meant.iter().map(|(_, trouble)| trouble.times).sum();
        Some(Trouble { since, times, abilities, ..(*latest).clone() })
    }
}

/// Returns what the token lacks for a route.
fn lacked((path, method): Route, trouble: &Trouble) -> Vec<String> {
    match trouble.abilities.is_empty() && is_listing(&(path, method)) {
        true => vec![format!("{method} {path}")],
        false => trouble.abilities.clone(),
    }
}

#[cfg(test)]
mod tests {
    use chrono::{DateTime, Utc};

    use super::*;
    use crate::{ApiRequest, contact::Outcome};

    const STOCK: Route = ("/stock", "POST");
    const ORDERS: Route = ("/orders", "GET");

    fn at(seconds: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(1_800_000_000 + seconds, 0).unwrap()
    }

    #[test]
    fn abilities_of_all_routes_are_named_once_and_those_of_writes_apart() {
        let mut contact = Contact::default();
        assert_eq!(
            (contact.scope(), contact.scope_of_reads(), contact.scope_of_writes()),
            (None, None, None)
        );
        for (second, route, name) in [(1, STOCK, "b"), (2, ORDERS, "a"), (3, STOCK, "b")] {
            let read = (route == ORDERS).then(|| ApiRequest::get(route.0, &[]));
            contact.note(Outcome::MissingAbilities(route, vec![name.to_owned()], read), at(second));
        }
        let shown = |scope: Option<Trouble>| scope.map(|of| (of.abilities.concat(), of.since, of.last));
        assert_eq!(shown(contact.scope()), Some(("ab".to_owned(), at(1), at(3))));
        assert_eq!(shown(contact.scope_of_reads()), Some(("a".to_owned(), at(2), at(2))));
        assert_eq!(shown(contact.scope_of_writes()), Some(("b".to_owned(), at(1), at(3))));
        contact.note(Outcome::Useful(STOCK), at(4));
        assert_eq!(shown(contact.scope_of_writes()), None);
    }
}
