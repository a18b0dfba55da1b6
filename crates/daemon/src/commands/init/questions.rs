//! The questions of `espelho init`. An option answers its question; a person at the terminal answers the others.

use std::path::Path;

use espelho_model::{
    StoreKey, text,
    text::{Language, Locale, Text},
};
use espelho_store::Store;
use espelho_sync_engine::Problem;
use secrecy::{ExposeSecret as _, SecretString};

use super::{super::prompt, exists, is_here, store_file};
use crate::{
    cli::InitArgs,
    config::{
        Environment, check_address, check_base, environment_of, first_readable, other_store_in,
        other_store_with,
    },
    terminal::shown,
};

/// The database of whoever names none.
const DATABASE: &str = "sqlite:espelho.db";

/// All answers.
pub(super) struct Answers {
    pub(super) key: StoreKey,
    pub(super) environment: Environment,
    pub(super) base_url: String,
    pub(super) username: String,
    pub(super) password: SecretString,
    /// `None` where the installation has a file already.
    pub(super) installation: Option<(Language, String)>,
    pub(super) public_url: Option<String>,
}

/// Asks the questions that the options leave open; an error says what is wrong, or which options are missing. A store
/// that has its file already is refused before the password is asked for.
pub(super) fn answers(
    arguments: &InitArgs,
    is_installed: bool,
    dir: &Path,
    locale: Locale,
) -> Result<Answers, Text> {
    let ask = Asker { can_ask: prompt::is_possible(), locale };
    let missing = missing(arguments);
    if !ask.can_ask && !missing.is_empty() {
        return Err(text!("init-options-missing", options = missing.join(" ")));
    }
    let base_url = ask.until_right(&text!("init-base-url"), arguments.base_url.as_deref(), None, |url| {
        check_base(url, environment_of(url))
    })?;
    let environment = environment_of(&base_url);
    let username = ask.until_right(&text!("init-username"), arguments.username.as_deref(), None, username)?;
    let key = match &arguments.store {
        Some(key) => key.clone(),
        None => key_of(&username),
    };
    let key = StoreKey::new(&key).map_err(|_| text!("init-bad-key", key = shown(&key)))?;
    if is_here(dir, &key) && !arguments.replace {
        return Err(exists(&store_file(dir, &key)));
    }
    let password = match &arguments.password_file {
        Some(file) if !file.exists() => {
            return Err(text!("init-no-password-file", file = file.display().to_string()));
        }
        Some(file) => first_readable(std::slice::from_ref(file)).map_err(|mut tried| tried.remove(0))?,
        None => ask.password()?,
    };
    let database = match is_installed {
        true => None,
        false => {
            let option = arguments.database.as_deref();
            Some(ask.until_right(&text!("init-database"), option, Some(DATABASE), database_address)?)
        }
    };
    let public_url = arguments.webhook.as_deref();
    let question = webhook_question(&key);
    let public_url =
        ask.until_right(&question, public_url, Some(""), |url| check_webhook(url, environment, &key, dir))?;
    let public_url = Some(public_url).filter(|url| !url.is_empty());
    let installation = match database {
        None => None,
        Some(url) => Some((ask.language(arguments.language)?, url)),
    };
    Ok(Answers { key, environment, base_url, username, password, installation, public_url })
}

/// Asks for the address with the path that the receiver hears for this store.
fn webhook_question(store: &StoreKey) -> Text {
    text!("init-webhook", store = store.as_str())
}

/// Returns the options whose questions have no default.
fn missing(arguments: &InitArgs) -> Vec<&'static str> {
    let given = [
        (arguments.base_url.is_some(), "--base-url URL"),
        (arguments.username.is_some(), "--username USER"),
        (arguments.password_file.is_some(), "--password-file FILE"),
    ];
    given.into_iter().filter(|(is_given, _)| !is_given).map(|(_, option)| option).collect()
}

fn username(name: &str) -> Result<(), Text> {
    let is_one_line = !name.is_empty() && !name.chars().any(char::is_control);
    // The answer to the question before, once more.
    let is_address = name.contains("://");
    if is_one_line && !is_address { Ok(()) } else { Err(text!("config-username")) }
}

fn database_address(url: &str) -> Result<(), Text> {
    Store::check_address(url).map_err(|error| Problem::from_store(&error).text)?;
    let folder = Store::file_named_by(url).and_then(|file| file.parent().map(Path::to_path_buf));
    match folder.filter(|folder| folder.is_absolute() && !folder.is_dir()) {
        Some(folder) => Err(text!("init-no-folder", folder = folder.display().to_string())),
        None => Ok(()),
    }
}

/// Returns the store's key that follows from its username: `minha-loja@a1b2c3d4` is `minha-loja`.
fn key_of(username: &str) -> String {
    let name = username.split('@').next().unwrap_or_default().to_lowercase();
    let plain = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '-' };
    let key: String = name.chars().map(plain).collect();
    match key.trim_matches('-') {
        "" => "loja".to_owned(),
        key => key.chars().take(40).collect(),
    }
}

/// Asks for a public address that replaces one that was refused; an empty one leaves the webhook out. `None` without an
/// answer, or where the refused address is the answer.
pub(super) fn webhook_again(answers: &Answers, dir: &Path, locale: Locale) -> Option<String> {
    let ask = Asker { can_ask: true, locale };
    let refused = answers.public_url.clone().unwrap_or_default();
    let question = text!("init-webhook-again", store = answers.key.as_str(), url = refused.as_str());
    let is_right = |url: &str| check_webhook(url, answers.environment, &answers.key, dir);
    let answer = ask.until_right(&question, None, Some(""), is_right).ok()?;
    (answer != refused).then_some(answer)
}

/// Checks the public address of a store. Another store's is refused before anything is written: the files would be left.
fn check_webhook(url: &str, environment: Environment, store: &StoreKey, dir: &Path) -> Result<(), Text> {
    if url.is_empty() {
        return Ok(());
    }
    check_address("public_url", url, environment)?;
    let named = other_store_in(url, (store, environment), |other| is_here(dir, other));
    match named.or_else(|| other_store_with(dir, url, store)) {
        Some(other) => Err(text!("config-webhook-of-other", other = other.as_str(), store = store.as_str())),
        None => Ok(()),
    }
}

/// Asks for a password that replaces one that was refused; `None` without an answer.
pub(super) fn password_again(locale: Locale) -> Option<SecretString> {
    typed_password(&text!("init-password-again"), locale).filter(|typed| !typed.expose_secret().is_empty())
}

/// Asks for a password, which is not shown; `None` at the end of input.
fn typed_password(question: &Text, locale: Locale) -> Option<SecretString> {
    rpassword::prompt_password(format!("{} ", question.message(locale))).ok().map(SecretString::from)
}

struct Asker {
    can_ask: bool,
    locale: Locale,
}

impl Asker {
    /// Returns the option's value, else the person's answer, else the default. A wrong option is an error, a wrong answer
    /// is asked again.
    fn until_right(
        &self,
        question: &Text,
        option: Option<&str>,
        default: Option<&str>,
        check: impl Fn(&str) -> Result<(), Text>,
    ) -> Result<String, Text> {
        if let Some(value) = option.or(default.filter(|_| !self.can_ask)) {
            return check(value).map(|()| value.to_owned());
        }
        loop {
            let question = question.clone().with("default", default.unwrap_or_default());
            let Some(answer) = prompt::ask(&question.message(self.locale)) else {
                return Err(text!("init-ended"));
            };
            let answer = if answer.is_empty() { default.unwrap_or_default() } else { &answer };
            match check(answer) {
                Ok(()) => return Ok(answer.to_owned()),
                Err(wrong) => eprintln!("  {}", wrong.message(self.locale)),
            }
        }
    }

    fn password(&self) -> Result<SecretString, Text> {
        loop {
            let typed = typed_password(&text!("init-password"), self.locale).ok_or(text!("init-ended"))?;
            if !typed.expose_secret().is_empty() {
                return Ok(typed);
            }
        }
    }

    fn language(&self, option: Option<Language>) -> Result<Language, Text> {
        let default = self.locale.language;
        if let Some(language) = option.or((!self.can_ask).then_some(default)) {
            return Ok(language);
        }
        let check = |tag: &str| match tag.parse::<Language>() {
            Ok(_) => Ok(()),
            Err(_) => Err(text!("init-language-unknown", tag = tag)),
        };
        let answer = self.until_right(&text!("init-language"), None, Some(default.tag()), check)?;
        Ok(answer.parse().unwrap_or(default))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_is_named_by_its_username() {
        for (username, key) in [
            ("minha-loja@a1b2c3d4", "minha-loja"),
            ("Loja da Ana@x", "loja-da-ana"),
            ("açaí@x", "a-a"),
            ("@x", "loja"),
            ("", "loja"),
        ] {
            assert_eq!(key_of(username), key, "{username}");
            assert!(StoreKey::new(key).is_ok());
        }
    }

    #[test]
    fn the_question_for_the_webhook_shows_the_path_of_this_store() {
        let question = webhook_question(&StoreKey::new("minha-loja").unwrap());
        for language in Language::ALL {
            let said = question.message(Locale::of(language));
            assert!(said.contains("/webhooks/minha-loja"), "{said}");
        }
    }

    #[test]
    fn the_webhook_of_another_store_that_is_here_is_refused_at_the_question() {
        let (ours, dir) = (StoreKey::new("loja-1").unwrap(), tempfile::tempdir().unwrap());
        let other = store_file(dir.path(), &StoreKey::new("loja-2").unwrap());
        std::fs::create_dir(other.parent().unwrap()).unwrap();
        std::fs::write(other, "").unwrap();
        for (url, is_right) in [
            ("", true),
            ("https://erp.test/webhooks/loja-1", true),
            ("https://erp.test/webhooks/loja-2", false),
            ("https://erp.test/webhooks/loja-2/?x=1", false),
            ("https://erp.test/webhooks/loja-3", true),
            ("erp.test", false),
        ] {
            let checked = check_webhook(url, Environment::Sandbox, &ours, dir.path());
            assert_eq!(checked.is_ok(), is_right, "{url}: {checked:?}");
        }
    }

    #[test]
    fn answers_that_cannot_be_are_refused_when_they_are_given() {
        for (is_right, is_expected) in [
            (username("loja-1@a1b2c3d4").is_ok(), true),
            (username("https://marketplace.example").is_ok(), false),
            (username("").is_ok(), false),
            (database_address("sqlite:espelho.db").is_ok(), true),
            (database_address("sqlite:/nonexistent/folder/espelho.db").is_ok(), false),
            (database_address("sqlite:/espelho.db").is_ok(), true),
        ] {
            assert_eq!(is_right, is_expected);
        }
    }

    #[test]
    fn options_that_have_no_default_are_named_together() {
        let none = InitArgs::default();
        assert_eq!(missing(&none), ["--base-url URL", "--username USER", "--password-file FILE"]);
        let some = InitArgs { username: Some("a".into()), ..none };
        assert_eq!(missing(&some), ["--base-url URL", "--password-file FILE"]);
    }
}
