//! The mirror converges to the marketplace, whatever happens to the deliveries: activity, its end, then every table
//! row by row. The request budget is unlimited here: 20 orders a second cannot be read within 300 requests a minute.

use espelho_sandbox::{DeliveryFault, NewOrder};
use espelho_tests::{Kind, on_both_databases};

use crate::{
    driving::{Converged, Plan, run},
    keeping::{Keeping, RARELY},
};

on_both_databases![
    every_table_converges_when_every_delivery_comes_in_order_once,
    every_table_converges_though_half_the_deliveries_are_lost_and_others_come_twice_late_and_out_of_order,
    every_table_converges_though_no_delivery_ever_comes,
    every_table_converges_when_every_delivery_comes_twice,
    every_table_converges_when_deliveries_come_late_and_out_of_order,
    every_table_converges_though_the_routes_show_changes_later_than_deliveries_tell_them,
    a_delivery_that_comes_before_the_routes_show_it_is_read_again_until_they_do,
];

const BOTH: [(u32, DeliveryFault); 3] =
    [(300, DeliveryFault::Doubled), (300, DeliveryFault::HeldBack), (300, DeliveryFault::Delayed(2))];

async fn every_table_converges_when_every_delivery_comes_in_order_once(kind: Kind) {
    converges(kind, &[]).await;
}

async fn every_table_converges_though_half_the_deliveries_are_lost_and_others_come_twice_late_and_out_of_order(
    kind: Kind,
) {
    let mut spoiled = vec![(500, DeliveryFault::Lost)];
    spoiled.extend(BOTH);
    converges(kind, &spoiled).await;
}

async fn every_table_converges_though_no_delivery_ever_comes(kind: Kind) {
    let converged = converges(kind, &[(1_000, DeliveryFault::Lost)]).await;
    assert_eq!(converged.received, 0);
}

async fn every_table_converges_when_every_delivery_comes_twice(kind: Kind) {
    converges(kind, &[(1_000, DeliveryFault::Doubled)]).await;
}

async fn every_table_converges_when_deliveries_come_late_and_out_of_order(kind: Kind) {
    converges(kind, &[(500, DeliveryFault::HeldBack), (500, DeliveryFault::Delayed(3))]).await;
}

async fn converges(kind: Kind, spoiled: &[(u32, DeliveryFault)]) -> Converged {
    let converged = run(kind, &Plan::busy(5, spoiled)).await;
    assert!(converged.orders >= 100 && converged.changes >= 200, "{converged:?}");
    assert!(converged.differing.is_empty(), "{converged:?}");
    println!("{kind:?} {converged:?}");
    converged
}

async fn every_table_converges_though_the_routes_show_changes_later_than_deliveries_tell_them(kind: Kind) {
    let converged = run(kind, &Plan { lag: 3, ..Plan::busy(5, &BOTH) }).await;
    assert!(converged.differing.is_empty(), "{converged:?}");
}

/// Without sweeps: the repeated read after 2 s or after 10 s brings the change.
async fn a_delivery_that_comes_before_the_routes_show_it_is_read_again_until_they_do(kind: Kind) {
    let mut keeping = Keeping::with(kind, 5, 2, RARELY).await;
    let (control, store) = (keeping.control(), keeping.store());
    let number = control.orders().place(&store, NewOrder::default());
    keeping.order_is(&number, "paid").await;
    // The order of two events within one second is unknown.
    control.webhooks().deliveries_done().await;
    control.forward(2);
    assert!(control.orders().lag(&store, 4));
    assert!(control.orders().cancel(&store, &number, "desistência"));
    let late = control.orders().place(&store, NewOrder::default());
    control.webhooks().deliveries_done().await;
    keeping.order_is(&number, "cancelled").await;
    keeping.order_is(&late, "paid").await;
    keeping.inbox_is_handled().await;
    keeping.stop().await;
}
