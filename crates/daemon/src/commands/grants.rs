//! `espelho grants`: the SQL for the ERP's own role on PostgreSQL.

use espelho_model::text;
use espelho_sync_engine::{Problem, Trouble};
use serde_json::json;

use super::say;
use crate::{cli::Cli, config, exit};

/// Prints the SQL. It needs no configuration; one that can be read must not name SQLite, which knows no roles.
pub(super) fn run(cli: &Cli, role: &str) -> u8 {
    let configuration = config::load_without_secrets(&config::directory(cli.config.as_deref())).ok();
    let url = configuration.as_ref().map(|configuration| configuration.installation.database.url.as_str());
    if let Some(problem) = url.and_then(refusal) {
        return say(&problem, cli);
    }
    println!("{}", shown(espelho_store::grants(role), cli.json));
    exit::COMPLETE
}

/// Returns the SQL as it is printed: itself, or with `--json` as the one key of an object.
fn shown(sql: String, is_json: bool) -> String {
    if is_json { json!({ "sql": sql }).to_string() } else { sql }
}

/// Returns the reason why a database has no rights to grant.
fn refusal(url: &str) -> Option<Problem> {
    url.starts_with("sqlite:")
        .then(|| Problem::of(Trouble::Configuration, "usage", text!("run-grants-sqlite")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sql_is_printed_as_it_is_or_as_one_object() {
        let sql = || "GRANT SELECT ON \"orders\" TO erp;\n".to_owned();
        assert_eq!(shown(sql(), false), sql());
        assert_eq!(shown(sql(), true), r#"{"sql":"GRANT SELECT ON \"orders\" TO erp;\n"}"#);
    }

    #[test]
    fn only_postgresql_has_rights_to_grant() {
        for (url, is_refused) in [
            ("sqlite:espelho.db", true),
            ("sqlite:///srv/m.db", true),
            ("postgres://espelho@db/espelho", false),
            ("postgresql://espelho@db/espelho", false),
        ] {
            assert_eq!(refusal(url).is_some(), is_refused, "{url}");
        }
    }
}
