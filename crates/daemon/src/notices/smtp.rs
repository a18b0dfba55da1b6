//! Messages as mail.

use std::time::Duration;

use espelho_model::{symptom::Symptom, text::Locale};
use lettre::{
    AsyncSmtpTransport, AsyncTransport as _, Tokio1Executor,
    message::{Mailbox, header::ContentType},
    transport::smtp::{
        authentication::Credentials,
        client::{Tls, TlsParameters},
        extension::ClientId,
    },
};
use secrecy::ExposeSecret as _;

use super::{Message, Sent, Unsent};
use crate::config::{SmtpConfig, SmtpTls};

/// A step of the exchange with the mail server takes no longer.
const LONGEST: Duration = Duration::from_secs(10);

/// The mail server.
#[derive(Clone)]
pub(super) struct Smtp {
    config: SmtpConfig,
}

impl Smtp {
    pub(super) fn new(config: SmtpConfig) -> Self {
        Self { config }
    }

    /// Sends a message to all recipients; the mail server takes it for all of them or for none.
    pub(super) async fn send(&self, message: &Message, locale: Locale) -> Sent {
        let unmade = |error: lettre::error::Error| Unsent::new(Symptom::Other, error.to_string());
        let mail = self.mail(message, locale).map_err(unmade)?;
        let transport = self.transport(&message.host).map_err(|error| unsent(&error))?;
        let response = transport.send(mail).await.map_err(|error| unsent(&error))?;
        Ok(format!("SMTP {}", response.code()))
    }

    fn transport(
        &self,
        host: &str,
    ) -> Result<AsyncSmtpTransport<Tokio1Executor>, lettre::transport::smtp::Error> {
        let SmtpConfig { host: server, port, tls, credentials, .. } = &self.config;
        let parameters = || TlsParameters::new(server.clone());
        let tls = match tls {
            SmtpTls::Starttls => Tls::Required(parameters()?),
            SmtpTls::Implicit => Tls::Wrapper(parameters()?),
            SmtpTls::None => Tls::None,
        };
        let mut builder = AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous(server)
            .port(*port)
            .tls(tls)
            .timeout(Some(LONGEST))
            .hello_name(ClientId::Domain(domain(host)));
        if let Some((username, password)) = credentials {
            let credentials = Credentials::new(username.clone(), password.expose_secret().to_owned());
            builder = builder.credentials(credentials);
        }
        Ok(builder.build())
    }

    /// Returns the mail. The end of something answers its beginning, so that mail programs show them together.
    fn mail(&self, message: &Message, locale: Locale) -> Result<lettre::Message, lettre::error::Error> {
        let SmtpConfig { from, to, .. } = &self.config;
        let named = |event: &str| format!("<{}.{event}@{}>", message.notice, domain(&message.host));
        let mut mail = lettre::Message::builder()
            .from(from.clone())
            .subject(message.title.as_str())
            .message_id(Some(named(message.event)))
            .header(ContentType::TEXT_PLAIN);
        if message.event == "ended" {
            mail = mail.in_reply_to(named("raised")).references(named("raised"));
        }
        mail = to.iter().cloned().fold(mail, |mail, to: Mailbox| mail.to(to));
        mail.body(message.body(locale))
    }
}

/// Returns a name of this machine that a mail server accepts.
fn domain(host: &str) -> String {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '.';
    match !host.is_empty() && host.chars().all(fits) {
        true => host.to_owned(),
        false => "localhost".to_owned(),
    }
}

/// Tells how an exchange with the mail server failed: by its code, else by what the connection says.
fn unsent(error: &lettre::transport::smtp::Error) -> Unsent {
    let symptom = match error.status() {
        Some(code) => Symptom::Refused(code.to_string()),
        None if error.is_timeout() => Symptom::TimedOut,
        None if error.is_tls() => Symptom::NoTrust,
        None if error.is_client() || error.is_response() => Symptom::Other,
        None => Symptom::of_connection(error).unwrap_or(Symptom::NoConnection),
    };
    Unsent::new(symptom, in_full(error))
}

fn in_full(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    text
}
