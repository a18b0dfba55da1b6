//! The details of an order that have no column (API document, "Order"): labels, parties, freight, payment link.
//!
//! They are read from the order's `raw` on demand, so no request is needed.

use std::collections::BTreeMap;

use chrono::{Offset as _, Utc};
use espelho_model::{RawJson, financial::AppliedBenefit};
use serde_json::value::RawValue;

use super::financial::read_benefits;
use crate::{
    resources::Read,
    wire::fields::{Field, FieldReader, object},
};

/// The details of an order that have no column. `None` means not applicable or not sent.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "the fields bear the document's names")]
pub struct OrderDetails {
    pub status: Labelled,
    pub status_color: Option<String>,
    pub order_type: Labelled,
    pub channel: Labelled,
    pub delivery_method: Labelled,
    pub payment_method: Labelled,
    pub payment_status: Labelled,
    /// Only while `waiting_payment`, in the channels `direct` and `store_seller`.
    pub payment_url: Option<String>,
    /// `platform` or `store`.
    pub payment_link_target: Labelled,
    pub store: Party,
    pub sold_by: Party,
    pub customer: Party,
    pub sales_agent: Party,
    pub physical_store: Party,
    pub is_production_order: Option<bool>,
    /// Whether the buyer's data may be shown.
    pub customer_data_released: Option<bool>,
    pub shipping: Shipping,
    /// Only for pickup.
    pub pickup_address: Option<RawJson>,
    /// These carry no `replaced_at`; the fiscal route says which invoice is current.
    pub invoices: Vec<InvoiceSummary>,
    pub applied_benefits: Vec<AppliedBenefit>,
    /// The first three lines, with a thumbnail each.
    pub items_preview: Vec<RawJson>,
    /// The `stock_status_label` of each line, by its `id`.
    pub stock_status_labels: BTreeMap<String, String>,
    pub metadata: Option<RawJson>,
    pub occurrences: Option<RawJson>,
}

/// An enum value with its label in Brazilian Portuguese.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields bear the document's names")]
pub struct Labelled {
    pub value: Option<String>,
    pub label: Option<String>,
}

/// A party of the order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields bear the document's names")]
pub struct Party {
    /// From the object, or from the separate `*_id`.
    pub id: Option<String>,
    /// From the object, or from the separate `*_uid`.
    pub uid: Option<String>,
    pub name: Option<String>,
    /// Of `sold_by` only.
    pub is_substore: Option<bool>,
}

/// The chosen freight.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields bear the document's names")]
pub struct Shipping {
    pub carrier_name: Option<String>,
    pub display_name: Option<String>,
    /// As sent: the document names neither its field nor its unit.
    pub deadline: Option<String>,
    pub nfe_requirements: Option<RawJson>,
}

/// A fiscal document as the order itself shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields bear the document's names")]
pub struct InvoiceSummary {
    pub document_type: Option<String>,
    pub status: Option<String>,
    pub invoice_number: Option<String>,
    pub pdf_url: Option<String>,
}

/// The members of one object, unread.
struct Members<'a>(BTreeMap<String, Field<'a>>);

impl<'a> Members<'a> {
    fn of(json: &'a str) -> Option<Self> {
        object(json).ok().map(Self)
    }

    fn get(&self, name: &str) -> Field<'a> {
        self.0.get(name).copied().flatten()
    }

    fn first(&self, names: &[&str]) -> Field<'a> {
        names.iter().find_map(|name| self.get(name))
    }

    fn raw(&self, name: &str) -> Option<RawJson> {
        self.get(name).map(|value| RawJson::new(value.get()))
    }

    fn labelled(&self, read: &mut FieldReader, name: &'static str) -> Labelled {
        Labelled {
            value: read.text(name, self.get(name)),
            label: read.text(name, self.get(&format!("{name}_label"))),
        }
    }

    /// Returns the object of this name. Any other value is recorded as unreadable and gives an empty object.
    fn nested(&self, read: &mut FieldReader, name: &'static str) -> Self {
        Self(read.nested(name, self.get(name)).unwrap_or_default())
    }

    fn party(&self, read: &mut FieldReader, name: &'static str) -> Party {
        let own = self.nested(read, name);
        let loose = |suffix: &str| self.get(&format!("{name}_{suffix}"));
        Party {
            id: read.text(name, own.get("id").or(loose("id"))),
            uid: read.text(name, own.get("uid").or(loose("uid"))),
            name: read.text(name, own.get("name")),
            is_substore: read.boolean(name, own.get("is_substore")),
        }
    }
}

impl OrderDetails {
    /// Reads the details from an order as received.
    pub fn of(order: &RawJson) -> Read<Self> {
        // No time is read here, so no offset matters.
        let mut read = FieldReader::new(Utc.fix());
        let members = Members::of(order.as_str()).unwrap_or_else(|| Members(BTreeMap::new()));
        let value = read_details(&mut read, &members);
        Read { value, unreadable: read.into_unreadable() }
    }
}

fn read_details(read: &mut FieldReader, members: &Members<'_>) -> OrderDetails {
    let shipping = members.nested(read, "shipping");
    let invoices = read.list("invoices", members.get("invoices"));
    let preview = read.list("items_preview", members.get("items_preview"));
    OrderDetails {
        status: members.labelled(read, "status"),
        status_color: read.text("status_color", members.get("status_color")),
        order_type: members.labelled(read, "type"),
        channel: members.labelled(read, "channel"),
        delivery_method: members.labelled(read, "delivery_method"),
        payment_method: members.labelled(read, "payment_method"),
        payment_status: members.labelled(read, "payment_status"),
        payment_url: read.text("payment_url", members.get("payment_url")),
        payment_link_target: members.labelled(read, "payment_link_target"),
        store: members.party(read, "store"),
        sold_by: members.party(read, "sold_by"),
        customer: members.party(read, "customer"),
        sales_agent: members.party(read, "sales_agent"),
        physical_store: members.party(read, "physical_store"),
        is_production_order: read.boolean("is_production_order", members.get("is_production_order")),
        customer_data_released: read.boolean("customer_data_released", members.get("customer_data_released")),
        shipping: read_shipping(read, &shipping),
        pickup_address: members.raw("pickup_address"),
        invoices: invoices.into_iter().filter_map(|row| read_invoice(read, row)).collect(),
        applied_benefits: read_benefits(read, members.get("applied_benefits")).unwrap_or_default(),
        items_preview: preview.into_iter().map(|line| RawJson::new(line.get())).collect(),
        stock_status_labels: read_stock_labels(read, members),
        metadata: members.raw("metadata"),
        occurrences: members.raw("occurrences"),
    }
}

fn read_shipping(read: &mut FieldReader, shipping: &Members<'_>) -> Shipping {
    let deadline =
        shipping.first(&["deadline", "deadline_days", "delivery_deadline", "estimated_delivery_at"]);
    Shipping {
        carrier_name: read.text("shipping.carrier_name", shipping.get("carrier_name")),
        display_name: read.text("shipping.display_name", shipping.get("display_name")),
        deadline: read.text("shipping.deadline", deadline),
        nfe_requirements: shipping.raw("nfe_requirements"),
    }
}

fn read_invoice(read: &mut FieldReader, row: &RawValue) -> Option<InvoiceSummary> {
    let members = Members(read.nested("invoices[]", Some(row))?);
    Some(InvoiceSummary {
        document_type: read.text("invoices[].type", members.get("type")),
        status: read.text("invoices[].status", members.get("status")),
        invoice_number: read.text("invoices[].invoice_number", members.get("invoice_number")),
        pdf_url: read.text("invoices[].pdf_url", members.get("pdf_url")),
    })
}

fn read_stock_labels(read: &mut FieldReader, members: &Members<'_>) -> BTreeMap<String, String> {
    let lines = read.list("items", members.get("items"));
    let labels = lines.into_iter().filter_map(|line| {
        let line = Members::of(line.get())?;
        let id = read.id("items[].id", line.get("id"))?;
        Some((id, read.text("items[].stock_status_label", line.get("stock_status_label"))?))
    });
    labels.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn details(order: &Value) -> OrderDetails {
        let read = OrderDetails::of(&RawJson::new(&order.to_string()));
        assert_eq!(read.unreadable, Vec::<&str>::new(), "{order}");
        read.value
    }

    fn labelled(value: &str, label: &str) -> Labelled {
        Labelled { value: Some(value.into()), label: Some(label.into()) }
    }

    // proves: ORD-077, ORD-078, ORD-080, ORD-081, ORD-100, ORD-103, FLO-045
    #[test]
    fn every_enum_of_an_order_is_read_with_its_words() {
        let order = details(&json!({
            "type": "standard", "type_label": "Padrão",
            "channel": "marketplace", "channel_label": "Marketplace",
            "status": "awaiting_campaign_conclusion", "status_label": "Aguardando Campanha", "status_color": "#f80",
            "delivery_method": "shipping", "delivery_method_label": "Envio",
            "payment_method": "pix", "payment_method_label": "Pix",
            "payment_status": "paid", "payment_status_label": "Pago",
            "payment_link_target": "store", "payment_link_target_label": "Loja",
        }));
        assert_eq!(order.order_type, labelled("standard", "Padrão"));
        assert_eq!(order.channel, labelled("marketplace", "Marketplace"));
        assert_eq!(order.status, labelled("awaiting_campaign_conclusion", "Aguardando Campanha"));
        assert_eq!(order.status_color.as_deref(), Some("#f80"));
        assert_eq!(order.delivery_method, labelled("shipping", "Envio"));
        assert_eq!(order.payment_method, labelled("pix", "Pix"));
        assert_eq!(order.payment_status, labelled("paid", "Pago"));
        assert_eq!(order.payment_link_target, labelled("store", "Loja"));
    }

    // proves: ORD-074, ORD-075, ORD-076
    #[test]
    fn a_party_is_read_from_its_object_and_from_its_loose_ids() {
        let order = details(&json!({
            "store": {"id": 1, "name": "Loja"},
            "sold_by": {"id": "2", "name": "Filial", "is_substore": true},
            "customer": {"id": 9, "name": "Ana"}, "customer_uid": "01C",
            "sales_agent": null, "sales_agent_id": 5, "sales_agent_uid": "01A",
            "physical_store": [],
        }));
        let ids =
            [&order.store, &order.sold_by, &order.customer, &order.sales_agent].map(|p| p.id.as_deref());
        assert_eq!(ids, [Some("1"), Some("2"), Some("9"), Some("5")]);
        assert_eq!((order.sold_by.name.as_deref(), order.sold_by.is_substore), (Some("Filial"), Some(true)));
        assert_eq!(
            (order.customer.uid.as_deref(), order.sales_agent.uid.as_deref()),
            (Some("01C"), Some("01A"))
        );
        assert_eq!(order.physical_store, Party::default());
    }

    // proves: ORD-095, ORD-096, ORD-097, ORD-099, ORD-106
    #[test]
    fn freight_invoices_benefits_and_preview_are_read() {
        let order = details(&json!({
            "shipping": {"carrier_name": "Correios", "display_name": "PAC", "deadline": 7, "nfe_requirements": {"required": true}},
            "invoices": [{"type": "nfe", "status": "issued", "invoice_number": 100, "pdf_url": "https://x/1.pdf"}],
            "applied_benefits": [{"type": "coupon", "code": "BLACK10", "amount": "10.00"}],
            "items_preview": [{"thumbnail": "a"}, {"thumbnail": "b"}, {"thumbnail": "c"}],
            "metadata": {"origin": "app"}, "occurrences": [],
        }));
        assert_eq!(
            (order.shipping.carrier_name.as_deref(), order.shipping.display_name.as_deref()),
            (Some("Correios"), Some("PAC"))
        );
        assert_eq!(order.shipping.deadline.as_deref(), Some("7"));
        assert_eq!(order.shipping.nfe_requirements.unwrap().as_str(), r#"{"required":true}"#);
        let invoice = &order.invoices[0];
        assert_eq!(
            (invoice.document_type.as_deref(), invoice.status.as_deref()),
            (Some("nfe"), Some("issued"))
        );
        assert_eq!(
            (invoice.invoice_number.as_deref(), invoice.pdf_url.as_deref()),
            (Some("100"), Some("https://x/1.pdf"))
        );
        assert_eq!(order.applied_benefits[0].amount.unwrap().to_string(), "10.00");
        assert_eq!(order.items_preview.len(), 3);
        assert_eq!(order.metadata.as_ref().map(RawJson::as_str), Some(r#"{"origin":"app"}"#));
        assert_eq!(order.occurrences.as_ref().map(RawJson::as_str), Some("[]"));
    }

    // proves: ORD-102, ORD-104, ORD-107, FLO-056
    // withstands: F069
    #[test]
    fn what_does_not_apply_is_none_whether_null_or_absent() {
        for order in [
            json!({}),
            json!({"payment_url": null, "pickup_address": null, "shipping": null, "invoices": null}),
        ] {
            assert_eq!(details(&order), OrderDetails::default());
        }
        let order = json!({"payment_url": "https://pay/1", "pickup_address": {"city": "Recife"}, "customer_data_released": true});
        let order = details(&order);
        assert_eq!(order.payment_url.as_deref(), Some("https://pay/1"));
        assert_eq!(order.pickup_address.unwrap().as_str(), r#"{"city":"Recife"}"#);
        assert_eq!(order.customer_data_released, Some(true));
    }

    // proves: ORD-093, ORD-108, ORD-109, ORD-110, ORD-111, ORD-112, ORD-113, ORD-114
    #[test]
    fn the_stock_status_of_each_line_is_read_with_its_words() {
        let lines = [
            ("reserved", "Reservado"),
            ("sold_reserved", "Reservado vendido"),
            ("awaiting_restock", "Aguardando reposição"),
            ("in_production", "Em produção"),
            ("committed", "Baixado"),
            ("released", "Liberado"),
            ("not_applicable", "Sem controle de estoque"),
        ];
        let items: Vec<_> = lines
            .iter()
            .map(|(status, label)| json!({"id": status, "stock_status": status, "stock_status_label": label}))
            .collect();
        let labels = details(&json!({"items": items})).stock_status_labels;
        for (status, label) in lines {
            assert_eq!(labels[status], label);
        }
    }

    #[test]
    fn odd_parts_are_named_and_leave_the_others_readable() {
        let order = RawJson::new(r#"{"store":"Loja","invoices":[3],"shipping":7,"status":"paid"}"#);
        let read = OrderDetails::of(&order);
        assert_eq!(read.value.status.value.as_deref(), Some("paid"));
        assert_eq!(read.unreadable, ["shipping", "store", "invoices[]"]);
        assert_eq!(OrderDetails::of(&RawJson::new("[]")).value, OrderDetails::default());
    }
}
