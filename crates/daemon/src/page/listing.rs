//! The pages that are lists: orders, errors, the queue, deliveries, and what a search has found.

use askama::Template;
use chrono::{DateTime, Utc};
use espelho_model::{
    next_step::{self, RowAct, UNKNOWN_STORE, quoted},
    program,
    push::PushState,
    text,
    text::{Text, words as catalogue},
};
use espelho_store::{DeliveryRow, ErrorRow, ListedOrder, QueuedRow, RowsInTrouble, WaitingRow};

use super::{
    frame::{Fragment, Page, Reader, framed},
    mending::{Line, Mend, Trouble, mends},
    sheet::{Cell, Sheet},
    words::{Words, encoded, order_address, store_address, story_address},
};
use crate::{acts::Deed, causes, terminal::shown};

/// The rows that a list shows; one more is read, to know whether there are more.
pub(crate) const ROWS: u32 = 200;
/// The causes that the page of errors names.
const NAMED: usize = 4;

/// The filter of a list, by the names that the command line and the views use.
#[derive(Clone, Debug, Default, serde::Deserialize)]
#[serde(default)]
pub(crate) struct Filter {
    pub(crate) store: Option<String>,
    /// A cause; `code` means the same.
    #[serde(alias = "code")]
    pub(crate) causa: Option<String>,
    pub(crate) state: Option<String>,
    pub(crate) status: Option<String>,
    pub(crate) event: Option<String>,
    /// `open`, `dispatch`, `invoice` or `not_taken`.
    pub(crate) list: Option<String>,
    pub(crate) q: Option<String>,
}

/// A choice of a list, with its address.
struct Chip {
    label: String,
    href: String,
    is_here: bool,
}

#[derive(Template)]
#[template(path = "listing.html", whitespace = "minimize")]
struct Listing {
    heading: String,
    chips: Vec<Chip>,
    mends: Vec<Line>,
    sheets: Vec<Sheet>,
    /// The sentence of an empty list.
    none: String,
}

impl Filter {
    fn word(value: &Option<String>) -> &str {
        value.as_deref().unwrap_or_default()
    }

    pub(crate) fn code(&self) -> &str {
        Self::word(&self.causa)
    }

    pub(crate) fn state(&self) -> &str {
        Self::word(&self.state)
    }

    pub(crate) fn status(&self) -> &str {
        Self::word(&self.status)
    }

    pub(crate) fn event(&self) -> &str {
        Self::word(&self.event)
    }

    pub(crate) fn list(&self) -> &str {
        Self::word(&self.list)
    }

    /// Returns the address of a list with the same store.
    fn address(&self, path: &str, pairs: &[(&str, &str)]) -> String {
        let own = self.store.as_deref().map(|store| ("store", store));
        let pairs = pairs.iter().copied().chain(own).filter(|(_, value)| !value.is_empty());
        let pairs: Vec<String> = pairs.map(|(name, value)| format!("{name}={}", encoded(value))).collect();
        if pairs.is_empty() { path.to_owned() } else { format!("{path}?{}", pairs.join("&")) }
    }

    /// Returns the choice of all stores, where one is chosen.
    fn all_stores(&self, path: &str) -> Option<Chip> {
        let store = self.store.as_deref()?;
        let label = format!("{} ✕", shown(store));
        Some(Chip { label, href: path.to_owned(), is_here: true })
    }
}

impl Listing {
    fn new(heading: &Text, none: &Text, words: Words) -> Self {
        Self {
            heading: words.say(heading),
            chips: Vec::new(),
            mends: Vec::new(),
            sheets: Vec::new(),
            none: words.say(none),
        }
    }

    fn page(mut self, reader: &Reader) -> Page {
        self.sheets.retain(|sheet| !sheet.rows.is_empty());
        let title = format!("{} · espelho", self.heading);
        framed(title, "list", &[Fragment::new("list", &self)], false, reader)
    }
}

/// Returns the sentence that there are more rows than are shown.
fn cut_off(rows: usize, words: Words) -> Option<String> {
    (rows > ROWS as usize).then(|| words.say(&text!("page-first-rows", count = ROWS)))
}

fn time(at: Option<DateTime<Utc>>, words: Words) -> Cell {
    Cell::new(at.map_or_else(|| "–".to_owned(), |at| words.0.time(at)))
}

fn of_store(store: &str) -> Cell {
    Cell::foreign(store).to(store_address(store))
}

/// Returns the address of what a row is about.
pub(super) fn thing_address(store: &str, entity: &str, key: &str) -> String {
    match entity {
        "order" | "orders" => order_address(store, key),
        "stock" | "price" => {
            let sku = key.rsplit_once('/').map_or(key, |(sku, _)| sku);
            story_address(store, "product", sku)
        }
        _ => story_address(store, entity, key),
    }
}

/// `/pedidos`. `unread` says that the mirror was never complete: an empty list proves nothing then.
pub(crate) fn orders(
    rows: &[ListedOrder],
    unread: Option<&Text>,
    filter: &Filter,
    now: DateTime<Utc>,
    reader: &Reader,
) -> Page {
    let words = Words(reader.locale);
    let none = text!("page-no-orders");
    let mut page = Listing::new(&text!("page-orders"), unread.unwrap_or(&none), words);
    let lists = [
        ("", text!("page-list-open")),
        ("dispatch", text!("page-dispatch")),
        ("invoice", text!("page-invoices")),
        ("not_taken", text!("page-list-not-taken")),
    ];
    page.chips.extend(lists.map(|(list, label)| Chip {
        label: words.say(&label),
        href: filter.address("/pedidos", &[("list", list)]),
        is_here: filter.list() == list && filter.status().is_empty(),
    }));
    if !filter.status().is_empty() {
        let label = format!("{} ✕", words.order_status(filter.status()));
        page.chips.push(Chip { label, href: filter.address("/pedidos", &[]), is_here: true });
    }
    page.chips.extend(filter.all_stores("/pedidos"));
    let columns = [
        (text!("page-order"), false),
        (text!("status-store"), false),
        (text!("page-status"), false),
        (text!("page-total"), true),
        (text!("page-placed"), false),
        (text!("page-ship-by"), false),
    ];
    let mut sheet = Sheet::new(&text!("page-orders"), &columns, words.0);
    sheet.rows.extend(rows.iter().take(ROWS as usize).map(|row| {
        let is_late = filter.list() == "dispatch" && row.ship_by.is_some_and(|at| at < now);
        let late = is_late.then(|| words.say(&text!("page-is-late")));
        vec![
            Cell::foreign(&row.number).to(order_address(&row.store, &row.number)),
            of_store(&row.store),
            Cell::new(words.order_status(&row.status)),
            Cell::new(row.total.map_or_else(|| "–".to_owned(), |total| words.0.money(total))),
            time(row.created_at, words),
            time(row.ship_by, words).bad_if(is_late).with_note(late),
        ]
    }));
    sheet.foot = cut_off(rows.len(), words);
    page.sheets.push(sheet);
    page.page(reader)
}

/// Returns the trouble of the rows of the cause that a filter names: those that guards hold are released, those that
/// failed are tried again, those in doubt are decided one by one; others mend themselves.
fn trouble<'f>(groups: &[RowsInTrouble], has_errors: bool, filter: &'f Filter) -> Trouble<'f> {
    let is_shown = |group: &&RowsInTrouble| {
        group.code == filter.code() && filter.store.as_deref().is_none_or(|store| store == group.store)
    };
    let has = |state: &str| {
        groups
            .iter()
            .filter(is_shown)
            .any(|group| group.state == state && next_step::is_intent(&group.entity))
    };
    let code = match has_errors {
        false => "waiting",
        true if has("held") => "held",
        true if has("doubtful") && !has("failed") => "doubtful",
        true => "failed",
    };
    Trouble {
        code,
        cause: filter.code(),
        store: filter.store.as_deref(),
        can_retry: has("failed"),
        row: None,
    }
}

/// `/erros`: the causes, or the rows of one; `groups` are the rows in trouble.
pub(crate) fn errors(
    errors: &[ErrorRow],
    waiting: &[WaitingRow],
    groups: &[RowsInTrouble],
    filter: &Filter,
    reader: &Reader,
) -> Page {
    let words = Words(reader.locale);
    let mut page = Listing::new(&text!("page-errors"), &text!("errors-none"), words);
    page.chips.extend(filter.all_stores("/erros"));
    if filter.code().is_empty() {
        page.sheets.push(causes_of(causes::of_errors(errors), &text!("page-causes"), filter, words));
    } else {
        page.chips.push(Chip {
            label: format!("{} ✕", shown(filter.code())),
            href: filter.address("/erros", &[]),
            is_here: true,
        });
        let elsewhere = |href: &String| !href.starts_with("/erros");
        let line = |mend: Mend| Mend { href: mend.href.filter(elsewhere), ..mend }.line(words);
        page.mends = mends(trouble(groups, !errors.is_empty(), filter)).into_iter().map(line).collect();
        page.sheets.push(error_rows(errors, groups, words));
    }
    let waiting = causes_of(causes::of_waiting(waiting), &text!("page-waiting"), filter, words);
    page.sheets.push(waiting);
    page.page(reader)
}

fn causes_of(causes: Vec<causes::Cause>, title: &Text, filter: &Filter, words: Words) -> Sheet {
    let columns = [
        (text!("page-count"), true),
        (text!("page-cause"), false),
        (text!("page-names"), false),
        (text!("page-since"), false),
    ];
    let mut sheet = Sheet::new(title, &columns, words.0);
    sheet.rows.extend(causes.into_iter().map(|cause| {
        let title = cause.title().map_or_else(|| shown(&cause.error), |title| words.say(&title));
        let named = cause.names.iter().take(NAMED).map(|name| shown(name)).collect::<Vec<_>>().join(", ");
        let more = cause.names.len().saturating_sub(NAMED);
        let names = match more {
            0 => named,
            more => format!("{named} … {}", words.say(&text!("page-and-more", count = more))),
        };
        let step = if cause.hint.is_empty() { shown(&cause.code) } else { words.say(&cause.next_step()) };
        vec![
            Cell::new(words.number(cause.count as u64)),
            Cell::new(title).to(filter.address("/erros", &[("causa", &cause.code)])).with_note(Some(step)),
            Cell::new(names),
            time(cause.since, words),
        ]
    }));
    sheet
}

/// Returns the rows of a cause, each with the acts that end its trouble; `groups` say in which state they are.
fn error_rows(errors: &[ErrorRow], groups: &[RowsInTrouble], words: Words) -> Sheet {
    let columns = [
        (text!("page-what"), false),
        (text!("status-store"), false),
        (text!("page-error"), false),
        (text!("page-since"), false),
        (text!("page-act"), false),
        (text!("page-act-else"), false),
    ];
    let mut sheet = Sheet::new(&text!("page-errors"), &columns, words.0);
    sheet.rows.extend(errors.iter().take(ROWS as usize).map(|row| {
        let name = causes::name(&row.entity, &row.key, row.subject.as_deref());
        let state = state_of(row, groups).unwrap_or_default();
        let acting = Acting { entity: &row.entity, key: &row.key, store: &row.store, code: &row.code, state };
        let (mends, ends) = acting.deeds();
        let about = format!("{} {}", words.entity(&row.entity), shown(&row.key));
        vec![
            Cell::foreign(&name).to(thing_address(&row.store, &row.entity, &row.key)).with_note(Some(about)),
            of_store(&row.store),
            Cell::foreign(&row.error).with_note(Some(shown(&row.hint)).filter(|hint| !hint.is_empty())),
            time(row.at, words),
            acting.cell(mends, words),
            acting.cell(ends, words),
        ]
    }));
    sheet.foot = cut_off(errors.len(), words);
    sheet
}

/// Returns the state of a row, where all rows of its table and store with its cause are in one state.
fn state_of<'g>(row: &ErrorRow, groups: &'g [RowsInTrouble]) -> Option<&'g str> {
    let is_its = |group: &&RowsInTrouble| {
        next_step::is_intent(&group.entity)
            && (&group.store, &group.entity, &group.code) == (&row.store, &row.entity, &row.code)
    };
    let mut states = groups.iter().filter(is_its).map(|group| group.state.as_str());
    states.next().filter(|_| states.next().is_none())
}

/// `/fila`: the ERP's rows that are not done.
pub(crate) fn queue(rows: &[QueuedRow], filter: &Filter, reader: &Reader) -> Page {
    let words = Words(reader.locale);
    let is_filtered = filter.store.is_some() || !filter.state().is_empty();
    let none = if is_filtered { text!("page-no-rows-shown") } else { text!("page-nothing-open") };
    let mut page = Listing::new(&text!("page-queue"), &none, words);
    page.chips.push(Chip {
        label: words.say(&text!("page-all")),
        href: filter.address("/fila", &[]),
        is_here: filter.state().is_empty(),
    });
    page.chips.extend(["new", "waiting", "sending", "failed", "held", "doubtful", "ignored"].map(|state| {
        Chip {
            label: words.say(&catalogue::push_state(state)),
            href: filter.address("/fila", &[("state", state)]),
            is_here: filter.state() == state,
        }
    }));
    page.chips.extend(filter.all_stores("/fila"));
    if filter.state() == "ignored" && !rows.is_empty() {
        let of_store = next_step::option_of(filter.store.as_deref());
        page.mends.push(Line {
            does: words.say(&text!("page-mend-bring-back-all")),
            command: Some(shown(&format!("{} retry --all --ignored{of_store}", program::call()))),
            href: None,
        });
    }
    page.sheets.push(intents(rows, &text!("status-erp"), words));
    page.page(reader)
}

/// Returns the table of rows of the ERP, each with the acts that end its trouble.
pub(super) fn intents(rows: &[QueuedRow], title: &Text, words: Words) -> Sheet {
    let columns = [
        (text!("page-what"), false),
        (text!("status-store"), false),
        (text!("status-state"), false),
        (text!("page-error"), false),
        (text!("page-since"), false),
        (text!("page-act"), false),
        (text!("page-act-else"), false),
    ];
    let mut sheet = Sheet::new(title, &columns, words.0);
    sheet.rows.extend(rows.iter().take(ROWS as usize).map(|row| {
        let (entity, key, store) = (&row.entity, &row.key, &row.store);
        let acting = Acting { entity, key, store, code: &row.code, state: &row.state };
        let (mends, ends) = acting.deeds();
        let name = if row.subject.is_empty() { &row.key } else { &row.subject };
        let about = format!("{} {}", words.entity(&row.entity), shown(&row.key));
        let is_bad = matches!(row.state.as_str(), "failed" | "held" | "doubtful");
        let error = Cell::foreign(if row.error.is_empty() { "–" } else { &row.error });
        vec![
            Cell::foreign(name).to(thing_address(&row.store, &row.entity, &row.key)).with_note(Some(about)),
            of_store(&row.store),
            Cell::new(shown(&words.say(&catalogue::push_state(&row.state)))).bad_if(is_bad),
            // The next step of an ignored row may be the release that somebody has refused.
            error.with_note(
                Some(shown(&row.hint))
                    .filter(|hint| !hint.is_empty() && row.state != PushState::Ignored.as_str()),
            ),
            time(row.since, words),
            acting.cell(mends, words),
            acting.cell(ends, words),
        ]
    }));
    sheet.foot = cut_off(rows.len(), words);
    sheet
}

/// A row of the ERP that somebody may act on.
struct Acting<'r> {
    entity: &'r str,
    key: &'r str,
    store: &'r str,
    code: &'r str,
    state: &'r str,
}

impl Acting<'_> {
    /// Returns the act that lets the row go on, and the one that ends it as it is: given up, or in doubt and seen to have
    /// happened.
    fn deeds(&self) -> (Option<Deed>, Option<Deed>) {
        let Ok(state) = self.state.parse::<PushState>() else { return (None, None) };
        let acts = next_step::acts(state, self.code, Some(self.entity));
        let deed = |is_end: bool| {
            let act = acts.iter().find(|act| (**act == RowAct::Ignore) == is_end)?;
            Deed::of(*act, state)
        };
        (deed(false), deed(true))
    }

    /// Returns the link to the question before an act. Rows of stores that no configuration has are one cause.
    fn cell(&self, deed: Option<Deed>, words: Words) -> Cell {
        let Some(deed) = deed else { return Cell::new("–") };
        let act = deed.word();
        let rows = match self.code {
            UNKNOWN_STORE => format!("state={}&causa={UNKNOWN_STORE}", encoded(self.state)),
            _ => {
                let (entity, key, store) = (encoded(self.entity), encoded(self.key), encoded(self.store));
                format!("entity={entity}&key={key}&store={store}")
            }
        };
        Cell::new(words.say(&deed.name())).to(format!("/acao?act={act}&{rows}"))
    }
}

/// `/webhooks`: the newest deliveries; `handled` is how many a replay would open again.
pub(crate) fn deliveries(rows: &[DeliveryRow], handled: u64, filter: &Filter, reader: &Reader) -> Page {
    let words = Words(reader.locale);
    let is_filtered = filter.store.is_some() || !filter.state().is_empty() || !filter.event().is_empty();
    let none = if is_filtered { text!("page-no-webhooks-shown") } else { text!("page-no-webhooks") };
    let mut page = Listing::new(&text!("page-webhooks"), &none, words);
    for (state, label) in [
        ("", text!("page-all")),
        ("open", text!("page-delivery-open")),
        ("handled", text!("page-delivery-handled")),
    ] {
        page.chips.push(Chip {
            label: words.say(&label),
            href: filter.address("/webhooks", &[("state", state)]),
            is_here: filter.state() == state,
        });
    }
    if !filter.event().is_empty() {
        let label = format!("{} ✕", shown(filter.event()));
        page.chips.push(Chip { label, href: filter.address("/webhooks", &[]), is_here: true });
    }
    page.chips.extend(filter.all_stores("/webhooks"));
    let acts = filter.address("/acao", &[("act", "replay"), ("event", filter.event())]);
    let event = if filter.event().is_empty() {
        String::new()
    } else {
        format!(" --event {}", quoted(filter.event()))
    };
    let store = next_step::option_of(filter.store.as_deref());
    // Those in the queue are handled by themselves: there is nothing to open again.
    if filter.state() != "open" && handled > 0 {
        let does = match handled > u64::from(ROWS) {
            true => text!("page-mend-replay-many", count = ROWS),
            false => text!("page-mend-replay-shown", count = handled),
        };
        page.mends.push(Line {
            does: words.say(&does),
            command: Some(shown(&format!("{} webhook replay --all{event}{store}", program::call()))),
            href: Some(acts),
        });
    }
    let columns = [
        (text!("page-delivery"), false),
        (text!("page-event"), false),
        (text!("status-store"), false),
        (text!("page-arrived"), false),
        (text!("page-handled"), false),
    ];
    let mut sheet = Sheet::new(&text!("page-webhooks"), &columns, words.0);
    sheet.rows.extend(rows.iter().take(ROWS as usize).map(|row| {
        let event = row.event.as_deref().unwrap_or("?");
        let open = || Cell::new(words.say(&text!("page-delivery-open"))).toned("warning");
        vec![
            Cell::new(row.id.to_string()).to(format!(
                "/acao?act=replay&delivery={}&store={}",
                row.id,
                encoded(&row.store)
            )),
            Cell::code(event).to(filter.address("/webhooks", &[("event", event)])),
            of_store(&row.store),
            time(Some(row.received_at), words),
            row.handled_at.map_or_else(open, |at| time(Some(at), words)),
        ]
    }));
    sheet.foot = cut_off(rows.len(), words);
    page.sheets.push(sheet);
    page.page(reader)
}

/// `/busca`, where there is not exactly one answer. `similar` are SKUs that are written much the same. `unread` says that
/// the mirror was never complete.
pub(crate) fn found(
    asked: &str,
    rows: &[(String, String, String)],
    similar: &[String],
    unread: Option<&Text>,
    reader: &Reader,
) -> Page {
    let words = Words(reader.locale);
    let none = match unread {
        _ if asked.is_empty() => text!("page-search-empty"),
        Some(unread) => text!("page-search-none-yet", asked = shown(asked), reading = unread.clone()),
        None => text!("page-search-none", asked = shown(asked)),
    };
    let mut page = Listing::new(&text!("page-search"), &none, words);
    let columns = [(text!("page-what"), false), (text!("status-store"), false)];
    let mut sheet = Sheet::new(&text!("page-search"), &columns, words.0);
    sheet.rows.extend(rows.iter().map(|(store, entity, key)| {
        let name = format!("{} {}", words.entity(entity), shown(key));
        vec![Cell::new(name).to(thing_address(store, entity, key)), of_store(store)]
    }));
    page.sheets.push(sheet);
    page.chips.extend(similar.iter().map(|sku| Chip {
        label: shown(sku),
        href: format!("/busca?q={}", encoded(sku)),
        is_here: false,
    }));
    page.page(reader)
}

/// Returns the address of the only answer to a search.
pub(crate) fn only_answer(rows: &[(String, String, String)]) -> Option<String> {
    match rows {
        [(store, entity, key)] => Some(thing_address(store, entity, key)),
        _ => None,
    }
}
