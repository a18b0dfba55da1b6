//! The modules of a crate and what each imports, read from its sources: enough to find circles.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

/// A module by its path within the crate; empty for the root.
type Module = Vec<String>;

/// What the modules of one crate import from each other.
pub struct Modules {
    sources: BTreeMap<Module, String>,
    /// Names that a module re-exports, and the modules that define them.
    exports: BTreeMap<Module, BTreeMap<String, Module>>,
}

impl Modules {
    /// Reads every file below `src`.
    pub fn read(src: &Path) -> Self {
        let mut files = Vec::new();
        collect(src, &mut files);
        let of = |(path, text): (std::path::PathBuf, String)| {
            let relative = path.strip_prefix(src).expect("below src").with_extension("");
            let mut module: Module =
                relative.iter().map(|part| part.to_string_lossy().into_owned()).collect();
            if module.last().is_some_and(|name| ["mod", "lib", "main"].contains(&name.as_str())) {
                module.pop();
            }
            (module, text)
        };
        Self::of_sources(files.into_iter().map(of).collect())
    }

    fn of_sources(sources: BTreeMap<Module, String>) -> Self {
        let sources =
            sources.into_iter().map(|(module, text)| (module, without_tests_and_comments(&text))).collect();
        let mut modules = Self { sources, exports: BTreeMap::new() };
        let exports = modules.sources.iter().map(|(module, text)| {
            let own = uses(text, true).into_iter().filter_map(|path| {
                let name = path.last()?.clone();
                let defined = modules.resolve(module, &path)?;
                (defined != *module).then_some((name, defined))
            });
            (module.clone(), own.collect())
        });
        modules.exports = exports.collect();
        modules
    }

    /// The circles: modules that import each other, directly or over others. A module and those within it count as one
    /// room, and do not make a circle with each other.
    pub fn circles(&self) -> Vec<Vec<String>> {
        let reached: BTreeMap<&Module, BTreeSet<Module>> =
            self.sources.keys().map(|module| (module, self.reach(module))).collect();
        let mut circles: BTreeSet<Vec<String>> = BTreeSet::new();
        for (module, targets) in &reached {
            let others = targets.iter().filter(|target| reached[*target].contains(*module));
            let mut circle: Vec<String> = others.map(|target| target.join("::")).collect();
            if !circle.is_empty() {
                circle.push(module.join("::"));
                circle.sort();
                circle.dedup();
                circles.insert(circle);
            }
        }
        circles.into_iter().collect()
    }

    fn reach(&self, from: &Module) -> BTreeSet<Module> {
        let (mut reached, mut left) = (BTreeSet::new(), vec![from.clone()]);
        while let Some(module) = left.pop() {
            for next in self.imports(&module) {
                if reached.insert(next.clone()) {
                    left.push(next);
                }
            }
        }
        reached
    }

    fn imports(&self, module: &Module) -> BTreeSet<Module> {
        let text = &self.sources[module];
        let paths = uses(text, false).into_iter().chain(uses(text, true)).chain(qualified(text));
        let other = |target: &Module| {
            let shared = module.len().min(target.len());
            module[..shared] != target[..shared]
        };
        paths.filter_map(|path| self.resolve(module, &path)).filter(other).collect()
    }

    /// The module that defines what a path names; nothing for paths of other crates.
    fn resolve(&self, from: &Module, path: &[String]) -> Option<Module> {
        let (mut base, mut rest) = (from.clone(), path);
        match rest.first()?.as_str() {
            "crate" => (base, rest) = (Module::new(), &rest[1..]),
            "self" | "super" => {
                while let Some(word) = rest.first().filter(|word| ["self", "super"].contains(&word.as_str()))
                {
                    if word == "super" {
                        base.pop();
                    }
                    rest = &rest[1..];
                }
            }
            child => {
                let child = [from.as_slice(), &[child.to_owned()]].concat();
                self.sources.get(&child)?;
            }
        }
        let known = (0..=rest.len()).rev().find_map(|length| {
            let module = [base.as_slice(), &rest[..length]].concat();
            self.sources.contains_key(&module).then_some((module, rest.get(length)))
        });
        let (mut module, name) = known?;
        while let Some(defined) = name.and_then(|name| self.exports.get(&module)?.get(name)) {
            module.clone_from(defined);
        }
        Some(module)
    }
}

fn collect(folder: &Path, files: &mut Vec<(std::path::PathBuf, String)>) {
    for entry in fs::read_dir(folder).expect("the sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let is_test = path.file_stem().is_some_and(|stem| stem.to_string_lossy().ends_with("tests"));
            if !is_test && !path.iter().any(|part| part == "tests") {
                files.push((path.clone(), fs::read_to_string(&path).expect("a source")));
            }
        }
    }
}

fn without_tests_and_comments(text: &str) -> String {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let lines = code.lines().map(|line| line.split("//").next().unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n")
}

/// The paths of the `use` items, re-exports or others.
fn uses(text: &str, re_exports: bool) -> Vec<Vec<String>> {
    let mut paths = Vec::new();
    for item in text.split(';') {
        let Some(at) = item.rfind("use ").filter(|at| *at == 0 || item[..*at].ends_with([' ', '\n'])) else {
            continue;
        };
        let line = item[..at].rsplit('\n').next().unwrap_or_default().trim();
        let is_re_export = line.starts_with("pub");
        if (line.is_empty() || is_re_export) && is_re_export == re_exports {
            expand("", &item[at + 4..], &mut paths);
        }
    }
    paths
}

fn expand(prefix: &str, tree: &str, paths: &mut Vec<Vec<String>>) {
    let tree = tree.trim();
    let Some((head, inner)) = tree.split_once('{') else {
        let path = format!("{prefix}{}", tree.split(" as ").next().unwrap_or_default());
        let words: Vec<String> = path.split("::").map(|word| word.trim().to_owned()).collect();
        paths.push(words.into_iter().filter(|word| !word.is_empty()).collect());
        return;
    };
    let inner = inner.trim_end().trim_end_matches('}');
    let (mut depth, mut start) = (0, 0);
    for (at, letter) in inner.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                expand(&format!("{prefix}{head}"), &inner[start..at], paths);
                start = at + 1;
            }
            _ => (),
        }
    }
    if !inner[start..].trim().is_empty() {
        // The outermost brace that was trimmed may have been an inner one's.
        let left = inner[start..].matches('{').count() - inner[start..].matches('}').count();
        expand(&format!("{prefix}{head}"), &format!("{}{}", &inner[start..], "}".repeat(left)), paths);
    }
}

/// Paths that stand in code: `crate::…`, `super::…`, `self::…`.
fn qualified(text: &str) -> Vec<Vec<String>> {
    let mut paths = Vec::new();
    for root in ["crate::", "super::", "self::"] {
        for (at, _) in text.match_indices(root) {
            let is_word = text[..at]
                .ends_with(|letter: char| letter.is_alphanumeric() || letter == '_' || letter == ':');
            let path: String =
                text[at..].chars().take_while(|c| c.is_alphanumeric() || *c == '_' || *c == ':').collect();
            if !is_word {
                let words = path.split("::").filter(|word| !word.is_empty()).map(str::to_owned);
                paths.push(words.collect());
            }
        }
    }
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circles(sources: &[(&str, &str)]) -> Vec<Vec<String>> {
        let module =
            |path: &str| path.split("::").filter(|word| !word.is_empty()).map(str::to_owned).collect();
        let sources = sources.iter().map(|(path, text)| (module(path), (*text).to_owned()));
        Modules::of_sources(sources.collect()).circles()
    }

    #[test]
    fn two_modules_that_import_each_other_are_a_circle() {
        let found = circles(&[("", "mod a; mod b;"), ("a", "use crate::b::B;"), ("b", "use super::a;")]);
        assert_eq!(found, [["a", "b"]]);
        assert!(circles(&[("", ""), ("a", "use crate::b::B;"), ("b", "use std::fs;")]).is_empty());
    }

    #[test]
    fn a_circle_goes_over_others_over_re_exports_and_over_paths_in_code() {
        let found = circles(&[
            ("", "pub use b::{B, C as D};"),
            ("a", "use crate::B;"),
            ("b", "fn x() { crate::c::y(); }"),
            ("c", "use {std::fs, crate::{a::{Deep, deeper::{X, Y}}}};"),
        ]);
        assert_eq!(found, [["a", "b", "c"]]);
    }

    #[test]
    fn a_module_and_its_own_children_are_one_room_and_tests_and_comments_do_not_count() {
        let sources = [("", ""), ("a", "mod b; use b::B;"), ("a::b", "use super::A;")];
        assert!(circles(&sources).is_empty());
        let sources = [
            ("", ""),
            ("a", "use crate::b::B;"),
            ("b", "// use crate::a;\n#[cfg(test)]\nmod t { use crate::a; }"),
        ];
        assert!(circles(&sources).is_empty());
    }
}
