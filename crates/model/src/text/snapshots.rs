//! Every message of the catalogue as a reader sees it, for review by people: one snapshot for each language.

use std::collections::BTreeMap;

use super::*;

/// Returns a sample for an argument, by its name. Messages are shown with these samples.
fn sample(name: &str) -> Arg {
    let words = |word: &str| Arg::Word(word.to_owned());
    match name {
        "seconds" | "age" | "span" | "waited" => Arg::Seconds(5_400),
        "since" | "until" | "at" | "end" | "time" => {
            Arg::Time("2026-01-31T17:05:00Z".parse().unwrap_or_default())
        }
        "free_at" => Arg::TimeOfDay("2026-01-31T17:05:09Z".parse().unwrap_or_default()),
        "price" | "floor" => Arg::Money(Decimal::new(4_990, 2)),
        "quantity" | "reserved" | "wanted" | "before" | "after" | "sold" | "delta" | "less" | "percent" => {
            Arg::Quantity(Decimal::new(125, 1))
        }
        "sku" => words("CAN-01"),
        "row" => words("stock CAN-01/1 --store minha-loja"),
        "store" | "asked" => words("minha-loja"),
        "release_one" => words("espelho release stock CAN-01/1 --store minha-loja"),
        "release_all" => words("espelho release --all --code ‹code› --store minha-loja"),
        "retry_one" => words("espelho retry stock CAN-01/1 --store minha-loja"),
        "ignore_one" => words("espelho ignore stock CAN-01/1 --store minha-loja"),
        "ignore_all" => words("espelho ignore --all --state held --code ‹code› --store minha-loja"),
        "see_all" => words("espelho errors --all --code ‹code› --store minha-loja"),
        "see_one" => words("espelho explain stock CAN-01/1 --store minha-loja"),
        "current" => Arg::Text(Box::new(words::order_status("paid"))),
        "target" | "status_word" => Arg::Text(Box::new(words::order_status("delivered"))),
        "listings" | "requests" | "logins" | "rows" | "more" | "deliveries" | "rate_limited" | "all"
        | "zeroes" | "missed" | "near" | "mebibytes" | "left" | "failing" | "warnings" | "attempts"
        | "times" | "count" | "held" => Arg::Number(3),
        other => Arg::Word(format!("‹{other}›")),
    }
}

fn rendered(language: Language) -> String {
    let locale = Locale::of(language);
    let mut shown = String::new();
    let mut messages: BTreeMap<String, std::collections::BTreeSet<String>> = BTreeMap::new();
    for (id, names) in tests::messages(language) {
        let whole = id.split_once('.').map_or(id.as_str(), |(whole, _)| whole).to_owned();
        messages.entry(whole).or_default().extend(names);
    }
    for (id, names) in messages {
        let text =
            names.iter().fold(Text::new(id.clone()), |text, name| text.with(name.clone(), sample(name)));
        shown += &format!("{id}\n    {}\n", text.message(locale).replace('\n', "\n    "));
        if let Some(next) = text.next(locale) {
            shown += &format!("    → {}\n", next.replace('\n', "\n      "));
        }
    }
    shown
}

#[test]
fn the_shop_reads_this() {
    insta::assert_snapshot!("portuguese", rendered(Language::Portuguese));
}

#[test]
fn the_integrator_reads_this() {
    insta::assert_snapshot!("english", rendered(Language::English));
}
