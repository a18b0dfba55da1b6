//! Requests that are sent again: the answer to a request is kept with its rows, in one transaction.

use chrono::TimeDelta;

use super::Api;
use crate::{
    DatabaseTrouble, Error,
    driver::{Row, Tx},
};

/// For how long an answer is kept at least.
const KEPT: TimeDelta = TimeDelta::hours(48);

pub(crate) const BEGIN: &str = "INSERT INTO api_requests (token, key, fingerprint, at) VALUES ($1, $2, $3, $4) \
    ON CONFLICT (token, key) DO NOTHING";
pub(crate) const KNOWN: &str = "SELECT fingerprint, answer FROM api_requests WHERE token = $1 AND key = $2";
pub(crate) const ANSWER: &str = "UPDATE api_requests SET answer = $3 WHERE token = $1 AND key = $2";
pub(crate) const FORGET: &str = "DELETE FROM api_requests WHERE at < $1";

/// The identity of a request that may be sent again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestKey {
    /// The name of the token: each has keys of its own.
    pub token: String,
    /// The idempotency key.
    pub key: String,
    /// The fingerprint of route and body.
    pub fingerprint: String,
}

/// The outcome of a request that writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Written {
    /// Its rows were written; the answer.
    Now(String),
    /// They were written before; the answer of that time.
    Before(String),
    /// Another request had this key.
    OtherRequest,
    /// The first request with this key is not done yet.
    UnderWay,
}

/// Begins a request with a key; returns what became of it before, if it is known.
pub(super) async fn begin(tx: &mut Tx, api: Api<'_>, key: &RequestKey) -> Result<Option<Written>, Error> {
    let names = || vec![key.token.as_str().into(), key.key.as_str().into()];
    let mut values = names();
    values.extend([key.fingerprint.as_str().into(), api.clock.now().into()]);
    match tx.execute("begin a request", BEGIN, values).await {
        Ok(0) => {}
        Ok(_) => return Ok(None),
        // Another process has inserted it and not committed yet.
        Err(error) if error.trouble() == DatabaseTrouble::Busy => return Ok(Some(Written::UnderWay)),
        Err(error) => return Err(error),
    }
    let rows = tx.fetch("read a request", KNOWN.to_owned(), names()).await?;
    rows.first().map(|row| known(row, key)).transpose()
}

fn known(row: &Row, key: &RequestKey) -> Result<Written, Error> {
    Ok(match (row.text("fingerprint")? == key.fingerprint, row.optional_text("answer")?) {
        (false, _) => Written::OtherRequest,
        (true, None) => Written::UnderWay,
        (true, Some(answer)) => Written::Before(answer),
    })
}

/// Keeps the answer to a request.
pub(super) async fn end(tx: &mut Tx, key: &RequestKey, answer: &str) -> Result<(), Error> {
    let values = vec![key.token.as_str().into(), key.key.as_str().into(), answer.into()];
    tx.execute("keep an answer", ANSWER, values).await.map(drop)
}

impl Api<'_> {
    /// Forgets the answers that nobody asks for any more; returns their number.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn forget_old_requests(self) -> Result<u64, Error> {
        let before = self.clock.now() - KEPT;
        self.database.execute("forget old requests", FORGET, vec![before.into()]).await
    }
}
