//! Requests of ours whose answer was lost and that a reading did not show. Until they are over the marketplace may still carry
//! them out, after a later request too.

use std::time::Duration;

use chrono::{DateTime, Utc};
use espelho_store::{Effect, EffectState};

use super::{
    attempts::OVER_AFTER,
    evidence::{Evidence, read},
};

/// Returns until when an effect of this kind whose answer was lost, and that did not show, may still be carried out.
pub fn may_land_until<E: Evidence>(effect: &Effect) -> Option<DateTime<Utc>> {
    over_at(effect).filter(|_| effect.kind == E::KIND)
}

/// True for an effect of any kind that was lost, counts as not done, and may still land.
pub fn may_still_land(effect: &Effect, now: DateTime<Utc>) -> bool {
    over_at(effect).is_some_and(|until| now < until)
}

fn over_at(effect: &Effect) -> Option<DateTime<Utc>> {
    let was_lost = effect.state == EffectState::Refuted && effect.code.is_none();
    Some(effect.sent_at.filter(|_| was_lost)? + OVER_AFTER)
}

/// Returns the time until an effect is over; `None` for one that is. A clock that was set back by more than [`OVER_AFTER`] makes
/// nothing young again.
fn time_left(until: DateTime<Utc>, now: DateTime<Utc>) -> Option<Duration> {
    let left = Some(until - now).filter(|left| *left <= OVER_AFTER)?;
    left.to_std().ok().filter(|left| !left.is_zero())
}

/// Returns for how long a lost effect may still be carried out that `overwrites` what is there.
pub fn may_be_overwritten_for<E: Evidence>(
    effects: &[Effect],
    overwrites: impl Fn(&E) -> bool,
    now: DateTime<Utc>,
) -> Option<Duration> {
    let left = |effect: &Effect| {
        let until = may_land_until::<E>(effect)?;
        let left = time_left(until, now)?;
        read::<E>(effect).is_ok_and(|evidence| overwrites(&evidence)).then_some(left)
    };
    effects.iter().filter_map(left).max()
}

/// Says whether a lost effect may have been carried out after `last`, is over, and `is_shown`. What is sent again then is
/// planned after it is over: that happens once for each.
pub fn is_overwritten<E: Evidence>(
    last: &Effect,
    effects: &[Effect],
    is_shown: impl Fn(&E) -> bool,
    now: DateTime<Utc>,
) -> bool {
    let earlier = effects.iter().filter(|effect| effect.id < last.id);
    may_have_landed_after::<E>(earlier, last.planned_at)
        .any(|(until, evidence)| until <= now && is_shown(&evidence))
}

/// Returns the lost ones of earlier effects that may have been carried out after one that was planned at this time, each with
/// when it is over.
pub(super) fn may_have_landed_after<'e, E: Evidence>(
    earlier: impl IntoIterator<Item = &'e Effect>,
    planned_at: DateTime<Utc>,
) -> impl Iterator<Item = (DateTime<Utc>, E)> {
    earlier.into_iter().filter_map(move |effect| {
        let until = may_land_until::<E>(effect).filter(|until| planned_at < *until)?;
        Some((until, read::<E>(effect).ok()?))
    })
}

#[cfg(test)]
mod tests {
    use super::{
        super::tests::{at, effect},
        *,
    };

    #[test]
    fn only_a_lost_effect_of_the_last_forty_seconds_may_still_land() {
        let lost = effect("stock.set", None, EffectState::Refuted);
        assert!(may_still_land(&lost, at(39)));
        assert!(!may_still_land(&lost, at(40)));
        assert!(!may_still_land(&Effect { code: Some("x".into()), ..lost.clone() }, at(1)), "it was refused");
        assert!(!may_still_land(&Effect { sent_at: None, ..lost.clone() }, at(1)), "it never left");
        assert!(!may_still_land(&Effect { state: EffectState::Confirmed, ..lost }, at(1)));
    }
}
