//! Label files: from a label that becomes ready to a file in the folder, and what comes in between.

use std::{fs, sync::Arc, time::Duration};

use espelho_model::{shipment::LabelFormat, sync::RunState};
use espelho_sandbox::Fault;
use espelho_sync_engine::{Options, plan::schedule::Sweep};

use crate::support::{
    Kind, Rig, Setup,
    live::{Outside, only},
    on_both_databases, refused_with,
};

on_both_databases![a_run_fetches_the_files_that_are_ready_and_each_of_them_once];

/// How often the sweeps of a test run.
const OFTEN: Duration = Duration::from_secs(60);
const STORAGE: &str = "GET storage";

const FILES: &str =
    "SELECT file FROM shipment_labels WHERE gone_at IS NULL AND file IS NOT NULL ORDER BY file";
const RECORDS: &str = "SELECT file FROM label_files WHERE void_at IS NULL ORDER BY file";
const VOID: &str = "SELECT file FROM label_files WHERE void_at IS NOT NULL ORDER BY file";
const FAILURES: &str = "SELECT code FROM v_errors WHERE entity = 'shipment_label'";

/// A store with one parcel, whose label files are fetched.
struct Printing {
    rig: Rig,
    outside: Arc<Outside>,
    order: String,
    parcel: String,
}

/// A store with one order that is ready to ship: the order and its parcel.
async fn ready(kind: Kind, formats: &[LabelFormat]) -> (Rig, String, String) {
    let mut rig = Setup::on(kind).with(|setup| setup.labels = true).open().await;
    rig.parts.labels.as_mut().unwrap().formats = formats.to_vec();
    rig.reconcile(&Options { kind: "manual", ..Options::default() }).await;
    let sku = rig.goods().await[0].sku.clone();
    let order = rig.sell("standard", &sku);
    assert!(rig.control().orders().set_status(&rig.key(), &order, "preparing"));
    rig.control().orders().issue_invoice(&rig.key(), &order, "nfe").unwrap();
    let parcel = rig.control().shipments().of_order(&rig.key(), &order).remove(0);
    assert!(rig.control().shipments().block_labels(&rig.key(), &parcel, false));
    (rig, order, parcel)
}

impl Printing {
    async fn of(formats: &[LabelFormat]) -> Self {
        let (mut rig, order, parcel) = ready(Kind::Sqlite, formats).await;
        let outside = rig.kept_in_step(intervals(), false).await;
        Self { rig, outside, order, parcel }
    }

    /// The seller prints the labels in the portal, and another field of the order changes: no event tells it.
    fn print(&self) {
        let (control, key) = (self.rig.control(), self.rig.key());
        assert_eq!(control.labels().generate(&key, &self.order), 1);
        let notes = format!("impressa {}", self.downloads());
        assert!(control.orders().set_notes(&key, &self.order, Some(&notes)));
    }

    fn downloads(&self) -> usize {
        self.rig.requests("/download").len()
    }

    async fn restart(&mut self) {
        self.rig.stop().await;
        self.outside = self.rig.keep_in_step(intervals(), false).await;
    }

    async fn kill(&mut self) {
        self.rig.kill().await;
    }

    async fn files(&self, count: usize) -> Vec<String> {
        self.rig.shown(FILES, |files| files.len() == count).await
    }

    fn spoil(&self, times: impl Into<Option<u32>>, kind: Fault) {
        self.rig.fault(STORAGE, times, kind);
    }
}

impl Rig {
    /// Returns everything in the store's folder, hidden files too, as the mirror names it.
    fn on_disk(&self) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.dir().join("labels/loja-1")) else { return Vec::new() };
        let name = |entry: fs::DirEntry| format!("labels/loja-1/{}", entry.file_name().to_string_lossy());
        let mut names: Vec<String> = entries.map(|entry| name(entry.unwrap())).collect();
        names.sort();
        names
    }
}

fn intervals() -> espelho_sync_engine::plan::schedule::Intervals {
    only(&[Sweep::NewOrders, Sweep::OpenOrders, Sweep::Subresources], OFTEN)
}

fn expired() -> Fault {
    Fault::Status {
        code: 403,
        body: b"<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>".into(),
        content_type: "application/xml".into(),
        headers: Vec::new(),
    }
}

// withstands: F023
#[tokio::test]
async fn each_format_is_a_file_of_its_kind_and_a_label_that_is_made_anew_makes_the_old_file_void() {
    let mut printing = Printing::of(&[]).await;
    printing.print();
    let files = printing.files(4).await;
    assert_eq!(printing.downloads(), 4, "one address for each file");
    assert_eq!((printing.rig.ask(RECORDS).await, printing.rig.on_disk()), (files.clone(), files.clone()));
    for file in &files {
        let bytes = fs::read(printing.rig.dir().join(file)).unwrap();
        let begins: &[u8] = match file.rsplit_once('.').unwrap().1 {
            "pdf" => b"%PDF-",
            "zpl" => b"^XA",
            "html" => b"<!DOCTYPE html>",
            other => panic!("{other}"),
        };
        assert!(bytes.starts_with(begins), "{file}");
        let size = format!("SELECT CAST(size AS TEXT) FROM label_files WHERE file = '{file}'");
        assert_eq!(printing.rig.ask(&size).await, [bytes.len().to_string()]);
    }
    printing.print();
    let is_new = |anew: &[String]| anew.len() == 4 && anew.iter().all(|file| !files.contains(file));
    let anew = printing.rig.shown(FILES, is_new).await;
    assert_eq!(printing.rig.ask(VOID).await, files);
    assert_eq!(printing.rig.ask(RECORDS).await, anew);
    assert_eq!(printing.rig.on_disk().len(), 8, "void files are kept");
    assert!(printing.rig.ask(FAILURES).await.is_empty());
    printing.rig.stop().await;
}

#[tokio::test]
async fn only_the_formats_that_are_wanted_are_fetched() {
    for (format, extension) in [
        (LabelFormat::A4, "pdf"),
        (LabelFormat::Zebra, "zpl"),
        (LabelFormat::Thermal, "html"),
        (LabelFormat::ZebraPdf, "pdf"),
    ] {
        let mut printing = Printing::of(std::slice::from_ref(&format)).await;
        printing.print();
        let files = printing.files(1).await;
        assert!(files[0].ends_with(extension), "{format:?}: {files:?}");
        let of_file = "SELECT format FROM shipment_labels WHERE file IS NOT NULL";
        let shown = printing.rig.ask(of_file).await;
        printing.rig.pass(OFTEN * 3).await;
        assert_eq!((printing.downloads(), printing.rig.ask(of_file).await), (1, shown), "{format:?}");
        printing.rig.stop().await;
    }
}

/// A run over some resources.
fn run(only: &str) -> Options {
    let only = only.split(',').map(|target| target.parse().unwrap()).collect();
    Options { only, kind: "manual", ..Options::default() }
}

async fn a_run_fetches_the_files_that_are_ready_and_each_of_them_once(kind: Kind) {
    let (rig, order, _) = ready(kind, &[]).await;
    assert_eq!(rig.control().labels().generate(&rig.key(), &order), 1);
    assert!(rig.control().forward(120));
    let changed = |report: &espelho_sync_engine::StoreReport| {
        let labels = report.resources.last().unwrap();
        assert!(labels.problem.is_none(), "{labels:?}");
        (labels.counts.changed, labels.counts.failed)
    };
    assert_eq!(changed(&rig.reconcile(&run("labels")).await), (0, 0), "no shipment is mirrored yet");
    rig.reconcile(&run("orders,shipments")).await;
    assert_eq!(changed(&rig.reconcile(&run("labels")).await), (4, 0));
    let files = rig.ask(FILES).await;
    assert_eq!((files.len(), rig.on_disk()), (4, files));
    assert_eq!(changed(&rig.reconcile(&run("labels")).await), (0, 0));
    assert_eq!(rig.requests("/download").len(), 4);
}

#[tokio::test]
async fn a_run_names_the_label_whose_file_is_missing_and_shows_it_on_its_row() {
    let (rig, order, _) = ready(Kind::Sqlite, &[LabelFormat::A4]).await;
    assert_eq!(rig.control().labels().generate(&rig.key(), &order), 1);
    assert!(rig.control().forward(120));
    rig.reconcile(&run("orders,shipments")).await;
    rig.fault(STORAGE, None, Fault::Html200);
    let report = rig.reconcile(&run("labels")).await;
    let labels = &report.resources[0];
    assert_eq!((report.state, labels.counts.failed), (RunState::Partial, 1));
    let codes: Vec<&str> = labels.failures.iter().map(|failure| failure.code.as_str()).collect();
    assert_eq!((codes, rig.ask(FAILURES).await), (vec!["not_a_label"], vec!["not_a_label".to_owned()]));
    rig.control().faults().clear();
    let report = rig.reconcile(&run("labels")).await;
    assert_eq!((report.state, report.counts().changed), (RunState::Complete, 1));
    assert!(rig.ask(FAILURES).await.is_empty());
}

// withstands: F124
#[tokio::test]
async fn a_download_that_breaks_off_or_comes_too_late_begins_anew_with_a_new_address() {
    let mut printing = Printing::of(&[LabelFormat::Zebra]).await;
    printing.spoil(1, Fault::TruncateBody);
    printing.spoil(1, expired());
    printing.print();
    let files = printing.files(1).await;
    assert_eq!(printing.downloads(), 3);
    let text = fs::read_to_string(printing.rig.dir().join(&files[0])).unwrap();
    assert!(text.starts_with("^XA") && text.ends_with("^XZ\n"), "{text}");
    assert!(printing.rig.ask(FAILURES).await.is_empty());
    assert_eq!(printing.rig.on_disk(), files);
    printing.rig.stop().await;
}

/// What the storage or the marketplace answers in place of a file, and what is shown about it.
struct NoFile {
    route: &'static str,
    fault: fn() -> Fault,
    code: &'static str,
    /// Whether it may pass by itself: then it is shown only after it has repeated.
    passes: bool,
}

const NO_FILES: [NoFile; 5] = [
    NoFile { route: STORAGE, fault: || Fault::Html200, code: "not_a_label", passes: false },
    NoFile { route: STORAGE, fault: || Fault::RawJson("{}".into()), code: "not_a_label", passes: false },
    NoFile { route: STORAGE, fault: expired, code: "", passes: true },
    NoFile { route: STORAGE, fault: || Fault::Html(503), code: "", passes: true },
    NoFile { route: "/download", fault: || Fault::Html(503), code: "", passes: true },
];

// withstands: F124
#[tokio::test]
async fn what_is_no_label_is_shown_and_not_kept_and_fetched_when_it_is_one() {
    for NoFile { route, fault, code, passes } in NO_FILES {
        let mut printing = Printing::of(&[LabelFormat::A4]).await;
        printing.rig.fault(route, None, fault());
        printing.print();
        let codes = printing.rig.shown(FAILURES, |codes| !codes.is_empty()).await;
        assert!(codes.len() == 1 && codes[0].contains(code), "{route} {:?}: {codes:?}", fault());
        assert!(!passes || printing.downloads() > 2, "{:?}: shown after it has repeated", fault());
        assert!(printing.rig.on_disk().is_empty() && printing.rig.ask(FILES).await.is_empty());
        printing.rig.control().faults().clear();
        // A restart tries again at once; what passes is tried again anyway.
        if !passes {
            printing.restart().await;
        }
        let files = printing.files(1).await;
        assert_eq!(printing.rig.on_disk(), files);
        printing.rig.shown(FAILURES, <[String]>::is_empty).await;
        printing.rig.stop().await;
    }
}

#[tokio::test]
async fn what_is_no_label_is_tried_again_less_and_less_often() {
    let mut printing = Printing::of(&[LabelFormat::A4]).await;
    printing.spoil(None, Fault::Html200);
    printing.print();
    printing.rig.shown(FAILURES, |codes| codes == ["not_a_label"]).await;
    let mut tried = vec![printing.downloads()];
    for minutes in [9, 2, 17, 45] {
        printing.rig.leap(Duration::from_secs(minutes * 60));
        printing.rig.pass(Duration::from_secs(120)).await;
        tried.push(printing.downloads());
    }
    // At the earliest after ten minutes, and then after another twenty to forty.
    assert!(tried[0] < tried[4] && tried[4] <= tried[0] + 3, "{tried:?}");
    printing.rig.stop().await;
}

#[tokio::test]
async fn a_label_that_the_marketplace_takes_back_is_no_failure_and_its_shipment_is_read_again() {
    let mut printing = Printing::of(&[LabelFormat::A4]).await;
    printing.rig.fault("/download", 2, refused_with(404, "NOT_FOUND"));
    printing.print();
    printing.rig.until("the file was denied", async || printing.downloads() >= 1).await;
    let shipments = format!("/orders/{}/shipments", printing.order);
    let reads = printing.rig.requests(&shipments).len();
    printing
        .rig
        .until("the shipments are read", async || printing.rig.requests(&shipments).len() > reads)
        .await;
    printing.files(1).await;
    assert!(printing.rig.ask(FAILURES).await.is_empty());
    printing.rig.stop().await;
}

#[tokio::test]
async fn a_label_whose_generation_fails_has_no_file_and_the_next_one_has() {
    let mut printing = Printing::of(&[LabelFormat::A4]).await;
    printing.print();
    assert!(printing.rig.control().labels().fail(&printing.rig.key(), &printing.parcel));
    let status = "SELECT DISTINCT status FROM shipment_labels WHERE gone_at IS NULL AND format = 'a4'";
    printing.rig.shown(status, |rows| rows == ["error"]).await;
    printing.rig.pass(OFTEN * 2).await;
    assert_eq!((printing.downloads(), printing.rig.on_disk().len()), (0, 0));
    printing.print();
    let files = printing.files(1).await;
    assert_eq!(printing.rig.on_disk(), files);
    printing.rig.stop().await;
}

#[tokio::test]
async fn a_kill_in_the_middle_of_a_download_leaves_nothing_half_visible() {
    let mut printing = Printing::of(&[LabelFormat::A4]).await;
    // The address is returned; the file does not arrive before the kill.
    printing.spoil(None, Fault::Stall(Duration::from_secs(600)));
    printing.print();
    printing.rig.until("an address was asked for", async || printing.downloads() > 0).await;
    printing.kill().await;
    assert!(printing.rig.ask(FILES).await.is_empty());
    // The remains of a kill between two chunks, and of one between the rename and the record.
    let folder = printing.rig.dir().join("labels/loja-1");
    fs::create_dir_all(&folder).unwrap();
    let orphan = format!("{}.pdf", "0a".repeat(20));
    fs::write(folder.join(format!(".unfinished-{orphan}")), "%PDF-").unwrap();
    fs::write(folder.join(orphan), "%PDF-").unwrap();
    printing.rig.control().faults().clear();
    printing.outside = printing.rig.keep_in_step(intervals(), false).await;
    let files = printing.files(1).await;
    assert_eq!(printing.rig.on_disk(), files);
    printing.rig.stop().await;
}

#[tokio::test]
async fn a_file_that_somebody_has_removed_is_fetched_again_by_the_next_start_and_the_others_are_not() {
    let mut printing = Printing::of(&[]).await;
    printing.print();
    let files = printing.files(4).await;
    assert_eq!(printing.downloads(), 4);
    fs::remove_file(printing.rig.dir().join(&files[1])).unwrap();
    printing.restart().await;
    printing.rig.until("it is fetched", async || printing.downloads() == 5).await;
    printing.rig.until("it is there", async || printing.rig.on_disk() == files).await;
    assert_eq!(printing.files(4).await, files, "the same label has the same name");
    printing.rig.pass(OFTEN * 2).await;
    assert_eq!(printing.downloads(), 5, "only what was missing");
    assert_eq!(printing.rig.ask(RECORDS).await.len(), 4);
    assert!(printing.rig.ask(FAILURES).await.is_empty());
    printing.rig.stop().await;
}

#[tokio::test]
async fn a_folder_that_is_empty_as_without_its_disk_is_not_filled_again() {
    let mut printing = Printing::of(&[LabelFormat::A4]).await;
    printing.print();
    let files = printing.files(1).await;
    fs::remove_file(printing.rig.dir().join(&files[0])).unwrap();
    printing.restart().await;
    printing.rig.until("it has caught up", async || printing.outside.told().reconciled > 0).await;
    printing.rig.pass(OFTEN * 3).await;
    assert_eq!((printing.downloads(), printing.rig.on_disk().len()), (1, 0));
    assert_eq!(printing.rig.ask(FILES).await, files);
    printing.rig.stop().await;
}

#[tokio::test]
async fn void_files_are_removed_after_the_days_for_which_they_are_kept() {
    let mut printing = Printing::of(&[LabelFormat::A4]).await;
    printing.print();
    let old = printing.files(1).await;
    printing.print();
    let new = printing.rig.shown(FILES, |files| files.len() == 1 && files != old).await;
    assert_eq!(printing.rig.ask(VOID).await, old);
    printing.rig.stop().await;
    printing.rig.parts.labels.as_mut().unwrap().keep_days = Some(2);
    printing.outside = printing.rig.keep_in_step(intervals(), false).await;
    printing.rig.until("it has caught up", async || printing.outside.told().reconciled > 0).await;
    printing.rig.pass(OFTEN).await;
    assert_eq!(printing.rig.on_disk().len(), 2, "not two days old");
    printing.rig.leap(Duration::from_secs(49 * 3_600));
    printing.rig.shown(VOID, <[String]>::is_empty).await;
    printing.rig.until("it is removed", async || printing.rig.on_disk() == new).await;
    assert_eq!(printing.rig.ask(FILES).await, new);
    printing.rig.stop().await;
}
