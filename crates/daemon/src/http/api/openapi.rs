//! The description of the API (OpenAPI 3.1), made of the routes and of the catalogue of tables.

use std::sync::Arc;

use axum::{Extension, response::Response};
use espelho_store::{ApiTable, ColumnKind, Comparison, api_tables};
use serde_json::json;
use utoipa::{
    OpenApi, PartialSchema, ToSchema,
    openapi::{
        ComponentsBuilder, HttpMethod, ObjectBuilder, Ref, RefOr, Required,
        path::{Operation, OperationBuilder, Parameter, ParameterBuilder, ParameterIn},
        schema::{Schema, SchemaType, Type},
        security::{Http, HttpAuthScheme, SecurityRequirement, SecurityScheme},
    },
};

use super::{
    PREFIX,
    query::{self, comparisons, parameter},
    schema::{
        self, Alarm, Change, ProblemDetails, WrittenRow, answers, array, in_query, object, or_null, time,
    },
};

/// The description without the routes.
#[derive(OpenApi)]
#[openapi(info(
    title = "espelho",
    description = "The mirror of a marketplace's account: read every table, write what the ERP wants, follow the change \
                   feed. docs/API.md has recipes, docs/SCHEMA.md the meaning of each column."
))]
pub(super) struct Description;

/// Completes the description of the other routes with those of the tables.
pub(super) fn complete(mut description: utoipa::openapi::OpenApi) -> utoipa::openapi::OpenApi {
    for table in api_tables() {
        description.paths.add_path_operation(format!("/{}", table.name), vec![HttpMethod::Get], list(table));
        if !table.is_view() {
            description.paths.add_path_operation(row_path(table), vec![HttpMethod::Get], row(table));
        }
    }
    let paths = std::mem::take(&mut description.paths.paths);
    let paths = paths.into_iter().map(|(path, item)| (format!("{PREFIX}{path}"), item));
    description.paths.paths = paths.collect();
    description.components = Some(components(description.components.take().unwrap_or_default()));
    description.security = Some(vec![bearer()]);
    description
}

fn bearer() -> SecurityRequirement {
    let scopes: [&str; 0] = [];
    SecurityRequirement::new("token", scopes)
}

/// Returns the path of a row, for the router too.
pub(super) fn row_path(table: &ApiTable) -> String {
    let parts = table.key.iter().map(|part| format!("/{{{}}}", part.column));
    format!("/{}{}", table.name, parts.collect::<String>())
}

fn components(known: utoipa::openapi::Components) -> utoipa::openapi::Components {
    let token = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
    let more = ComponentsBuilder::new()
        .schema("Alarm", Alarm::schema())
        .schema("Change", Change::schema())
        .schema("ProblemDetails", ProblemDetails::schema())
        .schema(WrittenRow::name(), WrittenRow::schema())
        .security_scheme("token", token);
    let rows = |all: ComponentsBuilder, table: &ApiTable| {
        all.schema(row_name(table), row_schema(table).description(Some(format!("A row of {}.", table.name))))
    };
    let mut all = api_tables().iter().fold(more, rows).build();
    all.schemas.extend(known.schemas);
    all
}

fn row_name(table: &ApiTable) -> String {
    format!("{}_row", table.name)
}

fn reference(table: &ApiTable) -> RefOr<Schema> {
    Ref::from_schema_name(row_name(table)).into()
}

/// Returns the schema of a row; `raw` is there if it was asked for.
fn row_schema(table: &ApiTable) -> ObjectBuilder {
    let columns = table.columns.iter().filter(|(name, _)| *name != "raw");
    let known = columns.map(|(name, kind)| (*name, cell(table, name, *kind)));
    let row = object(known);
    if query::has_raw(table) { row.property("raw", any()) } else { row }
}

fn any() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(SchemaType::AnyValue).description(Some("The object as it was received"))
}

fn cell(table: &ApiTable, name: &str, kind: ColumnKind) -> ObjectBuilder {
    let is_key = table.key.iter().any(|part| part.column == name && !part.is_optional);
    let is = |kind: Type| if is_key { SchemaType::new(kind) } else { or_null(kind) };
    match kind {
        ColumnKind::Text => ObjectBuilder::new().schema_type(is(Type::String)),
        // A program may write a number into a key of SQLite that is none.
        ColumnKind::Integer => ObjectBuilder::new().schema_type(or_null(Type::Integer)),
        ColumnKind::Number => {
            ObjectBuilder::new().schema_type(or_null(Type::Number)).description(Some("An exact decimal"))
        }
        ColumnKind::Flag => ObjectBuilder::new().schema_type(or_null(Type::Boolean)),
        ColumnKind::Time => time().schema_type(or_null(Type::String)),
        ColumnKind::Json => ObjectBuilder::new().schema_type(SchemaType::AnyValue),
    }
}

fn list(table: &ApiTable) -> Operation {
    let page = object::<RefOr<Schema>>([
        ("rows", array(reference(table)).into()),
        ("next", ObjectBuilder::new().schema_type(or_null(Type::String)).into()),
    ]);
    let mut parameters = vec![
        schema::limit(),
        in_query(
            "cursor",
            "`next` of the page before.",
            ObjectBuilder::new().schema_type(Type::String).pattern(Some("^([0-9a-f]{2})+$")),
        ),
    ];
    parameters.extend(query::has_raw(table).then(include));
    parameters.extend(table.marks_gone().then(|| {
        in_query("gone", "Only rows that are gone from the marketplace, or only those that are not.", flag())
    }));
    parameters.extend(table.columns.iter().flat_map(|(name, kind)| filters(name, *kind)));
    OperationBuilder::new()
        .operation_id(Some(format!("list_{}", table.name)))
        .summary(Some(format!("Reads {}, page by page in the order of its key.", table.name)))
        .tag("read")
        .parameters(Some(parameters))
        .responses(utoipa::openapi::Responses::from_iter(answers(page, &[])))
        .build()
}

fn row(table: &ApiTable) -> Operation {
    let part = |part: &espelho_store::KeyPart| {
        let kind = if part.kind == ColumnKind::Integer { Type::Integer } else { Type::String };
        ParameterBuilder::new()
            .name(part.column)
            .parameter_in(ParameterIn::Path)
            .required(Required::True)
            .schema(Some(ObjectBuilder::new().schema_type(kind)))
            .build()
    };
    let parameters = table.key.iter().map(part).chain(query::has_raw(table).then(include));
    let children = table.children.iter().filter_map(|(child, _)| ApiTable::named(child));
    let whole = children.fold(row_schema(table), |whole, child| {
        whole.property(child.name, array(reference(child))).required(child.name)
    });
    OperationBuilder::new()
        .operation_id(Some(format!("get_{}", table.name)))
        .summary(Some(format!("Reads a row of {}, with what belongs to it.", table.name)))
        .tag("read")
        .parameters(Some(parameters.collect::<Vec<_>>()))
        .responses(utoipa::openapi::Responses::from_iter(answers(whole, &[])))
        .build()
}

fn include() -> Parameter {
    let raw = ObjectBuilder::new().schema_type(Type::String).enum_values(Some(["raw"]));
    in_query("include", "`raw`: each row with the object as it was received.", raw)
}

fn flag() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::Boolean)
}

/// Returns the parameters that filter a column.
fn filters(name: &'static str, kind: ColumnKind) -> Vec<Parameter> {
    let value = || match kind {
        ColumnKind::Text | ColumnKind::Json => {
            ObjectBuilder::new().schema_type(Type::String).pattern(Some("^[^\\x00]*$"))
        }
        ColumnKind::Integer => ObjectBuilder::new().schema_type(Type::Integer),
        ColumnKind::Number => ObjectBuilder::new().schema_type(Type::Number),
        ColumnKind::Flag => flag(),
        ColumnKind::Time => time(),
    };
    let says = |comparison: Comparison| match comparison {
        Comparison::Eq => "",
        Comparison::Gt => "Greater",
        Comparison::Gte => "Greater or equal",
        Comparison::Lt => "Less",
        Comparison::Lte => "Less or equal",
    };
    comparisons(kind).iter().map(|by| in_query(&parameter(name, *by), says(*by), value())).collect()
}

/// The description itself.
#[derive(Clone)]
pub(super) struct Text(pub(super) Arc<str>);

/// Returns this description. It needs no token.
#[utoipa::path(get, path = "/openapi.json", tag = "read", security(()),
    responses((status = 200, description = "This description", body = serde_json::Value), (status = 404, description = "The API is off")))]
pub(super) async fn openapi(Extension(Text(text)): Extension<Text>) -> Response {
    super::json_text(text.to_string())
}

/// Returns the JSON text of a description.
pub(super) fn text(description: &utoipa::openapi::OpenApi) -> String {
    let mut document = serde_json::to_value(description).unwrap_or_else(|_| json!({}));
    document["info"]["version"] = json!("1");
    document.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_description_has_every_table_its_rows_and_its_filters() {
        let document: serde_json::Value =
            serde_json::from_str(&text(&complete(Description::openapi()))).unwrap();
        for table in api_tables() {
            let list = &document["paths"][format!("{PREFIX}/{}", table.name)]["get"];
            let names: Vec<&str> = list["parameters"]
                .as_array()
                .unwrap()
                .iter()
                .map(|of| of["name"].as_str().unwrap())
                .collect();
            assert!(names.contains(&"limit") && names.contains(&"cursor"), "{}: {names:?}", table.name);
            for (column, kind) in &table.columns {
                assert_eq!(names.contains(column), *kind != ColumnKind::Json, "{}.{column}", table.name);
            }
            let row = &document["paths"][format!("{PREFIX}{}", row_path(table))]["get"];
            assert_eq!(row.is_null(), table.is_view(), "{}", table.name);
            let schema = &document["components"]["schemas"][row_name(table)];
            let described = schema["properties"].as_object().unwrap().len();
            assert_eq!(described, table.columns.len(), "{}", table.name);
        }
        assert_eq!(document["openapi"], "3.1.0");
        assert_eq!(document["security"], json!([{ "token": [] }]));
    }
}
