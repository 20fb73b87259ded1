//! The shape of folders: their size, modules whose place and imports can be read from the files alone,
//! and files that do not belong there.

use crate::tidy::Finding;
use crate::tidy::rust::{Source, is_test_item, lines_of};
use crate::tidy::structure::imports::CRATES;
use crate::tidy::tree::Tree;
use std::collections::{BTreeMap, BTreeSet};
use syn::visit::Visit;

/// Entries of a folder, in halves: `foo.rs` with `foo/` is one entry, `foo_test.rs` half of one.
const HALVES_MAX: usize = 2 * 12;
/// Folders that may have more entries, and why.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("core/src", "the modules of the layer table, one row each"),
    ("engine/src", "the folders of the layer table, one row each"),
    (
        "core/src/h2/frame",
        "one file per type of frame, RFC 9113 section 6 and its extensions",
    ),
];
/// Where files of other crates are compiled once more: for model checkers, for fuzzers, and in the peers
/// of the benchmarks. Each is a workspace of its own.
const PATHS_ALLOWED: [&str; 3] = ["sanitize/", "fuzz/", "bench/peers/"];

/// Folders with too many entries, `#[path]` and `use super::*` outside tests.
pub(in crate::tidy) fn check(sources: &[Source]) -> Vec<Finding> {
    let mut found = Vec::new();
    for (folder, halves) in sizes(sources) {
        let is_excepted = EXCEPTIONS.iter().any(|(name, _)| *name == folder);
        if halves > HALVES_MAX && !is_excepted {
            let text = format!(
                "{} entries; at most {} (a test counts half)",
                halves as f64 / 2.0,
                HALVES_MAX / 2
            );
            found.push(Finding::new(&folder, 0, text));
        }
        if halves <= HALVES_MAX && is_excepted {
            let text = "the exception for its size is not needed (any more): remove it";
            found.push(Finding::new(&folder, 0, text));
        }
    }
    for source in sources.iter().filter(|source| !source.is_test()) {
        let mut modules = Modules::default();
        modules.visit_file(&source.syntax);
        for (line, path) in modules.paths {
            if let Some(text) = lost(&source.path, &path, sources) {
                found.push(Finding::new(&source.path, line, text));
            }
        }
        for (line, text, is_path) in modules.found {
            let is_allowed = PATHS_ALLOWED
                .iter()
                .any(|folder| source.path.starts_with(folder));
            if !(is_path && is_allowed) {
                found.push(Finding::new(&source.path, line, text));
            }
        }
    }
    found
}

/// Ends of the names of files that profilers, editors and merges leave behind.
const LEFT_OVER: [&str; 7] = [
    ".log",
    ".cpuprofile",
    ".heapsnapshot",
    ".profraw",
    ".orig",
    ".rej",
    ".tmp",
];

/// Files that a tool has left in a folder of the project.
pub(in crate::tidy) fn check_left_over(tree: &Tree) -> Vec<Finding> {
    let is_left_over = |path: &&str| LEFT_OVER.iter().any(|end| path.ends_with(end));
    let paths = tree.paths().filter(is_left_over);
    paths
        .map(|path| Finding::new(path, 0, "a tool has left this file behind: delete it"))
        .collect()
}

/// The bound and its exceptions, for print.
pub(in crate::tidy) fn summary() -> String {
    let names: Vec<&str> = EXCEPTIONS.iter().map(|(name, _)| *name).collect();
    format!(
        "at most {} entries in a folder, apart from {}",
        HALVES_MAX / 2,
        names.join(", ")
    )
}

/// The entries of each folder of the crates' sources, in halves.
fn sizes(sources: &[Source]) -> BTreeMap<String, usize> {
    let mut entries: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for source in sources {
        if !CRATES
            .iter()
            .any(|folder| source.path.starts_with(&format!("{folder}/")))
        {
            continue;
        }
        let mut rest = source.path.as_str();
        while let Some((folder, name)) = rest.rsplit_once('/') {
            let entry = name.trim_end_matches(".rs");
            if !matches!(entry, "lib" | "main") {
                entries.entry(folder.to_owned()).or_default().insert(entry);
            }
            if CRATES.contains(&folder) {
                break;
            }
            rest = folder;
        }
    }
    let halves = |names: BTreeSet<&str>| {
        let weigh = |name: &&str| if name.ends_with("_test") { 1 } else { 2 };
        names.iter().map(weigh).sum()
    };
    entries
        .into_iter()
        .map(|(folder, names)| (folder, halves(names)))
        .collect()
}

/// Why the compiler finds no file at the `#[path]` of a module, if it does not. Programs outside the workspace are
/// compiled only where they are run.
fn lost(file: &str, path: &ModulePath, sources: &[Source]) -> Option<String> {
    if path.is_nested {
        let text = "`#[path]` within a module of the file begins in a folder with that module's name, which need not exist: put it at the top";
        return Some(text.to_owned());
    }
    let mut folders: Vec<&str> = file.split('/').collect();
    folders.pop();
    for part in path.value.split('/') {
        match part {
            "." => {}
            ".." => drop(folders.pop()),
            _ => folders.push(part),
        }
    }
    let named = folders.join("/");
    let is_there = sources.iter().any(|source| source.path == named);
    (!is_there).then(|| format!("`#[path]` names {named}, which does not exist"))
}

/// The value of a `#[path]`, and whether its module stands in another one of the same file.
struct ModulePath {
    value: String,
    is_nested: bool,
}

/// Modules and imports that hide what a file is or needs: line, fault, whether it is a `#[path]`.
#[derive(Default)]
struct Modules {
    found: Vec<(usize, &'static str, bool)>,
    /// Those outside tests, with their lines.
    paths: Vec<(usize, ModulePath)>,
    /// Modules of the file around the one that is visited.
    depth: usize,
}

/// The value of `#[path = "value"]`.
fn path_of(attribute: &syn::Attribute) -> Option<String> {
    let syn::Meta::NameValue(named) = &attribute.meta else {
        return None;
    };
    match &named.value {
        syn::Expr::Lit(syn::ExprLit {
            lit: syn::Lit::Str(text),
            ..
        }) if attribute.path().is_ident("path") => Some(text.value()),
        _ => None,
    }
}

impl<'ast> Visit<'ast> for Modules {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if is_test_item(&module.attrs) {
            return;
        }
        if let Some(value) = module.attrs.iter().find_map(path_of) {
            let text = "`#[path]` outside tests; put the file into the folder of its module";
            let line = lines_of(module).0;
            let is_nested = self.depth > 0;
            self.found.push((line, text, true));
            self.paths.push((line, ModulePath { value, is_nested }));
        }
        self.depth += 1;
        syn::visit::visit_item_mod(self, module);
        self.depth -= 1;
    }
    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let mut tree = &item.tree;
        while let syn::UseTree::Path(path) = tree {
            if path.ident != "super" {
                return;
            }
            tree = &path.tree;
        }
        if matches!(tree, syn::UseTree::Glob(_)) && !is_test_item(&item.attrs) {
            let text = "`use super::*` outside tests; name what the file needs";
            self.found.push((lines_of(item).0, text, false));
        }
    }
}

#[cfg(test)]
#[path = "folders_test.rs"]
mod folders_test;
