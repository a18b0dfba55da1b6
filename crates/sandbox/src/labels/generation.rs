//! The generation of labels: each shipment's job prints one format after another.

use std::sync::Arc;

use super::{Format, Label, LabelStatus, Paper};
use crate::{
    random::Random, refusal::Refusal, shipments::Shipment, storage::Object, store::Store, world::World,
};

/// Keeps the identifiers of labels apart from everything else that is drawn from a seed.
const TAG: u64 = 0x1ABE;

/// How long a shipment's job takes ("typical generation" of the document's limits).
const FASTEST_MILLIS: u64 = 5_000;
const SLOWEST_MILLIS: u64 = 20_000;

/// How long a job waits in its queue.
const QUEUE_MILLIS: i64 = 1_000;

/// The shipments of an order that get labels, and what is printed on them.
pub(super) fn queued(store: &Store, number: &str) -> Result<Vec<(Shipment, Paper)>, Refusal> {
    let orders = store.orders();
    let order = orders.get(number).ok_or(Refusal::NotFound)?;
    let mut shipments = store.shipments().of(order);
    if shipments.is_empty() {
        return Err(Refusal::NotFound);
    }
    shipments.retain(|shipment| !shipment.label_generation_blocked);
    let person = store.people.get(order.customer as usize);
    let with_paper = |shipment| {
        let paper = Paper::of(&store.name, person, order, &shipment);
        (shipment, paper)
    };
    Ok(shipments.into_iter().map(with_paper).collect())
}

/// Removes the labels of a shipment and begins new ones.
pub(super) fn begin(world: &World, store: &Store, shipment: &Shipment, paper: Paper) {
    let paper = Arc::new(paper);
    let mut labels = store.labels();
    let mut random = Random::of(&[world.options.seed, store.id, labels.made, TAG]);
    labels.made += 1;
    let now = world.clock.millis();
    let fresh: Vec<Label> = Format::ALL.iter().map(|format| label(&mut random, *format, now)).collect();
    for label in &fresh {
        let object = Object::Label { format: label.format, paper: Arc::clone(&paper) };
        world.storage.put(label.id, object);
    }
    let ids = fresh.iter().map(|label| label.id).collect::<Vec<_>>();
    for old in labels.of_shipment.insert(shipment.id, fresh).unwrap_or_default() {
        world.storage.remove(old.id);
    }
    drop(labels);
    let whole = FASTEST_MILLIS + random.below(SLOWEST_MILLIS - FASTEST_MILLIS + 1);
    schedule(world, store, shipment.id, &ids, (now, whole as i64));
}

fn label(random: &mut Random, format: Format, now: i64) -> Label {
    let tail = u128::from(random.number()) << 16 | u128::from(random.number() & 0xFFFF);
    let id = u128::from(now.unsigned_abs() & 0xFFFF_FFFF_FFFF) << 80 | tail;
    Label { id, format, status: LabelStatus::Pending, completed_at: None }
}

/// Puts both steps of each label on the agenda: a format is begun when the one before it is done.
fn schedule(world: &World, store: &Store, shipment: u128, ids: &[u128], (now, whole): (i64, i64)) {
    let mut begins = now + QUEUE_MILLIS;
    for (at, id) in (1..).zip(ids.iter().copied()) {
        let ends = now + whole * at / ids.len() as i64;
        let (first, second) = (store.key.clone(), store.key.clone());
        world.agenda.at(begins, move |world| {
            step(world, &first, |store| enter(store, shipment, id, LabelStatus::Processing, None));
        });
        world.agenda.at(ends, move |world| {
            let done = Some(ends.div_euclid(1000));
            step(world, &second, |store| enter(store, shipment, id, LabelStatus::Completed, done));
        });
        begins = ends;
    }
}

fn step(world: &World, store: &str, step: impl FnOnce(&Store)) {
    if let Some(store) = world.store(store) {
        step(store);
    }
}

/// Moves a label on, unless its generation was given up meanwhile.
fn enter(store: &Store, shipment: u128, id: u128, status: LabelStatus, completed_at: Option<i64>) {
    store.labels().edit(shipment, id, |label| {
        if label.is_in_the_making() {
            (label.status, label.completed_at) = (status, completed_at);
        }
    });
}

/// Fails the unfinished labels of a shipment; false where there are none.
pub(super) fn fail(store: &Store, shipment: u128) -> bool {
    let mut labels = store.labels();
    let Some(labels) = labels.of_shipment.get_mut(&shipment) else { return false };
    let mut failed = false;
    for label in labels.iter_mut().filter(|label| label.is_in_the_making()) {
        label.status = LabelStatus::Error;
        failed = true;
    }
    failed
}
