//! CSV files of stock and prices: read whole before anything is written, and every bad line is named.
//!
//! The first line names the columns, as the tables do; `;` and `,` both separate, and in a file with `;` a number may have a
//! decimal comma, as Brazilian spreadsheets write it.

use espelho_model::StoreKey;
use espelho_store::{Error as StoreError, PriceWish, StockWish, Store};
use rust_decimal::Decimal;

use crate::{
    cli::ImportKind,
    number::{self, Convention, Reading},
};

/// Bad lines that are named, at most.
const MOST_NAMED: usize = 20;

/// What is wrong with a file, line by line.
pub(crate) struct BadLines {
    lines: Vec<(u64, Words)>,
    /// How many there are beside.
    more: usize,
}

/// A problem in Portuguese and English.
type Words = [String; 2];

fn words(portuguese: impl Into<String>, english: impl Into<String>) -> Words {
    [portuguese.into(), english.into()]
}

impl BadLines {
    fn one(line: u64, problem: Words) -> Self {
        Self { lines: vec![(line, problem)], more: 0 }
    }

    /// In English, a text for each line.
    pub(crate) fn in_english(&self) -> Vec<String> {
        let named = self.lines.iter().map(|(line, [_, english])| format!("line {line}: {english}"));
        let more = (self.more > 0).then(|| format!("and {} more lines", self.more));
        named.chain(more).collect()
    }

    /// In Portuguese.
    pub(crate) fn in_portuguese(&self) -> Vec<String> {
        let named = self.lines.iter().map(|(line, [portuguese, _])| format!("linha {line}: {portuguese}"));
        let more = (self.more > 0).then(|| format!("e mais {} linhas", self.more));
        named.chain(more).collect()
    }
}

/// What a file holds.
pub(crate) enum Rows {
    Stock(Vec<StockWish>),
    Prices(Vec<PriceWish>),
}

impl Rows {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Stock(rows) => rows.len(),
            Self::Prices(rows) => rows.len(),
        }
    }

    /// Writes all of them, or none.
    pub(crate) async fn write(self, store: &Store, key: &StoreKey) -> Result<(), StoreError> {
        match self {
            Self::Stock(rows) => store.want_stock(key, rows).await,
            Self::Prices(rows) => store.want_prices(key, rows).await,
        }
    }
}

/// Reads a file of a kind.
pub(crate) fn rows(kind: ImportKind, file: &[u8]) -> Result<Rows, BadLines> {
    match kind {
        ImportKind::Stock => stock(file).map(Rows::Stock),
        ImportKind::Prices => prices(file).map(Rows::Prices),
    }
}

/// A file that nobody reads.
pub(crate) fn too_large(most: u64) -> BadLines {
    let problem = words(
        format!("o arquivo tem mais de {most} bytes: divida-o em vários"),
        format!("the file has more than {most} bytes: make several of it"),
    );
    BadLines::one(1, problem)
}

/// A file that cannot be read.
pub(crate) fn not_readable(error: &std::io::Error) -> BadLines {
    let portuguese = format!("o arquivo não pode ser lido pelo serviço: {error}");
    BadLines::one(1, words(portuguese, format!("the service cannot read the file: {error}")))
}

/// Levels of stock: columns `sku`, `location_id`, `quantity`.
fn stock(file: &[u8]) -> Result<Vec<StockWish>, BadLines> {
    read(file, &["sku", "location_id", "quantity"], &[], |line| {
        let quantity = line.number("quantity")?.ok_or_else(|| missing("quantity"))?;
        match quantity < Decimal::ZERO {
            true => Err(words(
                format!("quantity é {quantity}; deve ser 0 ou mais"),
                format!("quantity is {quantity}; it must be 0 or more"),
            )),
            false => Ok(StockWish { sku: line.text("sku")?, location: line.text("location_id")?, quantity }),
        }
    })
}

/// Prices: columns `sku`, `price` or `discount_percent`, and where there are tiers `min_quantity` and `package_*`.
fn prices(file: &[u8]) -> Result<Vec<PriceWish>, BadLines> {
    let optional = [
        "min_quantity",
        "price",
        "discount_percent",
        "package_weight",
        "package_height",
        "package_width",
        "package_length",
    ];
    read(file, &["sku"], &optional, |line| {
        let min_quantity = match line.optional("min_quantity") {
            None => 1,
            Some(text) => text
                .parse()
                .map_err(|_| no_number("min_quantity", text, ["um número inteiro", "whole number"]))?,
        };
        let (price, discount_percent) = (line.number("price")?, line.number("discount_percent")?);
        if price.is_none() && discount_percent.is_none() {
            return Err(words(
                "faltam price e discount_percent: informe um deles",
                "neither price nor discount_percent",
            ));
        }
        let package = ["package_weight", "package_height", "package_width", "package_length"];
        let mut measures = [None; 4];
        for (measure, name) in measures.iter_mut().zip(package) {
            *measure = line.number(name)?;
        }
        check_price(min_quantity, price, discount_percent, measures)?;
        Ok(PriceWish { sku: line.text("sku")?, min_quantity, price, discount_percent, package: measures })
    })
}

/// What no product's price can be (API document, "Products, prices, stock": price rules 1, 4 and 6).
fn check_price(
    min_quantity: i64,
    price: Option<Decimal>,
    discount: Option<Decimal>,
    measures: [Option<Decimal>; 4],
) -> Result<(), Words> {
    if min_quantity < 1 {
        return Err(words(
            format!("min_quantity é {min_quantity}; deve ser 1 ou mais"),
            format!("min_quantity is {min_quantity}; it must be 1 or more"),
        ));
    }
    if let Some(price) = price.filter(|price| *price < Decimal::ZERO) {
        return Err(words(
            format!("price é {price}; nunca é menor que 0"),
            format!("price is {price}; it is never below 0"),
        ));
    }
    let is_discount = |percent: &Decimal| (Decimal::ZERO..Decimal::ONE_HUNDRED).contains(percent);
    if let Some(percent) = discount.filter(|percent| !is_discount(percent)) {
        return Err(words(
            format!("discount_percent é {percent}; deve ser de 0 até menos de 100"),
            format!("discount_percent is {percent}; it must be 0 or more and below 100"),
        ));
    }
    if measures.iter().any(Option::is_some) && !measures.iter().all(Option::is_some) {
        return Err(words(
            "informe as quatro medidas package_* ou nenhuma",
            "all four of package_*, or none of them",
        ));
    }
    if let Some(measure) = measures.into_iter().flatten().find(|measure| *measure <= Decimal::ZERO) {
        return Err(words(
            format!("uma medida package_* é {measure}; deve ser maior que 0"),
            format!("a measure of package_* is {measure}; it must be above 0"),
        ));
    }
    Ok(())
}

/// A line, by the names of its columns.
struct Line<'a> {
    names: &'a csv::StringRecord,
    values: &'a csv::StringRecord,
    /// Which separator stands before decimals in this file.
    convention: Convention,
}

impl Line<'_> {
    fn optional(&self, name: &str) -> Option<&str> {
        let at = self.names.iter().position(|column| column.trim().eq_ignore_ascii_case(name))?;
        self.values.get(at).map(str::trim).filter(|text| !text.is_empty())
    }

    fn text(&self, name: &str) -> Result<String, Words> {
        self.optional(name).map(str::to_owned).ok_or_else(|| missing(name))
    }

    fn number(&self, name: &str) -> Result<Option<Decimal>, Words> {
        let Some(text) = self.optional(name) else { return Ok(None) };
        match number::read(text, self.convention) {
            Reading::Clear(number) => Ok(Some(number)),
            Reading::Ambiguous { thousands, decimals } => {
                let decimals = match self.convention {
                    Convention::Comma => decimals.normalize().to_string().replace('.', ","),
                    Convention::Point | Convention::Unknown => decimals.normalize().to_string(),
                };
                Err(words(
                    format!("{name} é {text:?}: escreva {thousands} ou {decimals}"),
                    format!("{name} is {text:?}: write {thousands} or {decimals}"),
                ))
            }
            Reading::Unreadable => Err(no_number(name, text, ["um número", "number"])),
        }
    }
}

fn missing(name: &str) -> Words {
    words(format!("falta {name}"), format!("{name} is missing"))
}

fn no_number(name: &str, text: &str, [portuguese, english]: [&str; 2]) -> Words {
    words(
        format!("{name} é {text:?}, que não é {portuguese}"),
        format!("{name} is {text:?}, which is no {english}"),
    )
}

fn unreadable(error: &csv::Error) -> Words {
    words(format!("a linha não pode ser lida (UTF-8? número de colunas?): {error}"), error.to_string())
}

fn read<T>(
    file: &[u8],
    required: &[&str],
    optional: &[&str],
    row: impl Fn(&Line<'_>) -> Result<T, Words>,
) -> Result<Vec<T>, BadLines> {
    let file = file.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(file);
    let first = file.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let delimiter = if first.contains(&b';') { b';' } else { b',' };
    let convention = if delimiter == b';' { Convention::Comma } else { Convention::Point };
    let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).flexible(false).from_reader(file);
    let names = reader.headers().map_err(|error| BadLines::one(1, unreadable(&error)))?.clone();
    let has = |name: &&&str| names.iter().any(|column| column.trim().eq_ignore_ascii_case(name));
    if let Some(missing) = required.iter().find(|name| !has(name)) {
        let problem = words(format!("falta a coluna {missing}"), format!("the column {missing} is missing"));
        return Err(BadLines::one(1, problem));
    }
    let is_known =
        |column: &&str| required.iter().chain(optional).any(|name| column.trim().eq_ignore_ascii_case(name));
    if let Some(unknown) = names.iter().find(|column| !is_known(column)) {
        let problem = words(
            format!("ninguém conhece a coluna {unknown:?}"),
            format!("nobody knows the column {unknown:?}"),
        );
        return Err(BadLines::one(1, problem));
    }
    let (mut rows, mut bad) = (Vec::new(), Vec::new());
    for values in reader.records() {
        match values {
            Ok(values) => {
                let line = values.position().map_or(0, csv::Position::line);
                match row(&Line { names: &names, values: &values, convention }) {
                    Ok(row) => rows.push(row),
                    Err(problem) => bad.push((line, problem)),
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
    use super::*;

    #[test]
    fn a_number_that_may_mean_two_is_named_with_both() {
        let stock_of = |text: &str| stock(text.as_bytes()).map(|rows| rows[0].quantity.to_string());
        for (file, is) in [
            ("sku;location_id;quantity\nA;1;1.234,5\n", Ok("1234.5")),
            ("sku;location_id;quantity\nA;1;1,234\n", Ok("1.234")),
            ("sku,location_id,quantity\nA,1,1.234\n", Ok("1.234")),
            (
                "sku;location_id;quantity\nA;1;1.990\n",
                Err("linha 2: quantity é \"1.990\": escreva 1990 ou 1,99"),
            ),
            (
                "sku,location_id,quantity\nA,1,\"1,990\"\n",
                Err("linha 2: quantity é \"1,990\": escreva 1990 ou 1.99"),
            ),
        ] {
            let read = stock_of(file).map_err(|bad| bad.in_portuguese().remove(0));
            assert_eq!(read, is.map(str::to_owned).map_err(str::to_owned), "{file}");
        }
    }

    #[test]
    fn a_file_is_read_whole_or_not_at_all_and_every_bad_line_is_named() {
        let good = stock("sku;location_id;quantity\nA-1;1;10,5\nA-2;2;0\n".as_bytes()).ok().unwrap();
        assert_eq!((good.len(), good[0].quantity.to_string()), (2, "10.5".to_owned()));
        let bad =
            stock("sku,location_id,quantity\nA-1,1,10\n,1,3\nA-3,1,-2\nA-4,1,x\n".as_bytes()).err().unwrap();
        assert_eq!(bad.in_portuguese()[0], "linha 3: falta sku");
        assert_eq!(
            bad.in_english(),
            [
                "line 3: sku is missing",
                "line 4: quantity is -2; it must be 0 or more",
                "line 5: quantity is \"x\", which is no number"
            ]
        );
    }

    #[test]
    fn columns_are_found_by_name_and_an_unknown_one_is_refused() {
        let prices = prices("\u{feff}price,SKU\n19.90,A\n".as_bytes()).ok().unwrap();
        assert_eq!((prices[0].sku.as_str(), prices[0].min_quantity), ("A", 1));
        let told = |bad: Option<BadLines>| bad.unwrap().in_english().remove(0);
        assert_eq!(told(stock(b"sku,quantity\nA,1\n").err()), "line 1: the column location_id is missing");
        assert!(told(super::prices(b"sku,preco\nA,1\n").err()).contains("preco"));
    }
}
