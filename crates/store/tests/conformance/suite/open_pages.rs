//! Open work a page at a time: every row once, in its order, without long data.

use std::collections::BTreeSet;

use espelho_model::push::PushState;
use espelho_store::{MOST_DATA, OpenCommand, Outcome, PAGE_ROWS, SHORT_DATA};

use crate::world::{World, minha_loja};

async fn insert(world: &World, sql: &str) {
    world.tables.execute(sql).await;
}

/// Numbers from 1 to `n` as the rows of a subquery, on both databases.
fn numbers(n: usize) -> String {
    format!(
        "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {n}) SELECT n FROM numbers"
    )
}

async fn all_commands(world: &World) -> Vec<OpenCommand> {
    let (mut all, mut after) = (Vec::new(), 0);
    loop {
        let page = world.store.commands().open_page(&minha_loja(), after).await.unwrap();
        assert!(page.len() <= PAGE_ROWS, "{}", page.len());
        let Some(last) = page.last() else { return all };
        after = last.id;
        all.extend(page);
    }
}

pub(crate) async fn open_commands_come_in_pages_each_once_and_the_oldest_first(world: &World) {
    let n = 2 * PAGE_ROWS + 7;
    let sql = format!(
        "INSERT INTO commands (id, store, kind, key, data) SELECT n, 'minha-loja', 'order.notes', 'A', '{{}}' FROM ({}) x",
        numbers(n)
    );
    insert(world, &sql).await;
    insert(world, "UPDATE commands SET state = 'done' WHERE id = 3").await;
    let ids: Vec<i64> = all_commands(world).await.iter().map(|command| command.id).collect();
    let expected: Vec<i64> = (1..=i64::try_from(n).unwrap()).filter(|id| *id != 3).collect();
    assert_eq!(ids, expected);
}

pub(crate) async fn long_data_of_a_command_is_read_when_its_turn_comes(world: &World) {
    let text = "x".repeat(usize::try_from(SHORT_DATA).unwrap());
    for (id, data) in [(1, "{}".to_owned()), (2, format!("{{\"notes\": \"{text}\"}}"))] {
        let sql = format!(
            "INSERT INTO commands (id, store, kind, key, data) VALUES ({id}, 'minha-loja', 'order.notes', 'A', '{data}')"
        );
        insert(world, &sql).await;
    }
    insert(world, "INSERT INTO commands (id, store, kind, key) VALUES (3, 'minha-loja', 'webhook.test', '')")
        .await;
    let commands = all_commands(world).await;
    let [short, long, none] = commands.as_slice() else { panic!("{commands:?}") };
    assert_eq!((short.short_data.as_deref(), none.short_data.as_deref()), (Some("{}"), Some("")));
    assert_eq!((long.short_data.as_deref(), long.fingerprint()), (None, None));
    assert!(long.data_bytes > SHORT_DATA, "{}", long.data_bytes);
    let read = async |id| world.store.commands().read(&minha_loja(), id).await.unwrap();
    assert!(read(2).await.unwrap().data.contains(&text));
    let whole = read(1).await.unwrap();
    assert_eq!(short.fingerprint(), Some(whole.fingerprint()));
    insert(world, "UPDATE commands SET state = 'failed' WHERE id = 1").await;
    assert_eq!(read(1).await, None);
}

pub(crate) async fn another_wording_of_a_command_is_told_from_the_first(world: &World) {
    let write = async |data: &str| {
        let sql = format!("UPDATE commands SET data = '{data}' WHERE id = 1");
        insert(world, &sql).await;
        all_commands(world).await.remove(0).wording()
    };
    insert(world, "INSERT INTO commands (id, store, kind, key) VALUES (1, 'minha-loja', 'order.notes', 'A')")
        .await;
    let [first, second, again] = [
        write("{\"notes\": \"a\"}").await,
        write("{\"notes\": \"b\"}").await,
        write("{\"notes\": \"a\"}").await,
    ];
    assert_ne!(first, second);
    assert_eq!(first, again);
    let long = "x".repeat(usize::try_from(SHORT_DATA).unwrap());
    let [shorter, longer] = [long.clone(), long + "x"].map(|text| format!("{{\"notes\": \"{text}\"}}"));
    assert_ne!(write(&shorter).await, write(&longer).await);
}

pub(crate) async fn a_command_that_is_too_large_is_told_so_and_never_read(world: &World) {
    let lease = world.lease().await;
    let long = "x".repeat(1_001);
    let huge = "x".repeat(usize::try_from(MOST_DATA).unwrap());
    for (id, key, data) in
        [(1, "A", "{}"), (2, long.as_str(), "{}"), (3, "A", huge.as_str()), (4, "A", &format!("{huge}x"))]
    {
        let sql = format!(
            "INSERT INTO commands (id, store, kind, key, data) VALUES ({id}, 'minha-loja', 'order.notes', '{key}', '{{\"n\": \"{data}\"}}')"
        );
        insert(world, &sql).await;
    }
    let large: Vec<i64> =
        all_commands(world).await.iter().filter(|one| one.is_too_large).map(|one| one.id).collect();
    assert_eq!(large, [2, 3, 4], "the data of the third has a frame");
    let refused = Outcome { code: Some("too_large".to_owned()), ..Outcome::plain(PushState::Failed) };
    let mut tx = world.store.begin_answer(&lease).await.unwrap();
    tx.intents().refuse_command(2, &refused).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(
        world.tables.list("SELECT state || ' ' || error_code FROM commands WHERE id = 2").await,
        ["failed too_large"]
    );
    let open: Vec<i64> = all_commands(world).await.iter().map(|one| one.id).collect();
    assert_eq!(open, [1, 3, 4]);
    lease.release().await.unwrap();
}

pub(crate) async fn open_levels_come_in_pages_by_sku_and_location(world: &World) {
    let sql = format!(
        "INSERT INTO erp_stock (store, sku, location_id, quantity) \
         SELECT 'minha-loja', 'S-' || CAST(1000 + n / 3 AS TEXT), CAST(n % 3 AS TEXT), n FROM ({}) x",
        numbers(PAGE_ROWS + 40)
    );
    insert(world, &sql).await;
    let (mut all, mut after) = (Vec::new(), None);
    loop {
        let page = world.store.intents().open_stock_page(&minha_loja(), after.as_ref()).await.unwrap();
        let Some(last) = page.last() else { break };
        after = Some(last.clone());
        all.extend(page);
    }
    let keys: Vec<_> = all.iter().map(|level| (level.sku.as_str(), level.location.as_str())).collect();
    assert_eq!(keys.len(), PAGE_ROWS + 40);
    assert!(keys.is_sorted() && keys.iter().collect::<BTreeSet<_>>().len() == keys.len());
}

pub(crate) async fn a_row_with_a_key_that_is_far_too_long_is_never_read_and_told_so(world: &World) {
    let lease = world.lease().await;
    // PostgreSQL has no room in an index for more.
    let bytes = world.tables.either(10 << 20, 100_000);
    let (long, longest) = ("S".repeat(801), "S".repeat(bytes));
    for (sku, location) in [("A", "1"), ("A", long.as_str()), (longest.as_str(), "1")] {
        insert(
            world,
            &format!("INSERT INTO erp_stock (store, sku, location_id, quantity) VALUES ('minha-loja', '{sku}', '{location}', 1)"),
        )
        .await;
    }
    for sku in ["A", longest.as_str()] {
        insert(
            world,
            &format!("INSERT INTO erp_prices (store, sku, price) VALUES ('minha-loja', '{sku}', 1)"),
        )
        .await;
    }
    let (store, key, locale) = (&world.store, minha_loja(), espelho_model::text::Locale::default());
    assert_eq!(store.intents().open_stock_page(&key, None).await.unwrap().len(), 1);
    assert_eq!(store.intents().open_prices_page(&key, None).await.unwrap().len(), 1);
    assert_eq!(store.intents().fail_too_long(&lease, locale).await.unwrap(), 3);
    assert_eq!(store.intents().fail_too_long(&lease, locale).await.unwrap(), 0);
    let errors = store.history().errors(None, 10).await.unwrap();
    assert_eq!(errors.len(), 3);
    assert!(
        errors.iter().all(|row| row.code == "too_large" && row.key.len() < 1_000 && !row.hint.is_empty())
    );
    let longest = errors.iter().find(|row| row.entity == "price").unwrap();
    assert!(longest.key.ends_with(&format!("… ({} bytes)", bytes + 2)), "{}", longest.key);
    let troubled = store.overview().rows_in_trouble().await.unwrap();
    assert!(troubled.iter().all(|rows| rows.key.len() <= 200), "{troubled:?}");
    lease.release().await.unwrap();
}

pub(crate) async fn open_prices_come_in_pages_by_sku(world: &World) {
    let sql = format!(
        "INSERT INTO erp_prices (store, sku, min_quantity, price) \
         SELECT 'minha-loja', 'S-' || CAST(1000 + n / 2 AS TEXT), n, 5 FROM ({}) x",
        numbers(2 * PAGE_ROWS + 40)
    );
    insert(world, &sql).await;
    let (mut all, mut after) = (Vec::new(), None);
    loop {
        let page = world.store.intents().open_prices_page(&minha_loja(), after.as_ref()).await.unwrap();
        let Some(last) = page.last() else { break };
        after = Some(last.sku.clone());
        all.extend(page);
    }
    let skus: Vec<_> = all.iter().map(|product| product.sku.as_str()).collect();
    assert_eq!(skus.len(), PAGE_ROWS + 21);
    assert!(skus.is_sorted() && skus.iter().collect::<BTreeSet<_>>().len() == skus.len());
}

pub(crate) async fn levels_that_go_to_zero_are_counted_where_the_mirror_does_not_show_zero(world: &World) {
    let lease = world.lease().await;
    let products = [("P1", "A"), ("P2", "B"), ("P3", "C")];
    for (id, sku) in products {
        let sql = format!(
            "INSERT INTO products (store, id, sku, raw, listing_hash, content_hash, mirrored_at) \
             VALUES ('minha-loja', '{id}', '{sku}', '{{}}', 0, 0, '2026-01-01T00:00:00.000000Z')"
        );
        insert(world, &sql).await;
    }
    for (sku, quantity) in [("A", 5), ("B", 0)] {
        let sql = format!(
            "INSERT INTO product_stock (store, sku, location_id, product_id, quantity, raw, mirrored_at) \
             VALUES ('minha-loja', '{sku}', '1', 'P', {quantity}, '{{}}', '2026-01-01T00:00:00.000000Z')"
        );
        insert(world, &sql).await;
    }
    let wanted = [("A", "1", 0), ("B", "1", 0), ("C", "1", 0), ("unknown", "1", 0), ("A", "2", 7)];
    for (sku, location, quantity) in wanted {
        let sql = format!(
            "INSERT INTO erp_stock (store, sku, location_id, quantity) \
             VALUES ('minha-loja', '{sku}', '{location}', {quantity})"
        );
        insert(world, &sql).await;
    }
    let zeroes = async || world.store.intents().open_zeroes(&minha_loja()).await.unwrap();
    // A falls to zero, and of C the mirror knows no level; B is at zero, and nobody knows the last SKU.
    assert_eq!(zeroes().await, 2);
    let level = world.store.intents().open_stock_page(&minha_loja(), None).await.unwrap().remove(0);
    let mut tx = world.store.begin_answer(&lease).await.unwrap();
    assert!(
        tx.intents().answer_stock(&level, &Outcome::plain(PushState::Sending), "physical").await.unwrap()
    );
    tx.commit().await.unwrap();
    assert_eq!(zeroes().await, 1);
    lease.release().await.unwrap();
}

pub(crate) async fn what_is_urgent_is_found_in_a_crowd_and_a_status_waits_for_what_is_ahead_of_it(
    world: &World,
) {
    let crowd = format!(
        "INSERT INTO commands (id, store, kind, key, state) SELECT n, 'minha-loja', 'order.notes', 'N-' || n, \
         'new' FROM ({}) x",
        numbers(PAGE_ROWS + 40)
    );
    insert(world, &crowd).await;
    let statuses = [
        (1_001, "A", "new"),
        (1_002, "A", "new"),
        (1_003, "N-7", "new"),
        (1_004, "B", "waiting"),
        (1_005, "B", "new"),
        (1_006, "C", "sending"),
        (1_007, "D", "done"),
        (1_008, "D", "new"),
    ];
    for (id, key, state) in statuses {
        let sql = format!(
            "INSERT INTO commands (id, store, kind, key) VALUES ({id}, 'minha-loja', 'order.status', '{key}')"
        );
        insert(world, &sql).await;
        world.tables.execute(&format!("UPDATE commands SET state = '{state}' WHERE id = {id}")).await;
    }
    let (commands, key) = (world.store.commands(), minha_loja());
    let ids = |rows: Vec<OpenCommand>| rows.iter().map(|row| row.id).collect::<Vec<_>>();
    assert_eq!(ids(commands.first_statuses(&key).await.unwrap()), [1_001, 1_006, 1_008]);
    assert_eq!(
        ids(commands.latest_statuses(&key).await.unwrap()),
        [1_008, 1_006, 1_005, 1_003, 1_002, 1_001]
    );
    let levels = format!(
        "INSERT INTO erp_stock (store, sku, location_id, quantity) \
         SELECT 'minha-loja', 'S-' || CAST(1000 + n AS TEXT), '1', CASE WHEN n % 100 = 0 THEN 0 ELSE n END \
         FROM ({}) x",
        numbers(PAGE_ROWS + 40)
    );
    insert(world, &levels).await;
    let zeroes = world.store.intents().open_zeroes_page(&key, None).await.unwrap();
    let skus: Vec<_> = zeroes.iter().map(|level| level.sku.as_str()).collect();
    assert_eq!(skus, ["S-1100", "S-1200", "S-1300", "S-1400", "S-1500"]);
    let behind = world.store.intents().open_zeroes_page(&key, Some(&zeroes[3])).await.unwrap();
    assert_eq!(behind, zeroes[4..]);
    for kind in ["order.status", "order.notes"] {
        assert_eq!(commands.is_commanded(&key, kind, "A").await.unwrap(), kind == "order.status");
    }
    let long = "L".repeat(300);
    insert(
        world,
        &format!("INSERT INTO commands (store, kind, key) VALUES ('minha-loja', 'order.notes', '{long}')"),
    )
    .await;
    assert!(commands.is_commanded(&key, "order.notes", &long).await.unwrap());
    assert!(!commands.is_commanded(&key, "order.notes", &long[1..]).await.unwrap());
}

pub(crate) async fn a_level_is_read_again_while_it_is_wanted_as_it_was(world: &World) {
    let write = async |quantity: i64| {
        let sql = format!(
            "INSERT INTO erp_stock (store, sku, location_id, quantity) VALUES ('minha-loja', 'A', '1', {quantity}) \
             ON CONFLICT (store, sku, location_id) DO UPDATE SET quantity = excluded.quantity"
        );
        insert(world, &sql).await;
    };
    write(5).await;
    let (intents, key) = (world.store.intents(), minha_loja());
    let level = intents.open_stock_page(&key, None).await.unwrap().remove(0);
    assert_eq!(intents.current_level(&key, &level).await.unwrap(), std::slice::from_ref(&level));
    insert(
        world,
        "INSERT INTO products (store, id, sku, raw, listing_hash, content_hash, mirrored_at) \
         VALUES ('minha-loja', 'P', 'A', '{}', 0, 0, '2026-01-01T00:00:00.000000Z')",
    )
    .await;
    let now = intents.current_level(&key, &level).await.unwrap().remove(0);
    assert!(level.product.is_none() && now.product.is_some(), "the mirror went on");
    write(7).await;
    assert!(intents.current_level(&key, &level).await.unwrap().is_empty());
    let level = intents.open_stock_page(&key, None).await.unwrap().remove(0);
    insert(
        world,
        "INSERT INTO products (store, id, sku, raw, listing_hash, content_hash, mirrored_at) \
         VALUES ('minha-loja', 'Q', 'A', '{}', 0, 0, '2026-01-01T00:00:00.000000Z')",
    )
    .await;
    assert_eq!(intents.current_level(&key, &level).await.unwrap().len(), 2, "two products have its SKU");
    let products = world.store.lookups().products_by_sku(&key, "A").await.unwrap();
    assert_eq!(products, ["P", "Q"].map(espelho_model::ProductId::new));
}

pub(crate) async fn a_group_of_rows_in_trouble_has_the_key_the_words_and_the_step_of_one_row(world: &World) {
    for (key, error, hint) in [("A", "z", "espelho retry 1"), ("B", "a", "espelho retry 2")] {
        let written = format!("INSERT INTO commands (store, kind, key) VALUES ('minha-loja', 'k', '{key}')");
        insert(world, &written).await;
        let answered = format!(
            "UPDATE commands SET state = 'doubtful', error_code = 'doubtful', error = '{error}', hint = '{hint}' \
             WHERE key = '{key}'"
        );
        insert(world, &answered).await;
        let level = format!(
            "INSERT INTO erp_stock (store, sku, location_id, quantity) VALUES ('minha-loja', '{key}', '9', 1)"
        );
        insert(world, &level).await;
        let answered = format!(
            "UPDATE erp_stock SET state = 'failed', error_code = 'x', error = '{error}', hint = '{hint}' \
             WHERE sku = '{key}'"
        );
        insert(world, &answered).await;
    }
    let troubled = world.store.overview().rows_in_trouble().await.unwrap();
    let told: Vec<_> =
        troubled.iter().map(|rows| (&*rows.entity, rows.rows, &*rows.error, &*rows.hint)).collect();
    let expected = [("command", 2, "z", "espelho retry 1"), ("stock", 2, "z", "espelho retry 1")];
    assert_eq!(told.into_iter().collect::<BTreeSet<_>>(), BTreeSet::from(expected));
    let level = troubled.iter().find(|rows| rows.entity == "stock").unwrap();
    assert_eq!(level.key, "A/9");
    let overview = world.store.overview().overview(Some(&minha_loja())).await.unwrap();
    for group in &overview["minha-loja"].failures {
        assert_eq!((&*group.error, &*group.hint), ("a", "espelho retry 2"), "{}", group.entity);
    }
}
