//! The ERP takes orders: of many invoicers at once, one gets each.

use crate::{tables::Tables, world::World};

const CONNECTIONS: usize = 20;
const ORDERS: usize = 20;
/// Invoicers of one connection that want the same order.
const EACH: usize = 50 / CONNECTIONS + 1;

/// Claims an order as `docs/SCHEMA.md` says; returns whether it is ours.
async fn claim(tables: &Tables, order: usize, invoicer: usize) -> bool {
    let sql = format!(
        "INSERT INTO erp_orders (store, order_number, note) VALUES ('minha-loja', 'N-{order}', 'invoicer {invoicer}') \
         ON CONFLICT (store, order_number) DO NOTHING"
    );
    tables.execute(&sql).await == 1
}

/// More than a thousand claims, over twenty connections.
// withstands: F152
pub(crate) async fn of_a_thousand_invoicers_exactly_one_takes_each_order(world: &World) {
    let mut racing = tokio::task::JoinSet::new();
    for connection in 0..CONNECTIONS {
        let tables = Tables::open(&world.url).await;
        racing.spawn(async move {
            let mut won = Vec::new();
            for attempt in 0..ORDERS * EACH {
                let (order, invoicer) = (attempt % ORDERS, connection * ORDERS * EACH + attempt);
                if claim(&tables, order, invoicer).await {
                    won.push((order, invoicer));
                }
            }
            tables.close().await;
            won
        });
    }
    let mut won: Vec<(usize, usize)> = racing.join_all().await.into_iter().flatten().collect();
    won.sort_unstable();
    let orders: Vec<usize> = won.iter().map(|(order, _)| *order).collect();
    assert_eq!(orders, (0..ORDERS).collect::<Vec<_>>(), "each order has one winner");
    for (order, invoicer) in won {
        let note = format!("SELECT note FROM erp_orders WHERE order_number = 'N-{order}'");
        assert_eq!(world.tables.list(&note).await, [format!("invoicer {invoicer}")], "and is the winner's");
    }
}
