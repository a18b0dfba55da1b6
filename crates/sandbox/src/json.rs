//! JSON written straight into one byte buffer.
//!
//! Every body is written per request from compact structs, without a tree in between; the writer keeps the commas.

use std::io::Write as _;

use ulid::Ulid;

use crate::money::Milli;

/// A JSON text under construction.
pub(crate) struct Json {
    buf: Vec<u8>,
    comma: bool,
    numbers_as_strings: bool,
}

impl Json {
    pub(crate) fn new(numbers_as_strings: bool) -> Self {
        Self { buf: Vec::with_capacity(4096), comma: false, numbers_as_strings }
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.buf
    }

    fn value(&mut self) {
        if self.comma {
            self.buf.push(b',');
        }
        self.comma = true;
    }

    pub(crate) fn open_object(&mut self) {
        self.value();
        self.buf.push(b'{');
        self.comma = false;
    }

    pub(crate) fn close_object(&mut self) {
        self.buf.push(b'}');
        self.comma = true;
    }

    pub(crate) fn open_array(&mut self) {
        self.value();
        self.buf.push(b'[');
        self.comma = false;
    }

    pub(crate) fn close_array(&mut self) {
        self.buf.push(b']');
        self.comma = true;
    }

    /// A key that needs no escape: all of ours are literals or enum values.
    pub(crate) fn key(&mut self, key: &str) -> &mut Self {
        self.value();
        self.buf.push(b'"');
        self.buf.extend_from_slice(key.as_bytes());
        self.buf.extend_from_slice(b"\":");
        self.comma = false;
        self
    }

    /// A key that came from outside.
    pub(crate) fn foreign_key(&mut self, key: &str) -> &mut Self {
        self.text(key);
        self.buf.push(b':');
        self.comma = false;
        self
    }

    pub(crate) fn null(&mut self) {
        self.raw("null");
    }

    pub(crate) fn bool(&mut self, value: bool) {
        self.raw(if value { "true" } else { "false" });
    }

    /// Text that is JSON already.
    pub(crate) fn raw(&mut self, json: &str) {
        self.value();
        self.buf.extend_from_slice(json.as_bytes());
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.value();
        self.buf.push(b'"');
        let mut plain = 0;
        for (at, byte) in text.bytes().enumerate() {
            if byte >= 0x20 && byte != b'"' && byte != b'\\' {
                continue;
            }
            self.buf.extend_from_slice(&text.as_bytes()[plain..at]);
            escape(&mut self.buf, byte);
            plain = at + 1;
        }
        self.buf.extend_from_slice(&text.as_bytes()[plain..]);
        self.buf.push(b'"');
    }

    /// A value that was built as one. Field names that came from outside go through here only.
    pub(crate) fn value_of(&mut self, value: &serde_json::Value) {
        self.raw(&value.to_string());
    }

    pub(crate) fn optional_text(&mut self, text: Option<&str>) {
        match text {
            Some(text) => self.text(text),
            None => self.null(),
        }
    }

    /// An integer that is an identifier or a code, which no quirk turns into text.
    pub(crate) fn id(&mut self, value: u64) {
        self.value();
        push_digits(&mut self.buf, value);
    }

    /// An integer that counts something.
    pub(crate) fn count(&mut self, value: u64) {
        self.value();
        self.quote();
        push_digits(&mut self.buf, value);
        self.quote();
    }

    /// An amount with exactly `scale` (2 or 3) decimals; what lies below the scale is cut.
    pub(crate) fn decimal(&mut self, value: Milli, scale: u8) {
        self.value();
        self.quote();
        if value.0 < 0 {
            self.buf.push(b'-');
        }
        let thousandths = value.0.unsigned_abs();
        push_digits(&mut self.buf, thousandths / 1000);
        self.buf.push(b'.');
        let fraction = thousandths % 1000;
        let digit = |n: u64| b'0' + (n % 10) as u8;
        self.buf.extend_from_slice(&[digit(fraction / 100), digit(fraction / 10)]);
        if scale > 2 {
            self.buf.push(digit(fraction));
        }
        self.quote();
    }

    /// A price has three decimals only where it needs them.
    pub(crate) fn price(&mut self, price: Milli) {
        self.decimal(price, if price.0 % 10 == 0 { 2 } else { 3 });
    }

    /// A quantity: whole when it is whole, else with three decimals.
    pub(crate) fn quantity(&mut self, value: Milli) {
        if value.0 % 1000 == 0 && value.0 >= 0 {
            self.count(value.0.unsigned_abs() / 1000);
        } else {
            self.decimal(value, 3);
        }
    }

    pub(crate) fn ulid(&mut self, id: u128) {
        let mut buf = [0; ulid::ULID_LEN];
        self.raw_text(Ulid(id).array_to_str(&mut buf));
    }

    /// Text that needs no escape.
    pub(crate) fn raw_text(&mut self, text: &str) {
        self.value();
        self.buf.push(b'"');
        self.buf.extend_from_slice(text.as_bytes());
        self.buf.push(b'"');
    }

    /// An instant (seconds since 1970) as Brasília's wall clock, `2026-01-31T20:15:00-03:00`.
    pub(crate) fn time(&mut self, seconds: i64) {
        self.value();
        self.buf.push(b'"');
        crate::text::push_time(&mut self.buf, seconds);
        self.buf.push(b'"');
    }

    pub(crate) fn optional_time(&mut self, seconds: Option<i64>) {
        match seconds {
            Some(seconds) => self.time(seconds),
            None => self.null(),
        }
    }

    fn quote(&mut self) {
        if self.numbers_as_strings {
            self.buf.push(b'"');
        }
    }
}

/// Writes a byte as an escape.
fn escape(buf: &mut Vec<u8>, byte: u8) {
    match byte {
        b'"' | b'\\' => buf.extend_from_slice(&[b'\\', byte]),
        b'\n' => buf.extend_from_slice(b"\\n"),
        b'\t' => buf.extend_from_slice(b"\\t"),
        _ => {
            let _ = write!(buf, "\\u{byte:04x}");
        }
    }
}

/// Writes a number in decimal digits.
fn push_digits(buf: &mut Vec<u8>, mut value: u64) {
    let mut digits = [0_u8; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    buf.extend_from_slice(&digits[at..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(strings: bool, write: impl FnOnce(&mut Json)) -> String {
        let mut json = Json::new(strings);
        write(&mut json);
        String::from_utf8(json.into_bytes()).unwrap()
    }

    #[test]
    fn commas_stand_between_values_only() {
        let text = written(false, |json| {
            json.open_object();
            json.key("a").open_array();
            json.id(1);
            json.null();
            json.close_array();
            json.key("b").bool(true);
            json.close_object();
        });
        assert_eq!(text, r#"{"a":[1,null],"b":true}"#);
    }

    #[test]
    fn text_is_escaped_and_read_back_equal() {
        let nasty = "D'Ávila \"x\" \\ \n\t\u{1} 📦";
        let text = written(false, |json| json.text(nasty));
        assert_eq!(serde_json::from_str::<String>(&text).unwrap(), nasty);
    }

    #[test]
    fn decimals_keep_their_places_and_become_text_when_asked() {
        assert_eq!(written(false, |json| json.decimal(Milli(58_900), 2)), "58.90");
        assert_eq!(written(false, |json| json.decimal(Milli(-5), 3)), "-0.005");
        assert_eq!(written(true, |json| json.decimal(Milli(1_234), 3)), "\"1.234\"");
        assert_eq!(written(true, |json| json.count(7)), "\"7\"");
        assert_eq!(written(true, |json| json.id(7)), "7");
    }
}
