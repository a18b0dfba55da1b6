//! `kill -9` at any moment: the next run resumes where the killed one stopped, and the mirror is the same.
//!
//! `ESPELHO_KILLS=200 cargo nextest run -p espelho-tests --test kill` kills this many times, in as many rounds as
//! that takes; `ESPELHO_KILL_SEED` selects other moments. The seed is printed when something fails.

use espelho_sandbox::Sandbox;
use espelho_tests::{Installation, Kind, Random, on_both_databases, sandbox, until};

on_both_databases![a_killed_run_is_resumed_to_the_same_mirror];

const ORDERS: usize = 3_000;
const PRODUCTS: usize = 300;
/// The kills within one round: more would leave too few requests between them.
const KILLS_A_ROUND: u64 = 6;
/// Each kill may repeat two pages of the listing and their details: the one that is written and the one that is read.
const PAGES_A_KILL: u64 = 2;
const DETAILS_A_PAGE: u64 = 100;
/// A run that was killed after its last order lists the orders again: some may have changed meanwhile.
const PAGES_OF_ORDERS: u64 = 30;
const PAGES_OF_PRODUCTS: u64 = 3;

// withstands: F068, F120
async fn a_killed_run_is_resumed_to_the_same_mirror(kind: Kind) {
    let kills = from_environment("ESPELHO_KILLS").unwrap_or(KILLS_A_ROUND);
    let seed = from_environment("ESPELHO_KILL_SEED").unwrap_or(20_261_120);
    let sandbox = sandbox(ORDERS, PRODUCTS).await;
    let whole = Installation::on(kind).await;
    whole.join(&sandbox);
    sandbox.reset_stats();
    whole.resync(&[]).await.expect(0);
    let floor = sandbox.stats().requests;
    let expected = whole.mirror().await.contents().await;
    let mut random = Random::seeded(seed);
    let mut done = 0;
    while done < kills {
        let round = format!("ESPELHO_KILL_SEED={seed}, after {done} kills");
        let installation = Installation::on(kind).await;
        installation.join(&sandbox);
        sandbox.reset_stats();
        let Kills { killed, may_repeat } =
            kill_again_and_again(&installation, &sandbox, &mut random, floor, kills - done).await;
        let before = sandbox.stats().repeated_list_pages;
        let last = installation.resync(&[]).await;
        assert_eq!(last.code, 0, "{round}\n{last}");
        let stats = sandbox.stats();
        assert!(stats.repeated_list_pages <= before + may_repeat, "{killed} kills, {round}: {stats:?}");
        assert!(
            stats.repeated_details <= killed * PAGES_A_KILL * DETAILS_A_PAGE,
            "{killed} kills, {round}: {stats:?}"
        );
        let mirror = installation.mirror().await;
        assert!(mirror.contents().await == expected, "the mirror differs; {killed} kills, {round}");
        let changes = mirror.ask("SELECT entity, key FROM changes").await;
        let mut once = changes.clone();
        once.dedup();
        assert_eq!((changes.len(), once.len()), (ORDERS + PRODUCTS, ORDERS + PRODUCTS), "{round}");
        let states =
            mirror.ask("SELECT state FROM sync_runs WHERE state NOT IN ('interrupted', 'complete')").await;
        assert!(states.is_empty(), "{round}: {states:?}");
        done += killed.max(1);
    }
}

fn from_environment(name: &str) -> Option<u64> {
    std::env::var(name)
        .ok()
        .map(|text| text.parse().unwrap_or_else(|_| panic!("{name} {text:?} is no number")))
}

/// The kills of a round.
#[derive(Default)]
struct Kills {
    killed: u64,
    /// How many pages the next run may read again.
    may_repeat: u64,
}

/// Starts a run and kills it after this many further requests, repeatedly.
async fn kill_again_and_again(
    installation: &Installation,
    sandbox: &Sandbox,
    random: &mut Random,
    floor: u64,
    most: u64,
) -> Kills {
    let most = most.min(KILLS_A_ROUND);
    let mut kills = Kills::default();
    for killed in 0..most {
        let before = sandbox.stats().requests;
        let repeated_before = sandbox.stats().repeated_list_pages;
        let moment = before + random.up_to(floor.saturating_sub(before) / (most - killed));
        let mut running = installation.start(&["--resync", "--json"]);
        until("the moment comes or the run ends", async || {
            sandbox.stats().requests >= moment || running.has_ended()
        })
        .await;
        let repeated = sandbox.stats().repeated_list_pages - repeated_before;
        assert!(
            repeated <= kills.may_repeat,
            "the run after {} kills read {repeated} pages again",
            kills.killed
        );
        if running.has_ended() {
            let ended = running.end().await;
            assert_eq!(ended.code, 0, "{ended}");
            // A new run lists everything again.
            kills.may_repeat = PAGES_OF_ORDERS + PAGES_OF_PRODUCTS;
            return kills;
        }
        running.kill().await;
        kills.killed += 1;
        kills.may_repeat = PAGES_A_KILL;
        if installation.mirror().await.live("orders").await == ORDERS {
            kills.may_repeat += PAGES_OF_ORDERS;
        }
    }
    kills
}
