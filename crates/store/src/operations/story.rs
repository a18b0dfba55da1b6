//! All recorded events of one subject, in no order: for people who ask how it got into its state.

use chrono::{DateTime, Utc};
use espelho_model::{StoreKey, push::PushState};

use crate::{
    Effect, Error, IntentKind, driver::Row, journal::effects::effect, operations::History, words::all_words,
};

pub(crate) const FIND: &str = "SELECT 'order', order_number FROM orders WHERE store = $1 AND order_number = $2 \
    UNION SELECT 'order', key FROM sync_failures WHERE store = $1 AND resource = 'orders' AND key = $2 \
    UNION SELECT 'order', key FROM commands WHERE store = $1 AND key = $2 \
    AND kind IN ('order.status', 'order.notes', 'labels.generate') \
    UNION SELECT 'product', COALESCE(sku, id) FROM products WHERE store = $1 AND (sku = $2 OR id = $2) \
    UNION SELECT 'product', sku FROM erp_stock WHERE store = $1 AND sku = $2 \
    UNION SELECT 'product', sku FROM erp_prices WHERE store = $1 AND sku = $2 \
    UNION SELECT 'product', key FROM commands WHERE store = $1 AND key = $2 \
    AND kind IN ('stock.adjust', 'price.delete_tier', 'product.create', 'product.update', 'gallery.add') \
    UNION SELECT 'shipment', order_number || '/' || id FROM shipments WHERE store = $1 AND (id = $2 OR tracking_code \
    = $2) \
    UNION SELECT 'shipment_label', order_number || '/' || id FROM shipment_labels WHERE store = $1 AND id = $2 \
    UNION SELECT 'campaign', id FROM campaigns WHERE store = $1 AND id = $2 \
    UNION SELECT 'command', CAST(id AS TEXT) FROM commands WHERE store = $1 AND CAST(id AS TEXT) = $2 ORDER BY 1, 2";
pub(crate) const PRODUCT_IDS: &str = "SELECT id, COALESCE(sku, id) FROM products WHERE store = $1 AND (sku = $2 OR id \
    = $2) ORDER BY gone_at IS NOT NULL, id LIMIT 1";
pub(crate) const PLACED: &str = "SELECT created_at FROM orders WHERE store = $1 AND order_number = $2";
pub(crate) const TIMELINE: &str = "SELECT created_at, old_status, new_status, description FROM order_events \
    WHERE store = $1 AND order_number = $2 AND gone_at IS NULL AND created_at IS NOT NULL";
pub(crate) const INVOICES: &str = "SELECT COALESCE(issued_at, mirrored_at), COALESCE(invoice_number, id), \
    COALESCE(type, ''), \
    COALESCE(status, ''), replaced_at FROM order_invoices WHERE store = $1 AND order_number = $2 AND gone_at IS NULL";
pub(crate) const SHIPMENTS: &str = "SELECT mirrored_at, id, COALESCE(status, ''), tracking_code FROM shipments \
    WHERE store = $1 AND order_number = $2 AND ($3 = '' OR id = $3) AND gone_at IS NULL";
pub(crate) const LABELS: &str = "SELECT COALESCE(completed_at, mirrored_at), id, COALESCE(format, ''), \
    COALESCE(status, '') \
    FROM shipment_labels WHERE store = $1 AND order_number = $2 AND ($3 = '' OR shipment_id = $3) AND gone_at IS NULL";
pub(crate) const FILES: &str = "SELECT f.fetched_at, f.file, f.void_at IS NOT NULL FROM label_files f \
    JOIN shipment_labels l ON l.store = f.store AND l.id = f.label_id \
    WHERE f.store = $1 AND f.order_number = $2 AND ($3 = '' OR l.shipment_id = $3)";
pub(crate) const FEED: &str = "SELECT at, entity, key, op FROM changes WHERE store = $1 AND entity IN ('order', \
    'product', 'shipment', \
    'shipment_label', 'order_invoice') AND (key = $2 OR substr(key, 1, length(CAST($3 AS TEXT))) = $3) ORDER BY seq \
    DESC LIMIT 200";
pub(crate) const COMMANDS: &str = "SELECT id, kind, key, CAST(data AS TEXT) AS data, state, error_code, error, hint, \
    created_at, updated_at, done_at, CAST(said AS TEXT) AS said \
    FROM commands WHERE store = $1 AND ((key = $2 AND $2 <> '') OR CAST(id AS TEXT) = $3) ORDER BY id DESC LIMIT 100";
pub(crate) const LEVELS: &str = "SELECT sku || '/' || location_id, CAST(quantity AS TEXT), state, error_code, error, \
    hint, updated_at, CAST(said AS TEXT) AS said \
    FROM erp_stock WHERE store = $1 AND sku = $2";
pub(crate) const PRICES: &str = "SELECT sku || '/' || min_quantity, COALESCE(CAST(price AS TEXT), '-' || \
    CAST(discount_percent AS TEXT) || ' %'), \
    state, error_code, error, hint, updated_at, CAST(said AS TEXT) AS said FROM erp_prices WHERE store = $1 AND sku = $2";
pub(crate) const TAKEN: &str =
    "SELECT taken_at, erp_id, note FROM erp_orders WHERE store = $1 AND order_number = $2";
pub(crate) const DELIVERIES: &str = "SELECT id, received_at, event, handled_at, body FROM webhook_inbox \
    WHERE store = $1 AND id < $2 ORDER BY id DESC LIMIT 500";
pub(crate) const EFFECTS_UNDER: &str = "SELECT id, key, kind, command_id, fingerprint, request, evidence, state, \
    planned_at, sent_at, \
    code, note, answer FROM effects WHERE store = $1 AND substr(key, 1, length(CAST($2 AS TEXT))) = $2 ORDER BY id \
    DESC LIMIT 200";
/// The commands whose decisions are told: the newest.
const COMMANDS_DECIDED: usize = 20;
/// Batches of deliveries to search at most: 50,000 deliveries.
const BATCHES: usize = 100;

/// The subject of a story.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// An order, by its number.
    Order(String),
    /// A product, by its SKU and, if mirrored, its id.
    Product {
        /// The SKU.
        sku: String,
        /// The marketplace's id.
        id: Option<String>,
    },
    /// A shipment of an order.
    Shipment {
        /// The order's number.
        order: String,
        /// The shipment's id.
        id: String,
    },
    /// A command, by its number.
    Command(String),
}

/// A recorded event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// When.
    pub at: DateTime<Utc>,
    /// The event.
    pub what: Happened,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the columns of the tables that the variants name, docs/SCHEMA.md")]
pub enum Happened {
    /// The order was placed.
    Placed,
    /// A webhook delivery arrived; handled or still in the inbox.
    Delivered { event: Option<String>, handled_at: Option<DateTime<Utc>> },
    /// An entry of the marketplace's own timeline.
    Moved { from: Option<String>, to: Option<String>, description: Option<String> },
    /// The mirror was written.
    Mirrored { entity: String, key: String, op: String },
    /// The ERP wrote a command.
    Commanded { key: String, intent: String },
    /// The ERP's row got an answer; its state is `None` for an unknown word.
    Answered {
        intent: IntentKind,
        key: String,
        state: Option<PushState>,
        code: String,
        error: String,
        hint: String,
    },
    /// The ERP's row was in this state, until a person decided about it.
    Was { intent: IntentKind, key: String, state: PushState, code: String },
    /// A person decided about the ERP's row; the act is a word of [`NewAction::act`](crate::NewAction::act).
    Decided { intent: IntentKind, key: String, act: String, actor: String },
    /// The marketplace got a request.
    Called(Box<Effect>),
    /// A fiscal document.
    Invoiced { number: String, kind: String, status: String },
    /// Another fiscal document replaced this one.
    Replaced { number: String },
    /// A mirrored shipment.
    Shipped { id: String, status: String, tracking_code: Option<String> },
    /// A label.
    Labelled { id: String, format: String, status: String },
    /// A label's file was stored, or became void.
    Filed { file: String, is_void: bool },
    /// The ERP has taken the order.
    Taken { erp_id: Option<String>, note: Option<String> },
}

impl History<'_> {
    /// The entities of a store with this name: entity and key, as in the change feed; products by SKU.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn find(self, store: &StoreKey, name: &str) -> Result<Vec<(String, String)>, Error> {
        let values = vec![store.as_str().into(), name.into()];
        let rows = self.database.fetch("find what bears a name", FIND, values).await?;
        rows.iter().map(|row| Ok((row.text(0)?, row.foreign_text(1)?))).collect()
    }

    /// The id and the SKU of the product with this SKU or id.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn product_named(
        self,
        store: &StoreKey,
        name: &str,
    ) -> Result<Option<(String, String)>, Error> {
        let values = vec![store.as_str().into(), name.into()];
        let rows = self.database.fetch("find a product", PRODUCT_IDS, values).await?;
        rows.first().map(|row| Ok((row.text(0)?, row.text(1)?))).transpose()
    }

    /// All recorded events of a subject, in no order.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn story(self, store: &StoreKey, subject: &Subject) -> Result<Vec<Event>, Error> {
        let mut events = Vec::new();
        match subject {
            Subject::Order(number) => {
                events.extend(self.deliveries_about(store, number).await?);
                events.extend(self.around_the_order(store, number).await?);
                events.extend(self.parcels(store, number, "").await?);
                events.extend(self.feed_about(store, number).await?);
                events.extend(self.commands_about(store, number, "").await?);
                events.extend(called(self.journal.effects_on(store, &format!("order/{number}")).await?));
                events.extend(self.taken(store, number).await?);
            }
            Subject::Product { sku, id } => {
                for name in [Some(sku), id.as_ref().filter(|id| *id != sku)].into_iter().flatten() {
                    events.extend(self.deliveries_about(store, name).await?);
                    events.extend(self.feed_about(store, name).await?);
                }
                events.extend(self.rows_of_sku(store, sku).await?);
                events.extend(self.commands_about(store, sku, "").await?);
                events.extend(called(self.effects_under(store, &format!("stock/{sku}/")).await?));
                for key in [format!("prices/{sku}"), format!("product/{sku}")] {
                    events.extend(called(self.journal.effects_on(store, &key).await?));
                }
            }
            Subject::Shipment { order, id } => {
                events.extend(self.deliveries_about(store, id).await?);
                events.extend(self.parcels(store, order, id).await?);
                events.extend(self.feed_about(store, &format!("{order}/{id}")).await?);
                let effects = self.journal.effects_on(store, &format!("order/{order}")).await?;
                events.extend(called(effects).filter(
                    |event| matches!(&event.what, Happened::Called(effect) if effect.kind == "labels.generate"),
                ));
            }
            Subject::Command(number) => {
                events.extend(self.commands_about(store, "", number).await?);
                if let Ok(id) = number.parse() {
                    events.extend(called(self.journal.effects_by_number(store, id).await?));
                }
            }
        }
        let decided = self.decisions_on(store, &names_in_records(store, subject, &events)).await?;
        events.extend(decided);
        Ok(events)
    }

    async fn rows(
        self,
        sql: &'static str,
        store: &StoreKey,
        keys: &[&str],
        read: impl Fn(&Row) -> Result<Vec<Event>, Error>,
    ) -> Result<Vec<Event>, Error> {
        let values = [store.as_str()].iter().chain(keys).map(|text| (*text).into()).collect();
        let rows = self.database.fetch("read a story", sql, values).await?;
        let events: Result<Vec<Vec<Event>>, Error> = rows.iter().map(read).collect();
        Ok(events?.into_iter().flatten().collect())
    }

    async fn around_the_order(self, store: &StoreKey, number: &str) -> Result<Vec<Event>, Error> {
        let keys = [number];
        let mut events = self
            .rows(PLACED, store, &keys, |row| {
                Ok(row.optional_time(0)?.map(|at| Event { at, what: Happened::Placed }).into_iter().collect())
            })
            .await?;
        let timeline = self.rows(TIMELINE, store, &keys, |row| {
            let what = Happened::Moved {
                from: row.optional_text(1)?,
                to: row.optional_text(2)?,
                description: row.optional_text(3)?,
            };
            Ok(vec![Event { at: row.time(0)?, what }])
        });
        events.extend(timeline.await?);
        let invoices = self.rows(INVOICES, store, &keys, |row| {
            let [number, kind, status] = [row.text(1)?, row.text(2)?, row.text(3)?];
            let replaced = row.optional_time(4)?;
            let replaced =
                replaced.map(|at| Event { at, what: Happened::Replaced { number: number.clone() } });
            let what = Happened::Invoiced { number, kind, status };
            Ok(replaced.into_iter().chain([Event { at: row.time(0)?, what }]).collect())
        });
        events.extend(invoices.await?);
        Ok(events)
    }

    /// Shipments, labels and their files, of an order or of one shipment.
    async fn parcels(self, store: &StoreKey, order: &str, shipment: &str) -> Result<Vec<Event>, Error> {
        let keys = [order, shipment];
        let shipments = self.rows(SHIPMENTS, store, &keys, |row| {
            let [id, status] = [row.text(1)?, row.text(2)?];
            let what = Happened::Shipped { id, status, tracking_code: row.optional_text(3)? };
            Ok(vec![Event { at: row.time(0)?, what }])
        });
        let mut events = shipments.await?;
        let labels = self.rows(LABELS, store, &keys, |row| {
            let [id, format, status] = [row.text(1)?, row.text(2)?, row.text(3)?];
            Ok(vec![Event { at: row.time(0)?, what: Happened::Labelled { id, format, status } }])
        });
        events.extend(labels.await?);
        let files = self.rows(FILES, store, &keys, |row| {
            let what = Happened::Filed { file: row.text(1)?, is_void: row.truth(2)? };
            Ok(vec![Event { at: row.time(0)?, what }])
        });
        events.extend(files.await?);
        Ok(events)
    }

    async fn feed_about(self, store: &StoreKey, key: &str) -> Result<Vec<Event>, Error> {
        let under = format!("{key}/");
        let keys = [key, &under];
        let newest_first = self.rows(FEED, store, &keys, |row| {
            let what = Happened::Mirrored {
                entity: row.text("entity")?,
                key: row.text("key")?,
                op: row.text("op")?,
            };
            Ok(vec![Event { at: row.time("at")?, what }])
        });
        let mut events = newest_first.await?;
        events.reverse();
        Ok(events)
    }

    /// The commands on a key, or the command with a number: when each was written, and its answer.
    async fn commands_about(self, store: &StoreKey, key: &str, number: &str) -> Result<Vec<Event>, Error> {
        self.rows(COMMANDS, store, &[key, number], |row| {
            let (intent, id) = (IntentKind::Command, row.int("id")?.to_string());
            let data = row.foreign_text("data")?;
            let command = format!("{} {} {data}", row.foreign_text("kind")?, row.foreign_text("key")?);
            let created = row.optional_time("created_at").ok().flatten();
            let answered = row
                .optional_time("done_at")
                .ok()
                .flatten()
                .or(row.optional_time("updated_at").ok().flatten());
            let given = Happened::Commanded { key: id.clone(), intent: command.trim_end().to_owned() };
            let [error, hint] = all_words(row, self.reader)?;
            let answer = Happened::Answered {
                intent,
                key: id,
                state: row.text("state")?.parse().ok(),
                code: row.optional_text("error_code")?.unwrap_or_default(),
                error,
                hint,
            };
            let events = [(created, given), (answered.or(created), answer)];
            Ok(events.into_iter().filter_map(|(at, what)| Some(Event { at: at?, what })).collect())
        })
        .await
    }

    async fn rows_of_sku(self, store: &StoreKey, sku: &str) -> Result<Vec<Event>, Error> {
        let (mut events, keys) = (Vec::new(), [sku]);
        for (intent, sql) in [(IntentKind::Stock, LEVELS), (IntentKind::Price, PRICES)] {
            let rows = self.rows(sql, store, &keys, |row| {
                let Some(at) = row.optional_time(6).ok().flatten() else { return Ok(Vec::new()) };
                let [error, hint] = all_words(row, self.reader)?;
                // An answered row does not keep the time of its writing: intent and answer are one event.
                let what = Happened::Answered {
                    intent,
                    key: format!("{} → {}", row.foreign_text(0)?, row.foreign_text(1)?),
                    state: row.text(2)?.parse().ok(),
                    code: row.optional_text(3)?.unwrap_or_default(),
                    error,
                    hint,
                };
                Ok(vec![Event { at, what }])
            });
            events.extend(rows.await?);
        }
        Ok(events)
    }

    /// When the ERP took an order.
    async fn taken(self, store: &StoreKey, number: &str) -> Result<Vec<Event>, Error> {
        self.rows(TAKEN, store, &[number], |row| {
            let Some(at) = row.optional_time("taken_at").ok().flatten() else { return Ok(Vec::new()) };
            let (erp_id, note) = (row.optional_foreign_text("erp_id")?, row.optional_foreign_text("note")?);
            Ok(vec![Event { at, what: Happened::Taken { erp_id, note } }])
        })
        .await
    }

    async fn effects_under(self, store: &StoreKey, prefix: &str) -> Result<Vec<Effect>, Error> {
        let values = vec![store.as_str().into(), prefix.into()];
        let rows = self.inbox.fetch("read effects", EFFECTS_UNDER, values).await?;
        rows.iter().map(effect).collect()
    }

    /// Deliveries that contain `word`, handled ones too, as long as the inbox keeps them.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn deliveries_about(self, store: &StoreKey, word: &str) -> Result<Vec<Event>, Error> {
        let (mut found, mut before) = (Vec::new(), i64::MAX);
        for _ in 0..BATCHES {
            let values = vec![store.as_str().into(), before.into()];
            let rows = self.inbox.fetch("read the inbox", DELIVERIES, values).await?;
            let Some(last) = rows.last() else { break };
            before = last.int("id")?;
            for row in &rows {
                if names(&row.bytes("body")?, word.as_bytes()) {
                    let (event, handled_at) = (row.optional_text("event")?, row.optional_time("handled_at")?);
                    found.push(Event {
                        at: row.time("received_at")?,
                        what: Happened::Delivered { event, handled_at },
                    });
                }
            }
        }
        Ok(found)
    }
}

/// Returns the names under which the record of acts has the ERP's rows of a subject: its levels and prices, and the
/// commands among its events.
fn names_in_records(store: &StoreKey, subject: &Subject, events: &[Event]) -> Vec<String> {
    let mut names = match subject {
        Subject::Product { sku, .. } => {
            let under = format!("{sku}/");
            [IntentKind::Stock, IntentKind::Price]
                .map(|intent| intent.row_name(store.as_str(), &under))
                .to_vec()
        }
        Subject::Order(_) | Subject::Shipment { .. } | Subject::Command(_) => Vec::new(),
    };
    let command = |event: &Event| match &event.what {
        Happened::Commanded { key, .. } => Some(IntentKind::Command.row_name(store.as_str(), key)),
        _ => None,
    };
    // They are sorted newest first.
    names.extend(events.iter().filter_map(command).take(COMMANDS_DECIDED));
    names
}

fn called(effects: Vec<Effect>) -> impl Iterator<Item = Event> {
    // They are sorted newest first.
    effects.into_iter().rev().map(|effect| Event {
        at: effect.sent_at.unwrap_or(effect.planned_at),
        what: Happened::Called(Box::new(effect)),
    })
}

/// Whether a body contains a word, not as part of a longer one.
fn names(body: &[u8], word: &[u8]) -> bool {
    let is_subresource = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let stands_alone = |at: usize| {
        !is_subresource(at.checked_sub(1).and_then(|at| body.get(at)))
            && !is_subresource(body.get(at + word.len()))
    };
    !word.is_empty()
        && body.windows(word.len()).enumerate().any(|(at, part)| part == word && stands_alone(at))
}

#[cfg(test)]
mod tests {
    use super::names;

    #[test]
    fn a_word_is_named_where_it_stands_alone() {
        for (body, word, expected) in [
            ("{\"order\":\"12\"}", "12", true),
            ("{\"order\":12}", "12", true),
            ("{\"order\":\"123\"}", "12", false),
            ("{\"sku\":\"CAN-01\"}", "CAN-01", true),
            ("{\"sku\":\"XCAN-01\"}", "CAN-01", false),
            ("12", "12", true),
            ("", "12", false),
            ("{}", "", false),
        ] {
            assert_eq!(names(body.as_bytes(), word.as_bytes()), expected, "{body} {word}");
        }
    }
}
