//! Fault rules, set and cleared behind the API's back.

use super::{ALWAYS, FaultRule};
use crate::control::handles::FaultsControl;

impl FaultsControl<'_> {
    /// Adds a rule that spoils answers.
    pub fn add(self, rule: FaultRule) {
        self.add_sometimes(rule, ALWAYS);
    }

    /// Adds a rule that spoils an answer with a probability in thousandths, drawn from the seed.
    pub fn add_sometimes(self, rule: FaultRule, of_thousand: u32) {
        let FaultRule { route, times, kind } = rule;
        self.world().faults.add(route, times, of_thousand, kind);
    }

    /// Forgets every rule.
    pub fn clear(self) {
        self.world().faults.clear();
    }

    /// Whether any rule is in force.
    pub fn has_any(self) -> bool {
        !self.world().faults.is_empty()
    }
}
