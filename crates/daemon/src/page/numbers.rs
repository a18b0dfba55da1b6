//! The four numbers: to dispatch today, with the paid orders that nobody prepares yet, waiting for an invoice, from the
//! ERP to the shop, from the shop to the ERP.

use askama::Template;
use espelho_model::{
    text,
    text::{Arg, Text},
};
use espelho_store::Figures;

use super::{
    reading::unread,
    words::{Words, encoded, order_address},
};
use crate::{
    status::{StatusSnapshot, StoreSnapshot},
    terminal::shown,
};

/// The late orders that a number names.
const NAMED: usize = 3;

/// One number, with what is to be known about it.
pub(super) struct Tile {
    label: String,
    number: String,
    href: Option<String>,
    tone: &'static str,
    notes: Vec<Note>,
}

/// A line below a number: words, and links within.
struct Note {
    words: String,
    tone: &'static str,
    links: Vec<(String, String)>,
    more: Option<String>,
}

#[derive(Template)]
#[template(path = "numbers.html", whitespace = "minimize")]
pub(super) struct Numbers {
    tiles: Vec<Tile>,
    title: String,
}

/// Returns the four numbers; without figures those of orders are not known.
pub(super) fn numbers(
    snapshot: &StatusSnapshot,
    figures: Option<&Figures>,
    only_store: Option<&str>,
    words: Words,
) -> Numbers {
    let address = |path: &str| {
        let sign = if path.contains('?') { '&' } else { '?' };
        let of_store = only_store.map(|store| format!("{sign}store={}", encoded(store)));
        Some(format!("{path}{}", of_store.unwrap_or_default()))
    };
    let unread = unread(&snapshot.stores);
    // While the mirror was never complete, a zero of orders is not known to be one.
    let of_orders = |number: Option<u64>| number.filter(|number| unread.is_none() || *number > 0);
    let to_dispatch = of_orders(figures.map(|figures| figures.dispatch));
    let awaiting_invoice = of_orders(figures.map(|figures| figures.awaiting_invoice));
    let not_taken = of_orders(figures.map(|figures| figures.not_taken));
    let takes = figures.is_some_and(|figures| figures.erp_takes);
    let tiles = vec![
        dispatch(figures, to_dispatch, unread.as_ref(), &address, words),
        invoices(awaiting_invoice, &address, words),
        to_the_shop(snapshot, &address, words),
        to_the_erp(snapshot, takes.then_some(not_taken), &address, words),
    ];
    Numbers { tiles, title: words.say(&text!("page-numbers")) }
}

fn known(number: Option<u64>, words: Words) -> String {
    number.map_or_else(|| "–".to_owned(), |number| words.number(number))
}

fn note(words: String) -> Note {
    Note { words, tone: "", links: Vec::new(), more: None }
}

/// Returns how many orders are paid, and not yet in preparation; `None` if there are none.
fn paid(figures: &Figures) -> Option<u64> {
    figures.by_status.iter().find(|(status, _)| status == "paid").map(|(_, orders)| *orders)
}

fn dispatch(
    figures: Option<&Figures>,
    orders: Option<u64>,
    unread: Option<&Text>,
    address: &dyn Fn(&str) -> Option<String>,
    words: Words,
) -> Tile {
    let late = figures.map_or(0, |figures| figures.late);
    let mut notes = Vec::new();
    if let Some(figures) = figures.filter(|_| late > 0) {
        let links = figures.first_late.iter().take(NAMED);
        let named = links.map(|(store, number, _)| (shown(number), order_address(store, number)));
        let more = late.saturating_sub(figures.first_late.len().min(NAMED) as u64);
        notes.push(Note {
            words: words.say(&text!("page-late", count = late)),
            tone: "failing",
            links: named.collect(),
            more: (more > 0).then(|| words.say(&text!("page-and-more", count = more))),
        });
    } else if figures.is_some() && unread.is_none() {
        notes.push(note(words.say(&text!("page-none-late"))));
    }
    // Those have no deadline yet: none of the numbers holds them.
    notes.extend(figures.and_then(paid).map(|paid| Note {
        links: address("/pedidos?status=paid").map(|href| (words.number(paid), href)).into_iter().collect(),
        ..note(words.say(&text!("page-paid")))
    }));
    notes.extend(unread.map(|unread| note(words.say(unread))));
    Tile {
        label: words.say(&text!("page-dispatch")),
        number: known(orders, words),
        href: address("/pedidos?list=dispatch"),
        tone: if late > 0 { "failing" } else { "" },
        notes,
    }
}

fn invoices(waiting: Option<u64>, address: &dyn Fn(&str) -> Option<String>, words: Words) -> Tile {
    Tile {
        label: words.say(&text!("page-invoices")),
        number: known(waiting, words),
        href: address("/pedidos?list=invoice"),
        tone: "",
        notes: vec![note(words.say(&text!("page-invoices-note")))],
    }
}

fn to_the_shop(snapshot: &StatusSnapshot, address: &dyn Fn(&str) -> Option<String>, words: Words) -> Tile {
    let rows = || snapshot.stores.iter().flat_map(|store| &store.wanted);
    let open: u64 = rows().map(|rows| rows.open).sum();
    let oldest = rows().filter_map(|rows| rows.oldest_open_seconds).max();
    let [failed, held, doubtful] = [
        rows().map(|rows| rows.failed).sum::<u64>(),
        rows().map(|rows| rows.held).sum(),
        rows().map(|rows| rows.doubtful).sum(),
    ];
    let mut notes = vec![note(match oldest.filter(|_| open > 0) {
        Some(seconds) => words.say(&text!("page-oldest", span = Arg::Seconds(seconds))),
        None => words.say(&text!("page-nothing-open")),
    })];
    let undone = [
        (failed, text!("page-not-done", count = failed)),
        (held, text!("page-on-hold", count = held)),
        (doubtful, text!("page-in-doubt", count = doubtful)),
    ];
    let undone = undone.into_iter().filter(|(rows, _)| *rows > 0);
    let said: Vec<String> = undone.map(|(_, said)| words.say(&said)).collect();
    if !said.is_empty() {
        notes.push(Note { tone: "failing", ..note(said.join(", ")) });
    }
    Tile {
        label: words.say(&text!("page-to-shop")),
        number: words.number(open),
        href: address("/fila"),
        tone: if failed + doubtful > 0 { "failing" } else { "" },
        notes,
    }
}

/// `not_taken` is the number of orders that an ERP which takes orders has left; `None` if it takes none.
fn to_the_erp(
    snapshot: &StatusSnapshot,
    not_taken: Option<Option<u64>>,
    address: &dyn Fn(&str) -> Option<String>,
    words: Words,
) -> Tile {
    let backlog: u64 = snapshot.stores.iter().map(|store: &StoreSnapshot| store.inbox.backlog).sum();
    let notes = match not_taken.is_some() {
        true => vec![
            note(words.say(&text!("page-not-taken"))),
            note(words.say(&text!("page-backlog", count = backlog))),
        ],
        false => {
            vec![note(words.say(&text!("page-webhooks-open"))), note(words.say(&text!("page-takes-none")))]
        }
    };
    Tile {
        label: words.say(&text!("page-to-erp")),
        number: known(not_taken.unwrap_or(Some(backlog)), words),
        href: address(if not_taken.is_some() { "/pedidos?list=not_taken" } else { "/webhooks" }),
        tone: "",
        notes,
    }
}

#[cfg(test)]
mod tests {
    use espelho_model::text::Locale;
    use espelho_store::ReadSoFar;

    use super::*;
    use crate::status::{specimen, wanted_specimen};

    fn tiles(figures: Option<&Figures>) -> Vec<Tile> {
        let mut store = specimen::store("loja-1");
        store.wanted = vec![wanted_specimen(3, 2, 1)];
        store.inbox.backlog = 4;
        numbers(&specimen::snapshot(vec![store]), figures, None, Words(Locale::default())).tiles
    }

    #[test]
    fn late_orders_are_named_and_lead_to_their_pages() {
        let late = |n: u64| ("loja-1".to_owned(), format!("00{n}"), specimen::at(0));
        let figures =
            Figures { dispatch: 12, late: 5, first_late: (1..=5).map(late).collect(), ..Figures::default() };
        let tile = &tiles(Some(&figures))[0];
        assert_eq!((tile.number.as_str(), tile.tone), ("12", "failing"));
        assert_eq!(tile.notes[0].links[0], ("001".to_owned(), "/pedidos/001?store=loja-1".to_owned()));
        assert_eq!((tile.notes[0].links.len(), tile.notes[0].more.as_deref()), (3, Some("e mais 2")));
    }

    #[test]
    fn paid_orders_that_nobody_prepares_yet_stand_beside_those_to_dispatch() {
        let by_status = vec![("preparing".to_owned(), 40), ("paid".to_owned(), 233)];
        let snapshot = specimen::snapshot(vec![specimen::store("loja-1")]);
        for (by_status, only_store, expected) in [
            (Vec::new(), None, vec![]),
            (by_status.clone(), None, vec!["/pedidos?status=paid"]),
            (by_status, Some("loja-1"), vec!["/pedidos?status=paid&store=loja-1"]),
        ] {
            let figures = Figures { by_status, ..Figures::default() };
            let tile =
                numbers(&snapshot, Some(&figures), only_store, Words(Locale::default())).tiles.remove(0);
            let [none_late, notes @ ..] = &tile.notes[..] else { panic!("no note") };
            assert_eq!(none_late.words, "nenhum atrasado");
            let links: Vec<&str> =
                notes.iter().flat_map(|note| &note.links).map(|(_, href)| href.as_str()).collect();
            assert_eq!(links, expected);
            assert!(notes.iter().all(|note| note.words == "pagos, ainda sem preparo:"));
            assert!(notes.iter().flat_map(|note| &note.links).all(|(number, _)| number == "233"));
        }
    }

    #[test]
    fn what_is_not_counted_yet_is_not_zero() {
        let numbers: Vec<String> = tiles(None).into_iter().map(|tile| tile.number).collect();
        assert_eq!(numbers, ["–", "–", "3", "4"]);
    }

    #[test]
    fn nothing_is_called_none_before_the_first_reading_has_ended() {
        let mut store = specimen::store("loja-1");
        store.first_reading_ended = false;
        store.reading = vec![ReadSoFar { resource: "orders".into(), seen: 0, total: None }];
        store.last_run.as_mut().unwrap().finished_at = None;
        let snapshot = specimen::snapshot(vec![store]);
        let figures = Figures { erp_takes: true, ..Figures::default() };
        let tiles = numbers(&snapshot, Some(&figures), None, Words(Locale::default())).tiles;
        let shown: Vec<&str> = tiles.iter().map(|tile| tile.number.as_str()).collect();
        assert_eq!(shown, ["–", "–", "0", "–"], "what the ERP wants is known");
        let said: Vec<&str> = tiles[0].notes.iter().map(|note| note.words.as_str()).collect();
        assert_eq!(said, ["a primeira leitura está começando"]);
        let figures = Figures { dispatch: 3, ..figures };
        let tiles = numbers(&snapshot, Some(&figures), None, Words(Locale::default())).tiles;
        assert_eq!(tiles[0].number, "3", "what was read is there");
    }

    #[test]
    fn orders_that_the_erp_has_not_taken_count_once_it_takes_any() {
        let figures = Figures { not_taken: 7, ..Figures::default() };
        assert_eq!(tiles(Some(&figures))[3].number, "4", "the ERP does not use erp_orders");
        assert_eq!(tiles(Some(&Figures { erp_takes: true, ..figures }))[3].number, "7");
    }
}
