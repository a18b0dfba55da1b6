//! Writes products (API document, "Product"). Prices and stock have routes of their own.

use espelho_model::{ProductId, RawJson, text};
use serde::Serialize;

use super::measures::Dimensions;
use crate::{
    ApiRequest, Error, Invalid, Text,
    resources::answer::{Written, unwrapped},
    resources::handles::ProductsApi,
    wire::{
        fields::{FieldReader, object},
        shape,
    },
};

const PRODUCTS: &str = crate::route::PRODUCTS;
const PRODUCT: &str = "/api/products/{id}";

/// A product's name: at most 255 characters.
pub type ProductName = Text<255>;

/// A SKU to create: at most 50 characters.
pub type NewSku = Text<50>;

/// The unit in which a product is sold. A unit that the document does not list can be read, as text, but not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the document's own words")]
pub enum BaseUnit {
    Un,
    Pc,
    Cx,
    Pct,
    Kg,
    Lt,
    Mt,
    M2,
    M3,
}

impl BaseUnit {
    /// All units, with the document's words.
    pub const ALL: [(&'static str, Self); 9] = [
        ("un", Self::Un),
        ("pc", Self::Pc),
        ("cx", Self::Cx),
        ("pct", Self::Pct),
        ("kg", Self::Kg),
        ("lt", Self::Lt),
        ("mt", Self::Mt),
        ("m2", Self::M2),
        ("m3", Self::M3),
    ];

    /// Reads the document's word.
    ///
    /// # Errors
    /// When the word is unknown.
    pub fn parse(word: &str) -> Result<Self, Invalid> {
        let found = Self::ALL.into_iter().find(|(known, _)| *known == word);
        let rule = text!("value-rule-unit");
        found.map(|(_, unit)| unit).ok_or_else(|| Invalid::value("base_unit", word, rule))
    }
}

/// Whether a product has one price or tiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PriceType {
    /// One price.
    Default,
    /// Up to five progressive tiers.
    Wholesale,
}

impl PriceType {
    /// Reads the document's word.
    ///
    /// # Errors
    /// When the word is unknown.
    pub fn parse(word: &str) -> Result<Self, Invalid> {
        match word {
            "default" => Ok(Self::Default),
            "wholesale" => Ok(Self::Wholesale),
            _ => Err(Invalid::value("price_type", word, text!("value-rule-price-type"))),
        }
    }
}

/// The switches of a product. `None` leaves a switch unchanged, or to the marketplace's default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ProductSwitches {
    /// Whether it is visible in the catalogue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_available_for_sale: Option<bool>,
    /// Whether it is made on demand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_industrializable: Option<bool>,
    /// Whether it is sold without stock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_sale_without_stock: Option<bool>,
    /// Whether its wholesale tiers are derived from discounts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auto_wholesale_pricing: Option<bool>,
}

/// A product to create.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NewProduct {
    /// Its name.
    pub name: ProductName,
    /// The seller's code. It can never be changed.
    pub sku: NewSku,
    /// The unit in which it is sold.
    pub base_unit: BaseUnit,
    /// Whether it has one price or tiers.
    pub price_type: PriceType,
    /// Its dimensions. Without them there is no freight.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dimensions: Option<Dimensions>,
    /// Its switches.
    #[serde(flatten)]
    pub switches: ProductSwitches,
}

impl NewProduct {
    /// Builds the request.
    pub fn request(&self) -> ApiRequest {
        ApiRequest::post(PRODUCTS, &[]).json(self)
    }
}

/// Changes to a product; `None` leaves a field unchanged. The SKU is not included, because the marketplace ignores
/// it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ProductChanges {
    /// Its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<ProductName>,
    /// The unit in which it is sold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_unit: Option<BaseUnit>,
    /// Whether it has one price or tiers. A change back to one price requires that a single tier is left.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price_type: Option<PriceType>,
    /// Its dimensions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dimensions: Option<Dimensions>,
    /// Its switches.
    #[serde(flatten)]
    pub switches: ProductSwitches,
}

/// An update of a product with at least one change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProductUpdate(ProductChanges);

impl ProductUpdate {
    /// Takes the changes.
    ///
    /// # Errors
    /// When there are none.
    pub fn new(changes: ProductChanges) -> Result<Self, Invalid> {
        match changes == ProductChanges::default() {
            true => Err(Invalid::NothingToChange),
            false => Ok(Self(changes)),
        }
    }

    /// Builds the request, which carries only the changes.
    pub fn request(&self, product: &ProductId) -> ApiRequest {
        ApiRequest::put(PRODUCT, &[product.as_str()]).json(&self.0)
    }
}

impl ProductsApi<'_> {
    /// Creates a product. Returns its id if the answer contains it.
    ///
    /// # Errors
    /// As every call; in a sub-store in mirror mode a refusal with `SUBSTORE_CANNOT_CREATE_SKU`.
    pub async fn create(self, product: &NewProduct) -> Result<Written<ProductId>, Error> {
        self.requests.write_as(&product.request(), read_id).await
    }

    /// Changes a product.
    ///
    /// # Errors
    /// As every call; see [`Error`].
    pub async fn update(self, id: &ProductId, update: &ProductUpdate) -> Result<RawJson, Error> {
        self.requests.fetch_raw(&update.request(id)).await
    }
}

shape! { CreatedWire { product, id } }

fn read_id(read: &mut FieldReader, payload: &str) -> Option<ProductId> {
    let outer: CreatedWire<'_> = object(payload).ok()?;
    let wire: CreatedWire<'_> = object(unwrapped(payload, outer.id, outer.product)).ok()?;
    read.id("id", wire.id).map(ProductId::new)
}

#[cfg(test)]
mod tests {
    use chrono::FixedOffset;

    use super::{super::measures::tests::measures, *};
    use crate::{resources::answer::read_written, wire::outward::sent};

    fn new_product(name: &str, sku: &str) -> Result<NewProduct, Invalid> {
        Ok(NewProduct {
            name: ProductName::new("name", name)?,
            sku: NewSku::new("sku", sku)?,
            base_unit: BaseUnit::parse("m2")?,
            price_type: PriceType::parse("wholesale")?,
            dimensions: None,
            switches: ProductSwitches::default(),
        })
    }

    // proves: PRD-002, PRD-014, PRD-015
    #[test]
    fn a_product_is_created_from_the_fields_that_are_given() {
        let bare = new_product("Piso", "S-1").unwrap();
        assert_eq!(
            sent(&bare.request()),
            r#"POST /api/products {"name":"Piso","sku":"S-1","base_unit":"m2","price_type":"wholesale"}"#
        );
        let switches = ProductSwitches {
            is_available_for_sale: Some(true),
            is_industrializable: Some(false),
            allow_sale_without_stock: Some(false),
            auto_wholesale_pricing: Some(true),
        };
        let dimensions = Dimensions::new(measures(["1.5", "30", "30", "12.345"])).ok();
        let full = NewProduct { dimensions, switches, ..bare };
        assert_eq!(
            sent(&full.request()),
            concat!(
                r#"POST /api/products {"name":"Piso","sku":"S-1","base_unit":"m2","price_type":"wholesale","#,
                r#""dimensions":{"height":1.5,"width":30,"length":30,"weight":12.345},"#,
                r#""is_available_for_sale":true,"is_industrializable":false,"#,
                r#""allow_sale_without_stock":false,"auto_wholesale_pricing":true}"#
            )
        );
    }

    // proves: PRD-008, PRD-009
    #[test]
    fn a_name_has_at_most_255_characters_and_a_sku_50() {
        assert!(new_product(&"ã".repeat(255), &"é".repeat(50)).is_ok());
        assert!(matches!(new_product(&"ã".repeat(256), "S"), Err(Invalid::TooLong { field: "name", .. })));
        assert!(matches!(new_product("A", &"é".repeat(51)), Err(Invalid::TooLong { field: "sku", .. })));
        assert_eq!(new_product("A", " "), Err(Invalid::Missing { field: "sku" }));
    }

    // proves: PRD-012, PRD-013
    #[test]
    fn only_the_documented_units_and_price_types_are_sent() {
        for (word, unit) in BaseUnit::ALL {
            assert_eq!(BaseUnit::parse(word), Ok(unit));
            assert_eq!(serde_json::to_string(&unit).unwrap(), format!("\"{word}\""));
        }
        for other in ["UN", "l", "", "caixa"] {
            assert!(BaseUnit::parse(other).is_err(), "{other}");
        }
        assert!(PriceType::parse("atacado").is_err());
        assert_eq!(serde_json::to_string(&PriceType::Default).unwrap(), "\"default\"");
    }

    // proves: PRD-006, PRD-011
    #[test]
    fn an_update_sends_what_changes_and_never_the_sku() {
        let update =
            |changes| ProductUpdate::new(changes).map(|update| sent(&update.request(&ProductId::new("P1"))));
        let none = ProductChanges::default();
        assert_eq!(update(none.clone()), Err(Invalid::NothingToChange));
        let switches = ProductSwitches { is_available_for_sale: Some(false), ..ProductSwitches::default() };
        assert_eq!(
            update(ProductChanges { switches, ..none }).unwrap(),
            r#"PUT /api/products/P1 {"is_available_for_sale":false}"#
        );
        let all = ProductChanges {
            name: ProductName::new("name", "Novo").ok(),
            base_unit: Some(BaseUnit::Un),
            price_type: Some(PriceType::Default),
            dimensions: Dimensions::new(measures(["1", "1", "1", "1"])).ok(),
            switches,
        };
        let request = update(all).unwrap();
        assert!(request.contains(r#""name":"Novo""#) && request.contains(r#""dimensions":{"#), "{request}");
        assert!(!request.contains("sku"), "{request}");
    }

    // proves: PRD-007
    #[test]
    fn the_new_products_id_is_found_wherever_it_is() {
        let read = |payload| read_written(payload, FixedOffset::east_opt(0).unwrap(), read_id).value;
        let id = Some(ProductId::new("01J9Z3K5T7V9X1B3D5F7H9K1M3"));
        assert_eq!(read(r#"{"id":"01J9Z3K5T7V9X1B3D5F7H9K1M3","sku":"S"}"#), id);
        assert_eq!(read(r#"{"product":{"id":"01J9Z3K5T7V9X1B3D5F7H9K1M3"},"prices":[]}"#), id);
        assert_eq!(read("{}"), None);
        assert_eq!(read("[]"), None);
    }
}
