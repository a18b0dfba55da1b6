//! The policy for people's data: what it leaves out is nowhere, in the files and tables, logs, pages and backups, while
//! the mirror goes on; and another policy applies to what is there with the next complete reading.

use espelho_sandbox::{NewOccurrence, Options};
use espelho_tests::{Kind, sandbox_of};

use crate::{
    canary::{self, NAME, NUMBER},
    keeping::Keeping,
    receiving,
};

const LOG: &str = "[log]\nlevel = \"trace\"\n[schedule]\nreconcile = \"0 0 0 1 1 *\"\nnew_orders = 1\n\
    open_orders = 1\nproducts = 1\nparts = 1\n";
const FIELDS: [&str; 10] =
    ["customer_id", "name", "document", "email", "phone", "address", "city", "notes", "messages", "other"];
const DEEP: [&[&str]; 2] = [&["--deep"], &["--deep", "--only", "orders,events,financial,shipments,tracking"]];

fn main_with(treatment: &str) -> String {
    let fields = FIELDS.map(|field| format!("{field} = \"{treatment}\"\n")).concat();
    format!("{LOG}[privacy]\n{fields}")
}

pub(crate) async fn what_is_left_out_is_nowhere(kind: Kind) {
    let options = Options { orders: 6, products: 3, local_webhooks: true, ..Options::default() };
    let mut keeping =
        Keeping::of_main(sandbox_of(options).await, kind, &main_with("leave_out"), 1_000_000).await;
    keeping.know_pages();
    let (control, store) = (keeping.control(), keeping.store());
    let (detail, row) = canary::order();
    assert!(control.orders().add_raw(&store, NUMBER, detail.to_string(), row.to_string()));
    let status = format!("SELECT status FROM orders WHERE order_number = '{NUMBER}'");
    keeping.shows(&status, &["paid"]).await;
    let conversation = control.support_cases().open_conversation(&store, NUMBER, "order").unwrap();
    assert!(control.support_cases().say(&store, conversation, "customer", &format!("Sou {NAME}")).is_some());
    let complaint = NewOccurrence { title: format!("Queixa de {NAME}"), ..NewOccurrence::default() };
    assert!(control.support_cases().open_occurrence(&store, complaint).is_some());
    assert_eq!(keeping.deliver(&canary::delivery()).await, 200);
    control.webhooks().deliveries_done().await;
    let told = "SELECT CAST((SELECT count(*) FROM conversation_messages) AS TEXT) || ' ' || \
        CAST((SELECT count(*) FROM occurrences) AS TEXT) AS n";
    keeping.shows(told, &["1 1"]).await;
    keeping.inbox_is_handled().await;
    for arguments in DEEP {
        keeping.installation.resync(arguments).await.expect(0);
    }
    let again = keeping.installation.resync(&["--deep"]).await.expect(0);
    assert_eq!(again.count("orders", "changed"), 0, "an order looks unchanged\n{again}");
    let audit = keeping.installation.run(&["audit", "--only", "orders", "--json"]).await.expect(0);
    assert!(!audit.stdout.contains(NUMBER), "{audit}");
    assert_eq!(canary::in_database(&keeping, kind).await, Vec::<String>::new());
    assert_eq!(canary::shown(&keeping).await, Vec::<String>::new());
    let bodies = receiving::bodies(&keeping.installation).await;
    assert!(bodies.iter().any(|body| body.contains(NUMBER)), "deliveries are kept without the person");
    if kind == Kind::Sqlite {
        let path = keeping.installation.dir().join("after");
        keeping.installation.run(&["backup", &path.display().to_string()]).await.expect(0);
        let (found, files) = canary::in_files(&path, "");
        assert!(found.is_empty() && files >= 2, "{files} {found:?}");
    }
    let (found, files) = canary::in_files(keeping.installation.dir(), "");
    assert!(found.is_empty() && files >= 3, "{files} {found:?}");
    let fiscal = format!(
        "SELECT CAST(total_order AS TEXT) || ' ' || COALESCE(customer_name, '-') AS x FROM orders \
         WHERE order_number = '{NUMBER}'"
    );
    let total = if kind == Kind::Sqlite { "24.8" } else { "24.80" };
    keeping.shows(&fiscal, &[&format!("{total} -")]).await;

    // Another policy applies to what is there with a complete reading, in both directions.
    keeping.stop().await;
    for (main, expected) in [(LOG.to_owned(), NAME), (main_with("leave_out"), "-")] {
        keeping.installation.write_main(&main);
        let changed = keeping.installation.resync(&["--deep"]).await.expect(0);
        assert!(changed.count("orders", "changed") >= 7, "{changed}");
        let again = keeping.installation.resync(&["--deep"]).await.expect(0);
        assert_eq!(again.count("orders", "changed"), 0, "{again}");
        keeping.shows(&fiscal, &[&format!("{total} {expected}")]).await;
        let raw = format!("SELECT CAST(raw AS TEXT) AS x FROM orders WHERE order_number = '{NUMBER}'");
        let raw = keeping.ask(&raw).await;
        assert_eq!(canary::canaries_in(raw[0].as_bytes()).count() == 0, expected == "-", "{raw:?}");
    }
}
