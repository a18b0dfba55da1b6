//! Every statement of the crate in one list, so that a test can prepare all of them on both databases.

use crate::{
    Error, Store, ask, changes, driver::Insert, failures, identity, inbox, lease, orders, passes, products,
    rate, rows::Mirror, runs, tokens, webhook_secrets,
};

/// Statements that run as they are.
const PLAIN: &[&str] = &[
    ask::PROBE,
    failures::LOAD,
    identity::MOVE,
    identity::READ,
    identity::STAMP,
    lease::CHECK,
    lease::TAKE,
    lease::WHO,
    passes::BEGIN,
    passes::END,
    passes::END_PAGES,
    passes::KEEP,
    passes::LOAD,
    passes::PAGES,
    products::LOCATIONS,
    rate::FORGET,
    rate::LOAD,
    runs::ABANDON,
    runs::FINISH,
    runs::LAST,
    runs::START,
    tokens::FORGET,
    tokens::LOAD,
    tokens::LOGINS,
    tokens::RECORD,
    tokens::SAVE,
];

/// Statements on the inbox, which may be a database of its own.
const INBOX: &[&str] = &[
    inbox::BACKLOG,
    inbox::OLDEST,
    inbox::PROBE,
    inbox::PRUNE,
    inbox::UNHANDLED,
    webhook_secrets::FORGET,
    webhook_secrets::LOAD,
    webhook_secrets::RETIRE,
    webhook_secrets::SAVE,
];

/// Statements that end in a list of keys.
const WITH_KEYS: &[&str] =
    &[failures::CLEAR, orders::ITEMS_GONE, products::PRICES_GONE, products::STOCK_GONE];

/// Statements that insert many rows.
const INSERTS: &[&Insert] = &[
    &changes::APPEND,
    &failures::KEEP,
    &orders::UPSERT,
    &orders::UPSERT_ITEMS,
    &products::UPSERT,
    &products::UPSERT_LOCATIONS,
    &products::UPSERT_PRICES,
    &products::UPSERT_STOCK,
    &rate::KEEP,
];

const MIRRORS: &[&Mirror] = &[&orders::MIRROR, &products::MIRROR];

/// Prepares every statement; gives how many there were.
///
/// # Errors
/// The first statement that the database does not accept.
pub async fn prepare_all(store: &Store) -> Result<usize, Error> {
    let with_key = |head: &&str| format!("{head} IN (${})", crate::driver::placeholders(head) + 1);
    let places = store.database.places();
    let mut statements: Vec<String> = PLAIN.iter().map(|&sql| sql.to_owned()).collect();
    statements.extend(WITH_KEYS.iter().map(with_key));
    statements.extend(INSERTS.iter().flat_map(|insert| [1, 2].map(|rows| insert.sql(rows, places))));
    for mirror in MIRRORS {
        statements.extend([mirror.count, mirror.live, mirror.relist].map(str::to_owned));
        statements.extend([mirror.known, mirror.gone].iter().map(with_key));
    }
    let mut on_inbox: Vec<String> = INBOX.iter().map(|&sql| sql.to_owned()).collect();
    on_inbox.push(with_key(&inbox::HANDLED));
    on_inbox.extend([1, 2].map(|rows| inbox::KEEP.sql(rows, places)));
    let count = statements.len() + on_inbox.len();
    for statement in statements {
        store.database.prepare(statement).await?;
    }
    for statement in on_inbox {
        store.inbox.prepare(statement).await?;
    }
    Ok(count)
}
