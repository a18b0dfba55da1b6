//! Answers: the success body and every documented refusal, in the document's envelopes.

use hyper::header::{HeaderName, HeaderValue};

use crate::{
    json::Json,
    refusal::{FieldErrors, Refusal},
};

/// One answer, before it becomes an HTTP response.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) content_type: HeaderValue,
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    pub(crate) body: Vec<u8>,
}

const JSON: HeaderValue = HeaderValue::from_static("application/json");

impl Answer {
    /// A body that is JSON already.
    pub(crate) fn json(status: u16, body: Vec<u8>) -> Self {
        Self { status, content_type: JSON, headers: Vec::new(), body }
    }

    /// The success envelope around a value. Amounts belong into [`Answer::success`], which writes them exactly.
    pub(crate) fn value(data: &serde_json::Value) -> Self {
        Self::success(false, |json| json.value_of(data))
    }

    /// The same answer with another status.
    pub(crate) fn with_status(self, status: u16) -> Self {
        Self { status, ..self }
    }

    /// 204, which has no body.
    pub(crate) fn no_content() -> Self {
        Self::json(204, Vec::new())
    }

    /// The success envelope around what `data` writes.
    pub(crate) fn success(numbers_as_strings: bool, data: impl FnOnce(&mut Json)) -> Self {
        let mut json = Json::new(numbers_as_strings);
        json.open_object();
        json.key("success").bool(true);
        json.key("message_code").raw_text("SUCCESS");
        json.key("data");
        data(&mut json);
        json.close_object();
        Self::json(200, json.into_bytes())
    }
}

impl Refusal {
    fn parts(&self) -> (u16, &'static str, &str) {
        match self {
            Self::BadRequest(description) => (400, "BAD_REQUEST", description),
            Self::Feature(_) => (403, "FORBIDDEN", "O recurso não está habilitado para esta loja."),
            Self::Conflict(description) => (409, "CONFLICT", description),
            Self::Rule(code, description) => (422, code, description),
            Self::Business { .. } => {
                (422, "UNPROCESSABLE_ENTITY", "O anúncio não está pronto para ser criado.")
            }
            Self::Token => (401, "UNAUTHORIZED", "Token de acesso ausente, inválido, revogado ou expirado."),
            Self::Login => (401, "UNAUTHORIZED", "Credenciais inválidas."),
            Self::Abilities(_) => {
                (403, "FORBIDDEN", "O token não possui as permissões necessárias para este recurso.")
            }
            Self::NotFound => (404, "NOT_FOUND", "Recurso não encontrado."),
            Self::NoRoute => (404, "NOT_FOUND", "Rota não encontrada."),
            Self::Method(_) => (405, "METHOD_NOT_ALLOWED", "Método não permitido para esta rota."),
            Self::TooLarge => (413, "PAYLOAD_TOO_LARGE", "O corpo da requisição é grande demais."),
            Self::Invalid(_) => (422, "VALIDATION_ERROR", "Os dados informados são inválidos."),
            Self::TooMany(_) => (
                429,
                "TOO_MANY_REQUESTS",
                "Limite de requisições excedido. Aguarde antes de tentar novamente.",
            ),
        }
    }
}

impl From<Refusal> for Answer {
    fn from(refusal: Refusal) -> Self {
        let (status, code, description) = refusal.parts();
        let mut json = Json::new(false);
        json.open_object();
        json.key("success").bool(false);
        json.key("code").id(u64::from(status));
        json.key("message_code").raw_text(code);
        json.key("description").text(description);
        json.key("data");
        write_data(&mut json, &refusal);
        json.key("errors");
        write_errors(&mut json, &refusal);
        json.key("meta").raw("[]");
        json.close_object();
        let mut answer = Self::json(status, json.into_bytes());
        match refusal {
            Refusal::TooMany(seconds) => {
                answer.headers.push((hyper::header::RETRY_AFTER, HeaderValue::from(seconds)));
            }
            Refusal::Method(allow) => {
                answer.headers.push((
                    hyper::header::ALLOW,
                    HeaderValue::try_from(allow).unwrap_or(HeaderValue::from_static("GET")),
                ));
            }
            _ => {}
        }
        answer
    }
}

/// An empty list, as the document has it, but for the listing checks, which say why.
fn write_data(json: &mut Json, refusal: &Refusal) {
    let Refusal::Business { reason, details } = refusal else {
        json.raw("[]");
        return;
    };
    json.value_of(&serde_json::json!({"reason": reason, "details": details}));
}

fn write_errors(json: &mut Json, refusal: &Refusal) {
    match refusal {
        Refusal::Abilities(missing) => {
            json.open_array();
            for ability in missing {
                json.text(ability);
            }
            json.close_array();
        }
        Refusal::Feature(name) => {
            json.open_array();
            json.text(name);
            json.close_array();
        }
        Refusal::Invalid(errors) => write_field_errors(json, errors),
        _ => json.raw("[]"),
    }
}

/// `{"field": ["message", …], …}`: the messages of one field stand together.
fn write_field_errors(json: &mut Json, errors: &FieldErrors) {
    let errors = errors.as_slice();
    json.open_object();
    for (at, (field, _)) in errors.iter().enumerate() {
        if errors[..at].iter().any(|(earlier, _)| earlier == field) {
            continue;
        }
        json.foreign_key(field).open_array();
        for (_, message) in errors.iter().filter(|(other, _)| other == field) {
            json.text(message);
        }
        json.close_array();
    }
    json.close_object();
}
