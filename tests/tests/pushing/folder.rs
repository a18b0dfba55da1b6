//! The watched folder: files of stock and prices that an ERP exports.

use std::{fs, path::PathBuf};

use espelho_tests::{Kind, installation::STORE, on_both_databases, until};

use crate::erp::Erp;

on_both_databases![
    files_that_appear_in_the_folder_are_carried_out_and_moved_to_done,
    a_file_with_bad_lines_is_imported_not_at_all_and_its_lines_are_named,
    a_file_that_was_being_read_when_the_service_was_killed_is_read_again,
];

const WATCHED: &str = "[push]\ninbox = \"import\"\n";
const STATES: &str = "SELECT state AS s FROM erp_stock";

fn folder(erp: &Erp) -> PathBuf {
    erp.dir().join("import")
}

/// Puts a file there as a careful program does: under another name first.
fn put(erp: &Erp, name: &str, text: &str) {
    fs::create_dir_all(folder(erp)).unwrap();
    let written = folder(erp).join(format!("{name}.tmp"));
    fs::write(&written, text).unwrap();
    fs::rename(written, folder(erp).join(name)).unwrap();
}

async fn moved(erp: &Erp, place: &str) -> String {
    let place = folder(erp).join(place);
    until("the file is moved", async || place.exists()).await;
    fs::read_to_string(place).unwrap()
}

async fn files_that_appear_in_the_folder_are_carried_out_and_moved_to_done(kind: Kind) {
    let mut erp = Erp::with(kind, WATCHED).await;
    let goods = erp.goods().await;
    let (one, other) = (&goods[0], &goods[1]);
    let text = format!(
        "sku;location_id;quantity\n{};{};3,0\n{};{};2\n",
        one.sku, one.location, other.sku, other.location
    );
    put(&erp, "stock-1.csv", &text);
    erp.until(STATES, |states| states == ["done", "done"]).await;
    assert_eq!((erp.stock_of(one).await, erp.stock_of(other).await), (3, 2));
    assert_eq!(moved(&erp, "done/stock-1.csv").await, text);
    // The same name again, and prices beside it: nothing is overwritten.
    put(&erp, "stock-1.csv", &text.replace("3,0", "4"));
    put(&erp, "prices.csv", &format!("sku,price\n{},1.5\n", one.sku));
    put(&erp, "notes.csv", "nobody reads this");
    until("the level is set", async || erp.stock_of(one).await == 4).await;
    erp.until("SELECT sku AS s FROM erp_prices", |skus| skus == [one.sku.clone()]).await;
    moved(&erp, "done/prices.csv").await;
    assert_eq!(moved(&erp, "done/stock-1.csv").await, text);
    let done = fs::read_dir(folder(&erp).join("done")).unwrap().count();
    assert_eq!((done, folder(&erp).join("notes.csv").exists()), (3, true));
    erp.stop().await;
}

async fn a_file_with_bad_lines_is_imported_not_at_all_and_its_lines_are_named(kind: Kind) {
    let mut erp = Erp::with(kind, WATCHED).await;
    let goods = erp.goods().await;
    let (sku, location) = (&goods[0].sku, &goods[0].location);
    put(
        &erp,
        "stock.csv",
        &format!("sku,location_id,quantity\n{sku},{location},3\n{sku},{location},muito\n,{location},1\n"),
    );
    let said = moved(&erp, "failed/stock.csv.error.txt").await;
    for words in [
        "Nada deste arquivo foi importado",
        "linha 3: quantity é “muito”, que não é um número",
        "linha 4: falta sku",
    ] {
        assert!(said.contains(words), "no {words:?} in\n{said}");
    }
    assert!(!said.contains("line 3"), "one language at a time: {said}");
    moved(&erp, "failed/stock.csv").await;
    assert_eq!(erp.ask(STATES).await, Vec::<String>::new());
    // Once corrected, the file is imported.
    put(&erp, "stock.csv", &format!("sku,location_id,quantity\n{sku},{location},3\n"));
    erp.until(STATES, |states| states == ["done"]).await;
    erp.stop().await;
}

async fn a_file_that_was_being_read_when_the_service_was_killed_is_read_again(kind: Kind) {
    let mut erp = Erp::with(kind, WATCHED).await;
    let goods = erp.goods().await;
    erp.stop().await;
    // The state after a service was killed between writing the rows and moving the file.
    let (sku, location) = (&goods[0].sku, &goods[0].location);
    fs::create_dir_all(folder(&erp).join("reading")).unwrap();
    fs::write(
        folder(&erp).join("reading/stock.csv"),
        format!("sku,location_id,quantity\n{sku},{location},3\n"),
    )
    .unwrap();
    erp.set_stock(&goods[0], "3").await;
    erp.start();
    moved(&erp, "done/stock.csv").await;
    erp.until(STATES, |states| states == ["done"]).await;
    assert_eq!((erp.stock_of(&goods[0]).await, erp.writes("/stock").len()), (3, 1));
    assert_eq!(erp.ask(&format!("SELECT sku AS s FROM erp_stock WHERE store = '{STORE}'")).await.len(), 1);
    erp.stop().await;
}
