//! The identity of the installation, which lies in its database: two addresses may mean one database, and one address
//! may mean another database tomorrow.

use sha2::{Digest as _, Sha256};

use crate::{
    Error, Store,
    mirror::{erased::KEY, protected::key_of},
};

/// The bytes of the digest that are shown.
const SHOWN: usize = 8;

impl Store {
    /// Returns the identity of the installation that uses this database; `None` if no service has made it yet.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn installation(&self) -> Result<Option<String>, Error> {
        let rows = self.database.fetch("read the key of erasures", KEY, Vec::new()).await?;
        rows.first().map(|row| row.text(0).map(|key| identity_of(&key))).transpose()
    }

    /// Returns the identity of the installation, and makes it if there is none.
    ///
    /// # Errors
    /// When the database does not answer, or does not take the new one.
    pub async fn make_installation(&self) -> Result<String, Error> {
        key_of(&self.database).await.map(|key| identity_of(&key))
    }
}

/// Derives the identity from the installation's secret key, which it does not show.
fn identity_of(key: &str) -> String {
    let digest = Sha256::digest(format!("espelho installation {key}").as_bytes());
    hex::encode(&digest[..SHOWN])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_follows_from_the_key_and_does_not_show_it() {
        let one = identity_of("00ff");
        assert_eq!((one.len(), identity_of("00ff")), (2 * SHOWN, one.clone()));
        assert!(one != identity_of("00fe") && !one.contains("00ff"));
    }
}
