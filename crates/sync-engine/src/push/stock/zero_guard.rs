//! The guard against emptying a shop: counts the levels that go to zero, and holds them where they are too many.

use std::collections::HashMap;

use espelho_store::{Error as StoreError, IntentKind, PAGE_ROWS, StockIntent};

use super::StockPusher;
use crate::{
    Error,
    plan::push::{
        Message, Verdict,
        jobs::{Scan, key_of_level},
        stock_level::{empties, many_to_zero},
    },
    push::row_answers::key_in_table,
};

/// Why levels that go to zero are held in one turn.
pub(crate) struct ZeroGuard {
    /// How many go there, or went a moment ago.
    zeroes: usize,
    /// How many levels are above zero.
    above: usize,
    /// The quantities that a person released, by key.
    released: HashMap<String, String>,
    /// True if the ERP has locked one of the rows.
    is_locked: bool,
}

impl StockPusher<'_> {
    /// Counts the open levels that go to zero. Returns the guard where they are too many.
    pub(in crate::push) async fn zero_guard(&self) -> Result<Option<ZeroGuard>, Error> {
        let (store, key) = (&self.context.store, &self.context.key);
        // Levels that went to zero a moment ago count too: an ERP may write row by row.
        let lately = self.tools.guards.recent_zeroes();
        let zeroes = store.intents().open_zeroes(key).await? + lately;
        if zeroes <= self.options.guards.zero_max_rows || zeroes == lately {
            return Ok(None);
        }
        let above = store.lookups().stocked_levels(key).await? + lately;
        if !self.options.guards.holds_zeroes(zeroes, above) {
            return Ok(None);
        }
        let zeroes = self.distinct_zeroes().await?;
        if !self.options.guards.holds_zeroes(zeroes, above) {
            return Ok(None);
        }
        let released = store.releases().releases(key, IntentKind::Stock).await?;
        Ok(Some(ZeroGuard { zeroes, above, released, is_locked: false }))
    }

    /// Counts the open levels that go to zero and those that went there lately. A level whose row still waits for its
    /// answer is both, and counts once.
    async fn distinct_zeroes(&self) -> Result<usize, Error> {
        let lately = self.tools.guards.keys_of_recent_zeroes();
        let (mut zeroes, mut after) = (lately.len(), None);
        loop {
            let page =
                self.context.store.intents().open_zeroes_page(&self.context.key, after.as_ref()).await?;
            zeroes +=
                page.iter().filter(|level| empties(level) && !lately.contains(&key_of_level(level))).count();
            if page.len() < PAGE_ROWS {
                return Ok(zeroes);
            }
            after = page.last().cloned();
        }
    }

    /// Holds the levels of a page that need a person's release, and returns the others. A level that is under way
    /// counts and is not answered: its release may be spent on that by now.
    pub(in crate::push) async fn hold_zeroes(
        &self,
        guard: &mut ZeroGuard,
        page: Vec<StockIntent>,
        scan: &Scan,
    ) -> Result<Vec<StockIntent>, Error> {
        // Read after the page: a row that a person has released since the count is in it.
        if page.iter().any(empties) {
            let (store, key) = (&self.context.store, &self.context.key);
            guard.released = store.releases().releases(key, IntentKind::Stock).await?;
        }
        let mut passed = Vec::new();
        for level in page {
            let is_released = || guard.released.get(&key_in_table(&level)) == Some(&level.written);
            match empties(&level) && !scan.is_busy(&key_of_level(&level)) && !is_released() {
                // One row that the ERP has locked is waited for, and no more of them: the next scan holds the others.
                true if guard.is_locked => (),
                true => {
                    let message = many_to_zero(guard.zeroes, guard.above);
                    guard.is_locked = !self.hold_level(&level, message).await?;
                }
                false => passed.push(level),
            }
        }
        Ok(passed)
    }

    /// Holds a level. Returns whether its row could be answered. A row that the ERP has locked is held later, and its
    /// level is not sent before.
    async fn hold_level(&self, level: &StockIntent, message: Message) -> Result<bool, Error> {
        match self.tools.answers.level(level, &Verdict::Held(message)).await {
            Err(Error::Store(error)) if !matches!(error, StoreError::LeaseLost { .. }) => {
                tracing::info!(store = %self.context.key, key = key_in_table(level), %error, "cannot hold a level; will retry");
                Ok(false)
            }
            held => held.map(|()| true),
        }
    }
}
