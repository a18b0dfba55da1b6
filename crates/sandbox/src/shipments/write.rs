//! Shipments as JSON, as the order's list has them and as its tracking has them.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::Shipment;
use crate::{json::Json, labels::Labels, orders::Order};

impl Shipment {
    /// An entry of the list of shipments.
    pub(super) fn write(&self, json: &mut Json, labels: &Labels) {
        json.open_object();
        self.write_head(json);
        json.key("type").raw_text(self.kind.wire());
        json.key("type_label").raw_text(self.kind.label());
        self.write_way(json);
        labels.write_counts(json, self.id);
        json.key("is_pickup").bool(self.is_pickup());
        json.key("label_generation_blocked").bool(self.label_generation_blocked);
        json.key("allows_manual_confirmation").bool(self.allows_manual_confirmation());
        json.key("created_at").time(self.created_at);
        json.close_object();
    }

    /// An entry of the tracking.
    pub(crate) fn write_tracking(&self, json: &mut Json, order: &Order) {
        json.open_object();
        self.write_head(json);
        self.write_way(json);
        json.key("tracking_url");
        match self.tracking_code.as_deref() {
            Some(code) => {
                let code = utf8_percent_encode(code, NON_ALPHANUMERIC).to_string();
                json.raw_text(&format!("https://rastreio.marketplace.example/{code}"));
            }
            None => json.null(),
        }
        json.key("estimated_delivery_at").optional_time((!self.is_pickup()).then(|| order.promised_at()));
        json.key("steps").open_array();
        for step in &self.steps {
            json.open_object();
            json.key("status").raw_text(step.status.wire());
            json.key("status_label").raw_text(step.status.label());
            json.key("description").text(step.text);
            json.key("occurred_at").time(step.at);
            json.close_object();
        }
        json.close_array();
        json.close_object();
    }

    fn write_head(&self, json: &mut Json) {
        json.key("id").ulid(self.id);
        json.key("status").raw_text(self.status.wire());
        json.key("status_label").raw_text(self.status.label());
    }

    fn write_way(&self, json: &mut Json) {
        json.key("tracking_code").optional_text(self.tracking_code.as_deref());
        json.key("carrier");
        match &self.carrier {
            Some((id, name)) => {
                json.open_object();
                json.key("id").id(*id);
                json.key("name").text(name);
                json.close_object();
            }
            None => json.null(),
        }
    }
}
