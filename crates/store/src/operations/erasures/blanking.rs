//! The rows of a person: which they are, and each without the person.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::LazyLock,
};

use chrono::{DateTime, Utc};
use espelho_model::{
    StoreKey,
    person::{DeliverySubject, Person},
};

use super::{ErasureCounts, FoundPerson};
use crate::{
    Error, Op,
    driver::{Database, Insert, Places, Tx, Value},
    journal::effects::OF_ORDER,
    mirror::changes::{APPEND, TAKE_TURN},
    operations::Erasures,
};

pub(crate) const CONVERSATIONS: &str =
    "SELECT id, order_number FROM conversations WHERE store = $1 AND order_number";
pub(crate) const OCCURRENCES: &str = "SELECT id, title, CAST(raw AS TEXT) FROM occurrences \
    WHERE store = $1 AND id > $2 ORDER BY id LIMIT 500";
pub(crate) const BLANK_OCCURRENCE: &str =
    "UPDATE occurrences SET title = $3, raw = $4 WHERE store = $1 AND id = $2";
pub(crate) const FAILURES: &str =
    "SELECT resource, error, hint, said, key FROM sync_failures WHERE store = $1 AND key";
pub(crate) const DROP_FAILURE: &str =
    "DELETE FROM sync_failures WHERE store = $1 AND key = $2 AND resource = $3";
pub(crate) const COMMANDS: &str = "SELECT id, kind, state, key, CAST(data AS TEXT) AS data FROM commands \
    WHERE store = $1 AND kind IN ('order.status', 'order.notes') AND data IS NOT NULL AND key";
/// A command whose data changes would be tried again; this one must not be.
pub(crate) const LEAVE_COMMAND: &str =
    "UPDATE commands SET state = 'ignored' WHERE id = $1 AND state IN ('failed', 'held', 'doubtful')";
pub(crate) const BLANK_COMMAND: &str = "UPDATE commands SET data = $2 WHERE id = $1";
pub(crate) const LABELS: &str =
    "SELECT order_number FROM shipment_labels WHERE store = $1 AND file IS NOT NULL AND order_number";
pub(crate) const VOID_LABELS: &str =
    "UPDATE shipment_labels SET file = NULL WHERE store = $1 AND file IS NOT NULL AND order_number";
pub(crate) const DELIVERIES: &str =
    "SELECT id, body FROM webhook_inbox WHERE store = $1 AND id > $2 ORDER BY id LIMIT 500";
pub(crate) const BLANK_DELIVERY: &str = "UPDATE webhook_inbox SET body = $2 WHERE id = $1";
/// Those under way are settled first; their answers are blanked when they arrive.
pub(crate) const EFFECTS: &str = "SELECT id, request, evidence, answer, note, key FROM effects \
    WHERE store = $1 AND state NOT IN ('planned', 'sent') AND key";
pub(crate) const BLANK_EFFECT: &str =
    "UPDATE effects SET request = $2, evidence = $3, answer = $4, note = $5 WHERE id = $1";
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

/// The statements of a table: the rows of some parents, and rows without the person.
struct Statements {
    table: PersonalTable,
    rows: String,
    /// The head of the update in a file, and on a server, which does not know the types of listed values.
    heads: [String; 2],
    tail: String,
}

static STATEMENTS: LazyLock<[Statements; 11]> = LazyLock::new(|| {
    TABLES.map(|table| {
        let PersonalTable { name, parent, id, texts, objects } = &table;
        let shown = texts.iter().map(|text| (*text).to_owned());
        let shown = shown.chain(objects.iter().map(|(column, _)| format!("CAST({column} AS TEXT)")));
        let shown: Vec<String> = shown.collect();
        let heads = ["", "JSONB"].map(|json| {
            let texts = texts.iter().map(|column| (*column, ""));
            let columns = texts.chain(objects.iter().map(|(column, _)| (*column, json)));
            let set = columns.enumerate().map(|(nth, (column, kind))| match kind {
                "" => format!("{column} = v.column{}", nth + 4),
                kind => format!("{column} = CAST(v.column{} AS {kind})", nth + 4),
            });
            format!("UPDATE {name} AS t SET {} FROM (", set.collect::<Vec<_>>().join(", "))
        });
        let tail =
            format!(") AS v WHERE t.store = v.column1 AND t.{parent} = v.column2 AND t.{id} = v.column3");
        let shown = shown.join(", ");
        let rows = format!("SELECT {id}, {shown}, {parent} FROM {name} WHERE store = $1 AND {parent}");
        Statements { table, rows, heads, tail }
    })
});

impl Statements {
    /// The statement that blanks several rows: each as its store, parent, id, texts and objects.
    fn blank(&'static self, places: Places) -> Insert {
        let [in_a_file, on_a_server] = &self.heads;
        Insert {
            operation: "blank a person's rows",
            head: if matches!(places, Places::Numbered) { on_a_server } else { in_a_file },
            columns: 3 + self.table.texts.len() + self.table.objects.len(),
            tail: &self.tail,
        }
    }
}

/// The statements that read the rows of some parents; they end in a list of keys.
pub(crate) fn reads() -> impl Iterator<Item = &'static str> {
    STATEMENTS.iter().map(|of| of.rows.as_str())
}

/// The statements that blank rows.
pub(crate) fn updates(places: Places) -> impl Iterator<Item = Insert> {
    STATEMENTS.iter().map(move |of| of.blank(places))
}

impl Erasures<'_> {
    /// Orders that one transaction blanks. A file has one writer, and the service's writes wait for it; on a server only
    /// those of the same rows do.
    pub(super) fn orders_at_once(self) -> usize {
        match self.database {
            Database::Sqlite { .. } => 32,
            Database::Postgres(_) => 128,
        }
    }

    pub(super) async fn blank(
        self,
        store: &StoreKey,
        found: &FoundPerson,
        mode: Mode,
    ) -> Result<(ErasureCounts, u64), Error> {
        let (mut counts, conversations) = self.blank_orders(store, found, mode).await?;
        self.blank_others(store, found, &conversations, &mut counts, mode).await?;
        Ok((counts.rows, counts.open_commands))
    }

    /// Blanks the orders with what is below them, and the effects on them; returns the conversations about them.
    pub(super) async fn blank_orders(
        self,
        store: &StoreKey,
        found: &FoundPerson,
        mode: Mode,
    ) -> Result<(Counts, BTreeSet<String>), Error> {
        let mut counts = Counts::default();
        let mut conversations = BTreeSet::new();
        let orders: Vec<String> = found.orders.iter().cloned().collect();
        for some in orders.chunks(self.orders_at_once()) {
            let mut blanking = Blanking::begin(self.database, store, found, counts).await?;
            conversations.extend(blanking.orders(some).await?);
            blanking.announce(self.clock.now()).await?;
            counts = blanking.end(mode).await?;
            let mut blanking = Blanking::begin(self.inbox, store, found, counts).await?;
            blanking.effects(some).await?;
            counts = blanking.end(mode).await?;
        }
        Ok((counts, conversations))
    }

    /// Blanks what does not belong to one order: occurrences and deliveries.
    pub(super) async fn blank_others(
        self,
        store: &StoreKey,
        found: &FoundPerson,
        conversations: &BTreeSet<String>,
        counts: &mut Counts,
        mode: Mode,
    ) -> Result<(), Error> {
        let mut blanking = Blanking::begin(self.database, store, found, std::mem::take(counts)).await?;
        blanking.occurrences().await?;
        *counts = blanking.end(mode).await?;
        self.blank_deliveries(store, found, conversations, counts, mode).await
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
pub(super) enum Mode {
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
pub(super) struct Counts {
    pub(super) rows: ErasureCounts,
    pub(super) open_commands: u64,
}

impl Counts {
    fn add(&mut self, table: &str, rows: usize) {
        if rows > 0 {
            *self.rows.entry(table.to_owned()).or_default() += rows as u64;
        }
    }

    /// Adds the counts of another part.
    pub(super) fn extend(&mut self, other: Self) {
        for (table, rows) in other.rows {
            *self.rows.entry(table).or_default() += rows;
        }
        self.open_commands += other.open_commands;
    }
}

/// One transaction that blanks.
struct Blanking<'b> {
    tx: Tx,
    store: &'b StoreKey,
    found: &'b FoundPerson,
    counts: Counts,
    /// The orders of which anything was blanked.
    changed: BTreeSet<String>,
}

impl<'b> Blanking<'b> {
    async fn begin(
        database: &Database,
        store: &'b StoreKey,
        found: &'b FoundPerson,
        counts: Counts,
    ) -> Result<Self, Error> {
        Ok(Self { tx: database.begin().await?, store, found, counts, changed: BTreeSet::new() })
    }

    /// The arguments before a list of keys.
    fn first(&self) -> [Value; 1] {
        [self.store.as_str().into()]
    }

    fn key(&self, key: &str) -> Vec<Value> {
        vec![self.store.as_str().into(), key.into()]
    }

    /// Blanks the rows of orders; returns the conversations about them.
    async fn orders(&mut self, numbers: &[String]) -> Result<Vec<String>, Error> {
        let first = self.first();
        let rows = self.tx.fetch_in("read conversations", CONVERSATIONS, &first, numbers.to_vec()).await?;
        let mut about = BTreeMap::new();
        for row in &rows {
            about.insert(row.text(0)?, row.text(1)?);
        }
        let conversations: Vec<String> = about.keys().cloned().collect();
        for of in STATEMENTS.iter() {
            match of.table.parent {
                "order_number" => self.rows(of, numbers.to_vec(), None).await?,
                _ => self.rows(of, conversations.clone(), Some(&about)).await?,
            }
        }
        self.failures(numbers).await?;
        self.commands(numbers).await?;
        self.labels(numbers).await?;
        Ok(conversations)
    }

    /// Blanks the rows of some parents: orders, or conversations with the order of each.
    async fn rows(
        &mut self,
        of: &'static Statements,
        parents: Vec<String>,
        orders: Option<&BTreeMap<String, String>>,
    ) -> Result<(), Error> {
        let PersonalTable { name, texts, objects, .. } = &of.table;
        let first = self.first();
        let rows = self.tx.fetch_in_for_update("read a person's rows", &of.rows, &first, parents).await?;
        let (mut blanked, mut blank) = (0, Vec::new());
        for row in rows {
            let parent = row.text(texts.len() + objects.len() + 1)?;
            let order = orders.and_then(|orders| orders.get(&parent)).unwrap_or(&parent);
            let person = self.found.person_of(order);
            let mut is_changed = false;
            let mut read: Vec<Option<String>> = Vec::new();
            for nth in 0..texts.len() + objects.len() {
                read.push(row.optional_text(nth + 1)?);
            }
            let mut objects_read = read.split_off(texts.len());
            // A later reading leaves out whom the row's own object names (`Record::without_person`): so does this.
            let named = match read.iter().any(Option::is_some) {
                true => Person::of(objects_read.last().and_then(Option::as_deref).unwrap_or("{}")),
                false => Person::default(),
            };
            for (text, column) in read.iter_mut().zip(*texts) {
                let is_taken =
                    text.as_ref().is_some_and(|text| person.takes(column, text) || named.takes(column, text));
                is_changed |= is_taken;
                *text = text.take().filter(|_| !is_taken);
            }
            for (json, (_, object)) in objects_read.iter_mut().zip(*objects) {
                if let Some(redacted) = json.as_ref().and_then(|json| person.redacted(object, json)) {
                    (is_changed, *json) = (true, Some(redacted));
                }
            }
            if is_changed {
                blanked += 1;
                self.changed.insert(order.clone());
                blank.extend(self.key(&parent));
                blank.push(row.text(0)?.into());
                blank.extend(read.into_iter().map(Value::from));
                blank.extend(objects_read.into_iter().map(Value::Json));
            }
        }
        let places = self.tx.places();
        self.tx.insert(&of.blank(places), blank).await?;
        self.counts.add(name, blanked);
        Ok(())
    }

    /// Voids the files of labels.
    async fn labels(&mut self, numbers: &[String]) -> Result<(), Error> {
        let first = self.first();
        let rows = self.tx.fetch_in("read labels of orders", LABELS, &first, numbers.to_vec()).await?;
        for row in &rows {
            self.changed.insert(row.text(0)?);
        }
        if !rows.is_empty() {
            self.tx.execute_in("void labels of orders", VOID_LABELS, &first, numbers.to_vec()).await?;
        }
        self.counts.add("label_files", rows.len());
        Ok(())
    }

    /// Drops failures whose words name the person. A row that still fails is noted again.
    async fn failures(&mut self, numbers: &[String]) -> Result<(), Error> {
        let first = self.first();
        let rows = self.tx.fetch_in("read failures of orders", FAILURES, &first, numbers.to_vec()).await?;
        for row in rows {
            let words = [row.optional_text(1)?, row.optional_text(2)?, row.optional_text(3)?];
            let number = row.text(4)?;
            let person = self.found.person_of(&number);
            if words.iter().flatten().any(|words| person.is_named_in(words)) {
                let mut values = self.key(&number);
                values.push(row.text(0)?.into());
                self.tx.execute("drop a failure", DROP_FAILURE, values).await?;
                self.changed.insert(number);
                self.counts.add("sync_failures", 1);
            }
        }
        Ok(())
    }

    /// Blanks the data of commands that are over. One that failed is ignored from now on, or it would be tried again
    /// with blank data.
    async fn commands(&mut self, numbers: &[String]) -> Result<(), Error> {
        let (first, numbers) = (self.first(), numbers.to_vec());
        let rows = self.tx.fetch_in_for_update("read commands on orders", COMMANDS, &first, numbers).await?;
        for row in rows {
            let (id, data, number) = (row.int("id")?, row.foreign_text("data")?, row.foreign_text("key")?);
            let Some(redacted) = self.found.person_of(&number).redacted("", &data) else { continue };
            if matches!(row.foreign_text("state")?.as_str(), "new" | "waiting" | "sending") {
                self.counts.open_commands += 1;
                continue;
            }
            // Notes of null would clear those of the marketplace.
            let blank = match row.foreign_text("kind")?.as_str() {
                "order.notes" => "{}".to_owned(),
                _ => redacted,
            };
            self.tx.execute("leave a command", LEAVE_COMMAND, vec![id.into()]).await?;
            let values = vec![id.into(), Value::Json(Some(blank))];
            self.tx.execute("blank a command", BLANK_COMMAND, values).await?;
            self.changed.insert(number);
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
                let is_about =
                    self.found.is_everyone || order.is_some_and(|order| self.found.orders.contains(&order));
                let is_named =
                    title.as_ref().is_some_and(|title| person.is_named_in(title)) || person.is_named_in(&raw);
                let is_theirs = is_named || (is_about && person.is_in("", &raw));
                if !is_theirs {
                    continue;
                }
                let mut values = self.key(&row.text(0)?);
                let is_kept = |title: &String| !self.found.is_everyone && !person.is_named_in(title);
                values.push(title.filter(is_kept).into());
                values.push(Value::Json(Some(person.redact("", &raw))));
                self.tx.execute("blank an occurrence", BLANK_OCCURRENCE, values).await?;
                self.counts.add("occurrences", 1);
            }
        }
    }

    /// Blanks requests, evidence and answers of settled effects on orders.
    async fn effects(&mut self, numbers: &[String]) -> Result<(), Error> {
        let first = self.first();
        let keys = numbers.iter().map(|number| format!("{OF_ORDER}{number}")).collect();
        for row in self.tx.fetch_in("read effects on orders", EFFECTS, &first, keys).await? {
            let before =
                [Some(row.text(1)?), row.optional_text(2)?, row.optional_text(3)?, row.optional_text(4)?];
            let [request, evidence, answer, note] = before.clone();
            let key = row.text(5)?;
            let person = self.found.person_of(key.strip_prefix(OF_ORDER).unwrap_or(&key));
            let object = |json: String| person.redacted("", &json).unwrap_or(json);
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
        Ok(())
    }

    /// Tells the readers of the feed that orders are different, so that they can blank their own copies.
    async fn announce(&mut self, at: DateTime<Utc>) -> Result<(), Error> {
        let orders = std::mem::take(&mut self.changed);
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

/// Returns a delivery without the person; `None` if it has nothing of the person.
fn delivery_without(body: &[u8], found: &FoundPerson, conversations: &BTreeSet<String>) -> Option<Vec<u8>> {
    let subject = DeliverySubject::of(body);
    let text = String::from_utf8_lossy(body);
    let is_about = found.is_everyone
        || subject.order.is_some_and(|order| found.orders.contains(&order))
        || subject.conversation.is_some_and(|id| conversations.contains(&id));
    let is_theirs = found.person.is_named_in(&text) || (is_about && found.person.is_in("", &text));
    is_theirs.then(|| found.person.redact("", &text).into_bytes())
}

/// Returns a recorded request (`PUT /path {…}`) without the person.
fn request_without(request: &str, person: &Person) -> String {
    match request.find('{') {
        Some(at) => match person.redacted("", &request[at..]) {
            Some(redacted) => format!("{}{redacted}", &request[..at]),
            None => request.to_owned(),
        },
        None => request.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let found = FoundPerson {
            orders: ["1".to_owned()].into(),
            person: Person::of(order),
            ..FoundPerson::default()
        };
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
