//! The category routes.

use serde_json::{Value, json};

use super::{
    attributes::{Attribute, Section, Values},
    combine::combine,
    tree::{self, Category},
};
use crate::{
    answer::Answer,
    call::{Call, parameter},
    query,
    refusal::{FieldErrors, Refusal},
    route::{Access, Route},
    text::fold,
};

const READ: Access = Access::StrictAbility("store_products_read");

/// The routes of this area.
pub(crate) const ROUTES: &[Route] = &[
    Route::get("/api/categories/search", search).access(READ),
    Route::get("/api/categories/browse", browse).access(READ),
    Route::get("/api/categories/departaments", departments).access(READ),
    Route::get("/api/categories/{id}/attributes", attributes).access(READ),
    Route::post("/api/categories/{id}/combine-attributes", combine).access(READ),
];

/// GET the leaves whose name has a text in it, wherever accents are.
fn search(call: &Call) -> Result<Answer, Refusal> {
    let mut errors = FieldErrors::new();
    let department = identifier(call, "departament_id", &mut errors);
    let wanted = parameter(&call.query, "search").map(|text| fold(text.trim())).unwrap_or_default();
    if wanted.is_empty() {
        errors.add("search", "O campo search é obrigatório.");
    }
    errors.or(())?;
    let found = tree::all().iter().filter(|category| {
        category.is_leaf()
            && fold(&category.hierarchy).contains(&wanted)
            && department.is_none_or(|department| category.department == department)
    });
    Ok(Answer::value(&found.map(place).collect()))
}

/// GET one level: the departments, the categories of one, or the leaves of one.
fn browse(call: &Call) -> Result<Answer, Refusal> {
    let mut errors = FieldErrors::new();
    let department = identifier(call, "departament_id", &mut errors);
    let parent = identifier(call, "parent_id", &mut errors).or(department);
    errors.or(())?;
    if parent.is_some_and(|parent| tree::find(parent).is_none()) {
        return Err(Refusal::NotFound);
    }
    let level = tree::all().iter().filter(|category| category.parent == parent);
    Ok(Answer::value(&level.map(place).collect()))
}

/// GET the departments.
fn departments(_: &Call) -> Result<Answer, Refusal> {
    let departments = tree::all().iter().filter(|category| category.parent.is_none());
    Ok(Answer::value(&departments.map(department).collect()))
}

/// GET the attributes of a category; what is no leaf has none.
fn attributes(call: &Call) -> Result<Answer, Refusal> {
    let category = tree::named(call.id(0)).ok_or(Refusal::NotFound)?;
    let mut errors = FieldErrors::new();
    let matrix = flag(call, "matrix", &mut errors);
    let only_features = flag(call, "only_features", &mut errors);
    let only_variations = flag(call, "only_variations", &mut errors);
    if only_features && only_variations {
        errors
            .add("only_features", "Os filtros only_features e only_variations não podem ser usados juntos.");
    }
    errors.or(())?;
    let wanted = |attribute: &&Attribute| {
        !(only_features && attribute.is_variant || only_variations && !attribute.is_variant)
    };
    let attributes = || category.attributes.iter().filter(wanted);
    if !matrix {
        return Ok(Answer::value(&attributes().map(definition).collect()));
    }
    let sections = Section::ALL.into_iter().filter_map(|section| {
        let of_section = attributes().filter(|attribute| attribute.section == section);
        let list: Vec<Value> = of_section.map(definition).collect();
        (!list.is_empty()).then(|| json!({"section": section.label(), "attributes": list}))
    });
    Ok(Answer::value(&sections.collect()))
}

fn identifier(call: &Call, name: &'static str, errors: &mut FieldErrors) -> Option<u32> {
    let text = parameter(&call.query, name)?;
    let number = query::whole(name, &text, u32::MAX as usize, errors)?;
    u32::try_from(number).ok()
}

/// A filter that is on or off.
fn flag(call: &Call, name: &'static str, errors: &mut FieldErrors) -> bool {
    match parameter(&call.query, name).as_deref() {
        None | Some("0" | "false") => false,
        Some("1" | "true") => true,
        Some(_) => {
            errors.add(name, format!("O campo {name} deve ser verdadeiro ou falso."));
            false
        }
    }
}

fn place(category: &Category) -> Value {
    json!({
        "id": category.id,
        "parent_id": category.parent,
        "departament_id": category.department,
        "name": category.name,
        "hierarchy": category.hierarchy,
        "is_leaf": category.is_leaf(),
    })
}

/// A department as a listing shows it too.
fn department(category: &Category) -> Value {
    json!({"id": category.id, "name": category.name, "icon_svg": category.icon_svg()})
}

fn definition(attribute: &Attribute) -> Value {
    let (kind, unit) = match attribute.values {
        Values::List(_) => ("list", None),
        Values::Text => ("text", None),
        Values::Number(unit) => ("number", Some(unit).filter(|unit| !unit.is_empty())),
        Values::Boolean => ("boolean", None),
    };
    let options = attribute.options().map(|(id, value)| json!({"id": id, "value": value}));
    json!({
        "id": attribute.id,
        "name": attribute.name,
        "section": attribute.section.label(),
        "is_required": attribute.is_required,
        "is_variant": attribute.is_variant,
        "is_combinable": attribute.is_combinable,
        "value_definition": {"type": kind, "unit": unit, "values": options.collect::<Vec<_>>()},
    })
}
