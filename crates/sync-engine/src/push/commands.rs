//! Commands: finds the handler of each kind, collects a command's effects so far, and settles effects whose answer was
//! lost.

use std::time::Duration;

use espelho_api_client::ApiRequest;
use espelho_model::{
    push::{CommandKind, PushState},
    text,
};
use espelho_store::{Command, Effect, EffectState, IntentKind, NewEffect};
use serde_json::Value;

use super::{
    Pusher,
    cause::{Cause, refused},
    journal::Intent,
};
use crate::plan::push::{
    Message, Settlement, Verdict,
    attempts::backoff_or_give_up,
    doubtful,
    evidence::{Evidence, write},
    invalid,
};

/// The context of one command while a worker handles it.
pub(crate) struct CommandContext<'a> {
    pub(crate) command: &'a Command,
    pub(crate) kind: CommandKind,
    /// The command's data; `null` where it has none.
    pub(crate) data: Value,
    /// The command's effects so far, in order.
    pub(crate) effects: Vec<Effect>,
    /// Whether a person released it from the guards.
    pub(crate) is_released: bool,
}

impl CommandContext<'_> {
    /// Returns number and fingerprint, for the journal.
    pub(crate) fn identity(&self) -> (i64, String) {
        (self.command.id, self.command.fingerprint())
    }

    /// Returns the intent that is checked once more before anything is sent.
    pub(crate) fn intent(&self) -> Intent<'_> {
        Intent::Command(self.command.id, self.command.fingerprint())
    }

    /// Returns the last confirmed effect of a kind.
    pub(crate) fn confirmed(&self, kind: &str) -> Option<&Effect> {
        self.effects.iter().rev().find(|effect| effect.kind == kind && effect.state == EffectState::Confirmed)
    }

    /// Builds an effect of this command, with the evidence that settles it if its answer is lost.
    pub(crate) fn effect<E: Evidence>(&self, request: &ApiRequest, evidence: &E) -> NewEffect {
        NewEffect { evidence: Some(write(evidence)), ..self.effect_without_evidence(E::KIND, request) }
    }

    /// Builds an effect that nothing can prove if its answer is lost.
    pub(crate) fn effect_without_evidence(&self, kind: &'static str, request: &ApiRequest) -> NewEffect {
        let (key, command) = (key_of(self.command), Some(self.identity()));
        NewEffect { key, kind, command, request: request.in_full(), evidence: None }
    }
}

/// Returns the key that a command reserves besides its own: the pricing of a product decides what its price steps mean.
pub(crate) fn conflicting_keys(command: &Command) -> Option<String> {
    let Command { kind, key, .. } = command;
    (CommandKind::parse(kind) == Some(CommandKind::ProductUpdate)).then(|| format!("prices/{key}"))
}

/// Returns the key of a command's subject. Commands with the same key run one after the other.
pub(crate) fn key_of(command: &Command) -> String {
    let Command { id, kind, key, .. } = command;
    match CommandKind::parse(kind) {
        Some(CommandKind::OrderStatus | CommandKind::OrderNotes | CommandKind::LabelsGenerate) => {
            format!("order/{key}")
        }
        Some(CommandKind::CampaignOptIn) => format!("campaign/{key}"),
        Some(CommandKind::PriceListUpdate) => format!("price_list/{key}"),
        Some(CommandKind::PriceListsSettings) => "price_lists".to_owned(),
        Some(CommandKind::ProductCreate | CommandKind::ProductUpdate | CommandKind::GalleryAdd) => {
            format!("product/{key}")
        }
        Some(CommandKind::PriceDeleteTier) => format!("prices/{key}"),
        Some(CommandKind::StockAdjust) => {
            let data: Value = serde_json::from_str(&command.data).unwrap_or_default();
            let location =
                data["location_id"].as_str().map_or_else(|| data["location_id"].to_string(), str::to_owned);
            format!("stock/{key}/{location}")
        }
        Some(CommandKind::ListingCreate | CommandKind::ListingPublish) => format!("listing/{key}"),
        Some(CommandKind::StorePageUpdate) => "store_page".to_owned(),
        Some(CommandKind::MediaUpload | CommandKind::PriceListCreate | CommandKind::WebhookTest) | None => {
            format!("command/{id}")
        }
    }
}

/// Returns the id in an answer, at whichever known place it stands.
pub(crate) fn id_in(answer: &str) -> Option<String> {
    let answer: Value = serde_json::from_str(answer).ok()?;
    let text = |value: &Value| match value {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    let names = ["product", "price_list", "image", "media", "item", "data"];
    text(&answer["id"]).or_else(|| text(&answer["item_id"])).or_else(|| {
        names.iter().find_map(|name| text(&answer[*name]["id"]).or_else(|| text(&answer[*name]["item_id"])))
    })
}

impl Pusher<'_> {
    /// Handles a command and answers it. Returns the wait until the next attempt.
    pub(super) async fn run_command(&self, command: &Command) -> Result<Duration, Cause> {
        // The command may have waited in the queue, and somebody may have withdrawn it meanwhile.
        let (store, key) = (&self.context.store, &self.context.key);
        if !store.commands().is_command_open(key, command.id, &command.fingerprint()).await? {
            return Ok(Duration::ZERO);
        }
        let verdict = self.handle_command(command).await?;
        self.answer_if_changed(command, &verdict).await?;
        let is_over = verdict.retry_after().is_none();
        if is_over {
            let mut state = self.state();
            state.begun.remove(&command.id);
            state.files_awaited.remove(&command.id);
        }
        if let Verdict::Failed(message) | Verdict::Doubtful(message) | Verdict::Held(message) = &verdict {
            let (code, error) = (&message.code, &message.text);
            tracing::warn!(store = %self.context.key, command = command.id, kind = command.kind, code, %error, "command not completed");
        }
        Ok(verdict.retry_after().unwrap_or_default())
    }

    /// Writes a verdict to a command's row, unless the row already says the same.
    pub(super) async fn answer_if_changed(&self, command: &Command, verdict: &Verdict) -> Result<(), Cause> {
        match self.is_changed(command, verdict) {
            true => self.answer(command, verdict).await,
            false => Ok(()),
        }
    }

    /// Says whether a verdict adds anything to the row: a waiting command is checked often, with the same result.
    fn is_changed(&self, command: &Command, verdict: &Verdict) -> bool {
        match verdict {
            Verdict::Waiting(message, _) => {
                command.state != Some(PushState::Waiting) || command.code.as_deref() != Some(&message.code)
            }
            Verdict::Sent | Verdict::Unsettled(_) => command.state != Some(PushState::Sending),
            _ => true,
        }
    }

    async fn handle_command(&self, command: &Command) -> Result<Verdict, Cause> {
        let Some(kind) = CommandKind::parse(&command.kind) else {
            return Ok(Verdict::Failed(unknown_kind(&command.kind)));
        };
        let data = match command.data.trim() {
            "" => Value::Null,
            text => match serde_json::from_str(text) {
                Ok(data) => data,
                Err(error) => {
                    return Ok(Verdict::Failed(invalid(text!(
                        "value-not-json",
                        problem = error.to_string()
                    ))));
                }
            },
        };
        let (store, key) = (&self.context.store, &self.context.key);
        let effects = store.journal().effects_of_command(key, command.id, &command.fingerprint()).await?;
        let released = store.releases().release_of(key, IntentKind::Command, &command.id.to_string()).await?;
        let is_released = released.is_some_and(|value| value == command.fingerprint());
        let mut cx = CommandContext { command, kind, data, effects, is_released };
        if let Some(verdict) = self.settle_all(&mut cx).await? {
            return Ok(verdict);
        }
        if let Some(verdict) = backoff_or_give_up(cx.effects.iter().rev(), self.context.clock.now()) {
            return Ok(verdict);
        }
        match self.dispatch_kind(&cx).await {
            // A refused read would be refused again.
            Err(Cause::Api(error)) => refused(error),
            other => other,
        }
    }

    /// Says whether to back off or give up, when a level or prices were sent since they were written and had no effect.
    pub(super) async fn backoff_for(
        &self,
        key: &str,
        is_for: impl Fn(&Effect) -> bool,
    ) -> Result<Option<Verdict>, Cause> {
        let effects = self.context.store.journal().effects_on(&self.context.key, key).await?;
        Ok(backoff_or_give_up(effects.iter().filter(|effect| is_for(effect)), self.context.clock.now()))
    }

    async fn dispatch_kind(&self, cx: &CommandContext<'_>) -> Result<Verdict, Cause> {
        match cx.kind {
            CommandKind::OrderStatus => self.move_order(cx).await,
            CommandKind::OrderNotes => self.set_notes(cx).await,
            CommandKind::LabelsGenerate => self.generate_labels(cx).await,
            CommandKind::CampaignOptIn => self.join_campaign(cx).await,
            CommandKind::PriceListCreate => self.create_price_list(cx).await,
            CommandKind::PriceListUpdate => self.update_price_list(cx).await,
            CommandKind::PriceListsSettings => self.switch_price_lists(cx).await,
            CommandKind::ProductCreate => self.create_product(cx).await,
            CommandKind::ProductUpdate => self.update_product(cx).await,
            CommandKind::StockAdjust => self.adjust_stock(cx).await,
            CommandKind::PriceDeleteTier => self.delete_tier(cx).await,
            CommandKind::MediaUpload => self.upload_media(cx).await,
            CommandKind::GalleryAdd => self.add_to_gallery(cx).await,
            CommandKind::ListingCreate => self.create_listing(cx).await,
            CommandKind::ListingPublish => self.publish_listing(cx).await,
            CommandKind::StorePageUpdate => self.update_store_page(cx).await,
            CommandKind::WebhookTest => self.test_webhook(cx).await,
        }
    }

    /// Settles the command's effects. Returns a verdict while one is unsettled or doubtful; nothing when the command
    /// may go on.
    async fn settle_all(&self, cx: &mut CommandContext<'_>) -> Result<Option<Verdict>, Cause> {
        let is_open = |effect: &&Effect| matches!(effect.state, EffectState::Planned | EffectState::Sent);
        for open in cx.effects.iter().filter(is_open) {
            let settled = match open.state {
                EffectState::Planned => Settlement::DidNotHappen { how: "it never left" },
                _ => self.settle_sent(open).await?,
            };
            self.note_settlement(open, &settled).await?;
            match settled {
                Settlement::NotYet(wait) => return Ok(Some(Verdict::Unsettled(wait))),
                Settlement::Unprovable(message) => return Ok(Some(Verdict::Doubtful(message))),
                Settlement::Happened { .. } | Settlement::DidNotHappen { .. } => (),
            }
        }
        if cx.effects.iter().any(|effect| is_open(&effect)) {
            let (id, fingerprint) = cx.identity();
            cx.effects =
                self.context.store.journal().effects_of_command(&self.context.key, id, &fingerprint).await?;
        }
        // Only a person ends a doubt (`espelho retry`); the effect is then no longer doubtful.
        let doubt = cx.effects.iter().rev().find(|effect| effect.state == EffectState::Doubtful);
        Ok(doubt.map(|doubt| Verdict::Doubtful(doubtful(doubt.code.as_deref().unwrap_or("unprovable")))))
    }
}

fn unknown_kind(kind: &str) -> Message {
    let all: Vec<&str> = CommandKind::ALL.iter().map(|kind| kind.as_str()).collect();
    Message::new("unknown_kind", text!("push-unknown-kind", kind = kind, all = all.join(", ")))
}
