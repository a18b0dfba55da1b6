//! `espelho feed`: the change feed, one JSON object a line.

use std::{
    io::{self, Write as _},
    time::Duration,
};

use espelho_model::text;
use espelho_store::{Change, ChangeWatch};
use espelho_sync_engine::{Problem, Trouble};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio_util::sync::CancellationToken;

use super::{no_signals, reading::Reading, say};
use crate::{
    cli::{Cli, FeedArgs},
    context::stop_on_signals,
    exit,
};

/// Rows read at a time.
const BATCH: u32 = 1_000;
/// The poll interval if the database does not announce changes. One poll is one step into an index.
const LOOK: Duration = Duration::from_millis(500);
/// The poll interval if the database announces changes: a signal can be lost with its connection.
const LOOK_ANYWAY: Duration = Duration::from_secs(5);

pub(super) async fn run(cli: &Cli, arguments: &FeedArgs) -> u8 {
    let stop = CancellationToken::new();
    if let Err(error) = stop_on_signals(&stop) {
        eprintln!("espelho: {}", no_signals(&error).message(cli.locale));
        return exit::FAILED;
    }
    let reading = match Reading::open(cli).await {
        Ok(reading) => reading,
        Err(code) => return code,
    };
    let done = match (&arguments.consumer, arguments.ack) {
        (Some(consumer), Some(seq)) => acknowledge(&reading, consumer, seq).await,
        _ => tell(&reading, arguments, &stop).await,
    };
    reading.store.close().await;
    match done {
        Ok(()) => exit::COMPLETE,
        Err(problem) => say(&problem, cli),
    }
}

/// Acknowledges entries up to a number. A number that the feed has not reached acknowledges nothing.
async fn acknowledge(reading: &Reading, consumer: &str, seq: i64) -> Result<(), Problem> {
    let bounds = reading.store.changes().feed_bounds().await?;
    let newest = bounds.map_or(0, |(_, newest)| newest);
    if seq > newest {
        let text = text!("run-unknown-seq", seq = seq.to_string(), newest = newest.to_string());
        return Err(Problem::of(Trouble::Configuration, "unknown_seq", text));
    }
    reading.store.changes().acknowledge(consumer, seq).await.map(drop).map_err(Problem::from)
}

async fn tell(reading: &Reading, arguments: &FeedArgs, stop: &CancellationToken) -> Result<(), Problem> {
    let mut after = match &arguments.consumer {
        Some(consumer) => reading.store.changes().consumer(consumer).await?.unwrap_or(0),
        None => 0,
    };
    // Listening begins before the first poll, so that no change falls between the two.
    let mut watch = match arguments.follow {
        true => Some(reading.store.changes().watch_changes().await?),
        false => None,
    };
    let mut left = arguments.limit.unwrap_or(u64::MAX);
    while left > 0 && !stop.is_cancelled() {
        let limit = u32::try_from(left).map_or(BATCH, |left| left.min(BATCH));
        let changes = reading.store.changes().changes_after(after, limit).await?;
        let Some(last) = changes.last() else {
            match &mut watch {
                Some(watch) if !is_reader_gone() => wait(reading, watch, stop).await,
                _ => return Ok(()),
            }
            continue;
        };
        (after, left) = (last.seq, left - changes.len() as u64);
        match print(&changes) {
            Ok(()) => {}
            // The reader has read enough.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
            Err(error) => {
                let text = text!("run-output", problem = error.to_string());
                return Err(Problem::new(Trouble::Failure, "output", &error, text));
            }
        }
    }
    Ok(())
}

async fn wait(reading: &Reading, watch: &mut ChangeWatch, stop: &CancellationToken) {
    let (look, mut waited) = (if watch.hears() { LOOK_ANYWAY } else { LOOK }, Duration::ZERO);
    while waited < look && !stop.is_cancelled() && !is_reader_gone() {
        tokio::select! {
            () = watch.changed() => return,
            () = stop.cancelled() => return,
            () = reading.clock.sleep(LOOK) => waited += LOOK,
        }
    }
}

/// Whether the reader of stdout has gone: otherwise only the next change would show it.
fn is_reader_gone() -> bool {
    let stdout = io::stdout();
    let mut looked_at = [PollFd::new(&stdout, PollFlags::empty())];
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    let looked = poll(&mut looked_at, Some(&at_once));
    looked.is_ok() && looked_at[0].revents().intersects(PollFlags::ERR | PollFlags::HUP)
}

/// Prints a line for each change, its keys in the order of the table's columns.
fn print(changes: &[Change]) -> io::Result<()> {
    let mut lines = Vec::with_capacity(changes.len() * 128);
    for change in changes {
        serde_json::to_writer(&mut lines, change)?;
        lines.push(b'\n');
    }
    let mut stdout = io::stdout().lock();
    stdout.write_all(&lines)?;
    stdout.flush()
}
