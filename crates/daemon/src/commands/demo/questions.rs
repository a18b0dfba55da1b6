//! Example queries on the mirror, and their results as tables.

use espelho_model::{
    money::parse_decimal,
    text,
    text::{Locale, Text},
};
use espelho_store::{Error, Store, Table};

/// A query: its title for people, its SQL, and its columns, each with its heading.
struct Question {
    title: Text,
    sql: &'static str,
    columns: Vec<(Text, Cells)>,
}

/// The cells of a column, which the database returns as text.
#[derive(Clone, Copy)]
enum Cells {
    Words,
    Quantities,
    Amounts,
}

impl Cells {
    /// Returns a cell in the notation of the language.
    fn shown(self, cell: String, locale: Locale) -> String {
        match (self, parse_decimal(&cell)) {
            (Self::Quantities, Some(quantity)) => locale.quantity(quantity),
            (Self::Amounts, Some(amount)) => locale.money(amount),
            _ => cell,
        }
    }
}

fn questions() -> [Question; 3] {
    [
        Question {
            title: text!("demo-open"),
            sql: "SELECT status, CAST(count(*) AS TEXT), printf('%.2f', sum(total_order))
  FROM orders
 WHERE status NOT IN ('delivered', 'cancelled', 'completed', 'payment_expired') AND gone_at IS NULL
 GROUP BY status ORDER BY count(*) DESC",
            columns: vec![
                (text!("demo-head-status"), Cells::Words),
                (text!("demo-head-orders"), Cells::Quantities),
                (text!("demo-head-total"), Cells::Amounts),
            ],
        },
        Question {
            title: text!("demo-blocking"),
            sql: "SELECT order_number, sku, CAST(quantity AS TEXT), stock_status
  FROM order_items
 WHERE is_blocking_stock = 1 AND gone_at IS NULL
 ORDER BY order_number LIMIT 5",
            columns: vec![
                (text!("demo-head-order"), Cells::Words),
                (text!("demo-head-sku"), Cells::Words),
                (text!("demo-head-quantity"), Cells::Quantities),
                (text!("demo-head-stock-status"), Cells::Words),
            ],
        },
        Question {
            title: text!("demo-running-out"),
            sql: "SELECT s.sku, l.name, CAST(s.available_quantity AS TEXT), printf('%.2f', p.price)
  FROM product_stock s
  JOIN products p ON p.store = s.store AND p.id = s.product_id
  JOIN stock_locations l ON l.store = s.store AND l.location_id = s.location_id
 WHERE s.gone_at IS NULL
 ORDER BY CAST(s.available_quantity AS REAL), s.sku LIMIT 5",
            columns: vec![
                (text!("demo-head-sku"), Cells::Words),
                (text!("demo-head-location"), Cells::Words),
                (text!("demo-head-available"), Cells::Quantities),
                (text!("demo-head-price"), Cells::Amounts),
            ],
        },
    ]
}

/// Runs all queries, and prints the results.
pub(super) async fn show(store: &Store, locale: Locale) -> Result<(), Error> {
    for Question { title, sql, columns } in questions() {
        println!("\n{}\n\n{sql};\n", title.message(locale));
        let heads: Vec<String> = columns.iter().map(|(head, _)| head.message(locale)).collect();
        let rows = store.diagnostics().ask(sql, columns.len()).await?;
        let shown = |row: Vec<String>| -> Vec<String> {
            row.into_iter().zip(&columns).map(|(cell, (_, cells))| cells.shown(cell, locale)).collect()
        };
        let rows: Table = rows.into_iter().map(shown).collect();
        print!("{}", table(&heads, &rows));
        if rows.is_empty() {
            println!("  {}", text!("demo-nothing").message(locale));
        }
    }
    Ok(())
}

fn table(heads: &[String], rows: &Table) -> String {
    let width = |at: usize| {
        let cells = rows.iter().map(|row| row[at].chars().count());
        cells.chain([heads[at].chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..heads.len()).map(width).collect();
    let line = |cells: &[String]| {
        let cells = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        format!("  {}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
    };
    [line(heads)].into_iter().chain(rows.iter().map(|row| line(row))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_written_as_the_reader_writes_numbers() {
        let locale = Locale::default();
        for (cells, cell, expected) in [
            (Cells::Amounts, "2922.62", "R$ 2.922,62"),
            (Cells::Quantities, "1200.5", "1.200,5"),
            (Cells::Words, "2922.62", "2922.62"),
            (Cells::Amounts, "?", "?"),
        ] {
            assert_eq!(cells.shown(cell.to_owned(), locale), expected);
        }
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let rows = vec![words(&["paid", "40"]), words(&["preparing", "7"])];
        let shown = table(&words(&["situação", "n"]), &rows);
        assert_eq!(shown, "  situação   n\n  paid       40\n  preparing  7\n");
    }
}
