//! The financial view of an order: splits, commission and benefits (API document, "Orders").
//!
//! The document names the three parts, but none of their fields. The likely names are read, and `raw` keeps the rest.

use std::collections::BTreeMap;

use chrono::FixedOffset;
use espelho_model::{
    OrderNumber, RawJson,
    financial::{AppliedBenefit, CommissionAudit, OrderFinancial, RevenueSplit},
    money::with_cents,
};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{
    ApiRequest, Error,
    resources::{Read, handles::OrdersApi},
    wire::{
        envelope::BodyError,
        fields::{Field, FieldReader, object},
        within::{Keys, member, rows},
    },
};

const SPLITS: &[&str] = &["splits", "revenue_splits", "split"];
const COMMISSIONS: &[&str] = &["commission_audit", "commissions", "commission", "audit"];
const BENEFITS: &[&str] = &["applied_benefits", "benefits"];

/// Builds the request for an order's financial view.
pub fn request(number: &OrderNumber) -> ApiRequest {
    ApiRequest::get("/api/v1/sellers/orders/{id}/financial", &[number.as_str()])
}

impl OrdersApi<'_> {
    /// Reads splits, commission and benefits of an order.
    ///
    /// # Errors
    /// As every call; see [`Error`].
    pub async fn financial(self, number: &OrderNumber) -> Result<Read<OrderFinancial>, Error> {
        self.requests
            .read_object(&request(number), |payload| parse(payload, self.requests.naive_offset()))
            .await
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SplitWire<'a> {
    #[serde(borrow)]
    id: Field<'a>,
    #[serde(borrow)]
    party: Field<'a>,
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    role: Field<'a>,
    #[serde(borrow)]
    recipient_type: Field<'a>,
    #[serde(borrow)]
    name: Field<'a>,
    #[serde(borrow)]
    recipient_name: Field<'a>,
    #[serde(borrow)]
    recipient: Field<'a>,
    #[serde(borrow)]
    amount: Field<'a>,
    #[serde(borrow)]
    value: Field<'a>,
    #[serde(borrow)]
    percent: Field<'a>,
    #[serde(borrow)]
    percentage: Field<'a>,
    #[serde(borrow)]
    status: Field<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RecipientWire<'a> {
    #[serde(borrow)]
    name: Field<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CommissionWire<'a> {
    #[serde(borrow)]
    order_item_id: Field<'a>,
    #[serde(borrow)]
    item_id: Field<'a>,
    #[serde(borrow)]
    id: Field<'a>,
    #[serde(borrow)]
    product_id: Field<'a>,
    #[serde(borrow)]
    base: Field<'a>,
    #[serde(borrow)]
    base_value: Field<'a>,
    #[serde(borrow)]
    percent: Field<'a>,
    #[serde(borrow)]
    percentage: Field<'a>,
    #[serde(borrow)]
    rate: Field<'a>,
    #[serde(borrow)]
    rate_percent: Field<'a>,
    #[serde(borrow)]
    commission_percent: Field<'a>,
    #[serde(borrow)]
    amount: Field<'a>,
    #[serde(borrow)]
    value: Field<'a>,
    #[serde(borrow)]
    commission_amount: Field<'a>,
    #[serde(borrow)]
    commission_value: Field<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct BenefitWire<'a> {
    #[serde(borrow)]
    id: Field<'a>,
    #[serde(borrow)]
    code: Field<'a>,
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    name: Field<'a>,
    #[serde(borrow)]
    description: Field<'a>,
    #[serde(borrow)]
    amount: Field<'a>,
    #[serde(borrow)]
    value: Field<'a>,
    #[serde(borrow)]
    discount: Field<'a>,
}

pub(crate) fn parse(payload: &str, naive: FixedOffset) -> Result<Read<OrderFinancial>, BodyError> {
    let mut read = FieldReader::new(naive);
    let value = OrderFinancial {
        splits: read_splits(&mut read, member(payload, SPLITS))?,
        commissions: read_commissions(&mut read, member(payload, COMMISSIONS))?,
        benefits: read_benefits(&mut read, member(payload, BENEFITS))?,
        raw: RawJson::new(payload),
    };
    let parts: BTreeMap<String, Field<'_>> =
        if payload.trim() == "[]" { BTreeMap::new() } else { object(payload)? };
    let known = [SPLITS, COMMISSIONS, BENEFITS].concat();
    if !parts.is_empty() && !parts.keys().any(|name| known.contains(&name.as_str())) {
        return Err(BodyError::shape("neither splits, commission nor benefits in the answer"));
    }
    Ok(Read { value, unreadable: read.into_unreadable() })
}

/// Reads the splits as a list, or as an object by party whose values are amounts, splits or lists of splits.
fn read_splits(read: &mut FieldReader, splits: Field<'_>) -> Result<Vec<RevenueSplit>, BodyError> {
    let (mut keys, mut found) = (Keys::default(), Vec::new());
    let Some(splits) = splits else { return Ok(found) };
    if splits.get().starts_with('[') {
        let rows = rows(splits.get(), &[])?;
        found.extend(rows.into_iter().filter_map(|row| read_split(read, &mut keys, row, None)));
        return Ok(found);
    }
    let by_party: BTreeMap<String, Field<'_>> = object(splits.get())?;
    for (party, value) in by_party {
        let Some(value) = value else { continue };
        let rows = if value.get().starts_with('[') { rows(value.get(), &[])? } else { vec![value] };
        found.extend(rows.into_iter().filter_map(|row| read_split(read, &mut keys, row, Some(&party))));
    }
    Ok(found)
}

fn read_split(
    read: &mut FieldReader,
    keys: &mut Keys,
    row: &RawValue,
    party: Option<&str>,
) -> Option<RevenueSplit> {
    let wire: SplitWire<'_> = match row.get().starts_with('{') {
        true => read.nested("splits[]", Some(row))?,
        false => SplitWire { amount: Some(row), ..SplitWire::default() },
    };
    let named = wire.party.or(wire.kind).or(wire.role).or(wire.recipient_type);
    let party = read.text("splits[].party", named).or_else(|| party.map(str::to_owned));
    let own = read.id("splits[].id", wire.id).or_else(|| party.clone());
    // Parties of an order are objects with `id` and `name`; the party of a split may be one too.
    let as_object = wire.recipient.filter(|recipient| recipient.get().starts_with('{'));
    let recipient: RecipientWire<'_> = read.nested("splits[].recipient", as_object).unwrap_or_default();
    let as_text = wire.recipient.filter(|_| as_object.is_none());
    let name = wire.name.or(wire.recipient_name).or(recipient.name).or(as_text);
    Some(RevenueSplit {
        id: keys.give(own),
        party,
        name: read.text("splits[].name", name),
        amount: read.decimal("splits[].amount", wire.amount.or(wire.value)).map(with_cents),
        percent: read.decimal("splits[].percent", wire.percent.or(wire.percentage)),
        status: read.text("splits[].status", wire.status),
        raw: RawJson::new(row.get()),
    })
}

fn read_commissions(read: &mut FieldReader, audit: Field<'_>) -> Result<Vec<CommissionAudit>, BodyError> {
    let Some(audit) = audit else { return Ok(Vec::new()) };
    let mut keys = Keys::default();
    let rows = rows(audit.get(), &["items", "lines"])?;
    Ok(rows.into_iter().filter_map(|row| read_commission(read, &mut keys, row)).collect())
}

fn read_commission(read: &mut FieldReader, keys: &mut Keys, row: &RawValue) -> Option<CommissionAudit> {
    let wire: CommissionWire<'_> = read.nested("commission[]", Some(row))?;
    let line = read.id("commission[].item_id", wire.order_item_id.or(wire.item_id).or(wire.id));
    let rate = wire.rate.or(wire.rate_percent).or(wire.commission_percent);
    let percent = wire.percent.or(wire.percentage).or(rate);
    let amount = wire.amount.or(wire.value).or(wire.commission_amount).or(wire.commission_value);
    Some(CommissionAudit {
        line_id: keys.give(line),
        product_id: read.text("commission[].product_id", wire.product_id),
        base: read.decimal("commission[].base", wire.base.or(wire.base_value)).map(with_cents),
        percent: read.decimal("commission[].percent", percent),
        amount: read.decimal("commission[].amount", amount).map(with_cents),
        raw: RawJson::new(row.get()),
    })
}

pub(super) fn read_benefits(
    read: &mut FieldReader,
    benefits: Field<'_>,
) -> Result<Vec<AppliedBenefit>, BodyError> {
    let Some(benefits) = benefits else { return Ok(Vec::new()) };
    let mut keys = Keys::default();
    let rows = rows(benefits.get(), &["items"])?;
    Ok(rows.into_iter().filter_map(|row| read_benefit(read, &mut keys, row)).collect())
}

/// Reads one coupon or discount, from the financial view or from the order's own `applied_benefits[]`.
fn read_benefit(read: &mut FieldReader, keys: &mut Keys, row: &RawValue) -> Option<AppliedBenefit> {
    let wire: BenefitWire<'_> = read.nested("benefits[]", Some(row))?;
    let own = read.id("benefits[].id", wire.id.or(wire.code));
    let amount = wire.amount.or(wire.value).or(wire.discount);
    Some(AppliedBenefit {
        id: keys.give(own),
        benefit_type: read.text("benefits[].type", wire.kind),
        code: read.text("benefits[].code", wire.code),
        name: read.text("benefits[].name", wire.name.or(wire.description)),
        amount: read.decimal("benefits[].amount", amount).map(with_cents),
        raw: RawJson::new(row.get()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(payload: &str) -> Read<OrderFinancial> {
        parse(payload, FixedOffset::east_opt(0).unwrap()).unwrap_or_else(|e| panic!("{payload}: {e:?}"))
    }

    fn amounts(financial: &OrderFinancial) -> Vec<(String, String)> {
        let of = |split: &RevenueSplit| {
            (split.party.clone().unwrap_or_default(), split.amount.unwrap_or_default().to_string())
        };
        financial.splits.iter().map(of).collect()
    }

    #[test]
    fn the_request_of_the_financial_view_names_the_order() {
        let request = request(&OrderNumber::new("MP-1"));
        assert_eq!(request.describe(), "GET /api/v1/sellers/orders/MP-1/financial");
    }

    // proves: ORD-066
    #[test]
    fn splits_are_read_as_a_list_and_by_party() {
        let expected = [("marketplace", "10.00"), ("sales_agent", "0.50"), ("seller", "89.50")]
            .map(|(party, amount)| (party.to_owned(), amount.to_owned()));
        for splits in [
            r#"[{"type":"marketplace","value":10},{"party":"sales_agent","amount":"0.5"},{"role":"seller","amount":89.50}]"#,
            r#"{"seller":89.5,"marketplace":"10.00","sales_agent":{"amount":0.5,"name":"Zé"}}"#,
            r#"{"seller":[{"amount":89.5}],"marketplace":[{"value":10}],"sales_agent":[{"amount":0.5}]}"#,
        ] {
            let financial = read(&format!(r#"{{"splits":{splits}}}"#));
            assert_eq!(amounts(&financial.value), expected, "{splits}");
            assert_eq!(financial.unreadable, Vec::<&str>::new(), "{splits}");
        }
    }

    #[test]
    fn two_agents_of_one_order_are_two_splits() {
        let financial = read(r#"{"splits":{"sales_agent":[{"amount":1},{"amount":2}]}}"#);
        let ids: Vec<_> = financial.value.splits.iter().map(|split| split.id.as_str()).collect();
        assert_eq!(ids, ["sales_agent", "sales_agent-2"]);
    }

    #[test]
    fn a_split_names_its_party_beside_the_amount_or_as_an_object() {
        for recipient in [
            r#""name":"Zé""#,
            r#""recipient_name":"Zé""#,
            r#""recipient":"Zé""#,
            r#""recipient":{"id":1,"name":"Zé"}"#,
        ] {
            let financial =
                read(&format!(r#"{{"splits":[{{"type":"sales_agent","amount":1,{recipient}}}]}}"#));
            assert_eq!(financial.value.splits[0].name.as_deref(), Some("Zé"), "{recipient}");
            assert_eq!(financial.unreadable, Vec::<&str>::new(), "{recipient}");
        }
    }

    // proves: ORD-067
    #[test]
    fn the_commission_of_a_line_is_found_under_any_likely_name() {
        for (percent, amount) in [
            ("percent", "amount"),
            ("rate", "value"),
            ("commission_percent", "commission_amount"),
            ("rate_percent", "commission_value"),
        ] {
            let line = format!(r#"{{"id":5,"{percent}":16.5,"{amount}":"7.08"}}"#);
            let audit = read(&format!(r#"{{"commission_audit":[{line}]}}"#)).value.commissions.remove(0);
            assert_eq!(audit.percent.unwrap().to_string(), "16.5", "{percent}");
            assert_eq!(audit.amount.unwrap().to_string(), "7.08", "{amount}");
        }
    }

    // proves: ORD-067, ORD-068, ORD-096
    #[test]
    fn commission_and_benefits_are_read_wherever_they_lie() {
        let line = r#"{"order_item_id":5,"product_id":"P1","base":100,"percent":"12.5","amount":12.5}"#;
        let coupon = r#"{"type":"coupon","code":"BLACK10","description":"Black Friday","amount":"10.00"}"#;
        for payload in [
            format!(r#"{{"commission_audit":[{line}],"applied_benefits":[{coupon}]}}"#),
            format!(
                r#"{{"commission":{{"items":[{line}],"total":12.5}},"benefits":[{coupon}],"splits":null}}"#
            ),
        ] {
            let financial = read(&payload).value;
            let audit = &financial.commissions[0];
            assert_eq!((audit.line_id.as_str(), audit.amount.unwrap().to_string().as_str()), ("5", "12.50"));
            let benefit = &financial.benefits[0];
            assert_eq!((benefit.id.as_str(), benefit.benefit_type.as_deref()), ("BLACK10", Some("coupon")));
            assert_eq!(benefit.name.as_deref(), Some("Black Friday"));
            assert_eq!(financial.raw.as_str(), payload);
        }
    }

    #[test]
    fn an_answer_without_any_of_the_three_parts_is_said_loudly_and_an_empty_one_is_empty() {
        let zone = FixedOffset::east_opt(0).unwrap();
        assert!(parse(r#"{"money":[]}"#, zone).is_err());
        for empty in ["{}", "[]"] {
            let financial = read(empty).value;
            assert!(financial.splits.is_empty() && financial.benefits.is_empty(), "{empty}");
        }
    }
}
