//! Which activities a pause holds, and until when. Pure.

use chrono::{DateTime, Utc};
use espelho_model::{
    StoreKey,
    pause::{Pause, PauseScope},
};

/// A part of the work on a store that can be held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    /// Sweeps, reconciliations, label polls, audits.
    Pull,
    /// Reads for deliveries.
    Webhooks,
    /// Anything that is sent.
    Push,
    /// Levels of `erp_stock`.
    Stock,
    /// Prices of `erp_prices`.
    Prices,
    /// Commands.
    Commands,
}

impl Activity {
    /// All activities.
    pub const ALL: [Self; 6] =
        [Self::Pull, Self::Webhooks, Self::Push, Self::Stock, Self::Prices, Self::Commands];

    /// Tells whether a pause of this scope holds it.
    pub fn is_held_by(self, scope: PauseScope) -> bool {
        match scope {
            PauseScope::All => true,
            PauseScope::Pull => self == Self::Pull,
            PauseScope::Webhooks => self == Self::Webhooks,
            PauseScope::Push => !matches!(self, Self::Pull | Self::Webhooks),
            PauseScope::Stock => self == Self::Stock,
            PauseScope::Prices => self == Self::Prices,
            PauseScope::Commands => self == Self::Commands,
        }
    }
}

/// Returns until when an activity of a store is held; `None` where it is not.
pub fn held_until(
    pauses: &[Pause],
    store: &StoreKey,
    activity: Activity,
    at: DateTime<Utc>,
) -> Option<DateTime<Utc>> {
    let holding = pauses
        .iter()
        .filter(|pause| pause.store == *store && pause.lasts(at) && activity.is_held_by(pause.scope));
    holding.map(|pause| pause.until).max()
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;

    #[test]
    fn a_scope_holds_what_it_names_and_nothing_else() {
        use Activity::{Commands, Prices, Pull, Push, Stock, Webhooks};
        for (scope, held) in [
            (PauseScope::All, vec![Pull, Webhooks, Push, Stock, Prices, Commands]),
            (PauseScope::Pull, vec![Pull]),
            (PauseScope::Webhooks, vec![Webhooks]),
            (PauseScope::Push, vec![Push, Stock, Prices, Commands]),
            (PauseScope::Stock, vec![Stock]),
            (PauseScope::Prices, vec![Prices]),
            (PauseScope::Commands, vec![Commands]),
        ] {
            let found: Vec<_> =
                Activity::ALL.into_iter().filter(|activity| activity.is_held_by(scope)).collect();
            assert_eq!(found, held, "{scope:?}");
        }
    }

    #[test]
    fn an_activity_is_held_until_the_last_pause_of_its_own_store_ends() {
        let now = DateTime::from_timestamp(1_795_000_000, 0).unwrap();
        let key = |key: &str| StoreKey::new(key).unwrap();
        let pause = |store: &str, scope, seconds| Pause {
            store: key(store),
            scope,
            since: now - TimeDelta::hours(2),
            until: now + TimeDelta::seconds(seconds),
            paused_by: "ana".into(),
        };
        let pauses = [
            pause("a", PauseScope::Push, 60),
            pause("a", PauseScope::Stock, 90),
            pause("b", PauseScope::All, 600),
            pause("a", PauseScope::Pull, 0),
        ];
        let until = |store: &str, activity| {
            held_until(&pauses, &key(store), activity, now).map(|until| (until - now).num_seconds())
        };
        assert_eq!(until("a", Activity::Stock), Some(90));
        assert_eq!(until("a", Activity::Prices), Some(60));
        assert_eq!(until("a", Activity::Pull), None, "it is over");
        assert_eq!(until("b", Activity::Webhooks), Some(600));
        assert_eq!(until("c", Activity::Stock), None);
    }
}
