//! Reads listings (API document, "Listing (item)").

use espelho_model::{ItemId, RawJson, listing::Listing};
use serde_json::value::RawValue;

use super::super::{
    answer::{raw, unwrapped},
    categories::{category_row, department_row},
};
use crate::wire::{
    fields::{Field, FieldReader, object},
    shape,
};

shape! { ListingWire {
    item, item_id, title,
    #[serde(rename = "type")]
    listing_type,
    status, gtin, store, department, departament, category, score, rejection_reason, slug, price_range,
    short_description,
} }

shape! { GtinWire {
    #[serde(rename = "type")]
    kind,
    value,
} }

/// Reads the listing in an answer, if there is one.
pub(super) fn read_listing(read: &mut FieldReader, payload: &str) -> Option<Listing> {
    let outer: ListingWire<'_> = object(payload).ok()?;
    let own = unwrapped(payload, outer.item_id, outer.item);
    let wire: ListingWire<'_> = object(own).ok()?;
    let item_id = ItemId::new(read.id("item_id", wire.item_id)?);
    let (listing_type, type_label) = read.labelled("type", wire.listing_type);
    let (status, status_label) = read.labelled("status", wire.status);
    let (gtin_type, gtin) = read_gtin(read, wire.gtin);
    let score = read.decimal("score", wire.score);
    Some(Listing {
        item_id,
        title: read.text("title", wire.title),
        listing_type,
        type_label,
        status,
        status_label,
        gtin_type,
        gtin,
        department: object_of(wire.department.or(wire.departament)).and_then(|row| department_row(read, row)),
        category: object_of(wire.category).and_then(|row| category_row(read, row)),
        score: score.map(|score| score.normalize()),
        rejection_reason: read.text("rejection_reason", wire.rejection_reason),
        slug: read.text("slug", wire.slug),
        short_description: read.text("short_description", wire.short_description),
        price_range: raw(wire.price_range),
        store: raw(wire.store),
        raw: RawJson::new(own),
    })
}

/// Reads a GTIN with its type, or a bare one.
fn read_gtin(read: &mut FieldReader, field: Field<'_>) -> (Option<String>, Option<String>) {
    if object_of(field).is_none() {
        let bare = field.filter(|raw| raw.get() != "[]");
        return (None, read.text("gtin", bare));
    }
    let wire: GtinWire<'_> = read.nested("gtin", field).unwrap_or_default();
    (read.labelled("gtin.type", wire.kind).0, read.text("gtin.value", wire.value))
}

fn object_of(field: Field<'_>) -> Option<&RawValue> {
    field.filter(|raw| raw.get().starts_with('{'))
}

#[cfg(test)]
mod tests {
    use chrono::FixedOffset;
    use serde_json::{Value, json};

    use super::*;
    use crate::resources::answer::{Written, read_written};

    fn read(payload: &Value) -> Written<Listing> {
        read_written(&payload.to_string(), FixedOffset::east_opt(0).unwrap(), read_listing)
    }

    fn listing() -> Value {
        json!({
            "item_id": "MPB-0000000000001", "title": "Caneca", "type": {"value": "default", "label": "Próprio"},
            "status": {"value": "draft", "label": "Rascunho"}, "gtin": {"type": 1, "value": "7891000315507"},
            "store": {"id": 1}, "department": {"id": 3, "name": "Casa", "icon_svg": "<svg/>"},
            "category": {"id": 12, "parent_id": 1, "name": "Canecas", "hierarchy": ["Casa", "Canecas"]},
            "score": 87.5, "rejection_reason": null, "slug": "caneca", "price_range": {"min": 10},
            "short_description": "Azul"
        })
    }

    // proves: LST-031, LST-038, LST-039, LST-040, LST-041, LST-042
    #[test]
    fn a_created_listing_is_read_field_by_field() {
        for payload in [listing(), json!({"item": listing()})] {
            let Written { value, unreadable, .. } = read(&payload);
            let value = value.unwrap();
            assert_eq!(unreadable, Vec::<&str>::new());
            assert!(value.item_id.is_well_formed());
            let words = [&value.listing_type, &value.type_label, &value.status, &value.status_label];
            assert_eq!(
                words.map(|word| word.as_deref().unwrap()),
                ["default", "Próprio", "draft", "Rascunho"]
            );
            assert_eq!(
                (value.gtin_type.as_deref(), value.gtin.as_deref()),
                (Some("1"), Some("7891000315507"))
            );
            let (department, category) = (value.department.clone().unwrap(), value.category.clone().unwrap());
            assert_eq!((department.id.as_str(), department.name.as_deref()), ("3", Some("Casa")));
            assert_eq!(department.icon_svg.as_deref(), Some("<svg/>"));
            assert_eq!((category.id.as_i64(), category.parent_id.as_deref()), (12, Some("1")));
            assert_eq!(category.hierarchy.unwrap().as_str(), r#"["Casa","Canecas"]"#);
            assert_eq!(value.score.unwrap().to_string(), "87.5");
            assert_eq!(
                (value.slug.as_deref(), value.short_description.as_deref()),
                (Some("caneca"), Some("Azul"))
            );
            assert_eq!(value.price_range.as_ref().unwrap().as_str(), r#"{"min":10}"#);
            assert_eq!((value.store.is_some(), value.title.as_deref()), (true, Some("Caneca")));
            assert!(value.unknown_values().is_empty());
        }
    }

    // proves: LST-047
    #[test]
    fn a_returned_listing_says_why() {
        let mut sent = listing();
        sent["rejection_reason"] = json!("Foto sem nitidez");
        assert_eq!(read(&sent).value.unwrap().rejection_reason.as_deref(), Some("Foto sem nitidez"));
    }

    // proves: LST-042
    #[test]
    fn each_documented_status_is_known_and_another_is_kept_and_named() {
        for status in ["draft", "pending_review", "active", "paused", "inactive"] {
            let mut sent = listing();
            sent["status"] = json!(status);
            assert!(read(&sent).value.unwrap().unknown_values().is_empty(), "{status}");
        }
        let mut sent = listing();
        sent["status"] = json!({"value": "blocked", "label": "Bloqueado"});
        assert_eq!(read(&sent).value.unwrap().unknown_values(), [("status", "blocked")]);
    }

    #[test]
    fn bare_and_empty_parts_are_read_too() {
        let sent = json!({"item_id": "MPB-0000000000001", "gtin": "7891000315507", "type": "default",
            "department": [], "category": null, "score": ""});
        let Written { value, unreadable, .. } = read(&sent);
        let value = value.unwrap();
        assert_eq!(
            (value.gtin.as_deref(), value.listing_type.as_deref()),
            (Some("7891000315507"), Some("default"))
        );
        assert_eq!((value.department, value.category, value.score, unreadable), (None, None, None, vec![]));
        assert!(read(&json!({"status": "pending_review"})).value.is_none());
    }
}
