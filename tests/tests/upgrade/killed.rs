//! `kill -9` in the middle of the migrations of a database with rows.

use espelho_tests::{Kind, on_both_databases, until};

use super::older::{self, closed, kept, versions};

on_both_databases![a_migration_that_is_killed_anywhere_loses_no_row_and_the_next_start_ends_it];

// withstands: F108
async fn a_migration_that_is_killed_anywhere_loses_no_row_and_the_next_start_ends_it(kind: Kind) {
    let whole = older::installation(kind).await;
    let before = versions(&whole).await;
    whole.run(&["migrate", "--no-backup"]).await.expect(0);
    let (expected, all) = (kept(&whole).await, versions(&whole).await);
    assert!(all.len() > before.len() + 10, "{before:?} {all:?}");
    let mut kills_between = 0;
    for steps in [0, 1, 2, 4, 8, 12] {
        let installation = older::installation(kind).await;
        let mirror = installation.mirror().await;
        let mut migrating = installation.start(&["migrate", "--no-backup"]);
        let made = "SELECT CAST(version AS TEXT) AS version FROM _sqlx_migrations";
        until("some of it is made", async || {
            migrating.has_ended() || mirror.try_ask(made).await.len() >= before.len() + steps
        })
        .await;
        migrating.kill().await;
        closed(mirror).await;
        let reached = versions(&installation).await;
        assert!(all.starts_with(&reached), "{reached:?}");
        kills_between += usize::from(reached.len() < all.len());
        installation.run(&["migrate"]).await.expect(0);
        assert_eq!(versions(&installation).await, all);
        assert!(kept(&installation).await == expected, "rows differ after a kill at {:?}", reached.last());
    }
    assert!(kills_between > 0, "no kill came before the end");
}
