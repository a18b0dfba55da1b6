//! Names of the operating system's users.

use std::{os::unix::fs::MetadataExt as _, path::Path};

/// The user of the package's service.
const SERVICE: &str = "espelho";

/// Returns the owner of a file as sudo(8) takes it, or of the folder in which this user may not see the file; the service's
/// user where that is root, as which the service does not run.
pub(crate) fn owner_of(file: &Path) -> String {
    let about = file.ancestors().find_map(|path| path.metadata().ok()).filter(|about| about.uid() != 0);
    let Some(about) = about else { return SERVICE.to_owned() };
    // A number is quoted: it stands after a hash, which begins a comment of the shell.
    name_of(about.uid()).unwrap_or_else(|| format!("'#{}'", about.uid()))
}

/// Returns the name of a user; `None` where no file of this machine names it.
pub(crate) fn name_of(id: u32) -> Option<String> {
    named_in(&std::fs::read_to_string("/etc/passwd").ok()?, id)
}

/// Returns the name of a user, from the text of `/etc/passwd` (passwd(5)).
fn named_in(users: &str, id: u32) -> Option<String> {
    let name = |line: &str| -> Option<String> {
        let mut fields = line.split(':');
        let (name, own) = (fields.next()?, fields.nth(1)?);
        (own.parse::<u32>().ok() == Some(id) && !name.is_empty()).then(|| name.chars().take(64).collect())
    };
    users.lines().find_map(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_without_a_name_in_the_environment_has_the_one_of_the_system() {
        let users =
            "root:x:0:0:root:/root:/bin/bash\nbroken\nespelho:x:998:998::/var/lib/espelho:/bin/false\n";
        for (id, expected) in [(0, Some("root")), (998, Some("espelho")), (7, None)] {
            assert_eq!(named_in(users, id).as_deref(), expected);
        }
    }
}
