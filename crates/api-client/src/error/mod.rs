//! The errors of a call, and what they mean for the caller.

mod advice;
mod documented;
mod known_secrets;
mod refusal;
mod words;

use std::{error::Error as StdError, time::Duration};

pub use documented::Documented;
pub use known_secrets::{conceal, without_known};
pub use refusal::Refusal;
pub(crate) use words::presentable;

/// What an error means for the next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// The same call may succeed later, but not before `after` if the server set a wait.
    Transient {
        /// The wait that the server asked for.
        after: Option<Duration>,
    },
    /// The token was not accepted. The call may succeed with a new one.
    Reauthenticate,
    /// The same call will fail again.
    Permanent,
    /// A write whose effect is unknown. It is settled by reading, never by sending again.
    Ambiguous,
}

/// A boxed error of a collaborator (the token store, the quota store).
pub type BoxedError = Box<dyn StdError + Send + Sync>;

/// Why a call returned no usable answer.
///
/// `Display` is for logs: it has status and code, and nothing that the marketplace or a proxy put in words, because that
/// may name a person. [`Error::text`] has the words, for the row and for whoever reads it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The base address or an option is invalid.
    #[error("the client cannot be set up: {0}")]
    Setup(String),
    /// No connection: nothing was sent.
    #[error("{request}: no connection to {host}")]
    Unreachable {
        /// The call.
        request: String,
        /// The host that did not answer.
        host: String,
        /// The cause.
        source: reqwest::Error,
    },
    /// The call was sent, but no complete answer came back.
    #[error("{request}: the answer did not arrive whole")]
    Interrupted {
        /// The call.
        request: String,
        /// Whether the call is a read.
        read: bool,
        /// The cause.
        source: reqwest::Error,
    },
    /// The answer exceeds the size limit.
    #[error("{request}: the answer is larger than {limit_mib} MiB")]
    TooLarge {
        /// The call.
        request: String,
        /// Whether the call is a read.
        read: bool,
        /// The answer is larger than this.
        limit_mib: usize,
    },
    /// The answer is not JSON, or is cut off before its JSON ends.
    #[error("{request}: answered {status} with {content_type} that cannot be read ({problem})")]
    Unreadable {
        /// The call.
        request: String,
        /// Whether the call is a read.
        read: bool,
        /// The HTTP status.
        status: u16,
        /// The content type, or "no content type".
        content_type: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The answer is complete JSON of a shape that the document does not describe.
    #[error("{request}: the answer is not what was asked for ({problem})")]
    Unexpected {
        /// The call.
        request: String,
        /// Whether the call is a read.
        read: bool,
        /// What is wrong with it.
        problem: String,
    },
    /// The marketplace gave an address that must not be fetched.
    #[error("{file}: the address of the file {objection}")]
    AddressRefused {
        /// The address without its signature.
        file: String,
        /// What is wrong with it.
        objection: &'static str,
    },
    /// A signed address has expired, or was never valid. The file still exists; request its address again.
    #[error("{file}: the signed address was refused with {status}, it has probably expired")]
    AddressExpired {
        /// The address without its signature.
        file: String,
        /// The HTTP status.
        status: u16,
    },
    /// The object storage behind a signed address did not return the file.
    #[error("{file}: the object storage answered {status}")]
    FileRefused {
        /// The address without its signature.
        file: String,
        /// The HTTP status.
        status: u16,
    },
    /// The marketplace refused the call.
    #[error("{request}: refused with {status}{}", refusal.after_status())]
    Refused {
        /// The call.
        request: String,
        /// Whether the call is a read.
        read: bool,
        /// The HTTP status.
        status: u16,
        /// What the server said.
        refusal: Box<Refusal>,
        /// The wait that the server asked for (429 and 503).
        after: Option<Duration>,
    },
    /// The credential was not accepted.
    #[error("login of {username:?} refused with {status}{}", refusal.after_status())]
    LoginRefused {
        /// The username of the credential.
        username: String,
        /// The HTTP status.
        status: u16,
        /// What the server said.
        refusal: Box<Refusal>,
    },
    /// The login had no answer, or an unreadable one. The answer itself is not shown, because it may hold a token.
    #[error("login of {username:?} had no usable answer")]
    LoginFailed {
        /// The username of the credential.
        username: String,
        /// The cause.
        source: Box<Error>,
    },
    /// Our token was replaced repeatedly: another program logs in with the same credential.
    #[error("the token of {username:?} was invalidated {times} times within an hour")]
    ForeignLogin {
        /// The username of the credential.
        username: String,
        /// How often we had to log in again.
        times: usize,
    },
    /// The token store could not be read or written.
    #[error("the token record could not be {action}")]
    TokenStore {
        /// `read` or `written`.
        action: &'static str,
        /// The cause.
        source: BoxedError,
    },
    /// This process does not hold the store's lease, or no longer holds it. Only the holder calls the marketplace.
    #[error("{request}: not called, the store is not ours any more")]
    NotOurs {
        /// The call.
        request: String,
        /// Whether the call may have been sent before the client stopped waiting for its answer.
        sent: bool,
        /// Whether the call is a read.
        read: bool,
        /// The cause.
        source: BoxedError,
    },
    /// The work stops: the call still waited, and was not sent.
    #[error("{request}: not called, the work stops")]
    Stopped {
        /// The call.
        request: String,
    },
    /// The quota store could not be read or written.
    #[error("the record of the request budget could not be {action}")]
    QuotaStore {
        /// `read` or `written`.
        action: &'static str,
        /// The cause.
        source: BoxedError,
    },
}

impl Error {
    /// Returns what the error means for the next step.
    pub fn class(&self) -> Class {
        let later = Class::Transient { after: None };
        let unknown = |read: &bool| if *read { later } else { Class::Ambiguous };
        match self {
            // The record of the budget is written before a call: nothing was sent. The database is busy for a while.
            Self::Unreachable { .. } | Self::QuotaStore { .. } => later,
            Self::LoginFailed { source, .. } => source.class_of_login(),
            Self::Interrupted { read, .. } => unknown(read),
            Self::Unreadable { read, status: 200..=299 | 408 | 500.., .. } => unknown(read),
            Self::Refused { status: 401, .. } => Class::Reauthenticate,
            Self::Refused { status: 429, after, .. } => Class::Transient { after: *after },
            Self::Refused { read: true, status: 503, after, .. } => Class::Transient { after: *after },
            Self::Refused { read, status: 408 | 500.., .. } => unknown(read),
            // The answer is complete but not understood. A read would get it again; a write may or may not have had
            // its effect.
            Self::Unexpected { read: false, .. } | Self::TooLarge { read: false, .. } => Class::Ambiguous,
            Self::NotOurs { sent: true, read: false, .. } => Class::Ambiguous,
            Self::FileRefused { status: 408 | 429 | 500.., .. } => later,
            // A 2xx with `success: false` proves neither success nor failure, and neither does a redirect.
            Self::Refused { read: false, status: 200..=399, .. } => Class::Ambiguous,
            _ => Class::Permanent,
        }
    }

    /// Classifies a failed login. A login may be repeated, because it only replaces the token whose answer was lost.
    /// An answer that does not match the document would come again, and every further login ends a token that may be
    /// in use.
    fn class_of_login(&self) -> Class {
        match self {
            Self::Unexpected { .. } | Self::TooLarge { .. } | Self::NotOurs { .. } | Self::Stopped { .. } => {
                Class::Permanent
            }
            other => match other.class() {
                Class::Ambiguous => Class::Transient { after: None },
                class => class,
            },
        }
    }

    /// Returns which of the document's errors a refusal is (API document, "Errors / Codes"); `None` for other errors.
    ///
    /// The server's words decide ([`Refusal::kind`]). Where the document leaves them ambiguous, the called route
    /// decides.
    pub fn kind(&self) -> Option<Documented> {
        let Self::Refused { request, status, refusal, .. } = self else { return None };
        let is_download = request.contains("/labels/") && request.ends_with("/download");
        // "404 when the order has no shipment" (API document, "Shipments and labels"), with no code of its own.
        let has_no_shipment = *status == 404
            && refusal.is_enveloped
            && request.contains(" /api/v1/sellers/orders/")
            && request.ends_with("/shipments");
        Some(match refusal.kind(*status) {
            Documented::MissingAbilities(_)
                if request.contains(" /api/stores/page") || request.contains(" /api/stores/rating") =>
            {
                Documented::StorePageClosed
            }
            Documented::ImageInUse if !request.contains(" /api/media") => Documented::Unknown,
            Documented::ImpossibleTransition if !request.contains(" /api/v1/sellers/orders") => {
                Documented::InvalidFields
            }
            Documented::Unknown if is_download && refusal.message_code == "UNPROCESSABLE_ENTITY" => {
                Documented::LabelNotReady
            }
            Documented::Unknown if has_no_shipment => Documented::NotFound,
            kind => kind,
        })
    }

    /// Returns whether the marketplace itself answers that the object does not exist, in the document's words. The 404
    /// of a proxy or of another server says nothing about the object.
    pub fn is_absent(&self) -> bool {
        self.kind() == Some(Documented::NotFound)
    }

    /// Returns whether somebody else says that there is nothing here: a proxy's page, or another server. The
    /// marketplace itself has then not answered.
    pub fn is_foreign_denial(&self) -> bool {
        matches!(self, Self::Refused { status: 404 | 410, .. }) && !self.is_absent()
    }

    /// Returns whether the marketplace refused to process the call because of too many requests.
    pub(crate) fn is_too_many(&self) -> bool {
        matches!(self, Self::Refused { status: 429, .. })
    }

    /// Returns whether the marketplace itself refused a login because of too many, in the document's words. A proxy or an
    /// overload guard answers 429 without its code.
    pub(crate) fn is_login_limit(&self) -> bool {
        matches!(self, Self::Refused { status: 429, refusal, .. } if !refusal.message_code.is_empty())
    }

    /// Returns whether the call was never sent: there was no connection.
    pub fn was_never_sent(&self) -> bool {
        match self {
            Self::Unreachable { .. } | Self::NotOurs { sent: false, .. } | Self::Stopped { .. } => true,
            Self::LoginFailed { source, .. } => source.was_never_sent(),
            _ => false,
        }
    }

    /// Returns whether nobody may call the marketplace for this store now: another process holds its lease, or the work
    /// stops.
    pub fn is_not_ours(&self) -> bool {
        match self {
            Self::NotOurs { .. } | Self::Stopped { .. } => true,
            Self::LoginFailed { source, .. } => source.is_not_ours(),
            _ => false,
        }
    }

    /// Returns whether the call was not sent because the work stops.
    pub fn is_stopped(&self) -> bool {
        match self {
            Self::Stopped { .. } => true,
            Self::LoginFailed { source, .. } => source.is_stopped(),
            _ => false,
        }
    }

    /// Returns the fields of a login that the marketplace refuses, with commas between them; empty where it names none.
    /// `None` for every other error: a wrong password is a 401 (API document, "Authentication" 8).
    pub fn refused_login_fields(&self) -> Option<String> {
        let Self::LoginRefused { status: 422, refusal, .. } = self else { return None };
        let fields: Vec<&str> = refusal.fields.keys().map(String::as_str).collect();
        Some(fields.join(", "))
    }

    /// Returns whether the cause is the credential.
    pub fn is_authentication(&self) -> bool {
        matches!(
            self,
            Self::LoginRefused { .. } | Self::ForeignLogin { .. } | Self::Refused { status: 401, .. }
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(status: u16, read: bool) -> Class {
        Error::Refused { request: "GET /".into(), read, status, refusal: Box::default(), after: None }.class()
    }

    // withstands: F007
    #[test]
    fn every_status_has_the_class_that_its_meaning_gives_it() {
        for status in 100..=599 {
            let expected_read = match status {
                401 => Class::Reauthenticate,
                408 | 429 | 500.. => Class::Transient { after: None },
                _ => Class::Permanent,
            };
            let expected_write = match status {
                401 => Class::Reauthenticate,
                429 => Class::Transient { after: None },
                200..=399 | 408 | 500.. => Class::Ambiguous,
                _ => Class::Permanent,
            };
            assert_eq!(refused(status, true), expected_read, "read {status}");
            assert_eq!(refused(status, false), expected_write, "write {status}");
        }
    }

    // withstands: F133
    #[test]
    fn what_goes_into_a_log_has_the_code_of_a_refusal_and_none_of_its_words() {
        let said = "cliente Can\u{e1}ria Ningu\u{e9}m, CPF 529.982.247-25";
        let refusal = |code: &str| {
            let body = serde_json::json!({"message_code": code, "description": said, "errors": {"notes": [said]},
                "data": {"reason": said, "details": [said]}});
            Box::new(Refusal::parse(body.to_string().as_bytes()))
        };
        for (code, expected, stable) in [
            ("VALIDATION_ERROR", "PUT /x: refused with 422: VALIDATION_ERROR", "VALIDATION_ERROR"),
            ("", "PUT /x: refused with 422", "http_422"),
            (said, "PUT /x: refused with 422", "http_422"),
            ("529.982.247-25", "PUT /x: refused with 422", "http_422"),
        ] {
            let (request, refusal) = ("PUT /x".to_owned(), refusal(code));
            let error = Error::Refused { request, read: false, status: 422, refusal, after: None };
            assert_eq!((error.to_string().as_str(), error.code().as_str()), (expected, stable));
            assert!(error.text().to_string().contains(said), "the row has the words");
            assert!(
                !error.text().without_quotes().to_string().contains("529"),
                "what leaves the machine has none"
            );
        }
        let username = "loja@1".to_owned();
        let login = Error::LoginRefused { username, status: 422, refusal: refusal("VALIDATION_ERROR") };
        assert_eq!(login.to_string(), "login of \"loja@1\" refused with 422: VALIDATION_ERROR");
        assert!(!login.text().without_quotes().to_string().contains("529"));
    }

    #[test]
    fn only_the_marketplaces_own_404_says_that_an_object_is_absent() {
        for (status, body, is_absent, is_foreign) in [
            (404, r#"{"success":false,"code":404,"message_code":"NOT_FOUND"}"#, true, false),
            (404, "<html><h1>404 Not Found</h1></html>", false, true),
            (404, "", false, true),
            (404, "{}", false, true),
            (404, r#"{"message":"no Route matched with those values"}"#, false, true),
            (404, r#"{"message_code":"ORDER_NOT_FOUND"}"#, true, false),
            (404, r#"{"message_code":"NO_TENANT"}"#, false, true),
            (410, "<html>gone</html>", false, true),
            (410, r#"{"message_code":"NOT_FOUND"}"#, true, false),
            (403, r#"{"message_code":"NOT_FOUND"}"#, false, false),
            (200, r#"{"message_code":"NOT_FOUND"}"#, false, false),
            (503, "<html>down</html>", false, false),
        ] {
            let refusal = Box::new(Refusal::parse(body.as_bytes()));
            let error = Error::Refused { request: "GET /".into(), read: true, status, refusal, after: None };
            assert_eq!(
                (error.is_absent(), error.is_foreign_denial()),
                (is_absent, is_foreign),
                "{status} {body}"
            );
        }
        let cut = Error::TooLarge { request: String::new(), read: true, limit_mib: 32 };
        assert!(!cut.is_absent() && !cut.is_foreign_denial());
    }

    #[test]
    fn an_order_without_shipments_is_told_by_any_404_of_the_marketplace_and_by_no_other() {
        let shipments = "GET /api/v1/sellers/orders/MP-1/shipments";
        for (request, status, body, is_absent) in [
            (shipments, 404, r#"{"success":false,"code":404,"message_code":"NOT_FOUND"}"#, true),
            (shipments, 404, r#"{"success":false,"code":404,"message_code":"NO_SHIPMENT"}"#, true),
            (shipments, 404, r#"{"success":false,"description":"Pedido sem envio"}"#, true),
            (shipments, 404, r#"{"message":"no Route matched with those values"}"#, false),
            (shipments, 404, r#"{"success":true}"#, false),
            (shipments, 404, r#"{"success":"false"}"#, false),
            (shipments, 404, "<html><h1>404 Not Found</h1></html>", false),
            (shipments, 403, r#"{"success":false,"message_code":"NO_SHIPMENT"}"#, false),
            (
                "GET /api/v1/sellers/orders/MP-1",
                404,
                r#"{"success":false,"message_code":"NO_SHIPMENT"}"#,
                false,
            ),
            ("GET /api/seller/logistics/shipments", 404, r#"{"success":false}"#, false),
        ] {
            let refusal = Box::new(Refusal::parse(body.as_bytes()));
            let error = Error::Refused { request: request.into(), read: true, status, refusal, after: None };
            assert_eq!(error.is_absent(), is_absent, "{request} {status} {body}");
        }
    }

    // withstands: F008
    #[test]
    fn an_answer_that_is_not_understood_leaves_a_write_in_doubt_and_a_read_for_good() {
        let unexpected = |read| Error::Unexpected { request: String::new(), read, problem: String::new() };
        let too_large = |read| Error::TooLarge { request: String::new(), read, limit_mib: 32 };
        assert_eq!([unexpected(true).class(), too_large(true).class()], [Class::Permanent; 2]);
        assert_eq!([unexpected(false).class(), too_large(false).class()], [Class::Ambiguous; 2]);
    }

    #[test]
    fn a_login_whose_answer_is_not_understood_is_not_made_again() {
        let login = |source| Error::LoginFailed { username: "l@1".into(), source: Box::new(source) }.class();
        let unexpected = Error::Unexpected { request: String::new(), read: false, problem: String::new() };
        assert_eq!(login(unexpected), Class::Permanent);
        let fault = Error::Refused {
            request: String::new(),
            read: false,
            status: 502,
            refusal: Box::default(),
            after: None,
        };
        assert_eq!(login(fault), Class::Transient { after: None });
    }

    #[test]
    fn a_file_that_expired_is_not_asked_for_again_and_a_storage_that_fails_is() {
        let class = |status| Error::FileRefused { file: String::new(), status }.class();
        assert_eq!([class(503), class(429)], [Class::Transient { after: None }; 2]);
        assert_eq!(class(404), Class::Permanent);
        let expired = Error::AddressExpired { file: "https://s.example/a".into(), status: 403 };
        assert_eq!(expired.class(), Class::Permanent);
        assert!(expired.hint().contains("another address"));
    }
}
