//! Writes stock (API document, "Products, prices, stock": stock rules). Only the platform sets `reserved_quantity`.

use espelho_model::{LocationId, ProductId, RawJson, text};
use rust_decimal::Decimal;
use serde::Serialize;

use crate::{
    ApiRequest, Error, Invalid,
    resources::handles::ProductsApi,
    wire::outward::{Identifier, amount},
};

const STOCK: &str = "/api/products/{id}/stock";

amount! {
    /// A quantity of goods, never negative. It may be fractional: some goods are sold by weight.
    Quantity
}

impl Quantity {
    /// Takes a quantity.
    ///
    /// # Errors
    /// When it is negative.
    pub fn new(amount: Decimal) -> Result<Self, Invalid> {
        match amount >= Decimal::ZERO {
            true => Ok(Self(amount)),
            false => Err(Invalid::value("quantity", amount, text!("value-rule-zero-or-more"))),
        }
    }
}

/// A change of a location's stock. The two flags of the document exclude each other, so they are one choice here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Movement {
    /// Sets the physical quantity, whatever it was. May be repeated.
    Set(Quantity),
    /// Adds a quantity. Sent twice, it adds twice.
    Increment(Quantity),
    /// Subtracts a quantity. Sent twice, it subtracts twice.
    Decrement(Quantity),
}

#[derive(Serialize)]
struct MovementBody<'a> {
    location_id: Identifier<'a>,
    quantity: Quantity,
    #[serde(skip_serializing_if = "Option::is_none")]
    increment: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decrement: Option<bool>,
}

impl Movement {
    /// Takes a difference: an increment if it is positive, a decrement if it is negative.
    ///
    /// # Errors
    /// When it is zero, which moves nothing.
    pub fn by(difference: Decimal) -> Result<Self, Invalid> {
        let amount = Quantity(difference.abs());
        match difference {
            _ if difference.is_zero() => {
                Err(Invalid::value("delta", difference, text!("value-rule-not-zero")))
            }
            _ if difference.is_sign_negative() => Ok(Self::Decrement(amount)),
            _ => Ok(Self::Increment(amount)),
        }
    }

    /// Returns whether sending it twice has the same effect as sending it once.
    pub fn is_repeatable(&self) -> bool {
        matches!(self, Self::Set(_))
    }

    /// Builds the request.
    pub fn request(&self, product: &ProductId, location: &LocationId) -> ApiRequest {
        let (quantity, increment, decrement) = match *self {
            Self::Set(quantity) => (quantity, None, None),
            Self::Increment(quantity) => (quantity, Some(true), None),
            Self::Decrement(quantity) => (quantity, None, Some(true)),
        };
        let location_id = Identifier(location.as_str());
        let body = MovementBody { location_id, quantity, increment, decrement };
        ApiRequest::post(STOCK, &[product.as_str()]).json(&body)
    }
}

impl ProductsApi<'_> {
    /// Moves stock. The document does not show the answer; [`stock`](ProductsApi::stock) reads the stock.
    ///
    /// # Errors
    /// As every call; see [`Error`].
    pub async fn move_stock(
        self,
        product: &ProductId,
        location: &LocationId,
        movement: Movement,
    ) -> Result<RawJson, Error> {
        self.requests.fetch_raw(&movement.request(product, location)).await
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::wire::outward::sent;

    fn request(movement: Movement, location: &str) -> String {
        sent(&movement.request(&ProductId::new("P1"), &LocationId::new(location)))
    }

    fn quantity(text: &str) -> Quantity {
        Quantity::new(text.parse().unwrap()).unwrap()
    }

    // proves: STK-013, STK-014, STK-015, STK-016, STK-017, ERR-001
    // withstands: F011
    #[test]
    fn a_movement_names_its_location_and_at_most_one_direction() {
        assert_eq!(
            request(Movement::Set(quantity("10.00")), "7"),
            r#"POST /api/products/P1/stock {"location_id":7,"quantity":10}"#
        );
        assert_eq!(
            request(Movement::Increment(quantity("0.125")), "7"),
            r#"POST /api/products/P1/stock {"location_id":7,"quantity":0.125,"increment":true}"#
        );
        assert_eq!(
            request(Movement::Decrement(quantity("3")), "CD-SP"),
            r#"POST /api/products/P1/stock {"location_id":"CD-SP","quantity":3,"decrement":true}"#
        );
    }

    #[test]
    fn only_setting_may_be_repeated_and_nothing_is_negative() {
        assert!(Movement::Set(quantity("0")).is_repeatable());
        assert!(!Movement::Increment(quantity("1")).is_repeatable());
        assert!(!Movement::Decrement(quantity("1")).is_repeatable());
        assert_eq!(
            Quantity::new("-1".parse().unwrap()).unwrap_err().to_string(),
            "quantity is -1; it must be 0 or more"
        );
        assert!(Movement::by(Decimal::ZERO).is_err());
    }

    proptest! {
        // proves: STK-015, STK-016
        #[test]
        fn a_difference_becomes_the_direction_of_its_sign(units in -9_999i64..=9_999, scale in 0u32..=3) {
            let difference = Decimal::new(units, scale);
            match Movement::by(difference) {
                Ok(Movement::Increment(quantity)) => prop_assert_eq!(quantity.get(), difference),
                Ok(Movement::Decrement(quantity)) => prop_assert_eq!(-quantity.get(), difference),
                Ok(Movement::Set(_)) => prop_assert!(false, "a difference sets nothing"),
                Err(_) => prop_assert!(difference.is_zero()),
            }
        }
    }
}
