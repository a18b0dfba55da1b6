//! Fingerprints of received data, which detect a change without a second copy.

/// A 64-bit XXH3 of the bytes as received. Stored as a signed 64-bit integer, which both databases support.
///
/// It decides what is fetched and written, never what is true. A collision would delay one change until the next one,
/// with a probability of 2^-64 per comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ContentHash(i64);

impl ContentHash {
    /// Returns the fingerprint of some bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(xxhash_rust::xxh3::xxh3_64(bytes).cast_signed())
    }

    /// Reads a fingerprint back from a database column.
    pub const fn from_i64(stored: i64) -> Self {
        Self(stored)
    }

    /// Returns the stored form.
    pub fn as_i64(self) -> i64 {
        self.0
    }
}
