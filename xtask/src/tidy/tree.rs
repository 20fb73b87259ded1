//! The project as a map from path to text, the input of every rule.

use std::collections::BTreeMap;
use std::path::Path;

/// Folders that are made, not written.
const SKIPPED: &[&str] = &[
    ".git",
    "target",
    "node_modules",
    "node/dist",
    "node/addon",
    "bench/out",
    "fuzz/artifacts",
    "fuzz/corpus",
    "fuzz/coverage",
    "fuzz/target",
];
/// Whether a path is in a folder that is made.
pub(super) fn is_made(path: &str) -> bool {
    let path = path.trim_end_matches('/');
    let is_in = |folder: &&str| path == *folder || path.starts_with(&format!("{folder}/"));
    SKIPPED.iter().any(is_in)
}

/// Files that a rule may want to read.
const READ: &[&str] = &["rs", "md", "toml", "json", "py", "ts", "mts", "mjs", "go"];

/// Text files by their path from the root, with `/`; other files have an empty text.
#[derive(Debug, Default)]
pub(super) struct Tree {
    files: BTreeMap<String, String>,
}

impl Tree {
    pub(super) fn read(root: &Path) -> Result<Self, String> {
        let mut tree = Self::default();
        tree.walk(root, "")?;
        Ok(tree)
    }
    #[cfg(test)]
    pub(super) fn of(files: &[(&str, &str)]) -> Self {
        let own = |&(path, text): &(&str, &str)| (path.to_owned(), text.to_owned());
        Self {
            files: files.iter().map(own).collect(),
        }
    }
    pub(super) fn len(&self) -> usize {
        self.files.len()
    }
    /// Whether the file has a function of this name: in Rust, or in Python, in which the cases of
    /// `conformance/h3` are written.
    pub(super) fn has_function(&self, path: &str, name: &str) -> bool {
        let keyword = if path.ends_with(".py") { "def" } else { "fn" };
        self.text(path)
            .is_some_and(|text| text.contains(&format!("{keyword} {name}(")))
    }
    pub(super) fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(String::as_str)
    }
    /// Whether a file or a folder is there.
    pub(super) fn has(&self, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        let folder = format!("{path}/");
        self.files.contains_key(path) || self.files.keys().any(|file| file.starts_with(&folder))
    }
    /// Whether a file or a folder is there; `*` stands for any letters, and asks for files.
    pub(super) fn has_any(&self, path: &str) -> bool {
        match path.split_once('*') {
            None => self.has(path),
            Some((before, after)) => self
                .paths()
                .any(|file| file.starts_with(before) && file.ends_with(after)),
        }
    }
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }
    /// Files whose name ends so, with their text.
    pub(super) fn ending<'a>(
        &'a self,
        suffix: &'a str,
    ) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.files
            .iter()
            .filter(move |(path, _)| path.ends_with(suffix))
            .map(|(path, text)| (path.as_str(), text.as_str()))
    }

    fn walk(&mut self, dir: &Path, prefix: &str) -> Result<(), String> {
        let listed = std::fs::read_dir(dir)
            .map_err(|why| format!("cannot read {}: {why}", dir.display()))?;
        for entry in listed.flatten() {
            let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
            let is_dir = entry.file_type().is_ok_and(|kind| kind.is_dir());
            let name = path.rsplit('/').next().unwrap_or(&path);
            if SKIPPED.contains(&path.as_str()) || SKIPPED.contains(&name) {
                continue;
            }
            if is_dir {
                self.walk(&entry.path(), &format!("{path}/"))?;
                continue;
            }
            let wanted = READ
                .iter()
                .any(|suffix| path.ends_with(&format!(".{suffix}")));
            let text = if wanted {
                std::fs::read_to_string(entry.path())
                    .map_err(|why| format!("cannot read {path}: {why}"))?
            } else {
                String::new()
            };
            self.files.insert(path, text);
        }
        Ok(())
    }
}
