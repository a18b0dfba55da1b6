//! `[labels]`: in `espelho.toml` the folder of the label files; in a store's file which labels are fetched, and from
//! where.

use espelho_api_client::HostPattern;
use espelho_model::{shipment::LabelFormat, text, text::Text};
use serde::{Deserialize, Serialize};

/// The section of the installation.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct LabelsSection {
    /// Relative to the state directory (`place`).
    pub directory: String,
    /// The days to keep label files that changed or went; absent: for ever.
    pub keep_days: Option<u32>,
}

impl Default for LabelsSection {
    fn default() -> Self {
        Self { directory: "labels".into(), keep_days: None }
    }
}

impl LabelsSection {
    /// Returns the mistake in it, if any.
    pub(super) fn mistake(&self) -> Option<Text> {
        let is_empty = self.directory.trim_end_matches('/').is_empty();
        is_empty.then(|| text!("config-labels-directory"))
    }
}

/// The section of a store, checked.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LabelsConfig {
    /// Empty: every format.
    pub formats: Vec<LabelFormat>,
    /// Empty: any public host.
    pub hosts: Vec<HostPattern>,
    /// The age in days up to which labels are fetched.
    pub days: u32,
}

/// The section of a store, as written.
#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct StoreLabels {
    formats: Vec<String>,
    hosts: Vec<String>,
    days: u32,
}

impl Default for StoreLabels {
    fn default() -> Self {
        Self { formats: vec!["*".into()], hosts: Vec::new(), days: 30 }
    }
}

impl StoreLabels {
    /// Checks the section; a mistake comes with its key. Returns `None` if no format is configured.
    pub(super) fn check(self) -> Result<Option<LabelsConfig>, (&'static str, Text)> {
        let wrong = |host: &str| ("hosts", text!("config-labels-host", host = host));
        let hosts = self.hosts.iter().map(|host| host.parse::<HostPattern>().map_err(|_| wrong(host)));
        let hosts = hosts.collect::<Result<_, _>>()?;
        if self.formats.is_empty() {
            return Ok(None);
        }
        if self.formats.iter().any(|format| format == "*") {
            return Ok(Some(LabelsConfig { formats: Vec::new(), hosts, days: self.days }));
        }
        let formats: Vec<LabelFormat> = self.formats.iter().map(|format| LabelFormat::new(format)).collect();
        if let Some(unknown) = formats.iter().find(|format| format.file_kind().is_none()) {
            return Err(("formats", text!("config-labels-format", format = unknown.as_str())));
        }
        Ok(Some(LabelsConfig { formats, hosts, days: self.days }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(text: &str) -> Result<Option<LabelsConfig>, (&'static str, Text)> {
        toml::from_str::<StoreLabels>(text).unwrap().check()
    }

    #[test]
    fn every_format_from_any_public_host_is_fetched_unless_the_file_says_otherwise() {
        let config = checked("").unwrap().unwrap();
        assert_eq!((config.formats, config.hosts, config.days), (vec![], vec![], 30));
        let text = "formats = [\"zebra\"]\nhosts = [\"*.Storage.example\"]\ndays = 7";
        let config = checked(text).unwrap().unwrap();
        assert_eq!((config.formats, config.days), (vec![LabelFormat::Zebra], 7));
        assert_eq!(config.hosts[0].to_string(), "*.storage.example");
        assert_eq!(checked("formats = []").unwrap(), None);
    }

    #[test]
    fn formats_and_hosts_that_do_not_exist_are_refused_by_name() {
        let (key, problem) = checked("formats = [\"a4\", \"braille\"]").unwrap_err();
        let problem = problem.to_string();
        assert!(
            key == "formats" && problem.contains("\"braille\"") && problem.contains("zebra_pdf"),
            "{problem}"
        );
        let (key, problem) = checked("hosts = [\"https://s.example/a\"]").unwrap_err();
        assert!(key == "hosts" && problem.to_string().contains("is no host"), "{problem}");
        assert!(LabelsSection { directory: "/".into(), ..LabelsSection::default() }.mistake().is_some());
        assert_eq!(LabelsSection::default().mistake(), None);
    }
}
