//! Numbers and times in Brazilian or English notation.

use chrono::{DateTime, Utc};
use rust_decimal::Decimal;

use super::{Language, Locale};

impl Locale {
    /// Formats an amount: `R$ 1.234,56`, `R$ 1,234.56`. Shows at least two decimals, and all significant ones.
    pub fn money(self, amount: Decimal) -> String {
        money(amount, self.language)
    }

    /// Formats a quantity, without trailing zeros: `1.234,5`.
    pub fn quantity(self, quantity: Decimal) -> String {
        grouped(&quantity.normalize().to_string(), self.language)
    }

    /// Formats a count with thousands separators: `99.441`.
    pub fn number(self, number: u64) -> String {
        grouped(&number.to_string(), self.language)
    }

    /// Formats a local time to the minute: `31/01/2026 14:05`, `2026-01-31 14:05`.
    pub fn time(self, time: DateTime<Utc>) -> String {
        local(time, self)
    }

    /// Formats a duration as one number and one unit: `45 s`, `12 min`, `3 h`, `29 d`.
    pub fn span(self, seconds: i64) -> String {
        span(seconds)
    }
}

pub(super) fn money(amount: Decimal, language: Language) -> String {
    let scale = amount.normalize().scale().max(2);
    let mut exact = amount;
    exact.rescale(scale);
    format!("R$ {}", grouped(&exact.to_string(), language))
}

pub(super) fn quantity(quantity: Decimal, language: Language) -> String {
    grouped(&quantity.normalize().to_string(), language)
}

/// Adds thousands separators to plain decimal text.
pub(super) fn grouped(plain: &str, language: Language) -> String {
    let (thousands, point) = match language {
        Language::Portuguese => ('.', ','),
        Language::English => (',', '.'),
    };
    let (sign, digits) = plain.strip_prefix('-').map_or(("", plain), |digits| ("-", digits));
    let (whole, fraction) = digits.split_once('.').map_or((digits, None), |(w, f)| (w, Some(f)));
    let mut text = String::from(sign);
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            text.push(thousands);
        }
        text.push(digit);
    }
    if let Some(fraction) = fraction {
        text.push(point);
        text.push_str(fraction);
    }
    text
}

pub(super) fn local(time: DateTime<Utc>, locale: Locale) -> String {
    let local = time.with_timezone(&locale.timezone);
    let pattern = match locale.language {
        Language::Portuguese => "%d/%m/%Y %H:%M",
        Language::English => "%Y-%m-%d %H:%M",
    };
    local.format(pattern).to_string()
}

/// Formats a local time of day: `14:05:09`. A part of a second counts as a whole one: what is over then is over.
pub(super) fn time_of_day(time: DateTime<Utc>, locale: Locale) -> String {
    let whole = match time.timestamp_subsec_nanos() {
        0 => Some(time),
        _ => DateTime::from_timestamp(time.timestamp().saturating_add(1), 0),
    };
    whole.unwrap_or(time).with_timezone(&locale.timezone).format("%H:%M:%S").to_string()
}

pub(super) fn span(seconds: i64) -> String {
    match seconds.max(0) {
        s if s < 120 => format!("{s} s"),
        s if s < 7_200 => format!("{} min", s / 60),
        s if s < 172_800 => format!("{} h", s / 3_600),
        s => format!("{} d", s / 86_400),
    }
}
