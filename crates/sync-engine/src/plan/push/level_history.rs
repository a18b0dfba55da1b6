//! Our effects on one level of stock, as the journal has them, the newest first: the last quantity that was set, the product
//! that received it, and the quantities that may still land.

use std::time::Duration;

use chrono::{DateTime, Utc};
use espelho_model::ProductId;
use espelho_store::{Effect, EffectState};
use rust_decimal::Decimal;

use super::{
    dispatches::ReadingWindow,
    evidence::{Evidence as _, may_have_happened, read},
    late_effects::{self, may_have_landed_after},
    level_evidence::LevelEvidence,
    movement_evidence::MovementEvidence,
};

/// The last quantity that we set a level to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastSet {
    /// The number of the effect.
    pub effect: i64,
    /// The end of the journal when the level was read before; 0 where that is not known.
    pub journal_end: i64,
    /// When it was planned.
    pub planned_at: DateTime<Utc>,
    /// The quantity that was set.
    pub target: Decimal,
    /// The sum of our movements (`stock.adjust`) since; negative where they took something off.
    pub moved: Decimal,
    /// The revision of the row in `erp_stock` that asked for it; `None` in older records.
    pub revision: Option<i64>,
    /// True if it went ahead of a dispatch: see `stock_level::ahead_of`.
    pub is_ahead: bool,
    /// For so long another quantity, set before it and not seen, may still overwrite it.
    pub may_be_overwritten_for: Option<Duration>,
    /// The quantities of lost sets that may have been carried out after it. None where we moved the level since.
    pub lost: Vec<Decimal>,
}

impl LastSet {
    /// Says whether it was set for this revision of the row, as far as known.
    pub fn is_for(&self, revision: i64) -> bool {
        self.revision.is_none_or(|set_for| set_for == revision)
    }

    /// Returns the quantity that the level has if nobody else changed it.
    pub fn expected(&self) -> Decimal {
        self.target + self.moved
    }

    /// Says whether a level that should have `target` shows the quantity of a lost set that was carried out after this one.
    /// A set that mends it is planned after that request is over, so it happens once for each.
    pub fn is_overwritten(&self, quantity: Decimal, target: Decimal) -> bool {
        target == self.target && quantity != target && self.lost.contains(&quantity)
    }

    /// Returns the place of the level among other effects.
    pub fn window(&self) -> ReadingWindow {
        ReadingWindow::at(self.effect, self.journal_end, self.planned_at)
    }
}

/// Returns the evidence of the last effect, where that set the level.
pub(super) fn last_evidence(effects: &[Effect]) -> Option<LevelEvidence> {
    read(effects.iter().find(|effect| may_have_happened(effect))?).ok()
}

/// Returns the product that received the last set for this revision of the row; `None` where the journal has none.
pub fn sent_to(effects: &[Effect], revision: i64) -> Option<ProductId> {
    let is_set = |effect: &&Effect| effect.kind == LevelEvidence::KIND && may_have_happened(effect);
    let evidence = read::<LevelEvidence>(effects.iter().find(is_set)?).ok()?;
    let is_for = evidence.revision.is_none_or(|set_for| set_for == revision);
    is_for.then(|| ProductId::new(evidence.product))
}

/// Returns the effects on a product's level, of those on the level of its SKU: another product may have had the SKU before,
/// and its sets say nothing of this one. Effects that name no product count.
pub fn of_product(effects: Vec<Effect>, product: &ProductId) -> Vec<Effect> {
    let named = |effect: &Effect| match effect.kind.as_str() {
        MovementEvidence::KIND => read::<MovementEvidence>(effect).ok().map(|evidence| evidence.product),
        _ => read::<LevelEvidence>(effect).ok().map(|evidence| evidence.product),
    };
    let is_its = |effect: &Effect| named(effect).is_none_or(|named| named == product.as_str());
    effects.into_iter().filter(is_its).collect()
}

/// Returns the last set of a level; `None` where the journal has none.
pub fn last_set(effects: &[Effect], now: DateTime<Utc>) -> Option<LastSet> {
    let is_set = |effect: &Effect| effect.kind == LevelEvidence::KIND && may_have_happened(effect);
    let (later, rest) = effects.split_at(effects.iter().position(is_set)?);
    let (set, earlier) = rest.split_first()?;
    let evidence = read::<LevelEvidence>(set).ok()?;
    let target = evidence.target;
    let moved = later
        .iter()
        .filter(|effect| effect.state == EffectState::Confirmed)
        .filter_map(|effect| Some(read::<MovementEvidence>(effect).ok()?.delta))
        .sum();
    let may_be_overwritten_for = may_be_overwritten_for(earlier, target, now);
    let lost = match later.iter().any(may_have_happened) {
        true => Vec::new(),
        false => {
            let lost = may_have_landed_after::<LevelEvidence>(earlier, set.planned_at);
            lost.map(|(_, lost)| lost.target).collect()
        }
    };
    let (revision, is_ahead) = (evidence.revision, !evidence.ahead_of.is_empty());
    let (effect, journal_end) = (set.id, evidence.journal_end.unwrap_or_default());
    Some(LastSet {
        effect,
        journal_end,
        planned_at: set.planned_at,
        target,
        moved,
        revision,
        is_ahead,
        may_be_overwritten_for,
        lost,
    })
}

/// Returns for how long a lost set may still overwrite a level of `target`: its answer was lost, no reading has shown it, and it
/// sets another quantity.
pub(super) fn may_be_overwritten_for(
    effects: &[Effect],
    target: Decimal,
    now: DateTime<Utc>,
) -> Option<Duration> {
    late_effects::may_be_overwritten_for(effects, |lost: &LevelEvidence| lost.target != target, now)
}

/// Returns the revision of the row that a level was set for.
pub(super) fn revision_of(effect: &Effect) -> Option<i64> {
    read::<LevelEvidence>(effect).ok()?.revision
}

#[cfg(test)]
pub(crate) mod tests {
    use serde_json::json;

    use super::{
        super::tests::{at, effect},
        *,
    };

    pub(crate) const CONFIRMED: EffectState = EffectState::Confirmed;
    pub(crate) const REFUTED: EffectState = EffectState::Refuted;

    pub(crate) fn whole(number: i64) -> Decimal {
        Decimal::from(number)
    }

    /// A level that was set for a revision of its row.
    pub(crate) fn set_for(revision: i64, target: i64, state: EffectState) -> Effect {
        let evidence = json!({"product": "P", "location": "1", "sku": "A", "target": target.to_string(),
            "wish": revision});
        effect("stock.set", Some(&evidence.to_string()), state)
    }

    /// A level that was set for the revision of the rows in these tests.
    pub(crate) fn set(target: i64, state: EffectState) -> Effect {
        set_for(3, target, state)
    }

    /// A movement of the level.
    pub(crate) fn moved(delta: i64, state: EffectState) -> Effect {
        let evidence =
            json!({"product": "P", "sku": "A", "location": "1", "delta": delta.to_string(), "before": "9"});
        effect("stock.adjust", Some(&evidence.to_string()), state)
    }

    #[test]
    fn what_we_moved_after_a_level_was_set_is_no_conflict_and_what_may_land_late_is_waited_for() {
        let last =
            last_set(&[moved(-2, CONFIRMED), set(10, CONFIRMED), moved(7, CONFIRMED)], at(10)).unwrap();
        assert_eq!((last.expected(), last.may_be_overwritten_for), (whole(8), None));
        let last = last_set(&[moved(-2, REFUTED), set(10, CONFIRMED)], at(10)).unwrap();
        assert_eq!(last.moved, Decimal::ZERO);
        let last = last_set(&[set(0, CONFIRMED), set(5, REFUTED)], at(10)).unwrap();
        assert_eq!(last.may_be_overwritten_for, Some(Duration::from_secs(30)));
        let last = last_set(&[set(5, CONFIRMED), set(5, REFUTED)], at(10)).unwrap();
        assert_eq!(last.may_be_overwritten_for, None, "it would be the same");
        let refused = Effect { code: Some("VALIDATION_ERROR".to_owned()), ..set(5, REFUTED) };
        let last = last_set(&[set(0, CONFIRMED), refused], at(10)).unwrap();
        assert_eq!(last.may_be_overwritten_for, None, "it was refused");
        let last = last_set(&[set(0, CONFIRMED), set(5, REFUTED)], at(40)).unwrap();
        assert_eq!(last.may_be_overwritten_for, None, "it is over");
        assert_eq!(last_set(&[set(5, REFUTED)], at(10)), None);
        assert_eq!(last_set(&[set(5, EffectState::Planned)], at(10)), None);
        assert_eq!(last_set(&[set(5, EffectState::Doubtful)], at(10)).map(|set| set.target), Some(whole(5)));
    }

    // withstands: F001
    #[test]
    fn a_level_that_shows_a_lost_set_whose_time_reached_beyond_the_last_one_is_overwritten() {
        let zero = |second| Effect { planned_at: at(second), ..set(0, CONFIRMED) };
        let lost = || set(12, REFUTED);
        let refused = || Effect { code: Some("VALIDATION_ERROR".to_owned()), ..lost() };
        let never_left = || Effect { sent_at: None, ..lost() };
        let rows: [(&[Effect], i64, i64, bool, &str); 12] = [
            (&[zero(3), lost()], 12, 0, true, "it was carried out after the zero"),
            (&[zero(39), lost()], 12, 0, true, "it may have been"),
            (&[zero(40), lost()], 12, 0, false, "it was over: the zero mended it already"),
            (&[zero(3), lost()], 11, 0, false, "another quantity"),
            (&[zero(3), lost()], 0, 0, false, "as it was set"),
            (&[zero(3), lost()], 12, 2, false, "another quantity would be set by now"),
            (&[zero(3), refused()], 12, 0, false, "it was refused"),
            (&[zero(3), never_left()], 12, 0, false, "it never left"),
            (&[zero(3), set(12, CONFIRMED)], 12, 0, false, "it was seen before"),
            (&[moved(12, CONFIRMED), zero(3), lost()], 12, 0, false, "we moved it since"),
            (&[moved(12, EffectState::Sent), zero(3), lost()], 12, 0, false, "we may have moved it"),
            (&[moved(12, REFUTED), zero(3), lost()], 12, 0, true, "we did not move it"),
        ];
        for (effects, shown, target, expected, why) in rows {
            let last = last_set(effects, at(60)).unwrap();
            assert_eq!(last.is_overwritten(whole(shown), whole(target)), expected, "{why}");
        }
    }
}
