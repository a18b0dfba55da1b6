//! Answers: the success body and every documented refusal, in the document's envelopes.

use hyper::header::{HeaderName, HeaderValue};

use crate::{json::Json, query::FieldErrors};

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

/// Why a request is refused.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// 401: no usable token.
    Token,
    /// 401: a login that failed, without saying why.
    Login,
    /// 403, with the missing abilities.
    Abilities(Vec<&'static str>),
    /// 404: absent, or of another store.
    NotFound,
    /// 404: there is no such route.
    NoRoute,
    /// 405, with the methods that the path has.
    Method(&'static str),
    /// 413: a body beyond anything the document describes.
    TooLarge,
    /// 422, by field.
    Invalid(FieldErrors),
    /// 429, with the seconds to wait.
    TooMany(u32),
}

impl Refusal {
    fn parts(&self) -> (u16, &'static str, &'static str) {
        match self {
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
        json.key("data").raw("[]");
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
                answer.headers.push((hyper::header::ALLOW, HeaderValue::from_static(allow)));
            }
            _ => {}
        }
        answer
    }
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
        Refusal::Invalid(errors) => write_field_errors(json, errors),
        _ => json.raw("[]"),
    }
}

/// `{"field": ["message", …], …}`: the messages of one field stand together.
fn write_field_errors(json: &mut Json, errors: &FieldErrors) {
    json.open_object();
    for (at, (field, _)) in errors.iter().enumerate() {
        if errors[..at].iter().any(|(earlier, _)| earlier == field) {
            continue;
        }
        json.key(field).open_array();
        for (_, message) in errors.iter().filter(|(other, _)| other == field) {
            json.text(message);
        }
        json.close_array();
    }
    json.close_object();
}
