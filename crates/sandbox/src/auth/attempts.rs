//! The limit of the login: 5 attempts a minute for each pair of address and username.

use std::{collections::HashMap, net::IpAddr};

use parking_lot::Mutex;

const PER_MINUTE: u32 = 5;
const MINUTE: i64 = 60_000;

/// Beyond this number of pairs, old ones are dropped.
const SWEEP: usize = 4096;

/// Attempts of the last minute, by pair: the millisecond at which its window began, and the attempts since.
#[derive(Default)]
pub(crate) struct Attempts(Mutex<HashMap<(IpAddr, String), (i64, u32)>>);

impl Attempts {
    /// Counts an attempt; an error holds the seconds to wait. Successful logins are attempts too.
    pub(crate) fn admit(&self, peer: IpAddr, username: &str, now: i64) -> Result<(), u32> {
        let mut pairs = self.0.lock();
        if pairs.len() > SWEEP {
            pairs.retain(|_, (start, _)| now < *start + MINUTE);
        }
        let (start, count) = pairs.entry((peer, username.to_owned())).or_insert((now, 0));
        if now >= *start + MINUTE {
            (*start, *count) = (now, 0);
        }
        if *count >= PER_MINUTE {
            let wait = *start + MINUTE - now;
            return Err(u32::try_from((wait + 999) / 1000).unwrap_or(60));
        }
        *count += 1;
        Ok(())
    }
}
