//! The ERP's rows and their answers: an answer counts for the intent that was read, a decision for the state that a
//! person saw.

use std::collections::HashMap;

use espelho_model::push::PushState;
use espelho_store::{IntentKind, Lease, Outcome, StockIntent};

use crate::world::{World, minha_loja};

const STATE: &str = "SELECT state FROM erp_stock";

async fn writes(world: &World, quantity: i64) {
    let sql = format!(
        "INSERT INTO erp_stock (store, sku, location_id, quantity) VALUES ('minha-loja', 'A', '1', {quantity}) \
         ON CONFLICT (store, sku, location_id) DO UPDATE SET quantity = excluded.quantity"
    );
    assert_eq!(world.tables.execute(&sql).await, 1);
}

async fn intent(world: &World) -> StockIntent {
    world.store.intents().open_stock_page(&minha_loja(), None).await.unwrap().remove(0)
}

async fn answers(world: &World, lease: &Lease, intent: &StockIntent, state: PushState) -> bool {
    let mut tx = world.store.begin_answer(lease).await.unwrap();
    let is_answered = tx.intents().answer_stock(intent, &Outcome::plain(state), "physical").await.unwrap();
    tx.commit().await.unwrap();
    is_answered
}

// withstands: F010
pub(crate) async fn an_answer_is_for_the_intent_that_was_read(world: &World) {
    let lease = world.lease().await;
    writes(world, 5).await;
    let first = intent(world).await;
    // There and back again: the same value, and another intent.
    writes(world, 7).await;
    writes(world, 5).await;
    let second = intent(world).await;
    assert!(second.revision > first.revision, "{} and {}", first.revision, second.revision);
    assert!(!world.store.intents().is_current(&minha_loja(), &first).await.unwrap());
    assert!(!answers(world, &lease, &first, PushState::Done).await);
    assert_eq!(world.tables.list(STATE).await, ["new"]);
    assert!(answers(world, &lease, &second, PushState::Sending).await);
    // A reading from before the request is outdated.
    assert!(!answers(world, &lease, &second, PushState::Held).await);
    assert_eq!(world.tables.list(STATE).await, ["sending"]);
    // The same value, written again during the work on it, is a new intent.
    let sent = intent(world).await;
    writes(world, 5).await;
    assert_eq!(world.tables.list(STATE).await, ["new"]);
    assert!(!answers(world, &lease, &sent, PushState::Done).await);
    let third = intent(world).await;
    assert!(answers(world, &lease, &third, PushState::Failed).await);
    // A failed row reopens when it is written again, and on a person's word.
    writes(world, 5).await;
    assert_eq!(world.tables.list(STATE).await, ["new"]);
    let fourth = intent(world).await;
    assert!(answers(world, &lease, &fourth, PushState::Failed).await);
    let releases = world.store.releases();
    let failed = releases.seen_row(minha_loja().as_str(), IntentKind::Stock, "A/1").await.unwrap().unwrap();
    assert!(releases.decide(&failed, PushState::New, false).await.unwrap());
    assert!(
        intent(world).await.revision > fourth.revision,
        "what was sent before is not what is asked for now"
    );
    lease.release().await.unwrap();
}

async fn gives(world: &World, id: i64, data: &str) {
    let sql = format!(
        "INSERT INTO commands (id, store, kind, key, data) VALUES ({id}, 'minha-loja', 'stock.adjust', 'A', '{data}')"
    );
    assert_eq!(world.tables.execute(&sql).await, 1);
}

pub(crate) async fn a_release_is_for_the_command_that_was_seen(world: &World) {
    let key = minha_loja();
    gives(world, 1, r#"{"delta": 1}"#).await;
    world.tables.execute("UPDATE commands SET state = 'held', error_code = 'x'").await;
    let releases = world.store.releases();
    let held = releases.seen_row(key.as_str(), IntentKind::Command, "1").await.unwrap().unwrap();
    assert!(releases.decide(&held, PushState::New, true).await.unwrap());
    let released = world.store.releases().release_of(&key, IntentKind::Command, "1").await.unwrap();
    let command = world.store.commands().read(&key, 1).await.unwrap().unwrap();
    assert_eq!(released, Some(command.fingerprint()));
    world.tables.execute(r#"UPDATE commands SET data = '{"delta": 1000}'"#).await;
    let command = world.store.commands().read(&key, 1).await.unwrap().unwrap();
    assert_ne!(released, Some(command.fingerprint()), "it asks for something else now");
}

pub(crate) async fn the_states_of_rows_are_found_by_their_keys(world: &World) {
    let key = minha_loja();
    writes(world, 5).await;
    gives(world, 1, "{}").await;
    gives(world, 2, "{}").await;
    for sql in [
        "INSERT INTO erp_prices (store, sku, min_quantity, price) VALUES ('minha-loja', 'A: B', 1, 5)",
        "INSERT INTO erp_stock (store, sku, location_id, quantity) VALUES ('minha-loja', 'A/1', '2', 1)",
        "INSERT INTO erp_stock (store, sku, location_id, quantity) VALUES ('minha-loja', 'A', '3', 1)",
        "INSERT INTO commands (id, store, kind) VALUES (3, 'outra', 'webhook.test')",
        "UPDATE commands SET state = 'done' WHERE id = 2",
    ] {
        assert_eq!(world.tables.execute(sql).await, 1);
    }
    let releases = world.store.releases();
    for (intent, asked, expected) in [
        (IntentKind::Stock, &["A/1", "A/2", "A"][..], &[("A/1", "new")][..]),
        (IntentKind::Stock, &["A/1/2", "A//", "/"], &[("A/1/2", "new")]),
        (IntentKind::Price, &["A: B/1", "A"], &[("A: B/1", "new")]),
        (
            IntentKind::Command,
            &["1", "2", "3", "4", "x", "99999999999999999999"],
            &[("1", "new"), ("2", "done")],
        ),
        (IntentKind::Command, &[], &[]),
    ] {
        let keys = asked.iter().map(|key| (*key).to_owned()).collect();
        let found = releases.states_of(key.as_str(), intent, keys).await.unwrap();
        let expected: HashMap<String, String> =
            expected.iter().map(|(key, state)| ((*key).to_owned(), (*state).to_owned())).collect();
        assert_eq!(found, expected, "{intent:?}");
    }
}

pub(crate) async fn the_store_of_a_command_is_found_by_its_number_alone(world: &World) {
    gives(world, 1, "{}").await;
    let other = "INSERT INTO commands (id, store, kind) VALUES (3, 'outra loja', 'webhook.test')";
    assert_eq!(world.tables.execute(other).await, 1);
    for (id, expected) in [(1, Some("minha-loja")), (3, Some("outra loja")), (2, None), (i64::MAX, None)] {
        let found = world.store.commands().store_of(id).await.unwrap();
        assert_eq!(found.as_deref(), expected, "{id}");
    }
}

pub(crate) async fn a_decision_is_for_the_row_that_was_seen(world: &World) {
    let key = minha_loja();
    writes(world, 5).await;
    gives(world, 1, r#"{"delta": 1}"#).await;
    let set = async |table: &str, state: &str, at: &str| {
        let sql = format!("UPDATE {table} SET state = '{state}', error_code = 'x', updated_at = '{at}'");
        world.tables.execute(&sql).await;
    };
    let [then, later] = ["2026-05-01T10:00:00.000000Z", "2026-05-01T10:00:01.000000Z"];
    let releases = world.store.releases();
    for (intent, name, table) in
        [(IntentKind::Stock, "A/1", "erp_stock"), (IntentKind::Command, "1", "commands")]
    {
        set(table, "held", then).await;
        let seen = releases.seen_row(key.as_str(), intent, name).await.unwrap().unwrap();
        assert_eq!(releases.troubled_rows().await.unwrap(), std::slice::from_ref(&seen));
        for (state, at) in [("held", later), ("failed", then), ("sending", then), ("done", then)] {
            set(table, state, at).await;
            for (becomes, lifts_guards) in
                [(PushState::New, true), (PushState::New, false), (PushState::Ignored, false)]
            {
                let is_done = releases.decide(&seen, becomes, lifts_guards).await.unwrap();
                assert!(!is_done, "{table} {state} {at} {becomes}");
            }
            let states = world.tables.list(&format!("SELECT state FROM {table}")).await;
            assert_eq!(states, [state], "{table} {at}");
        }
        assert_eq!(releases.release_of(&key, intent, name).await.unwrap(), None);
        set(table, "held", then).await;
        assert!(releases.decide(&seen, PushState::Ignored, false).await.unwrap());
        let ignored = releases.ignored_rows().await.unwrap();
        assert_eq!((ignored.len(), ignored[0].state, &*ignored[0].code), (1, PushState::Ignored, "x"));
        assert!(releases.decide(&ignored[0], PushState::New, false).await.unwrap());
        // An ERP that writes the whole row writes a time in its own form.
        set(table, "held", "2026-05-01T10:00:00Z").await;
        let seen = releases.seen_row(key.as_str(), intent, name).await.unwrap().unwrap();
        assert!(releases.decide(&seen, PushState::Ignored, false).await.unwrap(), "{table}");
        set(table, "done", then).await;
    }
}

pub(crate) async fn a_row_that_was_ignored_passes_no_guard(world: &World) {
    let key = minha_loja();
    writes(world, 5).await;
    gives(world, 1, r#"{"delta": 1}"#).await;
    let price =
        "INSERT INTO erp_prices (store, sku, min_quantity, price) VALUES ('minha-loja', 'A', 1, 0.99)";
    world.tables.execute(price).await;
    let releases = world.store.releases();
    for (intent, name, table) in [
        (IntentKind::Stock, "A/1", "erp_stock"),
        (IntentKind::Price, "A/1", "erp_prices"),
        (IntentKind::Command, "1", "commands"),
    ] {
        let columns = async |columns: &str| {
            world.tables.list(&format!("SELECT {columns} AS found FROM {table}")).await.remove(0)
        };
        let seen = async || releases.seen_row(key.as_str(), intent, name).await.unwrap().unwrap();
        let held = "error_code = 'x', error = 'e', hint = 'espelho release'";
        world.tables.execute(&format!("UPDATE {table} SET state = 'held', {held}")).await;
        // A release that was not used yet ends with the row that it was for.
        let release = format!(
            "INSERT INTO releases (store, what, key, value, at) VALUES ('minha-loja', '{}', '{name}', '5', \
             '2026-05-01T10:00:00.000000Z')",
            intent.as_str()
        );
        world.tables.execute(&release).await;
        assert!(releases.decide(&seen().await, PushState::Ignored, false).await.unwrap());
        assert_eq!(releases.release_of(&key, intent, name).await.unwrap(), None, "{table}");
        assert_eq!(columns("state || ' ' || error_code || ' ' || COALESCE(hint, '-')").await, "ignored x -");
        let ignored = seen().await;
        assert!(!releases.decide(&ignored, PushState::New, true).await.unwrap(), "{table}");
        assert_eq!(columns("state").await, "ignored");
        assert_eq!(releases.release_of(&key, intent, name).await.unwrap(), None, "{table}");
        // It is brought back to the guards.
        assert!(releases.decide(&ignored, PushState::New, false).await.unwrap(), "{table}");
        assert_eq!(releases.release_of(&key, intent, name).await.unwrap(), None, "{table}");
        // A row that nobody has begun can be given up too, and is not released.
        let open = seen().await;
        assert_eq!(open.state, PushState::New);
        assert!(!releases.decide(&open, PushState::New, true).await.unwrap(), "{table}");
        assert!(releases.decide(&open, PushState::Ignored, false).await.unwrap(), "{table}");
        assert_eq!(columns("state").await, "ignored");
    }
}

pub(crate) async fn a_command_that_is_corrected_is_new_and_one_that_is_done_is_not(world: &World) {
    for (id, state) in [(1, "failed"), (2, "held"), (3, "done"), (4, "doubtful"), (5, "sending")] {
        gives(world, id, r#"{"delta": 1}"#).await;
        world.tables.execute(&format!("UPDATE commands SET state = '{state}' WHERE id = {id}")).await;
    }
    let states = "SELECT state FROM commands ORDER BY id";
    world.tables.execute("UPDATE commands SET data = data, key = key").await;
    assert_eq!(world.tables.list(states).await, ["failed", "held", "done", "doubtful", "sending"]);
    let change = r#"UPDATE commands SET data = '{"delta": 2}'"#;
    world.tables.execute(&format!("{change} WHERE state <> 'sending'")).await;
    assert_eq!(world.tables.list(states).await, ["new", "new", "done", "doubtful", "sending"]);
    // Its request is out: a change would be a second one.
    let refused = world.tables.refusal(change).await;
    assert!(refused.contains("being sent and cannot change any more"), "{refused}");
    assert_eq!(world.tables.list(states).await, ["new", "new", "done", "doubtful", "sending"]);
    // An ERP that assigns its own numbers leaves the others free.
    let given = "INSERT INTO commands (store, kind, key) VALUES ('minha-loja', 'webhook.test', '')";
    assert_eq!(world.tables.execute(given).await, 1);
    assert_eq!(world.tables.list("SELECT CAST(max(id) AS TEXT) FROM commands").await, ["6"]);
}

pub(crate) async fn a_command_is_marked_before_its_request_and_changes_no_more(world: &World) {
    let lease = world.lease().await;
    gives(world, 1, r#"{"delta": 1}"#).await;
    let read = async || world.store.commands().read(&minha_loja(), 1).await.unwrap().unwrap();
    let mark = async |fingerprint: &str| {
        let mut tx = world.store.begin_answer(&lease).await.unwrap();
        let is_marked = tx.intents().begin_sending(1, fingerprint).await.unwrap();
        tx.commit().await.unwrap();
        is_marked
    };
    let first = read().await;
    world.tables.execute(r#"UPDATE commands SET data = '{"delta": 2}'"#).await;
    assert!(!mark(&first.fingerprint()).await, "another command was read");
    assert_eq!(world.tables.list("SELECT state FROM commands").await, ["new"]);
    let second = read().await;
    assert!(mark(&second.fingerprint()).await);
    assert!(mark(&second.fingerprint()).await, "a second request of the same command");
    world.tables.refusal(r#"UPDATE commands SET data = '{"delta": 3}'"#).await;
    // The answer is for the command as it was read before it was marked.
    let mut tx = world.store.begin_answer(&lease).await.unwrap();
    assert!(tx.intents().answer_command(&second, &Outcome::plain(PushState::Done)).await.unwrap());
    tx.commit().await.unwrap();
    assert_eq!(world.tables.list("SELECT state FROM commands").await, ["done"]);
}

pub(crate) async fn a_row_whose_key_is_corrected_asks_for_something_else(world: &World) {
    let lease = world.lease().await;
    for column in ["sku", "location_id", "store"] {
        writes(world, 5).await;
        assert!(answers(world, &lease, &intent(world).await, PushState::Done).await);
        world.tables.execute(&format!("UPDATE erp_stock SET {column} = 'outro'")).await;
        assert_eq!(world.tables.list(STATE).await, ["new"], "{column}");
        world.tables.execute("DELETE FROM erp_stock").await;
    }
    for column in ["sku = 'outro'", "min_quantity = 5", "store = 'outro'"] {
        world
            .tables
            .execute("INSERT INTO erp_prices (store, sku, price) VALUES ('minha-loja', 'A', 1)")
            .await;
        world.tables.execute("UPDATE erp_prices SET state = 'done'").await;
        world.tables.execute(&format!("UPDATE erp_prices SET {column}")).await;
        assert_eq!(world.tables.list("SELECT state FROM erp_prices").await, ["new"], "{column}");
        world.tables.execute("DELETE FROM erp_prices").await;
    }
}

pub(crate) async fn a_row_that_was_written_without_its_trigger_is_opened_once(world: &World) {
    let lease = world.lease().await;
    let open = async || world.store.intents().reopen_missed_changes(&lease).await.unwrap();
    writes(world, 5).await;
    assert_eq!(open().await, 0, "nothing was answered");
    assert!(answers(world, &lease, &intent(world).await, PushState::Done).await);
    assert_eq!(open().await, 0, "it asks for what was answered");
    world.tables.drop_all_but_tables().await;
    writes(world, 7).await;
    assert_eq!(world.tables.list(STATE).await, ["done"], "no trigger notices it");
    assert_eq!((open().await, open().await), (1, 0));
    let level = intent(world).await;
    assert_eq!((level.state, level.written.as_str()), (Some(PushState::New), "7"));
    assert!(answers(world, &lease, &level, PushState::Done).await);
    world.tables.execute("UPDATE erp_stock SET sku = 'B'").await;
    assert_eq!((open().await, open().await), (1, 0));
}

pub(crate) async fn a_word_that_is_no_state_leaves_no_row_unseen(world: &World) {
    writes(world, 5).await;
    for word in ["pendente", "NEW", " new", "", "waiting", "sending", "done", "held", "doubtful", "ignored"] {
        let command = format!(
            "INSERT INTO commands (store, kind, key, state) VALUES ('minha-loja', 'order.status', '1', '{word}')"
        );
        world.tables.execute(&command).await;
        if word.parse::<PushState>().is_err() {
            world.tables.execute(&format!("UPDATE erp_stock SET state = '{word}'")).await;
        }
    }
    let says = "INSERT INTO commands (store, kind, state, error_code, error, hint) \
                VALUES ('minha-loja', 'webhook.test', 'failed', 'x', 'y', 'z')";
    world.tables.execute(says).await;
    let begun =
        "SELECT state || COALESCE(error_code, '') || COALESCE(error, '') || COALESCE(hint, '') FROM commands";
    assert_eq!(world.tables.list(begun).await, ["new"; 11], "whatever an insert says");
    assert_eq!(world.tables.list(STATE).await, ["new"]);
    world.tables.execute("UPDATE commands SET state = 'done'").await;
    world.tables.execute("UPDATE commands SET state = 'feito'").await;
    assert_eq!(
        world.tables.list("SELECT state FROM commands").await,
        ["done"; 11],
        "nothing is carried out again"
    );
}

/// The outcome of the commands, in their order.
const OUTCOMES: &str = "SELECT state || ' ' || COALESCE(error_code, '-') || ' ' || \
    CASE WHEN said IS NULL AND result IS NULL AND done_at IS NULL THEN 'nothing' ELSE 'an outcome' END FROM commands ORDER BY id";

pub(crate) async fn a_new_command_has_no_outcome_whatever_its_insert_says(world: &World) {
    let inserts = [
        ("done_at", "'2026-01-01T00:00:00.000000Z'"),
        ("said", "'{}'"),
        ("result", "'{}'"),
        (
            "state, done_at, updated_at",
            "'done', '2026-01-01T00:00:00.000000Z', '2026-01-01T00:00:00.000000Z'",
        ),
        ("state, created_at", "'done', '2020-01-01T00:00:00.000000Z'"),
        (
            "state, created_at, updated_at",
            "'feito', '2020-01-01T00:00:00.000000Z', '2020-01-01T00:00:00.000000Z'",
        ),
        // A row that is copied, and times that a program fills in: of its own zone, in its own format.
        (
            "state, created_at, updated_at",
            "'done', '2020-01-01T00:00:00.000000Z', '2020-01-01T00:00:02.000000Z'",
        ),
        ("state, created_at, updated_at", "'done', '2020-01-01 00:00:00', '2020-01-01 00:00:00'"),
        ("state, created_at, updated_at", "'failed', '2020-01-01 00:00:00-03:00', '2020-01-01'"),
        ("state, created_at, updated_at", "'doubtful', '2040-01-01T00:00:00', '2040-01-01T00:00:00'"),
        ("state, created_at, updated_at, done_at", "'done', '2020-01-01', '2020-01-01', '2020-01-01'"),
    ];
    for (columns, values) in inserts {
        let sql = format!(
            "INSERT INTO commands (store, kind, {columns}) VALUES ('minha-loja', 'webhook.test', {values})"
        );
        world.tables.execute(&sql).await;
    }
    assert_eq!(world.tables.list(OUTCOMES).await, inserts.map(|_| "new - nothing"));
}

/// The data alone is put back into a database with triggers, as `pg_restore --data-only` does. On SQLite a backup is a
/// whole file, and no INSERT is a restore.
pub(crate) async fn only_a_restore_that_says_so_keeps_the_rows_as_they_are(world: &World) {
    let rows = [
        "INSERT INTO commands (store, kind, key, state, error_code, created_at, updated_at, done_at) \
         VALUES ('minha-loja', 'order.notes', '1', '{}', 'x', '2020-01-01T00:00:00.000000Z', \
         '2020-01-01T00:00:02.000000Z', '2020-01-01T00:00:02.000000Z')",
        "INSERT INTO erp_stock (store, sku, location_id, quantity, state, revision) \
         VALUES ('minha-loja', 'A', '1', 5, '{}', 7)",
        "INSERT INTO erp_prices (store, sku, price, state, revision) VALUES ('minha-loja', 'A', 5, '{}', 7)",
    ];
    let desired = "SELECT state || CASE revision WHEN 7 THEN ' of then' ELSE '' END FROM erp_stock UNION ALL \
                   SELECT state || CASE revision WHEN 7 THEN ' of then' ELSE '' END FROM erp_prices";
    for (value, state, says_so) in [
        (None, "done", false),
        (Some("on"), "done", true),
        (Some("on"), "waiting", true),
        (Some("on"), "doubtful", true),
        (Some("off"), "done", false),
        (Some(""), "failed", false),
    ] {
        let set = value.map(|value| format!("SET espelho.restoring = '{value}'"));
        if let Some(set) = world.tables.either(None, set) {
            world.tables.execute(&set).await;
        }
        for row in rows {
            world.tables.execute(&row.replace("{}", state)).await;
        }
        let (command, level) = match says_so && world.tables.either(false, true) {
            true => (format!("{state} x an outcome"), format!("{state} of then")),
            false => ("new - nothing".to_owned(), "new".to_owned()),
        };
        assert_eq!(world.tables.list(OUTCOMES).await, [command], "{value:?}, {state}");
        assert_eq!(world.tables.list(desired).await, [level.clone(), level], "{value:?}, {state}");
        for table in ["commands", "erp_stock", "erp_prices"] {
            world.tables.execute(&format!("DELETE FROM {table}")).await;
        }
    }
}

pub(crate) async fn what_the_policy_of_the_version_before_holds_stays_held(world: &World) {
    let held = "INSERT INTO commands (store, kind, key, state, error_code, error, hint, updated_at) \
                VALUES ('minha-loja', 'campaign.opt_in', '1', 'held', 'policy_dry', 'e', 'h', '2026-01-01T00:00:00.000000Z')";
    world.tables.execute(held).await;
    world.tables.execute(&held.replace("policy_dry", "zero_stock")).await;
    world.tables.execute(&held.replace("campaign.opt_in", "order.status")).await;
    assert_eq!(
        world.tables.list(OUTCOMES).await,
        ["held policy_dry nothing", "new - nothing", "new - nothing"]
    );
}
