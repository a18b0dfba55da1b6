//! What a store's token may do, as far as that can be seen without changing anything, and whether its webhook arrives.

use espelho_api_client::{
    Client, Documented, Error as ApiError,
    resources::{orders::OrderQuery, paging::Paging},
};
use serde::{Deserialize, Serialize};

use crate::report::with_causes;

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Examination {
    /// What the token may do.
    pub abilities: Vec<Ability>,
    /// How the webhook's round trip went; absent where there is none.
    pub webhook: Option<RoundTrip>,
}

/// Whether a token has an ability (API document, "Authentication and session").
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Ability {
    /// Its name in the seller portal, or what it is for where the document names none.
    pub name: String,
    /// Absent where that cannot be seen.
    pub granted: Option<bool>,
    /// What was seen, or why nothing could be.
    pub said: String,
    /// Whether it should have been seen, and the question failed.
    #[serde(default)]
    pub failed: bool,
}

/// From asking for a test delivery to its arrival.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct RoundTrip {
    /// How long it took; absent where it did not arrive.
    pub milliseconds: Option<u64>,
    /// Why it could not be asked for.
    pub problem: Option<String>,
}

/// Looks at each ability: reads a little of what needs it. What only writing would show is said to be unseen.
pub async fn abilities(client: &Client, page_parameter: &str) -> Vec<Ability> {
    let query = OrderQuery {
        limit: Some(1),
        page: 1,
        page_parameter: page_parameter.to_owned(),
        ..OrderQuery::default()
    };
    let orders = client.list_orders(&query).await.map(drop);
    let campaigns = client.campaign_calendar(Paging { page: 1, per_page: Some(1) }).await.map(drop);
    let unseen =
        |name: &str, why: &str| Ability { name: name.into(), granted: None, said: why.into(), failed: false };
    vec![
        seen("orders", "orders can be read", orders),
        seen("store_products_read", "campaigns can be read", campaigns),
        unseen("store_products_write", "cannot be seen without writing"),
        unseen("store_orders_substores", "cannot be seen: it only adds orders of sub-stores to the others"),
    ]
}

fn seen(name: &str, well: &str, result: Result<(), ApiError>) -> Ability {
    let (granted, said) = match result {
        Ok(()) => (Some(true), well.to_owned()),
        Err(error) => match error.kind() {
            Some(Documented::MissingAbilities(missing)) => {
                (Some(false), format!("the token lacks {}", missing.join(", ")))
            }
            _ => (None, with_causes(&error)),
        },
    };
    Ability { name: name.to_owned(), granted, said, failed: granted.is_none() }
}
