//! Steps towards a product's prices (effect `price.step`): which steps to take is the planner's
//! ([`tiers`](crate::plan::tiers)); here is what tells later whether one was taken.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use espelho_model::push::PushState;
use espelho_store::{Effect, EffectState, TierIntent};
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

use super::{
    Settlement,
    evidence::{Evidence, read},
    late_effects,
};
use crate::plan::tiers::{Step, Tier};

/// How often one step is taken within the hour.
const MAX_REPEATS: usize = 3;
const AN_HOUR: TimeDelta = TimeDelta::hours(1);

/// Whether a tier is there after the step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StepWord {
    /// It is, with this price or discount.
    Put,
    /// It is not.
    Delete,
}

/// What the journal keeps with a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepEvidence {
    /// The product's id.
    pub product: String,
    /// What happens to the tier.
    pub step: StepWord,
    /// The tier.
    pub min_quantity: u32,
    /// Its price, in reais.
    pub price: Option<Decimal>,
    /// Or its discount, in percent.
    pub discount: Option<Decimal>,
    /// The revision of the rows in `erp_prices`; absent for a command's step.
    #[serde(rename = "wish")]
    pub revision: Option<i64>,
}

impl Evidence for StepEvidence {
    const KIND: &'static str = "price.step";
    const IS_REPEATABLE: bool = true;
    const EARLIER_ROW: &'static str =
        r#"{"product":"P","step":"put","min_quantity":1,"price":"9.90","discount":null,"wish":null}"#;

    fn can_prove(&self) -> bool {
        self.step == StepWord::Delete || self.price.is_some() || self.discount.is_some()
    }
}

impl StepEvidence {
    /// The evidence of a planned step.
    pub fn of(step: Step, product: &str, revision: Option<i64>) -> Self {
        let (word, min_quantity, price, discount) = match step {
            Step::Post(tier) | Step::Put(tier) => {
                (StepWord::Put, tier.min_quantity, tier.price, tier.discount_percent)
            }
            Step::Delete(quantity) => (StepWord::Delete, quantity, None, None),
        };
        Self { product: product.to_owned(), step: word, min_quantity, price, discount, revision }
    }
}

/// Settles a step whose answer was lost; `tiers` are the product's by now, or with `is_behind` perhaps those from
/// before the change that precedes it: then the next attempt takes it again.
pub fn settle(evidence: &StepEvidence, tiers: &[Tier], is_behind: bool) -> Settlement {
    if is_behind {
        return Settlement::DidNotHappen { how: "the reading may be older than the change before" };
    }
    Settlement::of(is_shown(evidence, tiers), "the product shows it", "the product does not show it")
}

/// Says whether these tiers are as the step leaves them.
fn is_shown(evidence: &StepEvidence, tiers: &[Tier]) -> bool {
    let there = tiers.iter().find(|tier| tier.min_quantity == evidence.min_quantity);
    match (evidence.step, there) {
        (StepWord::Delete, there) => there.is_none(),
        (StepWord::Put, None) => false,
        (StepWord::Put, Some(tier)) => match (evidence.price, evidence.discount) {
            (Some(price), _) => tier.price == Some(price),
            (None, discount) => discount.is_some() && tier.discount_percent == discount,
        },
    }
}

/// Returns for how long a lost step of the product may still change these tiers: until then they may be overwritten.
pub fn may_be_overwritten_for(effects: &[Effect], tiers: &[Tier], now: DateTime<Utc>) -> Option<Duration> {
    late_effects::may_be_overwritten_for(effects, |lost: &StepEvidence| !is_shown(lost, tiers), now)
}

/// Says whether a lost step was carried out after this one: these tiers show it, and it is over.
pub fn is_overwritten(last: &Effect, effects: &[Effect], tiers: &[Tier], now: DateTime<Utc>) -> bool {
    late_effects::is_overwritten(last, effects, |lost: &StepEvidence| is_shown(lost, tiers), now)
}

/// The revision of the rows that a step was taken for.
pub fn taken_for(effect: &Effect) -> Option<i64> {
    read::<StepEvidence>(effect).ok()?.revision
}

/// Returns the last of the steps that were accepted, where each of these requests was: what they ask for does not show, and
/// to send them again would ask for the same. `effects` are those for the same revision.
pub fn accepted<'e>(requests: &[String], effects: &'e [Effect]) -> Option<&'e Effect> {
    let taken = |request: &String| {
        let is_it = |effect: &&Effect| effect.state == EffectState::Confirmed && effect.request == *request;
        effects.iter().filter(is_it).max_by_key(|effect| effect.id)
    };
    let all: Option<Vec<&Effect>> = requests.iter().map(taken).collect();
    all?.into_iter().max_by_key(|effect| effect.id)
}

/// A row that somebody has decided against is not wanted.
pub fn is_desired(row: &TierIntent) -> bool {
    !matches!(row.state, Some(PushState::Ignored | PushState::Superseded | PushState::Held))
}

/// True where one of these requests was the last thing done to its tier so often within the hour that another system
/// seems to take it back each time: two systems that correct each other would do so for ever. `effects` are those of
/// the product's prices, the newest first.
pub fn is_reverted_repeatedly(requests: &[String], effects: &[Effect], now: DateTime<Utc>) -> bool {
    let since = now - AN_HOUR;
    let lately: Vec<&str> = effects
        .iter()
        .filter(|effect| effect.state == EffectState::Confirmed && effect.planned_at >= since)
        .map(|effect| effect.request.as_str())
        .collect();
    requests.iter().any(|request| repeats(request, &lately) >= MAX_REPEATS)
}

/// How often in a row a step was the last thing done to its tier; `lately` has what was done, the newest first.
fn repeats(step: &str, lately: &[&str]) -> usize {
    let tier = |request: &str| request.split(' ').take(2).map(str::to_owned).collect::<Vec<_>>();
    let of_tier = lately.iter().filter(|own| tier(own) == tier(step));
    of_tier.take_while(|own| **own == step).count()
}

#[cfg(test)]
mod tests {
    use super::{
        super::tests::{at, effect},
        *,
    };

    fn tier(min_quantity: u32, price: Option<&str>, discount: Option<&str>) -> Tier {
        let number = |text: Option<&str>| text.map(|text| text.parse().unwrap());
        Tier { min_quantity, price: number(price), discount_percent: number(discount), package: None }
    }

    // withstands: F001
    #[test]
    fn a_lost_step_shows_in_the_tier_that_it_was_for() {
        let there = [tier(1, Some("9.90"), None), tier(10, Some("8.91"), Some("10"))];
        let shows = |step| {
            let evidence = StepEvidence::of(step, "P", None);
            matches!(settle(&evidence, &there, false), Settlement::Happened { .. })
        };
        assert!(shows(Step::Put(tier(1, Some("9.9"), None))), "the same number");
        assert!(!shows(Step::Put(tier(1, Some("9.91"), None))));
        assert!(shows(Step::Post(tier(10, None, Some("10")))));
        assert!(!shows(Step::Post(tier(10, None, Some("11")))));
        assert!(!shows(Step::Post(tier(20, Some("9.90"), None))), "no such tier");
        assert!(shows(Step::Delete(20)));
        assert!(!shows(Step::Delete(10)));
        assert!(
            shows(Step::Post(tier(10, Some("8.91"), Some("99")))),
            "the price counts where both are known"
        );
        let base = StepEvidence::of(Step::Put(tier(1, Some("9.9"), None)), "P", None);
        assert!(
            matches!(settle(&base, &there, true), Settlement::DidNotHappen { .. }),
            "it may be from before"
        );
    }

    // withstands: F001
    #[test]
    fn a_lost_step_may_overwrite_a_later_one_for_forty_seconds_and_shows_that_it_did() {
        let step = |id, second, price: &str, state, code: Option<&str>| {
            let evidence = StepEvidence::of(Step::Put(tier(1, Some(price), None)), "P", Some(2));
            Effect {
                id,
                code: code.map(str::to_owned),
                sent_at: Some(at(second)),
                planned_at: at(second),
                ..effect("price.step", Some(&super::super::evidence::write(&evidence)), state)
            }
        };
        let (lost, refuted) = (step(1, 0, "25", EffectState::Refuted, None), Some("VALIDATION_ERROR"));
        let [ours, theirs] = ["99", "25"].map(|price| [tier(1, Some(price), None)]);
        for (effect, tiers, now, expected) in [
            (&lost, &ours, 1, Some(39)),
            (&lost, &ours, 39, Some(1)),
            (&lost, &ours, 40, None),
            (&lost, &ours, 0, Some(40)),
            // The clock was set back.
            (&lost, &ours, -1, None),
            (&lost, &theirs, 1, None),
            (&step(1, 0, "25", EffectState::Refuted, refuted), &ours, 1, None),
            (&step(1, 0, "25", EffectState::Confirmed, None), &ours, 1, None),
            (&Effect { sent_at: None, ..lost.clone() }, &ours, 1, None),
        ] {
            let left = may_be_overwritten_for(std::slice::from_ref(effect), tiers, at(now));
            assert_eq!(left, expected.map(Duration::from_secs), "{effect:?} {now}");
        }
        let last = |second| step(2, second, "99", EffectState::Confirmed, None);
        for (last, tiers, now, expected) in [
            (last(2), &theirs, 40, true),
            (last(39), &theirs, 60, true),
            (last(2), &theirs, 39, false),
            (last(40), &theirs, 60, false),
            (last(2), &ours, 40, false),
            (Effect { id: 1, ..last(2) }, &theirs, 40, false),
        ] {
            let found = is_overwritten(&last, std::slice::from_ref(&lost), tiers, at(now));
            assert_eq!(found, expected, "{} {now}", last.planned_at);
        }
    }

    #[test]
    fn a_step_that_asked_for_neither_price_nor_discount_proves_nothing() {
        assert!(!StepEvidence::of(Step::Put(tier(1, None, None)), "P", None).can_prove());
        assert!(StepEvidence::of(Step::Delete(1), "P", None).can_prove());
        let nothing = StepEvidence::of(Step::Put(tier(1, None, None)), "P", None);
        assert!(matches!(settle(&nothing, &[tier(1, None, None)], false), Settlement::DidNotHappen { .. }));
    }

    // withstands: F015
    #[test]
    fn a_step_is_counted_while_nothing_else_was_done_to_its_tier() {
        let (a, b, other) = ("PUT /p/1 {\"price\":1}", "PUT /p/1 {\"price\":2}", "PUT /p/10 {\"price\":1}");
        assert_eq!(repeats(a, &[a, other, a, other, a]), 3);
        assert_eq!(repeats(a, &[a, b, a, b, a]), 1, "the ERP goes to and fro by itself");
        assert_eq!((repeats(a, &[b, a]), repeats(a, &[])), (0, 0));
    }

    #[test]
    fn a_step_that_was_taken_three_times_within_the_hour_is_reverted_by_somebody() {
        let step = |minutes: i64, state| Effect {
            request: "PUT /p/1 a".into(),
            planned_at: at(minutes * 60),
            ..effect("price.step", None, state)
        };
        let asked = ["PUT /p/1 a".to_owned()];
        let taken = |minutes: &[i64], state| {
            let effects: Vec<Effect> = minutes.iter().map(|minute| step(*minute, state)).collect();
            is_reverted_repeatedly(&asked, &effects, at(3_600))
        };
        assert!(taken(&[59, 30, 0], EffectState::Confirmed));
        assert!(!taken(&[59, 30, -1], EffectState::Confirmed), "more than an hour ago");
        assert!(!taken(&[59, 30], EffectState::Confirmed));
        assert!(!taken(&[59, 30, 0], EffectState::Refuted), "it did not happen");
        assert!(!is_reverted_repeatedly(&[], &[step(1, EffectState::Confirmed)], at(3_600)));
    }

    #[test]
    fn steps_that_were_all_accepted_are_not_sent_again_and_the_last_of_them_tells_since_when() {
        let step = |id, request: &str, state| Effect {
            id,
            request: request.to_owned(),
            ..effect("price.step", None, state)
        };
        let effects = [
            step(3, "PUT /p/1 a", EffectState::Confirmed),
            step(5, "PUT /p/10 b", EffectState::Confirmed),
            step(4, "PUT /p/1 a", EffectState::Refuted),
            step(6, "PUT /p/1 c", EffectState::Sent),
            step(7, "PUT /p/1 d", EffectState::Confirmed),
        ];
        let rows: [(&[&str], Option<i64>); 6] = [
            (&["PUT /p/1 a"], Some(3)),
            (&["PUT /p/1 a", "PUT /p/10 b"], Some(5)),
            (&["PUT /p/1 c"], None),
            (&["PUT /p/1 a", "PUT /p/1 c"], None),
            (&["PUT /p/1 x"], None),
            (&[], None),
        ];
        for (requests, expected) in rows {
            let requests: Vec<String> = requests.iter().map(|own| (*own).to_owned()).collect();
            assert_eq!(accepted(&requests, &effects).map(|last| last.id), expected, "{requests:?}");
        }
    }

    #[test]
    fn a_step_knows_the_rows_that_it_was_taken_for() {
        let taken = |revision| {
            let written = super::super::evidence::write(&StepEvidence::of(Step::Delete(1), "P", revision));
            taken_for(&effect("price.step", Some(&written), EffectState::Sent))
        };
        assert_eq!(taken(Some(4)), Some(4));
        assert_eq!(taken(None), None);
    }

    #[test]
    fn a_step_without_a_value_proves_nothing() {
        let proves = |step| StepEvidence::of(step, "P", None).can_prove();
        assert!(proves(Step::Put(tier(1, Some("9.90"), None))));
        assert!(proves(Step::Post(tier(10, None, Some("5")))));
        assert!(proves(Step::Delete(10)));
        assert!(!proves(Step::Put(tier(1, None, None))));
    }

    #[test]
    fn a_row_is_desired_unless_it_is_decided_against() {
        let is_desired = |state| {
            is_desired(&TierIntent {
                min_quantity: 1,
                price: Some("9.90".into()),
                discount_percent: None,
                package: [None; 4],
                package_written: String::new(),
                state,
                updated_at: None,
                code: None,
            })
        };
        use PushState::{Done, Failed, Held, Ignored, New, Superseded};
        for state in [New, Done, Failed] {
            assert!(is_desired(Some(state)), "{state:?}");
        }
        assert!(is_desired(None));
        for state in [Ignored, Superseded, Held] {
            assert!(!is_desired(Some(state)), "{state:?}");
        }
    }
}
