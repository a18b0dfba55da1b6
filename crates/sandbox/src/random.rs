//! Deterministic randomness: the same numbers in, the same world out, on every machine.

/// SplitMix64: small, fast, and good enough to invent a marketplace.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

const ALPHABET: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

impl Random {
    /// A generator for a path of numbers, such as seed, store and order.
    pub(crate) fn of(path: &[u64]) -> Self {
        let mut random = Self(0x9E37_79B9_7F4A_7C15);
        for part in path {
            random.0 ^= part.wrapping_mul(0xD6E8_FEB8_6659_FD93);
            random.0 = random.number();
        }
        random
    }

    /// A generator for a name.
    pub(crate) fn of_text(text: &str) -> Self {
        // FNV-1a; the path mixes it further.
        let hash = text.bytes().fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
        });
        Self::of(&[hash])
    }

    pub(crate) fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Below `end`, which is taken as 1 when it is 0.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.number() % end.max(1)
    }

    /// From 0 to below `end`, as a position.
    pub(crate) fn position(&mut self, end: usize) -> usize {
        self.below(end as u64) as usize
    }

    /// True in `of_thousand` of a thousand cases.
    pub(crate) fn chance(&mut self, of_thousand: u64) -> bool {
        self.below(1000) < of_thousand
    }

    pub(crate) fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.position(of.len())]
    }

    /// A value with a probability in proportion to its weight.
    pub(crate) fn weighted<T: Copy>(&mut self, of: &[(T, u32)]) -> T {
        let mut at = self.below(of.iter().map(|(_, weight)| u64::from(*weight)).sum());
        for (value, weight) in of {
            match at.checked_sub(u64::from(*weight)) {
                Some(rest) => at = rest,
                None => return *value,
            }
        }
        of[0].0
    }

    /// A value from a distribution given by quantiles (in thousandths), with straight lines between them.
    pub(crate) fn quantile(&mut self, quantiles: &[(u64, i64)]) -> i64 {
        let at = self.below(1000);
        for pair in quantiles.windows(2) {
            let ((low, from), (high, to)) = (pair[0], pair[1]);
            if at < high {
                return from + (to - from) * (at - low) as i64 / (high - low) as i64;
            }
        }
        quantiles.last().map_or(0, |(_, value)| *value)
    }

    /// Letters and digits.
    pub(crate) fn word(&mut self, length: usize) -> String {
        (0..length).map(|_| char::from(*self.pick(ALPHABET))).collect()
    }

    /// Lower-case letters and digits.
    pub(crate) fn slug(&mut self, length: usize) -> String {
        (0..length).map(|_| char::from(*self.pick(&ALPHABET[26..]))).collect()
    }

    pub(crate) fn uuid(&mut self) -> String {
        let (a, b) = (self.number(), self.number());
        let (tail, last) = (a & 0xFFF, b & 0xFFFF_FFFF_FFFF);
        format!("{:08x}-{:04x}-4{tail:03x}-a{:03x}-{last:012x}", a >> 32, (a >> 16) & 0xFFFF, b >> 52)
    }

    /// A ULID dated in 2020.
    pub(crate) fn ulid(&mut self) -> u128 {
        let millis = 1_577_836_800_000 + self.below(31_536_000_000);
        let random = u128::from(self.number()) << 16 | u128::from(self.number() & 0xFFFF);
        u128::from(millis) << 80 | random
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_path_gives_the_same_numbers_and_another_path_others() {
        let draw = |path: &[u64]| {
            let mut random = Random::of(path);
            [random.number(), random.number()]
        };
        assert_eq!(draw(&[1, 2]), draw(&[1, 2]));
        assert_ne!(draw(&[1, 2]), draw(&[2, 1]));
        assert_ne!(draw(&[1]), draw(&[1, 0]));
    }

    #[test]
    fn weights_are_kept_in_proportion() {
        let mut random = Random::of(&[7]);
        let count = (0..10_000).filter(|_| random.weighted(&[(true, 3), (false, 1)])).count();
        assert!((7_200..7_800).contains(&count), "{count}");
        assert!((0..100).all(|_| random.weighted(&[(0, 0), (1, 5), (2, 0)]) == 1));
    }

    #[test]
    fn quantiles_bound_the_values() {
        let mut random = Random::of(&[7]);
        let drawn: Vec<i64> =
            (0..10_000).map(|_| random.quantile(&[(0, 10), (500, 20), (1000, 100)])).collect();
        assert!(drawn.iter().all(|value| (10..100).contains(value)));
        let low = drawn.iter().filter(|value| **value < 20).count();
        assert!((4_600..5_400).contains(&low), "{low}");
    }

    #[test]
    fn a_uuid_has_its_shape() {
        let uuid = Random::of(&[7]).uuid();
        let lengths: Vec<usize> = uuid.split('-').map(str::len).collect();
        assert_eq!(lengths, [8, 4, 4, 4, 12]);
    }
}
