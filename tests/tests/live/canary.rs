//! A person whom no other data of a test resembles, and every place where espelho may show or keep the person.

use std::path::{Path, PathBuf};

use espelho_tests::Kind;
use serde_json::{Value, json};

use crate::keeping::Keeping;

pub(crate) const NUMBER: &str = "CANARIA-1";
pub(crate) const NAME: &str = "Canária Ninguém";
pub(crate) const EMAIL: &str = "canaria.ninguem@example.com";
pub(crate) const CPF: &str = "529.982.247-25";
const CANARIES: [&str; 5] = [NAME, EMAIL, CPF, "11912345678", "Rua da Canária Perdida"];
/// What SQLite's files are called, beside the folder's other files.
const DATABASE: [&str; 4] = ["espelho.db", "espelho.db-wal", "espelho.db-inbox", "espelho.db-inbox-wal"];

/// The order of the person, and its row in the listing.
pub(crate) fn order() -> (Value, Value) {
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

/// A delivery about the order that shows the person.
pub(crate) fn delivery() -> String {
    let data =
        json!({"order_number": NUMBER, "status": "paid", "customer_id": 777_001, "customer_name": NAME});
    json!({"event": "order.paid", "data": data, "timestamp": "2026-11-20T12:00:00Z", "webhook_id": "w"})
        .to_string()
}

/// Returns the canaries in some bytes.
pub(crate) fn canaries_in(bytes: &[u8]) -> impl Iterator<Item = &'static str> {
    CANARIES.into_iter().filter(move |canary| {
        let hex: String = canary.bytes().map(|byte| format!("{byte:02X}")).collect();
        let is_in = |text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
        is_in(canary) || is_in(&hex)
    })
}

/// The canaries in the database: in the bytes of SQLite's files, or in every column of PostgreSQL's tables.
pub(crate) async fn in_database(keeping: &Keeping, kind: Kind) -> Vec<String> {
    let mut places: Vec<(String, Vec<u8>)> = Vec::new();
    match kind {
        Kind::Sqlite => {
            for file in DATABASE {
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
    named(&places)
}

/// The canaries in the log, and in what the running service shows: the page, `/status` and `/metrics`.
pub(crate) async fn shown(keeping: &Keeping) -> Vec<String> {
    let mut places = vec![("log".to_owned(), keeping.log().into_bytes())];
    for path in ["/", "/status", "/metrics", "/readyz?verbose"] {
        let shown = keeping.page(path).await;
        assert!(!shown.is_empty(), "{path}");
        places.push((path.to_owned(), shown.into_bytes()));
    }
    named(&places)
}

/// The canaries in the files below a folder, except in a folder of this name; and the number of files.
pub(crate) fn in_files(folder: &Path, except: &str) -> (Vec<String>, usize) {
    let (mut open, mut places): (Vec<PathBuf>, Vec<_>) = (vec![folder.to_owned()], Vec::new());
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).unwrap().flatten() {
            let path = entry.path();
            match path.is_dir() {
                true if entry.file_name() == except => (),
                true => open.push(path),
                false => places.push((path.display().to_string(), std::fs::read(&path).unwrap_or_default())),
            }
        }
    }
    let files = places.len();
    (named(&places), files)
}

fn named(places: &[(String, Vec<u8>)]) -> Vec<String> {
    let of = |(place, bytes): &(String, Vec<u8>)| {
        canaries_in(bytes).map(|canary| format!("{place}: {canary}")).collect::<Vec<_>>()
    };
    places.iter().flat_map(of).collect()
}
