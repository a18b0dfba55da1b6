//! Joining a campaign.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::{Campaign, Discount, Enrollment};
use crate::{
    answer::Answer,
    call::Call,
    listings::{self, ListingView},
    refusal::{FieldErrors, Refusal},
    request_body::{self, Reader},
};

const FIELD: &str = "publication_ids";

/// The most entries of a list that the errors name.
const MAX_ERRORS: usize = 100;

/// POST the listings that join. What is enrolled already stays as it is: joining twice is joining once.
pub(super) fn opt_in(call: &Call) -> Result<Answer, Refusal> {
    let store = call.store()?;
    let offers = listings::active(store);
    let mut state = call.world.campaigns.lock();
    let campaign = state.find(call.id(0)).ok_or(Refusal::NotFound)?;
    let wanted = publication_ids(call)?;
    admit(campaign, call.now())?;
    let (id, discount) = (campaign.id, campaign.discount);
    let enrolled = state.enrolled.entry((id, store.id)).or_default();
    let (joining, already) = joining(&wanted, &offers, enrolled)?;
    enrolled.extend(joining.iter().map(|offer| offer.enrolled(discount)));
    Ok(Answer::success(false, |json| {
        json.open_object();
        json.key("campaign_id").id(id);
        json.key("enrolled").count(joining.len() as u64);
        json.key("already_enrolled").count(already as u64);
        json.close_object();
    }))
}

/// The deadline goes first: its code is the one that the document shows.
fn admit(campaign: &Campaign, now: i64) -> Result<(), Refusal> {
    if campaign.is_too_late(now) {
        let text = "O prazo de adesão à campanha foi encerrado.".to_owned();
        return Err(Refusal::Rule("CAMPAIGN_OPT_IN_CLOSED", text));
    }
    if campaign.is_over(now) {
        let text = "A campanha não aceita mais adesões.".to_owned();
        return Err(Refusal::Rule("CAMPAIGN_NOT_OPEN", text));
    }
    Ok(())
}

/// The listings that are new to the campaign, each once, and how many are not.
fn joining<'a>(
    wanted: &[String],
    offers: &'a [ListingView],
    enrolled: &[Enrollment],
) -> Result<(Vec<&'a ListingView>, usize), Refusal> {
    let by_code: HashMap<&str, &ListingView> =
        offers.iter().map(|offer| (offer.item_id.as_str(), offer)).collect();
    let earlier: HashSet<&str> = enrolled.iter().map(|enrollment| enrollment.item_id.as_str()).collect();
    let (mut seen, mut already, mut joining) = (HashSet::new(), 0, Vec::new());
    let mut errors = FieldErrors::new();
    for (at, code) in wanted.iter().enumerate() {
        if !seen.insert(code) {
            continue;
        }
        if earlier.contains(code.as_str()) {
            already += 1;
        } else if let Some(offer) = by_code.get(code.as_str()) {
            joining.push(*offer);
        } else if errors.as_slice().len() < MAX_ERRORS {
            let message = format!("O anúncio {code} não existe ou não está ativo.");
            errors.add(format!("{FIELD}.{at}"), message);
        }
    }
    errors.or((joining, already))
}

impl ListingView {
    /// The enrollment of a listing, its promotional price computed now and never again.
    fn enrolled(&self, discount: Option<Discount>) -> Enrollment {
        Enrollment {
            item_id: self.item_id.clone(),
            title: self.title.clone(),
            image: self.image.clone(),
            price: self.discounted(discount),
        }
    }
}

/// The list of the body, which must name something.
fn publication_ids(call: &Call) -> Result<Vec<String>, Refusal> {
    let fields = request_body::fields(&call.body);
    let (reader, mut errors) = (Reader::new(&fields), FieldErrors::new());
    let list = match reader.value(FIELD) {
        Some(Value::Array(list)) if !list.is_empty() => list.as_slice(),
        None | Some(Value::Null) => {
            reader.note(FIELD, "é obrigatório", &mut errors);
            &[]
        }
        Some(_) => {
            reader.note(FIELD, "deve ser uma lista com ao menos um anúncio", &mut errors);
            &[]
        }
    };
    let others = list.iter().enumerate().filter(|(_, item)| !item.is_string());
    for (at, _) in others.take(MAX_ERRORS) {
        reader.note(&format!("{FIELD}.{at}"), "deve ser um texto", &mut errors);
    }
    errors.or(list.iter().filter_map(Value::as_str).map(str::to_owned).collect())
}
