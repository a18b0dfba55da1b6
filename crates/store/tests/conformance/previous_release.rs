//! The version before goes on beside this one while a rolling restart lasts, so the schema of this version serves the
//! statements of the last release.
//!
//! `tests/statements/VERSION.txt` has them, by the version of that release's schema. A release writes its own, and removes
//! those of versions from which nobody upgrades any more: `ESPELHO_RECORD_RELEASE=1 cargo nextest run -p espelho-store -E
//! 'test(a_record_reads_back)'`.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use espelho_store::statements_of;
use sqlx::{
    AssertSqlSafe, Column as _, Connection as _, Either, Executor as _, PgConnection, SqlSafeStr as _,
    Statement as _, TypeInfo as _,
};

use crate::{
    tables::Tables,
    world::{Older, World, up_to},
};

/// The sections of a file: the statements of both databases, and those of only one.
const BOTH: [&str; 2] = ["both, mirror", "both, inbox"];
const SQLITE: [&str; 2] = ["sqlite, mirror", "sqlite, inbox"];
const POSTGRES: [&str; 2] = ["postgres, mirror", "postgres, inbox"];

type Sections = BTreeMap<String, BTreeSet<String>>;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/statements")
}

/// The statements on record, by the version of their schema.
fn recorded() -> BTreeMap<i64, Sections> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        let version = path.file_stem().unwrap().to_string_lossy().parse().unwrap();
        all.insert(version, sections_of(&fs::read_to_string(&path).unwrap()));
    }
    assert!(!all.is_empty(), "no release is on record");
    all
}

/// The sections of a record.
fn sections_of(text: &str) -> Sections {
    let (mut sections, mut section) = (Sections::new(), String::new());
    for line in text.lines() {
        match line.strip_prefix("-- ") {
            Some(name) => name.clone_into(&mut section),
            None => drop(sections.entry(section.clone()).or_default().insert(line.to_owned())),
        }
    }
    sections
}

/// The statements of a section and of those that both databases share.
fn with_shared(sections: &Sections, own: [&str; 2]) -> [Vec<String>; 2] {
    let of = |name: &str| sections.get(name).into_iter().flatten().cloned();
    [0, 1].map(|part| of(BOTH[part]).chain(of(own[part])).collect())
}

/// The types of a statement's parameters and the names and types of its columns, as the server sees them.
async fn meaning(connection: &mut PgConnection, sql: &str) -> Result<String, sqlx::Error> {
    let statement = connection.prepare(AssertSqlSafe(sql.to_owned()).into_sql_str()).await?;
    let parameters: Vec<String> = match statement.parameters() {
        Some(Either::Left(types)) => types.iter().map(|kind| kind.name().to_owned()).collect(),
        _ => Vec::new(),
    };
    let columns = statement.columns().iter();
    let columns: Vec<String> =
        columns.map(|column| format!("{} {}", column.name(), column.type_info().name())).collect();
    Ok(format!("({}) -> ({})", parameters.join(", "), columns.join(", ")))
}

async fn meanings(url: &str, statements: &[String]) -> Vec<Result<String, String>> {
    let mut connection = PgConnection::connect(url).await.unwrap();
    let mut all = Vec::new();
    for sql in statements {
        all.push(meaning(&mut connection, sql).await.map_err(|error| error.to_string()));
    }
    connection.close().await.unwrap();
    all
}

#[tokio::test]
async fn the_statements_of_the_last_release_mean_on_this_schema_what_they_meant_on_postgres() {
    for (version, sections) in recorded() {
        let statements = with_shared(&sections, POSTGRES).concat();
        let older = Older::on_postgres(version, &[]).await;
        let url = older.url.clone();
        let before = meanings(&url, &statements).await;
        let world = older.open().await;
        let after = meanings(&url, &statements).await;
        for ((sql, before), after) in statements.iter().zip(before).zip(after) {
            assert!(before.is_ok(), "release {version} refuses its own statement: {before:?}\n{sql}");
            assert_eq!(after, before, "release {version} runs beside this version\n{sql}");
        }
        drop(world);
    }
}

#[tokio::test]
async fn the_statements_of_the_last_release_are_understood_by_this_schema_on_sqlite() {
    for (version, sections) in recorded() {
        let world = World::on_sqlite().await;
        let Tables::Sqlite(mirror) = &world.tables else { unreachable!() };
        // It reads both files.
        for sql in with_shared(&sections, SQLITE).concat() {
            let prepared = mirror.prepare(AssertSqlSafe(sql.clone()).into_sql_str()).await;
            assert!(prepared.is_ok(), "release {version}: {:?}\n{sql}", prepared.err());
        }
    }
}

/// A column that the release before does not write must be filled without it.
#[tokio::test]
async fn a_new_column_of_a_table_of_the_last_release_may_be_empty_or_has_a_default_on_postgres() {
    const COLUMNS: &str = "SELECT table_name || '.' || column_name, \
        CASE WHEN is_nullable = 'NO' AND column_default IS NULL AND is_identity = 'NO' AND is_generated = 'NEVER' \
        THEN 'required' ELSE 'optional' END, CAST(table_name AS TEXT) FROM information_schema.columns \
        WHERE table_schema = current_schema() ORDER BY 1";
    let columns = async |url: &str| {
        let tables = Tables::open(url).await;
        let rows = tables.texts(COLUMNS).await;
        tables.close().await;
        rows.into_iter()
            .map(|row| row.into_iter().map(Option::unwrap).collect())
            .collect::<Vec<Vec<String>>>()
    };
    for version in recorded().into_keys() {
        let older = Older::on_postgres(version, &[]).await;
        let url = older.url.clone();
        let before = columns(&url).await;
        let world = older.open().await;
        let known = |name: &String| before.iter().any(|column| column[0] == *name);
        let has_table = |table: &String| before.iter().any(|column| column[2] == *table);
        let mut looked_at = 0;
        for column in columns(&url).await {
            looked_at += 1;
            let is_new = has_table(&column[2]) && !known(&column[0]);
            assert!(!is_new || column[1] == "optional", "release {version} cannot write {}", column[0]);
        }
        assert!(looked_at > 200, "{looked_at} columns");
        drop(world);
    }
}

/// The record of this version, which its release keeps.
fn record_of([sqlite, postgres]: &[[BTreeSet<String>; 2]; 2]) -> String {
    let mut text = String::new();
    for part in 0..2 {
        let (ours, theirs) = (&sqlite[part], &postgres[part]);
        let sections: [(&str, Vec<&String>); 3] = [
            (BOTH[part], ours.intersection(theirs).collect()),
            (SQLITE[part], ours.difference(theirs).collect()),
            (POSTGRES[part], theirs.difference(ours).collect()),
        ];
        for (name, statements) in sections {
            text.push_str(&format!("-- {name}\n"));
            for sql in statements {
                text.push_str(&format!("{sql}\n"));
            }
        }
    }
    text
}

#[tokio::test]
async fn a_record_reads_back_as_it_was_written() {
    let worlds = [World::on_sqlite().await, World::on_postgres().await];
    let line = |sql: String| sql.replace('\n', " ");
    let statements = worlds.each_ref().map(|world| {
        statements_of(&world.store).map(|all| all.into_iter().map(line).collect::<BTreeSet<_>>())
    });
    let record = record_of(&statements);
    let read = sections_of(&record);
    for (own, expected) in [SQLITE, POSTGRES].into_iter().zip(&statements) {
        let back = with_shared(&read, own).map(|all| all.into_iter().collect::<BTreeSet<_>>());
        assert_eq!(back, *expected);
    }
    if std::env::var_os("ESPELHO_RECORD_RELEASE").is_some() {
        let all = up_to(i64::MAX, "postgres").await;
        let version = all.iter().map(|migration| migration.version).max().unwrap();
        fs::create_dir_all(folder()).unwrap();
        fs::write(folder().join(format!("{version:04}.txt")), record).unwrap();
    }
}
