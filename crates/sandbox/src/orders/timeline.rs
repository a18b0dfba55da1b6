//! GET the timeline of an order: what happened to it, and who did it.

use super::{
    entry::{Author, Entry},
    shown::shown_orders,
    visibility,
    vocabulary::Status,
};
use crate::{answer::Answer, call::Call, json::Json, refusal::Refusal, store::Store};

/// GET the events, oldest first.
pub(super) fn show(call: &Call) -> Result<Answer, Refusal> {
    let store = visibility::readable(call)?;
    let orders = shown_orders(store);
    let order = orders.get(call.id(0)).ok_or(Refusal::NotFound)?;
    Ok(Answer::success(false, |json| {
        json.open_array();
        for (at, entry) in order.timeline().iter().enumerate() {
            json.open_object();
            json.key("id").id(order.line_id(at));
            entry.write(json, store);
            json.close_object();
        }
        json.close_array();
    }))
}

impl Entry {
    fn write(&self, json: &mut Json, store: &Store) {
        json.key("type").raw_text(self.kind.wire());
        json.key("type_label").raw_text(self.kind.label());
        json.key("description").text(&self.text);
        let (old, new) = self.statuses.map_or((None, None), |(old, new)| (old, Some(new)));
        json.key("old_status").optional_text(old.map(Status::wire));
        json.key("new_status").optional_text(new.map(Status::wire));
        json.key("author_type").raw_text(self.author.wire());
        json.key("author_name").text(match self.author {
            Author::Seller => &store.name,
            Author::System => "Sistema",
            Author::Admin => "Equipe do marketplace",
        });
        json.key("metadata");
        match &self.metadata {
            Some(metadata) => json.value_of(metadata),
            None => json.null(),
        }
        json.key("created_at").time(self.at);
    }
}
