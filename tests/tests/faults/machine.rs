//! A stopped service, and a wrong clock.

use espelho_tests::{Kind, Surface, on_both_databases, until};

use crate::stage::{ALIVE, Setting, Stage};

on_both_databases![a_service_that_was_killed_is_missed, a_clock_that_is_two_hours_ahead_is_named,];

// Exercises F134
async fn a_service_that_was_killed_is_missed(kind: Kind) {
    let mut stage = Stage::on(kind).await;
    stage.kill().await;
    let mut watch = stage
        .watch("service killed", "service_stopped")
        .beside(&["late"])
        .unseen_on(&Stage::without_service());
    watch.raised().await;
    let (fault, code, raised) = watch.pause();
    // Nobody is left who could tell: the dead-man switch is called no more.
    let calls = stage.sink.at(ALIVE).len();
    stage.start();
    until("the dead-man switch is called again", async || stage.sink.at(ALIVE).len() > calls).await;
    let mut watch = stage.watch(fault, code).beside(&["late"]).after(raised);
    watch.ends();
    watch.cleared().await;
}

// Exercises F086, F134
async fn a_clock_that_is_two_hours_ahead_is_named(kind: Kind) {
    let stage = Stage::with(kind, Setting { has_skewed_clock: true, ..Setting::default() }).await;
    let skew = stage.skew.as_ref().unwrap();
    skew.set_offset(7_200);
    // For everything with a time, two hours have passed at once: sweeps are late, and so is the service's last
    // heartbeat until the next one.
    let mut watch = stage.watch("clock two hours ahead", "clock_wrong").beside(&["late", "service_stopped"]);
    if kind == Kind::Sqlite {
        // The view uses the reader's clock, and ours is right.
        watch = watch.unseen_on(&[Surface::View]);
    }
    watch.raised().await;
    skew.set_offset(0);
    watch.ends();
    watch.cleared().await;
}
