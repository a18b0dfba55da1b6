//! Entry points of the fuzz targets (`tests/fuzz`), and of the test that replays their inputs. Nothing else uses them.

use std::{fs, hint::black_box, path::Path};

use espelho_model::text::{Language, Locale};

use crate::{cli::ImportKind, config, import, intent_rules::Known};

/// Reads bytes as a CSV file of each kind.
pub fn csv(file: &[u8]) {
    let locale = Locale::of(Language::Portuguese);
    for kind in [ImportKind::Stock, ImportKind::Prices] {
        if let Err(bad) = import::rows(kind, file, &Known::default()) {
            bad.texts().iter().for_each(|text| drop(black_box(text.message(locale))));
        }
    }
}

/// Reads a folder with two configuration files, which are apart by a NUL.
///
/// # Panics
/// When the folder cannot be written.
pub fn configuration(dir: &Path, files: &[u8]) {
    let (installation, store) =
        files.split_at(files.iter().position(|byte| *byte == 0).unwrap_or(files.len()));
    fs::create_dir_all(dir.join("stores")).expect("a folder");
    fs::write(dir.join("espelho.toml"), installation).expect("a file");
    fs::write(dir.join("stores/loja.toml"), store.get(1..).unwrap_or_default()).expect("a file");
    if let Err(errors) = config::load(dir) {
        errors.iter().for_each(|error| drop(black_box(error.text().message(Locale::of(Language::English)))));
    }
}
