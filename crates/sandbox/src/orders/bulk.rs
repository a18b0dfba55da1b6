//! POST of one action for many orders. The document shows no body; ours is `{action, order_numbers, data}`.

use serde_json::{Map, Value, json};

use super::{
    rules, service,
    transitions::{Action, IN_BULK},
};
use crate::{
    answer::Answer,
    call::Call,
    refusal::{FieldErrors, Refusal},
    request_body::{self, Reader},
    store::Store,
};

/// The most orders of one call ("Limits").
const MOST: usize = 200;

/// Does the action for each order, and answers with a result for each.
pub(super) fn transition(call: &Call) -> Result<Answer, Refusal> {
    let store = call.store()?;
    let fields = request_body::fields(&call.body);
    let (action, numbers) = request(&fields)?;
    let data = fields.get("data");
    action.takes.read(data).map_err(Refusal::Invalid)?;
    let results: Vec<Value> = numbers.iter().map(|number| one(call, store, number, action, data)).collect();
    let succeeded = results.iter().filter(|result| result["success"] == json!(true)).count();
    Ok(Answer::value(&json!({
        "action": action.slug,
        "target_status": action.target,
        "total": results.len(),
        "succeeded": succeeded,
        "failed": results.len() - succeeded,
        "results": results,
    })))
}

/// The action and the order numbers; the refusal names every error at once.
fn request(fields: &Map<String, Value>) -> Result<(&'static Action, Vec<&str>), Refusal> {
    let (reader, mut errors) = (Reader::new(fields), FieldErrors::new());
    let slug = reader.required_text("action", &mut errors);
    let action = slug.and_then(|slug| IN_BULK.into_iter().find(|action| action.slug == slug));
    if action.is_none() && errors.is_empty() {
        errors.add("action", "O campo action selecionado é inválido.");
    }
    let numbers = numbers(&reader, &mut errors);
    match action {
        Some(action) => errors.or((action, numbers)),
        None => Err(Refusal::Invalid(errors)),
    }
}

fn numbers<'a>(reader: &Reader<'a>, errors: &mut FieldErrors) -> Vec<&'a str> {
    let problem = match reader.value("order_numbers") {
        None | Some(Value::Null) => "é obrigatório".to_owned(),
        Some(Value::Array(numbers)) if numbers.is_empty() => "é obrigatório".to_owned(),
        Some(Value::Array(numbers)) if numbers.len() > MOST => {
            format!("não pode ter mais de {MOST} itens")
        }
        Some(Value::Array(numbers)) => {
            for at in (0..numbers.len()).filter(|at| !numbers[*at].is_string()) {
                reader.note(&format!("order_numbers.{at}"), "deve ser um texto", errors);
            }
            return numbers.iter().filter_map(Value::as_str).collect();
        }
        Some(_) => "deve ser uma lista".to_owned(),
    };
    reader.note("order_numbers", &problem, errors);
    Vec::new()
}

fn one(call: &Call, store: &Store, number: &str, action: &Action, data: Option<&Value>) -> Value {
    let done = service::change(&call.world, store, number, |order| {
        rules::step_by(&mut store.shipments(), order, action, data).map_err(Refusal::Invalid)
    });
    let status = store.orders().get(number).map(|order| order.status.wire());
    let (message_code, errors) = match done {
        Ok(()) => ("SUCCESS", json!({})),
        Err(Refusal::Invalid(errors)) => ("VALIDATION_ERROR", by_field(&errors)),
        Err(_) => ("NOT_FOUND", json!({})),
    };
    json!({
        "order_number": number,
        "success": message_code == "SUCCESS",
        "message_code": message_code,
        "status": status,
        "errors": errors,
    })
}

fn by_field(errors: &FieldErrors) -> Value {
    let fields = errors.as_slice().iter().map(|(field, message)| (field.to_string(), json!([message])));
    Value::Object(fields.collect())
}
