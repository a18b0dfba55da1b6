//! Signed addresses: an expiry and an HMAC over path and expiry, both in the query.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::{call::parameter, random::Random};

/// How long a signed address works ("Label URL validity" of the document).
pub(crate) const VALID_SECONDS: i64 = 15 * 60;

/// Keeps the key apart from everything else that is drawn from a seed.
const TAG: u64 = 0x5160;

/// The secret of one storage.
pub(super) struct Key(Hmac<Sha256>);

/// Why a signed address is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bad {
    /// No signature, or no readable expiry.
    Missing,
    /// It was good once.
    Expired,
    /// Path, expiry or signature were changed.
    Mismatch,
}

impl Key {
    pub(super) fn new(seed: u64) -> Self {
        let mut random = Random::of(&[seed, TAG]);
        let mut block = hmac::digest::Key::<Hmac<Sha256>>::default();
        for part in block.chunks_mut(8) {
            part.copy_from_slice(&random.number().to_le_bytes());
        }
        Self(Hmac::new(&block))
    }

    /// The query of a path that works until an instant.
    pub(super) fn sign(&self, path: &str, expires: i64) -> String {
        let signature = self.mac(path, expires).finalize().into_bytes();
        format!("expires={expires}&signature={}", hex::encode(signature))
    }

    /// Whether a path may be fetched with this query at `now`, in milliseconds.
    pub(super) fn check(&self, path: &str, query: &str, now: i64) -> Result<(), Bad> {
        let expires = parameter(query, "expires").and_then(|text| text.parse::<i64>().ok());
        let (expires, signature) = expires.zip(parameter(query, "signature")).ok_or(Bad::Missing)?;
        let signature = hex::decode(signature.as_ref()).map_err(|_| Bad::Mismatch)?;
        self.mac(path, expires).verify_slice(&signature).map_err(|_| Bad::Mismatch)?;
        // Only what was signed can have expired: a made-up date says nothing.
        if now >= expires.saturating_mul(1000) { Err(Bad::Expired) } else { Ok(()) }
    }

    fn mac(&self, path: &str, expires: i64) -> Hmac<Sha256> {
        let mut mac = self.0.clone();
        mac.update(format!("GET\n{path}\n{expires}").as_bytes());
        mac
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: &str = "/etiquetas/01ARZ3NDEKTSV4RRFFQ69G5FAV.pdf";

    #[test]
    fn a_signed_path_works_until_it_expires() {
        let key = Key::new(1);
        let query = key.sign(PATH, 1000);
        assert_eq!(key.check(PATH, &query, 999_999), Ok(()));
        assert_eq!(key.check(PATH, &query, 1_000_000), Err(Bad::Expired));
    }

    #[test]
    fn nothing_signed_can_be_changed() {
        let key = Key::new(1);
        let query = key.sign(PATH, 1000);
        assert_eq!(key.check(PATH, &query.replace("1000", "9000"), 0), Err(Bad::Mismatch));
        assert_eq!(key.check("/etiquetas/other.pdf", &query, 0), Err(Bad::Mismatch));
        assert_eq!(Key::new(2).check(PATH, &query, 0), Err(Bad::Mismatch));
        for cut in [&query[..query.len() - 1], &query[..query.len() - 2], &format!("{query}é")] {
            assert_eq!(key.check(PATH, cut, 0), Err(Bad::Mismatch), "{cut}");
        }
    }

    #[test]
    fn a_query_without_its_parts_is_no_signature() {
        let key = Key::new(1);
        for query in ["", "expires=1000", "signature=00", "expires=soon&signature=00"] {
            assert_eq!(key.check(PATH, query, 0), Err(Bad::Missing), "{query}");
        }
    }
}
