//! CSV files of stock and prices: read as a whole before anything is written, and every bad line is named.
//!
//! The first line names the columns, as in the tables. Both `;` and `,` separate; in a file with `;` a number may have
//! a decimal comma, as Brazilian spreadsheets write it.

use std::collections::HashMap;

use espelho_model::{
    StoreKey,
    containment::{self, Panicked},
    fault, text,
    text::Text,
};
use espelho_store::{DesiredPrice, DesiredStock, Error as StoreError, Store};
use rust_decimal::Decimal;

use crate::{
    cli::ImportKind,
    intent_rules::{self, Known},
    number::{self, Convention, Reading},
};

/// The maximum number of bad lines that are named.
const MOST_NAMED: usize = 20;

/// The mistakes in a file, line by line.
pub(crate) struct BadLines {
    lines: Vec<(u64, Text)>,
    /// The number of further bad lines.
    more: usize,
}

impl BadLines {
    fn one(line: u64, problem: Text) -> Self {
        Self { lines: vec![(line, problem)], more: 0 }
    }

    /// Returns a text for each line.
    pub(crate) fn texts(&self) -> Vec<Text> {
        let named = self.lines.iter();
        let named = named.map(|(line, problem)| text!("files-line", line = *line, problem = problem.clone()));
        let more = (self.more > 0).then(|| text!("files-more-lines", more = self.more));
        named.chain(more).collect()
    }
}

/// The rows of a file.
pub(crate) enum Rows {
    Stock(Vec<DesiredStock>),
    Prices(Vec<DesiredPrice>),
}

impl Rows {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Stock(rows) => rows.len(),
            Self::Prices(rows) => rows.len(),
        }
    }

    /// Writes all rows, or none.
    pub(crate) async fn write(self, store: &Store, key: &StoreKey) -> Result<(), StoreError> {
        match self {
            Self::Stock(rows) => store.intents().set_desired_stock(key, rows).await,
            Self::Prices(rows) => store.intents().set_desired_prices(key, rows).await,
        }
    }
}

/// Parses a file of a kind. A SKU or location that a mirrored store does not have is a mistake; a location may be named by
/// its id or by its name.
pub(crate) fn rows(kind: ImportKind, file: &[u8], known: &Known) -> Result<Rows, BadLines> {
    match kind {
        ImportKind::Stock => stock(file, known).map(Rows::Stock),
        ImportKind::Prices => prices(file, known).map(Rows::Prices),
    }
}

/// Returns the mistake of a file that is too large to read.
pub(crate) fn too_large(most: u64) -> BadLines {
    BadLines::one(1, text!("files-too-large", most = most))
}

/// Returns the mistake of a file during whose reading processes ended.
pub(crate) fn poisoned() -> BadLines {
    BadLines::one(1, text!("files-poisoned"))
}

/// Returns the mistake of a file that cannot be read.
pub(crate) fn not_readable(error: &std::io::Error) -> BadLines {
    BadLines::one(1, text!("files-unreadable", problem = error.to_string()))
}

/// Parses stock levels: columns `sku`, `location_id`, `quantity`.
fn stock(file: &[u8], known: &Known) -> Result<Vec<DesiredStock>, BadLines> {
    let key = |row: &DesiredStock| format!("{} / {}", row.sku, row.location);
    read(file, &["sku", "location_id", "quantity"], &[], key, |line| {
        let quantity = line.number("quantity")?.ok_or_else(|| missing("quantity"))?;
        intent_rules::level(quantity).map_err(|fault| fault.text)?;
        let (sku, location) = (line.sku(known)?, line.text("location_id")?);
        let (location, _) = intent_rules::exact_location(&location, known).map_err(|refusal| refusal.text)?;
        Ok(DesiredStock { sku, location, quantity })
    })
}

/// Parses prices: columns `sku`, `price` or `discount_percent`, and for tiers `min_quantity` and `package_*`.
fn prices(file: &[u8], known: &Known) -> Result<Vec<DesiredPrice>, BadLines> {
    let optional = [
        "min_quantity",
        "price",
        "discount_percent",
        "package_weight",
        "package_height",
        "package_width",
        "package_length",
    ];
    let key = |row: &DesiredPrice| format!("{} / {}", row.sku, row.min_quantity);
    read(file, &["sku"], &optional, key, |line| {
        let min_quantity = match line.optional("min_quantity") {
            None => 1,
            Some(value) => value
                .parse()
                .map_err(|_| text!("files-whole-number", field = "min_quantity", value = value))?,
        };
        let (price, discount_percent) = (line.number("price")?, line.number("discount_percent")?);
        let package = ["package_weight", "package_height", "package_width", "package_length"];
        let mut measures = [None; 4];
        for (measure, name) in measures.iter_mut().zip(package) {
            *measure = line.number(name)?;
        }
        intent_rules::tier(min_quantity, price, discount_percent, measures).map_err(|fault| fault.text)?;
        let sku = line.sku(known)?;
        Ok(DesiredPrice { sku, min_quantity, price, discount_percent, package: measures })
    })
}

/// A line with the names of its columns.
struct Line<'a> {
    names: &'a csv::StringRecord,
    values: &'a csv::StringRecord,
    /// The decimal separator of this file.
    convention: Convention,
}

impl Line<'_> {
    fn optional(&self, name: &str) -> Option<&str> {
        let at = self.names.iter().position(|column| column.trim().eq_ignore_ascii_case(name))?;
        self.values.get(at).map(str::trim).filter(|text| !text.is_empty())
    }

    fn text(&self, name: &str) -> Result<String, Text> {
        self.optional(name).map(str::to_owned).ok_or_else(|| missing(name))
    }

    /// Returns the SKU. Similar ones are not searched for: a file may have thousands of lines with a mistake.
    fn sku(&self, known: &Known) -> Result<String, Text> {
        let sku = self.text("sku")?;
        match known.has_sku(&sku) {
            true => Ok(sku),
            false => Err(text!("intents-unknown-sku", sku = sku)),
        }
    }

    fn number(&self, name: &str) -> Result<Option<Decimal>, Text> {
        let Some(text) = self.optional(name) else { return Ok(None) };
        match number::read(text, self.convention) {
            Reading::Clear(number) => Ok(Some(number)),
            Reading::Ambiguous { thousands, decimals } => {
                let decimals = match self.convention {
                    Convention::Comma => decimals.normalize().to_string().replace('.', ","),
                    Convention::Point | Convention::Unknown => decimals.normalize().to_string(),
                };
                let thousands = thousands.to_string();
                Err(text!(
                    "files-ambiguous",
                    field = name,
                    value = text,
                    thousands = thousands,
                    decimals = decimals
                ))
            }
            Reading::Unreadable => Err(text!("value-not-number-but", field = name, value = text)),
        }
    }
}

fn panicked_at(panicked: &Panicked) -> Text {
    text!("files-panicked", place = panicked.place.as_str())
}

fn missing(name: &str) -> Text {
    text!("value-missing-field", field = name)
}

fn unreadable(error: &csv::Error) -> Text {
    text!("files-line-unreadable", problem = error.to_string())
}

/// Returns the name of a column that stands twice.
fn twice(names: &csv::StringRecord) -> Option<String> {
    let mut names: Vec<String> = names.iter().map(|name| name.trim().to_ascii_lowercase()).collect();
    names.sort_unstable();
    names.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0].clone())
}

fn read<T>(
    file: &[u8],
    required: &[&str],
    optional: &[&str],
    key: impl Fn(&T) -> String,
    row: impl Fn(&Line<'_>) -> Result<T, Text>,
) -> Result<Vec<T>, BadLines> {
    let file = file.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(file);
    let first = file.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let delimiter = if first.contains(&b';') { b';' } else { b',' };
    let convention = if delimiter == b';' { Convention::Comma } else { Convention::Point };
    let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).flexible(false).from_reader(file);
    let names = reader.headers().map_err(|error| BadLines::one(1, unreadable(&error)))?.clone();
    let has = |name: &&&str| names.iter().any(|column| column.trim().eq_ignore_ascii_case(name));
    if let Some(missing) = required.iter().find(|name| !has(name)) {
        return Err(BadLines::one(1, text!("files-missing-column", column = *missing)));
    }
    let is_known =
        |column: &&str| required.iter().chain(optional).any(|name| column.trim().eq_ignore_ascii_case(name));
    if let Some(unknown) = names.iter().find(|column| !is_known(column)) {
        return Err(BadLines::one(1, text!("files-unknown-column", column = unknown)));
    }
    if let Some(twice) = twice(&names) {
        return Err(BadLines::one(1, text!("files-column-twice", column = twice)));
    }
    let (mut rows, mut bad) = (Vec::new(), Vec::new());
    let mut lines = HashMap::new();
    for values in reader.records() {
        match values {
            Ok(values) => {
                let line = values.position().map_or(0, csv::Position::line);
                let read = containment::run(|| {
                    fault::point("import_line", values.as_byte_record().as_slice());
                    row(&Line { names: &names, values: &values, convention })
                });
                match read {
                    // Of two lines for one row the last would win in silence.
                    Ok(Ok(row)) => match lines.insert(key(&row), line) {
                        None => rows.push(row),
                        Some(first) => {
                            bad.push((line, text!("files-row-twice", key = key(&row), first = first)));
                        }
                    },
                    Ok(Err(problem)) => bad.push((line, problem)),
                    Err(panicked) => bad.push((line, panicked_at(&panicked))),
                }
            }
            Err(error) => {
                let line = error.position().map_or(0, csv::Position::line);
                bad.push((line, unreadable(&error)));
            }
        }
    }
    if bad.is_empty() {
        return Ok(rows);
    }
    let more = bad.len().saturating_sub(MOST_NAMED);
    bad.truncate(MOST_NAMED);
    Err(BadLines { lines: bad, more })
}

#[cfg(test)]
mod tests {
    use espelho_model::text::Locale;

    use super::*;

    fn stock(file: &[u8]) -> Result<Vec<DesiredStock>, BadLines> {
        super::stock(file, &Known::default())
    }

    fn prices(file: &[u8]) -> Result<Vec<DesiredPrice>, BadLines> {
        super::prices(file, &Known::default())
    }

    #[test]
    fn a_sku_or_a_location_that_the_store_does_not_have_is_named_with_its_line() {
        let known = Known {
            skus: ["A", "B"].map(str::to_owned).into(),
            locations: vec![("1".into(), "Depósito".into()), ("2".into(), "Loja".into())],
            is_mirrored: true,
        };
        let said = |read: Result<Rows, BadLines>| {
            let bad = read.err().map(|bad| bad.texts()).unwrap_or_default();
            bad.iter().map(|text| text.message(Locale::default())).collect::<Vec<_>>()
        };
        let file = b"sku;location_id;quantity\nA;1;10\nX;1;3\nB;9;12\nB;loja;1\n";
        assert_eq!(
            said(rows(ImportKind::Stock, file, &known)),
            ["linha 3: SKU desconhecido: X", "linha 4: local desconhecido: 9"]
        );
        assert_eq!(
            said(rows(ImportKind::Prices, b"sku,price\nA,1\nX,2\n", &known)),
            ["linha 3: SKU desconhecido: X"]
        );
        assert!(said(rows(ImportKind::Stock, file, &Known::default())).is_empty(), "nothing is known yet");
        let named =
            super::stock("sku;location_id;quantity\nA;depósito;10\n".as_bytes(), &known).ok().unwrap();
        assert_eq!(named[0].location, "1");
        // The id of a location that is gone is a part of another one's name.
        let known = Known {
            locations: vec![("10".into(), "Loja 1".into()), ("20".into(), "Loja 2".into())],
            ..known
        };
        let gone = b"sku;location_id;quantity\nA;1;5\n";
        assert_eq!(said(rows(ImportKind::Stock, gone, &known)), ["linha 2: local desconhecido: 1"]);
    }

    #[test]
    fn a_number_that_may_mean_two_is_named_with_both() {
        let stock_of = |text: &str| stock(text.as_bytes()).map(|rows| rows[0].quantity.to_string());
        for (file, is) in [
            ("sku;location_id;quantity\nA;1;1.234,5\n", Ok("1234.5")),
            ("sku;location_id;quantity\nA;1;1,234\n", Ok("1.234")),
            ("sku,location_id,quantity\nA,1,1.234\n", Ok("1.234")),
            (
                "sku;location_id;quantity\nA;1;1.990\n",
                Err("linha 2: quantity é “1.990”: escreva 1990 ou 1,99"),
            ),
            (
                "sku,location_id,quantity\nA,1,\"1,990\"\n",
                Err("linha 2: quantity é “1,990”: escreva 1990 ou 1.99"),
            ),
        ] {
            let read = stock_of(file).map_err(|bad| bad.texts()[0].message(Locale::default()));
            assert_eq!(read, is.map(str::to_owned).map_err(str::to_owned), "{file}");
        }
    }

    #[test]
    fn a_file_is_read_whole_or_not_at_all_and_every_bad_line_is_named() {
        let good = stock("sku;location_id;quantity\nA-1;1;10,5\nA-2;2;0\n".as_bytes()).ok().unwrap();
        assert_eq!((good.len(), good[0].quantity.to_string()), (2, "10.5".to_owned()));
        let bad =
            stock("sku,location_id,quantity\nA-1,1,10\n,1,3\nA-3,1,-2\nA-4,1,x\n".as_bytes()).err().unwrap();
        let texts = bad.texts();
        assert_eq!(texts[0].message(Locale::default()), "linha 3: falta sku");
        assert_eq!(
            texts.iter().map(ToString::to_string).collect::<Vec<_>>(),
            [
                "line 3: sku is missing",
                "line 4: quantity is -2; it must be 0 or more",
                "line 5: quantity is “x”, which is not a number"
            ]
        );
    }

    #[test]
    fn a_row_or_a_column_that_stands_twice_is_named() {
        let said = |bad: BadLines| bad.texts().iter().map(ToString::to_string).collect::<Vec<_>>();
        let file = "sku;location_id;quantity\nA;1;10\nB;1;3\nA;1;12\n";
        assert_eq!(said(stock(file.as_bytes()).err().unwrap()), ["line 4: A / 1 stands in line 2 already"]);
        let file = "sku,price,min_quantity\nA,10,1\nA,9,5\nA,8,5\n";
        assert_eq!(said(prices(file.as_bytes()).err().unwrap()), ["line 4: A / 5 stands in line 3 already"]);
        let file = "sku;location_id;quantity;Quantity\nA;1;10;12\n";
        assert_eq!(
            said(stock(file.as_bytes()).err().unwrap()),
            ["line 1: the column quantity stands there twice"]
        );
    }

    // withstands: F150
    #[test]
    fn a_line_that_panics_is_named_and_the_other_lines_are_checked() {
        fault::provoke("import_line=poison-in-a-line");
        let file = "sku;location_id;quantity\nA;1;10\npoison-in-a-line;1;5\nB;1;-1\n";
        let texts: Vec<String> =
            stock(file.as_bytes()).err().unwrap().texts().iter().map(ToString::to_string).collect();
        assert_eq!(texts.len(), 2, "{texts:?}");
        assert!(texts[0].starts_with("line 3: espelho itself failed on this line, at "), "{texts:?}");
        assert!(texts[1].starts_with("line 4: quantity is -1"), "{texts:?}");
    }

    #[test]
    fn columns_are_found_by_name_and_an_unknown_one_is_refused() {
        let prices = prices("\u{feff}price,SKU\n19.90,A\n".as_bytes()).ok().unwrap();
        assert_eq!((prices[0].sku.as_str(), prices[0].min_quantity), ("A", 1));
        let told = |bad: Option<BadLines>| bad.unwrap().texts().remove(0).to_string();
        assert_eq!(told(stock(b"sku,quantity\nA,1\n").err()), "line 1: the column location_id is missing");
        assert!(told(super::prices(b"sku,preco\nA,1\n", &Known::default()).err()).contains("preco"));
    }
}
