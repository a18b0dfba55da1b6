//! Words as people type them.

/// Returns a word in small letters and without the accents of Portuguese.
pub fn folded(word: &str) -> String {
    let plain = |letter| match letter {
        'á' | 'à' | 'â' | 'ã' => 'a',
        'é' | 'ê' => 'e',
        'í' => 'i',
        'ó' | 'ô' | 'õ' => 'o',
        'ú' | 'ü' => 'u',
        'ç' => 'c',
        other => other,
    };
    word.to_lowercase().chars().map(plain).collect()
}
