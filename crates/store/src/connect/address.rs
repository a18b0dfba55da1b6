//! Addresses of databases: the file that an address names, and its form without a password.

use std::{
    fs,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    str::FromStr as _,
};

use sqlx::sqlite::SqliteConnectOptions;

use crate::Error;

/// Reads a SQLite address. A mirror in memory is refused.
pub(super) fn sqlite_options(url: &str) -> Result<SqliteConnectOptions, Error> {
    let bad = |why: String| Error::Address { url: shown(url), why };
    let options = SqliteConnectOptions::from_str(url).map_err(|e| bad(e.to_string()))?;
    if url.contains(":memory:") || options.get_filename().as_os_str().is_empty() {
        return Err(bad("a mirror needs a file".into()));
    }
    match real_file(options.get_filename()).map_err(bad)? {
        Some(file) => Ok(options.filename(file)),
        None => Ok(options),
    }
}

/// Follows a link to the file itself. Locks and the inbox have its name, so two services that call one file by two names
/// would not see each other.
fn real_file(named: &Path) -> Result<Option<PathBuf>, String> {
    let Ok(found) = fs::symlink_metadata(named) else { return Ok(None) };
    let real = found.is_symlink().then(|| fs::canonicalize(named)).transpose();
    let real = real.map_err(|error| format!("it is a link that leads nowhere ({error})"))?;
    let file = fs::metadata(real.as_deref().unwrap_or(named)).ok().filter(fs::Metadata::is_file);
    match file.map_or(1, |file| file.nlink()) {
        0 | 1 => Ok(real),
        links => Err(format!("the file has {links} names (hard links): remove the others, or copy it")),
    }
}

/// The file that a SQLite address names.
pub(crate) fn file_of(url: &str) -> Result<PathBuf, Error> {
    Ok(sqlite_options(url)?.get_filename().to_path_buf())
}

/// The address without its password, wherever the password stands in it.
pub(crate) fn shown(url: &str) -> String {
    let (main, query) = url.split_once('?').map_or((url, None), |(main, query)| (main, Some(query)));
    let main = match (main.find("://"), main.rfind('@')) {
        (Some(scheme), Some(at)) if at > scheme => match main[scheme + 3..at].split_once(':') {
            Some((user, _)) => format!("{}{user}:***{}", &main[..scheme + 3], &main[at..]),
            None => main.to_owned(),
        },
        _ => main.to_owned(),
    };
    let Some(query) = query else { return main };
    let parameters = query.split('&').map(|parameter| match parameter.split_once('=') {
        Some((name, _)) if name.contains("password") => format!("{name}=***"),
        _ => parameter.to_owned(),
    });
    format!("{main}?{}", parameters.collect::<Vec<_>>().join("&"))
}

/// The path of the database with a suffix, for the files beside it.
pub(crate) fn beside(database: &Path, suffix: &str) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_the_file_that_it_leads_to_and_a_file_with_two_names_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let [file, link, other] = ["espelho.db", "link.db", "other.db"].map(|name| dir.path().join(name));
        let url = |path: &Path| format!("sqlite:{}", path.display());
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert!(file_of(&url(&link)).is_err(), "it leads nowhere");
        fs::write(&file, "").unwrap();
        assert_eq!(file_of(&url(&link)).unwrap(), file.canonicalize().unwrap());
        assert_eq!(file_of(&url(&file)).unwrap(), file);
        fs::hard_link(&file, &other).unwrap();
        for name in [&file, &link, &other] {
            assert!(file_of(&url(name)).unwrap_err().to_string().contains("2 names"), "{}", name.display());
        }
    }

    #[test]
    fn an_address_is_shown_without_its_password() {
        assert_eq!(shown("postgres://erp:s3cret@db.local/mirror"), "postgres://erp:***@db.local/mirror");
        assert_eq!(shown("postgres://erp@db.local/mirror"), "postgres://erp@db.local/mirror");
        assert_eq!(
            shown("postgres://h/db?user=x&password=s3cret&a=b"),
            "postgres://h/db?user=x&password=***&a=b"
        );
        assert_eq!(shown("sqlite:espelho.db"), "sqlite:espelho.db");
    }
}
