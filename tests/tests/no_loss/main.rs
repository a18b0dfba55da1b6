//! Nothing is lost in transit: the real client reads everything that the sandbox generates, understands every field,
//! and keeps each object to the byte. A plain client without types determines what was sent.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

mod deliveries;
mod goods;
mod orders;
mod sides;
mod store;

use std::collections::BTreeSet;

use espelho_api_client::resources::orders::OrderQuery;
use espelho_model::order::{STATUSES, WORKFLOW_TYPES};
use espelho_sandbox::{Fault, ListShape, NewOrder, Options};
use espelho_tests::Random;
use sides::{STORE, Sides};

/// The number of generated worlds. They differ from each other, but are the same in every run.
const WORLDS: u64 = 12;

/// Returns the options of a generated world.
fn drawn(random: &mut Random) -> Options {
    let list_shape = [ListShape::Flat, ListShape::Envelope, ListShape::Laravel][random.up_to(3) as usize - 1];
    Options {
        seed: random.up_to(u64::MAX),
        stores: random.up_to(2) as usize,
        orders: random.up_to(30) as usize,
        products: random.up_to(10) as usize,
        numbers_as_strings: random.up_to(2) == 1,
        list_shape,
        store_page: true,
        ..Options::default()
    }
}

/// Adds what generated orders lack: labels, replaced fiscal documents, notes with every kind of character, joined
/// campaigns.
async fn enrich(sides: &Sides) {
    let control = sides.sandbox.control();
    for (workflow, channel) in
        [("standard", "direct"), ("collective", "store_seller"), ("production", "marketplace")]
    {
        let order = NewOrder { channel: channel.to_owned(), shipments: 2, ..NewOrder::of(workflow) };
        let number = control.orders().place(STORE, order);
        assert!(control.orders().set_status(STORE, &number, "preparing"));
        assert!(control.orders().issue_invoice(STORE, &number, "nfe").is_some());
        assert!(control.orders().replace_invoice(STORE, &number).is_some());
        assert!(control.orders().set_notes(STORE, &number, Some("\"ç\"\t\\ \n 📦 \u{1}\u{202e} </script>")));
        sides.client.shipments().generate_labels(&espelho_model::OrderNumber::new(number)).await.unwrap();
        control.forward(5);
    }
    goods::write_a_listing(sides).await;
    store::write_a_price_list(sides).await;
    store::join_a_campaign(sides).await;
}

async fn read(sides: &Sides) -> BTreeSet<(String, String)> {
    goods::read(sides).await;
    store::read(sides).await;
    orders::read(sides).await
}

// proves: ENV-001, ENV-004, ORD-107
#[tokio::test]
async fn every_body_of_every_drawn_world_is_read_without_loss() {
    let mut random = Random::seeded(20_261_120);
    for _ in 0..WORLDS {
        let options = drawn(&mut random);
        let sides = Sides::open(options).await;
        enrich(&sides).await;
        read(&sides).await;
    }
}

#[tokio::test]
async fn an_order_of_every_status_and_workflow_is_read_without_loss() {
    let sides = Sides::open(Options { orders: 130, products: 8, ..Options::default() }).await;
    let met = orders::read(&sides).await;
    let workflows: BTreeSet<_> = met.iter().map(|(workflow, _)| workflow.as_str()).collect();
    let statuses: BTreeSet<_> = met.iter().map(|(_, status)| status.as_str()).collect();
    assert_eq!(workflows, WORKFLOW_TYPES.into_iter().collect());
    assert_eq!(statuses, STATUSES.into_iter().collect());
}

// withstands: F070
#[tokio::test]
async fn words_that_nobody_has_heard_of_are_read_and_kept() {
    let sides =
        Sides::open(Options { orders: 20, products: 4, store_page: true, ..Options::default() }).await;
    enrich(&sides).await;
    sides.spoil(Fault::UnknownEnums);
    let unknown = "valor_desconhecido".to_owned();
    assert_eq!(read(&sides).await, [(unknown.clone(), unknown)].into());
    let page = OrderQuery { page: 1, page_parameter: "page".into(), ..OrderQuery::default() };
    let number = sides.client.orders().list(&page).await.unwrap().rows.remove(0).key;
    let order = sides.client.orders().get(&espelho_model::OrderNumber::new(number)).await.unwrap().value;
    assert!(order.unknown_values().contains(&("status", "valor_desconhecido")));
}

#[tokio::test]
async fn fields_that_nobody_has_heard_of_are_kept_and_disturb_nothing() {
    for list_shape in [ListShape::Flat, ListShape::Envelope] {
        let options = Options { orders: 12, products: 4, store_page: true, list_shape, ..Options::default() };
        let sides = Sides::open(options).await;
        enrich(&sides).await;
        sides.spoil(Fault::ExtraFields);
        read(&sides).await;
    }
}
