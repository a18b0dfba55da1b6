//! One row of every mirrored table except orders and products, with something in every column.

use chrono::NaiveDate;
use espelho_model::{
    CampaignId, CategoryId, ContentHash, ConversationId, DepartmentId, ItemId, LabelId, MediaId, MessageId,
    OccurrenceId, OrderNumber, PriceListId, RawJson, ShipmentId, StoreId,
    campaign::{Campaign, EligibleListing, EnrolledListing},
    conversation::{Conversation, ConversationMessage, OPEN},
    financial::{AppliedBenefit, CommissionAudit, OrderFinancial, RevenueSplit},
    fiscal::FiscalDocument,
    listing::{Category, Department, Listing},
    media::MediaImage,
    occurrence::Occurrence,
    price_list::PriceList,
    shipment::{LabelFormat, Shipment, ShipmentLabel},
    store_profile::{Company, StorePage, StoreSession},
    timeline::OrderEvent,
};
use serde_json::json;

use crate::examples::{decimal, time};

pub(crate) fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

pub(crate) fn amount(text: &str) -> Option<rust_decimal::Decimal> {
    Some(decimal(text))
}

/// A received object with the row's text.
pub(crate) fn raw(id: &str, said: &str) -> RawJson {
    RawJson::new(&json!({"id": id, "said": said}).to_string())
}

pub(crate) fn order_number() -> OrderNumber {
    OrderNumber::new("N-1")
}

pub(crate) fn invoice(id: &str, said: &str) -> FiscalDocument {
    FiscalDocument {
        id: id.to_owned(),
        document_type: text("nfe"),
        status: text(said),
        invoice_number: text("000123"),
        access_key: text("35260812345678000195550010000001231000001234"),
        pdf_url: text("https://marketplace.example/123.pdf"),
        issued_at: Some(time("2026-11-27T05:00:00Z")),
        replaced_at: Some(time("2026-11-27T05:30:00-03:00")),
        is_current: false,
        raw: raw(id, said),
    }
}

pub(crate) fn event(id: &str, said: &str) -> OrderEvent {
    OrderEvent {
        id: id.to_owned(),
        event_type: text("status_changed"),
        description: text(said),
        old_status: text("paid"),
        new_status: text("preparing"),
        author_type: text("seller"),
        author_name: text("João"),
        metadata: Some(RawJson::new(r#"{"ip":"10.0.0.1"}"#)),
        created_at: Some(time("2026-11-27T05:00:00.000001Z")),
        raw: raw(id, said),
    }
}

pub(crate) fn benefit(id: &str, said: &str) -> AppliedBenefit {
    AppliedBenefit {
        id: id.to_owned(),
        benefit_type: text("coupon"),
        code: text("BLACK10"),
        name: text(said),
        amount: amount("10.00"),
        raw: raw(id, said),
    }
}

pub(crate) fn split(id: &str, said: &str) -> RevenueSplit {
    RevenueSplit {
        id: id.to_owned(),
        party: text("seller"),
        name: text(said),
        amount: amount("170.005"),
        percent: amount("85.0025"),
        status: text("pending"),
        raw: raw(id, said),
    }
}

pub(crate) fn commission(id: &str, said: &str) -> CommissionAudit {
    CommissionAudit {
        line_id: id.to_owned(),
        product_id: text(said),
        base: amount("199.90"),
        percent: amount("15"),
        amount: amount("29.985"),
        raw: raw(id, said),
    }
}

pub(crate) fn financial(
    splits: Vec<RevenueSplit>,
    benefits: Vec<AppliedBenefit>,
    commissions: Vec<CommissionAudit>,
) -> OrderFinancial {
    OrderFinancial { splits, commissions, benefits, raw: RawJson::new("{}") }
}

pub(crate) fn shipment(id: &str, said: &str) -> Shipment {
    Shipment {
        id: ShipmentId::new(id),
        shipment_type: text("sales_order"),
        status: text("ready_to_ship"),
        tracking_code: text(said),
        carrier_id: text("9"),
        carrier_name: text("Correios"),
        is_pickup: Some(false),
        label_generation_blocked: Some(false),
        allows_manual_confirmation: Some(true),
        labels_ready: Some(1),
        labels_total: Some(2),
        labels: Vec::new(),
        raw: raw(id, said),
    }
}

pub(crate) fn label(id: &str, said: &str) -> ShipmentLabel {
    ShipmentLabel {
        id: LabelId::new(id),
        format: Some(LabelFormat::A4),
        status: text("completed"),
        is_ready: Some(true),
        completed_at: Some(time("2026-11-27T06:00:00Z")),
        source: text(said),
        raw: raw(id, said),
    }
}

pub(crate) fn campaign(id: i64, said: &str) -> Campaign {
    Campaign {
        id: CampaignId::new(id),
        uid: text("01J9Z3K5T7V9X1B3D5F7H9K1M3"),
        name: text(said),
        slug: text("black-friday"),
        campaign_type: text("collective_buying"),
        status: text("active"),
        starts_at: Some(time("2026-11-27T03:00:00Z")),
        ends_at: Some(time("2026-11-30T02:59:59Z")),
        opt_in_deadline: Some(time("2026-11-28T03:00:00Z")),
        primary_color: text("#000000"),
        secondary_color: text("#FFD700"),
        has_landing_page: Some(true),
        landing_page_slug: text("black"),
        show_in_menu: Some(false),
        discount_type: text("percentage"),
        discount_value: amount("12.5"),
        rules: Some(RawJson::new(r#"{"coupon_config":{"discount_type":"percentage","value":12.5}}"#)),
        created_at: Some(time("2026-10-01T00:00:00Z")),
        updated_at: Some(time("2026-10-02T00:00:00Z")),
        raw: raw(&id.to_string(), said),
    }
}

pub(crate) fn eligible(id: &str, said: &str) -> EligibleListing {
    EligibleListing {
        item_id: ItemId::new(id),
        title: text(said),
        image: text("https://marketplace.example/e.webp"),
        price: amount("99.90"),
        discount_preview: amount("87.41"),
        raw: raw(id, said),
    }
}

pub(crate) fn enrolled(id: &str, said: &str) -> EnrolledListing {
    EnrolledListing {
        item_id: Some(ItemId::new(id)),
        title: text(said),
        image: text("https://marketplace.example/m.webp"),
        authorized_discount_price: amount("87.4125"),
        status: text("ACCEPTED"),
        raw: raw(id, said),
    }
}

pub(crate) fn price_list(id: &str, said: &str) -> PriceList {
    PriceList {
        id: PriceListId::new(id),
        name: text(said),
        mode: text("manual"),
        position: Some(3),
        is_active: Some(true),
        raw: raw(id, said),
    }
}

pub(crate) fn image(id: &str, said: &str) -> MediaImage {
    MediaImage {
        id: MediaId::new(id),
        original_source: text(said),
        urls: Vec::new(),
        in_use: Some(true),
        reference_id: text("P-1"),
        reference_model: text("product"),
        created_at: Some(time("2026-11-01T00:00:00Z")),
        updated_at: Some(time("2026-11-02T00:00:00Z")),
        raw: raw(id, said),
    }
}

pub(crate) fn listing(id: &str, said: &str) -> Listing {
    let nothing = || RawJson::new("{}");
    Listing {
        item_id: ItemId::new(id),
        title: text(said),
        listing_type: text("default"),
        type_label: text("Anúncio próprio"),
        status: text("draft"),
        status_label: text("Rascunho"),
        gtin_type: text("13"),
        gtin: text("7891234567895"),
        department: Some(Department {
            id: DepartmentId::new("4"),
            name: text("Moda"),
            icon_svg: None,
            raw: nothing(),
        }),
        category: Some(Category {
            id: CategoryId::new(44),
            parent_id: None,
            name: text("Camisas"),
            hierarchy: None,
            raw: nothing(),
        }),
        score: amount("87.5"),
        rejection_reason: text("foto escura"),
        slug: text("camisa"),
        short_description: text("Camisa de algodão"),
        price_range: Some(RawJson::new(r#"{"min":19.9,"max":29.9}"#)),
        store: None,
        raw: raw(id, said),
    }
}

/// A review's result of a listing: little more than the id.
pub(crate) fn bare_listing(id: &str) -> Listing {
    Listing {
        item_id: ItemId::new(id),
        title: None,
        listing_type: None,
        type_label: None,
        status: None,
        status_label: None,
        gtin_type: None,
        gtin: None,
        department: None,
        category: None,
        score: None,
        rejection_reason: None,
        slug: None,
        short_description: None,
        price_range: None,
        store: None,
        raw: RawJson::new(&json!({"item_id": id}).to_string()),
    }
}

pub(crate) fn occurrence(id: &str, said: &str) -> Occurrence {
    Occurrence {
        id: OccurrenceId::new(id),
        title: text(said),
        severity: text("high"),
        status: text("open"),
        trigger_key: text("shipment_late"),
        updated_at: time("2026-11-27T06:00:00Z"),
        raw: raw(id, said),
    }
}

pub(crate) fn conversation(id: &str, said: &str) -> Conversation {
    Conversation {
        id: ConversationId::new(id),
        order_number: Some(order_number()),
        conversation_type: text(said),
        status: text(OPEN),
        reason: text("a buyer asks"),
        opened_at: Some(time("2026-11-27T06:00:00Z")),
        closed_at: Some(time("2026-11-27T06:10:00Z")),
        updated_at: time("2026-11-27T06:00:00Z"),
        raw: raw(id, said),
    }
}

pub(crate) fn message(id: &str, said: &str) -> ConversationMessage {
    ConversationMessage {
        id: MessageId::new(id),
        conversation_id: ConversationId::new("C"),
        sender_type: text("customer"),
        body: text(said),
        created_at: Some(time("2026-11-27T06:00:00Z")),
        raw: raw(id, said),
    }
}

pub(crate) fn session(id: Option<&str>, said: &str) -> StoreSession {
    StoreSession {
        id: id.map(StoreId::new),
        name: text(said),
        code: text("ML"),
        status: text("active"),
        store_type: text("seller"),
        limits: Some(RawJson::new(r#"{"products":1000}"#)),
        features: Some(["sales_force".to_owned(), "pickup".to_owned()].into()),
        company: Some(Company {
            tax_id: text("12345678000195"),
            legal_name: text("Minha Loja Ltda."),
            tax_regime: text("simples"),
            raw: RawJson::new("{}"),
        }),
        auth_type: text("integration_token"),
        raw: raw(id.unwrap_or_default(), said),
    }
}

pub(crate) fn page(said: &str) -> StorePage {
    StorePage {
        store_id: Some(StoreId::new("55")),
        store_name: text("Loja da página"),
        short_description: text(said),
        description: text("Camisas"),
        full_description: text("Camisas e calças"),
        foundation_date: NaiveDate::from_ymd_opt(1999, 12, 31),
        logo_url: text("https://marketplace.example/logo.webp"),
        background_url: text("https://marketplace.example/fundo.webp"),
        company: None,
        raw: raw("page", said),
    }
}

/// The fingerprint of a text, to tell rows apart.
pub(crate) fn fingerprint(text: &str) -> ContentHash {
    ContentHash::of(text.as_bytes())
}
