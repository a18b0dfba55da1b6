//! How often something runs: a number of seconds, a span of time, or a cron expression in UTC.

use std::{fmt, sync::Arc, time::Duration};

use chrono::{DateTime, Utc};
use croner::{Cron, parser::CronParser};
use espelho_model::{text, text::Text};
use espelho_sync_engine::plan::schedule::{Cadence as Engine, Timetable};
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error, Visitor},
};

use super::people::refused;

/// A cadence as written in the configuration.
#[derive(Clone, Debug)]
pub(crate) struct Cadence {
    text: String,
    engine: Engine,
}

/// A cron expression.
#[derive(Debug)]
struct Expression(Cron);

impl Timetable for Expression {
    fn next_after(&self, time: DateTime<Utc>) -> Option<DateTime<Utc>> {
        self.0.find_next_occurrence(&time, false).ok()
    }
}

impl Cadence {
    /// Returns a cadence of this many seconds.
    pub(crate) fn seconds(seconds: u64) -> Self {
        Self { text: seconds.to_string(), engine: Engine::Every(Duration::from_secs(seconds)) }
    }

    /// Returns the cadence in the engine's type.
    pub(crate) fn engine(&self) -> Engine {
        self.engine.clone()
    }

    fn parse(text: &str) -> Result<Self, Text> {
        let text = text.trim();
        let engine = match text.contains(char::is_whitespace) {
            true => cron(text)?,
            false => Engine::Every(span(text).ok_or_else(|| wrong(text))?),
        };
        Ok(Self { text: text.to_owned(), engine })
    }
}

fn cron(text: &str) -> Result<Engine, Text> {
    let parser = CronParser::builder().seconds(croner::parser::Seconds::Required).dom_and_dow(true).build();
    let cron = parser.parse(text).map_err(|_| wrong(text))?;
    Ok(Engine::At(Arc::new(Expression(cron))))
}

/// Parses a span of time: a number of seconds, or 90s, 30m, 2h, 1d.
pub(crate) fn span(text: &str) -> Option<Duration> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit = match unit {
        "" | "s" => 1,
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        _ => return None,
    };
    let seconds = number.parse::<u64>().ok()?.checked_mul(unit)?;
    // A year at most: anything longer is a mistake.
    (1..=366 * 86_400).contains(&seconds).then(|| Duration::from_secs(seconds))
}

fn wrong(text: &str) -> Text {
    text!("config-cadence", value = text)
}

impl PartialEq for Cadence {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Serialize for Cadence {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for Cadence {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Written)
    }
}

struct Written;

impl Visitor<'_> for Written {
    type Value = Cadence;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("seconds, a span like \"90s\", or a cron expression of six fields")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Cadence, E> {
        Cadence::parse(text).map_err(|problem| refused(&problem))
    }

    fn visit_i64<E: Error>(self, seconds: i64) -> Result<Cadence, E> {
        self.visit_str(&seconds.to_string())
    }

    fn visit_u64<E: Error>(self, seconds: u64) -> Result<Cadence, E> {
        self.visit_str(&seconds.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn period(text: &str) -> Result<u64, String> {
        let now = "2026-11-20T12:00:00Z".parse().unwrap();
        Cadence::parse(text)
            .map(|cadence| cadence.engine().period(now).as_secs())
            .map_err(|problem| problem.to_string())
    }

    #[test]
    fn a_cadence_is_a_number_a_span_or_a_cron_expression() {
        for (text, seconds) in [
            ("60", 60),
            ("90s", 90),
            ("5m", 300),
            ("2h", 7_200),
            ("1d", 86_400),
            ("0 */5 * * * *", 300),
            ("20 7 3 * * *", 86_400),
        ] {
            assert_eq!(period(text), Ok(seconds), "{text}");
        }
    }

    #[test]
    fn what_is_none_of_them_is_refused_with_examples() {
        for text in ["0", "", "-5", "1.5", "90x", "s", "*/5 * * * *", "99 * * * * *", "99999999999999999999"]
        {
            assert!(period(text).is_err_and(|error| error.contains("\"90s\"")), "{text}");
        }
    }

    #[test]
    fn a_file_may_say_it_as_a_number_or_as_text() {
        #[derive(Deserialize)]
        struct File {
            every: Cadence,
        }
        let read = |text: &str| toml::from_str::<File>(text).map(|file| file.every.text);
        assert_eq!(read("every = 60").unwrap(), "60");
        assert_eq!(read("every = \"2h\"").unwrap(), "2h");
        assert!(read("every = true").is_err() && read("every = 0").is_err());
    }

    /// Without offset or clock change: the instants are the same wherever the machine stands.
    // withstands: F080, F119
    #[test]
    fn a_cron_expression_is_in_utc_also_when_clocks_change() {
        // The night in which clocks went forward in São Paulo, and the one in which they went back.
        for (from, next) in [
            ("2018-11-04T02:00:00Z", "2018-11-04T03:30:00Z"),
            ("2018-11-04T03:30:00Z", "2018-11-05T03:30:00Z"),
            ("2019-02-17T01:00:00Z", "2019-02-17T03:30:00Z"),
            ("2019-02-17T03:30:00Z", "2019-02-18T03:30:00Z"),
        ] {
            let Engine::At(timetable) = Cadence::parse("0 30 3 * * *").unwrap().engine() else { panic!() };
            assert_eq!(timetable.next_after(from.parse().unwrap()), Some(next.parse().unwrap()), "{from}");
        }
    }
}
