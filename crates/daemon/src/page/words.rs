//! The words of one language, for the templates; addresses within the page.

use espelho_model::{
    text,
    text::{Arg, Locale, Text, words},
};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::terminal::shown;

/// Everything but what an address may contain anywhere.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// The words of one language.
#[derive(Clone, Copy, Debug)]
pub(super) struct Words(pub(super) Locale);

impl Words {
    pub(super) fn tag(&self) -> &'static str {
        self.0.language.tag()
    }

    pub(super) fn say(&self, text: &Text) -> String {
        text.message(self.0)
    }

    pub(super) fn state(&self, state: &str) -> String {
        self.say(&Text::new(format!("status-state-{state}")))
    }

    pub(super) fn resource(&self, resource: &str) -> String {
        self.say(&words::resource(resource))
    }

    pub(super) fn entity(&self, entity: &str) -> String {
        self.say(&words::entity(entity))
    }

    pub(super) fn lane(&self, lane: &str) -> String {
        self.say(&words::lane(lane))
    }

    pub(super) fn sweep(&self, sweep: &str) -> String {
        self.say(&words::sweep(sweep))
    }

    pub(super) fn order_status(&self, status: &str) -> String {
        match status {
            "" => self.say(&text!("page-no-status")),
            _ => shown(&self.say(&words::order_status(status))),
        }
    }

    /// Returns somebody else's words: letters that move the cursor or turn the line are escaped.
    pub(super) fn foreign(&self, text: &str) -> String {
        shown(text)
    }

    /// Formats a count.
    pub(super) fn number(&self, number: u64) -> String {
        self.0.number(number)
    }

    pub(super) fn span(&self, seconds: Option<i64>) -> String {
        seconds.map_or_else(|| "–".to_owned(), |seconds| self.0.span(seconds))
    }

    /// Says how long ago something was.
    pub(super) fn ago(&self, seconds: i64) -> String {
        self.say(&text!("status-ago", span = Arg::Seconds(seconds)))
    }
}

/// Returns a name as a part of an address.
pub(super) fn encoded(name: &str) -> String {
    utf8_percent_encode(name, ENCODED).to_string()
}

/// Returns the address of an order's page.
pub(super) fn order_address(store: &str, number: &str) -> String {
    format!("/pedidos/{}?store={}", encoded(number), encoded(store))
}

/// Returns the address of a store's page.
pub(super) fn store_address(store: &str) -> String {
    format!("/lojas/{}", encoded(store))
}

/// Returns the address of the history of a thing that has no page of its own kind.
pub(super) fn story_address(store: &str, entity: &str, key: &str) -> String {
    format!("/historia/{}/{}?store={}", encoded(entity), encoded(key), encoded(store))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_any_letters_is_one_part_of_an_address() {
        assert_eq!(order_address("loja-1", "000100"), "/pedidos/000100?store=loja-1");
        let evil = order_address("a&b", "../<script>?x=\"1\"#ç");
        assert_eq!(evil, "/pedidos/..%2F%3Cscript%3E%3Fx%3D%221%22%23%C3%A7?store=a%26b");
    }
}
