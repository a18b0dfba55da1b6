//! The words for lists and numbers while the mirror was never complete: an empty list or a zero proves nothing then. Pure.

use std::collections::BTreeMap;

use espelho_model::{
    text,
    text::{Text, words},
};
use espelho_store::ReadSoFar;

use crate::{progress::count, status::StoreSnapshot};

/// Returns that the first complete reading of some store has not ended, with what was read so far; `None` once all were
/// read.
pub(crate) fn unread(stores: &[StoreSnapshot]) -> Option<Text> {
    // A complete run tells nothing of it: it may have been of products alone, and one row that is refused for ever
    // makes each run partial.
    let unread: Vec<&StoreSnapshot> = stores.iter().filter(|store| !store.first_reading_ended).collect();
    if unread.is_empty() {
        return None;
    }
    let runs = |store: &&StoreSnapshot| store.last_run.as_ref().is_none_or(|run| run.finished_at.is_none());
    if !unread.iter().any(runs) {
        return Some(text!("page-unread"));
    }
    let mut read = BTreeMap::<&str, (u64, Option<u64>)>::new();
    let has_begun = |read: &&ReadSoFar| read.seen > 0 || read.total.is_some();
    let reading = unread.iter().flat_map(|store| &store.reading).filter(has_begun);
    for ReadSoFar { resource, seen, total } in reading {
        let (all, of) = read.entry(resource).or_insert((0, Some(0)));
        (*all, *of) = (*all + seen, of.and_then(|of| Some(of + (*total)?)));
    }
    let so_far: Vec<Text> = read.into_iter().map(progress).collect();
    Some(match so_far.is_empty() {
        true => text!("page-unread-begins"),
        false => text!("page-unread-so-far", read = so_far),
    })
}

fn progress((resource, (seen, total)): (&str, (u64, Option<u64>))) -> Text {
    let what = words::resource(resource);
    match total.filter(|total| *total >= seen) {
        Some(total) => text!("page-read-of", seen = count(seen), total = count(total), what = what),
        None => text!("page-read", seen = count(seen), what = what),
    }
}

#[cfg(test)]
mod tests {
    use espelho_model::text::Locale;

    use super::*;
    use crate::status::specimen;

    #[test]
    fn a_mirror_that_was_never_complete_says_how_far_its_first_reading_is() {
        let so_far = |resource: &str, seen, total| ReadSoFar { resource: resource.into(), seen, total };
        let none = || vec![so_far("orders", 0, None)];
        for (ended, finished, reading, expected) in [
            (true, true, vec![], None),
            (true, false, vec![], None),
            (false, false, none(), Some("a primeira leitura está começando")),
            (false, false, vec![], Some("a primeira leitura está começando")),
            (
                false,
                false,
                vec![so_far("orders", 1_200, Some(5_000)), so_far("products", 30, None)],
                Some("a primeira leitura está em andamento: 1.200 de 5.000 pedidos, 30 produtos"),
            ),
            (false, true, none(), Some("a primeira leitura completa ainda não terminou")),
        ] {
            let mut store = specimen::store("loja-1");
            let run = store.last_run.as_mut().unwrap();
            run.finished_at = run.finished_at.filter(|_| finished);
            // Neither a complete run of products nor a partial one of orders proves anything.
            store.last_success = store.last_success.filter(|_| !ended);
            (store.first_reading_ended, store.reading) = (ended, reading);
            let said =
                unread(&[specimen::store("loja-2"), store]).map(|text| text.message(Locale::default()));
            assert_eq!(said.as_deref(), expected);
        }
        let mut new = specimen::store("loja-1");
        (new.last_run, new.first_reading_ended) = (None, false);
        assert!(unread(&[new]).is_some(), "no run has ever read anything");
    }
}
