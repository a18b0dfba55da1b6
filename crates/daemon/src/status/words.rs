//! Times and numbers as people say them; short enough to be read in both languages.

use chrono::{DateTime, Utc};

/// Seconds as `45 s`, `12 min`, `3 h`, `29 d`.
pub(super) fn span(seconds: i64) -> String {
    match seconds.max(0) {
        s if s < 120 => format!("{s} s"),
        s if s < 7_200 => format!("{} min", s / 60),
        s if s < 172_800 => format!("{} h", s / 3_600),
        s => format!("{} d", s / 86_400),
    }
}

/// How long ago something was.
pub(super) fn ago(now: DateTime<Utc>, then: DateTime<Utc>) -> String {
    format!("há {} / {0} ago", span((now - then).num_seconds()))
}

/// How long ago, in Portuguese alone, for a column that both languages head.
pub(super) fn since(now: DateTime<Utc>, then: Option<DateTime<Utc>>) -> String {
    then.map_or_else(|| "-".to_owned(), |then| span((now - then).num_seconds()))
}

/// A number with its noun.
pub(super) fn count(n: u64, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// A run's state, in both languages.
pub(super) fn state(word: &str) -> &str {
    match word {
        "complete" => "completa",
        "partial" => "parcial / partial",
        "failed" => "falhou / failed",
        "running" => "em curso / running",
        "interrupted" => "interrompida / interrupted",
        other => other,
    }
}

/// A sweep's name, in both languages.
pub(super) fn sweep(kind: &str) -> (&str, &'static str) {
    match kind {
        "new_orders" => ("Pedidos novos", "New orders"),
        "open_orders" => ("Pedidos em aberto", "Open orders"),
        "sold_products" => ("Produtos vendidos", "Sold products"),
        "aged_products" => ("Produtos, em rodízio", "Products, in rotation"),
        "parts" => ("Partes de pedidos", "Sides of orders"),
        "aged_orders" => ("Pedidos antigos", "Orders by age"),
        "counts" => ("Contagens", "Counts"),
        "campaigns" => ("Campanhas", "Campaigns"),
        "media" => ("Imagens", "Images"),
        "profile" => ("Dados da loja", "Store profile"),
        "enums" => ("Palavras do marketplace", "Marketplace's words"),
        "webhook_test" => ("Teste do webhook", "Webhook test"),
        other => (other, ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_one_number_and_one_unit() {
        for (seconds, words) in
            [(-5, "0 s"), (0, "0 s"), (119, "119 s"), (120, "2 min"), (7_199, "119 min"), (7_200, "2 h")]
        {
            assert_eq!(span(seconds), words);
        }
        assert_eq!((span(172_799), span(172_800)), ("47 h".to_owned(), "2 d".to_owned()));
    }

    #[test]
    fn one_thing_is_not_many() {
        assert_eq!(count(1, "row", "rows"), "1 row");
        assert_eq!(count(0, "row", "rows"), "0 rows");
    }
}
