//! The description of what the routes take and answer, beside the rows of tables.

use std::{borrow::Cow, collections::BTreeMap};

use serde::Deserialize;
use serde_json::json;
use utoipa::{
    IntoParams, IntoResponses, PartialSchema, ToSchema,
    openapi::{
        ArrayBuilder, Content, HeaderBuilder, KnownFormat, ObjectBuilder, Ref, RefOr, Required,
        ResponseBuilder, SchemaFormat,
        path::{Parameter, ParameterBuilder, ParameterIn},
        response::Response,
        schema::{AdditionalProperties, Schema, SchemaType, Type},
    },
};

use super::body;

/// The media type of problems.
const PROBLEM: &str = "application/problem+json";
/// A decimal as a text.
const DECIMAL: &str = r"^-?[0-9]{1,15}(\.[0-9]{1,13})?$";

type Responses = BTreeMap<String, RefOr<Response>>;
type Name = Cow<'static, str>;

/// Returns a type, or NULL.
pub(super) fn or_null(kind: Type) -> SchemaType {
    [kind, Type::Null].into_iter().collect()
}

pub(super) fn time() -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)))
}

fn text() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String)
}

fn integer() -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(Type::Integer)
        .format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)))
}

/// Returns a closed object: every property is required unless its name ends in `?`.
pub(super) fn object<S: Into<RefOr<Schema>>>(
    properties: impl IntoIterator<Item = (&'static str, S)>,
) -> ObjectBuilder {
    let closed = Some(AdditionalProperties::FreeForm(false));
    properties.into_iter().fold(
        ObjectBuilder::new().additional_properties(closed),
        |object, (name, schema)| {
            let object = object.property(name.trim_end_matches('?'), schema);
            if name.ends_with('?') { object } else { object.required(name) }
        },
    )
}

pub(super) fn array(item: impl Into<RefOr<Schema>>) -> ArrayBuilder {
    ArrayBuilder::new().items(item.into())
}

fn reference(name: &str) -> RefOr<Schema> {
    Ref::from_schema_name(name).into()
}

/// A text column of a row to write; a whole number is taken too.
fn key_text(least: usize) -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(SchemaType::from_iter([Type::String, Type::Integer]))
        .min_length(Some(least))
        .max_length(Some(body::LONGEST))
        .minimum(Some(0))
}

fn optional_text() -> ObjectBuilder {
    key_text(0).schema_type(SchemaType::from_iter([Type::String, Type::Integer, Type::Null]))
}

/// An exact number: a JSON number, or its text.
fn decimal(is_optional: bool) -> ObjectBuilder {
    let kinds = [Type::Number, Type::String, Type::Null];
    let kinds = &kinds[..if is_optional { 3 } else { 2 }];
    ObjectBuilder::new()
        .schema_type(kinds.iter().cloned().collect::<SchemaType>())
        .pattern(Some(DECIMAL))
        .minimum(Some(0))
        .maximum(Some(1e15))
}

/// Describes the items of a body.
macro_rules! described {
    ($name:ident, $doc:literal, $schema:expr) => {
        #[doc = $doc]
        pub(super) struct $name;

        impl PartialSchema for $name {
            fn schema() -> RefOr<Schema> {
                $schema.description(Some($doc)).into()
            }
        }

        impl ToSchema for $name {
            fn name() -> Name {
                Cow::Borrowed(stringify!($name))
            }
        }
    };
}

described!(
    NewStock,
    "A level that the ERP wants.",
    object([
        ("store", text()),
        ("sku", key_text(1)),
        ("location_id", key_text(1)),
        ("quantity", decimal(false)),
    ])
);
described!(
    NewPrice,
    "A price tier that the ERP wants: price, or discount_percent. The four package measures go together.",
    object([
        ("store", text()),
        ("sku", key_text(1)),
        (
            "min_quantity?",
            integer().schema_type(or_null(Type::Integer)).minimum(Some(1)).default(Some(json!(1)))
        ),
        ("price?", decimal(true)),
        ("discount_percent?", decimal(true)),
        ("package_weight?", decimal(true)),
        ("package_height?", decimal(true)),
        ("package_width?", decimal(true)),
        ("package_length?", decimal(true)),
    ])
);
described!(
    NewCommand,
    "A command. docs/SCHEMA.md has the key and the data of each kind.",
    object([
        ("store", text()),
        (
            "kind",
            text().enum_values(Some(espelho_model::push::CommandKind::ALL.iter().map(|kind| kind.as_str())))
        ),
        ("key?", optional_text()),
        ("data?", ObjectBuilder::new().schema_type(or_null(Type::Object))),
    ])
);
described!(
    NewTakenOrder,
    "An order that the ERP has taken.",
    object([
        ("store", text()),
        ("order_number", key_text(1)),
        ("erp_id?", optional_text()),
        ("note?", optional_text()),
    ])
);
described!(
    WrittenRow,
    "A row that was written: its place in the batch, its key, its state, its revision or (commands) its id.",
    object([
        ("row", integer().minimum(Some(0))),
        ("store", text()),
        ("sku?", text()),
        ("location_id?", text()),
        ("min_quantity?", integer()),
        ("kind?", text()),
        ("key?", text()),
        ("order_number?", text()),
        ("state", text()),
        ("revision?", integer()),
        ("id?", integer()),
    ])
);
described!(
    Change,
    "An entry of the change feed.",
    object([
        ("seq", integer()),
        ("store", text()),
        ("entity", text()),
        ("key", text()),
        ("op", text().enum_values(Some(["insert", "update", "gone"]))),
        ("at", time()),
    ])
);
described!(
    Alarm,
    "Something that is wrong now. Without a store it concerns several, or all.",
    object([
        ("code", text()),
        ("severity", text().enum_values(Some(["warning", "failing"]))),
        ("store", text().schema_type(or_null(Type::String))),
        ("count", integer()),
        ("since", time().schema_type(or_null(Type::String))),
        ("text", text()),
        ("next", text()),
    ])
);
described!(
    ProblemDetails,
    "Problem details (RFC 9457). Codes are stable; detail and next are for people, in the language of Accept-Language.",
    object([
        ("type", text()),
        ("title", text()),
        ("status", integer()),
        ("code", text()),
        ("detail", text()),
        ("next", text()),
    ])
    .property(
        "errors",
        array(object([
            ("row", integer()),
            ("column", text().schema_type(or_null(Type::String))),
            ("code", text()),
            ("detail", text()),
        ]))
    )
);

/// The body of an acknowledgement.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Acknowledgement {
    pub(super) seq: i64,
}

impl PartialSchema for Acknowledgement {
    fn schema() -> RefOr<Schema> {
        object([("seq", integer().minimum(Some(0)))])
            .description(Some("The last entry that was processed."))
            .into()
    }
}

impl ToSchema for Acknowledgement {
    fn name() -> Name {
        Cow::Borrowed("Acknowledgement")
    }
}

/// Returns the answers of a route: its result, and the problems with these statuses.
pub(super) fn answers(result: impl Into<RefOr<Schema>>, statuses: &[u16]) -> Responses {
    let ok = ResponseBuilder::new().description("The result.");
    let ok = ok.content("application/json", Content::new(Some(result.into())));
    let mut all = Responses::from([("200".to_owned(), ok.build().into())]);
    // Any route may answer these: off, no token, a token without the right, no database.
    for status in [400, 401, 403, 404, 503].iter().chain(statuses) {
        all.insert(status.to_string(), problem(*status).into());
    }
    all
}

fn problem(status: u16) -> Response {
    let title = axum::http::StatusCode::from_u16(status).ok();
    let title = title.and_then(|status| status.canonical_reason()).unwrap_or_default();
    let described = ResponseBuilder::new().description(title);
    let described = described.content(PROBLEM, Content::new(Some(reference("ProblemDetails"))));
    let header = |text: &str| HeaderBuilder::new().schema(Some(self::text())).description(Some(text)).build();
    match status {
        401 => described.header("WWW-Authenticate", header("Bearer")),
        409 | 503 => described.header("Retry-After", header("Seconds")),
        _ => described,
    }
    .build()
}

/// Gives a route its answers.
macro_rules! answered {
    ($name:ident, $result:expr, $statuses:expr) => {
        pub(super) struct $name;

        impl IntoResponses for $name {
            fn responses() -> Responses {
                answers($result, &$statuses)
            }
        }
    };
}

answered!(WriteAnswers, object([("rows", array(reference("WrittenRow")))]), [408, 409, 413, 415, 422]);
answered!(
    FeedAnswers,
    object::<RefOr<Schema>>([("changes", array(reference("Change")).into()), ("next", integer().into())]),
    []
);
answered!(AckAnswers, object([("name", text()), ("seq", integer())]), [408, 413, 415, 422]);
answered!(
    ConsumersAnswers,
    object([("consumers", array(object([("name", text()), ("seq", integer()), ("updated_at", time())])))]),
    []
);
answered!(
    AlarmsAnswers,
    object::<RefOr<Schema>>([
        ("state", text().enum_values(Some(["ok", "unknown", "warning", "failing"])).into()),
        ("at", time().into()),
        ("alarms", array(reference("Alarm")).into()),
    ]),
    []
);

/// Returns an optional parameter of a query.
pub(super) fn in_query(name: &str, description: &str, schema: impl Into<RefOr<Schema>>) -> Parameter {
    ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Query)
        .required(Required::False)
        .description((!description.is_empty()).then_some(description))
        .schema(Some(schema.into()))
        .build()
}

/// Gives a route its parameters.
macro_rules! parameters {
    ($name:ident, $parameters:expr) => {
        pub(super) struct $name;

        impl IntoParams for $name {
            fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
                $parameters
            }
        }
    };
}

fn bounded(least: u32, most: u32, usual: u32) -> ObjectBuilder {
    integer().minimum(Some(least)).maximum(Some(most)).default(Some(json!(usual)))
}

/// Returns the parameter for the length of a page.
pub(super) fn limit() -> Parameter {
    use super::query::{MOST, USUAL};
    in_query("limit", "At most so many.", bounded(1, MOST, USUAL))
}

parameters!(
    FeedParameters,
    vec![
        in_query(
            "consumer",
            "Begins after what this consumer has acknowledged.",
            text().min_length(Some(1)).max_length(Some(200)).pattern(Some(r"\S"))
        ),
        in_query("after", "Begins after this number.", integer().minimum(Some(0))),
        limit(),
        in_query("wait", "Seconds to wait for a change, if there is none.", bounded(0, 30, 0)),
    ]
);
parameters!(
    AlarmParameters,
    vec![in_query(
        "lang",
        "The language, instead of Accept-Language.",
        text().enum_values(Some(["pt-BR", "en"]))
    )]
);
parameters!(
    IdempotencyKey,
    vec![
        ParameterBuilder::new()
            .name("Idempotency-Key")
            .parameter_in(ParameterIn::Header)
            .required(Required::False)
            .description(Some(
                "Chosen by the sender, new for each request. The same request again has the same answer and writes \
                 nothing, for a day at least."
            ))
            .schema(Some(text().min_length(Some(1)).max_length(Some(255)).pattern(Some("^[!-~]+$"))))
            .build(),
    ]
);
