//! Finds unreachable files: Rust files outside every module tree, documents that no other document
//! links, and dead links.

use crate::tidy::Finding;
use crate::tidy::rust::Source;
use crate::tidy::tree::Tree;
use std::collections::{BTreeMap, BTreeSet};

/// Rust files that are not a crate's root and that no `mod` declares.
pub(in crate::tidy) fn check_sources(tree: &Tree, sources: &[Source]) -> Vec<Finding> {
    let is_root = |path: &str| is_root(path) && is_built(tree, path) || is_named(tree, path);
    let by_path: BTreeMap<&str, &Source> = sources
        .iter()
        .map(|source| (source.path.as_str(), source))
        .collect();
    let mut alive: BTreeSet<String> = BTreeSet::new();
    let mut queue: Vec<String> = by_path
        .keys()
        .filter(|path| is_root(path))
        .map(|path| (*path).to_owned())
        .collect();
    while let Some(path) = queue.pop() {
        let Some(source) = by_path.get(path.as_str()) else {
            continue;
        };
        if !alive.insert(path.clone()) {
            continue;
        }
        for declared in source.declared() {
            let is_root = is_root(&path);
            queue.extend(places(
                &path,
                &declared.name,
                declared.path.as_deref(),
                is_root,
            ));
        }
    }
    let dead = (by_path.keys())
        .filter(|path| !alive.contains(**path))
        .map(|path| Finding::new(path, 0, "no module declares this file"));
    dead.chain(lost_modules(&by_path)).collect()
}

/// Modules of a file that another crate takes by a path attribute: there the compiler looks for them beside the file, and
/// not in its folder.
fn lost_modules(by_path: &BTreeMap<&str, &Source>) -> Vec<Finding> {
    let krate = |path: &str| path.split('/').next().unwrap_or_default().to_owned();
    let mut found = Vec::new();
    for (path, source) in by_path {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        for declared in source.declared() {
            let Some(taken) = declared.path.map(|relative| resolve(folder, &relative)) else {
                continue;
            };
            let Some(other) = by_path.get(taken.as_str()) else {
                continue;
            };
            if krate(path) == krate(&taken) {
                continue;
            }
            for lost in other.declared().iter().filter(|it| it.path.is_none()) {
                let name = &lost.name;
                let text = format!("{path} takes this file, and does not find its module `{name}`");
                found.push(Finding::new(&taken, 0, text));
            }
        }
    }
    found
}

/// A crate that gathers its tests in `tests/all.rs` builds only that and what its manifest names.
fn is_built(tree: &Tree, path: &str) -> bool {
    let Some((krate, test)) = path.split_once("/tests/") else {
        return true;
    };
    if !tree.has(&format!("{krate}/tests/all.rs")) {
        return true;
    }
    let name = test.trim_end_matches(".rs");
    let manifest = tree.text(&format!("{krate}/Cargo.toml"));
    manifest.is_some_and(|text| text.contains(&format!("[[test]]\nname = \"{name}\"\n")))
}

/// Whether the manifest names the file as that of a program, which stands among the tests whose modules it uses.
fn is_named(tree: &Tree, path: &str) -> bool {
    let Some((krate, file)) = path.split_once("/tests/") else {
        return false;
    };
    let manifest = tree.text(&format!("{krate}/Cargo.toml"));
    manifest.is_some_and(|text| text.contains(&format!("path = \"tests/{file}\"\n")))
}

/// Whether cargo builds the file by itself.
fn is_root(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    matches!(
        parts.as_slice(),
        [.., "src", "lib.rs" | "main.rs"]
            // The addon: TypeScript has `src`.
            | ["node", "native", "lib.rs"]
            | [.., "build.rs"]
            | [
                ..,
                "bin" | "tests" | "examples" | "benches" | "fuzz_targets",
                _
            ]
            | [.., "bin" | "tests" | "examples", _, "main.rs"]
    )
}

/// Where `mod name;` in the file at `path` may lead.
fn places(path: &str, name: &str, attribute: Option<&str>, is_root: bool) -> Vec<String> {
    let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
    if let Some(relative) = attribute {
        return vec![resolve(folder, relative)];
    }
    let stem = file.trim_end_matches(".rs");
    // A file that a path attribute names looks for its modules beside itself, as `main.rs` does.
    let base = if is_root || matches!(stem, "mod" | "main") {
        folder.to_owned()
    } else {
        format!("{folder}/{stem}")
    };
    vec![format!("{base}/{name}.rs"), format!("{base}/{name}/mod.rs")]
}

/// Documents that no document links, and links to files that are not there.
pub(in crate::tidy) fn check_documents(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut linked: BTreeSet<String> = BTreeSet::new();
    for (path, text) in tree.ending(".md") {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        for (line, target) in links(text) {
            // A path of Rust in a page that rustdoc includes: rustdoc checks those.
            if target.contains("::")
                || target.contains("://")
                || target.starts_with('#')
                || target.starts_with("mailto:")
            {
                continue;
            }
            let file = target.split('#').next().unwrap_or(target);
            let resolved = resolve(folder, file);
            if !tree.has(&resolved) {
                let text = format!("the link to `{target}` leads nowhere");
                found.push(Finding::new(path, line, text));
            }
            linked.insert(resolved);
        }
    }
    for (path, _) in tree.ending(".md") {
        if path.starts_with("docs/") && !linked.contains(path) {
            found.push(Finding::new(path, 0, "no document links this one"));
        }
    }
    found
}

/// The targets of inline links, with their lines.
fn links(text: &str) -> Vec<(usize, &str)> {
    let mut all = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let mut rest = line;
        while let Some((_, after)) = rest.split_once("](") {
            let Some((target, behind)) = after.split_once(')') else {
                break;
            };
            all.push((index + 1, target));
            rest = behind;
        }
    }
    all
}

/// A relative path from a folder, `.` and `..` carried out.
fn resolve(folder: &str, relative: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in relative.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            name => parts.push(name),
        }
    }
    parts.join("/")
}

#[cfg(test)]
#[path = "dead_test.rs"]
mod dead_test;
