//! Label files: from a label that becomes ready to a file on the disk, and the faults in between.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

mod printing;

use std::fs;

use espelho_sandbox::{Fault, FaultRule};
use espelho_tests::{Kind, on_both_databases};
use printing::{Printing, sha256};

on_both_databases![
    a_ready_label_is_a_file_and_one_that_is_made_anew_makes_the_old_file_void,
    a_file_that_finds_no_room_is_shown_and_fetched_when_there_is_some,
    a_kill_in_the_middle_of_a_download_leaves_nothing_half_visible,
];

const FILES: &str =
    "SELECT file FROM shipment_labels WHERE gone_at IS NULL AND file IS NOT NULL ORDER BY file";
const RECORDS: &str = "SELECT file || ' ' || size || ' ' || sha256 || ' ' || host AS r FROM label_files WHERE void_at IS NULL ORDER BY file";
const FAILURES: &str = "SELECT code FROM v_errors WHERE entity = 'shipment_label'";

fn storage(times: Option<u32>, kind: Fault) -> FaultRule {
    FaultRule { route: "GET storage".into(), times, kind }
}

// withstands: F023
async fn a_ready_label_is_a_file_and_one_that_is_made_anew_makes_the_old_file_void(kind: Kind) {
    let mut printing = Printing::with(kind, "trace", "").await;
    printing.make_labels();
    let files = printing.until(FILES, |files| files.len() == 4).await;
    let records = printing.ask(RECORDS).await;
    for (file, record) in files.iter().zip(&records) {
        let bytes = fs::read(printing.dir().join(file)).unwrap();
        assert_eq!(*record, format!("{file} {} {} 127.0.0.1", bytes.len(), sha256(&bytes)));
        let begins: &[u8] = match file.rsplit_once('.').unwrap().1 {
            "pdf" => b"%PDF-",
            "zpl" => b"^XA",
            "html" => b"<!DOCTYPE html>",
            other => panic!("{other}"),
        };
        assert!(bytes.starts_with(begins), "{file}");
        assert!(file.starts_with("labels/loja-1/") && file.split('/').count() == 3, "{file}");
    }
    assert_eq!(printing.downloads(), 4, "one address for each file");

    printing.make_labels();
    let anew =
        printing.until(FILES, |anew| anew.len() == 4 && anew.iter().all(|file| !files.contains(file))).await;
    let void = "SELECT file FROM label_files WHERE void_at IS NOT NULL ORDER BY file";
    assert_eq!(printing.ask(void).await, files);
    assert!(files.iter().chain(&anew).all(|file| printing.dir().join(file).exists()), "void files are kept");
    assert_eq!(printing.ask(FAILURES).await, Vec::<String>::new());
    printing.stop().await;
    printing.shows_no("signature=").await;
}

/// The test process cannot fill a disk, but a limit on file size causes the same error at the same point.
async fn a_file_that_finds_no_room_is_shown_and_fetched_when_there_is_some(kind: Kind) {
    let mut printing = Printing::cramped(kind, "info", "[labels]\nformats = [\"a4\"]\n").await;
    let mut body = b"%PDF-1.4\n".to_vec();
    body.resize(printing::ROOM + (1 << 20), b'x');
    let huge = Fault::Status { code: 200, body, content_type: "application/pdf".into(), headers: Vec::new() };
    printing.control().faults().add(storage(None, huge));
    printing.make_labels();
    assert_eq!(printing.until(FAILURES, |codes| !codes.is_empty()).await, ["disk_full"]);
    assert_eq!(printing.on_disk(), Vec::<String>::new(), "what was written of it is removed");
    printing.control().faults().clear();
    let files = printing.until(FILES, |files| files.len() == 1).await;
    assert_eq!(printing.on_disk(), files);
    assert_eq!(printing.until(FAILURES, <[String]>::is_empty).await, Vec::<String>::new());
    printing.stop().await;
}

async fn a_kill_in_the_middle_of_a_download_leaves_nothing_half_visible(kind: Kind) {
    let mut printing = Printing::with(kind, "info", "[labels]\nformats = [\"a4\"]\n").await;
    // The address is returned; the file does not arrive before the kill.
    printing.control().faults().add(storage(None, Fault::Stall(std::time::Duration::from_secs(600))));
    printing.make_labels();
    printing.until_downloads(1).await;
    printing.kill().await;
    assert_eq!(printing.ask(FILES).await, Vec::<String>::new());
    // The remains of a kill between two chunks, and of one between the rename and the record.
    let folder = printing.dir().join("labels/loja-1");
    fs::create_dir_all(&folder).unwrap();
    let orphan = format!("{}.pdf", "0a".repeat(20));
    fs::write(folder.join(format!(".unfinished-{orphan}")), "%PDF-").unwrap();
    fs::write(folder.join(orphan), "%PDF-").unwrap();
    printing.control().faults().clear();
    printing.start();
    let files = printing.until(FILES, |files| files.len() == 1).await;
    assert_eq!(printing.on_disk(), files);
    printing.stop().await;
}
