//! Words that are written much the same.

/// The similarity below which two words are unrelated.
const ALIKE: f64 = 0.8;
/// The number of similar words in a message.
const NAMED: usize = 3;

/// Returns the most similar words, the best first.
pub(crate) fn similar<'k>(word: &str, known: impl Iterator<Item = &'k str>) -> Vec<&'k str> {
    let lower = word.to_lowercase();
    let mut alike: Vec<(f64, &str)> = known
        .map(|known| (strsim::jaro_winkler(&lower, &known.to_lowercase()), known))
        .filter(|(likeness, _)| *likeness >= ALIKE)
        .collect();
    alike.sort_by(|(a, one), (b, other)| b.total_cmp(a).then(one.cmp(other)));
    alike.into_iter().take(NAMED).map(|(_, known)| known).collect()
}
