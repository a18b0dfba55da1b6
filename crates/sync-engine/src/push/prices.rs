//! Prices (`erp_prices`, `price.delete_tier`): reads the current tiers, plans the steps, records each step in the
//! journal, and reads the result. A lost step is not sent again: the next attempt plans from the tiers of that time.

use std::{sync::Arc, time::Duration};

use espelho_api_client::resources::products::ProductDetail;
use espelho_model::{ProductId, push::PushState, text};
use espelho_store::{Effect, IntentKind, NewEffect, PriceIntent, TierIntent};

use super::{
    journal::{ExecutionResult, Intent, Journal},
    options::PushOptions,
    price_requests::{current_tiers, key_of, mode_of, request_of},
    products::Products,
    refused::refused,
    row_answers::RowAnswers,
};
use crate::{
    Error, StoreContext,
    plan::{
        push::{
            Message, Settlement, Verdict,
            attempts::backoff_or_give_up,
            evidence::{Evidence as _, write},
            invalid,
            own_writes::{may_show_an_earlier_step, tiers_to_plan_from},
            price_rows::{
                PriceChange, RefusedStep, held_by_price_guard, held_message, is_asked, is_released,
                is_released_at, merge_tiers, tier_of, verdicts_after_refusal,
            },
            price_step::{
                self, StepEvidence, accepted, is_desired, is_overwritten, is_reverted_repeatedly,
                may_be_overwritten_for, taken_for,
            },
            price_zero::{against_rules, has_zero, is_zero},
            read_after_write::{FIRST_READING, read_again_in},
        },
        tiers::{Step, Tier, holds, plan},
    },
};

/// Carries out the price rows of one store, and executes planned steps for commands.
pub(crate) struct PricePusher<'c> {
    context: &'c StoreContext,
    options: &'c PushOptions,
    journal: Arc<Journal<'c>>,
    answers: Arc<RowAnswers<'c>>,
    products: Arc<Products<'c>>,
}

impl<'c> PricePusher<'c> {
    /// Creates the pusher of prices.
    pub(super) fn new(
        context: &'c StoreContext,
        options: &'c PushOptions,
        journal: Arc<Journal<'c>>,
        answers: Arc<RowAnswers<'c>>,
        products: Arc<Products<'c>>,
    ) -> Self {
        Self { context, options, journal, answers, products }
    }

    /// Applies a product's prices, and answers its rows.
    pub(super) async fn push(&self, desired: &PriceIntent) -> Result<Duration, Error> {
        let rows = self.context.store.intents().tier_intents(&self.context.key, &desired.sku).await?;
        let open: Vec<TierIntent> = rows.iter().filter(|row| is_asked(row)).cloned().collect();
        let verdicts = self.prices(desired, &rows, &open).await?;
        self.answers.tiers(&desired.sku, &open, verdicts).await
    }

    /// Returns the verdict for each open row.
    async fn prices(
        &self,
        desired: &PriceIntent,
        rows: &[TierIntent],
        open: &[TierIntent],
    ) -> Result<Vec<Verdict>, Error> {
        let all = |verdict: Verdict| Ok(vec![verdict; open.len()]);
        let Some(product) = &desired.product else {
            return all(self.products.unknown_sku(desired.sku.as_str()).await?);
        };
        if let Some(shared) = self.products.shared_sku(desired.sku.as_str()).await? {
            return all(shared);
        }
        if rows.iter().any(|row| tier_of(row).is_err()) {
            let own = |row: &TierIntent| match tier_of(row) {
                Err(problem) => Verdict::Failed(invalid(problem)),
                Ok(_) => Verdict::Waiting(waits_for_other(), Duration::from_secs(60)),
            };
            return Ok(open.iter().map(own).collect());
        }
        let detail = match self.products.read(product).await {
            Ok(detail) => detail,
            Err(Error::Api(error)) => return all(refused(error)?),
            Err(cause) => return Err(cause),
        };
        let (mode, current) = (mode_of(&detail), current_tiers(&detail));
        let released = self.context.store.releases().releases(&self.context.key, IntentKind::Price).await?;
        let floor = self.options.floors.get(desired.sku.as_str()).copied();
        let asked: Vec<Tier> =
            rows.iter().filter(|row| is_desired(row)).filter_map(|row| tier_of(row).ok()).collect();
        let named: Vec<i64> = rows.iter().map(|row| row.min_quantity).collect();
        let tiers = merge_tiers(&asked, &current, &named, self.options.remove_missing_tiers);
        let change = PriceChange { mode, current: &current, desired: &tiers, rows: open };
        let holds_row = |row: &TierIntent| {
            let (held, price) = held_by_price_guard(&self.options.guards, floor, row, &change)?;
            let may_pass = is_released_at(&desired.sku, row, &released, &held, price);
            (!may_pass).then(|| held_message(desired.sku.as_str(), &held, price))
        };
        let held: Vec<Option<Message>> = open.iter().map(holds_row).collect();
        let is_held = |row: &TierIntent| row.state == Some(PushState::Held);
        if held.iter().any(Option::is_some) || rows.iter().any(is_held) {
            let verdict = |message: Option<Message>| match message {
                Some(message) => Verdict::Held(message),
                None => Verdict::Waiting(waits_for_held(), Duration::from_secs(60)),
            };
            return Ok(held.into_iter().map(verdict).collect());
        }
        let is_for = |effect: &Effect| taken_for(effect) == Some(desired.revision);
        let effects =
            self.context.store.journal().effects_on(&self.context.key, &key_of(product, &detail)).await?;
        let backoff =
            backoff_or_give_up(effects.iter().filter(|effect| is_for(effect)), self.context.clock.now());
        if let Some(verdict) = backoff {
            return all(verdict);
        }
        let steps = requests_of(&plan(mode, &current, &tiers).unwrap_or_default(), product, &detail);
        // The requests of these rows may not show yet. A row that is not being sent asks anew.
        let is_sending = |row: &TierIntent| !row.is_open() || row.state == Some(PushState::Sending);
        let sent: Vec<Effect> = match open.iter().all(is_sending) {
            true => effects.iter().filter(|effect| is_for(effect)).cloned().collect(),
            false => Vec::new(),
        };
        let is_asked_anew = accepted(&steps, &sent).is_none()
            && !open.iter().any(|row| is_released(&desired.sku, row, &released));
        if is_asked_anew && is_reverted_repeatedly(&steps, &effects, self.context.clock.now()) {
            return all(Verdict::Held(written_back()));
        }
        let intent = Intent::Prices(&desired.sku, rows, desired.revision);
        let asked: Vec<u32> = asked.iter().map(|tier| tier.min_quantity).collect();
        match self.apply_tiers(product, &detail, &tiers, &asked, (None, sent.as_slice()), &intent).await? {
            Ok(verdict) => all(verdict),
            Err(refused) => Ok(verdicts_after_refusal(open, &refused)),
        }
    }

    /// Plans the steps from the current tiers to the desired ones, and executes them: for a command, and unless those
    /// `sent` for the same revision were accepted and do not show yet. `asked` are the tiers that the intent is about.
    /// The inner `Err` is the step that was refused.
    pub(super) async fn apply_tiers(
        &self,
        product: &ProductId,
        detail: &ProductDetail,
        desired: &[Tier],
        asked: &[u32],
        (command, sent): (Option<(i64, String)>, &[Effect]),
        intent: &Intent<'_>,
    ) -> Result<Result<Verdict, RefusedStep>, Error> {
        let (mode, current) = (mode_of(detail), current_tiers(detail));
        let planned = plan(mode, &current, desired);
        let (journal, key) = (self.context.store.journal(), key_of(product, detail));
        let effects = journal.effects_on(&self.context.key, &key).await?;
        let from = tiers_to_plan_from(mode, &current, (desired, asked), &effects, self.context.clock.now());
        // The reading decides whether the rules permit them.
        let steps = match planned {
            Ok(steps) => plan(mode, &from, desired).unwrap_or(steps),
            Err(forbidden) => return Ok(Ok(Verdict::Failed(against_rules(&forbidden, &current)))),
        };
        // A lost step may still be carried out after these.
        let now = self.context.clock.now();
        let done = match may_be_overwritten_for(&effects, desired, now) {
            Some(left) => Verdict::Unsettled(left),
            None => Verdict::Done(None),
        };
        if steps.is_empty() {
            return Ok(Ok(done));
        }
        let had_zero = has_zero(&current);
        let accepted = accepted(&requests_of(&steps, product, detail), sent);
        if let Some(last) = accepted.filter(|last| !is_overwritten(last, &effects, &current, now)) {
            return Ok(Ok(match read_again_in(last, now) {
                Some(wait) => Verdict::Unsettled(wait),
                None if had_zero => Verdict::Failed(is_zero()),
                None => Verdict::DoneBut(not_as_sent()),
            }));
        }
        for step in steps {
            let request = match request_of(step, product, detail) {
                Ok(request) => request,
                Err(error) => {
                    let now = self.products.read(product).await?;
                    return Ok(Err(refused_step(step, Verdict::Failed(invalid(error.text())), &now)));
                }
            };
            let effect = NewEffect {
                key: key.clone(),
                kind: StepEvidence::KIND,
                command: command.clone(),
                request: request.in_full(),
                evidence: Some(write(&StepEvidence::of(step, product.as_str(), revision_of(intent)))),
            };
            match self.journal.execute_once(effect, intent, &request).await? {
                ExecutionResult::Applied(_) => (),
                ExecutionResult::Refused(error) => {
                    let verdict = refused(error);
                    // An earlier step that was lost and settled as not happened may have happened since.
                    let now = self.products.read(product).await?;
                    let tiers = current_tiers(&now);
                    if holds(mode_of(&now), &tiers, desired) {
                        return Ok(Ok(if has_zero(&tiers) { Verdict::Failed(is_zero()) } else { done }));
                    }
                    return Ok(Err(refused_step(step, verdict?, &now)));
                }
                ExecutionResult::Unknown => return Ok(Ok(Verdict::RetryAfter(Duration::ZERO))),
            }
        }
        let after = self.products.read(product).await?;
        let tiers = current_tiers(&after);
        // One that was there before may be what the reading still shows.
        if has_zero(&tiers) && !had_zero {
            return Ok(Ok(Verdict::Failed(is_zero())));
        }
        Ok(Ok(match holds(mode_of(&after), &tiers, desired) {
            true if has_zero(&tiers) => Verdict::Failed(is_zero()),
            true => done,
            // Every step was executed; another attempt reads the product again.
            false => Verdict::Unsettled(FIRST_READING),
        }))
    }

    /// Settles a step whose answer was lost: reads the product's tiers.
    pub(super) async fn settle(&self, effect: &Effect, evidence: &StepEvidence) -> Result<Settlement, Error> {
        let detail = self.products.read(&ProductId::new(&evidence.product)).await?;
        let mut earlier = self.context.store.journal().effects_on(&self.context.key, &effect.key).await?;
        earlier.retain(|other| other.id < effect.id);
        let is_behind = may_show_an_earlier_step(evidence, &earlier, self.context.clock.now());
        Ok(price_step::settle(evidence, &current_tiers(&detail), is_behind))
    }
}

/// Returns the revision of the rows that ask for a step.
fn revision_of(intent: &Intent<'_>) -> Option<i64> {
    if let Intent::Prices(.., revision) = intent { Some(*revision) } else { None }
}

/// Returns the requests of planned steps, as the journal has them.
fn requests_of(steps: &[Step], product: &ProductId, detail: &ProductDetail) -> Vec<String> {
    let requests = steps.iter().filter_map(|step| request_of(*step, product, detail).ok());
    requests.map(|request| request.in_full()).collect()
}

fn refused_step(step: Step, verdict: Verdict, now: &ProductDetail) -> RefusedStep {
    let (mode, current) = (mode_of(now), current_tiers(now));
    RefusedStep { min_quantity: step.min_quantity(), verdict, mode, current }
}

fn not_as_sent() -> Message {
    Message::new("not_as_sent", text!("push-price-not-as-sent"))
}

fn written_back() -> Message {
    Message::new("written_back", text!("push-price-written-back"))
}

fn waits_for_other() -> Message {
    Message::new("tier_invalid", text!("push-tier-invalid"))
}

fn waits_for_held() -> Message {
    Message::new("tier_held", text!("push-tier-held"))
}
