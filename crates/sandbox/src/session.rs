//! GET `/api/stores/auth/session`.

use crate::{answer::Answer, call::Call, company, refusal::Refusal, route::Route};

/// The routes of this area.
pub(crate) const ROUTES: &[Route] = &[Route::get("/api/stores/auth/session", show)];

/// The store of the token.
fn show(call: &Call) -> Result<Answer, Refusal> {
    let store = call.store()?;
    Ok(Answer::success(false, |json| {
        json.open_object();
        json.key("id").id(store.id);
        json.key("name").text(&store.name);
        json.key("code").raw_text(&company::code(store.id));
        json.key("status").raw_text("active");
        json.key("type").raw_text("seller");
        json.key("limits").raw(r#"{"products":100000,"users":20}"#);
        json.key("features").open_array();
        for feature in store.features().iter() {
            json.text(feature);
        }
        json.close_array();
        company::write_company(json.key("company"), store.id, &store.name);
        json.key("auth_type").raw_text("integration_token");
        json.close_object();
    }))
}
