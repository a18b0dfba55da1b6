//! Commands: collects a command's effects so far, settles those whose answer was lost, and runs the handler of its kind.

use std::{sync::Arc, time::Duration};

use espelho_model::{
    push::{CommandKind, PushState},
    text,
};
use espelho_store::{Command, Effect, EffectState, IntentKind, OpenCommand};
use serde_json::Value;
use tracing::{Instrument as _, Span};

use super::{
    command_context::CommandContext, journal::Journal, kinds::handler, refused::refused,
    row_answers::RowAnswers, services::Services, settlements::Settlements, stock::StockPusher,
};
use crate::{
    Error, StoreContext, order_trace,
    plan::push::{
        Message, Settlement, Verdict, attempts::backoff_or_give_up, in_doubt, invalid, jobs::dispatches_goods,
    },
};

/// Carries out the commands of one store.
pub(crate) struct CommandHandlers<'c> {
    context: &'c StoreContext,
    journal: Arc<Journal<'c>>,
    answers: Arc<RowAnswers<'c>>,
    settlements: Arc<Settlements<'c>>,
    services: Arc<Services<'c>>,
    stock: Arc<StockPusher<'c>>,
}

impl<'c> CommandHandlers<'c> {
    /// Creates what is common to all kinds of commands. The handlers work with `services`. `stock` sets levels again after
    /// a dispatch.
    pub(super) fn new(
        context: &'c StoreContext,
        journal: Arc<Journal<'c>>,
        answers: Arc<RowAnswers<'c>>,
        settlements: Arc<Settlements<'c>>,
        services: Arc<Services<'c>>,
        stock: Arc<StockPusher<'c>>,
    ) -> Self {
        Self { context, journal, answers, settlements, services, stock }
    }

    /// Handles a command and answers it. Returns the wait until the next attempt.
    pub(super) async fn run(&self, row: &OpenCommand) -> Result<Duration, Error> {
        self.run_in_span(row).instrument(order_trace::command(&self.context.key, row)).await
    }

    async fn run_in_span(&self, row: &OpenCommand) -> Result<Duration, Error> {
        // The command may have waited in the queue, and somebody may have withdrawn it meanwhile.
        let Some(mut command) = self.read(row).await? else { return Ok(Duration::ZERO) };
        if is_no_text(&command.data) {
            let unreadable = Verdict::Failed(Message::new("unreadable", text!("push-unreadable")));
            self.answers.refuse_command(command.id, &unreadable).await?;
            return Ok(Duration::ZERO);
        }
        let verdict = self.handle_command(&command).await?;
        Span::current().record("outcome", outcome_of(&verdict));
        let again = match matches!(verdict, Verdict::Done(_)) && dispatches_goods(row) {
            true => self.stock.levels_ahead_of(row).await?,
            false => Vec::new(),
        };
        if self.journal.take_sending(command.id) {
            command.state = Some(PushState::Sending);
        }
        self.answers.command_and_levels(&command, &verdict, &again).await?;
        let is_over = verdict.retry_after().is_none();
        if is_over {
            self.services.labels.end(command.id);
        }
        // A doubtful one has its own line, with the commands that settle it.
        if let Verdict::Failed(message) | Verdict::Held(message) = &verdict {
            let (code, error) = (&message.code, message.text.without_quotes());
            tracing::warn!(store = %self.context.key, command = command.id, kind = command.kind, code, %error, "command not completed");
        }
        Ok(verdict.retry_after().unwrap_or_default())
    }

    /// Reads all of a command, unless it was changed or withdrawn since its row was read.
    async fn read(&self, row: &OpenCommand) -> Result<Option<Command>, Error> {
        let command = self.context.store.commands().read(&self.context.key, row.id).await?;
        Ok(command.filter(|command| row.is_same_wording(command)))
    }

    /// Writes to a command's row what keeps it from being carried out.
    pub(super) async fn report(&self, row: &OpenCommand, verdict: &Verdict) -> Result<(), Error> {
        match self.read(row).await? {
            Some(command) => self.answers.command(&command, verdict).await,
            None => Ok(()),
        }
    }

    async fn handle_command(&self, command: &Command) -> Result<Verdict, Error> {
        let Some(kind) = CommandKind::parse(&command.kind) else {
            return Ok(Verdict::Failed(unknown_kind(&command.kind)));
        };
        let handler = handler(kind);
        let data = match command.data.trim() {
            "" => Value::Null,
            text => match serde_json::from_str(text) {
                Ok(data) => data,
                Err(error) => {
                    return Ok(Verdict::Failed(invalid(text!(
                        "value-not-json",
                        line = error.line(),
                        column = error.column()
                    ))));
                }
            },
        };
        let (store, key) = (&self.context.store, &self.context.key);
        let effects = store.journal().effects_of_command(key, command.id, &command.fingerprint()).await?;
        let released = store.releases().release_of(key, IntentKind::Command, &command.id.to_string()).await?;
        let is_released = released.is_some_and(|value| value == command.fingerprint());
        let mut cx = CommandContext {
            command,
            kind,
            subject: handler.subject_key(command),
            data,
            effects,
            is_released,
        };
        if let Some(verdict) = self.settle_all(&mut cx).await? {
            return Ok(verdict);
        }
        if let Some(verdict) = backoff_or_give_up(cx.effects.iter().rev(), self.context.clock.now()) {
            return Ok(verdict);
        }
        if let Some(problem) = cx.wrong_field(handler.fields()) {
            return Ok(Verdict::Failed(invalid(problem)));
        }
        match handler.execute(&self.services, &cx).await {
            // A refused read would be refused again.
            Err(Error::Api(error)) => refused(error),
            other => other,
        }
    }

    /// Settles the command's effects. Returns a verdict while one is unsettled or doubtful; nothing when the command
    /// may go on.
    async fn settle_all(&self, cx: &mut CommandContext<'_>) -> Result<Option<Verdict>, Error> {
        let is_open = |effect: &&Effect| matches!(effect.state, EffectState::Planned | EffectState::Sent);
        for open in cx.effects.iter().filter(is_open) {
            let settled = match open.state {
                EffectState::Planned => Settlement::DidNotHappen { how: "it never left" },
                _ => self.settlements.settle_sent(open).await?,
            };
            self.journal.note_settlement(open, &settled).await?;
            if let Some(verdict) = settled.verdict() {
                return Ok(Some(verdict));
            }
        }
        if cx.effects.iter().any(|effect| is_open(&effect)) {
            let (id, fingerprint) = cx.identity();
            cx.effects =
                self.context.store.journal().effects_of_command(&self.context.key, id, &fingerprint).await?;
        }
        // Only a person ends a doubt (`espelho retry`); the effect is then no longer doubtful.
        let doubt = cx.effects.iter().rev().find(|effect| effect.state == EffectState::Doubtful);
        Ok(doubt.map(|doubt| Verdict::Doubtful(in_doubt::of_effect(doubt))))
    }
}

/// The word for a verdict in traces: the code where there is one.
fn outcome_of(verdict: &Verdict) -> &str {
    match verdict {
        Verdict::Done(_) => "done",
        Verdict::Sent | Verdict::Unsettled(_) => "sent",
        Verdict::Requeue | Verdict::RetryAfter(_) => "again",
        Verdict::DoneBut(message)
        | Verdict::Waiting(message, _)
        | Verdict::Failed(message)
        | Verdict::Held(message)
        | Verdict::Doubtful(message) => &message.code,
    }
}

/// Says whether data is bytes that are no UTF-8: reading marks them.
fn is_no_text(data: &str) -> bool {
    data.starts_with('\u{fffd}')
}

fn unknown_kind(kind: &str) -> Message {
    let all: Vec<&str> = CommandKind::ALL.iter().map(|kind| kind.as_str()).collect();
    Message::new("unknown_kind", text!("push-unknown-kind", kind = kind, all = all.join(", ")))
}
