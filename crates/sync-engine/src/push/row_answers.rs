//! Writes verdicts to the rows of the ERP, under the lease, and only where a row still asks for what was answered.

use std::time::Duration;

use espelho_model::{
    Sku,
    next_step::{self, quoted},
    push::PushState,
    text::{Language, Locale},
};
use espelho_store::{Command, IntentKind, Outcome, PriceIntent, SentLevel, StockIntent, TierIntent};

use crate::{
    Error, StoreContext,
    plan::push::{Verdict, price_rows, stock_level::Basis},
};

/// The place of a command's number in words that are written before the number is known.
pub(super) const NUMBER: &str = "{id}";

/// Answers the rows of one store.
pub(crate) struct RowAnswers<'c> {
    context: &'c StoreContext,
    basis: Basis,
}

impl<'c> RowAnswers<'c> {
    /// Creates the writer of answers. `basis` is the meaning of the quantities that are answered.
    pub(super) fn new(context: &'c StoreContext, basis: Basis) -> Self {
        Self { context, basis }
    }

    /// Returns what a verdict writes to a row; `None` where the row stays as it is.
    pub(super) fn outcome(&self, desired: IntentKind, key: &str, verdict: &Verdict) -> Option<Outcome> {
        let store = self.context.key.as_str();
        verdict.outcome(&row_name(desired, key, store), store, self.context.locale)
    }

    /// Answers a level, unless its row already says the same.
    pub(super) async fn level(&self, level: &StockIntent, verdict: &Verdict) -> Result<(), Error> {
        self.all_levels([(level, verdict)].into_iter()).await
    }

    /// Answers levels in one transaction.
    pub(super) async fn levels(&self, answers: &[(StockIntent, Verdict)]) -> Result<(), Error> {
        self.all_levels(answers.iter().map(|(level, verdict)| (level, verdict))).await
    }

    async fn all_levels<'a>(
        &self,
        answers: impl Iterator<Item = (&'a StockIntent, &'a Verdict)>,
    ) -> Result<(), Error> {
        let outcomes = answers.filter_map(|(level, verdict)| {
            let key = key_in_table(level);
            let outcome = self.outcome(IntentKind::Stock, &key, verdict)?;
            let is_said = level.state == Some(outcome.state) && level.code == outcome.code;
            (!is_said).then_some((level, key, outcome))
        });
        let outcomes: Vec<_> = outcomes.collect();
        if outcomes.is_empty() {
            return Ok(());
        }
        let mut tx = self.context.store.begin_answer(&self.context.lease).await?;
        let mut answered = Vec::new();
        for (level, key, outcome) in outcomes {
            let is_answered = tx.intents().answer_stock(level, &outcome, self.basis.as_str()).await?;
            if is_answered && is_final(&outcome) {
                tx.intents().spend_release(IntentKind::Stock, &key).await?;
                answered.push((key, outcome));
            }
        }
        tx.commit().await?;
        answered.iter().for_each(|(key, outcome)| self.log_doubt(IntentKind::Stock, key, outcome));
        Ok(())
    }

    /// Writes the same verdict to each open price row of a product.
    pub(super) async fn prices(&self, desired: &PriceIntent, verdict: &Verdict) -> Result<(), Error> {
        let rows = self.context.store.intents().tier_intents(&self.context.key, &desired.sku).await?;
        let open: Vec<TierIntent> = rows.into_iter().filter(TierIntent::is_open).collect();
        let verdicts = vec![verdict.clone(); open.len()];
        self.tiers(&desired.sku, &open, verdicts).await.map(drop)
    }

    /// Answers price rows, each with its own verdict. Returns the wait until the next attempt.
    pub(super) async fn tiers(
        &self,
        sku: &Sku,
        rows: &[TierIntent],
        verdicts: Vec<Verdict>,
    ) -> Result<Duration, Error> {
        let (mut retry_after, mut answered) = (Duration::ZERO, Vec::new());
        let mut tx = self.context.store.begin_answer(&self.context.lease).await?;
        for (row, verdict) in rows.iter().zip(verdicts) {
            retry_after = retry_after.max(verdict.retry_after().unwrap_or_default());
            let key = price_rows::key_in_table(sku, row);
            let Some(outcome) = self.outcome(IntentKind::Price, &key, &verdict) else { continue };
            // Do not repeat the answer that a row already has: it would look like a new request.
            if row.state == Some(outcome.state) && row.code == outcome.code {
                continue;
            }
            if tx.intents().answer_price(sku, row, &outcome).await? && is_final(&outcome) {
                tx.intents().spend_release(IntentKind::Price, &key).await?;
                answered.push((key, outcome));
            }
        }
        tx.commit().await?;
        answered.iter().for_each(|(key, outcome)| self.log_doubt(IntentKind::Price, key, outcome));
        Ok(retry_after)
    }

    /// Answers a command, unless its row already says the same.
    pub(super) async fn command(&self, command: &Command, verdict: &Verdict) -> Result<(), Error> {
        self.command_and_levels(command, verdict, &[]).await
    }

    /// Answers a command, unless its row already says the same, and opens levels anew in the same transaction.
    pub(super) async fn command_and_levels(
        &self,
        command: &Command,
        verdict: &Verdict,
        again: &[(Sku, SentLevel)],
    ) -> Result<(), Error> {
        let id = command.id.to_string();
        if !is_changed(command, verdict) {
            return Ok(());
        }
        let Some(outcome) = self.outcome(IntentKind::Command, &id, verdict) else { return Ok(()) };
        let mut tx = self.context.store.begin_answer(&self.context.lease).await?;
        let is_answered = tx.intents().answer_command(command, &outcome).await?;
        if is_answered && is_final(&outcome) {
            tx.intents().spend_release(IntentKind::Command, &id).await?;
        }
        for (sku, level) in again {
            if tx.intents().ask_for_level_again(sku, level).await? {
                let location = &level.location;
                tracing::info!(store = %self.context.key, %sku, %location, order = command.key, "a level that was sent before its goods were dispatched is looked at again");
            }
        }
        tx.commit().await?;
        if is_answered {
            self.log_doubt(IntentKind::Command, &id, &outcome);
        }
        Ok(())
    }

    /// Logs a row that has become doubtful: nobody but a person settles it.
    fn log_doubt(&self, desired: IntentKind, key: &str, outcome: &Outcome) {
        let Some((error, next_step)) = doubt(outcome) else { return };
        let (store, entity) = (&self.context.key, desired.as_str());
        let code = outcome.code.as_deref().unwrap_or_default();
        tracing::warn!(%store, entity, intent_id = key, code, error, next_step, "a row is doubtful");
    }

    /// Ends a command whose text is not read: it is too large, or no text.
    pub(super) async fn refuse_command(&self, id: i64, verdict: &Verdict) -> Result<(), Error> {
        let outcome = self.outcome(IntentKind::Command, &id.to_string(), verdict);
        let Some(outcome) = outcome else { return Ok(()) };
        let mut tx = self.context.store.begin_answer(&self.context.lease).await?;
        tx.intents().refuse_command(id, &outcome).await?;
        Ok(tx.commit().await?)
    }
}

/// Returns cause and next step of a row in doubt, in English and without the marketplace's own words: the next step has
/// the commands that settle the row. `None` for every other row.
fn doubt(outcome: &Outcome) -> Option<(String, String)> {
    let message = outcome.message.as_ref().filter(|_| outcome.state == PushState::Doubtful)?;
    let text = message.without_quotes();
    Some((text.to_string(), text.next(Locale::of(Language::English)).unwrap_or_default()))
}

/// The key of a level in `v_errors`, in releases and on the command line.
pub(super) fn key_in_table(level: &StockIntent) -> String {
    format!("{}/{}", level.sku, level.location)
}

/// Returns a row's name as the command line takes it: `stock A/1 --store loja`. The place of a number that the database
/// gives stays as it is.
fn row_name(desired: IntentKind, key: &str, store: &str) -> String {
    let name = next_step::row_name(desired.as_str(), key, Some(store));
    name.replace(&quoted(NUMBER), NUMBER)
}

/// Says whether a verdict adds anything to a command's row: a waiting command is checked often, with the same result.
fn is_changed(command: &Command, verdict: &Verdict) -> bool {
    match verdict {
        Verdict::Waiting(message, _) => {
            command.state != Some(PushState::Waiting) || command.code.as_deref() != Some(&message.code)
        }
        Verdict::Sent | Verdict::Unsettled(_) => command.state != Some(PushState::Sending),
        _ => true,
    }
}

/// Says whether a row is finished and its release spent. A row that waits, is held again, or is sent and may be sent
/// once more keeps its release.
fn is_final(outcome: &Outcome) -> bool {
    let open_states = [PushState::Held, PushState::Waiting, PushState::New, PushState::Sending];
    !open_states.contains(&outcome.state)
}

#[cfg(test)]
mod tests {
    use espelho_model::text;

    use super::*;
    use crate::plan::push::Message;

    #[test]
    fn a_row_is_named_as_a_shell_takes_it() {
        let name = |key| row_name(IntentKind::Stock, key, "loja");
        assert_eq!(name("A/1"), "stock A/1 --store loja");
        assert_eq!(name("A B/1"), "stock 'A B/1' --store loja");
        assert_eq!(name("it's/1"), "stock 'it'\\''s/1' --store loja");
        assert_eq!(name("-10/1"), "--store loja -- stock -10/1");
        assert_eq!(row_name(IntentKind::Command, NUMBER, "loja"), "command {id} --store loja");
    }

    #[test]
    fn a_doubtful_row_is_logged_with_the_commands_that_settle_it_and_no_other_row_is() {
        let row = row_name(IntentKind::Command, "7", "loja");
        let logged = |verdict: &Verdict| {
            doubt(
                &verdict
                    .outcome(&row, "loja", Locale::of(Language::Portuguese))
                    .unwrap_or_else(|| panic!("{verdict:?}")),
            )
        };
        let message = || Message::new("unprovable", text!("push-doubtful"));
        let (error, next_step) = logged(&Verdict::Doubtful(message())).unwrap();
        assert!(error.contains("nothing proves"), "{error}");
        for command in ["espelho retry command 7 --store loja", "espelho ignore command 7 --store loja"] {
            assert!(next_step.contains(command), "{next_step}");
        }
        assert_eq!(logged(&Verdict::Failed(message())), None);
        assert_eq!(logged(&Verdict::Done(None)), None);
    }

    #[test]
    fn a_release_is_spent_when_nothing_more_is_sent_for_the_row() {
        for &state in PushState::ALL {
            let is_open =
                matches!(state, PushState::Held | PushState::Waiting | PushState::New | PushState::Sending);
            assert_eq!(is_final(&Outcome::plain(state)), !is_open, "{state}");
        }
    }

    #[test]
    fn a_row_that_already_says_the_same_is_not_written_again() {
        let command = |state: PushState, code: Option<&str>| Command {
            id: 1,
            kind: "order.notes".to_owned(),
            key: "MP-1".to_owned(),
            data: String::new(),
            state: Some(state),
            code: code.map(str::to_owned),
            created_at: None,
        };
        let waiting = Verdict::Waiting(Message::new("a", text!("push-doubtful")), Duration::ZERO);
        assert!(!is_changed(&command(PushState::Waiting, Some("a")), &waiting));
        assert!(is_changed(&command(PushState::Waiting, Some("b")), &waiting), "another reason");
        assert!(is_changed(&command(PushState::New, None), &waiting));
        assert!(!is_changed(&command(PushState::Sending, None), &Verdict::Sent));
        assert!(!is_changed(&command(PushState::Sending, None), &Verdict::Unsettled(Duration::ZERO)));
        assert!(is_changed(&command(PushState::Waiting, Some("a")), &Verdict::Sent));
        assert!(is_changed(&command(PushState::Sending, None), &Verdict::Done(None)));
    }
}
