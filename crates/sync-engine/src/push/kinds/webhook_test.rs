//! Test deliveries (`webhook.test`): the command is done when the marketplace has taken the request. A delivery looks like
//! any other: a request without an answer stays doubtful. The watch over the webhook hears of the request, so that a
//! delivery that does not come is an alarm.

use espelho_api_client::{ApiRequest, resources::webhook::test_request};
use espelho_model::ProductId;
use espelho_store::Command;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use super::{
    super::{
        command_context::CommandContext, fields::FieldType, handler::CommandHandler, services::Services,
    },
    send_once::send_once,
};
use crate::{
    Error,
    plan::push::{Message, Verdict},
};

/// `webhook.test`.
pub(super) struct WebhookTest;

impl CommandHandler for WebhookTest {
    fn subject_key(&self, command: &Command) -> String {
        format!("command/{}", command.id)
    }

    fn fields(&self) -> Option<&'static [(&'static str, FieldType)]> {
        Some(&[])
    }

    fn planned_request(&self, _: &Command, _: &Value, _: Option<&ProductId>) -> Option<ApiRequest> {
        Some(test_request())
    }

    fn execute<'a>(
        &'a self,
        services: &'a Services<'a>,
        cx: &'a CommandContext<'a>,
    ) -> BoxFuture<'a, Result<Verdict, Error>> {
        Box::pin(execute(services, cx))
    }
}

async fn execute(services: &Services<'_>, cx: &CommandContext<'_>) -> Result<Verdict, Error> {
    let (at, kind) = (services.context.clock.now(), cx.kind.as_str());
    // A request of an earlier attempt may have been answered long ago.
    let is_first = cx.confirmed(kind).is_none();
    let sent = send_once(services, cx, kind, None, Ok(test_request())).await?;
    if is_first && sent.is_ok() {
        services.listener.tested(at);
    }
    Ok(sent.map_or_else(advised, |_| Verdict::Done(Some(asked()))))
}

/// A request without fields can only be refused with 422 for lack of a webhook: the next step says how to get one.
fn advised(verdict: Verdict) -> Verdict {
    match verdict {
        Verdict::Failed(Message { code, text })
            if text.id() == "api-refused" && text.number("status") == Some(422) =>
        {
            Verdict::Failed(Message { code, text: text.with("kind", "no-webhook") })
        }
        other => other,
    }
}

/// The result of the command. That the marketplace has taken the request proves no delivery: the receiver hears of it.
fn asked() -> Value {
    json!({"request": "accepted", "delivery": "not_awaited"})
}

#[cfg(test)]
mod tests {
    use espelho_model::{
        text,
        text::{Language, Locale},
    };

    use super::*;

    #[test]
    fn a_test_delivery_refused_for_lack_of_a_webhook_says_how_to_get_one() {
        for (status, expected) in [(422_u16, true), (403, false), (404, false)] {
            let text =
                text!("api-refused", status = status, words = "none", kind = "unknown", abilities = "");
            let verdict = advised(Verdict::Failed(Message::new("http_STATUS", text)));
            for language in [Language::Portuguese, Language::English] {
                let outcome = verdict.outcome("command 1", "loja", Locale::of(language)).unwrap();
                let hint = outcome.hint.unwrap();
                // A machine without the unit is told another way to reload.
                for step in ["[webhook]", "espelho retry command 1", "espelho ignore command 1"] {
                    assert_eq!(hint.contains(step), expected, "{status}: {hint}");
                }
            }
        }
    }
}
