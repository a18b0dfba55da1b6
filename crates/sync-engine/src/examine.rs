//! Answers questions about a store's credential and webhook. The calls change nothing, except for the login that proves
//! the password.

use espelho_api_client::{
    Client, Documented, Error as ApiError,
    resources::{orders::OrderQuery, paging::Paging},
};
use espelho_model::text::{Arg, Text};
use serde::{Deserialize, Serialize};

use crate::{Problem, report::with_causes};

/// A question about the credential or the webhook.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Question {
    /// Does the marketplace accept the token?
    Token,
    /// Has the token the abilities that the service needs?
    Abilities,
    /// Has it those beside reading orders?
    OtherAbilities,
    /// Does the webhook's test delivery arrive?
    Webhook,
    /// Does the marketplace accept the password? Costs a login, and invalidates the previous token.
    Password,
}

/// The answer to a [`Question`].
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Examination {
    /// The marketplace accepted the token at this moment.
    Token(TokenProof),
    /// One entry for each ability.
    Abilities(Vec<Ability>),
    /// The result of a test delivery.
    Webhook(RoundTrip),
    /// The login succeeded.
    Password,
    /// The question could not be answered.
    Failed(Refusal),
}

/// The proof that a token works.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct TokenProof {
    /// The store's name, if the session reports it.
    pub name: Option<String>,
    /// The status of an answer that accepted the token without naming its store (403, 404).
    pub withheld: Option<u16>,
    /// Slots of the budget held at this moment.
    pub held: u32,
}

/// Why a question has no answer.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Refusal {
    /// A short stable code.
    pub code: String,
    /// The error with its causes, in English, for logs.
    pub error: String,
    /// The cause for people; absent from a service of an earlier version.
    #[serde(default)]
    pub text: Option<Text>,
    /// Whether the marketplace rejects the credential.
    pub is_authentication: bool,
    /// The fields of a login that the marketplace refuses with 422, with commas between them; empty where it names none.
    #[serde(default)]
    pub refused_fields: Option<String>,
}

/// An ability of a token (API document, "Authentication and session").
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Ability {
    /// Its name in the seller portal, or its purpose if the document names none.
    pub name: String,
    /// Whether the token has it; absent if unknown.
    pub granted: Option<bool>,
    /// The missing abilities that the marketplace's refusal names.
    pub missing: Vec<String>,
    /// Why the check failed, if it did, in English, for logs.
    pub error: Option<String>,
    /// The same for people; absent from a service of an earlier version.
    #[serde(default)]
    pub text: Option<Text>,
}

/// The ability to read orders; the document names none.
const ORDERS: &str = "orders";

impl Ability {
    fn seen(name: &str, granted: Option<bool>) -> Self {
        Self { name: name.to_owned(), granted, missing: Vec::new(), error: None, text: None }
    }

    /// The ability to read orders, of a token that has just read some.
    pub fn orders_read() -> Self {
        seen(ORDERS, Ok(()))
    }
}

/// The code of a test delivery that its owner did not ask for, because it receives none.
pub const NOT_RECEIVED: &str = "not_received";

/// The result of a requested test delivery.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RoundTrip {
    /// It arrived.
    Arrived {
        /// The time from request to arrival.
        milliseconds: u64,
    },
    /// The marketplace has no active webhook for it.
    Refused {
        /// The marketplace's message.
        problem: String,
    },
    /// The marketplace accepted the request, but nothing has arrived yet.
    Unanswered,
    /// The delivery could not be requested.
    NotAsked(Refusal),
}

impl From<&Problem> for Refusal {
    fn from(problem: &Problem) -> Self {
        Self {
            code: problem.code.clone(),
            error: problem.error.clone(),
            text: Some(problem.text.clone()),
            is_authentication: problem.is_authentication(),
            refused_fields: None,
        }
    }
}

impl Refusal {
    /// Returns the cause for people.
    pub fn cause(&self) -> Arg {
        self.text.clone().map_or_else(|| Arg::from(&self.error), Arg::from)
    }

    fn of(error: &ApiError) -> Self {
        Self { refused_fields: error.refused_login_fields(), ..Self::from(&Problem::from_api(error)) }
    }
}

/// Answers a question by calling the marketplace. Only a receiver of deliveries can tell whether one arrives.
pub async fn examine(client: &Client, page_parameter: &str, question: Question) -> Examination {
    let found = match question {
        Question::Token => token(client).await.map(Examination::Token),
        Question::Abilities => Ok(Examination::Abilities(abilities(client, page_parameter).await)),
        Question::OtherAbilities => Ok(Examination::Abilities(other_abilities(client).await)),
        Question::Password => client.auth().log_in_again().await.map(|()| Examination::Password),
        Question::Webhook => {
            let error = "nobody receives deliveries here".to_owned();
            let code = NOT_RECEIVED.into();
            let refusal = Refusal { code, error, text: None, is_authentication: false, refused_fields: None };
            return Examination::Webhook(RoundTrip::NotAsked(refusal));
        }
    };
    found.unwrap_or_else(|error| Examination::Failed(Refusal::of(&error)))
}

async fn token(client: &Client) -> Result<TokenProof, ApiError> {
    let proof = match client.auth().session().await {
        Ok(read) => TokenProof { name: read.value.name, ..TokenProof::default() },
        // A 403 or a 404 means that the marketplace accepted the token.
        Err(ApiError::Refused { status: status @ (403 | 404), .. }) => {
            TokenProof { withheld: Some(status), ..TokenProof::default() }
        }
        Err(error) => return Err(error),
    };
    Ok(TokenProof { held: client.limiter().held(), ..proof })
}

/// Checks each ability by reading a little of what needs it. An ability that only a write would show stays unknown.
async fn abilities(client: &Client, page_parameter: &str) -> Vec<Ability> {
    let query = OrderQuery {
        limit: Some(1),
        page: 1,
        page_parameter: page_parameter.to_owned(),
        ..OrderQuery::default()
    };
    let orders = seen(ORDERS, client.orders().list(&query).await.map(drop));
    std::iter::once(orders).chain(other_abilities(client).await).collect()
}

/// Checks each ability but that of reading orders.
async fn other_abilities(client: &Client) -> Vec<Ability> {
    let campaigns = client.campaigns().calendar(Paging { page: 1, per_page: Some(1) }).await.map(drop);
    let unseen = |name: &str| Ability::seen(name, None);
    vec![
        seen("store_products_read", campaigns),
        unseen("store_products_write"),
        unseen("store_orders_substores"),
    ]
}

fn seen(name: &str, result: Result<(), ApiError>) -> Ability {
    match result {
        Ok(()) => Ability::seen(name, Some(true)),
        Err(error) => match error.kind() {
            Some(Documented::MissingAbilities(missing)) => {
                Ability { missing, ..Ability::seen(name, Some(false)) }
            }
            _ => {
                let (text, error) = (Some(error.text()), Some(with_causes(&error)));
                Ability { error, text, ..Ability::seen(name, None) }
            }
        },
    }
}
