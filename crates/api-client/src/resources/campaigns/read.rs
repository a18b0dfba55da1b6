//! Reads campaigns and their listings (API document, "Campaign", "Campaign summary", "Eligible listing", "Enrolled
//! listing").

use espelho_model::{
    CampaignId, ItemId, RawJson,
    campaign::{Campaign, CampaignSummary, EligibleListing, EnrolledListing, UpcomingDeadline},
    money::with_cents,
};
use serde_json::value::RawValue;

use crate::{
    resources::answer::{raw, unwrapped},
    wire::{
        envelope::BodyError,
        fields::{FieldReader, object},
        shape,
        within::object_with,
    },
};

shape! { CampaignWire {
    campaign, id, uid, name, slug,
    #[serde(rename = "type")]
    campaign_type,
    status, starts_at, ends_at, opt_in_deadline, primary_color, secondary_color, has_landing_page,
    landing_page_slug, show_in_menu, rules, created_at, updated_at,
} }

shape! { RulesWire { coupon_config } }
shape! { CouponWire { discount_type, value } }
shape! { SummaryWire { active_campaigns, joined_campaigns, enrolled_products, upcoming_deadlines } }
shape! { DeadlineWire { id, name, opt_in_deadline } }
shape! { EligibleWire { item_id, title, image, price, discount_preview } }
shape! { EnrolledWire { publication_id, title, image, authorized_discount_price, status } }

/// Reads one campaign, which must be the requested one.
pub(super) fn read_campaign(
    read: &mut FieldReader,
    payload: &str,
    asked: CampaignId,
) -> Result<Campaign, BodyError> {
    let wire: CampaignWire<'_> = object(payload)?;
    let own = unwrapped(payload, wire.id, wire.campaign);
    let campaign = campaign_of(read, own)?.ok_or_else(|| BodyError::shape("a campaign without id"))?;
    match campaign.id == asked {
        true => Ok(campaign),
        false => Err(BodyError::shape(format!("asked for campaign {asked}, was given {}", campaign.id))),
    }
}

/// Reads a row of the calendar.
pub(super) fn campaign_row(read: &mut FieldReader, row: &RawValue) -> Option<Campaign> {
    campaign_of(read, row.get()).ok()?
}

fn campaign_of(read: &mut FieldReader, json: &str) -> Result<Option<Campaign>, serde_json::Error> {
    let wire: CampaignWire<'_> = object(json)?;
    let Some(id) = read.integer("id", wire.id) else { return Ok(None) };
    let rules: RulesWire<'_> = read.nested("rules", wire.rules).unwrap_or_default();
    let coupon: CouponWire<'_> = read.nested("rules.coupon_config", rules.coupon_config).unwrap_or_default();
    Ok(Some(Campaign {
        id: CampaignId::new(id),
        uid: read.text("uid", wire.uid),
        name: read.text("name", wire.name),
        slug: read.text("slug", wire.slug),
        campaign_type: read.text("type", wire.campaign_type),
        status: read.text("status", wire.status),
        starts_at: read.time("starts_at", wire.starts_at),
        ends_at: read.time("ends_at", wire.ends_at),
        opt_in_deadline: read.time("opt_in_deadline", wire.opt_in_deadline),
        primary_color: read.text("primary_color", wire.primary_color),
        secondary_color: read.text("secondary_color", wire.secondary_color),
        has_landing_page: read.boolean("has_landing_page", wire.has_landing_page),
        landing_page_slug: read.text("landing_page_slug", wire.landing_page_slug),
        show_in_menu: read.boolean("show_in_menu", wire.show_in_menu),
        discount_type: read.text("rules.coupon_config.discount_type", coupon.discount_type),
        discount_value: read.decimal("rules.coupon_config.value", coupon.value),
        rules: raw(wire.rules),
        created_at: read.time("created_at", wire.created_at),
        updated_at: read.time("updated_at", wire.updated_at),
        raw: RawJson::new(json),
    }))
}

/// Reads the summary.
pub(super) fn read_summary(read: &mut FieldReader, payload: &str) -> Result<CampaignSummary, BodyError> {
    let figures = ["active_campaigns", "joined_campaigns", "enrolled_products", "upcoming_deadlines"];
    let payload = object_with(payload, &figures, "summary")?;
    let wire: SummaryWire<'_> = object(payload)?;
    let deadlines = read.list("upcoming_deadlines", wire.upcoming_deadlines);
    Ok(CampaignSummary {
        active_campaigns: read.integer("active_campaigns", wire.active_campaigns),
        joined_campaigns: read.integer("joined_campaigns", wire.joined_campaigns),
        enrolled_products: read.integer("enrolled_products", wire.enrolled_products),
        upcoming_deadlines: deadlines.into_iter().filter_map(|row| read_deadline(read, row)).collect(),
        raw: RawJson::new(payload),
    })
}

fn read_deadline(read: &mut FieldReader, row: &RawValue) -> Option<UpcomingDeadline> {
    let wire: DeadlineWire<'_> = read.nested("upcoming_deadlines[]", Some(row))?;
    Some(UpcomingDeadline {
        id: CampaignId::new(read.integer("upcoming_deadlines[].id", wire.id)?),
        name: read.text("upcoming_deadlines[].name", wire.name),
        opt_in_deadline: read.time("upcoming_deadlines[].opt_in_deadline", wire.opt_in_deadline),
    })
}

/// Reads a row of the eligible listings.
pub(super) fn eligible_row(read: &mut FieldReader, row: &RawValue) -> Option<EligibleListing> {
    let wire: EligibleWire<'_> = object(row.get()).ok()?;
    Some(EligibleListing {
        item_id: ItemId::new(read.id("item_id", wire.item_id)?),
        title: read.text("title", wire.title),
        image: read.text("image", wire.image),
        price: read.decimal("price", wire.price).map(with_cents),
        discount_preview: read.decimal("discount_preview", wire.discount_preview).map(with_cents),
        raw: RawJson::new(row.get()),
    })
}

/// Reads a row of the enrolled listings. The document allows a row without an id.
pub(super) fn enrolled_row(read: &mut FieldReader, row: &RawValue) -> Option<EnrolledListing> {
    let wire: EnrolledWire<'_> = object(row.get()).ok()?;
    let price = read.decimal("authorized_discount_price", wire.authorized_discount_price);
    Some(EnrolledListing {
        item_id: read.id("publication_id", wire.publication_id).map(ItemId::new),
        title: read.text("title", wire.title),
        image: read.text("image", wire.image),
        authorized_discount_price: price.map(with_cents),
        status: read.text("status", wire.status),
        raw: RawJson::new(row.get()),
    })
}

#[cfg(test)]
mod tests {
    use chrono::FixedOffset;
    use espelho_model::time::fixed_width;
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        resources::{Read, answer::read_single},
        wire::rows,
    };

    fn utc() -> FixedOffset {
        FixedOffset::east_opt(0).unwrap()
    }

    fn campaign() -> Value {
        json!({
            "id": 42, "uid": "01J9Z3K5T7V9X1B3D5F7H9K1M3", "name": "Semana do café", "slug": "semana-do-cafe",
            "type": "standard", "status": "active", "starts_at": "2026-11-20T00:00:00-03:00",
            "ends_at": "2026-11-27T23:59:59-03:00", "opt_in_deadline": null, "primary_color": "#7B3F00",
            "secondary_color": null, "has_landing_page": true, "landing_page_slug": "cafe", "show_in_menu": false,
            "rules": {"coupon_config": {"discount_type": "percentage", "value": 12.5}},
            "created_at": "2026-10-01T10:00:00Z", "updated_at": "2026-10-02T10:00:00Z"
        })
    }

    fn one(payload: &Value) -> Result<Read<Campaign>, BodyError> {
        let asked = CampaignId::new(42);
        read_single(&payload.to_string(), utc(), |read, json| read_campaign(read, json, asked))
    }

    fn rows_of<T>(data: &Value, read: fn(&mut FieldReader, &RawValue) -> Option<T>) -> Vec<Read<T>> {
        let body = json!({"success": true, "data": {"data": data, "meta": {}}}).to_string();
        rows::parse(body.as_bytes(), utc(), read).unwrap().rows
    }

    // proves: CMP-015, CMP-018, CMP-019, CMP-020, CMP-021, CMP-022, CMP-023, CMP-024, CMP-025
    // proves: CMP-026, CMP-027, CMP-028, CMP-029, CMP-030, CMP-031, CMP-032, ENV-004
    #[test]
    fn a_campaign_is_read_field_by_field() {
        let sent = campaign();
        let Read { value, unreadable } = one(&sent).unwrap();
        assert_eq!(unreadable, Vec::<&str>::new());
        assert_eq!(value.id, CampaignId::new(42));
        let texts = [&value.uid, &value.name, &value.slug, &value.campaign_type, &value.status];
        let texts = texts.map(|text| text.as_deref().unwrap());
        assert_eq!(
            texts,
            ["01J9Z3K5T7V9X1B3D5F7H9K1M3", "Semana do café", "semana-do-cafe", "standard", "active"]
        );
        let times = [value.starts_at, value.ends_at, value.created_at, value.updated_at];
        assert_eq!(
            times.map(|time| fixed_width(time.unwrap())),
            [
                "2026-11-20T03:00:00.000000Z",
                "2026-11-28T02:59:59.000000Z",
                "2026-10-01T10:00:00.000000Z",
                "2026-10-02T10:00:00.000000Z"
            ]
        );
        assert_eq!(value.opt_in_deadline, None);
        assert_eq!((value.primary_color.as_deref(), value.secondary_color), (Some("#7B3F00"), None));
        assert_eq!((value.has_landing_page, value.show_in_menu), (Some(true), Some(false)));
        assert_eq!(value.landing_page_slug.as_deref(), Some("cafe"));
        assert_eq!(value.discount_type.as_deref(), Some("percentage"));
        assert_eq!(value.discount_value.unwrap().to_string(), "12.5");
        assert!(value.rules.is_some());
        assert_eq!(value.raw.as_str(), sent.to_string());
    }

    #[test]
    fn a_campaign_without_rules_or_with_new_words_is_kept_as_it_is() {
        let mut sent = campaign();
        sent["rules"] = Value::Null;
        sent["type"] = json!("flash");
        sent["status"] = json!("paused");
        let campaign = one(&json!({"campaign": sent})).unwrap().value;
        assert_eq!(
            (campaign.discount_type.clone(), campaign.discount_value, campaign.rules.clone()),
            (None, None, None)
        );
        assert_eq!(campaign.unknown_values(), [("type", "flash"), ("status", "paused")]);
        // PHP writes an empty object like this.
        sent["rules"] = json!([]);
        assert_eq!(one(&sent).unwrap().unreadable, Vec::<&str>::new());
    }

    #[test]
    fn another_campaign_than_the_one_asked_for_is_no_answer() {
        let mut sent = campaign();
        sent["id"] = json!(43);
        assert!(matches!(one(&sent), Err(BodyError::Shape(problem)) if problem.contains("was given 43")));
        assert!(one(&json!({"name": "x"})).is_err());
    }

    #[test]
    fn a_campaign_takes_listings_until_its_deadline_unless_it_is_over() {
        let mut sent = campaign();
        let now = "2026-11-20T12:00:00Z".parse().unwrap();
        assert!(one(&sent).unwrap().value.takes_listings(now));
        sent["opt_in_deadline"] = json!("2026-11-20T11:59:59Z");
        assert!(!one(&sent).unwrap().value.takes_listings(now));
        for over in ["finished", "cancelled"] {
            let mut sent = campaign();
            sent["status"] = json!(over);
            assert!(!one(&sent).unwrap().value.takes_listings(now));
        }
    }

    // proves: CMP-008, CMP-009, CMP-010, CMP-011, CMP-012, CMP-014
    #[test]
    fn the_summary_keeps_its_figures_and_its_deadlines_in_their_order() {
        let deadline = |id: i64| json!({"id": id, "name": "C", "opt_in_deadline": "2026-11-21T00:00:00Z"});
        let sent = json!({
            "active_campaigns": 9, "joined_campaigns": "4", "enrolled_products": 31,
            "upcoming_deadlines": [deadline(1), deadline(2), deadline(3), deadline(4), deadline(5)]
        });
        let Read { value, unreadable } = read_single(&sent.to_string(), utc(), read_summary).unwrap();
        assert_eq!(unreadable, Vec::<&str>::new());
        let figures = (value.active_campaigns, value.joined_campaigns, value.enrolled_products);
        assert_eq!(figures, (Some(9), Some(4), Some(31)));
        let ids: Vec<_> = value.upcoming_deadlines.iter().map(|deadline| deadline.id.as_i64()).collect();
        assert_eq!(ids, [1, 2, 3, 4, 5]);
        assert!(value.upcoming_deadlines.iter().all(|d| d.name.is_some() && d.opt_in_deadline.is_some()));
    }

    // proves: CMP-038, CMP-039, CMP-040, CMP-043, CMP-044
    #[test]
    fn eligible_listings_carry_exact_prices_or_none() {
        let rows = rows_of(
            &json!([
                {"item_id": "MPB-0000000000001", "title": "Caneca", "image": "https://x/1.webp", "price": 19.9,
                 "discount_preview": 17.415},
                {"item_id": "MPB-0000000000002", "title": "Bule", "image": null, "price": null, "discount_preview": null},
            ]),
            eligible_row,
        );
        let [caneca, bule] = rows.as_slice() else { panic!("{rows:?}") };
        assert!(caneca.value.item_id.is_well_formed());
        assert_eq!(caneca.value.title.as_deref(), Some("Caneca"));
        assert_eq!(caneca.value.price.unwrap().to_string(), "19.90");
        assert_eq!(caneca.value.discount_preview.unwrap().to_string(), "17.415");
        assert_eq!(
            (bule.value.image.clone(), bule.value.price, bule.value.discount_preview),
            (None, None, None)
        );
        assert_eq!(bule.unreadable, Vec::<&str>::new());
    }

    // proves: CMP-030, CMP-031, CMP-041, CMP-042
    #[test]
    fn the_platforms_own_estimate_is_taken_for_either_kind_of_discount() {
        for (kind, value, preview) in [("percentage", "10", "17.92"), ("fixed", "5.50", "14.4")] {
            let mut sent = campaign();
            sent["rules"]["coupon_config"] = json!({"discount_type": kind, "value": value});
            let campaign = one(&sent).unwrap().value;
            let discount = campaign.discount_value.unwrap().to_string();
            assert_eq!((campaign.discount_type.as_deref(), discount.as_str()), (Some(kind), value));
            let row =
                json!([{"item_id": "MPB-0000000000001", "price": "19.90", "discount_preview": preview}]);
            let rows = rows_of(&row, eligible_row);
            // 17.91 would be ten per cent off: the marketplace's figure counts, not our own calculation.
            assert_eq!(rows[0].value.discount_preview, preview.parse().ok().map(with_cents), "{kind}");
        }
    }

    // proves: CMP-048, CMP-049, CMP-050, CMP-052
    #[test]
    fn enrolled_listings_are_read_with_their_fixed_price_and_even_without_a_name() {
        let rows = rows_of(
            &json!([
                {"publication_id": "MPB-0000000000001", "title": "Caneca", "image": null,
                 "authorized_discount_price": "17.91", "status": "ACCEPTED"},
                {"publication_id": null, "title": null, "image": null, "authorized_discount_price": null, "status": "REVOKED"},
            ]),
            enrolled_row,
        );
        let [caneca, rows_without_id] = rows.as_slice() else { panic!("{rows:?}") };
        assert_eq!(caneca.value.item_id, Some(ItemId::new("MPB-0000000000001")));
        assert_eq!(caneca.value.authorized_discount_price.unwrap().to_string(), "17.91");
        assert_eq!(caneca.value.status.as_deref(), Some("ACCEPTED"));
        assert_eq!(
            (rows_without_id.value.item_id.clone(), rows_without_id.value.status.as_deref()),
            (None, Some("REVOKED"))
        );
    }
}
