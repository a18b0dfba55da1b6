use proptest::prelude::*;

use super::*;

fn loja() -> StoreKey {
    StoreKey::new("loja").unwrap()
}

fn name_of(label: &str, version: i64) -> String {
    LabelFolder::name(&LabelId::new(label), ContentHash::from_i64(version), "pdf")
}

/// Everything in the store's folder, hidden files too.
fn listed(dir: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(dir.join("etiquetas/loja")) else { return Vec::new() };
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

// withstands: F124
#[tokio::test]
async fn a_file_has_its_name_only_when_it_is_whole() {
    let dir = tempfile::tempdir().unwrap();
    let folder = LabelFolder::new(dir.path(), "etiquetas/");
    let name = name_of("L1", 7);
    let draft = folder.draft(&loja(), &name).await.unwrap();
    let draft = draft.write(&vec![b'x'; GATHERED + 1]).await.unwrap().write(b"yz").await.unwrap();
    assert_eq!(listed(dir.path()), [format!("{UNFINISHED}{name}")]);
    let finished = draft.finish(&name).await.unwrap();
    assert_eq!(listed(dir.path()), [name.as_str()]);
    let bytes = fs::read(dir.path().join(folder.shown(&loja(), &name))).unwrap();
    assert_eq!((bytes.len() as u64, bytes.len()), (finished.size, GATHERED + 3));
    assert_eq!(finished.sha256, hex::encode(Sha256::digest(&bytes)));
}

#[tokio::test]
async fn what_is_dropped_half_way_leaves_nothing_and_keeps_what_was_there() {
    let dir = tempfile::tempdir().unwrap();
    let folder = LabelFolder::new(dir.path(), "etiquetas");
    let name = name_of("L1", 7);
    folder.draft(&loja(), &name).await.unwrap().write(b"old").await.unwrap().finish(&name).await.unwrap();
    drop(folder.draft(&loja(), &name).await.unwrap().write(&[0; GATHERED]).await.unwrap());
    assert_eq!(listed(dir.path()), [name.as_str()]);
    assert_eq!(fs::read(dir.path().join("etiquetas/loja").join(&name)).unwrap(), b"old");
}

#[tokio::test]
async fn what_a_kill_left_behind_is_swept_and_files_of_others_are_let_be() {
    let dir = tempfile::tempdir().unwrap();
    let folder = LabelFolder::new(dir.path(), "etiquetas");
    assert_eq!(folder.tidy(&loja()).await.unwrap(), Vec::<String>::new());
    let (name, other) = (name_of("L1", 7), name_of("L2", 7));
    folder.draft(&loja(), &name).await.unwrap().finish(&name).await.unwrap();
    for left in [format!("{UNFINISHED}{other}"), "LEIA-ME.txt".into()] {
        fs::write(dir.path().join("etiquetas/loja").join(left), "x").unwrap();
    }
    assert_eq!(folder.tidy(&loja()).await.unwrap(), [name.as_str()]);
    assert_eq!(listed(dir.path()), [name.as_str(), "LEIA-ME.txt"]);
    // A leftover draft does not block a new one of the same name.
    fs::write(dir.path().join("etiquetas/loja").join(format!("{UNFINISHED}{other}")), "old").unwrap();
    folder.draft(&loja(), &other).await.unwrap().write(b"new").await.unwrap().finish(&other).await.unwrap();
    assert_eq!(fs::read(dir.path().join("etiquetas/loja").join(&other)).unwrap(), b"new");
}

#[tokio::test]
async fn only_files_of_this_store_with_names_of_ours_are_removed() {
    let dir = tempfile::tempdir().unwrap();
    let folder = LabelFolder::new(dir.path(), "etiquetas");
    let name = name_of("L1", 7);
    folder.draft(&loja(), &name).await.unwrap().finish(&name).await.unwrap();
    fs::write(dir.path().join("segredo"), "x").unwrap();
    let hostile = ["etiquetas/loja/../../segredo", "segredo", "/etc/passwd", "etiquetas/outra/x.pdf"];
    folder.remove(&loja(), &hostile.map(str::to_owned)).await.unwrap();
    assert!(dir.path().join("segredo").exists());
    let gone = folder.shown(&loja(), &name);
    folder.remove(&loja(), &[gone.clone(), gone]).await.unwrap();
    assert_eq!(listed(dir.path()), Vec::<String>::new());
}

#[tokio::test]
async fn a_link_in_place_of_a_stores_folder_is_not_followed() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("etiquetas")).unwrap();
    fs::create_dir(dir.path().join("alheia")).unwrap();
    std::os::unix::fs::symlink("../alheia", dir.path().join("etiquetas/loja")).unwrap();
    let folder = LabelFolder::new(dir.path(), "etiquetas");
    assert!(folder.draft(&loja(), &name_of("L1", 7)).await.is_err());
    assert_eq!(fs::read_dir(dir.path().join("alheia")).unwrap().count(), 0);
}

proptest! {
    // withstands: F121
    #[test]
    fn no_identifier_gets_into_a_path(label: String, other: String, version: i64) {
        for label in [&label, "../../etc/passwd", "/etc/passwd", "a\0b", "..", "CON", "~/.ssh/id"] {
            let name = name_of(label, version);
            prop_assert!(is_ours(&name), "{name}");
            prop_assert_ne!(&name, &name_of(label, version.wrapping_add(1)));
        }
        prop_assert_eq!(name_of(&label, version) == name_of(&other, version), label == other);
    }
}
