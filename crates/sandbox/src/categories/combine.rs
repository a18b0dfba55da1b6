//! POST combine-attributes: every combination of the chosen values.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::{Value, json};

use super::{
    attributes::Attribute,
    tree::{self, Category},
};
use crate::{
    answer::Answer,
    call::Call,
    refusal::{FieldErrors, Refusal},
    request_body::{self, Reader},
    text::fold,
};

/// The most combinations of one call.
const MAX_COMBINATIONS: usize = 50;

/// An attribute with the values that were chosen of it.
struct Choice {
    attribute: &'static Attribute,
    values: Vec<(u32, &'static str)>,
}

/// Answers the Cartesian product; the primary attribute, the first by default, changes slowest.
pub(super) fn combine(call: &Call) -> Result<Answer, Refusal> {
    let category = tree::named(call.id(0)).ok_or(Refusal::NotFound)?;
    let body = request_body::object(&call.body)?;
    let (reader, mut errors) = (Reader::new(&body), FieldErrors::new());
    reader.require(&["attributes"], &mut errors);
    let primary = reader.whole("primary_attribute_id", 1..=i64::from(u32::MAX), &mut errors);
    if reader.object("attributes", &mut errors).is_none() {
        return errors.or(Answer::no_content());
    }
    let mut choices = choices(category, call, &mut errors);
    let primary = match primary {
        None => 0,
        Some(id) => {
            choices.iter().position(|choice| i64::from(choice.attribute.id) == id).unwrap_or_else(|| {
                errors.add(
                    "primary_attribute_id",
                    "O atributo principal deve estar entre os atributos escolhidos.",
                );
                0
            })
        }
    };
    errors.or(())?;
    choices[..=primary].rotate_right(1);
    let primary = choices[0].attribute;
    Ok(Answer::value(&json!({
        "combinations": product(&choices),
        "primary_attribute": {"id": primary.id, "name": primary.name},
    })))
}

/// The chosen attributes in the order of the body, none empty; at least one unless there are errors.
fn choices(category: &'static Category, call: &Call, errors: &mut FieldErrors) -> Vec<Choice> {
    let sent = serde_json::from_slice::<Body>(&call.body).map(|body| body.attributes.0).unwrap_or_default();
    if sent.is_empty() || sent.len() > category.attributes.len() {
        errors
            .add("attributes", "Informe ao menos um atributo combinável da categoria, e cada um uma só vez.");
        return Vec::new();
    }
    let mut choices: Vec<Choice> = Vec::new();
    for (id, values) in sent {
        let known = category.attributes.iter().find(|attribute| id == attribute.id.to_string());
        let Some(attribute) = known.filter(|attribute| attribute.is_combinable) else {
            errors.add(format!("attributes.{id}"), "O atributo não existe na categoria ou não é combinável.");
            continue;
        };
        match chosen(attribute, &values) {
            Ok(_) if choices.iter().any(|other| other.attribute.id == attribute.id) => {
                errors.add(format!("attributes.{id}"), "O atributo foi informado mais de uma vez.");
            }
            Ok(values) => choices.push(Choice { attribute, values }),
            Err(problem) => errors.add(format!("attributes.{id}"), problem),
        }
    }
    if choices.iter().map(|choice| choice.values.len()).product::<usize>() > MAX_COMBINATIONS {
        errors.add("attributes", format!("A escolha resulta em mais de {MAX_COMBINATIONS} combinações."));
    }
    choices
}

/// Values named by identifier or by text, each once.
fn chosen(attribute: &'static Attribute, values: &Value) -> Result<Vec<(u32, &'static str)>, &'static str> {
    let values = values.as_array().filter(|values| !values.is_empty());
    let values = values.ok_or("Informe uma lista de valores não vazia.")?;
    let mut chosen: Vec<(u32, &'static str)> = Vec::new();
    for value in values {
        let mut options = attribute.options();
        let option = match value {
            Value::Number(number) => options.find(|(id, _)| number.as_u64() == Some(u64::from(*id))),
            Value::String(text) => options.find(|(_, name)| fold(name) == fold(text.trim())),
            _ => None,
        };
        let option = option.ok_or("Um dos valores não existe neste atributo.")?;
        if chosen.contains(&option) {
            return Err("Os valores não podem se repetir.");
        }
        chosen.push(option);
    }
    Ok(chosen)
}

/// Each combination has its `attributes` in the form that a variation of a listing takes.
fn product(choices: &[Choice]) -> Vec<Value> {
    let mut combinations: Vec<Vec<Value>> = vec![Vec::new()];
    for Choice { attribute, values } in choices {
        let longer = combinations.iter().flat_map(|combination| {
            values.iter().map(move |(id, value)| {
                let last = json!({
                    "attribute_id": attribute.id,
                    "attribute_name": attribute.name,
                    "value_id": id,
                    "value": value,
                });
                combination.iter().cloned().chain([last]).collect()
            })
        });
        combinations = longer.collect();
    }
    combinations.into_iter().map(|attributes| json!({"attributes": attributes})).collect()
}

/// The body once more, with the attributes in the order in which they were sent.
#[derive(Deserialize)]
struct Body {
    attributes: Ordered,
}

#[derive(Default)]
struct Ordered(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Ordered {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Pairs;
        impl<'de> Visitor<'de> for Pairs {
            type Value = Ordered;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Ordered, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Ordered(pairs))
            }
        }
        deserializer.deserialize_map(Pairs)
    }
}
