//! A person who asks to be forgotten: nothing of the person stays or comes back, in the files and tables, while the
//! service runs.

use espelho_tests::{Kind, installation::STORE};
use serde_json::{Value, json};

use crate::{keeping::Keeping, receiving};

const NUMBER: &str = "CANARIA-1";
const NAME: &str = "Canária Ninguém";
const EMAIL: &str = "canaria.ninguem@example.com";
const CPF: &str = "529.982.247-25";
const CANARIES: [&str; 5] = [NAME, EMAIL, CPF, "11912345678", "Rua da Canária Perdida"];

/// The order of the person, and its row in the listing.
fn order() -> (Value, Value) {
    let customer = json!({"id": 777_001, "name": NAME, "email": EMAIL, "document": CPF, "phone": "11912345678",
        "address": {"street": "Rua da Canária Perdida", "number": "5", "city": "Recife", "state": "PE"}});
    let item = json!({"id": 1, "product_id": "01P", "sku": "CAN-1", "name": "Caneca", "quantity": 2,
        "unit_price": "9.90", "net_value": "19.80"});
    let (created, updated) = ("2026-01-02T12:00:00Z", "2026-01-02T12:00:01Z");
    let detail = json!({"order_number": NUMBER, "status": "paid", "customer": customer, "items": [item],
        "totals": {"products": "19.80", "shipping": "5.00", "discounts": "0.00", "order": "24.80"},
        "notes": format!("ligar para {NAME}"), "extra": {"entrega": {"recebedor": {"nome": NAME}}},
        "created_at": created, "updated_at": updated});
    let row = json!({"order_number": NUMBER, "status": "paid", "customer": {"id": 777_001, "name": NAME},
        "created_at": created, "updated_at": updated});
    (detail, row)
}

/// The canaries in the database: in the bytes of SQLite's files, or in every column of PostgreSQL's tables.
async fn canaries(keeping: &Keeping, kind: Kind) -> Vec<String> {
    let mut places: Vec<(String, Vec<u8>)> = Vec::new();
    match kind {
        Kind::Sqlite => {
            for file in ["espelho.db", "espelho.db-wal", "espelho.db-inbox", "espelho.db-inbox-wal"] {
                let bytes = std::fs::read(keeping.installation.dir().join(file)).unwrap_or_default();
                places.push((file.to_owned(), bytes));
            }
        }
        Kind::Postgres => {
            let mirror = keeping.mirror().await;
            let names = "SELECT CAST(table_name AS TEXT) AS name FROM information_schema.tables \
                WHERE table_schema = current_schema() AND table_type = 'BASE TABLE'";
            for table in mirror.ask(names).await {
                let table = &table["name"];
                places.push((table.clone(), format!("{:?}", mirror.rows(table).await).into_bytes()));
            }
        }
    }
    let mut found = Vec::new();
    for (place, bytes) in &places {
        for canary in CANARIES {
            let hex: String = canary.bytes().map(|byte| format!("{byte:02X}")).collect();
            let is_in = |text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
            if is_in(canary) || is_in(&hex) {
                found.push(format!("{place}: {canary}"));
            }
        }
    }
    found
}

pub(crate) async fn nothing_of_the_person_comes_back(kind: Kind) {
    let mut keeping = Keeping::with(kind, 6, 3, 1).await;
    keeping.know_pages();
    let (control, store) = (keeping.control(), keeping.store());
    let (detail, row) = order();
    assert!(control.orders().add_raw(&store, NUMBER, detail.to_string(), row.to_string()));
    let shown = format!("SELECT customer_name FROM orders WHERE order_number = '{NUMBER}'");
    keeping.shows(&shown, &[NAME]).await;
    let conversation = control.support_cases().open_conversation(&store, NUMBER, "order").unwrap();
    assert!(control.support_cases().say(&store, conversation, "customer", &format!("Sou {NAME}")).is_some());
    keeping.shows("SELECT body FROM conversation_messages", &[&format!("Sou {NAME}")]).await;
    keeping.inbox_is_handled().await;
    assert!(!canaries(&keeping, kind).await.is_empty());
    let files = std::fs::read_dir(keeping.installation.dir().join("labels")).map_or(0, Iterator::count);
    assert!(files <= 1, "a folder for the store at most");
    if kind == Kind::Sqlite {
        keeping.installation.run(&["backup"]).await.expect(0);
    }

    let nobody = keeping.installation.run(&["forget", "ninguem@example.org"]).await.expect(1);
    assert!(nobody.stderr.contains("espelho explain NUMBER"), "{nobody}");
    let counted = keeping.installation.run(&["forget", EMAIL, "--dry-run", "--json"]).await.expect(0).json();
    assert_eq!(counted["erasures"][0]["counts"]["orders"], 1, "{counted}");
    assert!(!canaries(&keeping, kind).await.is_empty(), "a dry run changes nothing");
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
    assert!(!CANARIES.iter().any(|canary| erased.to_string().contains(canary)), "{erased}");
    assert_eq!(canaries(&keeping, kind).await, Vec::<String>::new());

    let data =
        json!({"order_number": NUMBER, "status": "paid", "customer_id": 777_001, "customer_name": NAME});
    let body =
        json!({"event": "order.paid", "data": data, "timestamp": "2026-11-20T12:00:00Z", "webhook_id": "w"});
    assert_eq!(keeping.deliver(&body.to_string()).await, 200);
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
    assert_eq!(canaries(&keeping, kind).await, Vec::<String>::new());
    keeping
        .shows(
            &format!("SELECT CAST(total_order AS TEXT) || ' ' || customer_city AS x FROM orders WHERE order_number = '{NUMBER}'"),
            &[if kind == Kind::Sqlite { "24.8 Recife" } else { "24.80 Recife" }],
        )
        .await;
    let again = keeping.installation.run(&["forget", CPF]).await.expect(0);
    assert!(again.stdout.contains("already"), "{again}");

    // With a service that has no memory of its own either.
    keeping.stop().await;
    keeping.installation.resync(&["--deep", "--restart"]).await.expect(0);
    assert_eq!(canaries(&keeping, kind).await, Vec::<String>::new());
    let log = keeping.log();
    assert!(!CANARIES.iter().any(|canary| log.contains(canary)), "{log}");
    let bodies = receiving::bodies(&keeping.installation).await;
    assert!(bodies.iter().any(|body| body.contains(NUMBER)), "deliveries are kept without the person");
    let records = keeping.mirror().await.rows("erasures").await;
    assert_eq!((records.len(), records[0]["store"].as_str()), (1, STORE));
}
