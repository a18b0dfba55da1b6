//! The products of the data set.

use std::path::Path;

use super::table::{self, Record};
use crate::{
    error::Error,
    media::drawing,
    money::Milli,
    products::{Dimensions, Product, Tier, Unit},
    random::Random,
    seed::stock_of,
};

/// The longest SKU that the API knows.
const SKU: usize = 50;

/// A product as the data set has it.
pub(super) struct Goods {
    pub(super) id: Box<str>,
    category: Box<str>,
    dimensions: Option<Dimensions>,
    has_photos: bool,
}

pub(super) fn load(dir: &Path) -> Result<Vec<Goods>, Error> {
    let mut products = Vec::new();
    table::read(dir, "olist_products_dataset", |record| {
        products.push(Goods {
            id: record.text(0).into(),
            category: record.text(1).into(),
            dimensions: dimensions(record),
            has_photos: !record.text(4).is_empty(),
        });
        Ok(())
    })?;
    Ok(products)
}

/// Size in centimetres and weight in grams; a missing or zero measure leaves the product without any.
fn dimensions(record: &Record<'_>) -> Option<Dimensions> {
    let measure = |column| Milli::parse(record.text(column)).filter(|value| value.0 > 0);
    Some(Dimensions {
        weight: Milli(measure(5)?.0 / 1000),
        length: measure(6)?,
        height: measure(7)?,
        width: measure(8)?,
    })
}

impl Goods {
    /// The product as a store sells it, at a price.
    pub(super) fn product(&self, price: Option<Milli>) -> Product {
        let mut random = Random::of_text(&self.id);
        let tier = |value| Tier { min_quantity: 1, value, discount_percent: None, package: None };
        let id = random.ulid();
        Product {
            id,
            sku: self.id.chars().take(SKU).collect::<String>().into(),
            name: self.name().into(),
            unit: Unit::Un,
            is_available_for_sale: true,
            is_industrializable: false,
            allow_sale_without_stock: false,
            auto_wholesale_pricing: false,
            dimensions: self.dimensions,
            is_wholesale: false,
            tiers: price.map(tier).into_iter().collect(),
            stock: stock_of(&mut random, Unit::Un, 1),
            gallery: self.has_photos.then(|| drawing::image_of(id)).into_iter().collect(),
        }
    }

    /// `cama_mesa_banho` becomes `Cama mesa banho 1e9e8ef0`: the data set has no names.
    fn name(&self) -> String {
        let words = self.category.replace('_', " ");
        let mut letters = words.chars();
        let first =
            letters.next().map_or_else(|| "Produto".to_owned(), |letter| letter.to_uppercase().collect());
        let start: String = self.id.chars().take(8).collect();
        format!("{first}{} {start}", letters.as_str())
    }
}
