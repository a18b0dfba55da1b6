//! All statements of the crate in one list, so that a test can prepare all of them on both databases.

use crate::{
    Error, Store,
    api::{self, batch, requests},
    connect::schema_version,
    driver::{Insert, Places},
    inbox::deliveries,
    inbox::replay,
    inbox::webhook_addresses,
    inbox::webhook_secrets,
    intents,
    journal::effects,
    mirror::blanking,
    mirror::changes,
    mirror::consumers,
    mirror::erased,
    mirror::failures,
    mirror::identity,
    mirror::lookups,
    mirror::mirrored_values,
    mirror::missing,
    mirror::orders,
    mirror::page,
    mirror::passes,
    mirror::products,
    mirror::push_lookups,
    mirror::rows::ResourceStatements,
    mirror::staleness,
    mirror::subresources,
    mirror::tables::{self, campaigns, label_files, listed, tracking},
    notifications,
    operations::actions,
    operations::alarms,
    operations::audits,
    operations::backup,
    operations::erasures,
    operations::explain,
    operations::figures,
    operations::lists,
    operations::mirrored_order,
    operations::overview::{self, Both},
    operations::pauses,
    operations::quarantine,
    operations::rate,
    operations::rehearsal::{server_copy, steps},
    operations::row_counts,
    operations::rows_in_trouble,
    operations::runs,
    operations::story,
    operations::sweeps,
    operations::tokens,
    operations::write_proof,
    ownership::held_stores,
    ownership::lease,
    ownership::lock_inspection,
};

/// Statements without variants.
const PLAIN: &[&str] = &[
    requests::ANSWER,
    requests::BEGIN,
    requests::FORGET,
    requests::KNOWN,
    overview::LAST_COMPLETE,
    actions::BEGIN,
    actions::END,
    actions::RECENT,
    alarms::HEARTBEAT_INTERVAL,
    alarms::CLEAR,
    alarms::CLEAR_SILENT,
    alarms::END,
    alarms::END_SILENT,
    alarms::LAST_BEAT,
    alarms::RECORDED,
    alarms::WORDS,
    schema_version::APPLIED,
    schema_version::VERSION,
    pauses::RECENT,
    pauses::BEGIN,
    pauses::FORGET,
    mirrored_values::PRODUCT,
    mirrored_values::STATUS,
    campaigns::OPEN,
    changes::AFTER,
    changes::BOUNDS,
    blanking::FINISHED,
    blanking::OLD_OBJECTS,
    consumers::ACKNOWLEDGE,
    consumers::ALL,
    consumers::FORGET,
    consumers::PRUNABLE,
    consumers::PRUNE,
    consumers::READ,
    erased::ANY,
    erased::ANYWHERE,
    erased::KEY,
    erased::MAKE_KEY,
    erasures::BLANK_COMMAND,
    erasures::BLANK_OCCURRENCE,
    erasures::BY_CUSTOMER,
    erasures::BY_NUMBER,
    erasures::BY_TEXT,
    erasures::ALL_FILES,
    erasures::ALL_ORDERS,
    erasures::FORGET_ALL_FILES,
    erasures::ORDERS,
    erasures::REMEMBER_EVERYONE,
    erasures::DROP_FAILURE,
    erasures::ERASED,
    erasures::KNOWN,
    erasures::LEAVE_COMMAND,
    erasures::OCCURRENCES,
    erasures::RECORD,
    explain::CHANGES,
    explain::ERRORS,
    explain::ERRORS_OF,
    explain::PARTS,
    lists::FIND,
    lists::LABEL_FILES,
    lists::QUEUE,
    failures::LOAD,
    failures::PRUNE,
    held_stores::LEASED,
    identity::MOVE,
    identity::READ,
    identity::STAMP,
    label_files::IN_THE_MAKING,
    label_files::KEEP_FILE,
    label_files::LOSE_FILE,
    label_files::OF_ORDER,
    label_files::PRUNABLE,
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
    intents::answers::COMMAND_ANSWER,
    intents::answers::IGNORED,
    lookups::LEVEL,
    lookups::PLACES,
    lookups::PRICE,
    intents::answers::PRICE_ANSWER,
    lookups::SKUS,
    intents::answers::STOCK_ANSWER,
    lookups::UNIT,
    intents::answers::WAITING,
    missing::COUNT,
    missing::DUE,
    missing::LOAD,
    subresources::OF_ORDER,
    subresources::AGED,
    subresources::UNREAD,
    subresources::UNREAD_BELOW,
    quarantine::ALL,
    quarantine::FAILURE,
    quarantine::FIND,
    quarantine::OF_STORE,
    quarantine::PUT,
    quarantine::REMOVE,
    quarantine::REMOVE_FAILURE,
    quarantine::REMOVE_FAILURES,
    passes::BEGIN,
    passes::END,
    passes::END_PAGES,
    passes::KEEP,
    passes::LOAD,
    passes::PAGES,
    products::LOCATIONS,
    rate::FORGET,
    rate::LOAD,
    staleness::DUE,
    staleness::OPEN_ORDERS,
    staleness::PRODUCTS,
    staleness::SCHEDULE,
    staleness::UNSCHEDULED,
    rows_in_trouble::DUE,
    rows_in_trouble::FISCAL,
    rows_in_trouble::UNSEEN,
    runs::ABANDON,
    runs::FINISH,
    runs::LAST,
    runs::PRUNABLE,
    runs::PRUNE,
    runs::START,
    story::COMMANDS,
    story::FEED,
    story::FILES,
    story::FIND,
    story::INVOICES,
    story::LABELS,
    story::LEVELS,
    story::PLACED,
    story::PRICES,
    story::PRODUCT_IDS,
    story::SHIPMENTS,
    story::TAKEN,
    story::TIMELINE,
    sweeps::LIVE_COUNTS,
    sweeps::LOAD,
    tokens::FORGET,
    tokens::LOGINS,
    tokens::RECORD,
    tracking::WRITE,
    intents::commands::ANSWER,
    intents::commands::PRUNABLE,
    intents::commands::PRUNE,
    intents::commands::IS_COMING,
    intents::open_pages::COMMANDS,
    intents::open_pages::EMPTIES,
    intents::open_pages::FIRST_STATUSES,
    intents::open_pages::LATEST_STATUSES,
    intents::open_pages::STATUSES_OF_SKU,
    intents::open_pages::LEVEL,
    intents::open_pages::ZEROES,
    intents::open_pages::PRICES,
    intents::open_pages::REFUSE,
    intents::open_pages::STOCK,
    intents::joining::ASKED,
    intents::joining::BY_POLICY,
    intents::joining::JOINABLE,
    intents::joining::NAME_ROW,
    intents::commands::OPEN_BY_ID,
    intents::commands::BY_KEY,
    intents::counts::DONE,
    intents::outbox::WANTING[0],
    intents::outbox::WANTING[1],
    intents::outbox::WANTING[2],
    intents::prices::ANSWER,
    intents::prices::OF_SKU,
    intents::prices::SUPERSEDE,
    intents::release::COMMAND,
    intents::release::COMMAND_ROW,
    intents::release::PRICE_ROW,
    intents::release::STOCK_ROW,
    intents::release::HELD,
    intents::release::PRICE,
    intents::release::PRICE_VALUE,
    intents::release::RELEASE,
    intents::release::SPEND,
    intents::release::STOCK,
    intents::release::STOCK_VALUE,
    intents::release::TROUBLED,
    push_lookups::INVOICES,
    intents::joining::JOINED,
    push_lookups::NOTES,
    push_lookups::PRICED,
    push_lookups::PRODUCT,
    push_lookups::READ_AT,
    push_lookups::DISPATCHED_BY,
    intents::release::RELEASED,
    intents::release::RELEASES,
    intents::unknown_skus::REOPEN_PRICES,
    intents::unknown_skus::REOPEN_STOCK,
    push_lookups::SKUS_OF_ORDER,
    push_lookups::STOCKED,
    push_lookups::TIERS,
    intents::unknown_skus::UNKNOWN,
    intents::unnoticed::STOCK,
    intents::unnoticed::PRICES,
    intents::commands::SENDING,
    runs::ALL_PRODUCTS,
    runs::WALKED_ORDERS,
    push_lookups::WITH_SKU,
    intents::stock::ANSWER,
    intents::stock::SENT_LEVELS,
    intents::stock::ASK_AGAIN,
    intents::stock::STILL,
    intents::unreadable::TOO_LONG[0],
    intents::unreadable::TOO_LONG[1],
    intents::unknown_stores::FAIL[0],
    intents::unknown_stores::FAIL[1],
    intents::unknown_stores::FAIL[2],
    intents::unknown_stores::ANSWERED[0],
    intents::unknown_stores::ANSWERED[1],
    intents::unknown_stores::ANSWERED[2],
    intents::unknown_stores::LEASED_LATELY,
    intents::unknown_stores::REOPEN[0],
    intents::unknown_stores::REOPEN[1],
    intents::unknown_stores::REOPEN[2],
    intents::write::COMMAND,
    write_proof::REWRITE,
];

/// Statements in two variants: for all stores, and for one.
const FOR_PEOPLE: &[Both] = &[
    figures::AWAITING_INVOICE,
    figures::BY_HOUR,
    figures::BY_STATUS,
    figures::DISPATCH,
    figures::FIRST_DISPATCHES,
    figures::NOT_TAKEN,
    overview::FAILURES,
    overview::HOLDERS,
    overview::RUNS,
    overview::SUCCESSES,
    row_counts::FORGET,
    row_counts::RECORDED,
    sweeps::ALL,
    sweeps::AUDITS,
    sweeps::COUNTS,
    sweeps::OPEN,
    sweeps::WATCHES,
];

/// Statements on the inbox, which may be a database of its own.
const INBOX: &[&str] = &[
    lists::DELIVERIES,
    backup::FIRST_OPEN,
    effects::OF_COMMAND,
    effects::OF_NUMBER,
    effects::AFTER,
    effects::LAST,
    effects::OF_KEY,
    effects::OPEN,
    effects::PLAN,
    effects::PRUNABLE,
    effects::PRUNE,
    effects::SENT,
    effects::SETTLE,
    effects::SINCE,
    effects::SUBJECT,
    erasures::BLANK_DELIVERY,
    erasures::BLANK_EFFECT,
    erasures::DELIVERIES,
    story::DELIVERIES,
    story::EFFECTS_UNDER,
    intents::release::DECIDED,
    deliveries::BACKLOG,
    deliveries::OLDEST,
    deliveries::OLDEST_BY_STORE,
    deliveries::PRUNABLE,
    deliveries::PRUNE,
    deliveries::UNHANDLED,
    quarantine::REOPEN,
    replay::MATCHING,
    tokens::LOAD,
    tokens::SAVE,
    webhook_addresses::FORGET,
    webhook_addresses::LOAD,
    webhook_addresses::SAVE,
    webhook_secrets::FORGET,
    webhook_secrets::LOAD,
    webhook_secrets::RETIRE,
    webhook_secrets::SAVE,
];
/// Statements that only PostgreSQL runs.
const ON_SERVER: &[&str] = &[
    page::LOCK_TIMEOUT,
    changes::TAKE_TURN,
    erasures::WAIT_FOR_WRITERS,
    held_stores::HELD_ON_SERVER,
    notifications::SEND,
    lock_inspection::BLOCKERS,
    lock_inspection::HELD_BY,
    server_copy::END_SESSIONS,
    server_copy::FACTS,
    server_copy::IS_THERE,
    server_copy::SESSIONS,
    server_copy::SIZE,
    steps::LOCKED,
];

/// Statements that end in a list of keys.
const WITH_KEYS: &[&str] = &[
    pauses::END,
    mirrored_values::ORDERS,
    erased::AMONG,
    erased::CONVERSATIONS,
    erased::PEOPLE,
    erasures::COMMANDS,
    erasures::CONVERSATIONS,
    erasures::FAILURES,
    erasures::FILES,
    erasures::FORGET_FILES,
    erasures::LABELS,
    erasures::VOID_LABELS,
    failures::CLEAR,
    missing::AMONG,
    missing::FORGET,
    label_files::FORGET,
    label_files::ON_RECORD,
    orders::ITEMS_GONE,
    orders::RESCHEDULE,
    products::FORGET_READS,
    products::PRICES_GONE,
    products::STOCK_GONE,
    subresources::ALL_READ,
];

/// Statements that insert many rows.
const INSERTS: &[&Insert] = &[
    &batch::CLAIM,
    &batch::PRICE_STATES,
    &batch::STOCK_STATES,
    &batch::TAKE,
    &alarms::RAISE,
    &audits::NOTE,
    &changes::APPEND,
    &erased::REMEMBER,
    &erasures::PERSON,
    &failures::KEEP,
    &missing::NOTE,
    &orders::INSERT,
    &orders::INSERT_ITEMS,
    &orders::UPSERT,
    &orders::UPSERT_ITEMS,
    &subresources::NOTE,
    &products::NOTE_FIRST_READ,
    &products::UPSERT,
    &products::UPSERT_LOCATIONS,
    &products::UPSERT_PRICES,
    &products::UPSERT_STOCK,
    &rate::KEEP,
    &row_counts::RECORD,
    &staleness::NOTE_PRODUCTS,
    &sweeps::NOTE,
    &sweeps::NOTE_COUNTS,
    &sweeps::NOTE_ENUMS,
    &sweeps::NOTE_WATCH,
    &intents::write::PRICES,
    &intents::write::STOCK,
];

const MIRRORS: &[&ResourceStatements] = &[&orders::MIRROR, &products::MIRROR];

/// What the sweeps look up again and again, by name, so that a test can see that none of it reads a whole table.
pub fn statements_of_sweeps() -> [(&'static str, &'static str); 6] {
    [
        ("unread", subresources::UNREAD),
        ("unread below", subresources::UNREAD_BELOW),
        ("aged", subresources::AGED),
        ("due", staleness::DUE),
        ("unscheduled", staleness::UNSCHEDULED),
        ("products", staleness::PRODUCTS),
    ]
}

/// The statements by which a turn of the scan reads the ERP's open rows, by name: a test shows that none reads more rows
/// than it returns.
pub fn statements_of_turns() -> [(&'static str, &'static str); 14] {
    [
        ("levels", intents::open_pages::STOCK),
        ("level", intents::open_pages::LEVEL),
        ("zeroes", intents::open_pages::ZEROES),
        ("count of zeroes", intents::open_pages::EMPTIES),
        ("commands", intents::open_pages::COMMANDS),
        ("latest statuses", intents::open_pages::LATEST_STATUSES),
        ("first statuses", intents::open_pages::FIRST_STATUSES),
        ("command of a kind", intents::commands::IS_COMING),
        ("prices", intents::open_pages::PRICES),
        ("long levels", intents::unreadable::TOO_LONG[0]),
        ("long prices", intents::unreadable::TOO_LONG[1]),
        ("unreadable levels", intents::unreadable::STOCK[0]),
        ("unreadable commands", intents::unreadable::COMMANDS[0]),
        ("stores with new commands", intents::outbox::WANTING[2]),
    ]
}

/// The statements of the lists and the search of the pages, by name: a test shows that none reads the rows of all orders.
/// What is to be dispatched comes from `v_deadlines`, whose other questions a plan shows too.
pub fn statements_of_lists() -> [(&'static str, &'static str); 4] {
    let [open, _, invoice, not_taken] = &*lists::ORDERS;
    [
        ("open orders", open),
        ("orders without an invoice", invoice),
        ("orders not taken", not_taken),
        ("search", lists::FIND),
    ]
}

/// The text of every statement for the kind of this database: those on the mirror, and those on the inbox.
pub fn statements_of(store: &Store) -> [Vec<String>; 2] {
    let with_key = |head: &&str| format!("{head} IN (${})", crate::driver::placeholders(head) + 1);
    let places = store.database.places();
    let mut statements: Vec<String> = PLAIN.iter().map(|&sql| sql.to_owned()).collect();
    statements.extend(blanking::TOLD.as_flattened().iter().map(|&sql| sql.to_owned()));
    statements.extend(WITH_KEYS.iter().chain(&blanking::BLANK_OBJECTS).map(with_key));
    statements.extend(erasures::reads().map(|head| with_key(&head)));
    statements.extend(INSERTS.iter().flat_map(|insert| [1, 2].map(|rows| insert.sql(rows, places))));
    for mirror in MIRRORS {
        statements.extend([mirror.count, mirror.live, mirror.relist].map(str::to_owned));
        statements.extend([mirror.known, mirror.gone].iter().map(with_key));
    }
    for table in tables::TABLES {
        let (plain, with_keys, upsert) = table.to_prepare();
        statements.extend(plain.into_iter().map(str::to_owned));
        statements.extend(with_keys.iter().map(with_key));
        statements.extend([1, 2].map(|rows| upsert.sql(rows, places)));
    }
    let for_people = FOR_PEOPLE
        .iter()
        .chain(row_counts::TABLES.iter())
        .chain([&*intents::counts::UNDONE])
        .flatten()
        .chain([&*rows_in_trouble::TROUBLED]);
    statements.extend(for_people.map(|&sql| sql.to_owned()));
    statements.extend(explain::statements().map(str::to_owned));
    statements.extend(api::statements());
    statements.extend(mirrored_order::statements().map(str::to_owned));
    statements.extend(lists::ORDERS.iter().cloned());
    statements.extend(explain::statements().chain(erasures::updates()).map(str::to_owned));
    if matches!(places, Places::Numbered) {
        statements.extend(ON_SERVER.iter().map(|&sql| sql.to_owned()));
    }
    let mut on_inbox: Vec<String> = INBOX.iter().map(|&sql| sql.to_owned()).collect();
    on_inbox.extend([overview::BACKLOGS, overview::TOKENS].concat().iter().map(|&sql| sql.to_owned()));
    on_inbox.extend([deliveries::HANDLED, replay::REPLAY, erasures::EFFECTS].iter().map(with_key));
    on_inbox.extend([1, 2].map(|rows| deliveries::KEEP.sql(rows, places)));
    [statements, on_inbox]
}

/// Prepares every statement; returns their number.
///
/// # Errors
/// The first statement that the database refuses.
pub async fn prepare_all(store: &Store) -> Result<usize, Error> {
    let [statements, on_inbox] = statements_of(store);
    let count = statements.len() + on_inbox.len();
    for statement in statements {
        store.database.prepare(statement).await?;
    }
    for statement in on_inbox {
        store.inbox.prepare(statement).await?;
    }
    Ok(count)
}
