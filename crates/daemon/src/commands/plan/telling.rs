//! Reports the progress of `plan --apply`, and what it waits for, as they change.

use std::collections::BTreeSet;

use espelho_model::{
    text,
    text::{Locale, words},
};
use espelho_store::WaitingRow;
use espelho_sync_engine::{Problem, push::preview};

use crate::{cli::Cli, config::StoreConfig, context::Shared, terminal::shown};

/// What was reported so far.
pub(super) struct Telling {
    planned: usize,
    /// `None` for programs, which receive only the result.
    locale: Option<Locale>,
    last: Option<Counts>,
    waiting: BTreeSet<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Counts {
    done: usize,
    open: usize,
    waiting: usize,
}

impl Telling {
    pub(super) fn new(planned: usize, cli: &Cli) -> Self {
        Self { planned, locale: (!cli.json).then_some(cli.locale), last: None, waiting: BTreeSet::new() }
    }

    /// Reads the rows, and prints what is new.
    pub(super) async fn look(&mut self, shared: &Shared, config: &StoreConfig) -> Result<(), Problem> {
        let Some(locale) = self.locale else { return Ok(()) };
        let waiting = shared.store.clone().read_in(locale).intents().waiting_rows(Some(&config.key)).await?;
        let left = preview(&shared.store, &config.key, &config.push).await?.len();
        self.news(&waiting, left).iter().for_each(|line| eprintln!("{line}"));
        Ok(())
    }

    /// Returns the lines that were not printed yet.
    fn news(&mut self, waiting: &[WaitingRow], left: usize) -> Vec<String> {
        let Some(locale) = self.locale else { return Vec::new() };
        let line = |row: &WaitingRow| {
            let (entity, key) = (words::entity(&row.entity), shown(&row.key));
            text!("intents-plan-waits", entity = entity, key = key, reason = shown(&row.reason))
                .message(locale)
        };
        let mut news: Vec<String> = waiting.iter().map(line).collect();
        news.retain(|line| self.waiting.insert(line.clone()));
        let counts = Counts {
            done: self.planned.saturating_sub(left),
            open: left.saturating_sub(waiting.len()),
            waiting: waiting.len(),
        };
        if self.last.replace(counts) != Some(counts) {
            let Counts { done, open, waiting } = counts;
            let text = text!("intents-plan-progress", done = done, open = open, waiting = waiting);
            news.push(text.message(locale));
        }
        news
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_it_waits_for_is_told_once_and_progress_as_it_changes() {
        let row = WaitingRow {
            store: "loja".into(),
            entity: "command".into(),
            key: "8".into(),
            code: "waiting_invoice".into(),
            reason: "aguardando a NF-e".into(),
            since: None,
            kind: "order.status".into(),
            subject: "000100".into(),
        };
        let mut telling =
            Telling { planned: 3, locale: Some(Locale::default()), last: None, waiting: BTreeSet::new() };
        for (waiting, left, lines) in [
            (vec![], 3, vec!["0 feitos, 3 a caminho, 0 esperam"]),
            (
                vec![row.clone()],
                2,
                vec!["comando 8: espera: aguardando a NF-e", "1 feito, 1 a caminho, 1 espera"],
            ),
            (vec![row.clone()], 2, vec![]),
            (vec![row], 1, vec!["2 feitos, 0 a caminho, 1 espera"]),
        ] {
            assert_eq!(telling.news(&waiting, left), lines);
        }
    }
}
