//! A program that uses the API, and a service for it.

use espelho_sandbox::Sandbox;
use espelho_tests::{Installation, Kind, Mirror, Running, pages, sandbox, signals};
use reqwest::{
    Method,
    header::{CONTENT_TYPE, HeaderMap},
};
use serde_json::Value;

/// A token for everything, one that reads, one that writes, one for the feed, and one of another store.
pub(crate) const ALL: &str = "0000000000000000-todas-as-coisas";
pub(crate) const READS: &str = "0000000000000000-somente-leitura";
pub(crate) const WRITES: &str = "0000000000000000-somente-escrita";
pub(crate) const FEEDS: &str = "0000000000000000-somente-o-feed";
pub(crate) const LIMITED: &str = "0000000000000000-uma-loja-so";

/// The tokens file of the tests.
pub(crate) fn tokens() -> String {
    let token = |name: &str, token: &str, more: &str| {
        format!("[[token]]\nname = \"{name}\"\ntoken = \"{token}\"\n{more}\n")
    };
    [
        token("tudo", ALL, "scopes = [\"read\", \"write\", \"feed\"]"),
        token("lê", READS, "scopes = [\"read\"]"),
        token("escreve", WRITES, "scopes = [\"write\"]"),
        token("feed", FEEDS, "scopes = [\"feed\"]"),
        token("limitado", LIMITED, "scopes = [\"read\", \"write\", \"feed\"]\nstores = [\"loja-1\"]"),
    ]
    .concat()
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// The rows of a page or of a batch.
    pub(crate) fn rows(&self) -> &[Value] {
        assert_eq!(self.status, 200, "{}", self.body);
        self.body["rows"].as_array().unwrap()
    }

    /// Status and code of a problem, whose form is checked.
    pub(crate) fn problem(&self) -> (u16, &str) {
        assert_eq!(self.header("content-type"), "application/problem+json", "{self:?}");
        assert_eq!(self.body["status"], self.status, "{self:?}");
        for field in ["title", "detail", "next"] {
            assert!(self.body[field].as_str().is_some_and(|text| !text.is_empty()), "{field}: {self:?}");
        }
        (self.status, self.body["code"].as_str().unwrap())
    }
}

/// A program with a token.
#[derive(Clone)]
pub(crate) struct Program {
    pub(crate) base: String,
    token: String,
    client: reqwest::Client,
}

impl Program {
    pub(crate) fn new(base: &str, token: &str) -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        Self { base: base.to_owned(), token: token.to_owned(), client }
    }

    pub(crate) fn with(&self, token: &str) -> Self {
        Self { token: token.to_owned(), ..self.clone() }
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, &[], String::new()).await.unwrap()
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Answer {
        self.post_with(path, body, &[]).await.unwrap()
    }

    pub(crate) async fn post_with(
        &self,
        path: &str,
        body: &Value,
        headers: &[(&str, &str)],
    ) -> reqwest::Result<Answer> {
        let json = [(CONTENT_TYPE.as_str(), "application/json")];
        self.send(Method::POST, path, &[&json, headers].concat(), body.to_string()).await
    }

    pub(crate) async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: String,
    ) -> reqwest::Result<Answer> {
        let mut request = self.client.request(method, format!("{}/api/v1{path}", self.base)).body(body);
        if !self.token.is_empty() {
            request = request.bearer_auth(&self.token);
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        #[expect(clippy::disallowed_methods, reason = "this is no call of the marketplace's API")]
        let answer = request.header("Accept-Language", "en").send().await?;
        let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
        let text = answer.text().await?;
        let body = serde_json::from_str(&text).unwrap_or(Value::String(text));
        Ok(Answer { status, headers, body })
    }
}

/// A marketplace, a service that mirrors it, and a program.
pub(crate) struct World {
    pub(crate) installation: Installation,
    pub(crate) service: Running,
    pub(crate) program: Program,
    pub(crate) mirror: Mirror,
    _sandbox: Sandbox,
}

impl World {
    /// With tokens, and a first reconciliation behind it.
    pub(crate) async fn on(kind: Kind) -> Self {
        Self::of(kind, "tokens_file = \"tokens.toml\"\n").await
    }

    /// With these lines of `[http]`.
    pub(crate) async fn of(kind: Kind, http: &str) -> Self {
        let (sandbox, installation) = (sandbox(12, 6).await, Installation::on(kind).await);
        installation.join(&sandbox);
        installation.write("tokens.toml", &tokens());
        let base = installation.write_main_with_known_port_and(http);
        let mut service = installation.start(&["run"]);
        pages::ready(&mut service, &base).await;
        let program = Program::new(&base, ALL);
        let mirror = installation.mirror().await;
        Self { installation, service, program, mirror, _sandbox: sandbox }
    }

    /// Kills the service and starts it again.
    pub(crate) async fn killed(mut self) -> Self {
        self.service.kill().await;
        self.service = self.installation.start(&["run"]);
        pages::ready(&mut self.service, &self.program.base).await;
        self
    }

    pub(crate) fn reload(&self) {
        signals::send(self.service.id(), "HUP");
    }

    /// Ends the service; returns what it logged.
    pub(crate) async fn ended(self) -> String {
        pages::stopped(self.service).await.stderr
    }
}
