//! Groups rows by cause and by what to do about it, the most frequent cause first. Pure.

use chrono::{DateTime, Utc};
use espelho_model::{
    StoreKey,
    next_step::{PRICE_ZERO, RowAct, Rows, command_line, state_to_give_up},
    text,
    text::{Arg, Locale, Text},
    time::serialize_fixed_width,
};
use espelho_store::{ErrorRow, WaitingRow};
use serde::Serialize;

use crate::terminal::shown;

/// The number of names that a cause lists.
const NAMED: usize = 5;

/// One cause, and the rows that it affects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Cause {
    pub(crate) code: String,
    pub(crate) count: usize,
    /// The cause in words: of the only row, or of the first one.
    pub(crate) error: String,
    /// Whether all rows have the same text.
    #[serde(skip)]
    pub(crate) is_same: bool,
    /// True if all rows have the same next step. A step that names its row is that of the first row only.
    #[serde(skip)]
    is_same_step: bool,
    /// The message that all rows have, with other names.
    #[serde(skip)]
    message_id: Option<String>,
    /// The next step of the first row.
    pub(crate) hint: String,
    /// The tables of the rows, as in `v_errors`, and the key of the first row.
    #[serde(skip)]
    entities: Vec<String>,
    #[serde(skip)]
    key: String,
    /// The store of all rows, if it is one.
    #[serde(skip)]
    store: Option<String>,
    /// True if no other cause has its code: a command line that names the code concerns these rows alone.
    #[serde(skip)]
    has_own_code: bool,
    /// The affected orders, SKUs or other names, each once.
    pub(crate) names: Vec<String>,
    /// Since when the oldest row is in this state.
    #[serde(serialize_with = "serialize_fixed_width")]
    pub(crate) since: Option<DateTime<Utc>>,
}

/// A row from any of the tables.
struct Row<'r> {
    store: &'r str,
    entity: &'r str,
    key: &'r str,
    code: &'r str,
    error: &'r str,
    hint: &'r str,
    message_id: Option<&'r str>,
    subject: Option<&'r str>,
    since: Option<DateTime<Utc>>,
}

/// Groups errors, or what guards hold, by cause.
pub(crate) fn of_errors(rows: &[ErrorRow]) -> Vec<Cause> {
    grouped(rows.iter().map(|row| Row {
        store: &row.store,
        entity: &row.entity,
        key: &row.key,
        code: &row.code,
        error: &row.error,
        hint: &row.hint,
        message_id: row.message_id.as_deref(),
        subject: row.subject.as_deref(),
        since: row.at,
    }))
}

/// Groups waiting rows by reason.
pub(crate) fn of_waiting(rows: &[WaitingRow]) -> Vec<Cause> {
    grouped(rows.iter().map(|row| Row {
        store: &row.store,
        entity: &row.entity,
        key: &row.key,
        code: &row.code,
        error: &row.reason,
        hint: "",
        message_id: None,
        subject: Some(&row.subject),
        since: row.since,
    }))
}

fn grouped<'r>(rows: impl Iterator<Item = Row<'r>>) -> Vec<Cause> {
    let rows: Vec<Row<'_>> = rows.collect();
    let has_several_stores = rows.windows(2).any(|pair| pair[0].store != pair[1].store);
    let mut causes: Vec<Cause> = Vec::new();
    for row in rows {
        let name = match has_several_stores {
            true => format!("{} {}", row.store, name(row.entity, row.key, row.subject)),
            false => name(row.entity, row.key, row.subject),
        };
        // Rows with one cause may have other next steps: an adjustment in doubt is counted, another command looked at.
        let is_its =
            |cause: &&mut Cause| cause.code == row.code && cause.message_id.as_deref() == row.message_id;
        match causes.iter_mut().find(is_its) {
            Some(cause) => {
                cause.count += 1;
                cause.is_same &= cause.error == row.error;
                cause.is_same_step &= cause.hint == row.hint;
                if !cause.entities.iter().any(|entity| entity == row.entity) {
                    cause.entities.push(row.entity.to_owned());
                }
                cause.store = cause.store.take().filter(|store| store == row.store);
                cause.since = [cause.since, row.since].into_iter().flatten().min();
                if !cause.names.contains(&name) {
                    cause.names.push(name);
                }
            }
            None => causes.push(Cause {
                code: row.code.to_owned(),
                count: 1,
                error: row.error.to_owned(),
                is_same: true,
                is_same_step: true,
                message_id: row.message_id.map(str::to_owned),
                hint: row.hint.to_owned(),
                entities: vec![row.entity.to_owned()],
                key: row.key.to_owned(),
                store: Some(row.store.to_owned()),
                has_own_code: true,
                names: vec![name],
                since: row.since,
            }),
        }
    }
    let codes: Vec<String> = causes.iter().map(|cause| cause.code.clone()).collect();
    for cause in &mut causes {
        cause.has_own_code = codes.iter().filter(|code| **code == cause.code).count() == 1;
    }
    causes.sort_by_key(|cause| std::cmp::Reverse(cause.count));
    causes
}

/// Returns the name of a cause; the catalogue knows none of a code that is nobody's. The marketplace's codes are in
/// capitals: of those that its document does not list, nothing is known but who said them.
pub(crate) fn name_of(code: &str) -> Text {
    let name = Text::new(format!("errors-code-{}", code.replace('_', "-").to_lowercase()));
    let status =
        |family: &str| code.strip_prefix(family).filter(|status: &&str| status.parse::<u16>().is_ok());
    let is_of_marketplace = code.starts_with(|letter: char| letter.is_ascii_uppercase())
        && !code.contains(|letter: char| !matches!(letter, 'A'..='Z' | '0'..='9' | '_'));
    match (status("http_"), status("file_http_")) {
        _ if name.is_known() => name,
        (Some(status), _) => text!("errors-http", status = status),
        (_, Some(status)) => text!("errors-http-of-file", status = status),
        _ if is_of_marketplace => text!("errors-refused"),
        _ => name,
    }
}

/// Returns a row's name for people: an order, a SKU, or the subject of a command.
pub(crate) fn name(entity: &str, key: &str, subject: Option<&str>) -> String {
    match (entity, subject) {
        ("stock" | "price", _) => key.rsplit_once('/').map_or(key, |(sku, _)| sku).to_owned(),
        (_, Some(subject)) if !subject.is_empty() => subject.to_owned(),
        ("order" | "product", _) => key.to_owned(),
        _ => format!("{entity} {key}"),
    }
}

impl Cause {
    /// Returns the line of an error: count, cause, names.
    pub(crate) fn line(&self, locale: Locale) -> String {
        let (names, more) = self.listed();
        let title = self.title().map_or_else(|| shown(&self.error), |title| title.message(locale));
        let (code, count) = (self.code.as_str(), self.count);
        match more {
            0 => text!("errors-cause", count = count, title = title, code = code, names = names),
            _ => text!(
                "errors-cause-more",
                count = count,
                title = title,
                code = code,
                names = names,
                more = more
            ),
        }
        .message(locale)
    }

    /// Returns the line of a waiting cause, with its age.
    pub(crate) fn waiting_line(&self, locale: Locale, now: DateTime<Utc>) -> String {
        let age = self.since.map_or(0, |since| (now - since).num_seconds());
        text!("errors-waiting", line = self.line(locale), age = Arg::Seconds(age)).message(locale)
    }

    /// Returns the next step: of all rows, or of the first one, by its name. Where nothing else may end them, it also says
    /// how to give them up.
    pub(crate) fn next_step(&self) -> Text {
        let step = match self.names.first().filter(|_| !self.is_same_step) {
            Some(name) => text!("errors-next-step-of", name = shown(name), step = shown(&self.hint)),
            None => text!("intents-next-step", step = shown(&self.hint)),
        };
        let single = match (self.count, self.entities.as_slice()) {
            (1, [entity]) => Some(Rows::One { entity, key: &self.key }),
            _ if !self.has_own_code => return step,
            _ => None,
        };
        let affected = AffectedRows {
            code: &self.code,
            message_id: self.message_id.as_deref(),
            entities: &self.entities,
            count: self.count,
            single,
            store: self.store.as_deref(),
            hint: &self.hint,
        };
        affected.with_way_to_give_up(step)
    }

    /// Returns the name of the cause if the texts of its rows differ.
    pub(crate) fn title(&self) -> Option<Text> {
        let title = name_of(&self.code);
        (!self.is_same && title.is_known()).then_some(title)
    }

    fn listed(&self) -> (String, usize) {
        let names: Vec<String> = self.names.iter().take(NAMED).map(|name| shown(name)).collect();
        (names.join(", "), self.names.len().saturating_sub(NAMED))
    }
}

/// Returns the next step of one row, with how to give it up where nothing else may end it.
pub(crate) fn next_step_of(row: &ErrorRow) -> Text {
    let ErrorRow { store, entity, key, code, hint, message_id, .. } = row;
    let step = text!("intents-next-step", step = shown(hint));
    let affected = AffectedRows {
        code,
        message_id: message_id.as_deref(),
        entities: std::slice::from_ref(entity),
        count: 1,
        single: Some(Rows::One { entity, key }),
        store: Some(store.as_str()),
        hint,
    };
    affected.with_way_to_give_up(step)
}

/// The messages of prices of zero that a guard holds. The others are about one that the marketplace shows: to give up the
/// ERP's price, or to delete its row, would leave the product for sale at nothing, and nobody would be told any more.
const HELD_ZERO: [&str; 2] = ["push-price-zero", "push-price-zero-of"];

/// The rows of a cause, as a next step addresses them.
struct AffectedRows<'r> {
    code: &'r str,
    /// The message that all rows have.
    message_id: Option<&'r str>,
    /// The tables of the rows, as in `v_errors`.
    entities: &'r [String],
    count: usize,
    /// The row if it is a single one; else a command line addresses all rows of the cause.
    single: Option<Rows<'r>>,
    /// The store of all rows, if it is one.
    store: Option<&'r str>,
    /// The next step of the first row.
    hint: &'r str,
}

impl AffectedRows<'_> {
    /// Adds to a next step how to give the rows up for good, where nothing else may end them: only that is left beside a
    /// correction, another row mends what failed, or a guard holds a slip of the ERP.
    fn with_way_to_give_up(self, step: Text) -> Text {
        let Self { code, message_id, entities, count, single, store, hint } = self;
        // Some steps name it themselves.
        if hint.contains(" ignore ") {
            return step;
        }
        if code == PRICE_ZERO && !message_id.is_some_and(|message| HELD_ZERO.contains(&message)) {
            return step;
        }
        let table_of = |entity: &String| match entity.as_str() {
            "stock" => Some("erp_stock"),
            "price" => Some("erp_prices"),
            "command" => Some("commands"),
            _ => None,
        };
        let tables: Option<Vec<&str>> = entities.iter().map(table_of).collect();
        let states: Option<Vec<_>> = entities.iter().map(|entity| state_to_give_up(code, entity)).collect();
        let (Some(tables), Some(states)) = (tables, states) else { return step };
        // The ERP may have written any text as a store: no command line takes what is no name of one.
        if store.is_some_and(|store| StoreKey::new(store).is_err()) {
            return step;
        }
        let Some(state) = states.first().copied() else { return step };
        let ignore = command_line(RowAct::Ignore, single.unwrap_or(Rows::OfGroup(state, code)), store);
        // A command is a record of what was asked for: its row stays.
        match tables.contains(&"commands") {
            true => text!("errors-or-give-up", step = step, ignore = shown(&ignore)),
            false => {
                let tables = tables.join(", ");
                text!(
                    "errors-or-delete",
                    step = step,
                    count = count,
                    tables = tables,
                    ignore = shown(&ignore)
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(minute: u32) -> DateTime<Utc> {
        DateTime::from_timestamp(1_800_000_000 + i64::from(minute) * 60, 0).unwrap()
    }

    fn row(entity: &str, key: &str, code: &str, error: &str, subject: Option<&str>) -> ErrorRow {
        let [store, entity, key, code, error] = ["loja", entity, key, code, error].map(str::to_owned);
        let (hint, kind, subject) = ("passo".to_owned(), None, subject.map(str::to_owned));
        let message_id = None;
        ErrorRow { store, entity, key, code, error, hint, at: Some(at(0)), kind, subject, message_id }
    }

    #[test]
    fn every_code_of_the_marketplace_has_a_name_and_a_code_that_is_nobodys_has_none() {
        for (code, expected) in [
            ("NOT_FOUND", Some("não existe no marketplace")),
            ("unknown_sku", Some("SKU desconhecido")),
            ("SELLER_2_SUSPENDED", Some("recusado pelo marketplace")),
            ("http_503", Some("o marketplace respondeu 503")),
            ("file_http_404", Some("o servidor de arquivos respondeu 404")),
            ("http_x", None),
            ("teleported", None),
            ("<SCRIPT>", None),
            ("", None),
        ] {
            let name = name_of(code);
            let said = name.is_known().then(|| name.message(Locale::default()));
            assert_eq!(said.as_deref(), expected, "{code}");
        }
    }

    #[test]
    fn rows_of_one_cause_are_one_line_with_the_count_first() {
        let unknown = |n: usize| {
            let sku = format!("CAN-{n:02}");
            row("stock", &format!("{sku}/1"), "unknown_sku", &format!("não há {sku}"), None)
        };
        let mut rows = vec![row("command", "8", "http_500", "sem resposta", Some("000100"))];
        rows.extend((1..=12).map(unknown));
        let causes = of_errors(&rows);
        let lines: Vec<String> = causes.iter().map(|cause| cause.line(Locale::default())).collect();
        assert_eq!(
            lines,
            [
                "12 × SKU desconhecido (unknown_sku): CAN-01, CAN-02, CAN-03, CAN-04, CAN-05 … e mais 7",
                "1 × sem resposta (http_500): 000100",
            ]
        );
        assert_eq!(causes[0].hint, "passo");
    }

    #[test]
    fn rows_with_other_next_steps_are_other_causes_and_a_step_names_its_row() {
        let doubtful = |key: &str, subject: &str, message: &str| ErrorRow {
            hint: format!("espelho retry command {key}"),
            message_id: Some(message.to_owned()),
            ..row("command", key, "doubtful", "nada prova", Some(subject))
        };
        let causes = of_errors(&[
            doubtful("6", "CAN-01", "push-movement-doubtful"),
            doubtful("7", "tabela", "push-doubtful"),
            doubtful("8", "CAN-02", "push-movement-doubtful"),
        ]);
        let told: Vec<(usize, String)> =
            causes.iter().map(|cause| (cause.count, cause.next_step().message(Locale::default()))).collect();
        assert_eq!(
            told,
            [
                (2, "próximo passo de CAN-01: espelho retry command 6".to_owned()),
                (1, "próximo passo: espelho retry command 7".to_owned()),
            ]
        );
    }

    #[test]
    fn what_never_mends_by_itself_says_how_to_be_rid_of_it() {
        let said = |rows: &[ErrorRow]| of_errors(rows)[0].next_step().message(Locale::default());
        let stock = |key: &str| row("stock", key, "unknown_sku", "e", None);
        let price = || row("price", "CAN-01/1", "unknown_sku", "e", None);
        let command = |code: &str| row("command", "8", code, "e", Some("000100"));
        for (rows, table, ignore) in [
            (vec![stock("CAN-01/1")], Some("erp_stock"), Some("espelho ignore stock CAN-01/1 --store loja")),
            (
                vec![stock("CAN-01/1"), stock("CAN-02/1"), price()],
                Some("erp_stock, erp_prices"),
                Some("espelho ignore --all --state failed --code unknown_sku --store loja"),
            ),
            (vec![command("invalid_data")], None, Some("espelho ignore command 8 --store loja")),
            (vec![stock("CAN-01/1"), command("unknown_sku")], None, None),
            (vec![command("gave_up")], None, None),
            (vec![command("too_little_stock")], None, Some("espelho ignore command 8 --store loja")),
            (vec![command("NOT_FOUND")], None, Some("espelho ignore command 8 --store loja")),
            (
                vec![
                    row("stock", "CAN-01/1", "many_to_zero", "e", None),
                    row("stock", "CAN-02/1", "many_to_zero", "e", None),
                ],
                Some("erp_stock"),
                Some("espelho ignore --all --state held --code many_to_zero --store loja"),
            ),
            (vec![row("order", "000100", "invalid_data", "e", None)], None, None),
        ] {
            let said = said(&rows);
            assert!(said.starts_with("próximo passo: passo"), "{said}");
            assert_eq!(said.contains("apague"), table.is_some(), "{said}");
            assert!(table.is_none_or(|table| said.contains(table)), "{said}");
            assert_eq!(said.contains(" ignore "), ignore.is_some(), "{said}");
            assert!(ignore.is_none_or(|ignore| said.ends_with(&format!("{ignore})"))), "{said}");
        }
        let nameless =
            |store: &str| ErrorRow { store: store.into(), code: "unknown_store".into(), ..stock("CAN-01/1") };
        assert!(said(&[nameless("outra")]).ends_with("espelho ignore stock CAN-01/1 --store outra)"));
        assert_eq!(said(&[nameless("Loja 1; rm")]), "próximo passo: passo", "no command line takes it");
        let of_message = |row: ErrorRow, id: &str| ErrorRow { message_id: Some(id.into()), ..row };
        let causes = of_errors(&[
            of_message(stock("CAN-01/1"), "push-unknown-sku"),
            of_message(stock("CAN-02/1"), "push-unknown-sku"),
            of_message(command("unknown_sku"), "push-unknown-sku-command"),
        ]);
        let steps: Vec<String> =
            causes.iter().map(|cause| cause.next_step().message(Locale::default())).collect();
        assert!(!steps.join(" ").contains("ignore"), "the code is that of other rows too: {steps:?}");
        let one = next_step_of(&stock("CAN-01/1")).message(Locale::default());
        assert_eq!(one, said(&[stock("CAN-01/1")]));
        let rows = |count: usize| said(&["CAN-01/1", "CAN-02/1", "CAN-03/1"].map(stock)[..count]);
        assert!(rows(1).contains("apague a linha de erp_stock"), "{}", rows(1));
        assert!(rows(3).contains("apague as linhas de erp_stock"), "{}", rows(3));
    }

    #[test]
    fn a_step_that_names_how_to_give_up_says_it_once() {
        let hint = "desista do comando: espelho ignore command 8 --store loja".to_owned();
        let row = ErrorRow { hint, ..row("command", "8", "impossible_transition", "e", Some("000100")) };
        for said in [next_step_of(&row), of_errors(std::slice::from_ref(&row))[0].next_step()] {
            let said = said.message(Locale::default());
            assert_eq!(said.matches(" ignore ").count(), 1, "{said}");
        }
    }

    #[test]
    fn what_guards_hold_is_one_cause_with_the_release_and_the_way_to_give_it_up() {
        let held = |sku: &str| ErrorRow {
            hint: format!("espelho release --all; só este: espelho release stock {sku}/1"),
            message_id: Some("push-too-many-to-zero".into()),
            ..row("stock", &format!("{sku}/1"), "many_to_zero", "iriam a zero", Some(sku))
        };
        let causes = of_errors(&[held("CAN-01"), held("CAN-02"), held("CAN-03")]);
        assert_eq!(causes.len(), 1);
        let line = causes[0].line(Locale::default());
        assert_eq!(line, "3 × iriam a zero (many_to_zero): CAN-01, CAN-02, CAN-03");
        let next = causes[0].next_step().message(Locale::default());
        for words in
            ["só este: espelho release stock CAN-01/1", "ignore --all --state held --code many_to_zero"]
        {
            assert!(next.contains(words), "{next}");
        }
    }

    #[test]
    fn a_price_of_zero_that_the_marketplace_shows_is_mended_and_not_given_up() {
        let zero = |message: Option<&str>| ErrorRow {
            message_id: message.map(str::to_owned),
            ..row("price", "CAN-01/1", "price_zero", "zero", None)
        };
        for (message, is_held) in [
            (Some("push-price-zero-of"), true),
            (Some("push-price-zero"), true),
            (Some("push-price-shown-zero"), false),
            (Some("push-price-zero-and-rule"), false),
            (Some("store-price-zero"), false),
            // A row of an earlier version may be any of them.
            (None, false),
        ] {
            let one = next_step_of(&zero(message)).message(Locale::default());
            let all = of_errors(&[zero(message), zero(message)])[0].next_step().message(Locale::default());
            for said in [one, all] {
                assert_eq!(said.contains(" ignore ") && said.contains("erp_prices"), is_held, "{said}");
                assert!(is_held || said == "próximo passo: passo", "{said}");
            }
        }
    }

    #[test]
    fn a_row_is_named_by_what_people_know() {
        for (entity, key, subject, expected) in [
            ("stock", "A/B/1", None, "A/B"),
            ("price", "CAN-01/5", None, "CAN-01"),
            ("command", "8", Some("000100"), "000100"),
            ("command", "8", Some(""), "command 8"),
            ("order", "000100", None, "000100"),
            ("shipment_label", "77", Some("000100"), "000100"),
            ("webhooks", "ab12", None, "webhooks ab12"),
        ] {
            assert_eq!(name(entity, key, subject), expected);
        }
    }

    #[test]
    fn what_waits_is_told_with_its_reason_and_the_age_of_the_oldest() {
        let waiting = |key: &str, minute| WaitingRow {
            store: "loja".into(),
            entity: "command".into(),
            key: key.into(),
            code: "waiting_invoice".into(),
            reason: "aguardando a NF-e".into(),
            since: Some(at(minute)),
            kind: "order.status".into(),
            subject: format!("000{key}"),
        };
        let causes = of_waiting(&[waiting("1", 30), waiting("2", 0)]);
        let line = causes[0].waiting_line(Locale::default(), at(90));
        assert_eq!(line, "2 × aguardando a NF-e (waiting_invoice): 0001, 0002; há 90 min");
    }

    #[test]
    fn stores_are_named_where_there_are_several() {
        let other = ErrorRow { store: "outra".into(), ..row("order", "2", "x", "e", None) };
        let causes = of_errors(&[row("order", "1", "x", "e", None), other]);
        assert_eq!(causes[0].names, ["loja 1", "outra 2"]);
    }
}
