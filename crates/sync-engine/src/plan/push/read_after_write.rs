//! Readings after an accepted write. The marketplace may answer from a replica that is behind, so a write that does not show
//! is read again for two minutes before it counts as missing: by so much readings may lag (`own_writes::READINGS_LAG`).

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use espelho_store::Effect;

/// The wait until the first of these readings, if the write is also read at once.
pub const FIRST_READING: Duration = Duration::from_secs(2);
/// Seconds after a write at which it is read again while it does not show. After the last one it counts as missing.
const READINGS: [i64; 6] = [2, 5, 15, 30, 60, 120];

/// Returns the wait until an effect that was accepted and does not show is read again; `None` where it has not shown for
/// so long that it is not there. A clock that was set back makes nothing young again for long.
pub fn read_again_in(effect: &Effect, now: DateTime<Utc>) -> Option<Duration> {
    let age = (now - effect.sent_at.unwrap_or(effect.planned_at)).abs();
    let next = READINGS.into_iter().map(TimeDelta::seconds).find(|reading| *reading > age)?;
    (next - age).to_std().ok()
}

#[cfg(test)]
mod tests {
    use espelho_store::EffectState;

    use super::{
        super::{
            own_writes::READINGS_LAG,
            tests::{at, effect},
        },
        *,
    };

    #[test]
    fn what_was_accepted_and_does_not_show_is_read_again_for_as_long_as_readings_may_lag() {
        // Sent at the epoch; the seconds since, and those until the next reading.
        let rows = [
            (0, Some(2)),
            (1, Some(1)),
            (2, Some(3)),
            (4, Some(1)),
            (5, Some(10)),
            (14, Some(1)),
            (15, Some(15)),
            (29, Some(1)),
            (30, Some(30)),
            (59, Some(1)),
            (60, Some(60)),
            (119, Some(1)),
            (120, None),
            (3_600, None),
            (-1, Some(1)),
            (-120, None),
        ];
        let sent = effect("product.update", None, EffectState::Confirmed);
        for (age, expected) in rows {
            let wait = read_again_in(&sent, at(age));
            assert_eq!(wait, expected.map(Duration::from_secs), "{age}");
        }
        assert_eq!(READINGS.last().copied(), Some(READINGS_LAG.num_seconds()));
        let never_noted = Effect { sent_at: None, planned_at: at(3), ..sent };
        assert_eq!(read_again_in(&never_noted, at(4)), Some(Duration::from_secs(1)), "counted from its plan");
    }
}
