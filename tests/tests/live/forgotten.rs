//! A person who asks to be forgotten: nothing of the person stays or comes back, in the files and tables, logs, pages
//! and later backups, while the service runs.

use espelho_sandbox::Options;
use espelho_tests::{Kind, installation::STORE, sandbox_of};

use crate::{
    canary::{self, CPF, EMAIL, NAME, NUMBER},
    keeping::Keeping,
    receiving,
};

const FILE: &str = "labels/loja-1/0123456789abcdef0123456789abcdef01234567.zpl";
const MAIN: &str = "[log]\nlevel = \"trace\"\n[schedule]\nreconcile = \"0 0 0 1 1 *\"\nnew_orders = 1\n\
    open_orders = 1\nproducts = 1\nparts = 1\n";

/// Puts a label of the person's order on the disk, as if it had been fetched.
async fn fetch_label(keeping: &Keeping, kind: Kind) {
    let dir = keeping.installation.dir();
    std::fs::create_dir_all(dir.join("labels/loja-1")).unwrap();
    std::fs::write(dir.join(FILE), format!("^XA{NAME}^XZ")).unwrap();
    let now = if kind == Kind::Sqlite { "'2026-01-02T12:00:00.000000Z'" } else { "now()" };
    let columns = "store, file, label_id, order_number, size, sha256, host, fetched_at";
    let values = format!("'loja-1', '{FILE}', 'L-1', '{NUMBER}', 7, 's', 'h', {now}");
    keeping.mirror().await.execute(&format!("INSERT INTO label_files ({columns}) VALUES ({values})")).await;
}

pub(crate) async fn nothing_of_the_person_comes_back(kind: Kind) {
    let options = Options { orders: 6, products: 3, local_webhooks: true, ..Options::default() };
    let mut keeping = Keeping::of_main(sandbox_of(options).await, kind, MAIN, 1_000_000).await;
    keeping.know_pages();
    let (control, store) = (keeping.control(), keeping.store());
    let (detail, row) = canary::order();
    assert!(control.orders().add_raw(&store, NUMBER, detail.to_string(), row.to_string()));
    let shown = format!("SELECT customer_name FROM orders WHERE order_number = '{NUMBER}'");
    keeping.shows(&shown, &[NAME]).await;
    let conversation = control.support_cases().open_conversation(&store, NUMBER, "order").unwrap();
    assert!(control.support_cases().say(&store, conversation, "customer", &format!("Sou {NAME}")).is_some());
    keeping.shows("SELECT body FROM conversation_messages", &[&format!("Sou {NAME}")]).await;
    keeping.inbox_is_handled().await;
    assert!(!canary::in_database(&keeping, kind).await.is_empty());
    fetch_label(&keeping, kind).await;
    assert_eq!(canary::shown(&keeping).await, Vec::<String>::new(), "nobody is shown to begin with");
    if kind == Kind::Sqlite {
        keeping.installation.run(&["backup"]).await.expect(0);
    }

    let nobody = keeping.installation.run(&["forget", "ninguem@example.org"]).await.expect(1);
    assert!(nobody.stderr.contains("espelho explain NUMBER"), "{nobody}");
    let counted = keeping.installation.run(&["forget", EMAIL, "--dry-run", "--json"]).await.expect(0).json();
    assert_eq!(counted["erasures"][0]["counts"]["orders"], 1, "{counted}");
    assert!(!canary::in_database(&keeping, kind).await.is_empty(), "a dry run changes nothing");
    let erased = keeping.installation.run(&["forget", EMAIL, "--json"]).await.expect(0).json();
    // The order's sides may have been mirrored since the dry run.
    for (table, rows) in counted["erasures"][0]["counts"].as_object().unwrap() {
        assert!(
            erased["erasures"][0]["counts"][table].as_u64() >= rows.as_u64(),
            "{table}: {counted} {erased}"
        );
    }
    assert_eq!(
        erased["erasures"][0]["backups"].as_array().map(Vec::len),
        Some(usize::from(kind == Kind::Sqlite))
    );
    assert_eq!(erased["compact"], true);
    assert_eq!(canary::canaries_in(erased.to_string().as_bytes()).count(), 0, "{erased}");
    assert!(!keeping.installation.dir().join(FILE).exists(), "the label is removed");
    let label = format!("SELECT file FROM label_files WHERE order_number = '{NUMBER}'");
    assert_eq!(keeping.ask(&label).await, Vec::<String>::new());
    assert_eq!(canary::in_database(&keeping, kind).await, Vec::<String>::new());

    assert_eq!(keeping.deliver(&canary::delivery()).await, 200);
    assert!(control.support_cases().say(&store, conversation, "customer", NAME).is_some());
    control.webhooks().deliveries_done().await;
    keeping.shows("SELECT CAST(count(*) AS TEXT) AS n FROM conversation_messages", &["2"]).await;
    keeping.inbox_is_handled().await;
    keeping
        .installation
        .resync(&["--deep", "--only", "orders,events,financial,shipments,tracking"])
        .await
        .expect(0);
    let changed = keeping.installation.resync(&["--deep"]).await.expect(0);
    assert_eq!(changed.count("orders", "changed"), 0, "a redacted order looks unchanged\n{changed}");
    let audit = keeping.installation.run(&["audit", "--only", "orders", "--json"]).await.expect(0);
    assert!(!audit.stdout.contains(NUMBER), "{audit}");
    assert_eq!(canary::in_database(&keeping, kind).await, Vec::<String>::new());
    keeping
        .shows(
            &format!("SELECT CAST(total_order AS TEXT) || ' ' || customer_city AS x FROM orders WHERE order_number = '{NUMBER}'"),
            &[if kind == Kind::Sqlite { "24.8 Recife" } else { "24.80 Recife" }],
        )
        .await;
    let again = keeping.installation.run(&["forget", CPF]).await.expect(0);
    assert!(again.stdout.contains("already"), "{again}");

    assert_eq!(canary::shown(&keeping).await, Vec::<String>::new());
    if kind == Kind::Sqlite {
        let path = keeping.installation.dir().join("after");
        keeping.installation.run(&["backup", &path.display().to_string()]).await.expect(0);
        let (found, files) = canary::in_files(&path, "");
        assert!(found.is_empty() && files >= 2, "{files} {found:?}");
    }

    // With a service that has no memory of its own either.
    keeping.stop().await;
    keeping.installation.resync(&["--deep", "--restart"]).await.expect(0);
    assert_eq!(canary::in_database(&keeping, kind).await, Vec::<String>::new());
    // Every file of the installation, the log and the labels too; the backup from before has the person, and is named.
    let (found, files) = canary::in_files(keeping.installation.dir(), "backups");
    assert!(found.is_empty() && files >= 3, "{files} {found:?}");
    let bodies = receiving::bodies(&keeping.installation).await;
    assert!(bodies.iter().any(|body| body.contains(NUMBER)), "deliveries are kept without the person");
    let records = keeping.mirror().await.rows("erasures").await;
    assert_eq!((records.len(), records[0]["store"].as_str()), (1, STORE));
}
