//! Requests of ours whose answer was lost and that a reading did not show. Until they are over the marketplace may still carry
//! them out, after a later request too.

use std::time::Duration;

use chrono::{DateTime, Utc};
use espelho_store::{Effect, EffectState};

use super::{
    attempts::OVER_AFTER,
    evidence::{Evidence, read},
};

/// Returns until when an effect whose answer was lost, and that did not show, may still be carried out.
pub fn may_land_until<E: Evidence>(effect: &Effect) -> Option<DateTime<Utc>> {
    let was_lost = effect.kind == E::KIND && effect.state == EffectState::Refuted && effect.code.is_none();
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
    effects.iter().filter(|effect| effect.id < last.id).any(|effect| {
        may_land_until::<E>(effect).is_some_and(|until| last.planned_at < until && until <= now)
            && read::<E>(effect).is_ok_and(|evidence| is_shown(&evidence))
    })
}
