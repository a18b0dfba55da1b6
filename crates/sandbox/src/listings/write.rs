//! A listing as JSON.

use super::Listing;
use crate::{categories::Category, json::Json, products::Catalogue, text::fold};

/// Characters of the short description.
const SHORT: usize = 160;

impl Listing {
    pub(super) fn write(&self, json: &mut Json, (store, name): (u64, &str), catalogue: &Catalogue) {
        json.open_object();
        json.key("item_id").raw_text(&self.item_id);
        json.key("title").text(&self.title);
        json.key("slug").text(&self.slug());
        json.key("type");
        word(json, "default", "Anúncio próprio");
        json.key("status");
        word(json, self.status.wire(), self.status.label());
        json.key("gtin");
        self.write_gtin(json);
        json.key("store").open_object();
        json.key("id").id(store);
        json.key("name").text(name);
        json.close_object();
        write_department(json.key("department"), self.category);
        write_category(json.key("category"), self.category);
        json.key("score").count(self.score());
        json.key("rejection_reason").optional_text(self.rejection_reason.as_deref());
        json.key("price_range");
        self.write_price_range(json, catalogue);
        json.key("short_description").text(&self.short_description());
        json.close_object();
    }

    fn write_gtin(&self, json: &mut Json) {
        let Some(gtin) = &self.gtin else {
            json.null();
            return;
        };
        json.open_object();
        json.key("type").id(gtin.kind.unsigned_abs());
        json.key("value").text(&gtin.value);
        json.close_object();
    }

    fn write_price_range(&self, json: &mut Json, catalogue: &Catalogue) {
        let Some((lowest, highest)) = self.prices(catalogue) else {
            json.null();
            return;
        };
        json.open_object();
        json.key("min").price(lowest);
        json.key("max").price(highest);
        json.close_object();
    }

    /// The title in plain small letters; the code where there are none.
    fn slug(&self) -> String {
        let title = fold(&self.title);
        let words: Vec<&str> =
            title.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
        if words.is_empty() { self.item_id.to_lowercase() } else { words.join("-") }
    }

    fn short_description(&self) -> String {
        let words: Vec<&str> = self.description.split_whitespace().collect();
        words.join(" ").chars().take(SHORT).collect()
    }

    /// A fifth for each of the things that make a listing complete.
    fn score(&self) -> u64 {
        let has = [
            self.category.is_some(),
            self.gtin.is_some(),
            !self.skus.is_empty(),
            !self.images.is_empty(),
            !self.description.is_empty(),
        ];
        has.iter().filter(|has| **has).count() as u64 * 20
    }
}

fn word(json: &mut Json, value: &str, label: &str) {
    json.open_object();
    json.key("value").raw_text(value);
    json.key("label").text(label);
    json.close_object();
}

fn write_department(json: &mut Json, category: Option<&Category>) {
    let Some(department) = category.and_then(|category| crate::categories::find(category.department)) else {
        json.null();
        return;
    };
    json.open_object();
    json.key("id").id(u64::from(department.id));
    json.key("name").text(department.name);
    json.key("icon_svg").text(&department.icon_svg());
    json.close_object();
}

fn write_category(json: &mut Json, category: Option<&Category>) {
    let Some(category) = category else {
        json.null();
        return;
    };
    json.open_object();
    json.key("id").id(u64::from(category.id));
    json.key("parent_id");
    match category.parent {
        Some(parent) => json.id(u64::from(parent)),
        None => json.null(),
    }
    json.key("name").text(category.name);
    json.key("hierarchy").text(&category.hierarchy);
    json.close_object();
}
