//! Decides which listings join a campaign by the store's policy. Pure.

use std::collections::{BTreeMap, HashMap, HashSet};

use rust_decimal::Decimal;

/// What the store's policy does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Joining {
    /// Nothing joins automatically.
    #[default]
    Never,
    /// Listings that fit are written down, and held until a person releases them.
    Held,
    /// Listings that fit join.
    Joins,
}

/// The store's policy for campaigns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Policy {
    /// What it does.
    pub joining: Joining,
    /// The largest discount, in per cent of the listing's price.
    pub max_discount_percent: Decimal,
    /// The lowest discounted price of a listing, by its `item_id`.
    pub floors: HashMap<String, Decimal>,
    /// The lowest discounted price of any other listing.
    pub floor: Decimal,
    /// Only listings of these categories; of any category, where none is named.
    pub categories: HashSet<String>,
}

/// A listing that could join a campaign.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The campaign.
    pub campaign: String,
    /// The listing.
    pub item: String,
    /// Its price.
    pub price: Option<Decimal>,
    /// Its price in the campaign; only the platform knows it.
    pub preview: Option<Decimal>,
    /// Its category, where it is known.
    pub category: Option<String>,
}

impl Policy {
    /// Returns the listings that fit, by campaign. A listing whose price or preview is unknown does not fit: nobody
    /// agrees to an unknown price.
    pub fn choose(&self, candidates: &[Candidate]) -> BTreeMap<String, Vec<String>> {
        let mut chosen: BTreeMap<String, Vec<String>> = BTreeMap::new();
        if self.joining == Joining::Never {
            return chosen;
        }
        for candidate in candidates.iter().filter(|candidate| self.fits(candidate)) {
            chosen.entry(candidate.campaign.clone()).or_default().push(candidate.item.clone());
        }
        chosen
    }

    fn fits(&self, candidate: &Candidate) -> bool {
        let (Some(price), Some(preview)) = (candidate.price, candidate.preview) else { return false };
        let floor = self.floors.get(&candidate.item).copied().unwrap_or(self.floor);
        let in_category = self.categories.is_empty()
            || candidate.category.as_ref().is_some_and(|category| self.categories.contains(category));
        let discount = (price - preview) * Decimal::ONE_HUNDRED;
        price > Decimal::ZERO
            && preview > Decimal::ZERO
            && preview >= floor
            && discount <= self.max_discount_percent * price
            && in_category
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(item: &str, price: i64, preview: i64) -> Candidate {
        Candidate {
            campaign: "7".into(),
            item: item.into(),
            price: Some(price.into()),
            preview: Some(preview.into()),
            category: None,
        }
    }

    fn policy() -> Policy {
        Policy { joining: Joining::Joins, max_discount_percent: Decimal::from(20), ..Policy::default() }
    }

    fn chosen(policy: &Policy, candidates: &[Candidate]) -> Vec<String> {
        policy.choose(candidates).into_values().flatten().collect()
    }

    #[test]
    fn what_is_discounted_too_much_or_below_its_floor_does_not_join() {
        let mut policy = policy();
        policy.floors.insert("c".into(), Decimal::from(90));
        let candidates = [candidate("a", 100, 80), candidate("b", 100, 79), candidate("c", 100, 85)];
        assert_eq!(chosen(&policy, &candidates), ["a"]);
        policy.floor = Decimal::from(81);
        assert_eq!(chosen(&policy, &candidates), Vec::<String>::new());
    }

    #[test]
    fn what_is_not_shown_is_not_agreed_to_and_without_a_policy_nothing_joins() {
        let blind = Candidate { preview: None, ..candidate("a", 100, 90) };
        let free = candidate("b", 100, 0);
        assert_eq!(
            chosen(&Policy { max_discount_percent: Decimal::from(100), ..policy() }, &[blind, free]),
            Vec::<String>::new()
        );
        assert_eq!(chosen(&Policy::default(), &[candidate("a", 100, 100)]), Vec::<String>::new());
    }

    #[test]
    fn with_categories_only_what_is_known_to_be_in_one_joins() {
        let policy = Policy { categories: HashSet::from(["5".to_owned()]), ..policy() };
        let known = Candidate { category: Some("5".into()), ..candidate("a", 100, 90) };
        assert_eq!(chosen(&policy, &[known, candidate("b", 100, 90)]), ["a"]);
    }
}
