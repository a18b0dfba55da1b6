//! The store itself, its page, its campaigns and its price lists, read by both readers.

use espelho_api_client::{
    Text,
    resources::{
        campaigns::{EligibleQuery, OptIn},
        paging::Paging,
        price_lists::{NewPriceList, PriceListChanges, PriceListMode, PriceListUpdate},
    },
};
use espelho_model::{CampaignId, RawJson, campaign::Campaign};
use rust_decimal::Decimal;

use crate::sides::{Json, Sides, all_kept, kept, told, whole};

const CAMPAIGNS: &str = "/api/seller/discounts/campaigns";
const ALL: Paging = Paging { page: 1, per_page: Some(100) };

/// Reads all of it.
pub(crate) async fn read(sides: &Sides) {
    session(sides).await;
    page(sides).await;
    let calendar = sides.client.campaigns().calendar(ALL).await.unwrap();
    let rows = sides.data(&format!("{CAMPAIGNS}/calendar?per_page=100")).await.page();
    assert_eq!((calendar.rows_without_id, calendar.rows.len()), (0, rows.len()));
    for (listed, row) in calendar.rows.into_iter().zip(&rows) {
        let listed = whole(listed, "campaign");
        check_campaign(&listed, row);
        let own = sides.data(&format!("{CAMPAIGNS}/{}", listed.id)).await;
        check_campaign(&whole(sides.client.campaigns().get(listed.id).await.unwrap(), "campaign"), &own);
        eligible(sides, listed.id).await;
        enrolled(sides, listed.id).await;
    }
    let summary = whole(sides.client.campaigns().summary().await.unwrap(), "summary");
    let sent = sides.data(&format!("{CAMPAIGNS}/summary")).await;
    kept(&summary.raw, &sent);
    let figure = |figure: Option<i64>| figure.map(|figure| figure.to_string());
    let (active, joined) = (figure(summary.active_campaigns), figure(summary.joined_campaigns));
    told(&sent, &[("active_campaigns", active), ("joined_campaigns", joined)]);
    told(&sent, &[("enrolled_products", figure(summary.enrolled_products))]);
    for (deadline, row) in summary.upcoming_deadlines.iter().zip(sent.at("upcoming_deadlines").rows()) {
        told(&row, &[("id", Some(deadline.id.to_string())), ("name", deadline.name.clone())]);
    }
    assert_eq!(summary.upcoming_deadlines.len(), sent.at("upcoming_deadlines").rows().len());
}

async fn session(sides: &Sides) {
    let session = whole(sides.client.auth().session().await.unwrap(), "session");
    let sent = sides.data("/api/stores/auth/session").await;
    kept(&session.raw, &sent);
    let id = session.id.map(espelho_model::StoreId::into_string);
    told(
        &sent,
        &[("id", id), ("name", session.name), ("code", session.code), ("auth_type", session.auth_type)],
    );
    told(&sent, &[("status", session.status), ("type", session.store_type)]);
    kept(&session.limits.unwrap(), &sent.at("limits"));
    let features: Vec<String> = serde_json::from_str(&sent.at("features").0).unwrap();
    assert_eq!(session.features.unwrap(), features.into_iter().collect());
    let (company, own) = (session.company.unwrap(), sent.at("company"));
    kept(&company.raw, &own);
    told(
        &own,
        &[("tax_id", company.tax_id), ("legal_name", company.legal_name), ("tax_regime", company.tax_regime)],
    );
}

async fn page(sides: &Sides) {
    let page = whole(sides.client.store_page().get().await.unwrap(), "page");
    let sent = sides.data("/api/stores/page").await;
    kept(&page.raw, &sent);
    kept(&page.company.unwrap().raw, &sent.at("company"));
    let texts = [("short_description", page.short_description), ("description", page.description)];
    told(&sent, &texts);
    told(&sent.at("store"), &[("name", page.store_name)]);
    kept(&sides.client.store_page().rating().await.unwrap(), &sides.data("/api/stores/rating").await);
    let history = sides.client.store_page().rating_history().await.unwrap();
    kept(&history, &sides.data("/api/stores/rating/history").await);
}

fn check_campaign(campaign: &Campaign, sent: &Json) {
    kept(&campaign.raw, sent);
    let flag = |flag: Option<bool>| flag.map(|flag| flag.to_string());
    told(
        sent,
        &[
            ("uid", campaign.uid.clone()),
            ("name", campaign.name.clone()),
            ("slug", campaign.slug.clone()),
            ("type", campaign.campaign_type.clone()),
            ("status", campaign.status.clone()),
            ("primary_color", campaign.primary_color.clone()),
            ("secondary_color", campaign.secondary_color.clone()),
            ("landing_page_slug", campaign.landing_page_slug.clone()),
            ("has_landing_page", flag(campaign.has_landing_page)),
            ("show_in_menu", flag(campaign.show_in_menu)),
        ],
    );
    let times = [
        ("starts_at", campaign.starts_at),
        ("ends_at", campaign.ends_at),
        ("opt_in_deadline", campaign.opt_in_deadline),
        ("created_at", campaign.created_at),
    ];
    for (name, time) in times {
        let said = sent.get(name).map(|_| sent.text(name).parse::<chrono::DateTime<chrono::Utc>>().unwrap());
        assert_eq!(time, said, "{name}");
    }
    assert_eq!(
        campaign.rules.as_ref().map(RawJson::as_str),
        sent.get("rules").as_ref().map(|rules| rules.0.as_str())
    );
    if let Some(coupon) = sent.get("rules").and_then(|rules| rules.get("coupon_config")) {
        let value = campaign.discount_value.map(|value| value.to_string());
        told(&coupon, &[("discount_type", campaign.discount_type.clone()), ("value", value)]);
    }
}

fn digits(number: Option<Decimal>) -> Option<String> {
    number.map(|number| number.to_string())
}

async fn eligible(sides: &Sides, campaign: CampaignId) {
    let query = EligibleQuery { search: None, paging: ALL };
    let page = sides.client.campaigns().eligible_listings(campaign, &query).await.unwrap();
    let rows = sides.data(&format!("{CAMPAIGNS}/{campaign}/eligible-products?per_page=100")).await.page();
    assert_eq!(page.rows_without_id, 0);
    all_kept(page.rows.iter().map(|row| &row.value.raw), &rows);
    for (row, sent) in page.rows.iter().zip(&rows) {
        assert!(row.unreadable.is_empty(), "{:?}", row.unreadable);
        let (image, preview) = (row.value.image.clone(), digits(row.value.discount_preview));
        told(sent, &[("image", image), ("price", digits(row.value.price)), ("discount_preview", preview)]);
    }
}

async fn enrolled(sides: &Sides, campaign: CampaignId) {
    let page = sides.client.campaigns().enrolled_listings(campaign, ALL).await.unwrap();
    let rows = sides.data(&format!("{CAMPAIGNS}/{campaign}/my-products?per_page=100")).await.page();
    assert_eq!(page.rows_without_id, 0);
    all_kept(page.rows.iter().map(|row| &row.value.raw), &rows);
    for (row, sent) in page.rows.iter().zip(&rows) {
        assert!(row.unreadable.is_empty(), "{:?}", row.unreadable);
        let price = digits(row.value.authorized_discount_price);
        told(sent, &[("authorized_discount_price", price), ("status", row.value.status.clone())]);
    }
}

/// Joins the first campaign that accepts listings, with the first two of them.
pub(crate) async fn join_a_campaign(sides: &Sides) {
    let calendar = sides.client.campaigns().calendar(ALL).await.unwrap();
    for campaign in calendar.rows {
        let query = EligibleQuery { search: None, paging: ALL };
        let eligible = sides.client.campaigns().eligible_listings(campaign.value.id, &query).await.unwrap();
        let ids: Vec<_> = eligible.rows.into_iter().take(2).map(|row| row.value.item_id).collect();
        let Ok(joining) = OptIn::new(ids) else { continue };
        if sides.client.campaigns().join(campaign.value.id, &joining).await.is_ok() {
            return;
        }
    }
}

/// Creates a price list and changes it.
pub(crate) async fn write_a_price_list(sides: &Sides) {
    let new =
        NewPriceList { name: Text::new("name", "Atacado \"ç\" 📦").unwrap(), mode: PriceListMode::Manual };
    let created = sides.client.price_lists().create(&new).await.unwrap();
    let id = created.value.as_ref().unwrap().id.clone();
    let changes =
        PriceListChanges { is_active: Some(false), position: Some(3), ..PriceListChanges::default() };
    let update = PriceListUpdate::new(changes).unwrap();
    for written in [created, sides.client.price_lists().update(&id, &update).await.unwrap()] {
        assert!(written.unreadable.is_empty(), "{:?}", written.unreadable);
        let list = written.value.unwrap();
        assert_eq!(list.raw, written.raw);
        let sent = Json(written.raw.as_str().to_owned());
        let position = list.position.map(|position| position.to_string());
        told(&sent, &[("name", list.name), ("mode", list.mode), ("position", position)]);
        told(&sent, &[("is_active", list.is_active.map(|active| active.to_string()))]);
    }
}
