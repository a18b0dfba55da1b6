//! `[notices]` of `espelho.toml`: by which ways people hear of alarms. Addresses may hold a secret (a topic, a token), so
//! no message quotes one.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use chrono::TimeDelta;
use espelho_api_client::error::conceal;
use espelho_model::{text, text::Text};
use espelho_sync_engine::plan::{alarms::Severity, notices::Rules};
use lettre::message::Mailbox;
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Deserializer, Serialize};

use super::{
    ConfigError,
    address::check_outgoing,
    secret::{self, InlineSecret},
};

/// A settling time beyond this would break the promise of a minute.
const LONGEST_SETTLING: u32 = 30;
/// A program may run for this long at most, so that messages behind it do not wait for ever.
const LONGEST_PROGRAM: u32 = 300;

/// The section as written.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct NoticesSection {
    /// The least severity that is told.
    pub from: Least,
    /// An alarm that comes and goes within this time is not told.
    pub settle_seconds: u32,
    pub ping: PingSection,
    pub webhook: WebhookSection,
    pub smtp: SmtpSection,
    pub exec: ExecSection,
}

/// A severity, as written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Least {
    Warning,
    #[default]
    Failing,
}

/// The dead-man switch.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct PingSection {
    pub url: Option<InlineSecret>,
    pub url_file: Option<PathBuf>,
    /// The address that is called in place of `url` while something does not work; absent: none.
    pub fail_url: Option<InlineSecret>,
    pub every_seconds: u32,
}

/// A POST of JSON.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct WebhookSection {
    pub url: Option<InlineSecret>,
    pub url_file: Option<PathBuf>,
    pub token: Option<InlineSecret>,
    pub token_file: Option<PathBuf>,
}

/// Mail.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct SmtpSection {
    pub host: Option<String>,
    /// Absent: 587 with `starttls`, 465 with `implicit`, 25 with `none`.
    pub port: Option<u16>,
    pub tls: SmtpTls,
    pub username: Option<String>,
    pub password: Option<InlineSecret>,
    pub password_file: Option<PathBuf>,
    pub from: Option<String>,
    #[serde(deserialize_with = "one_or_many")]
    pub to: Vec<String>,
}

/// How the connection to the mail server is encrypted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum SmtpTls {
    /// Plain at first, then encrypted; a server that cannot is refused.
    #[default]
    Starttls,
    /// Encrypted from the start.
    Implicit,
    /// Not at all.
    None,
}

/// A program.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ExecSection {
    /// The program with its arguments; no shell reads it.
    pub command: Vec<String>,
    pub timeout_seconds: u32,
}

impl Default for NoticesSection {
    fn default() -> Self {
        Self {
            from: Least::Failing,
            settle_seconds: 5,
            ping: PingSection::default(),
            webhook: WebhookSection::default(),
            smtp: SmtpSection::default(),
            exec: ExecSection::default(),
        }
    }
}

impl Default for PingSection {
    fn default() -> Self {
        Self { url: None, url_file: None, fail_url: None, every_seconds: 60 }
    }
}

impl Default for ExecSection {
    fn default() -> Self {
        Self { command: Vec::new(), timeout_seconds: 10 }
    }
}

/// Reads a list of texts, or one text.
fn one_or_many<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum OneOrMany {
        One(String),
        Many(Vec<String>),
    }
    Ok(match OneOrMany::deserialize(from)? {
        OneOrMany::One(one) => vec![one],
        OneOrMany::Many(many) => many,
    })
}

/// The section, checked, with its secrets.
#[derive(Clone, Debug)]
pub(crate) struct NoticesConfig {
    pub rules: Rules,
    pub ping: Option<PingConfig>,
    pub webhook: Option<NoticeWebhook>,
    pub smtp: Option<SmtpConfig>,
    pub exec: Option<ExecConfig>,
}

/// The dead-man switch.
#[derive(Clone, Debug)]
pub(crate) struct PingConfig {
    pub url: SecretString,
    pub fail_url: Option<SecretString>,
    pub every: Duration,
}

/// The receiver of messages as JSON.
#[derive(Clone, Debug)]
pub(crate) struct NoticeWebhook {
    pub url: SecretString,
    pub token: Option<SecretString>,
}

/// The mail server, and the addresses of the mails.
#[derive(Clone, Debug)]
pub(crate) struct SmtpConfig {
    pub host: String,
    pub port: u16,
    pub tls: SmtpTls,
    pub credentials: Option<(String, SecretString)>,
    pub from: Mailbox,
    pub to: Vec<Mailbox>,
}

/// The program that is started.
#[derive(Clone, Debug)]
pub(crate) struct ExecConfig {
    pub program: PathBuf,
    pub arguments: Vec<String>,
    pub timeout: Duration,
}

impl Default for NoticesConfig {
    fn default() -> Self {
        let rules = rules(&NoticesSection::default());
        Self { rules, ping: None, webhook: None, smtp: None, exec: None }
    }
}

fn rules(section: &NoticesSection) -> Rules {
    let from = match section.from {
        Least::Warning => Severity::Warning,
        Least::Failing => Severity::Failing,
    };
    Rules { from, settle: TimeDelta::seconds(section.settle_seconds.into()) }
}

/// Checks the section, and reads its secrets.
pub(super) fn load(dir: &Path, section: &NoticesSection) -> Result<NoticesConfig, ConfigError> {
    let file = dir.join("espelho.toml");
    checked(dir, &file, section).map_err(|problem| ConfigError { place: file.display().to_string(), problem })
}

fn checked(dir: &Path, file: &Path, section: &NoticesSection) -> Result<NoticesConfig, Text> {
    if section.settle_seconds > LONGEST_SETTLING {
        return Err(text!("config-notice-most", field = "notices.settle_seconds", most = LONGEST_SETTLING));
    }
    Ok(NoticesConfig {
        rules: rules(section),
        ping: ping(dir, file, &section.ping)?,
        webhook: webhook(dir, file, &section.webhook)?,
        smtp: smtp(dir, file, &section.smtp)?,
        exec: exec(&section.exec)?,
    })
}

/// Returns a secret that stands in the file or in one of its own.
fn secret_of(
    (dir, espelho_toml): (&Path, &Path),
    field: &str,
    inline: Option<&InlineSecret>,
    file: Option<&Path>,
) -> Result<Option<SecretString>, Text> {
    let secret = match (inline, file) {
        (Some(_), Some(_)) => return Err(text!("config-notice-twice", field = field)),
        (Some(inline), None) => inline.secret().clone(),
        (None, Some(file)) => secret::from_file(dir, espelho_toml, file).map_err(|tried| {
            secret::unreadable(tried, |tried| text!("config-notice-unreadable", field = field, tried = tried))
        })?,
        (None, None) => return Ok(None),
    };
    conceal(&secret);
    Ok(Some(secret))
}

/// The same for an address, which is checked.
fn address_of(
    at: (&Path, &Path),
    field: &str,
    inline: Option<&InlineSecret>,
    file: Option<&Path>,
) -> Result<Option<SecretString>, Text> {
    let address = secret_of(at, field, inline, file)?;
    if let Some(address) = &address {
        check_outgoing(field, address.expose_secret())?;
    }
    Ok(address)
}

fn ping(dir: &Path, file: &Path, section: &PingSection) -> Result<Option<PingConfig>, Text> {
    let at = (dir, file);
    let url = address_of(at, "notices.ping.url", section.url.as_ref(), section.url_file.as_deref())?;
    let fail_url = address_of(at, "notices.ping.fail_url", section.fail_url.as_ref(), None)?;
    if section.every_seconds == 0 {
        return Err(text!("config-notice-least", field = "notices.ping.every_seconds"));
    }
    match (url, fail_url) {
        (Some(url), fail_url) => {
            let every = Duration::from_secs(section.every_seconds.into());
            Ok(Some(PingConfig { url, fail_url, every }))
        }
        (None, Some(_)) => Err(text!("config-notice-needs", field = "notices.ping.fail_url", other = "url")),
        (None, None) => Ok(None),
    }
}

fn webhook(dir: &Path, file: &Path, section: &WebhookSection) -> Result<Option<NoticeWebhook>, Text> {
    let at = (dir, file);
    let url = address_of(at, "notices.webhook.url", section.url.as_ref(), section.url_file.as_deref())?;
    let token =
        secret_of(at, "notices.webhook.token", section.token.as_ref(), section.token_file.as_deref())?;
    match (url, token) {
        (Some(url), token) => Ok(Some(NoticeWebhook { url, token })),
        (None, Some(_)) => Err(text!("config-notice-needs", field = "notices.webhook.token", other = "url")),
        (None, None) => Ok(None),
    }
}

fn smtp(dir: &Path, file: &Path, section: &SmtpSection) -> Result<Option<SmtpConfig>, Text> {
    let Some(host) = section.host.as_deref().map(str::trim).filter(|host| !host.is_empty()) else {
        let is_begun = section.from.is_some() || !section.to.is_empty() || section.username.is_some();
        return match is_begun {
            true => Err(text!("config-notice-needs", field = "[notices.smtp]", other = "host")),
            false => Ok(None),
        };
    };
    let needs = |other: &str| text!("config-notice-needs", field = "notices.smtp.host", other = other);
    let from = section.from.as_deref().ok_or_else(|| needs("from"))?;
    if section.to.is_empty() {
        return Err(needs("to"));
    }
    let password = secret_of(
        (dir, file),
        "notices.smtp.password",
        section.password.as_ref(),
        section.password_file.as_deref(),
    )?;
    let credentials = match (section.username.clone(), password) {
        (Some(username), Some(password)) => Some((username, password)),
        (None, None) => None,
        (Some(_), None) => {
            return Err(text!("config-notice-needs", field = "notices.smtp.username", other = "password"));
        }
        (None, Some(_)) => {
            return Err(text!("config-notice-needs", field = "notices.smtp.password", other = "username"));
        }
    };
    let is_here = ["localhost", "127.0.0.1", "::1"].contains(&host);
    if section.tls == SmtpTls::None && credentials.is_some() && !is_here {
        return Err(text!("config-notice-plain"));
    }
    let usual = match section.tls {
        SmtpTls::Starttls => 587,
        SmtpTls::Implicit => 465,
        SmtpTls::None => 25,
    };
    Ok(Some(SmtpConfig {
        host: host.to_owned(),
        port: section.port.unwrap_or(usual),
        tls: section.tls,
        credentials,
        from: mailbox("notices.smtp.from", from)?,
        to: section.to.iter().map(|to| mailbox("notices.smtp.to", to)).collect::<Result<_, _>>()?,
    }))
}

fn mailbox(field: &str, text: &str) -> Result<Mailbox, Text> {
    text.parse().map_err(|_| text!("config-notice-mailbox", field = field, address = text))
}

fn exec(section: &ExecSection) -> Result<Option<ExecConfig>, Text> {
    let Some((program, arguments)) = section.command.split_first() else { return Ok(None) };
    if !Path::new(program).is_absolute() {
        return Err(text!("config-notice-program", program = program));
    }
    match section.timeout_seconds {
        0 => return Err(text!("config-notice-least", field = "notices.exec.timeout_seconds")),
        seconds if seconds > LONGEST_PROGRAM => {
            let (field, most) = ("notices.exec.timeout_seconds", LONGEST_PROGRAM);
            return Err(text!("config-notice-most", field = field, most = most));
        }
        _ => {}
    }
    Ok(Some(ExecConfig {
        program: program.into(),
        arguments: arguments.to_vec(),
        timeout: Duration::from_secs(section.timeout_seconds.into()),
    }))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn loaded(text: &str) -> Result<NoticesConfig, String> {
        let dir = tempfile::tempdir().unwrap();
        let secret = dir.path().join("token");
        std::fs::write(&secret, "segredo-do-arquivo\n").unwrap();
        std::fs::set_permissions(secret, std::fs::Permissions::from_mode(0o600)).unwrap();
        let section: NoticesSection = toml::from_str(text).map_err(|error| error.to_string())?;
        load(dir.path(), &section).map_err(|error| error.problem.to_string())
    }

    #[test]
    fn nothing_goes_out_unless_it_is_configured() {
        let none = loaded("").unwrap();
        assert!(none.ping.is_none() && none.webhook.is_none() && none.smtp.is_none() && none.exec.is_none());
        assert_eq!(none.rules, Rules { from: Severity::Failing, settle: TimeDelta::seconds(5) });
    }

    #[test]
    fn each_way_is_read_with_its_secrets_which_are_never_shown() {
        let all = loaded(
            "from = \"warning\"\n\
             [ping]\nurl = \"https://hc.test/ping/segredo-do-ping\"\nfail_url = \"https://hc.test/ping/segredo-do-ping/fail\"\n\
             [webhook]\nurl = \"http://127.0.0.1:9/segredo\"\ntoken_file = \"token\"\n\
             [smtp]\nhost = \"mail.test\"\nusername = \"u\"\npassword = \"segredo-do-correio\"\nfrom = \"espelho@loja.test\"\n\
             to = \"Ana <ana@loja.test>\"\n\
             [exec]\ncommand = [\"/bin/true\", \"x\"]\n",
        )
        .unwrap();
        assert_eq!(all.rules.from, Severity::Warning);
        let webhook = all.webhook.as_ref().unwrap();
        assert_eq!(webhook.token.as_ref().unwrap().expose_secret(), "segredo-do-arquivo");
        let smtp = all.smtp.as_ref().unwrap();
        assert_eq!((smtp.port, smtp.to[0].email.to_string()), (587, "ana@loja.test".to_owned()));
        assert_eq!(all.ping.as_ref().unwrap().every, Duration::from_secs(60));
        assert_eq!(all.exec.as_ref().unwrap().arguments, ["x"]);
        assert!(!format!("{all:?}").contains("segredo"), "{all:?}");
    }

    #[test]
    fn a_mistake_is_named_and_no_address_is_quoted() {
        for (text, words) in [
            ("[ping]\nfail_url = \"https://hc.test/x\"", "notices.ping.fail_url needs url"),
            ("[ping]\nurl = \"http://hc.test/segredo\"", "notices.ping.url must begin with https://"),
            ("[ping]\nurl = \"https://u:segredo@hc.test/\"", "notices.ping.url carries credentials"),
            ("[ping]\nurl = \"segredo\"", "notices.ping.url is not an address"),
            ("[ping]\nurl = \"https://hc.test/\"\nevery_seconds = 0", "at least 1"),
            ("[webhook]\ntoken = \"segredo\"", "notices.webhook.token needs url"),
            ("[webhook]\nurl = \"https://h.test/\"\ntoken = \"segredo\"\ntoken_file = \"token\"", "both"),
            ("[webhook]\nurl = \"https://h.test/\"\ntoken_file = \"nowhere\"", "cannot be read"),
            ("[smtp]\nto = \"a@b.test\"", "needs host"),
            ("[smtp]\nhost = \"h\"\nto = \"a@b.test\"", "needs from"),
            ("[smtp]\nhost = \"h\"\nfrom = \"a@b.test\"", "needs to"),
            ("[smtp]\nhost = \"h\"\nfrom = \"a b\"\nto = \"a@b.test\"", "\"a b\" is no mail address"),
            (
                "[smtp]\nhost = \"h\"\nfrom = \"a@b.test\"\nto = \"a@b.test\"\nusername = \"u\"",
                "needs password",
            ),
            (
                "[smtp]\nhost = \"h\"\nfrom = \"a@b.test\"\nto = \"a@b.test\"\nusername = \"u\"\npassword = \"segredo\"\ntls = \"none\"",
                "without encryption",
            ),
            ("[exec]\ncommand = [\"true\"]", "\"true\" is not a whole path"),
            ("[exec]\ncommand = [\"/bin/true\"]\ntimeout_seconds = 301", "300 at most"),
            ("settle_seconds = 31", "30 at most"),
            ("[smtpp]\n", "unknown field"),
        ] {
            let error = loaded(text).unwrap_err();
            assert!(error.contains(words) && !error.contains("segredo"), "{text}: {error}");
        }
    }
}
