//! Campaigns and listings as JSON.

use super::{Campaign, Discount, Enrollment};
use crate::{json::Json, listings::ListingView, money::Milli, text};

impl Campaign {
    pub(super) fn write(&self, json: &mut Json, now: i64) {
        let slug = slug(&self.name);
        json.open_object();
        json.key("id").id(self.id);
        json.key("uid").ulid(self.uid);
        json.key("name").text(&self.name);
        json.key("slug").text(&slug);
        json.key("type").raw_text(self.kind.wire());
        json.key("status").raw_text(self.status(now).wire());
        json.key("starts_at").optional_time(self.starts_at);
        json.key("ends_at").optional_time(self.ends_at);
        json.key("opt_in_deadline").optional_time(self.opt_in_deadline);
        json.key("primary_color").optional_text(self.primary_color);
        json.key("secondary_color").optional_text(self.secondary_color);
        json.key("has_landing_page").bool(self.has_landing_page);
        json.key("landing_page_slug").optional_text(self.has_landing_page.then_some(&slug));
        json.key("show_in_menu").bool(self.show_in_menu);
        json.key("rules");
        write_rules(json, self.discount);
        json.key("created_at").time(self.created_at);
        json.key("updated_at").time(self.updated_at);
        json.close_object();
    }
}

fn write_rules(json: &mut Json, discount: Option<Discount>) {
    let Some(Discount { kind, value }) = discount else {
        json.null();
        return;
    };
    json.open_object();
    json.key("coupon_config").open_object();
    json.key("discount_type").raw_text(kind.wire());
    write_price(json.key("value"), value);
    json.close_object();
    json.close_object();
}

/// The name in lower-case letters, digits and dashes.
fn slug(name: &str) -> String {
    let plain = text::fold(name);
    let words = plain.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-")
}

/// An amount with two decimals, or three where it has parts of a cent.
fn write_price(json: &mut Json, price: Milli) {
    json.decimal(price, if price.0 % 10 == 0 { 2 } else { 3 });
}

impl ListingView {
    pub(super) fn write(&self, json: &mut Json, discount: Option<Discount>) {
        json.open_object();
        json.key("item_id").text(&self.item_id);
        json.key("title").text(&self.title);
        json.key("image").optional_text(self.image.as_deref());
        json.key("price");
        write_optional(json, self.lowest_price);
        json.key("discount_preview");
        write_optional(json, self.discounted(discount));
        json.close_object();
    }

    /// The price under a discount; none where either is missing.
    pub(super) fn discounted(&self, discount: Option<Discount>) -> Option<Milli> {
        Some(discount?.applied_to(self.lowest_price?))
    }
}

fn write_optional(json: &mut Json, price: Option<Milli>) {
    match price {
        Some(price) => write_price(json, price),
        None => json.null(),
    }
}

impl Enrollment {
    pub(super) fn write(&self, json: &mut Json) {
        json.open_object();
        json.key("publication_id").text(&self.item_id);
        json.key("title").text(&self.title);
        json.key("image").optional_text(self.image.as_deref());
        // Always a decimal as text, unlike the other amounts.
        json.key("authorized_discount_price");
        match self.price {
            Some(price) => json.raw_text(&format!("{}.{:02}", price.0 / 1000, price.0 % 1000 / 10)),
            None => json.null(),
        }
        json.key("status").raw_text("ACCEPTED");
        json.close_object();
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_slug_is_plain_whatever_the_name() {
        assert_eq!(super::slug("Liquida Verão — 50% (só hoje!)"), "liquida-verao-50-so-hoje");
    }
}
