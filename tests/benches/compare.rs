//! Compares this tree with another commit, so that no change makes the mirror dearer unnoticed: both binaries reconcile
//! the same orders and products in turn, from empty and again without a change, from one marketplace without a limit.
//!
//! `cargo bench -p espelho-tests --bench compare -- --against COMMIT [--rounds 5] [--orders 20000 --products 2000 |
//! --olist DIR] [--fail-above 1.1]`. PostgreSQL is used if `ESPELHO_TEST_POSTGRES` names a server of this machine.
//! The other commit is built once, below `target/compare`. Prints medians and the median of the ratios of each pair;
//! exits with 1 if one of CPU time, memory or requests has a ratio above `--fail-above`.
//!
//! With `--instructions` it counts instead: valgrind runs both binaries over 1,000 and over 3,000 orders into SQLite, and
//! the difference is what one order costs in instructions of our own code, whatever else the machine does. That leaves
//! out the system's part (files, sockets), which only the measured CPU time has.
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot go on may stop where it is")]

use std::{
    path::{Path, PathBuf},
    process::{Child, Command},
};

use serde_json::Value;

mod support;
use support::{Database, Marketplace, Shop, argument, databases};

/// What is measured of a run; the order is that of [`Figures`].
const MEASURES: [&str; 6] = [
    "seconds",
    "CPU seconds",
    "peak memory, MiB",
    "requests",
    "written, MB",
    "CPU seconds of the database server",
];
/// Measures that another program on the machine hardly changes: CPU seconds, memory, requests.
const STEADY: [usize; 3] = [1, 2, 3];
/// The settings of SQLite that a tree's `.cargo/config.toml` may have.
const SQLITE_FLAGS: &str = "LIBSQLITE3_FLAGS";
const RUNS: [&str; 2] = ["from empty", "again, without a change"];

type Figures = [f64; MEASURES.len()];

fn main() {
    let Some(commit) = argument("--against") else {
        println!("nothing measured: name a commit with --against COMMIT");
        return;
    };
    let number = |name, otherwise| argument(name).map_or(otherwise, |text: String| text.parse().unwrap());
    let rounds: usize = number("--rounds", 5.0) as usize;
    let content = match argument("--olist") {
        Some(dir) => ["--olist".to_owned(), dir].to_vec(),
        None => {
            let [orders, products] = [("--orders", "20000"), ("--products", "2000")]
                .map(|(name, otherwise)| [name.to_owned(), argument(name).unwrap_or(otherwise.to_owned())]);
            [orders, products].concat()
        }
    };
    let mut arguments: Vec<&str> = content.iter().map(String::as_str).collect();
    arguments.extend(["--rate", "off"]);
    let marketplace = Marketplace::start(&arguments);
    let scratch = tempfile::tempdir().unwrap();
    if std::env::args().any(|argument| argument == "--instructions") {
        drop(marketplace);
        return count_instructions(&commit, scratch.path());
    }
    // How much of a program's file is in memory depends on how the file came to be: both are fresh copies.
    let binaries = [("this", support::espelho()), ("that", build(&commit))].map(|(name, built)| {
        let copy = scratch.path().join(name);
        std::fs::copy(built, &copy).unwrap();
        copy
    });
    let mut worst: f64 = 0.0;
    for database in databases(scratch.path()) {
        let pairs: Vec<_> = (0..rounds)
            .map(|round| {
                let mut pair = [[[0.0; MEASURES.len()]; 2]; RUNS.len()];
                // The one that comes first has the warmer or the colder machine: they take turns.
                for which in if round % 2 == 0 { [0, 1] } else { [1, 0] } {
                    database.empty();
                    for run in &mut pair {
                        run[which] = measure(&binaries[which], &marketplace, scratch.path(), &database);
                    }
                }
                pair
            })
            .collect();
        for (run, what) in RUNS.iter().enumerate() {
            println!("\n{}, {what}", database.name);
            println!("  {:<36} {:>12} {:>12} {:>7}  of the pairs", "", "this tree", commit, "ratio");
            let of_run: Vec<[Figures; 2]> = pairs.iter().map(|pair| pair[run]).collect();
            worst = worst.max(print(&of_run));
        }
    }
    if let Some(most) = argument("--fail-above").map(|text| text.parse::<f64>().unwrap())
        && worst > most
    {
        println!("\nabove {most}: {worst:.3}");
        std::process::exit(1);
    }
}

/// Prints a line for each measure; returns the largest ratio of the steady ones.
fn print(pairs: &[[Figures; 2]]) -> f64 {
    let mut worst: f64 = 0.0;
    for (at, name) in MEASURES.iter().enumerate() {
        let [this, that] = [0, 1].map(|which| median(pairs.iter().map(|pair| pair[which][at]).collect()));
        if this == 0.0 || that == 0.0 {
            continue;
        }
        let mut ratios: Vec<f64> = pairs.iter().map(|pair| pair[0][at] / pair[1][at]).collect();
        ratios.sort_by(f64::total_cmp);
        let ratio = median(ratios.clone());
        println!(
            "  {name:<36} {this:>12.1} {that:>12.1} {ratio:>7.3}  {:.3} to {:.3}",
            ratios[0],
            ratios[ratios.len() - 1]
        );
        if STEADY.contains(&at) {
            worst = worst.max(ratio);
        }
    }
    worst
}

/// Prints how many instructions each binary needs for one more order.
fn count_instructions(commit: &str, scratch: &Path) {
    let [few, many] = [1_000, 3_000].map(|orders: u64| {
        let arguments = ["--orders", &orders.to_string(), "--products", "100", "--rate", "off"];
        (orders, Marketplace::start(&arguments))
    });
    let [this, that] = [support::espelho(), build(commit)].map(|binary| {
        let [of_few, of_many] =
            [&few, &many].map(|(_, marketplace)| instructions(&binary, marketplace, scratch));
        (of_many - of_few) / (many.0 - few.0)
    });
    println!("instructions for each order: {this}, {commit} {that}, ratio {:.3}", this as f64 / that as f64);
}

/// Returns the instructions of one `--resync` into an empty SQLite file.
fn instructions(binary: &Path, marketplace: &Marketplace, scratch: &Path) -> u64 {
    let database = databases(scratch).swap_remove(0);
    database.empty();
    let shop = Shop::write(scratch, marketplace, &database.url, 10_000_000);
    let resync = shop.resync_with(binary);
    let mut valgrind = Command::new("valgrind");
    // Valgrind counts a `rep movsb` once for each byte; a copy by vectors is counted as a processor does it.
    valgrind.env("GLIBC_TUNABLES", "glibc.cpu.hwcaps=-ERMS,-FSRM");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(binary).args(resync.get_args());
    let output = valgrind.output().expect("`--instructions` needs valgrind");
    assert!(output.status.success(), "{} did not end well", binary.display());
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    let count =
        words.lines().find_map(|line| line.split_once("refs:")).map(|(_, count)| count.replace(',', ""));
    count.unwrap().trim().parse().unwrap()
}

fn median(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}

/// Runs `--resync` to its end.
fn measure(binary: &Path, marketplace: &Marketplace, scratch: &Path, database: &Database) -> Figures {
    let shop = Shop::write(scratch, marketplace, &database.url, 10_000_000);
    let of_server = server_cpu_seconds(database);
    let (report, words) = (scratch.join("report.json"), scratch.join("words"));
    let mut child = shop
        .resync_with(binary)
        .stdout(std::fs::File::create(&report).unwrap())
        .stderr(std::fs::File::create(&words).unwrap())
        .spawn()
        .unwrap();
    wait_for_its_end(&child);
    // Until somebody waits for it, a process that has ended can still be asked what it used.
    let (cpu, written) = (support::cpu_seconds(child.id()), written_bytes(&child));
    let status = child.wait().unwrap();
    let said = || std::fs::read_to_string(&words).unwrap();
    assert!(status.success(), "{} did not end well: {status}\n{}", binary.display(), said());
    let report: Value = serde_json::from_slice(&std::fs::read(report).unwrap()).unwrap();
    let store = &report["stores"][0];
    [
        store["seconds"].as_f64().unwrap(),
        cpu,
        report["process"]["peak_memory_mib"].as_f64().unwrap(),
        store["requests"].as_f64().unwrap(),
        written / 1e6,
        server_cpu_seconds(database) - of_server,
    ]
}

fn wait_for_its_end(child: &Child) {
    let has_ended = || {
        let stat = support::of_process(child.id(), "stat");
        stat.rsplit_once(") ").is_none_or(|(_, fields)| fields.starts_with('Z'))
    };
    while !has_ended() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

/// Returns the bytes that a process had written to files.
fn written_bytes(child: &Child) -> f64 {
    let io = support::of_process(child.id(), "io");
    io.lines().find_map(|line| line.strip_prefix("write_bytes: ")).map_or(0.0, |bytes| bytes.parse().unwrap())
}

/// Returns the CPU seconds of all of the machine's PostgreSQL processes, those that have ended too; 0 for SQLite.
fn server_cpu_seconds(database: &Database) -> f64 {
    if database.server.is_none() {
        return 0.0;
    }
    let processes = std::fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let process: u32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
        let stat = support::of_process(process, "stat");
        let (_, fields) = stat.rsplit_once("(postgres) ")?;
        let ticks = fields.split_whitespace().skip(11).take(4).map(|ticks| ticks.parse::<f64>().unwrap());
        Some(ticks.sum::<f64>() / 100.0)
    });
    processes.sum()
}

/// Builds another commit's binary, or finds the one that was built before.
fn build(commit: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let name = git(root, &["rev-parse", "--verify", &format!("{commit}^{{commit}}")]);
    let folder = root.join("target/compare");
    // A binary of the folder above may have been built with this tree's settings.
    let binaries = folder.join("by-own-settings");
    let binary = binaries.join(format!("espelho-{}", &name[..12]));
    if binary.exists() {
        return binary;
    }
    println!("building {name}");
    let tree = folder.join("tree");
    let path = tree.to_str().unwrap();
    if tree.exists() {
        git(root, &["worktree", "remove", "--force", path]);
    }
    git(root, &["worktree", "add", "--detach", "--force", path, &name]);
    // Commits from before the profile `dist` have its settings in `release`.
    let has_dist = std::fs::read_to_string(tree.join("Cargo.toml")).unwrap().contains("[profile.dist]");
    let profile = if has_dist { "dist" } else { "release" };
    let mut build = Command::new(env!("CARGO"));
    build
        .args(["build", "--profile", profile, "-p", "espelho-daemon", "--quiet"])
        .env("CARGO_TARGET_DIR", folder.join("build"))
        .current_dir(&tree);
    // Cargo reads the settings of the folders above too, which are this tree's, and has set them for this benchmark. A
    // variable that is set, be it to nothing, goes before all settings.
    let settings = std::fs::read_to_string(tree.join(".cargo/config.toml")).unwrap_or_default();
    match settings.contains(SQLITE_FLAGS) {
        true => build.env_remove(SQLITE_FLAGS),
        false => build.env(SQLITE_FLAGS, ""),
    };
    assert!(build.status().unwrap().success(), "{name} could not be built");
    std::fs::create_dir_all(&binaries).unwrap();
    std::fs::copy(folder.join("build").join(profile).join("espelho"), &binary).unwrap();
    git(root, &["worktree", "remove", "--force", path]);
    binary
}

fn git(root: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git").args(arguments).current_dir(root).output().unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}
