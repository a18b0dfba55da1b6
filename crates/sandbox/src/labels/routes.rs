//! The label routes.

use ulid::Ulid;

use super::{Label, LabelStatus, generation, write};
use crate::{
    answer::Answer, call::Call, json::Json, refusal::Refusal, route::Route, shipments::Shipment,
    storage::VALID_SECONDS,
};

/// The routes of this area.
pub(crate) const ROUTES: &[Route] = &[
    Route::post("/api/v1/sellers/orders/{id}/shipment-labels/generate", generate),
    Route::get("/api/seller/logistics/shipments/{id}/labels", list),
    Route::get("/api/seller/logistics/shipments/{id}/labels/{labelId}/download", download),
];

/// POST: throws the labels of an order's shipments away and queues new ones.
fn generate(call: &Call) -> Result<Answer, Refusal> {
    let store = call.store()?;
    let queued = generation::queued(store, call.id(0))?;
    let ids: Vec<u128> = queued.iter().map(|(shipment, _)| shipment.id).collect();
    for (shipment, paper) in queued {
        generation::begin(&call.world, store, &shipment, paper);
    }
    let answer = Answer::success(call.options().numbers_as_strings, |json| {
        json.open_object();
        json.key("queued_shipments").open_array();
        for id in &ids {
            json.ulid(*id);
        }
        json.close_array();
        json.key("total").count(ids.len() as u64);
        json.close_object();
    });
    Ok(answer.with_status(202))
}

/// GET the labels of a shipment, and nothing else of it.
fn list(call: &Call) -> Result<Answer, Refusal> {
    let shipment = shipment(call)?;
    let labels = call.store()?.labels();
    let labels = labels.of(shipment.id);
    Ok(Answer::success(call.options().numbers_as_strings, |json| {
        json.open_object();
        json.key("shipment_id").ulid(shipment.id);
        write(json, labels, write_with_source);
        json.key("formats_pending").open_array();
        for label in labels.iter().filter(|label| label.is_in_the_making()) {
            json.raw_text(label.format.wire());
        }
        json.close_array();
        json.close_object();
    }))
}

/// Writes a label with the fields that this route adds. The platform prints every label of the sandbox.
fn write_with_source(json: &mut Json, label: &Label) {
    label.write_fields(json);
    json.key("status_label").text(label.status.label());
    json.key("source").raw_text("platform");
    json.key("source_label").raw_text("Plataforma");
}

/// GET the signed address of a label's file.
fn download(call: &Call) -> Result<Answer, Refusal> {
    let (store, shipment) = (call.store()?, shipment(call)?);
    let id = Ulid::from_string(call.id(1)).map_err(|_| Refusal::NotFound)?;
    let found = store.labels().of(shipment.id).iter().find(|label| label.id == id.0).copied();
    let label = found.ok_or(Refusal::NotFound)?;
    if !label.is_ready() {
        let text = match label.status {
            LabelStatus::Error => "Erro na geração da etiqueta.",
            _ => "Em processamento",
        };
        return Err(Refusal::Rule("UNPROCESSABLE_ENTITY", text.to_owned()));
    }
    let url = call.world.storage.signed_label(label.id, label.format, call.now());
    Ok(Answer::success(call.options().numbers_as_strings, |json| {
        json.open_object();
        json.key("label_id").ulid(label.id);
        json.key("format").raw_text(label.format.wire());
        json.key("url").text(&url);
        json.key("expires_in").count(VALID_SECONDS.unsigned_abs());
        json.close_object();
    }))
}

/// The shipment in the path, if it is one of the store.
fn shipment(call: &Call) -> Result<Shipment, Refusal> {
    let id = Ulid::from_string(call.id(0)).map_err(|_| Refusal::NotFound)?;
    let store = call.store()?;
    let orders = store.orders();
    store.shipments().find(&orders, id.0).ok_or(Refusal::NotFound)
}
