//! Announces events: keeps them for the control API, and sends them to the webhooks that subscribe to them.
//!
//! A change returns its events as data. The service that made the change announces them once it holds no lock.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::{event::Event, store::Store, webhooks::dispatch, world::World};

/// Keeps the events of orders and shipments, and sends them to the webhooks of the store.
pub(crate) fn announce(world: &Arc<World>, store: &Store, events: Vec<Event>) {
    store.keep_announced(&events);
    send(world, store, events);
}

/// Sends events to the webhooks of a store, and adds `store_id` to their data.
pub(crate) fn send(world: &Arc<World>, store: &Store, events: impl IntoIterator<Item = Event>) {
    if world.webhooks.is_empty() {
        return;
    }
    let Some(position) = world.position(&store.key) else { return };
    for Event { name, data } in events {
        let mut fields = Map::new();
        fields.insert("store_id".to_owned(), store.id.into());
        if let Value::Object(data) = data {
            fields.extend(data);
        }
        let data = Value::Object(fields);
        for webhook in world.webhooks.of_store(position) {
            if webhook.subscribes(name) && dispatch::delivers_to(world, &webhook) {
                dispatch::dispatch(world, &webhook, name, &data);
            }
        }
    }
}
