//! Orders that the marketplace denies: read again over a day, shown meanwhile, and accepted as gone if it persists.

use espelho_tests::{Kind, on_both_databases};
use serde_json::{Value, json};

use crate::{keeping::Keeping, sweeping::rarely_but};

on_both_databases![an_order_that_is_denied_is_gone_with_the_third_denial_and_kept,];

const MISSING: &str = "SELECT key || ' ' || CAST(confirmations AS TEXT) AS m FROM missing ORDER BY key";
const GONE: &str = "SELECT order_number FROM orders WHERE gone_at IS NOT NULL";

fn hours_ago(kind: Kind, hours: u32) -> String {
    match kind {
        Kind::Sqlite => format!("strftime('%Y-%m-%dT%H:%M:%f000Z', 'now', '-{hours} hours')"),
        Kind::Postgres => format!("now() - interval '{hours} hours'"),
    }
}

async fn explained(keeping: &Keeping, number: &str) -> Value {
    let told =
        keeping.installation.run_in_portuguese(&["explain", "order", number, "--json"]).await.expect(0);
    told.json()["found"][0].clone()
}

// withstands: F059
async fn an_order_that_is_denied_is_gone_with_the_third_denial_and_kept(kind: Kind) {
    let mut keeping = Keeping::scheduled(kind, 5, 2, &rarely_but(&["open_orders"])).await;
    let (control, store) = (keeping.control(), keeping.store());
    let number = control.orders().insert(&store);
    keeping.order_is(&number, "paid").await;
    assert!(control.orders().remove(&store, &number));
    for confirmed in [1, 2] {
        keeping.shows(MISSING, &[&format!("{number} {confirmed}")]).await;
        keeping.shows(GONE, &[]).await;
        let told = explained(&keeping, &number).await;
        assert_eq!(told["missing"]["confirmations"], json!(confirmed));
        assert_eq!(told["row"]["gone_at"], Value::Null);
        let shown = keeping.installation.run_in_portuguese(&["explain", "order", &number]).await.expect(0);
        assert!(shown.stdout.contains("não encontrado no marketplace desde"), "{shown}");
        // The sweep reads every second, and until half a day has passed it reports nothing new.
        let later = format!("UPDATE missing SET last_at = {}", hours_ago(kind, 12));
        keeping.mirror().await.execute(&later).await;
    }
    keeping.shows(GONE, &[&number]).await;
    keeping.shows(MISSING, &[]).await;
    let ops = format!("SELECT op FROM changes WHERE entity = 'order' AND key = '{number}' AND op = 'gone'");
    keeping.shows(&ops, &["gone"]).await;
    assert_eq!(explained(&keeping, &number).await["missing"], Value::Null);
    keeping.stop().await;
}
