//! Compares the text catalogue with the code that names its messages.

use std::{collections::BTreeSet, fs, path::Path};

use espelho_model::text::Text;

/// Collects every identifier that code or a template names as `text!("…"`.
fn named_in(folder: &Path, named: &mut BTreeSet<(String, String)>) {
    for entry in fs::read_dir(folder).expect("the folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            named_in(&path, named);
        } else if path.extension().is_some_and(|extension| extension == "rs" || extension == "html") {
            let source = fs::read_to_string(&path).expect("a source");
            let code = source.lines().filter(|line| !line.trim_start().starts_with("//"));
            let code: String = code.collect::<Vec<_>>().join("\n");
            for after in code.split("text!(").skip(1) {
                let id = after.trim_start().strip_prefix('"').and_then(|rest| rest.split_once('"'));
                if let Some((id, _)) = id {
                    named.insert((id.to_owned(), path.display().to_string()));
                }
            }
        }
    }
}

#[test]
fn every_message_that_code_names_is_in_the_catalogue() {
    let mut named = BTreeSet::new();
    named_in(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates"), &mut named);
    assert!(!named.is_empty(), "no code names a message");
    let unknown: Vec<_> = named.iter().filter(|(id, _)| !Text::new(id.clone()).is_known()).collect();
    assert!(unknown.is_empty(), "not in the catalogue: {unknown:#?}");
}
