//! Listings behind the API's back: the acts of the marketplace's operators.

use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Listing, ListingStatus, ListingView,
    active::{active, own_of_product},
};
use crate::{
    announce::send,
    answer::Answer,
    call::Call,
    control::{
        endpoint::{ControlEndpoint, body, control, done},
        handles::ListingsControl,
    },
    event::Event,
    json::Json,
    refusal::{FieldErrors, Refusal},
    store::Store,
};

/// The control endpoints of this area.
pub(crate) const ENDPOINTS: &[ControlEndpoint] = &[
    ControlEndpoint::get("listings/{store}", "the active listings of a store", list),
    ControlEndpoint::post(
        "listings/{store}",
        r#"creates a draft: {"title": "Camiseta", "skus": ["L1-00001-ABC"]}"#,
        create,
    ),
    ControlEndpoint::get(
        "listings/{store}/{item_id}",
        "a listing that was created, whatever its status",
        show,
    ),
    ControlEndpoint::post(
        "listings/{store}/{item_id}/approve",
        "an operator approves a listing in review",
        approve,
    ),
    ControlEndpoint::post(
        "listings/{store}/{item_id}/reject",
        r#"an operator rejects a listing in review: {"reason": "Imagem ilegível"}"#,
        reject,
    ),
    ControlEndpoint::post(
        "listings/{store}/{item_id}/status",
        r#"moves a listing whatever the rules say: {"status": "paused"}"#,
        set_status,
    ),
];

impl ListingsControl<'_> {
    /// Creates a draft of these SKUs; its `item_id`, or `None` where there is no such store.
    pub fn create(self, store: &str, title: &str, skus: &[&str]) -> Option<String> {
        let store = self.world().store(store)?;
        let mut listings = store.listings();
        let item_id = listings.next_id(store.id);
        listings.insert(Listing {
            item_id: item_id.clone(),
            title: title.to_owned(),
            status: ListingStatus::Draft,
            category: None,
            gtin: None,
            skus: skus.iter().map(|sku| (*sku).to_owned()).collect(),
            images: Vec::new(),
            description: String::new(),
            rejection_reason: None,
        });
        Some(item_id)
    }

    /// An operator approves a listing that is in review; the webhooks are reported.
    pub fn approve(self, store: &str, item_id: &str) -> bool {
        self.review(store, item_id, None)
    }

    /// An operator rejects a listing that is in review: it is a draft again, and the webhooks are reported.
    pub fn reject(self, store: &str, item_id: &str, reason: &str) -> bool {
        self.review(store, item_id, Some(reason))
    }

    /// Moves a listing to any status, against the rules too, as the platform pauses one.
    pub fn set_status(self, store: &str, item_id: &str, status: &str) -> bool {
        let Some(status) = ListingStatus::parse(status) else { return false };
        self.world().store(store).is_some_and(|store| {
            let of_product = own_of_product(store, item_id);
            let mut listings = store.listings();
            match (listings.get_mut(item_id), of_product) {
                (Some(listing), _) => listing.status = status,
                (None, Some(slot)) => {
                    listings.seeded.insert(slot, status);
                }
                (None, None) => return false,
            }
            true
        })
    }

    /// A listing that was created, in the form in which the API answers it.
    pub fn get(self, store: &str, item_id: &str) -> Option<Value> {
        let store = self.world().store(store)?;
        let listing = store.listings().get(item_id).cloned()?;
        let mut json = Json::new(false);
        listing.write(&mut json, (store.id, &store.name), &store.catalogue());
        serde_json::from_slice(&json.into_bytes()).ok()
    }

    /// The active listings of a store: `item_id`, `title`, `image`, `lowest_price`.
    pub fn active(self, store: &str) -> Vec<Value> {
        let listings = self.world().store(store).map(active).unwrap_or_default();
        listings.iter().map(view).collect()
    }

    fn review(self, store: &str, item_id: &str, reason: Option<&str>) -> bool {
        let Some(store) = self.world().store(store) else { return false };
        let Some(event) = reviewed(store, item_id, reason) else { return false };
        send(self.world(), store, [event]);
        true
    }
}

/// Ends the review of a listing and returns its event; `None` where there is no such review.
fn reviewed(store: &Store, item_id: &str, reason: Option<&str>) -> Option<Event> {
    let mut listings = store.listings();
    let listing = listings.get_mut(item_id)?;
    if listing.status != ListingStatus::PendingReview {
        return None;
    }
    listing.rejection_reason = reason.map(str::to_owned);
    match reason {
        None => {
            listing.status = ListingStatus::Active;
            Some(Event::new("publication.approved", json!({"item_id": item_id, "title": listing.title})))
        }
        Some(reason) => {
            listing.status = ListingStatus::Draft;
            Some(Event::new("publication.rejected", json!({"item_id": item_id, "reason": reason})))
        }
    }
}

fn view(listing: &ListingView) -> Value {
    json!({
        "item_id": listing.item_id,
        "title": listing.title,
        "image": listing.image,
        "lowest_price": listing.lowest_price.map(crate::money::Milli::number),
    })
}

#[derive(Deserialize)]
struct Draft {
    title: String,
    #[serde(default)]
    skus: Vec<String>,
}

#[derive(Deserialize)]
struct Reason {
    reason: String,
}

#[derive(Deserialize)]
struct Status {
    status: String,
}

fn list(call: &Call) -> Result<Answer, Refusal> {
    Ok(Answer::value(&Value::Array(control(call).listings().active(call.id(0)))))
}

fn create(call: &Call) -> Result<Answer, Refusal> {
    let Draft { title, skus } = body(call)?;
    let skus: Vec<&str> = skus.iter().map(String::as_str).collect();
    let item_id = control(call).listings().create(call.id(0), &title, &skus).ok_or(Refusal::NotFound)?;
    Ok(Answer::value(&json!({"item_id": item_id})))
}

fn show(call: &Call) -> Result<Answer, Refusal> {
    let listing = control(call).listings().get(call.id(0), call.id(1)).ok_or(Refusal::NotFound)?;
    Ok(Answer::value(&listing))
}

fn approve(call: &Call) -> Result<Answer, Refusal> {
    done(control(call).listings().approve(call.id(0), call.id(1)))
}

fn reject(call: &Call) -> Result<Answer, Refusal> {
    let Reason { reason } = body(call)?;
    done(control(call).listings().reject(call.id(0), call.id(1), &reason))
}

fn set_status(call: &Call) -> Result<Answer, Refusal> {
    let Status { status } = body(call)?;
    if ListingStatus::parse(&status).is_none() {
        let known: Vec<&str> = ListingStatus::ALL.iter().map(|status| status.wire()).collect();
        let message = format!("O status deve ser um de: {}.", known.join(", "));
        return Err(Refusal::Invalid(FieldErrors::one("status", message)));
    }
    done(control(call).listings().set_status(call.id(0), call.id(1), &status))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{listings::codes, options::Options, world::World};

    fn world() -> World {
        World::build(Options { orders: 0, ..Options::default() }, Vec::new()).unwrap()
    }

    fn in_review(store: &Store) -> String {
        let item_id = store.listings().next_id(store.id);
        let listing = Listing {
            item_id: item_id.clone(),
            title: "Camiseta".to_owned(),
            status: ListingStatus::PendingReview,
            category: None,
            gtin: None,
            skus: Vec::new(),
            images: Vec::new(),
            description: String::new(),
            rejection_reason: None,
        };
        store.listings().insert(listing);
        item_id
    }

    fn status(store: &Store, item_id: &str) -> ListingStatus {
        store.listings().get(item_id).unwrap().status
    }

    // proves: LST-045, EVT-033, EVT-040
    #[test]
    fn an_approval_makes_the_listing_active_and_tells_its_code_and_title() {
        let world = world();
        let store = &world.stores[0];
        let item_id = in_review(store);
        let reported = reviewed(store, &item_id, None);
        assert_eq!(
            reported,
            Some(Event::new("publication.approved", json!({"item_id": item_id, "title": "Camiseta"})))
        );
        assert_eq!(status(store, &item_id), ListingStatus::Active);
    }

    // proves: LST-046, EVT-034, EVT-040
    #[test]
    fn a_rejection_makes_the_listing_a_draft_again_and_tells_why() {
        let world = world();
        let store = &world.stores[0];
        let item_id = in_review(store);
        let reported = reviewed(store, &item_id, Some("Imagem ilegível"));
        let data = json!({"item_id": item_id, "reason": "Imagem ilegível"});
        assert_eq!(reported, Some(Event::new("publication.rejected", data)));
        assert_eq!(status(store, &item_id), ListingStatus::Draft);
    }

    #[test]
    fn only_a_listing_in_review_is_reviewed() {
        let world = world();
        let store = &world.stores[0];
        let item_id = in_review(store);
        reviewed(store, &item_id, None).unwrap();
        assert_eq!(reviewed(store, &item_id, None), None);
        assert_eq!(reviewed(store, &item_id, Some("tarde demais")), None);
        assert_eq!(reviewed(store, "ANU-0000000000000", None), None);
    }

    #[test]
    fn codes_of_created_listings_are_never_those_of_products() {
        let world = world();
        let store = &world.stores[0];
        let item_id = in_review(store);
        assert_ne!(in_review(store), item_id);
        assert_eq!(codes::product_of(store.id, &item_id), None);
        assert_eq!(item_id.len(), codes::code_of(store.id, 0).len());
    }
}
