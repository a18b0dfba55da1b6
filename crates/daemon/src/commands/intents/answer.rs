//! The words for the outcome of an intent. Pure.

use espelho_model::{
    push::PushState,
    text,
    text::{Arg, Locale, Text},
};
use espelho_store::Answer;
use rust_decimal::Decimal;

use crate::exit;

/// A known cause of an intent that is still under way, in the reader's language.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Delay {
    /// `paused`, or the alarm's code.
    pub(super) code: String,
    pub(super) cause: String,
    pub(super) next: String,
}

/// The wait that only a person can end: the command does not wait for it.
const WAITING_INVOICE: &str = "waiting_invoice";

/// The change that an intent makes, and the value before it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Deed {
    Level { sku: String, location: String, before: Option<Decimal>, after: Decimal },
    Movement { sku: String, location: String, delta: Decimal },
    Price { sku: String, min_quantity: u32, before: Option<Decimal>, after: Decimal },
    Status { order: String, status: String },
    Notes { order: String },
    Labels { order: String },
    Campaign { campaign: String, listings: usize },
    File { rows: usize },
    TestDelivery,
}

/// The outcome of an intent.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Became {
    /// The command did not wait.
    Written,
    /// The service does not run.
    ServiceStopped,
    /// Its row, as it was when the wait ended.
    Row(Answer),
    /// The rows of a file: how many are done, open, and refused.
    Rows { done: usize, open: usize, refused: usize },
    /// The marketplace accepted the request for a test delivery.
    Tested(Arrival),
}

/// The end of a test delivery while we waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    /// It arrived.
    Arrived,
    /// A delivery arrived, and its signature was refused.
    Refused,
    /// None arrived.
    Missing,
}

/// The report on an outcome.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Spoken {
    pub(super) mark: char,
    pub(super) text: Text,
    /// The next step that the row itself names.
    pub(super) hint: Option<String>,
    pub(super) code: u8,
}

impl Spoken {
    /// Adds the known cause of a delay, with its next step.
    #[must_use]
    pub(super) fn delayed_by(self, Delay { cause, next, .. }: &Delay) -> Self {
        let text = text!("intents-delayed", told = self.text, cause = cause);
        Self { text, hint: Some(next.clone()).filter(|next| !next.is_empty()), ..self }
    }

    /// Returns the lines for people.
    pub(super) fn lines(&self, locale: Locale) -> String {
        let next = self.text.next(locale).or_else(|| {
            self.hint.as_ref().map(|hint| text!("intents-next-step", step = hint.as_str()).message(locale))
        });
        let next = next.map(|next| format!("\n  {next}")).unwrap_or_default();
        format!("{} {}{next}", self.mark, self.text.message(locale))
    }
}

/// Whether a row is answered as far as waiting for it makes sense.
pub(super) fn is_answered(answer: &Answer) -> bool {
    match answer.state {
        Some(PushState::New | PushState::Sending) => false,
        Some(PushState::Waiting) => answer.code.as_deref() == Some(WAITING_INVOICE),
        _ => true,
    }
}

/// Reports the outcome of an intent.
pub(super) fn spoken(deed: &Deed, became: &Became, command: Option<i64>) -> Spoken {
    let plain = |mark, text, code| Spoken { mark, text, hint: None, code };
    match became {
        Became::Written => plain('✓', written(deed, command), exit::COMPLETE),
        Became::ServiceStopped => {
            plain('…', text!("intents-service-stopped", subject = subject(deed)), exit::COMPLETE)
        }
        Became::Rows { done, open, refused } => {
            let (mark, code) = match (open, refused) {
                (_, 1..) => ('✗', exit::PARTIAL),
                (1.., _) => ('…', exit::COMPLETE),
                _ => ('✓', exit::COMPLETE),
            };
            let rows = done + open + refused;
            let text = match refused {
                0 => text!("intents-rows", rows = rows, done = *done, open = *open),
                _ => {
                    text!("intents-rows-refused", rows = rows, done = *done, open = *open, refused = *refused)
                }
            };
            plain(mark, text, code)
        }
        Became::Row(answer) => of_row(deed, answer),
        Became::Tested(Arrival::Arrived) => {
            plain('✓', text!("intents-test-delivery-arrived"), exit::COMPLETE)
        }
        Became::Tested(Arrival::Refused) => plain('✗', text!("intents-test-delivery-refused"), exit::PARTIAL),
        Became::Tested(Arrival::Missing) => plain('!', text!("intents-test-delivery-missing"), exit::PARTIAL),
    }
}

fn of_row(deed: &Deed, answer: &Answer) -> Spoken {
    let subject = || subject(deed);
    let reason = answer.error.clone().unwrap_or_default();
    let (mark, text, code) = match answer.state {
        Some(PushState::Done) => ('✓', done(deed), exit::COMPLETE),
        Some(PushState::Waiting) if answer.code.as_deref() == Some(WAITING_INVOICE) => {
            ('…', text!("intents-waiting-invoice", subject = subject()), exit::COMPLETE)
        }
        Some(PushState::Waiting) => {
            ('…', text!("intents-waiting", subject = subject(), reason = reason), exit::COMPLETE)
        }
        Some(PushState::Failed) => {
            ('✗', text!("intents-failed", subject = subject(), reason = reason), exit::FAILED)
        }
        Some(PushState::Held) => {
            ('!', text!("intents-held", subject = subject(), reason = reason), exit::GUARD)
        }
        Some(PushState::Doubtful) => {
            ('!', text!("intents-doubtful", subject = subject(), reason = reason), exit::PARTIAL)
        }
        Some(PushState::Ignored) => ('–', text!("intents-ignored", subject = subject()), exit::COMPLETE),
        Some(PushState::Superseded) => {
            ('–', text!("intents-superseded", subject = subject()), exit::COMPLETE)
        }
        Some(PushState::New | PushState::Sending) | None => {
            ('…', text!("intents-under-way", subject = subject()), exit::COMPLETE)
        }
    };
    let is_over = matches!(answer.state, Some(PushState::Failed | PushState::Held | PushState::Doubtful));
    Spoken { mark, text, hint: answer.hint.clone().filter(|_| is_over), code }
}

fn done(deed: &Deed) -> Text {
    match deed.clone() {
        Deed::Level { sku, location, before: Some(before), after } if before != after => text!(
            "intents-level-done",
            sku = sku,
            location = location,
            before = Arg::Quantity(before),
            after = Arg::Quantity(after)
        ),
        Deed::Level { sku, location, after, .. } => {
            text!("intents-level-is", sku = sku, location = location, after = Arg::Quantity(after))
        }
        Deed::Movement { sku, location, delta } => {
            let sign = if delta > Decimal::ZERO { "+" } else { "" };
            let delta = Arg::Quantity(delta);
            text!("intents-movement-done", sku = sku, location = location, sign = sign, delta = delta)
        }
        Deed::Price { sku, min_quantity, before: Some(before), after } if before != after => text!(
            "intents-price-done",
            sku = sku,
            from = min_quantity,
            before = Arg::Money(before),
            after = Arg::Money(after)
        ),
        Deed::Price { sku, min_quantity, after, .. } => {
            text!("intents-price-is", sku = sku, from = min_quantity, after = Arg::Money(after))
        }
        Deed::Status { order, status } => {
            text!("intents-status-done", order = order, status = text!("explain-status", status = status))
        }
        Deed::Notes { order } => text!("intents-notes-done", order = order),
        Deed::Labels { order } => text!("intents-labels-done", order = order),
        Deed::Campaign { campaign, listings } => {
            text!("intents-campaign-done", campaign = campaign, listings = listings)
        }
        Deed::File { rows } => text!("intents-rows-written", rows = rows),
        Deed::TestDelivery => text!("intents-test-delivery-done"),
    }
}

fn written(deed: &Deed, command: Option<i64>) -> Text {
    match (deed, command) {
        (Deed::File { rows }, _) => text!("intents-rows-written", rows = *rows),
        (Deed::TestDelivery, Some(command)) => {
            text!("intents-test-delivery-not-awaited", command = command.to_string())
        }
        (_, Some(command)) => {
            text!("intents-command-written", subject = subject(deed), command = command.to_string())
        }
        _ => text!("intents-written", subject = subject(deed)),
    }
}

fn subject(deed: &Deed) -> Text {
    match deed.clone() {
        Deed::Level { sku, location, .. } | Deed::Movement { sku, location, .. } => {
            text!("intents-at", sku = sku, location = location)
        }
        Deed::Price { sku, .. } => text!("intents-sku", sku = sku),
        Deed::Status { order, .. } | Deed::Notes { order } | Deed::Labels { order } => {
            text!("intents-order", order = order)
        }
        Deed::Campaign { campaign, .. } => text!("intents-campaign", campaign = campaign),
        Deed::File { rows } => text!("intents-file", rows = rows),
        Deed::TestDelivery => text!("intents-test-delivery"),
    }
}

#[cfg(test)]
mod tests {
    use espelho_model::text::Language;

    use super::*;

    fn level(before: Option<i64>) -> Deed {
        let (sku, location) = ("CAN-01".to_owned(), "Depósito principal".to_owned());
        Deed::Level { sku, location, before: before.map(Decimal::from), after: Decimal::from(7) }
    }

    fn row(state: PushState, code: &str) -> Became {
        let text = |text: &str| Some(text.to_owned());
        let (state, updated_at) = (Some(state), None);
        Became::Row(Answer { state, code: text(code), error: text("causa"), hint: text("passo"), updated_at })
    }

    #[test]
    fn every_end_has_its_mark_words_and_exit_code() {
        use PushState::{Doubtful, Failed, Held, New, Waiting};
        let order = || Deed::Status { order: "77".into(), status: "preparing".into() };
        let decimal = |text: &str| text.parse::<Decimal>().unwrap();
        let price = Deed::Price {
            sku: "CAN-01".into(),
            min_quantity: 1,
            before: Some(decimal("20")),
            after: decimal("19.9"),
        };
        let movement = Deed::Movement { sku: "CAN-01".into(), location: "Loja".into(), delta: decimal("-2") };
        let done = || row(PushState::Done, "");
        for (deed, became, words, code) in [
            (level(Some(47)), done(), "✓ CAN-01 @ Depósito principal: 47 → 7", 0),
            (level(Some(7)), done(), "✓ CAN-01 @ Depósito principal: 7", 0),
            (price, done(), "✓ CAN-01: R$ 20,00 → R$ 19,90", 0),
            (movement, done(), "✓ CAN-01 @ Loja: -2", 0),
            (order(), row(Waiting, "waiting_invoice"), "… pedido 77: espera NF-e; continua sozinho", 0),
            (order(), row(Waiting, "x"), "… pedido 77: espera: causa; continua sozinho", 0),
            (order(), row(Failed, "x"), "✗ pedido 77: causa\n  próximo passo: passo", 1),
            (order(), row(Held, "x"), "! pedido 77: retido: causa\n  próximo passo: passo", 5),
            (order(), row(Doubtful, "x"), "! pedido 77: em dúvida: causa\n  próximo passo: passo", 3),
            (order(), row(New, ""), "… pedido 77: gravado; ainda a caminho, continua sozinho", 0),
            (
                level(None),
                Became::ServiceStopped,
                "… CAN-01 @ Depósito principal: gravado; o serviço está parado\n  sudo systemctl start espelho",
                0,
            ),
            (
                Deed::TestDelivery,
                Became::Tested(Arrival::Arrived),
                "✓ a entrega de teste chegou, com assinatura válida",
                0,
            ),
            (
                Deed::TestDelivery,
                Became::Tested(Arrival::Refused),
                "✗ chegou uma entrega, mas a assinatura dela foi recusada: é de um segredo desconhecido\n  compare o segredo \
                 do webhook no portal do vendedor com o de webhook.secret_file; sem esse arquivo, apague o webhook no \
                 portal e reinicie o serviço: ele o faz de novo. Se o próximo teste chegar, quem postou era um estranho",
                3,
            ),
            (
                Deed::TestDelivery,
                Became::Tested(Arrival::Missing),
                "! o marketplace aceitou mandar a entrega de teste, mas ela ainda não chegou\n  espelho doctor \
                 mostra o endereço e o receptor; se os dois estão verdes, o histórico de entregas do webhook, no portal \
                 do vendedor, diz o que cada tentativa encontrou (outro endereço, proxy, firewall)",
                3,
            ),
            (
                Deed::File { rows: 3 },
                Became::Rows { done: 2, open: 0, refused: 1 },
                "✗ 3 linhas: 2 feitas, 0 a caminho, 1 não feita\n  próximo passo: espelho errors",
                3,
            ),
            (
                Deed::File { rows: 1 },
                Became::Rows { done: 1, open: 0, refused: 0 },
                "✓ 1 linha: 1 feita, 0 a caminho",
                0,
            ),
        ] {
            let spoken = spoken(&deed, &became, None);
            assert_eq!((spoken.lines(Locale::default()).as_str(), spoken.code), (words, code));
            assert!(!spoken.lines(Locale::of(Language::English)).contains("intents-"));
        }
    }

    #[test]
    fn what_is_under_way_names_the_known_cause_of_its_delay() {
        let delay = Delay {
            code: "marketplace_unreachable".into(),
            cause: "O marketplace não responde.".into(),
            next: "espere".into(),
        };
        let said = spoken(&level(Some(47)), &row(PushState::New, ""), None).delayed_by(&delay);
        assert_eq!(
            (said.lines(Locale::default()).as_str(), said.code),
            (
                "… CAN-01 @ Depósito principal: gravado; ainda a caminho, continua sozinho. O marketplace não \
                 responde.\n  próximo passo: espere",
                0
            )
        );
    }

    #[test]
    fn a_test_delivery_that_is_not_awaited_says_so_and_which_command_tells_later() {
        for (language, words, next) in [
            (Language::Portuguese, "não foi esperada", "espelho explain command 8"),
            (Language::English, "was not awaited", "espelho explain command 8"),
        ] {
            let said = spoken(&Deed::TestDelivery, &Became::Written, Some(8)).lines(Locale::of(language));
            assert!(said.contains(words) && said.contains(next), "{said}");
        }
    }

    #[test]
    fn waiting_ends_with_an_answer_and_with_what_only_a_person_can_end() {
        for (became, expected) in [
            (row(PushState::New, ""), false),
            (row(PushState::Sending, ""), false),
            (row(PushState::Waiting, "labels_being_made"), false),
            (row(PushState::Waiting, "waiting_invoice"), true),
            (row(PushState::Done, ""), true),
            (row(PushState::Failed, "x"), true),
        ] {
            let Became::Row(answer) = became else { continue };
            assert_eq!(is_answered(&answer), expected, "{answer:?}");
        }
    }
}
