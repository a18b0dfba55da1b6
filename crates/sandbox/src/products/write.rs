//! Products, tiers and stock as JSON.

use super::{Catalogue, Dimensions, Product, StockEntry, Tier};
use crate::{json::Json, media, money::Milli};

impl Product {
    pub(crate) fn write(&self, json: &mut Json, catalogue: &Catalogue) {
        json.open_object();
        json.key("id").ulid(self.id);
        json.key("name").text(&self.name);
        json.key("sku").text(&self.sku);
        json.key("base_unit").raw_text(self.unit.wire());
        json.key("price_type").raw_text(if self.is_wholesale { "wholesale" } else { "default" });
        json.key("is_available_for_sale").bool(self.is_available_for_sale);
        json.key("is_industrializable").bool(self.is_industrializable);
        json.key("allow_sale_without_stock").bool(self.allow_sale_without_stock);
        json.key("auto_wholesale_pricing").bool(self.auto_wholesale_pricing);
        json.key("dimensions");
        self.write_dimensions(json);
        let (quantity, reserved) = self.stock_sums();
        write_quantities(json, quantity, reserved);
        json.key("thumbnail");
        self.write_thumbnail(json, catalogue);
        json.key("price");
        match self.tiers.first() {
            Some(tier) => json.price(tier.value),
            None => json.null(),
        }
        json.close_object();
    }

    fn write_dimensions(&self, json: &mut Json) {
        let Some(Dimensions { height, width, length, weight }) = self.dimensions else {
            json.null();
            return;
        };
        json.open_object();
        json.key("height").decimal(height, 3);
        json.key("width").decimal(width, 3);
        json.key("length").decimal(length, 3);
        json.key("weight").decimal(weight, 3);
        json.close_object();
    }

    fn write_thumbnail(&self, json: &mut Json, catalogue: &Catalogue) {
        let Some(first) = self.gallery.first() else {
            json.null();
            return;
        };
        json.open_object();
        json.key("id").ulid(*first);
        json.key("resources");
        media::write_variations(json, catalogue.image_origin(), *first);
        json.close_object();
    }

    /// The address of the smallest image, or null.
    pub(crate) fn write_thumbnail_url(&self, json: &mut Json, catalogue: &Catalogue) {
        match self.gallery.first() {
            Some(first) => media::write_url(json, catalogue.image_origin(), *first, "thumbnail"),
            None => json.null(),
        }
    }

    pub(crate) fn write_tiers(&self, json: &mut Json) {
        json.open_array();
        for tier in &self.tiers {
            tier.write(json);
        }
        json.close_array();
    }

    /// The stock of each location, as a list.
    pub(crate) fn write_stocks(&self, json: &mut Json, catalogue: &Catalogue) {
        json.open_array();
        for entry in &self.stock {
            entry.write(json, self, catalogue);
        }
        json.close_array();
    }

    /// The stock route's object.
    pub(crate) fn write_stock(&self, json: &mut Json, catalogue: &Catalogue) {
        json.open_object();
        json.key("total").quantity(self.stock_sums().0);
        self.write_stocks(json.key("stocks"), catalogue);
        json.key("locations").open_array();
        for location in &catalogue.locations {
            json.open_object();
            json.key("location_id").id(location.id);
            json.key("store_id").id(catalogue.store_id());
            json.key("name").text(location.name);
            json.key("status").raw_text("active");
            json.key("location_type").raw_text(location.kind);
            json.key("allows_pickup").bool(location.allows_pickup);
            json.key("allows_production").bool(location.allows_production);
            json.close_object();
        }
        json.close_array();
        json.close_object();
    }
}

impl Tier {
    pub(super) fn write(&self, json: &mut Json) {
        json.open_object();
        json.key("min_quantity").count(u64::from(self.min_quantity));
        json.key("value").price(self.value);
        json.key("discount_percent");
        match self.discount_percent {
            Some(percent) => json.price(percent),
            None => json.null(),
        }
        let package = self.package;
        optional(json.key("package_weight"), package.map(|package| package.weight), 3);
        optional(json.key("package_height"), package.map(|package| package.height), 3);
        optional(json.key("package_width"), package.map(|package| package.width), 3);
        optional(json.key("package_length"), package.map(|package| package.length), 3);
        json.close_object();
    }
}

impl StockEntry {
    fn write(&self, json: &mut Json, product: &Product, catalogue: &Catalogue) {
        let location = catalogue.locations.get(self.location as usize).map_or(0, |location| location.id);
        json.open_object();
        // 40 bits of the product's identifier and the location: unique, and exact in every JSON reader.
        let product_bits = (product.id as u64) & 0xFF_FFFF_FFFF;
        json.key("id").id(product_bits * 16 + u64::from(self.location));
        json.key("product_sku").text(&product.sku);
        json.key("location_stock").id(location);
        write_quantities(json, self.quantity, self.reserved);
        json.close_object();
    }
}

fn write_quantities(json: &mut Json, quantity: Milli, reserved: Milli) {
    json.key("quantity").quantity(quantity);
    json.key("reserved_quantity").quantity(reserved);
    json.key("available_quantity").quantity(quantity - reserved);
}

fn optional(json: &mut Json, value: Option<Milli>, scale: u8) {
    match value {
        Some(value) => json.decimal(value, scale),
        None => json.null(),
    }
}
