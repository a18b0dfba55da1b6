//! Many changes of stock by an ERP, and the requests that they cause.

use std::collections::{BTreeMap, BTreeSet};

use espelho_sandbox::{Control, JournalEntry, JournalQuery};

use crate::{Mirror, Random, installation::STORE};

/// Levels in one statement.
const ROWS: usize = 500;

/// A stock level of the mirror.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Level {
    /// The product.
    pub product: String,
    /// Its SKU.
    pub sku: String,
    /// Its location.
    pub location: String,
    /// The quantity.
    pub quantity: i64,
}

/// The levels that an ERP writes, in order.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// SKU, location and quantity of each.
    pub writes: Vec<(String, String, i64)>,
    /// `product/location` of the levels whose final value differs from the initial one.
    pub different: BTreeSet<String>,
    /// Of these, the ones with a final value of zero.
    pub emptied: BTreeSet<String>,
}

/// The requests that the marketplace received.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// How often each level was set, by `product/location`.
    pub set: BTreeMap<String, usize>,
    /// The levels that were set, in the order of their first request.
    pub order: Vec<String>,
    /// Reads of products.
    pub reads: usize,
    /// All other requests.
    pub others: usize,
    /// Answers without success.
    pub refused: usize,
    last: u64,
}

/// Returns one level for each of `count` SKUs that have whole units and stock.
///
/// # Panics
/// When the mirror has fewer.
pub async fn levels(mirror: &Mirror, count: usize) -> Vec<Level> {
    let sql = "SELECT p.id || '|' || p.sku || '|' || min(s.location_id) || '|' || CAST(CAST(min(CAST(s.quantity AS NUMERIC)) AS INTEGER) AS TEXT) AS l \
        FROM products p JOIN product_stock s ON s.store = p.store AND s.sku = p.sku AND s.gone_at IS NULL WHERE p.gone_at IS NULL \
        GROUP BY p.id, p.sku HAVING count(*) = 1 AND min(CAST(s.quantity AS NUMERIC)) > 0 \
        AND min(CAST(s.quantity AS NUMERIC)) = CAST(min(CAST(s.quantity AS NUMERIC)) AS INTEGER) ORDER BY p.sku";
    let mut found = Vec::new();
    for row in mirror.ask(sql).await.iter().take(count) {
        let [product, sku, location, quantity] = row["l"].split('|').collect::<Vec<_>>()[..] else {
            panic!("{row:?}")
        };
        let quantity = quantity.parse().expect("a quantity");
        found.push(Level {
            product: product.to_owned(),
            sku: sku.to_owned(),
            location: location.to_owned(),
            quantity,
        });
    }
    assert_eq!(found.len(), count, "the mirror has too few levels");
    found
}

impl Changes {
    /// Builds two writes for each level. Of all levels, `zeroes` end at zero and a tenth at their initial value; the
    /// others rise or fall.
    pub fn of(levels: &[Level], zeroes: usize) -> Self {
        let mut changes = Self::default();
        let mut last = Vec::new();
        for (at, level) in levels.iter().enumerate() {
            let quantity = match at {
                at if at < zeroes => 0,
                at if at % 10 == 9 => level.quantity,
                at if at % 2 == 0 => level.quantity + 7,
                _ => level.quantity - 1,
            };
            let write = |quantity| (level.sku.clone(), level.location.clone(), quantity);
            changes.writes.push(write(level.quantity + 3));
            last.push(write(quantity));
            let key = format!("{}/{}", level.product, level.location);
            if quantity == 0 {
                changes.emptied.insert(key.clone());
            }
            if quantity != level.quantity {
                changes.different.insert(key);
            }
        }
        changes.writes.extend(last);
        changes
    }

    /// Returns the same writes in another order. The first write of each level still comes before its second.
    #[must_use]
    pub fn shuffled(self, seed: u64) -> Self {
        let (mut random, half) = (Random::seeded(seed), self.writes.len() / 2);
        let mut turns: Vec<usize> = (0..half).chain(0..half).collect();
        for at in (1..turns.len()).rev() {
            turns.swap(at, random.up_to(at as u64 + 1) as usize - 1);
        }
        let mut begun = BTreeSet::new();
        let place = |level: usize| if begun.insert(level) { level } else { half + level };
        let writes = turns.into_iter().map(place).map(|at| self.writes[at].clone()).collect();
        Self { writes, ..self }
    }

    /// Writes all of them in one transaction.
    pub async fn write_at_once(&self, mirror: &Mirror) {
        mirror.execute("BEGIN").await;
        // A statement must not touch a row twice.
        let (first, last) = self.writes.split_at(self.writes.len() / 2);
        for rows in first.chunks(ROWS).chain(last.chunks(ROWS)) {
            mirror.execute(&statement(rows)).await;
        }
        mirror.execute("COMMIT").await;
    }
}

/// Returns the statement that writes some levels.
pub fn statement(rows: &[(String, String, i64)]) -> String {
    let rows = rows
        .iter()
        .map(|(sku, location, quantity)| format!("('{STORE}', '{sku}', '{location}', {quantity})"));
    format!(
        "INSERT INTO erp_stock (store, sku, location_id, quantity) VALUES {} \
         ON CONFLICT (store, sku, location_id) DO UPDATE SET quantity = excluded.quantity",
        rows.collect::<Vec<_>>().join(", ")
    )
}

impl Asked {
    /// Counts the marketplace's requests from now on.
    pub fn from_now(control: &Control) -> Self {
        let last = control.journal(&JournalQuery::default()).last().map_or(0, |entry| entry.seq);
        Self { last, ..Self::default() }
    }

    /// Counts the new requests. Call it at least every 20,000 requests, because the journal drops old ones.
    pub fn count(&mut self, control: &Control) {
        let entries = control.journal(&JournalQuery { since: self.last, ..JournalQuery::default() });
        self.last = entries.last().map_or(self.last, |entry| entry.seq);
        entries.iter().for_each(|entry| self.count_one(entry));
    }

    fn count_one(&mut self, entry: &JournalEntry) {
        self.refused += usize::from(!(200..300).contains(&entry.status));
        let is_stock = entry.path.ends_with("/stock");
        match (entry.method.as_str(), entry.path.strip_prefix("/api/products/")) {
            ("POST", Some(rest)) if is_stock => {
                let body: serde_json::Value = entry
                    .body
                    .as_deref()
                    .and_then(|body| serde_json::from_str(body).ok())
                    .unwrap_or_default();
                let location = crate::truth::text(&body["location_id"]);
                let key = format!("{}/{location}", rest.trim_end_matches("/stock"));
                if !self.set.contains_key(&key) {
                    self.order.push(key.clone());
                }
                *self.set.entry(key).or_default() += 1;
            }
            ("GET", Some(_)) => self.reads += 1,
            _ => self.others += 1,
        }
    }

    /// Returns the number of requests that set a level.
    pub fn writes(&self) -> usize {
        self.set.values().sum()
    }

    /// Returns the number of levels that were set more than once.
    pub fn repeated(&self) -> usize {
        self.set.values().filter(|times| **times > 1).count()
    }

    /// Returns how many of these levels were not set.
    pub fn missing(&self, wanted: &BTreeSet<String>) -> usize {
        wanted.iter().filter(|key| !self.set.contains_key(*key)).count()
    }
}
