//! The style and the script of every page, named by their contents, and the icons of the tab.

use std::{fmt::Write as _, sync::LazyLock};

use sha2::{Digest as _, Sha256};

/// The digits of a name; two versions of a file never share them.
const DIGITS: usize = 16;

/// A file that pages refer to. Its name changes with its contents, so a browser keeps it for ever.
#[derive(Debug)]
pub(crate) struct Asset {
    pub(crate) name: String,
    pub(crate) kind: &'static str,
    pub(crate) text: &'static str,
}

/// The style.
pub(super) static STYLE: LazyLock<Asset> = LazyLock::new(|| {
    Asset::new("css", "text/css; charset=utf-8", include_str!("../../templates/assets/page.css"))
});
/// The script: without it every page works too.
pub(super) static SCRIPT: LazyLock<Asset> = LazyLock::new(|| {
    Asset::new("js", "text/javascript; charset=utf-8", include_str!("../../templates/assets/page.js"))
});

/// Returns the file of this name.
pub(crate) fn asset(name: &str) -> Option<&'static Asset> {
    [&*STYLE, &*SCRIPT].into_iter().find(|asset| asset.name == name)
}

/// Returns the first digits of a text's digest.
pub(super) fn digest(text: &str) -> String {
    let mut digits = hex::encode(Sha256::digest(text.as_bytes()));
    digits.truncate(DIGITS);
    digits
}

/// Returns the tab's icon for a state, as a `data:` address. The form says it too, not the colour alone.
pub(super) fn icon(state: &str) -> String {
    let (colour, sign) = match state {
        "ok" => ("#1f9d57", "<path d='M9 17l5 5 10-12' fill='none' stroke='#fff' stroke-width='4'/>"),
        "failing" => ("#c62f26", "<path d='M10 10l12 12M22 10L10 22' stroke='#fff' stroke-width='4'/>"),
        "warning" => ("#b86a00", "<path d='M16 7v11M16 22v4' stroke='#fff' stroke-width='4'/>"),
        "list" | "story" => {
            ("#3565b5", "<path d='M8 11h16M8 16h16M8 21h16' stroke='#fff' stroke-width='3'/>")
        }
        _ => ("#6b7580", "<path d='M9 16h14' stroke='#fff' stroke-width='4'/>"),
    };
    let form = match state {
        "failing" => format!("<rect x='1' y='1' width='30' height='30' rx='6' fill='{colour}'/>"),
        "warning" => format!("<path d='M16 0l16 31H0z' fill='{colour}'/>"),
        _ => format!("<circle cx='16' cy='16' r='15' fill='{colour}'/>"),
    };
    let svg = format!("<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'>{form}{sign}</svg>");
    let mut address = "data:image/svg+xml,".to_owned();
    for letter in svg.chars() {
        match letter {
            '<' | '>' | '#' | ' ' | '\'' | '%' | ':' => {
                // Writing to a String cannot fail.
                let _ = write!(address, "%{:02X}", letter as u32);
            }
            _ => address.push(letter),
        }
    }
    address
}

impl Asset {
    fn new(ending: &str, kind: &'static str, text: &'static str) -> Self {
        Self { name: format!("page-{}.{ending}", digest(text)), kind, text }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_found_by_the_name_of_its_contents_alone() {
        assert_eq!(asset(&SCRIPT.name).map(|asset| asset.text), Some(SCRIPT.text));
        assert!(asset("page.js").is_none() && asset("../page.js").is_none());
    }

    #[test]
    fn the_script_and_the_style_are_a_few_kilobytes() {
        assert!(SCRIPT.text.len() < 6 << 10, "{} bytes", SCRIPT.text.len());
        assert!(STYLE.text.len() < 16 << 10, "{} bytes", STYLE.text.len());
    }

    #[test]
    fn each_state_has_an_icon_of_its_own_form() {
        let icons = ["ok", "warning", "failing", "unknown"].map(icon);
        for (at, icon) in icons.iter().enumerate() {
            assert!(icon.starts_with("data:image/svg+xml,%3Csvg") && !icon.contains(['<', '#', '"', ' ']));
            assert!(!icons[..at].contains(icon));
        }
    }
}
