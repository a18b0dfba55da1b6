//! Refuses, before anything is written, what the tables would refuse later, with the nearest right value: for the
//! command line, for files and for the HTTP API. Pure.

use std::collections::BTreeSet;

use espelho_model::{
    order::STATUSES,
    text,
    text::{Arg, Language, Locale, Text, words},
};
use rust_decimal::Decimal;

use crate::knowledge::similar;

/// Targets of the status route in which no order stays (API document, "Order, pre-order and backorder").
const PASSING: [&str; 2] = ["available", "restocked"];
const FORMATS: [&str; 4] = ["a4", "zebra", "thermal", "zebra_pdf"];
/// Units that are only sold whole.
const WHOLE_UNITS: [&str; 4] = ["un", "pc", "cx", "pct"];

/// The reason why an intent is not written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Refusal {
    pub(crate) code: &'static str,
    pub(crate) text: Text,
}

impl Refusal {
    pub(crate) fn new(code: &'static str, text: Text) -> Self {
        Self { code, text }
    }
}

/// A column of a row that cannot be as it is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ColumnFault {
    pub(crate) column: &'static str,
    pub(crate) text: Text,
}

impl ColumnFault {
    /// Returns the fault of a value that breaks a rule.
    fn rule(column: &'static str, value: &impl ToString, rule: Text) -> Self {
        let text = text!("value-rule", field = column, value = value.to_string(), rule = rule);
        Self { column, text }
    }
}

/// The names in a mirrored store. A store that was never reconciled has none, and no name is refused.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    pub(crate) skus: BTreeSet<String>,
    /// Id and name.
    pub(crate) locations: Vec<(String, String)>,
    pub(crate) is_mirrored: bool,
}

impl Known {
    /// Tells whether the mirror has a SKU, or has not been read yet.
    pub(crate) fn has_sku(&self, sku: &str) -> bool {
        !self.is_mirrored || self.skus.contains(sku)
    }
}

/// Refuses a SKU that the mirror does not have.
pub(crate) fn sku(sku: &str, known: &Known) -> Result<(), Refusal> {
    if known.has_sku(sku) {
        return Ok(());
    }
    let similar = similar(sku, known.skus.iter().map(String::as_str));
    Err(Refusal::new(
        "unknown_sku",
        match similar.is_empty() {
            true => text!("intents-unknown-sku", sku = sku),
            false => text!("intents-unknown-sku-similar", sku = sku, similar = similar.join(", ")),
        },
    ))
}

/// Finds a location by its id, its name or a part of it that only one has, and returns both.
pub(crate) fn location(asked: &str, known: &Known) -> Result<(String, String), Refusal> {
    find_location(asked, known, |name, part| name.contains(part))
}

/// Finds a location by its id or its whole name, and returns both: a file does not show its writer the location that a part
/// of a name was taken for.
pub(crate) fn exact_location(asked: &str, known: &Known) -> Result<(String, String), Refusal> {
    find_location(asked, known, |_, _| false)
}

fn find_location(
    asked: &str,
    known: &Known,
    is_part: impl Fn(&str, &str) -> bool,
) -> Result<(String, String), Refusal> {
    if !known.is_mirrored || known.locations.is_empty() {
        return Ok((asked.to_owned(), asked.to_owned()));
    }
    let lower = asked.trim().to_lowercase();
    let shown = |(id, name): &(String, String)| match name.is_empty() {
        true => id.clone(),
        false => name.clone(),
    };
    if let Some(place) = known.locations.iter().find(|(id, _)| id == asked) {
        return Ok((place.0.clone(), shown(place)));
    }
    let named = |is: &dyn Fn(&str) -> bool| -> Vec<&(String, String)> {
        known.locations.iter().filter(|(_, name)| is(&name.to_lowercase())).collect()
    };
    for found in [named(&|name| name == lower), named(&|name| is_part(name, &lower))] {
        if let [place] = found[..] {
            return Ok((place.0.clone(), shown(place)));
        }
    }
    let all: Vec<String> = known.locations.iter().map(|(id, name)| format!("{id} {name}")).collect();
    let text = text!("intents-unknown-location", location = asked, known = all.join(", "));
    Err(Refusal::new("unknown_location", text))
}

/// Refuses an impossible stock level.
pub(crate) fn quantity(quantity: Decimal, unit: Option<&str>) -> Result<(), Refusal> {
    if quantity < Decimal::ZERO {
        let text = text!("intents-negative-quantity", quantity = Arg::Quantity(quantity));
        return Err(Refusal::new("invalid_data", text));
    }
    whole(quantity, unit)
}

/// Refuses a movement of zero, or of half a piece.
pub(crate) fn delta(delta: Decimal, unit: Option<&str>) -> Result<(), Refusal> {
    if delta.is_zero() {
        return Err(Refusal::new("invalid_data", text!("intents-no-movement")));
    }
    whole(delta, unit)
}

fn whole(quantity: Decimal, unit: Option<&str>) -> Result<(), Refusal> {
    match unit.filter(|unit| WHOLE_UNITS.contains(unit)) {
        Some(unit) if !quantity.fract().is_zero() => {
            let quantity = Arg::Quantity(quantity);
            Err(Refusal::new("invalid_data", text!("intents-half-a-unit", quantity = quantity, unit = unit)))
        }
        _ => Ok(()),
    }
}

/// Refuses an impossible price.
pub(crate) fn price(price: Decimal, min_quantity: u32) -> Result<(), Refusal> {
    if price < Decimal::ZERO {
        let text = text!("intents-negative-price", price = Arg::Money(price));
        return Err(Refusal::new("invalid_data", text));
    }
    match min_quantity {
        0 => Err(Refusal::new("invalid_data", text!("intents-no-min-quantity"))),
        _ => Ok(()),
    }
}

/// Refuses a row of `erp_stock` with an impossible level.
pub(crate) fn level(quantity: Decimal) -> Result<(), ColumnFault> {
    match quantity < Decimal::ZERO {
        true => Err(ColumnFault::rule("quantity", &quantity, text!("value-rule-zero-or-more"))),
        false => Ok(()),
    }
}

/// Refuses a row of `erp_prices` with an impossible price (API document, "Products, prices, stock": price rules 1, 4
/// and 6). The measures are those of the package.
pub(crate) fn tier(
    min_quantity: i64,
    price: Option<Decimal>,
    discount: Option<Decimal>,
    measures: [Option<Decimal>; 4],
) -> Result<(), ColumnFault> {
    if price.is_none() && discount.is_none() {
        return Err(ColumnFault { column: "price", text: text!("files-no-price") });
    }
    if min_quantity < 1 {
        return Err(ColumnFault::rule("min_quantity", &min_quantity, text!("value-rule-one-or-more")));
    }
    if let Some(price) = price.filter(|price| *price < Decimal::ZERO) {
        return Err(ColumnFault::rule("price", &price, text!("value-rule-zero-or-more")));
    }
    let is_discount = |percent: &Decimal| (Decimal::ZERO..Decimal::ONE_HUNDRED).contains(percent);
    if let Some(percent) = discount.filter(|percent| !is_discount(percent)) {
        return Err(ColumnFault::rule("discount_percent", &percent, text!("value-rule-discount")));
    }
    if measures.iter().any(Option::is_some) && !measures.iter().all(Option::is_some) {
        return Err(ColumnFault { column: "package_*", text: text!("files-four-measures") });
    }
    match measures.into_iter().flatten().find(|measure| *measure <= Decimal::ZERO) {
        Some(measure) => Err(ColumnFault::rule("package_*", &measure, text!("value-rule-above-zero"))),
        None => Ok(()),
    }
}

/// Refuses a status to which no order can be moved.
pub(crate) fn status(status: &str) -> Result<(), Refusal> {
    match statuses().any(|known| known == status) {
        true => Ok(()),
        false => Err(unknown_status(status)),
    }
}

/// Finds a status by its name, or by the label that people see, in any language.
pub(crate) fn status_named(asked: &str) -> Result<&'static str, Refusal> {
    let wanted = folded(asked);
    let means =
        |is: &str| folded(is) == wanted || labels(is).into_iter().any(|label| folded(&label) == wanted);
    statuses().find(|is| means(is)).ok_or_else(|| unknown_status(asked))
}

/// Names the nearest status, by its name or by its label.
fn unknown_status(status: &str) -> Refusal {
    let asked = folded(status);
    let like = |name: &str| (strsim::jaro_winkler(&asked, &folded(name)) * 1e6) as u64;
    let likeness = |known: &&str| labels(known).iter().map(|label| like(label)).fold(like(known), u64::max);
    let nearest = statuses().max_by_key(likeness).unwrap_or_default();
    let known = statuses().collect::<Vec<_>>().join(", ");
    let text = text!("intents-unknown-status", status = status, nearest = nearest, known = known);
    Refusal::new("unknown_status", text)
}

fn statuses() -> impl Iterator<Item = &'static str> {
    STATUSES.into_iter().chain(PASSING)
}

/// Returns the labels of a status in all languages.
fn labels(status: &str) -> [String; 2] {
    Language::ALL.map(|language| words::order_status(status).message(Locale::of(language)))
}

/// Returns a status as people may type it: also without accents, and with blanks between its parts.
fn folded(status: &str) -> String {
    text::folded(status.trim()).replace(['_', '-'], " ")
}

/// Refuses an unknown label format.
pub(crate) fn format(format: &str) -> Result<(), Refusal> {
    if FORMATS.contains(&format) {
        return Ok(());
    }
    let asked = format.to_lowercase();
    let likeness = |known: &&str| (strsim::jaro_winkler(&asked, known) * 1e6) as u64;
    let nearest = FORMATS.into_iter().max_by_key(likeness).unwrap_or_default();
    let text =
        text!("intents-unknown-format", format = format, nearest = nearest, known = FORMATS.join(", "));
    Err(Refusal::new("unknown_format", text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> Known {
        let locations = [("1", "Depósito principal"), ("2", "Loja do centro"), ("3", "Loja do bairro")];
        Known {
            skus: ["CAN-001", "CAN-002", "MESA-9"].map(str::to_owned).into(),
            locations: locations.map(|(id, name)| (id.to_owned(), name.to_owned())).to_vec(),
            is_mirrored: true,
        }
    }

    fn said(refused: Result<(), Refusal>) -> String {
        refused.err().map(|refusal| refusal.text.message(Locale::default())).unwrap_or_default()
    }

    #[test]
    fn an_unknown_sku_is_refused_with_those_that_are_like_it() {
        let known = known();
        for (asked, expected) in [
            ("CAN-001", ""),
            ("CAN-01", "SKU desconhecido: CAN-01; parecidos: CAN-001, CAN-002"),
            ("can-001", "SKU desconhecido: can-001; parecidos: CAN-001, CAN-002"),
            ("XYZ", "SKU desconhecido: XYZ"),
        ] {
            assert_eq!(said(sku(asked, &known)), expected, "{asked}");
        }
        assert_eq!(sku("XYZ", &Known::default()), Ok(()), "nothing is known yet");
    }

    #[test]
    fn a_location_is_found_by_id_or_by_name() {
        let known = known();
        for (asked, expected) in [
            ("1", Some("1")),
            ("depósito principal", Some("1")),
            ("centro", Some("2")),
            ("loja", None),
            ("9", None),
        ] {
            assert_eq!(location(asked, &known).ok().map(|(id, _)| id).as_deref(), expected, "{asked}");
        }
        assert_eq!(location("9", &Known::default()).ok().map(|(id, _)| id).as_deref(), Some("9"));
    }

    #[test]
    fn a_status_is_found_by_its_name_or_by_its_label_and_else_the_nearest_is_named() {
        for (asked, found) in [
            ("delivered", Ok("delivered")),
            ("entregue", Ok("delivered")),
            ("Em preparação", Ok("preparing")),
            ("em preparacao", Ok("preparing")),
            ("Ready to ship", Ok("ready_to_ship")),
            ("ready-to-ship", Ok("ready_to_ship")),
            ("disponivel", Ok("available")),
            ("entrege", Err("nenhum pedido pode ir para entrege; o mais parecido é delivered")),
            ("prepairing", Err("nenhum pedido pode ir para prepairing; o mais parecido é preparing")),
        ] {
            let named = status_named(asked).map_err(|refusal| refusal.text.message(Locale::default()));
            assert_eq!(named, found.map_err(str::to_owned), "{asked}");
        }
        assert!(said(status("entregue")).contains("delivered"), "programs write the name");
    }

    #[test]
    fn what_the_tables_would_refuse_is_refused_first() {
        let decimal = |text: &str| text.parse::<Decimal>().unwrap();
        for (refused, code) in [
            (quantity(decimal("0"), Some("un")), None),
            (quantity(decimal("-3"), None), Some("invalid_data")),
            (quantity(decimal("1.5"), Some("un")), Some("invalid_data")),
            (quantity(decimal("1.5"), Some("kg")), None),
            (delta(decimal("-2"), Some("un")), None),
            (delta(decimal("0"), None), Some("invalid_data")),
            (price(decimal("0"), 1), None),
            (price(decimal("-1"), 1), Some("invalid_data")),
            (price(decimal("1"), 0), Some("invalid_data")),
            (status("preparing"), None),
            (status("restocked"), None),
            (status("prepairing"), Some("unknown_status")),
            (format("zebra"), None),
            (format("A4"), Some("unknown_format")),
        ] {
            assert_eq!(refused.as_ref().err().map(|refusal| refusal.code), code, "{refused:?}");
        }
        assert!(said(status("prepairing")).contains("preparing"));
        assert!(said(format("zebrapdf")).contains("zebra_pdf"));
    }
}
