//! The hosts that files may be fetched from, if the operator restricts them.

use std::{fmt, str::FromStr};

use reqwest::Url;

/// A host name, or `*.` and a suffix: `*.storage.example` matches every host below `storage.example`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostPattern {
    name: String,
    below: bool,
}

/// The text is not a host name.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no host: write a name like \"storage.example\", or \"*.storage.example\" for all below it")]
pub struct InvalidHost(String);

impl FromStr for HostPattern {
    type Err = InvalidHost;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let invalid = || InvalidHost(text.to_owned());
        let (name, below) = text.trim().strip_prefix("*.").map_or((text.trim(), false), |name| (name, true));
        // Normalised like the address of a file: in lower case, and in ASCII.
        let url = Url::parse(&format!("https://{name}/")).map_err(|_| invalid())?;
        let plain = url.port().is_none() && url.path() == "/" && url.username().is_empty();
        let host =
            url.host_str().filter(|host| plain && !host.contains('*') && !name.contains(['?', '#', '/']));
        let name = host.ok_or_else(invalid)?.trim_end_matches('.').to_owned();
        Ok(Self { name, below })
    }
}

impl HostPattern {
    /// Returns whether the pattern matches a host, in lower case.
    pub(super) fn matches(&self, host: &str) -> bool {
        let host = host.trim_end_matches('.');
        match self.below {
            false => host == self.name,
            true => host.strip_suffix(&self.name).is_some_and(|rest| rest.len() > 1 && rest.ends_with('.')),
        }
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.below { "*." } else { "" }, self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_means_one_host_or_all_below_one_and_no_lookalikes() {
        let matches = |pattern: &str, host: &str| pattern.parse::<HostPattern>().unwrap().matches(host);
        for (pattern, host, expected) in [
            ("storage.example", "storage.example", true),
            ("Storage.Example", "storage.example.", true),
            ("storage.example", "a.storage.example", false),
            ("storage.example", "storage.example.evil.example", false),
            ("*.storage.example", "a.storage.example", true),
            ("*.storage.example", "a.b.storage.example", true),
            ("*.storage.example", "storage.example", false),
            ("*.storage.example", "evilstorage.example", false),
            ("*.storage.example", ".storage.example", false),
            ("ação.example", "xn--ao-4iah.example", false),
            ("203.0.113.9", "203.0.113.9", true),
        ] {
            assert_eq!(matches(pattern, host), expected, "{pattern} {host}");
        }
        assert_eq!("*.S.Example".parse::<HostPattern>().unwrap().to_string(), "*.s.example");
    }

    #[test]
    fn what_is_more_than_a_host_is_no_pattern() {
        for bad in [
            "",
            "*",
            "*.",
            "https://s.example",
            "s.example/a",
            "s.example:8443",
            "u@s.example",
            "a*.example",
            "s?x",
        ] {
            assert!(bad.parse::<HostPattern>().is_err(), "{bad}");
        }
    }
}
