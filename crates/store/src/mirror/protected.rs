//! The policy for people's data, applied to what is about to be written: every writer of rows, deliveries and answers
//! goes through here, after the erasures (`mirror::erased`). Fingerprints of rows are those of the objects as they were
//! received, marked with the policy, so that another policy writes the rows again.

use espelho_model::{
    RawJson,
    order::Order,
    person::Person,
    privacy::{Policy, Privacy},
};

use crate::{
    Error, Store,
    driver::{Database, Value},
    mirror::erased::{KEY, make_key},
};

/// The name under which a person is read in conversations and occurrences.
pub(crate) const REPORT: &str = "conversation";
/// The first words of events about goods and about the webhook itself, which tell of nobody.
const ABOUT_GOODS: [&str; 4] = ["product.", "publication.", "stock.", "webhook."];

impl Store {
    /// Returns the store with a policy for people's data, which applies to what is written from now on.
    ///
    /// # Errors
    /// When the key of the fingerprints can neither be read nor made.
    pub async fn with_privacy(mut self, policy: Policy) -> Result<Self, Error> {
        let key = match policy.hashes() {
            true => key_of(&self.database).await?,
            false => String::new(),
        };
        self.privacy = Privacy::new(policy, key).into();
        Ok(self)
    }
}

/// Returns the installation's key, which erasures use too.
pub(crate) async fn key_of(database: &Database) -> Result<String, Error> {
    loop {
        let rows = database.fetch("read the key of erasures", KEY, Vec::new()).await?;
        match rows.first() {
            Some(row) => return row.text(0),
            None => make_key(database).await?,
        }
    }
}

/// Returns an order as the policy lets it be kept.
pub(crate) fn order(privacy: &Privacy, mut order: Order) -> Order {
    if privacy.policy().keeps_all() {
        return order;
    }
    let person = Person::of(order.raw.as_str());
    let object = |name: &str, raw: &RawJson| RawJson::new(&person.protect(privacy, name, raw.as_str()));
    for item in &mut order.items {
        item.raw = object("items", &item.raw);
    }
    let column = |name: &str, text: Option<String>| {
        text.and_then(|text| person.protect_column(privacy, "", name, text))
    };
    Order {
        customer_id: column("customer_id", order.customer_id),
        customer_name: column("customer_name", order.customer_name),
        customer_city: column("customer_city", order.customer_city),
        notes: column("notes", order.notes),
        raw: object("", &order.raw),
        ..order
    }
}

/// Applies the policy to the columns of a row and to its object, which `table` names as `model::person` reads them.
pub(crate) fn row(privacy: &Privacy, table: &str, columns: &[&str], values: &mut [Value], raw: &mut RawJson) {
    if privacy.policy().keeps_all() {
        return;
    }
    let person = Person::of(raw.as_str());
    for (column, value) in columns.iter().zip(values) {
        match value {
            Value::Text(text) => {
                *text = text.take().and_then(|text| person.protect_column(privacy, table, column, text));
            }
            Value::Json(Some(json)) => *json = person.protect(privacy, column, json),
            _ => (),
        }
    }
    *raw = RawJson::new(&person.protect(privacy, table, raw.as_str()));
}

/// Returns a part of a larger object that shows the person, as the policy lets it be kept.
pub(crate) fn part(privacy: &Privacy, whole: &RawJson, name: &str, part: RawJson) -> RawJson {
    match privacy.policy().keeps_all() {
        true => part,
        false => RawJson::new(&Person::of(whole.as_str()).protect(privacy, name, part.as_str())),
    }
}

/// Returns the body of a delivery as the policy lets it be kept.
pub(crate) fn delivery(privacy: &Privacy, event: Option<&str>, body: Vec<u8>) -> Vec<u8> {
    let event = event.unwrap_or_default();
    if privacy.policy().keeps_all() || ABOUT_GOODS.iter().any(|goods| event.starts_with(goods)) {
        return body;
    }
    let is_report = ["conversation.", "occurrence."].iter().any(|report| event.starts_with(report));
    let text = String::from_utf8_lossy(&body);
    let name = if is_report { REPORT } else { "" };
    Person::of(&text).protect(privacy, name, &text).into_bytes()
}

/// Returns an answer about an order as the policy lets it be kept.
pub(crate) fn answer(privacy: &Privacy, answer: String) -> String {
    match privacy.policy().keeps_all() {
        true => answer,
        false => Person::of(&answer).protect(privacy, "", &answer),
    }
}

#[cfg(test)]
mod tests {
    use espelho_model::privacy::Treatment;

    use super::*;

    #[test]
    fn a_delivery_about_goods_is_kept_as_it_came_and_others_as_the_policy_says() {
        let strict = Privacy::new(Policy::of_all(Treatment::LeaveOut), String::new());
        for (event, given, expected) in [
            (Some("publication.rejected"), r#"{"data":{"reason":"foto"}}"#, r#"{"data":{"reason":"foto"}}"#),
            (Some("webhook.test"), "no json", "no json"),
            (
                Some("order.paid"),
                r#"{"data":{"order_number":"1","customer_id":7}}"#,
                r#"{"data":{"order_number":"1","customer_id":null}}"#,
            ),
            (
                Some("occurrence.created"),
                r#"{"data":{"occurrence_id":5,"title":"Ana"}}"#,
                r#"{"data":{"occurrence_id":5,"title":null}}"#,
            ),
            (
                None,
                r#"{"data":{"name":"x","customer_name":"Ana"}}"#,
                r#"{"data":{"name":"x","customer_name":null}}"#,
            ),
            (Some("order.paid"), "no json", "{}"),
        ] {
            let of = |privacy: &Privacy| {
                String::from_utf8(delivery(privacy, event, given.as_bytes().to_vec())).unwrap()
            };
            assert_eq!(of(&strict), expected, "{event:?}");
            assert_eq!(of(&Privacy::default()), given, "{event:?}");
        }
    }
}
