//! Every statement of the crate in one list, so that a test can prepare all of them on both databases.

use crate::{
    Error, Store, alarms, ask, attach, audits, before, changes, consumers, copies, counts,
    driver::{Insert, Places},
    effects, explain, failures, holders, identity, inbox, lease,
    mirrored::{self, campaigns, label_files, listed, tracking},
    missing, orders,
    overview::{self, Both},
    page, parts, passes, products, rate, reread,
    rows::Mirror,
    rows_in_trouble, runs, sweeps, tokens, wanted, webhook_addresses, webhook_secrets,
};

/// Statements that run as they are.
const PLAIN: &[&str] = &[
    alarms::BEAT,
    alarms::CLEAR,
    alarms::CLEAR_SILENT,
    alarms::END,
    alarms::END_SILENT,
    alarms::LAST_BEAT,
    alarms::RECORDED,
    alarms::WORDS,
    ask::PROBE,
    attach::VERSION,
    before::PRODUCT,
    before::STATUS,
    campaigns::OPEN,
    changes::AFTER,
    changes::BOUNDS,
    consumers::ACKNOWLEDGE,
    consumers::ALL,
    consumers::FORGET,
    consumers::PRUNE,
    consumers::READ,
    explain::CHANGES,
    explain::ERRORS,
    explain::ERRORS_OF,
    explain::PARTS,
    failures::LOAD,
    holders::LEASED,
    identity::MOVE,
    identity::READ,
    identity::STAMP,
    label_files::IN_THE_MAKING,
    label_files::KEEP_FILE,
    label_files::LOSE_FILE,
    label_files::READY,
    label_files::RECORD,
    label_files::SETTLE,
    label_files::UNLABELLED,
    label_files::VOID,
    label_files::VOID_BEFORE,
    label_files::WITH_FILE,
    lease::BEFORE,
    lease::CHECK,
    lease::RELEASE,
    lease::TAKE,
    lease::WHO,
    lease::SEEN,
    listed::LIVE_CAMPAIGNS,
    listed::LIVE_IMAGES,
    listed::LIVE_LISTINGS,
    listed::LIVE_PRICE_LISTS,
    missing::COUNT,
    missing::DUE,
    missing::LOAD,
    parts::NEVER_READ,
    parts::OF_ORDER,
    parts::READ_BEFORE_CHANGE,
    parts::AGED,
    passes::BEGIN,
    passes::END,
    passes::END_PAGES,
    passes::KEEP,
    passes::LOAD,
    passes::PAGES,
    products::LOCATIONS,
    rate::FORGET,
    rate::LOAD,
    reread::AGED_FIRST,
    reread::AGED_YOUNG,
    reread::OPEN_ORDERS,
    reread::ORDERS_IN,
    reread::PRODUCTS,
    rows_in_trouble::DUE,
    rows_in_trouble::UNSEEN,
    runs::ABANDON,
    runs::FINISH,
    runs::LAST,
    runs::START,
    sweeps::LIVE_COUNTS,
    sweeps::LOAD,
    tokens::FORGET,
    tokens::LOAD,
    tokens::LOGINS,
    tokens::RECORD,
    tokens::SAVE,
    tracking::WRITE,
    wanted::commands::ANSWER,
    wanted::commands::IS_COMING,
    wanted::commands::OPEN,
    wanted::joining::ASKED,
    wanted::joining::BY_POLICY,
    wanted::joining::JOINABLE,
    wanted::joining::NAME_ROW,
    wanted::commands::STILL,
    wanted::counts::DONE,
    wanted::outbox::WANTING,
    wanted::prices::ANSWER,
    wanted::prices::OF_SKU,
    wanted::prices::OPEN,
    wanted::prices::SUPERSEDE,
    wanted::release::COMMAND,
    wanted::release::COMMAND_ROW,
    wanted::release::COMMAND_VALUE,
    wanted::release::PRICE_ROW,
    wanted::release::STOCK_ROW,
    wanted::release::HELD,
    wanted::release::PRICE,
    wanted::release::PRICE_VALUE,
    wanted::release::RELEASE,
    wanted::release::SPEND,
    wanted::release::STOCK,
    wanted::release::STOCK_VALUE,
    wanted::release::TROUBLED,
    wanted::seen::INVOICES,
    wanted::seen::JOINED,
    wanted::seen::NOTES,
    wanted::seen::PRICED,
    wanted::seen::PRODUCT,
    wanted::seen::READ_AT,
    wanted::seen::RELEASED,
    wanted::seen::RELEASES,
    wanted::seen::REOPEN_PRICES,
    wanted::seen::REOPEN_STOCK,
    wanted::seen::SKUS_OF_ORDER,
    wanted::seen::STOCKED,
    wanted::seen::TIERS,
    wanted::seen::UNKNOWN,
    wanted::seen::WAS_COMPLETE,
    wanted::seen::WITH_SKU,
    wanted::stock::ANSWER,
    wanted::stock::OPEN,
    wanted::stock::STILL,
    wanted::write::COMMAND,
];

/// Statements for all stores, and for one.
const FOR_PEOPLE: &[Both] = &[
    overview::FAILURES,
    overview::HOLDERS,
    overview::RUNS,
    overview::SUCCESSES,
    overview::TOKENS,
    sweeps::ALL,
    sweeps::AUDITS,
    sweeps::COUNTS,
    sweeps::OPEN,
    sweeps::WATCHES,
];

/// Statements on the inbox, which may be a database of its own.
const INBOX: &[&str] = &[
    copies::FIRST_OPEN,
    effects::OF_COMMAND,
    effects::OF_NUMBER,
    effects::AFTER,
    effects::LAST,
    effects::OF_KEY,
    effects::OPEN,
    effects::PLAN,
    effects::PRUNE,
    effects::SENT,
    effects::SETTLE,
    effects::SINCE,
    wanted::release::DECIDED,
    inbox::BACKLOG,
    inbox::OLDEST,
    inbox::OLDEST_BY_STORE,
    inbox::PROBE,
    inbox::PRUNE,
    inbox::UNHANDLED,
    webhook_addresses::FORGET,
    webhook_addresses::LOAD,
    webhook_addresses::SAVE,
    webhook_secrets::FORGET,
    webhook_secrets::LOAD,
    webhook_secrets::RETIRE,
    webhook_secrets::SAVE,
];
/// Statements that only PostgreSQL runs.
const ON_SERVER: &[&str] = &[page::LOCK_TIMEOUT, changes::TAKE_TURN, holders::HELD_ON_SERVER, inbox::TELL];

/// Statements that end in a list of keys.
const WITH_KEYS: &[&str] = &[
    before::ORDERS,
    failures::CLEAR,
    missing::AMONG,
    missing::FORGET,
    label_files::FORGET,
    label_files::ON_RECORD,
    orders::ITEMS_GONE,
    products::PRICES_GONE,
    products::STOCK_GONE,
];

/// Statements that insert many rows.
const INSERTS: &[&Insert] = &[
    &audits::NOTE,
    &changes::APPEND,
    &failures::KEEP,
    &missing::NOTE,
    &orders::UPSERT,
    &orders::UPSERT_ITEMS,
    &parts::NOTE,
    &products::UPSERT,
    &products::UPSERT_LOCATIONS,
    &products::UPSERT_PRICES,
    &products::UPSERT_STOCK,
    &rate::KEEP,
    &reread::NOTE_PRODUCTS,
    &sweeps::NOTE,
    &sweeps::NOTE_COUNTS,
    &sweeps::NOTE_ENUMS,
    &sweeps::NOTE_WATCH,
    &wanted::write::PRICES,
    &wanted::write::STOCK,
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
    for table in mirrored::TABLES {
        let (plain, with_keys, upsert) = table.to_prepare();
        statements.extend(plain.into_iter().map(str::to_owned));
        statements.extend(with_keys.iter().map(with_key));
        statements.extend([1, 2].map(|rows| upsert.sql(rows, places)));
    }
    statements.push((*counts::COUNTS).to_owned());
    let for_people = FOR_PEOPLE
        .iter()
        .chain([&*overview::TABLES, &*wanted::counts::UNDONE])
        .flatten()
        .chain([&*rows_in_trouble::TROUBLED]);
    statements.extend(for_people.map(|&sql| sql.to_owned()));
    statements.extend(explain::statements().map(str::to_owned));
    if matches!(places, Places::Numbered) {
        statements.extend(ON_SERVER.iter().map(|&sql| sql.to_owned()));
    }
    let mut on_inbox: Vec<String> = INBOX.iter().map(|&sql| sql.to_owned()).collect();
    on_inbox.extend(overview::BACKLOGS.map(str::to_owned));
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
