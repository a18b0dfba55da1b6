//! The webhook route that integrations have: the test.

use serde_json::json;

use super::dispatch;
use crate::{answer::Answer, call::Call, refusal::Refusal, route::Route};

/// The routes of this area.
pub(crate) const ROUTES: &[Route] = &[Route::post("/api/integration/webhook/test", test)];

/// Queues `webhook.test` for every active webhook of the token's credential. The document shows no answer.
fn test(call: &Call) -> Result<Answer, Refusal> {
    let token = call.token.as_deref().ok_or(Refusal::Token)?;
    let mut queued = Vec::new();
    for webhook in call.world.webhooks.of_store(token.store) {
        if webhook.credential == token.credential
            && dispatch::send_test(&call.world, &webhook, "integration.webhook-test")
        {
            queued.push(webhook.id);
        }
    }
    if queued.is_empty() {
        let text = "A credencial não possui um webhook ativo.".to_owned();
        return Err(Refusal::Rule("WEBHOOK_NOT_ACTIVE", text));
    }
    Ok(Answer::value(&json!({"queued_webhooks": queued, "total": queued.len()})).with_status(202))
}
