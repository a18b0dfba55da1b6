//! Fingerprints of what was received, to tell "changed" from "the same again" without keeping two copies.

/// A 64-bit XXH3 of the bytes as received. Stored as a signed 64-bit integer, which both databases have.
///
/// It decides what is fetched and written, never what is true: a collision would delay one change until
/// the next one, at a chance of 2^-64 a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ContentHash(i64);

impl ContentHash {
    /// The fingerprint of some bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(xxhash_rust::xxh3::xxh3_64(bytes).cast_signed())
    }

    /// Reads a fingerprint back from a database column.
    pub const fn from_i64(stored: i64) -> Self {
        Self(stored)
    }

    /// The form that is stored.
    pub fn as_i64(self) -> i64 {
        self.0
    }
}
