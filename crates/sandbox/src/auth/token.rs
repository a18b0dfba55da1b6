//! Tokens: issued, found again, and counted.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use parking_lot::{Mutex, RwLock};

use crate::{
    limit::{Meter, Verdict, Window},
    random::Random,
};

const PREFIX: &str = "sk_live_";
const LIFETIME: i64 = 30 * 86_400;

/// An issued token.
pub(crate) struct Token {
    pub(crate) text: Box<str>,
    /// Position of its store.
    pub(crate) store: usize,
    /// Position of its credential among the store's.
    pub(crate) credential: usize,
    /// Seconds since 1970.
    pub(crate) expires_at: i64,
    meter: Mutex<Meter>,
}

impl Token {
    /// Counts a request against the limit; also the requests of the last 60 s.
    pub(crate) fn admit(&self, now: i64, rate: Option<u32>, window: Window) -> (Verdict, u32) {
        let mut meter = self.meter.lock();
        let verdict = meter.admit(now, rate, window);
        (verdict, meter.in_last_minute())
    }
}

/// Every valid token.
pub(crate) struct Tokens {
    seed: u64,
    issued: AtomicU64,
    live: RwLock<HashMap<Box<str>, Arc<Token>>>,
}

impl Tokens {
    pub(crate) fn new(seed: u64) -> Self {
        Self { seed, issued: AtomicU64::new(0), live: RwLock::default() }
    }

    /// Issues a token to a credential (positions of store and credential). It lives 30 days, and ends `previous`.
    pub(crate) fn issue(
        &self,
        (store, credential): (usize, usize),
        now: i64,
        previous: Option<&Token>,
    ) -> Arc<Token> {
        let number = self.issued.fetch_add(1, Relaxed);
        let mut random = Random::of(&[self.seed, store as u64, number, 0x70CE]);
        let text: Box<str> = format!("{PREFIX}{}", random.word(40)).into();
        let (expires_at, meter) = (now + LIFETIME, Mutex::default());
        let token = Arc::new(Token { text: text.clone(), store, credential, expires_at, meter });
        let mut live = self.live.write();
        if let Some(previous) = previous {
            live.remove(&previous.text);
        }
        live.insert(text, Arc::clone(&token));
        token
    }

    pub(crate) fn kill(&self, token: &Token) {
        self.live.write().remove(&token.text);
    }

    /// The token of an `Authorization` header.
    pub(crate) fn of_header(&self, header: &str) -> Option<Arc<Token>> {
        let text = header.strip_prefix("Bearer ")?.trim();
        if !text.starts_with(PREFIX) {
            return None;
        }
        self.live.read().get(text).cloned()
    }
}
