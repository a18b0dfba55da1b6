//! Words for statuses, states and names, of the marketplace and of this project. A word that the catalogue lacks is
//! shown unchanged, because the marketplace may add new ones.

use super::Text;

fn word(family: &str, word: &str) -> Text {
    let known = Text::new(format!("words-{family}-{}", word.replace(['_', '.'], "-")));
    if known.is_known() { known } else { Text::new("words-other").with("word", word) }
}

/// Declares the families of words.
macro_rules! families {
    ($($(#[$doc:meta])+ $name:ident = $family:literal),+ $(,)?) => {$(
        $(#[$doc])+
        pub fn $name(code: &str) -> Text {
            word($family, code)
        }
    )+};
}

families! {
    /// An order's status.
    order_status = "order",
    /// An order's workflow.
    workflow = "workflow",
    /// The sales channel of an order.
    channel = "channel",
    /// How an order reaches the buyer.
    delivery_method = "delivery",
    /// How an order is paid.
    payment_method = "payment-method",
    /// The status of an order's payment.
    payment_status = "payment",
    /// A shipment's status.
    shipment_status = "shipment",
    /// The result of a run.
    run_state = "run",
    /// The state of a command or push.
    push_state = "push",
    /// A resource of a reconciliation or audit.
    resource = "resource",
    /// An entity type, as in the change feed.
    entity = "entity",
    /// A lane of the request budget.
    lane = "lane",
    /// A sweep.
    sweep = "sweep",
    /// A command's kind: a phrase to which its key is added.
    command = "command",
    /// A field of a command's data.
    field = "field",
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        push::{CommandKind, PushState},
        sync::RunState,
        text::{Language, Locale},
    };

    #[test]
    fn known_words_are_said_in_both_languages_and_unknown_ones_as_they_came() {
        let said = |text: &Text| Language::ALL.map(|language| text.message(Locale::of(language)));
        assert_eq!(said(&order_status("paid")), ["Pago", "Paid"]);
        assert_eq!(said(&workflow("in_store_pickup")), ["retirada na loja", "in-store pickup"]);
        assert_eq!(said(&channel("store_seller")), ["vendedor da loja", "store seller"]);
        assert_eq!(said(&delivery_method("shipping")), ["remessa", "shipping"]);
        assert_eq!(said(&payment_method("credit_card")), ["cartão de crédito", "credit card"]);
        assert_eq!(said(&payment_status("approved")), ["aprovado", "approved"]);
        assert_eq!(said(&payment_status("in_orbit")), ["in_orbit", "in_orbit"]);
        assert_eq!(said(&order_status("teleported")), ["teleported", "teleported"]);
        assert_eq!(said(&sweep("webhook_test")), ["Teste do webhook", "Webhook test"]);
    }

    #[test]
    fn every_kind_of_command_has_a_word() {
        let other = CommandKind::ALL.iter().find(|kind| command(kind.as_str()).id() == "words-other");
        assert_eq!(other, None);
    }

    #[test]
    fn every_state_of_ours_has_a_word() {
        let states = PushState::ALL.iter().map(|state| push_state(state.as_str()));
        let runs =
            [RunState::Complete, RunState::Partial, RunState::Failed].map(|state| run_state(state.as_str()));
        let other = states.chain(runs).find(|text| text.id() == "words-other");
        assert_eq!(other, None);
    }
}
