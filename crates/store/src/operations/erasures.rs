//! Erasures of people (`espelho forget`): finds what is on record of a person, blanks it, and remembers that without
//! the person.
//!
//! The erasure is remembered first. From then on every writer leaves the person out (`mirror::erased`), so nothing
//! comes back behind the blanking, which goes through the orders in short transactions while the service works.
//! `model::person` decides what of a row is a person's.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::LazyLock,
    time::Duration,
};

use chrono::{DateTime, Utc};
use espelho_model::{
    Clock, StoreKey,
    person::{DeliverySubject, Identifier, Person},
    time::serialize_fixed_width,
};
use serde::Serialize;
use sqlx::{Connection as _, Row as _, SqliteConnection, sqlite::SqliteConnectOptions};

use crate::{
    DatabaseTrouble, Error, Op, Store,
    driver::{Database, Insert, Row, Tx, Value},
    journal::effects::OF_ORDER,
    mirror::{
        changes::{APPEND, CHANNEL, TAKE_TURN},
        erased::{KEY, MAKE_KEY, REMEMBER, random_key},
        page::LOCK_TIMEOUT,
    },
    operations::Erasures,
};

macro_rules! orders_where {
    ($condition:literal) => {
        concat!(
            "SELECT order_number, customer_id, customer_name, CAST(raw AS TEXT) FROM orders WHERE store = $1 AND ",
            $condition,
            " ORDER BY order_number"
        )
    };
}

pub(crate) const BY_NUMBER: &str = orders_where!("order_number = $2");
pub(crate) const BY_CUSTOMER: &str = orders_where!("customer_id = $2");
pub(crate) const BY_TEXT: &str = orders_where!("lower(CAST(raw AS TEXT)) LIKE $2 ESCAPE '!'");
pub(crate) const KNOWN: &str = "SELECT at, (SELECT count(*) FROM erasures e WHERE e.store = erased_people.store \
    AND e.at >= erased_people.at) FROM erased_people WHERE store = $1 AND identifier = $2";
pub(crate) const PERSON: Insert = Insert {
    operation: "remember an erased person",
    head: "INSERT INTO erased_people (store, identifier, at)",
    columns: 3,
    tail: "ON CONFLICT (store, identifier) DO UPDATE SET at = excluded.at",
};
pub(crate) const RECORD: &str = "INSERT INTO erasures (store, at, erased_by, counts) VALUES ($1, $2, $3, $4)";
/// Writers that have looked for erasures hold a weaker lock until they commit.
pub(crate) const WAIT_FOR_WRITERS: &str = "LOCK TABLE erased_orders IN ACCESS EXCLUSIVE MODE";
pub(crate) const CONVERSATIONS: &str =
    "SELECT id FROM conversations WHERE store = $1 AND order_number = $2 ORDER BY id";
pub(crate) const OCCURRENCES: &str = "SELECT id, title, CAST(raw AS TEXT) FROM occurrences \
    WHERE store = $1 AND id > $2 ORDER BY id LIMIT 500";
pub(crate) const BLANK_OCCURRENCE: &str =
    "UPDATE occurrences SET title = $3, raw = $4 WHERE store = $1 AND id = $2";
pub(crate) const FAILURES: &str =
    "SELECT resource, error, hint, said FROM sync_failures WHERE store = $1 AND key = $2";
pub(crate) const DROP_FAILURE: &str =
    "DELETE FROM sync_failures WHERE store = $1 AND key = $2 AND resource = $3";
pub(crate) const COMMANDS: &str = "SELECT id, kind, state, CAST(data AS TEXT) AS data FROM commands \
    WHERE store = $1 AND key = $2 AND kind IN ('order.status', 'order.notes') AND data IS NOT NULL";
/// A command whose data changes would be tried again; this one must not be.
pub(crate) const LEAVE_COMMAND: &str =
    "UPDATE commands SET state = 'ignored' WHERE id = $1 AND state IN ('failed', 'held', 'doubtful')";
pub(crate) const BLANK_COMMAND: &str = "UPDATE commands SET data = $2 WHERE id = $1";
pub(crate) const VOID_LABELS: &str =
    "UPDATE shipment_labels SET file = NULL WHERE store = $1 AND order_number = $2 AND file IS NOT NULL";
pub(crate) const FILES: &str = "SELECT file FROM label_files WHERE store = $1 AND order_number";
pub(crate) const FORGET_FILES: &str = "DELETE FROM label_files WHERE store = $1 AND order_number";
pub(crate) const DELIVERIES: &str =
    "SELECT id, body FROM webhook_inbox WHERE store = $1 AND id > $2 ORDER BY id LIMIT 500";
pub(crate) const BLANK_DELIVERY: &str = "UPDATE webhook_inbox SET body = $2 WHERE id = $1";
/// Those under way are settled first; their answers are blanked when they arrive.
pub(crate) const EFFECTS: &str = "SELECT id, request, evidence, answer, note FROM effects \
    WHERE store = $1 AND key = $2 AND state NOT IN ('planned', 'sent') ORDER BY id";
pub(crate) const BLANK_EFFECT: &str =
    "UPDATE effects SET request = $2, evidence = $3, answer = $4, note = $5 WHERE id = $1";
pub(crate) const ERASED: &str = "SELECT store, order_number FROM erased_orders ORDER BY store, order_number";

/// Orders that one transaction blanks, so that the service's writes do not wait for long.
const ORDERS_AT_ONCE: usize = 20;
/// How often an erasure waits for writers, and the pause in between.
const TURNS: u32 = 100;
const BETWEEN_TURNS: Duration = Duration::from_millis(200);
/// Bytes up to which a file is compacted: that takes the file's only writer for seconds.
const MOST_COMPACTED: i64 = 256 << 20;
/// How often the log is emptied when readers are in the way, and the pause in between.
const CHECKPOINTS: u32 = 20;
const BETWEEN_CHECKPOINTS: Duration = Duration::from_millis(250);

/// A table with rows of an order, or of a conversation about one.
struct PersonalTable {
    name: &'static str,
    /// The column of the order's number, or of the conversation.
    parent: &'static str,
    id: &'static str,
    texts: &'static [&'static str],
    /// Each with the name that `model::person` reads it under.
    objects: &'static [(&'static str, &'static str)],
}

const RAW: (&str, &str) = ("raw", "");
const ORDERS: PersonalTable =
    of_order("orders", "order_number", &["customer_id", "customer_name", "notes"], &[RAW]);
const MESSAGES: PersonalTable =
    PersonalTable { parent: "conversation_id", ..of_order("conversation_messages", "id", &["body"], &[RAW]) };
const TABLES: [PersonalTable; 11] = [
    ORDERS,
    of_order("order_items", "id", &[], &[("raw", "items")]),
    of_order("order_invoices", "id", &["pdf_url"], &[RAW]),
    of_order("order_events", "id", &["description", "author_name"], &[("metadata", "metadata"), RAW]),
    of_order("order_benefits", "id", &["name"], &[RAW]),
    of_order("order_splits", "id", &["name"], &[RAW]),
    of_order("order_commissions", "line_id", &[], &[RAW]),
    of_order("shipments", "id", &["tracking_url"], &[("tracking", "tracking"), RAW]),
    of_order("shipment_labels", "id", &[], &[RAW]),
    of_order("conversations", "id", &["reason"], &[RAW]),
    MESSAGES,
];

const fn of_order(
    name: &'static str,
    id: &'static str,
    texts: &'static [&'static str],
    objects: &'static [(&'static str, &'static str)],
) -> PersonalTable {
    PersonalTable { name, parent: "order_number", id, texts, objects }
}

/// The statements of a table: the rows of a parent, and one row without the person.
struct Statements {
    table: PersonalTable,
    rows: String,
    blank: String,
}

static STATEMENTS: LazyLock<[Statements; 11]> = LazyLock::new(|| {
    TABLES.map(|table| {
        let PersonalTable { name, parent, id, texts, objects } = &table;
        let shown = texts.iter().map(|text| (*text).to_owned());
        let shown = shown.chain(objects.iter().map(|(column, _)| format!("CAST({column} AS TEXT)")));
        let shown: Vec<String> = shown.collect();
        let columns = texts.iter().copied().chain(objects.iter().map(|(column, _)| *column));
        let set = columns.enumerate().map(|(nth, column)| format!("{column} = ${}", nth + 4));
        let (shown, set) = (shown.join(", "), set.collect::<Vec<_>>().join(", "));
        let rows = format!("SELECT {id}, {shown} FROM {name} WHERE store = $1 AND {parent} = $2");
        let blank = format!("UPDATE {name} SET {set} WHERE store = $1 AND {parent} = $2 AND {id} = $3");
        Statements { table, rows, blank }
    })
});

pub(crate) fn statements() -> impl Iterator<Item = &'static str> {
    STATEMENTS.iter().flat_map(|of| [of.rows.as_str(), of.blank.as_str()])
}

/// A person that the mirror has orders of.
#[derive(Clone, Debug, Default)]
pub struct FoundPerson {
    /// The numbers of the orders.
    pub orders: BTreeSet<String>,
    /// The person, as these orders tell of them.
    pub person: Person,
    /// The identifiers that an operator typed, if they led to the orders.
    pub asked: Vec<Identifier>,
}

/// The rows that an erasure concerns, by table.
pub type ErasureCounts = BTreeMap<String, u64>;

/// The record of an erasure, without the person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Erasure {
    /// The store.
    pub store: StoreKey,
    /// When.
    #[serde(serialize_with = "serialize_fixed_width")]
    pub at: Option<DateTime<Utc>>,
    /// The operating system's user who ran it.
    pub erased_by: String,
    /// The rows that were blanked, by table.
    pub counts: ErasureCounts,
    /// Commands about the orders that are not carried out yet, and keep their data until then.
    pub open_commands: u64,
}

impl Erasures<'_> {
    /// Finds the orders of the person that `asked` identifies: by an order number, a customer id, a CPF or CNPJ, or an
    /// e-mail address. Orders with the same customer id or document are of the same person.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn find(self, store: &StoreKey, asked: &str) -> Result<Option<FoundPerson>, Error> {
        let asked = asked.trim();
        let mut found = FoundPerson::default();
        let mut start = Vec::new();
        for row in self.orders(BY_NUMBER, store, asked).await? {
            start.extend(strong(&found.learn(&row)?));
        }
        // The number of an order may be the id of another customer.
        if found.orders.is_empty() {
            start = Identifier::of_text(asked);
            start.retain(|asked| asked.is_of_one_person() || matches!(asked, Identifier::Email(_)));
            start.extend(self.hashed(&start).await?);
            found.asked.clone_from(&start);
        }
        self.follow(store, start, &mut found).await?;
        Ok((!found.orders.is_empty()).then_some(found))
    }

    /// Returns identifiers as a policy that hashes them has them in the mirror.
    async fn hashed(self, identifiers: &[Identifier]) -> Result<Vec<Identifier>, Error> {
        let rows = self.database.fetch("read the key of erasures", KEY, Vec::new()).await?;
        let key = rows.first().map(|row| row.text(0)).transpose()?;
        Ok(key.iter().flat_map(|key| identifiers.iter().map(|known| known.hashed(key))).collect())
    }

    /// Tells whether a number is an order's and, in the same store, the customer id of somebody else.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn is_ambiguous(
        self,
        store: &StoreKey,
        asked: &str,
        found: &FoundPerson,
    ) -> Result<bool, Error> {
        let of_customer = self.orders(BY_CUSTOMER, store, asked.trim()).await?;
        let numbers: Vec<String> = of_customer.iter().map(|row| row.text(0)).collect::<Result<_, _>>()?;
        Ok(numbers.iter().any(|number| !found.orders.contains(number)))
    }

    /// When the person that `asked` identifies was erased, if so, and whether that erasure came to its end.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn erased_at(
        self,
        store: &StoreKey,
        asked: &str,
    ) -> Result<Option<(DateTime<Utc>, bool)>, Error> {
        let rows = self.database.fetch("read the key of erasures", KEY, Vec::new()).await?;
        let Some(key) = rows.first().map(|row| row.text(0)).transpose()? else { return Ok(None) };
        for identifier in Identifier::of_text(asked) {
            let print = identifier.fingerprint(&key);
            let values = vec![store.as_str().into(), print.into()];
            let rows = self.database.fetch("recognize an erased person", KNOWN, values).await?;
            if let Some(row) = rows.first() {
                return Ok(Some((row.time(0)?, row.count(1)? > 0)));
            }
        }
        Ok(None)
    }

    /// Counts what [`Erasures::erase`] would blank.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn count(self, store: &StoreKey, found: &FoundPerson) -> Result<(ErasureCounts, u64), Error> {
        self.blank(store, found, Mode::Count).await
    }

    /// Remembers the erasure, blanks the person everywhere, and records that. The files of labels are the caller's to
    /// remove ([`Erasures::label_files`]).
    ///
    /// # Errors
    /// When the database does not answer. What is blanked until then stays so, and no later reading brings it back.
    pub async fn erase(self, store: &StoreKey, found: &mut FoundPerson, by: &str) -> Result<Erasure, Error> {
        loop {
            self.remember(store, found).await?;
            // A writer may have brought an order of the person since the search.
            let known = found.orders.len();
            let identifiers = strong(&found.person);
            self.follow(store, identifiers, found).await?;
            if found.orders.len() == known {
                break;
            }
        }
        for database in [self.database, self.inbox] {
            overwrite_deleted(database).await?;
        }
        let (counts, open_commands) = self.blank(store, found, Mode::Erase).await?;
        let at = self.clock.now();
        let json = serde_json::to_string(&counts).unwrap_or_default();
        let values = vec![store.as_str().into(), at.into(), by.into(), json.into()];
        self.database.execute("record an erasure", RECORD, values).await?;
        self.notifications.note(CHANNEL, [store.clone()]);
        Ok(Erasure { store: store.clone(), at: Some(at), erased_by: by.to_owned(), counts, open_commands })
    }

    /// The label files of orders.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn label_files(self, store: &StoreKey, found: &FoundPerson) -> Result<Vec<String>, Error> {
        let (first, orders) = ([store.as_str().into()], found.orders.iter().cloned().collect());
        let rows = self.database.fetch_in("read files of labels", FILES, &first, orders).await?;
        rows.iter().map(|row| row.text(0)).collect()
    }

    /// Deletes the records of label files, after the files.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn forget_label_files(self, store: &StoreKey, found: &FoundPerson) -> Result<u64, Error> {
        let first = [store.as_str().into()];
        let mut tx = self.database.begin().await?;
        let orders: Vec<String> = found.orders.iter().cloned().collect();
        let deleted = tx.execute_in("forget files of labels", FORGET_FILES, &first, orders).await?;
        tx.commit().await?;
        Ok(deleted)
    }

    /// Leaves nothing of deleted rows in SQLite's files: compacts those up to 256 MiB, and empties their logs. Returns
    /// whether all of them are compact; PostgreSQL's autovacuum does that by itself.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn compact(self) -> Result<bool, Error> {
        let mut is_compact = true;
        for database in [self.database, self.inbox] {
            is_compact &= compact(database, &**self.clock).await?;
        }
        Ok(is_compact)
    }

    async fn orders(self, sql: &'static str, store: &StoreKey, key: &str) -> Result<Vec<Row>, Error> {
        self.database.fetch("find a person's orders", sql, vec![store.as_str().into(), key.into()]).await
    }

    /// Adds the orders that identifiers lead to, and those that these lead to.
    async fn follow(
        self,
        store: &StoreKey,
        start: Vec<Identifier>,
        found: &mut FoundPerson,
    ) -> Result<(), Error> {
        let (mut open, mut searched) = (start, BTreeSet::new());
        while let Some(identifier) = open.pop() {
            if !searched.insert(identifier.clone()) {
                continue;
            }
            let rows = match &identifier {
                Identifier::Customer(id) => self.orders(BY_CUSTOMER, store, id).await?,
                Identifier::Document(id) => self.orders(BY_TEXT, store, &within(&spread(id))).await?,
                Identifier::Email(address) => self.orders(BY_TEXT, store, &within(&escaped(address))).await?,
            };
            for row in rows {
                let is_theirs = matches!(identifier, Identifier::Customer(_))
                    || person_of(&row)?.identifiers().contains(&identifier);
                if is_theirs {
                    open.extend(strong(&found.learn(&row)?));
                    found.person.identify(identifier.clone());
                }
            }
        }
        Ok(())
    }

    /// Waits for the writers in short turns: whoever looks for erasures meanwhile waits behind this lock.
    async fn remember(self, store: &StoreKey, found: &FoundPerson) -> Result<(), Error> {
        let mut turns = 1..TURNS;
        loop {
            match self.remember_now(store, found).await {
                Err(error) if error.trouble() == DatabaseTrouble::Busy && turns.next().is_some() => {
                    self.clock.sleep(BETWEEN_TURNS).await;
                }
                done => return done,
            }
        }
    }

    async fn remember_now(self, store: &StoreKey, found: &FoundPerson) -> Result<(), Error> {
        let mut tx = self.database.begin().await?;
        tx.execute_on_server("bound the wait for locks", LOCK_TIMEOUT, Vec::new()).await?;
        tx.execute_on_server("wait for writers", WAIT_FOR_WRITERS, Vec::new()).await?;
        tx.execute("make the key of erasures", MAKE_KEY, vec![random_key()?.into()]).await?;
        let rows = tx.fetch("read the key of erasures", KEY.to_owned(), Vec::new()).await?;
        let key = rows.first().map_or(Ok(String::new()), |row| row.text(0))?;
        let (store, at) = (store.as_str(), self.clock.now());
        // An address that nobody typed may be another person's too.
        let known = found.person.identifiers().iter();
        let known = known.filter(|known| known.is_of_one_person() || found.asked.contains(known));
        let prints = known.map(|known| known.fingerprint(&key));
        let values = prints.flat_map(|print| -> [Value; 3] { [store.into(), print.into(), at.into()] });
        tx.insert(&PERSON, values.collect()).await?;
        let values = found.orders.iter().flat_map(|number| [store.into(), number.as_str().into()]);
        tx.insert(&REMEMBER, values.collect()).await?;
        tx.commit().await
    }

    async fn blank(
        self,
        store: &StoreKey,
        found: &FoundPerson,
        mode: Mode,
    ) -> Result<(ErasureCounts, u64), Error> {
        let mut counts = Counts::default();
        let mut conversations = BTreeSet::new();
        let orders: Vec<&String> = found.orders.iter().collect();
        for some in orders.chunks(ORDERS_AT_ONCE) {
            let mut blanking = Blanking { tx: self.database.begin().await?, store, found, counts };
            let mut changed = Vec::new();
            for &number in some {
                let before = blanking.counts.all();
                conversations.extend(blanking.order(number).await?);
                changed.extend((blanking.counts.all() > before).then_some(number));
            }
            blanking.announce(&changed, self.clock.now()).await?;
            counts = blanking.end(mode).await?;
        }
        let mut blanking = Blanking { tx: self.database.begin().await?, store, found, counts };
        blanking.occurrences().await?;
        counts = blanking.end(mode).await?;
        let mut blanking = Blanking { tx: self.inbox.begin().await?, store, found, counts };
        blanking.effects().await?;
        counts = blanking.end(mode).await?;
        self.blank_deliveries(store, found, &conversations, &mut counts, mode).await?;
        Ok((counts.rows, counts.open_commands))
    }

    /// Blanks deliveries, a batch at a time, so that no acknowledgement waits for long.
    async fn blank_deliveries(
        self,
        store: &StoreKey,
        found: &FoundPerson,
        conversations: &BTreeSet<String>,
        counts: &mut Counts,
        mode: Mode,
    ) -> Result<(), Error> {
        let mut after = 0;
        loop {
            let values = vec![store.as_str().into(), after.into()];
            let rows = self.inbox.fetch("read the inbox", DELIVERIES, values).await?;
            let Some(last) = rows.last() else { return Ok(()) };
            after = last.int(0)?;
            let mut blank: Vec<(i64, Vec<u8>)> = Vec::new();
            for row in &rows {
                let body = row.bytes(1)?;
                let blanked = delivery_without(&body, found, conversations);
                blank.extend(blanked.map(|body| row.int(0).map(|id| (id, body))).transpose()?);
            }
            if blank.is_empty() {
                continue;
            }
            counts.add("webhook_inbox", blank.len());
            let mut tx = self.inbox.begin().await?;
            for (id, body) in blank {
                tx.execute("blank a delivery", BLANK_DELIVERY, vec![id.into(), body.into()]).await?;
            }
            end(tx, mode).await?;
        }
    }
}

/// The end of the transactions of a blanking: kept, or undone.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Erase,
    Count,
}

async fn end(tx: Tx, mode: Mode) -> Result<(), Error> {
    match mode {
        Mode::Erase => tx.commit().await,
        // Dropped, it is rolled back.
        Mode::Count => Ok(()),
    }
}

#[derive(Default)]
struct Counts {
    rows: ErasureCounts,
    open_commands: u64,
}

impl Counts {
    fn add(&mut self, table: &str, rows: usize) {
        if rows > 0 {
            *self.rows.entry(table.to_owned()).or_default() += rows as u64;
        }
    }

    fn all(&self) -> u64 {
        self.rows.values().sum()
    }
}

/// One transaction that blanks.
struct Blanking<'b> {
    tx: Tx,
    store: &'b StoreKey,
    found: &'b FoundPerson,
    counts: Counts,
}

impl Blanking<'_> {
    fn key(&self, key: &str) -> Vec<Value> {
        vec![self.store.as_str().into(), key.into()]
    }

    /// Blanks the rows of an order; returns the conversations about it.
    async fn order(&mut self, number: &str) -> Result<Vec<String>, Error> {
        let rows = self.tx.fetch("read conversations", CONVERSATIONS.to_owned(), self.key(number)).await?;
        let conversations: Vec<String> = rows.iter().map(|row| row.text(0)).collect::<Result<_, _>>()?;
        for of in STATEMENTS.iter() {
            let parents = match of.table.parent {
                "order_number" => vec![number.to_owned()],
                _ => conversations.clone(),
            };
            for parent in parents {
                self.rows(of, &parent).await?;
            }
        }
        self.failures(number).await?;
        self.commands(number).await?;
        let voided = self.tx.execute("void an order's labels", VOID_LABELS, self.key(number)).await?;
        self.counts.add("label_files", usize::try_from(voided).unwrap_or(usize::MAX));
        Ok(conversations)
    }

    async fn rows(&mut self, of: &'static Statements, parent: &str) -> Result<(), Error> {
        let PersonalTable { name, texts, objects, .. } = &of.table;
        let person = &self.found.person;
        let rows = self.tx.fetch_for_update("read a person's rows", &of.rows, self.key(parent)).await?;
        let mut blanked = 0;
        for row in rows {
            let mut values = self.key(parent);
            values.push(row.text(0)?.into());
            let mut is_changed = false;
            for (nth, column) in texts.iter().enumerate() {
                let text = row.optional_text(nth + 1)?;
                let kept = text.clone().filter(|text| !person.takes(column, text));
                is_changed |= kept != text;
                values.push(kept.into());
            }
            for (nth, (_, object)) in objects.iter().enumerate() {
                let json = row.optional_text(texts.len() + nth + 1)?;
                is_changed |= json.as_ref().is_some_and(|json| person.is_in(object, json));
                values.push(Value::Json(json.map(|json| person.redact(object, &json))));
            }
            if is_changed {
                blanked += 1;
                self.tx.execute("blank a person's row", &of.blank, values).await?;
            }
        }
        self.counts.add(name, blanked);
        Ok(())
    }

    /// Drops failures whose words name the person. A row that still fails is noted again.
    async fn failures(&mut self, number: &str) -> Result<(), Error> {
        for row in self.tx.fetch("read an order's failures", FAILURES.to_owned(), self.key(number)).await? {
            let words = [row.optional_text(1)?, row.optional_text(2)?, row.optional_text(3)?];
            if words.iter().flatten().any(|words| self.found.person.is_named_in(words)) {
                let mut values = self.key(number);
                values.push(row.text(0)?.into());
                self.tx.execute("drop a failure", DROP_FAILURE, values).await?;
                self.counts.add("sync_failures", 1);
            }
        }
        Ok(())
    }

    /// Blanks the data of commands that are over. One that failed is ignored from now on, or it would be tried again
    /// with blank data.
    async fn commands(&mut self, number: &str) -> Result<(), Error> {
        let rows = self.tx.fetch_for_update("read an order's commands", COMMANDS, self.key(number)).await?;
        for row in rows {
            let (id, data) = (row.int("id")?, row.foreign_text("data")?);
            if !self.found.person.is_in("", &data) {
                continue;
            }
            if matches!(row.foreign_text("state")?.as_str(), "new" | "waiting" | "sending") {
                self.counts.open_commands += 1;
                continue;
            }
            // Notes of null would clear those of the marketplace.
            let blank = match row.foreign_text("kind")?.as_str() {
                "order.notes" => "{}".to_owned(),
                _ => self.found.person.redact("", &data),
            };
            self.tx.execute("leave a command", LEAVE_COMMAND, vec![id.into()]).await?;
            let values = vec![id.into(), Value::Json(Some(blank))];
            self.tx.execute("blank a command", BLANK_COMMAND, values).await?;
            self.counts.add("commands", 1);
        }
        Ok(())
    }

    /// Blanks occurrences that are about the orders, or name the person.
    async fn occurrences(&mut self) -> Result<(), Error> {
        let person = &self.found.person;
        let mut after = String::new();
        loop {
            let rows = self.tx.fetch("read occurrences", OCCURRENCES.to_owned(), self.key(&after)).await?;
            let Some(last) = rows.last() else { return Ok(()) };
            after = last.text(0)?;
            for row in rows {
                let (title, raw) = (row.optional_text(1)?, row.text(2)?);
                let body = format!("{{\"data\":{raw}}}");
                let order = DeliverySubject::of(body.as_bytes()).order;
                let is_about = order.is_some_and(|order| self.found.orders.contains(&order));
                let is_named =
                    title.as_ref().is_some_and(|title| person.is_named_in(title)) || person.is_named_in(&raw);
                let is_theirs = is_named || (is_about && person.is_in("", &raw));
                if !is_theirs {
                    continue;
                }
                let mut values = self.key(&row.text(0)?);
                values.push(title.filter(|title| !person.is_named_in(title)).into());
                values.push(Value::Json(Some(person.redact("", &raw))));
                self.tx.execute("blank an occurrence", BLANK_OCCURRENCE, values).await?;
                self.counts.add("occurrences", 1);
            }
        }
    }

    /// Blanks requests, evidence and answers of settled effects on the orders.
    async fn effects(&mut self) -> Result<(), Error> {
        let person = &self.found.person;
        for number in &self.found.orders {
            let values = self.key(&format!("{OF_ORDER}{number}"));
            for row in self.tx.fetch("read an order's effects", EFFECTS.to_owned(), values).await? {
                let before =
                    [Some(row.text(1)?), row.optional_text(2)?, row.optional_text(3)?, row.optional_text(4)?];
                let [request, evidence, answer, note] = before.clone();
                let object = |json: String| match person.is_in("", &json) {
                    true => person.redact("", &json),
                    false => json,
                };
                let blank = [
                    request.map(|request| request_without(&request, person)),
                    evidence.map(object),
                    answer.map(object),
                    note.filter(|note| !person.is_named_in(note)),
                ];
                if blank != before {
                    let values = [row.int(0)?.into()].into_iter().chain(blank.map(Into::into)).collect();
                    self.tx.execute("blank an effect", BLANK_EFFECT, values).await?;
                    self.counts.add("effects", 1);
                }
            }
        }
        Ok(())
    }

    /// Tells the readers of the feed that orders are different, so that they can blank their own copies.
    async fn announce(&mut self, orders: &[&String], at: DateTime<Utc>) -> Result<(), Error> {
        if orders.is_empty() {
            return Ok(());
        }
        self.tx.execute_on_server("take the turn in the change feed", TAKE_TURN, Vec::new()).await?;
        let store = self.store.as_str();
        let values = orders.iter().flat_map(|number| -> [Value; 5] {
            [store.into(), "order".into(), number.as_str().into(), Op::Update.as_str().into(), at.into()]
        });
        self.tx.insert(&APPEND, values.collect()).await.map(drop)
    }

    async fn end(self, mode: Mode) -> Result<Counts, Error> {
        end(self.tx, mode).await?;
        Ok(self.counts)
    }
}

impl FoundPerson {
    /// Adds an order; returns its person.
    fn learn(&mut self, row: &Row) -> Result<Person, Error> {
        let person = person_of(row)?;
        self.orders.insert(row.text(0)?);
        self.person.add(person.clone());
        Ok(person)
    }
}

/// Reads the person of an order from its object and its columns.
fn person_of(row: &Row) -> Result<Person, Error> {
    let mut person = Person::of(&row.text(3)?);
    let columns = serde_json::json!({
        "customer_id": row.optional_text(1)?, "customer_name": row.optional_text(2)?,
    });
    person.add(Person::of(&columns.to_string()));
    Ok(person)
}

/// Returns the identifiers that lead to other orders of the same person.
fn strong(person: &Person) -> Vec<Identifier> {
    person.identifiers().iter().filter(|known| known.is_of_one_person()).cloned().collect()
}

/// Returns a delivery without the person; `None` if it has nothing of the person.
fn delivery_without(body: &[u8], found: &FoundPerson, conversations: &BTreeSet<String>) -> Option<Vec<u8>> {
    let subject = DeliverySubject::of(body);
    let text = String::from_utf8_lossy(body);
    let is_about = subject.order.is_some_and(|order| found.orders.contains(&order))
        || subject.conversation.is_some_and(|id| conversations.contains(&id));
    let is_theirs = found.person.is_named_in(&text) || (is_about && found.person.is_in("", &text));
    is_theirs.then(|| found.person.redact("", &text).into_bytes())
}

/// Returns a recorded request (`PUT /path {…}`) without the person.
fn request_without(request: &str, person: &Person) -> String {
    match request.find('{') {
        Some(at) if person.is_in("", &request[at..]) => {
            format!("{}{}", &request[..at], person.redact("", &request[at..]))
        }
        _ => request.to_owned(),
    }
}

/// Returns a pattern that finds a text anywhere.
fn within(text: &str) -> String {
    format!("%{text}%")
}

fn escaped(text: &str) -> String {
    text.replace('!', "!!").replace('%', "!%").replace('_', "!_")
}

/// Returns a pattern that finds a document with and without punctuation: 123.456.789-09, 12.345.678/0001-95.
fn spread(id: &str) -> String {
    let id = id.to_lowercase();
    let ends: &[usize] = if id.len() == 11 { &[3, 6, 9] } else { &[2, 5, 8, 12] };
    let parts = id.char_indices().map(|(at, c)| match ends.contains(&at) {
        true => format!("%{c}"),
        false => c.to_string(),
    });
    parts.collect()
}

/// Has SQLite overwrite what this connection deletes.
async fn overwrite_deleted(database: &Database) -> Result<(), Error> {
    let Database::Sqlite { write, .. } = database else { return Ok(()) };
    let set = sqlx::raw_sql("PRAGMA secure_delete = ON").execute(write.pool()).await;
    set.map(drop).map_err(|source| Error::statement("overwrite what is deleted", source))
}

async fn compact(database: &Database, clock: &dyn Clock) -> Result<bool, Error> {
    let Database::Sqlite { write, .. } = database else { return Ok(true) };
    let failed = |source| Error::statement("compact the database", source);
    let size = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size";
    let rows = database.fetch("measure the database", size, Vec::new()).await?;
    let size = rows.first().map_or(Ok(0), |row| row.int(0))?;
    let is_small = size <= MOST_COMPACTED;
    if is_small {
        for sql in ["PRAGMA temp_store = FILE", "VACUUM"] {
            sqlx::raw_sql(sql).execute(write.pool()).await.map_err(failed)?;
        }
    }
    for _ in 0..CHECKPOINTS {
        let row = sqlx::raw_sql("PRAGMA wal_checkpoint(TRUNCATE)").fetch_one(write.pool()).await;
        if row.map_err(failed)?.get::<i64, _>(0) == 0 {
            return Ok(is_small);
        }
        clock.sleep(BETWEEN_CHECKPOINTS).await;
    }
    Ok(false)
}

/// Tells whether the copy of a mirror (`espelho backup`) still has one of the orders with the person; `None` if it
/// cannot be read.
pub async fn copy_has_person(folder: &Path, store: &StoreKey, found: &FoundPerson) -> Option<bool> {
    let options =
        SqliteConnectOptions::new().filename(folder.join("espelho.db")).read_only(true).immutable(true);
    let mut copy = SqliteConnection::connect_with(&options).await.ok()?;
    let mut has = false;
    for number in &found.orders {
        let sql = "SELECT raw, customer_id, customer_name FROM orders WHERE store = ? AND order_number = ?";
        let row = sqlx::query(sql).bind(store.as_str()).bind(number).fetch_optional(&mut copy).await.ok()?;
        let Some(row) = row else { continue };
        let [raw, id, name] = [0, 1, 2].map(|at| row.try_get::<Option<String>, _>(at).ok().flatten());
        has |= id.is_some() || name.is_some();
        has |= raw.is_some_and(|raw| Person::of(&raw).is_in("", &raw));
    }
    Some(has)
}

/// Blanks the orders that are remembered as erased once more: a backup from before the erasure was put back.
pub(crate) async fn erase_again(copy: &Store) -> Result<(), Error> {
    let mut by_store: BTreeMap<String, FoundPerson> = BTreeMap::new();
    let erasures = copy.erasures();
    for row in copy.database.fetch("read erased orders", ERASED, Vec::new()).await? {
        let (store, number) = (row.text(0)?, row.text(1)?);
        let Ok(key) = StoreKey::new(&store) else { continue };
        let found = by_store.entry(store).or_default();
        found.orders.insert(number.clone());
        for order in erasures.orders(BY_NUMBER, &key, &number).await? {
            found.learn(&order)?;
        }
    }
    for (store, found) in by_store {
        let Ok(key) = StoreKey::new(&store) else { continue };
        erasures.blank(&key, &found, Mode::Erase).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_found_with_and_without_punctuation() {
        assert_eq!(within(&spread("12345678909")), "%123%456%789%09%");
        assert_eq!(spread("12ABC34501DE35"), "12%abc%345%01de%35");
        assert_eq!(within(&escaped("a_b%c!@d.example")), "%a!_b!%c!!@d.example%");
    }

    #[test]
    fn a_request_keeps_its_route() {
        let person = Person::default();
        for (request, expected) in [
            (r#"PUT /orders/1/notes {"notes":"Ana"}"#, r#"PUT /orders/1/notes {"notes":null}"#),
            (
                r#"POST /orders/1/status {"status":"shipped"}"#,
                r#"POST /orders/1/status {"status":"shipped"}"#,
            ),
            ("POST /orders/1/labels", "POST /orders/1/labels"),
        ] {
            assert_eq!(request_without(request, &person), expected);
        }
    }

    #[test]
    fn a_delivery_is_blanked_where_it_is_about_the_order_or_names_the_person() {
        let order = r#"{"customer":{"name":"Canária Ninguém"}}"#;
        let found =
            FoundPerson { orders: ["1".to_owned()].into(), person: Person::of(order), asked: Vec::new() };
        let conversations = BTreeSet::from(["C".to_owned()]);
        let check = |body: &str, expected: Option<&str>| {
            let blank = delivery_without(body.as_bytes(), &found, &conversations);
            assert_eq!(blank.map(|body| String::from_utf8(body).unwrap()).as_deref(), expected, "{body}");
        };
        check(
            r#"{"event":"order.paid","data":{"order_number":"1","customer_id":7}}"#,
            Some(r#"{"event":"order.paid","data":{"order_number":"1","customer_id":null}}"#),
        );
        check(
            r#"{"data":{"conversation_id":"C","body":"oi"}}"#,
            Some(r#"{"data":{"conversation_id":"C","body":null}}"#),
        );
        check(
            r#"{"data":{"conversation_id":"D","title":"canária ninguém"}}"#,
            Some(r#"{"data":{"conversation_id":"D","title":null}}"#),
        );
        check("no JSON of Canária Ninguém", Some("{}"));
        check(r#"{"data":{"order_number":"2","customer_id":8}}"#, None);
        check(r#"{"data":{"order_number":"1","old_status":"paid"}}"#, None);
    }
}
