//! The values that the marketplace sends and that cannot be read: which fields, in how many answers. Pure: the caller
//! passes the time.
//!
//! The mirror has NULL for such a value. It counts until its object is read again without it, until the marketplace does
//! not have the object any more, or until a deep pass that began later has read everything. Fields and routes come from
//! this code, so nothing of a buyer gets here.

use std::collections::{BTreeMap, HashMap};

use chrono::{DateTime, Utc};
use espelho_model::ContentHash;

use crate::route::Route;

/// The objects of a field that are told apart; of more, only a deep pass shows that they can be read again.
const TOLD_APART: usize = 1_000;

/// A field that cannot be read in some answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnreadableField {
    /// The route of the answers, with its method.
    pub route: Route,
    /// The field, as `totals.shipping` or `items[].net_value`.
    pub field: &'static str,
    /// How many values of it.
    pub values: u64,
    /// When the first of them was read.
    pub since: DateTime<Utc>,
}

/// The object of an answer, by the fingerprints of its request and of the request for what it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Object {
    request: ContentHash,
    owner: ContentHash,
}

impl Object {
    /// Returns the object of a request and its owner, both as method and path.
    pub(crate) fn of(request: &str, owner: &str) -> Self {
        Self { request: ContentHash::of(request.as_bytes()), owner: ContentHash::of(owner.as_bytes()) }
    }
}

/// The unreadable values of one store.
#[derive(Clone, Debug, Default)]
pub(crate) struct UnreadableValues(BTreeMap<(Route, &'static str), Values>);

#[derive(Clone, Debug)]
struct Values {
    since: DateTime<Utc>,
    last: DateTime<Utc>,
    /// How many values of each object.
    objects: HashMap<Object, u64>,
    /// Values of objects beyond those.
    more: u64,
}

impl UnreadableValues {
    /// Records which fields of an answer could not be read, each as often as it has an unreadable value. Other fields of
    /// the same object can be read again.
    pub(crate) fn note(
        &mut self,
        route: Route,
        object: impl FnOnce() -> Object,
        unreadable: impl Iterator<Item = &'static str>,
        at: DateTime<Utc>,
    ) {
        let mut counts = BTreeMap::<&'static str, u64>::new();
        unreadable.for_each(|field| *counts.entry(field).or_default() += 1);
        // Nearly every answer ends here.
        if counts.is_empty() && self.0.is_empty() {
            return;
        }
        let object = object();
        self.0.retain(|(own, field), values| {
            if *own == route && !counts.contains_key(field) {
                values.objects.remove(&object);
            }
            values.more > 0 || !values.objects.is_empty()
        });
        for (field, count) in counts {
            let new = || Values { since: at, last: at, objects: HashMap::new(), more: 0 };
            let values = self.0.entry((route, field)).or_insert_with(new);
            values.last = values.last.max(at);
            if values.objects.len() < TOLD_APART || values.objects.contains_key(&object) {
                values.objects.insert(object, count);
            } else {
                values.more += count;
            }
        }
    }

    /// Forgets the values of an object that the marketplace does not have, and of its sides.
    pub(crate) fn forget_object(&mut self, request: &str) {
        let gone = ContentHash::of(request.as_bytes());
        self.0.retain(|_, values| {
            values.objects.retain(|object, _| object.request != gone && object.owner != gone);
            values.more > 0 || !values.objects.is_empty()
        });
    }

    /// Forgets the fields that were last unreadable before a complete pass began.
    pub(crate) fn forget_before(&mut self, began: DateTime<Utc>) {
        self.0.retain(|_, values| values.last >= began);
    }

    /// Returns the fields, those with the most values first.
    pub(crate) fn fields(&self) -> Vec<UnreadableField> {
        let field = |(&(route, field), values): (&(Route, &'static str), &Values)| UnreadableField {
            route,
            field,
            values: values.objects.values().sum::<u64>() + values.more,
            since: values.since,
        };
        let mut fields: Vec<UnreadableField> = self.0.iter().map(field).collect();
        fields.sort_by_key(|field| std::cmp::Reverse(field.values));
        fields
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORDER: Route = ("/orders/{id}", "GET");
    const PRODUCT: Route = ("/products/{id}", "GET");

    /// An object that belongs to itself.
    fn own(number: i64) -> Object {
        Object::of(&number.to_string(), &number.to_string())
    }

    fn at(second: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(second, 0).unwrap()
    }

    /// An answer: its route, its object, the second, and what of it could not be read.
    type Answer = (Route, i64, i64, &'static [&'static str]);

    fn order(object: i64, second: i64, fields: &'static [&'static str]) -> Answer {
        (ORDER, object, second, fields)
    }

    fn product(object: i64, second: i64, fields: &'static [&'static str]) -> Answer {
        (PRODUCT, object, second, fields)
    }

    fn after(answers: &[Answer]) -> UnreadableValues {
        let mut values = UnreadableValues::default();
        for (route, object, second, fields) in answers {
            values.note(*route, || own(*object), fields.iter().copied(), at(*second));
        }
        values
    }

    /// Returns the fields, how many values of each, and the second of the first.
    fn shown(values: &UnreadableValues) -> Vec<(&'static str, u64, i64)> {
        values.fields().into_iter().map(|of| (of.field, of.values, of.since.timestamp())).collect()
    }

    // withstands: F070
    #[test]
    fn a_value_counts_until_its_object_is_read_again_without_it() {
        for (answers, expected, why) in [
            (vec![order(1, 10, &[])], vec![], "all of it can be read"),
            (vec![order(1, 10, &["a"])], vec![("a", 1, 10)], "one value"),
            (vec![order(1, 10, &["a"]), order(1, 20, &["a"])], vec![("a", 1, 10)], "the same again"),
            (vec![order(1, 10, &["a"]), order(2, 20, &["a"])], vec![("a", 2, 10)], "of two objects"),
            (vec![order(1, 10, &["a", "b", "b"])], vec![("b", 2, 10), ("a", 1, 10)], "of two lines"),
            (vec![order(1, 10, &["a", "b"]), order(1, 20, &["b"])], vec![("b", 1, 10)], "one is well"),
            (vec![order(1, 10, &["a"]), order(1, 20, &[])], vec![], "it is well"),
            (vec![order(1, 10, &["a"]), order(2, 20, &[])], vec![("a", 1, 10)], "another object is well"),
            (vec![order(1, 10, &["a"]), product(1, 20, &[])], vec![("a", 1, 10)], "another route is well"),
        ] {
            assert_eq!(shown(&after(&answers)), expected, "{why}");
        }
    }

    #[test]
    fn an_object_that_is_gone_takes_its_values_and_those_of_its_sides_along() {
        const EVENTS: Route = ("/orders/{id}/events", "GET");
        for (gone, expected, why) in [
            ("1", vec![("a", 1, 10)], "the order, with its events"),
            ("1/events", vec![("a", 2, 10)], "only its events"),
            ("2", vec![("a", 1, 10), ("b", 1, 30)], "another order"),
            ("3", vec![("a", 2, 10), ("b", 1, 30)], "an order that could be read"),
        ] {
            let mut values = UnreadableValues::default();
            for (route, request, owner, field, second) in
                [(ORDER, "1", "1", "a", 10), (ORDER, "2", "2", "a", 20), (EVENTS, "1/events", "1", "b", 30)]
            {
                values.note(route, || Object::of(request, owner), [field].into_iter(), at(second));
            }
            values.forget_object(gone);
            assert_eq!(shown(&values), expected, "{why}");
        }
    }

    #[test]
    fn a_complete_pass_that_began_later_ends_what_it_did_not_meet() {
        let mut values = after(&[order(1, 10, &["a"]), product(1, 30, &["b"])]);
        values.forget_before(at(10));
        assert_eq!(shown(&values), [("a", 1, 10), ("b", 1, 30)], "the pass read it");
        values.forget_before(at(11));
        assert_eq!(shown(&values), [("b", 1, 30)]);
    }

    #[test]
    fn of_very_many_objects_the_values_are_counted_and_only_a_complete_pass_ends_them() {
        let mut values = UnreadableValues::default();
        let many = i64::try_from(TOLD_APART).unwrap() + 2;
        for object in 0..many {
            values.note(ORDER, || own(object), ["a"].into_iter(), at(10));
        }
        assert_eq!(shown(&values), [("a", 1_002, 10)]);
        for object in 0..many {
            values.note(ORDER, || own(object), [].into_iter(), at(20));
        }
        assert_eq!(shown(&values), [("a", 2, 10)]);
        values.forget_before(at(15));
        assert!(shown(&values).is_empty());
    }
}
