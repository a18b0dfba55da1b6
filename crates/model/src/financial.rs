//! The financial view of an order, as the mirror stores it (API document, "Orders": the financial route).

use rust_decimal::Decimal;

use crate::RawJson;

/// The financial view of one order. Amounts in BRL, as computed by the marketplace.
#[derive(Clone, Debug, PartialEq)]
pub struct OrderFinancial {
    /// The shares of the revenue.
    pub splits: Vec<RevenueSplit>,
    /// The commission of each line.
    pub commissions: Vec<CommissionAudit>,
    /// Coupons and discounts applied.
    pub benefits: Vec<AppliedBenefit>,
    /// The view as received.
    pub raw: RawJson,
}

/// One share of the revenue.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the fields bear the document's names; amounts in BRL")]
pub struct RevenueSplit {
    /// The split's own id, otherwise its party, otherwise its position in the answer (`#1`).
    pub id: String,
    /// `seller`, `marketplace` or `sales_agent`.
    pub party: Option<String>,
    pub name: Option<String>,
    pub amount: Option<Decimal>,
    pub percent: Option<Decimal>,
    pub status: Option<String>,
    /// The split as received.
    pub raw: RawJson,
}

/// The commission of one line.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the fields bear the document's names; amounts in BRL")]
pub struct CommissionAudit {
    /// The line's id, otherwise its position in the answer (`#1`).
    pub line_id: String,
    pub product_id: Option<String>,
    pub base: Option<Decimal>,
    pub percent: Option<Decimal>,
    pub amount: Option<Decimal>,
    /// The audit as received.
    pub raw: RawJson,
}

/// A coupon or discount applied to an order.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the fields bear the document's names; amounts in BRL")]
pub struct AppliedBenefit {
    /// The benefit's own id, otherwise its code, otherwise its position in the answer (`#1`).
    pub id: String,
    pub benefit_type: Option<String>,
    pub code: Option<String>,
    pub name: Option<String>,
    pub amount: Option<Decimal>,
    /// The benefit as received.
    pub raw: RawJson,
}
