//! Decides whether rows that a complete pass did not find may be marked as gone.

/// How many rows one pass may mark as gone before that looks like the marketplace's mistake.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GoneGuard {
    /// Never more rows than this.
    pub max_rows: u64,
    /// Never a larger share of the mirrored rows than this, in percent …
    pub max_percent: f64,
    /// … but this many are always believed, so that a small store can lose a row.
    pub always: u64,
}

impl Default for GoneGuard {
    fn default() -> Self {
        Self { max_rows: 50, max_percent: 1.0, always: 3 }
    }
}

/// What to do about missing rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GoneVerdict {
    /// Read each of them once more; a 404 means that it is gone.
    Confirm,
    /// Mark none: there are too many.
    Refuse {
        /// The number of rows that would have been acceptable.
        limit: u64,
    },
}

/// Judges `missing` rows of `mirrored`, in a pass that listed `listed`.
///
/// A listing that is empty is never believed while the mirror has rows.
pub fn judge(guard: GoneGuard, missing: u64, mirrored: u64, listed: u64) -> GoneVerdict {
    let share = (mirrored as f64 * guard.max_percent / 100.0).floor() as u64;
    let limit = share.max(guard.always).min(guard.max_rows);
    match missing > limit || (listed == 0 && missing > 0) {
        true => GoneVerdict::Refuse { limit: if listed == 0 { 0 } else { limit } },
        false => GoneVerdict::Confirm,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // withstands: F060
    #[test]
    fn a_few_missing_rows_are_believed_and_a_landslide_is_not() {
        let check = |missing, mirrored, listed, expected| {
            assert_eq!(
                judge(GoneGuard::default(), missing, mirrored, listed),
                expected,
                "{missing} of {mirrored}"
            );
        };
        check(1, 20, 19, GoneVerdict::Confirm);
        check(3, 20, 17, GoneVerdict::Confirm);
        check(4, 20, 16, GoneVerdict::Refuse { limit: 3 });
        check(10, 1_000, 990, GoneVerdict::Confirm);
        check(11, 1_000, 989, GoneVerdict::Refuse { limit: 10 });
        check(50, 100_000, 99_950, GoneVerdict::Confirm);
        check(51, 100_000, 99_949, GoneVerdict::Refuse { limit: 50 });
    }

    #[test]
    fn an_empty_listing_is_never_believed() {
        assert_eq!(judge(GoneGuard::default(), 1, 1, 0), GoneVerdict::Refuse { limit: 0 });
        assert_eq!(judge(GoneGuard::default(), 0, 0, 0), GoneVerdict::Confirm);
    }
}
