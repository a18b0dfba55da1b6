//! Joining campaigns (`campaign.opt_in`): within the deadline, only with listings that have not joined, and proved by
//! what is enrolled.

use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

use chrono::{DateTime, TimeDelta, Utc};
use espelho_api_client::resources::campaigns::OptIn;
use espelho_model::{
    ItemId,
    campaign::{EligibleListing, EnrolledListing},
    money::parse_decimal,
    text,
};
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Message, Settlement, Verdict, evidence::Evidence, invalid};

/// The field with the lowest prices.
const LOWEST_PRICES: &str = "data.lowest_prices";
/// So long before the deadline nothing is sent any more: clocks differ.
const MARGIN: TimeDelta = TimeDelta::minutes(5);

/// What the journal keeps with an opt-in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OptInEvidence {
    /// The campaign's id.
    pub campaign: i64,
    /// The `publication_id` of each listing that joins.
    pub listings: Vec<String>,
}

impl Evidence for OptInEvidence {
    const KIND: &'static str = "campaign.opt_in";
    const IS_REPEATABLE: bool = true;
    const EARLIER_ROW: &'static str = r#"{"campaign":7,"listings":["MPB-1"]}"#;

    fn can_prove(&self) -> bool {
        !self.listings.is_empty()
    }
}

/// The opt-in that a command asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// The campaign's id.
    pub campaign: i64,
    /// The listings that are to join.
    pub listings: Vec<ItemId>,
    /// The lowest price in the campaign at which each listing joins.
    pub lowest: HashMap<ItemId, Decimal>,
}

impl Asked {
    /// Reads a command's key and its data.
    ///
    /// # Errors
    /// The words for the row where they name no campaign, no listings that a request takes, or no prices.
    pub fn read(key: &str, data: &Value) -> Result<Self, Message> {
        let campaign = key.trim().parse::<i64>().map_err(|_| invalid(text!("value-campaign-key")))?;
        let missing =
            |field: &str, example: &str| invalid(text!("value-missing", field = field, example = example));
        let listings: Vec<ItemId> = match data["publication_ids"].as_array() {
            Some(ids) if ids.iter().all(Value::is_string) => {
                ids.iter().filter_map(Value::as_str).map(ItemId::new).collect()
            }
            _ => return Err(missing("data.publication_ids", "{\"publication_ids\": [\"MPB-…\"]}")),
        };
        OptIn::new(listings.clone()).map_err(|error| invalid(error.text()))?;
        let lowest = lowest_prices(data)
            .map_err(|field| missing(&field, "{\"lowest_prices\": {\"MPB-…\": \"90.00\"}}"))?;
        Ok(Self { campaign, listings, lowest })
    }
}

/// The next step for an opt-in.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// The row is answered.
    Answer(Verdict),
    /// These listings are left to join; the campaign itself must be read ([`refusal`]).
    Join(Vec<ItemId>),
}

/// The next step: `enrolled` is what has joined, `was_sent` says whether a confirmed opt-in of this command named a
/// listing, and `read_again` is the wait until the next reading, where the opt-in is so young that it may not show yet.
pub fn decide(
    desired: &[ItemId],
    enrolled: &[EnrolledListing],
    was_sent: impl Fn(&ItemId) -> bool,
    read_again: Option<Duration>,
) -> Action {
    let has_joined = joined(enrolled);
    let left: Vec<ItemId> = desired.iter().filter(|id| !has_joined.contains(id)).cloned().collect();
    let refused: Vec<ItemId> = left.iter().filter(|id| was_sent(id)).cloned().collect();
    if left.is_empty() {
        Action::Answer(Verdict::Done(Some(result_of(desired, enrolled))))
    } else if refused.is_empty() {
        Action::Join(left)
    } else {
        let verdict = read_again.map_or_else(|| Verdict::Failed(not_enrolled(&refused)), Verdict::Unsettled);
        Action::Answer(verdict)
    }
}

/// Reads `data.lowest_prices`: the lowest price in the campaign at which each listing joins. The error is the name of the
/// field that is no number, or that names no listings.
fn lowest_prices(data: &Value) -> Result<HashMap<ItemId, Decimal>, String> {
    let listed = match &data["lowest_prices"] {
        Value::Null => return Ok(HashMap::new()),
        Value::Object(listed) => listed,
        _ => return Err(LOWEST_PRICES.to_owned()),
    };
    let price = |(item, price): (&String, &Value)| {
        let text = price.as_str().map_or_else(|| price.to_string(), str::to_owned);
        parse_decimal(&text)
            .map(|price| (ItemId::new(item.as_str()), price))
            .ok_or_else(|| format!("{LOWEST_PRICES}.{item}"))
    };
    listed.iter().map(price).collect()
}

/// Divides the listings that are left into those that may join and those whose price in the campaign is lower than
/// allowed by now, or not known: the campaign's price is frozen when a listing joins, and no route leaves it.
pub fn at_their_prices(
    left: Vec<ItemId>,
    lowest: &HashMap<ItemId, Decimal>,
    eligible: &[EligibleListing],
) -> (Vec<ItemId>, Vec<ItemId>) {
    let now =
        |id: &ItemId| eligible.iter().find(|row| row.item_id == *id).and_then(|row| row.discount_preview);
    left.into_iter().partition(|id| match lowest.get(id) {
        None => true,
        Some(lowest) => now(id).is_some_and(|now| now >= *lowest),
    })
}

/// The words where no listing is left whose price in the campaign is as high as was agreed.
pub fn too_cheap(listings: &[ItemId]) -> Message {
    let listings: Vec<&str> = listings.iter().map(ItemId::as_str).collect();
    Message::new("campaign_price_fell", text!("push-campaign-price-fell", listings = listings.join(", ")))
}

/// The words where a campaign takes nobody any more.
pub fn refusal(status: Option<&str>, deadline: Option<DateTime<Utc>>, now: DateTime<Utc>) -> Option<Message> {
    let is_over = matches!(status, Some("finished" | "cancelled"));
    let is_late = deadline.is_some_and(|deadline| now > deadline - MARGIN);
    (is_over || is_late).then(|| {
        let text = if is_over { text!("push-campaign-over") } else { text!("push-campaign-closed") };
        Message::new("campaign_closed", text)
    })
}

/// What became of an opt-in whose answer was lost. Listings that have joined are not sent again.
pub fn settle(evidence: &OptInEvidence, enrolled: &[EnrolledListing]) -> Settlement {
    let has_joined = |id: &String| {
        enrolled.iter().any(|listing| listing.item_id.as_ref().is_some_and(|own| own.as_str() == id))
    };
    let is_there = !evidence.listings.is_empty() && evidence.listings.iter().all(has_joined);
    Settlement::of(is_there, "the campaign lists them", "the campaign does not list all of them")
}

fn joined(enrolled: &[EnrolledListing]) -> HashSet<&ItemId> {
    enrolled.iter().filter_map(|listing| listing.item_id.as_ref()).collect()
}

fn result_of(desired: &[ItemId], enrolled: &[EnrolledListing]) -> Value {
    let rows = enrolled.iter().filter(|row| row.item_id.as_ref().is_some_and(|id| desired.contains(id)));
    let rows = rows.map(|row| {
        json!({
            "item_id": row.item_id.as_ref().map(ItemId::as_str),
            "authorized_discount_price": row.authorized_discount_price.map(|price| price.to_string()),
            "status": row.status,
        })
    });
    json!({"enrolled": rows.collect::<Vec<_>>()})
}

fn not_enrolled(left: &[ItemId]) -> Message {
    let left: Vec<&str> = left.iter().map(ItemId::as_str).collect();
    Message::new("not_enrolled", text!("push-not-enrolled", left = left.join(", ")))
}

#[cfg(test)]
mod tests {
    use espelho_model::{RawJson, text::Locale};

    use super::{super::tests::at, *};

    fn enrolled(ids: &[&str]) -> Vec<EnrolledListing> {
        let row = |id: &&str| EnrolledListing {
            item_id: (!id.is_empty()).then(|| ItemId::new(*id)),
            title: None,
            image: None,
            authorized_discount_price: Some("8.90".parse().unwrap()),
            status: Some("active".into()),
            raw: RawJson::new("{}"),
        };
        ids.iter().map(row).collect()
    }

    fn ids(ids: &[&str]) -> Vec<ItemId> {
        ids.iter().copied().map(ItemId::new).collect()
    }

    #[test]
    fn a_command_names_a_campaign_its_listings_and_maybe_their_lowest_prices() {
        const LISTING: &str = "MPB-1234567890123";
        let read = |key: &str, data: Value| Asked::read(key, &data);
        let of = |listing: &str| json!([listing]);
        let prices = json!({"publication_ids": of(LISTING), "lowest_prices": {LISTING: "9.50"}});
        let lowest = HashMap::from([(ItemId::new(LISTING), "9.50".parse().unwrap())]);
        let asked = Asked { campaign: 7, listings: ids(&[LISTING]), lowest };
        assert_eq!(read(" 7 ", prices), Ok(asked));
        for (key, data, named) in [
            ("x", json!({"publication_ids": of(LISTING)}), ""),
            ("7", json!({}), "data.publication_ids"),
            ("7", json!({"publication_ids": [LISTING, 1]}), "data.publication_ids"),
            ("7", json!({"publication_ids": []}), "publication_ids"),
            ("7", json!({"publication_ids": of("A")}), "publication_ids"),
            ("7", json!({"publication_ids": of(LISTING), "lowest_prices": []}), "data.lowest_prices"),
            (
                "7",
                json!({"publication_ids": of(LISTING), "lowest_prices": {LISTING: "x"}}),
                "data.lowest_prices.MPB-1234567890123",
            ),
        ] {
            let refused = read(key, data).unwrap_err();
            let words = refused.text.message(Locale::default());
            assert!(refused.code == "invalid_data" && words.contains(named), "{named}: {words}");
        }
    }

    #[test]
    fn only_listings_that_have_not_joined_are_sent() {
        let decided = |there: &[&str], sent: &str| {
            decide(&ids(&["A", "B"]), &enrolled(there), |id| id.as_str() == sent, None)
        };
        assert_eq!(decided(&[], ""), Action::Join(ids(&["A", "B"])));
        assert_eq!(decided(&["A", ""], ""), Action::Join(ids(&["B"])), "a row without an id is nobody's");
        let Action::Answer(Verdict::Done(Some(result))) = decided(&["B", "A", "C"], "A") else {
            panic!("not done")
        };
        let named = result["enrolled"].as_array().unwrap().iter().map(|row| row["item_id"].as_str().unwrap());
        assert_eq!(named.collect::<Vec<_>>(), ["B", "A"], "not what others have enrolled");
        assert_eq!(result["enrolled"][0]["authorized_discount_price"], "8.90");
        let Action::Answer(Verdict::Failed(message)) = decided(&["A"], "B") else { panic!("sent twice") };
        assert_eq!(message.code, "not_enrolled");
    }

    #[test]
    fn a_listing_that_does_not_show_yet_is_read_again_and_not_sent_again() {
        let soon = Duration::from_secs(2);
        let decided =
            |there: &[&str]| decide(&ids(&["A", "B"]), &enrolled(there), |id| id.as_str() == "B", Some(soon));
        assert_eq!(decided(&["A"]), Action::Answer(Verdict::Unsettled(soon)));
        assert_eq!(decided(&[]), Action::Answer(Verdict::Unsettled(soon)));
        assert!(matches!(decided(&["A", "B"]), Action::Answer(Verdict::Done(_))));
    }

    #[test]
    fn a_listing_joins_at_the_price_that_was_agreed_or_a_better_one() {
        let eligible = |item: &str, preview: Option<&str>| EligibleListing {
            item_id: ItemId::new(item),
            title: None,
            image: None,
            price: None,
            discount_preview: preview.map(|preview| preview.parse().unwrap()),
            raw: RawJson::new("{}"),
        };
        let now = [eligible("A", Some("90")), eligible("B", Some("89.99")), eligible("C", None)];
        let data = json!({"lowest_prices": {"A": "90.00", "B": 90, "C": "0.01", "D": "1"}});
        let lowest = lowest_prices(&data).unwrap();
        let (joins, stays) = at_their_prices(ids(&["A", "B", "C", "D", "E"]), &lowest, &now);
        assert_eq!(joins, ids(&["A", "E"]), "nothing was agreed about the last");
        assert_eq!(stays, ids(&["B", "C", "D"]), "cheaper, unknown, not listed");
        assert!(too_cheap(&stays).text.message(Locale::default()).contains("B, C, D"));
        assert_eq!(lowest_prices(&json!({})).unwrap().len(), 0);
        assert_eq!(
            lowest_prices(&json!({"lowest_prices": {"A": "cheap"}})),
            Err("data.lowest_prices.A".to_owned())
        );
        assert!(lowest_prices(&json!({"lowest_prices": {"A": "1_0"}})).is_err(), "10, or a slip for 1.0");
        assert_eq!(lowest_prices(&json!({"lowest_prices": [90]})), Err("data.lowest_prices".to_owned()));
    }

    #[test]
    fn nothing_joins_a_campaign_that_is_over_or_within_five_minutes_of_its_deadline() {
        let refused =
            |status, deadline: Option<i64>, now| refusal(status, deadline.map(at), at(now)).map(|m| m.code);
        assert_eq!(refused(Some("active"), Some(600), 0), None);
        assert_eq!(refused(Some("active"), Some(600), 300), None);
        assert_eq!(refused(Some("active"), Some(600), 301).as_deref(), Some("campaign_closed"));
        assert_eq!(refused(Some("finished"), None, 0).as_deref(), Some("campaign_closed"));
        assert_eq!(refused(Some("cancelled"), None, 0).as_deref(), Some("campaign_closed"));
        assert_eq!(refused(None, None, 0), None);
    }

    // withstands: F001
    #[test]
    fn a_lost_opt_in_happened_where_all_of_its_listings_are_enrolled() {
        let settled = |asked: &[&str], there: &[&str]| {
            let listings = asked.iter().map(|id| (*id).to_owned()).collect();
            matches!(
                settle(&OptInEvidence { campaign: 7, listings }, &enrolled(there)),
                Settlement::Happened { .. }
            )
        };
        assert!(settled(&["A"], &["A", "B"]));
        assert!(!settled(&["A", "B"], &["A"]));
        assert!(!settled(&[], &["A"]), "nothing is no proof");
        assert!(!settled(&["A"], &[""]));
    }
}
