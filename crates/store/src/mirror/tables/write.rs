//! Comparing, writing, marking as gone, appending to the feed: the same for every mirrored table.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use chrono::{DateTime, Utc};
use espelho_model::{ContentHash, sync::Counts};

use super::{
    record::Record,
    table::{Scope, Table},
};
use crate::{
    Error, Op,
    driver::Value,
    mirror::{TableWriter, edited::Comparison, protected, rows::last_of_each},
};

impl Scope {
    /// The key in the feed: parent and id, because people know parents.
    pub(super) fn feed_key(parent: Option<&str>, id: &str) -> String {
        parent.map_or_else(|| id.to_owned(), |parent| format!("{parent}/{id}"))
    }

    /// The arguments that name the parent in statements by key.
    fn key_values(self, parent: Option<&str>) -> Option<Value> {
        matches!(self, Self::InKey(_)).then(|| parent.unwrap_or_default().into())
    }
}

impl TableWriter<'_, '_> {
    /// Writes rows that are new, changed, or were gone. The others stay untouched and do not appear in the feed.
    pub(super) async fn write_rows(
        &mut self,
        table: &'static Table,
        parent: Option<&str>,
        records: Vec<Record>,
    ) -> Result<Counts, Error> {
        let mut records = last_of_each(records, |record| record.id.clone());
        if let (Scope::Beside(_), Some(parent)) = (table.scope, parent) {
            records = records.into_iter().map(|record| record.under(parent)).collect();
        }
        if table.is_marked() {
            let privacy = Arc::clone(self.page.privacy());
            records.iter_mut().for_each(|record| record.hash = privacy.marked(record.hash));
        }
        let seen = count(records.len());
        let known = self.known_rows(table, parent, records.iter()).await?;
        let is_same =
            |record: &Record| known.get(&record.id).is_some_and(|(hash, gone)| !gone && *hash == record.hash);
        let edited = match self.page.compares_columns {
            true => self.edited(table, parent, records.iter().filter(|record| is_same(record))).await?,
            false => HashSet::new(),
        };
        let op = |record: &Record| match known.get(&record.id) {
            None => Some(Op::Insert),
            Some(_) => (!is_same(record) || edited.contains(&record.id)).then_some(Op::Update),
        };
        let changed: Vec<(Record, Op)> =
            records.into_iter().filter_map(|record| op(&record).map(|op| (record, op))).collect();
        let changes = changed.iter().map(|(record, op)| (Scope::feed_key(parent, &record.id), *op));
        self.page.announce(table.entity, changes);
        let counts = Counts { seen, changed: count(changed.len()), ..Counts::default() };
        let is_erased = !changed.is_empty() && self.is_erased(table, parent).await?;
        let mut values = Vec::new();
        for (record, _) in changed {
            let record = if is_erased { record.without_person(table.values) } else { record };
            self.append_values(&mut values, table, parent, record);
        }
        self.page.tx.insert(&table.statements().upsert, values).await?;
        Ok(counts)
    }

    /// Returns the ids of the rows whose columns are not those of these records: somebody has edited them.
    pub(super) async fn edited(
        &mut self,
        table: &'static Table,
        parent: Option<&str>,
        records: impl Iterator<Item = &Record>,
    ) -> Result<HashSet<String>, Error> {
        let is_erased = self.is_erased(table, parent).await?;
        let (mut ids, mut values) = (Vec::new(), Vec::new());
        for record in records {
            ids.push(record.id.clone());
            let record = record.clone();
            let record = if is_erased { record.without_person(table.values) } else { record };
            self.append_values(&mut values, table, parent, record);
        }
        let within = match (table.scope, parent) {
            (Scope::InKey(column), Some(parent)) => Some((column, parent.to_owned())),
            _ => None,
        };
        let insert = &table.statements().upsert;
        let comparison =
            Comparison { insert, values: &values, group: table.id, groups: ids, within, is_erased };
        self.page.edited(comparison).await
    }

    /// True if the rows belong to an order whose person was erased.
    async fn is_erased(&mut self, table: &Table, parent: Option<&str>) -> Result<bool, Error> {
        let keys = parent.map(str::to_owned).into_iter().collect();
        let erased = match table.scope {
            Scope::InKey("order_number") | Scope::Beside("order_number") => {
                self.page.erased_orders(keys).await?
            }
            Scope::Beside("conversation_id") => self.page.erased_conversations(keys).await?,
            _ => return Ok(false),
        };
        Ok(!erased.is_empty())
    }

    /// Writes partial data with its time, row by row: the database decides whether it changes anything.
    pub(super) async fn merge_rows(
        &mut self,
        table: &'static Table,
        records: Vec<(Record, DateTime<Utc>)>,
    ) -> Result<Counts, Error> {
        let mut counts = Counts { seen: count(records.len()), ..Counts::default() };
        let mut known = self.known_rows(table, None, records.iter().map(|(record, _)| record)).await?;
        for (record, as_of) in records {
            let id = record.id.clone();
            let op = if known.insert(id.clone(), (record.hash, false)).is_some() {
                Op::Update
            } else {
                Op::Insert
            };
            let mut values = Vec::new();
            self.append_values(&mut values, table, None, record);
            if self.page.tx.insert(&table.statements().upsert, values).await? > 0 {
                counts.changed += 1;
                self.page.announce(table.entity, [(id, op)]);
            } else if let Some(confirm) = table.statements().confirm {
                // Only the time is newer: data older than that is stale from now on.
                let values = vec![self.page.store_key().as_str().into(), id.into(), as_of.into()];
                self.page.tx.execute("note when a row was told", confirm, values).await?;
            }
        }
        Ok(counts)
    }

    /// Writes all rows of a scope and marks those that are absent.
    pub(super) async fn write_whole(
        &mut self,
        table: &'static Table,
        parent: Option<&str>,
        records: Vec<Record>,
    ) -> Result<Counts, Error> {
        let listed: HashSet<String> = records.iter().map(|record| record.id.clone()).collect();
        let mut counts = self.write_rows(table, parent, records).await?;
        counts.gone = self.mark_missing(table, parent, &listed).await?;
        Ok(counts)
    }

    /// Marks the rows of a scope that are not in `listed`.
    pub(super) async fn mark_missing(
        &mut self,
        table: &'static Table,
        parent: Option<&str>,
        listed: &HashSet<String>,
    ) -> Result<u64, Error> {
        let live = self.live_ids(table, parent).await?;
        let missing = live.into_iter().filter(|id| !listed.contains(id)).collect();
        self.mark_ids(table, parent, missing).await
    }

    /// Reads the ids of the rows of a scope that are not gone.
    pub(super) async fn live_ids(
        &mut self,
        table: &'static Table,
        parent: Option<&str>,
    ) -> Result<Vec<String>, Error> {
        let mut values = vec![self.page.store_key().as_str().into()];
        if !matches!(table.scope, Scope::Store) {
            values.push(parent.unwrap_or_default().into());
        }
        let sql = table.statements().live.to_owned();
        let live = self.page.tx.fetch("read what is live", sql, values).await?;
        live.iter().map(|row| row.text(0)).collect()
    }

    /// Marks live rows.
    async fn mark_ids(
        &mut self,
        table: &'static Table,
        parent: Option<&str>,
        mut ids: Vec<String>,
    ) -> Result<u64, Error> {
        ids.sort_unstable();
        self.page.announce(table.entity, ids.iter().map(|id| (Scope::feed_key(parent, id), Op::Gone)));
        let first = [self.page.store_key().as_str().into(), self.page.at().into()];
        let first: Vec<Value> = first.into_iter().chain(table.scope.key_values(parent)).collect();
        self.page.tx.execute_in("mark rows as gone", table.statements().gone, &first, ids).await
    }

    /// Marks rows by their ids; skips unknown and gone ones.
    pub(super) async fn mark_listed(
        &mut self,
        table: &'static Table,
        ids: Vec<String>,
    ) -> Result<Vec<String>, Error> {
        let first = [self.page.store_key().as_str().into()];
        let known = self.page.tx.fetch_in("look up rows", table.statements().known, &first, ids).await?;
        let mut live = Vec::new();
        for row in known {
            if !row.truth(2)? {
                live.push(row.text(0)?);
            }
        }
        live.sort_unstable();
        live.dedup();
        self.mark_ids(table, None, live.clone()).await?;
        Ok(live)
    }

    pub(super) async fn known_rows(
        &mut self,
        table: &'static Table,
        parent: Option<&str>,
        records: impl Iterator<Item = &Record>,
    ) -> Result<HashMap<String, (ContentHash, bool)>, Error> {
        let first: Vec<Value> = [self.page.store_key().as_str().into()]
            .into_iter()
            .chain(table.scope.key_values(parent))
            .collect();
        let ids = records.map(|record| record.id.clone()).collect();
        let rows = self.page.tx.fetch_in("look up rows", table.statements().known, &first, ids).await?;
        let known = |row: &crate::driver::Row| {
            Ok((row.text(0)?, (ContentHash::from_i64(row.int(1)?), row.truth(2)?)))
        };
        rows.iter().map(known).collect()
    }

    /// Appends a row as the policy for people's data lets it be kept.
    fn append_values(&self, to: &mut Vec<Value>, table: &Table, parent: Option<&str>, mut record: Record) {
        if let Some(name) = table.personal() {
            let Record { values, raw, .. } = &mut record;
            protected::row(self.page.privacy(), name, table.values, values, raw);
        }
        debug_assert_eq!(record.values.len(), table.values.len(), "values of {}", table.name);
        to.push(self.page.store_key().as_str().into());
        if !matches!(table.scope, Scope::Store) {
            to.push(parent.unwrap_or_default().into());
        }
        to.extend([record.id.into(), record.hash.as_i64().into(), self.page.at().into()]);
        to.extend(record.values);
        to.push(record.raw.into());
    }
}

fn count(rows: usize) -> u64 {
    u64::try_from(rows).unwrap_or(u64::MAX)
}
