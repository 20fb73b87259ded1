//! Checks the paths in documents and comments: each names a file or folder of the project. Those of
//! `node/ARCHITECTURE.md`, a map of folders, are from the folder of their row, and the map has a row for each folder.

use super::{quoted, rows_under};
use crate::tidy::Finding;
use crate::tidy::tree::{self, Tree};
use std::collections::BTreeSet;

/// Languages whose comments are read, and the marker of a line comment.
const LANGUAGES: &[(&str, &str)] = &[(".rs", "//"), (".ts", "//"), (".mts", "//"), (".mjs", "//")];
/// Files that a command writes when it is asked for: a document may name one before it is there.
const WRITTEN: &[&str] = &[
    "docs/measured/bench-bulk-client.md",
    "docs/measured/bench-calls.md",
];
/// Past releases name the paths of their time.
const RECORDS: &[&str] = &["CHANGELOG.md"];
/// The document with a map of folders, the folder that it is of, and those that need a row.
const MAP: &str = "node/ARCHITECTURE.md";
const MAPPED: &str = "node/";
const WITH_ROWS: &[&str] = &["src/", "native/"];
const MAP_HEADING: &str = "pieces fit";

/// Paths that do not exist, and folders without a row in the map.
pub(in crate::tidy) fn check(tree: &Tree) -> Vec<Finding> {
    let tops: BTreeSet<&str> = tree
        .paths()
        .filter_map(|path| Some(path.split_once('/')?.0))
        .collect();
    let mut found = Vec::new();
    let mut look = |path: &str, line: usize, text: &str| {
        let paths = quoted(text)
            .into_iter()
            .filter_map(|code| path_of(code, &tops));
        let missing = paths.filter(|code| !exists(tree, code));
        found.extend(missing.map(|code| absent(path, line, code)));
    };
    let is_record = |path: &str| RECORDS.contains(&path);
    for (path, text) in tree.ending(".md").filter(|(path, _)| !is_record(path)) {
        for (line, text) in (1..).zip(text.lines()) {
            look(path, line, text);
        }
    }
    for (suffix, marker) in LANGUAGES {
        for (path, text) in tree.ending(suffix) {
            for (line, text) in (1..).zip(text.lines()) {
                if text.trim_start().starts_with(marker) {
                    look(path, line, text);
                }
            }
        }
    }
    found.extend(check_map(tree));
    found
}

/// The path that a quoted piece of code is, without the function behind it; `None`: it is none of this project.
fn path_of<'a>(code: &'a str, tops: &BTreeSet<&str>) -> Option<&'a str> {
    let path = code.split("::").next().unwrap_or(code);
    let (top, _) = path.split_once('/')?;
    // `<name>` stands for any.
    let is_path = tops.contains(top) && !path.contains([' ', '<', '(', '{']);
    is_path.then_some(path)
}

fn exists(tree: &Tree, path: &str) -> bool {
    let is_made = tree::is_made(path) || WRITTEN.contains(&path);
    is_made || tree.has_any(path)
}

fn absent(path: &str, line: usize, code: &str) -> Finding {
    Finding::new(path, line, format!("`{code}` does not exist"))
}

/// The rows of the map: `| folder | files and contents |`.
fn check_map(tree: &Tree) -> Vec<Finding> {
    let Some(text) = tree.text(MAP) else {
        return vec![Finding::new(MAP, 0, "is missing")];
    };
    let mut found = Vec::new();
    let mut rows: BTreeSet<&str> = BTreeSet::new();
    for (line, cells) in rows_under(text, MAP_HEADING) {
        let (places, contents) = (quoted(cells[0]), &cells[1..]);
        for place in &places {
            if !tree.has_any(&format!("{MAPPED}{place}")) {
                found.push(absent(MAP, line, place));
            }
        }
        let names = contents.iter().flat_map(|cell| quoted(cell));
        for name in names.filter(|name| is_file(name)) {
            let is_there = places.iter().any(|place| {
                let in_folder = place.ends_with('/');
                in_folder && tree.has_any(&format!("{MAPPED}{place}{name}"))
            });
            if !is_there && !tree.has_any(&format!("{MAPPED}{name}")) && !tree.has_any(name) {
                let text = format!("`{name}` is no file of `{}`", places.join("`, `"));
                found.push(Finding::new(MAP, line, text));
            }
        }
        rows.extend(places);
    }
    let folders: BTreeSet<&str> = tree
        .paths()
        .filter_map(|path| path.strip_prefix(MAPPED))
        .filter(|path| WITH_ROWS.iter().any(|folder| path.starts_with(folder)))
        .filter_map(|path| Some(path.rsplit_once('/')?.0))
        .collect();
    for folder in folders {
        let has = |row: &&str| {
            let row = row.trim_end_matches('/');
            folder == row
                || folder
                    .strip_prefix(row)
                    .is_some_and(|rest| rest.starts_with('/'))
        };
        // A row of a whole tree's root says nothing of its folders.
        let depth = folder.matches('/').count().min(1);
        if !rows
            .iter()
            .filter(|row| row.matches('/').count() > depth)
            .any(has)
        {
            let text = format!("the map has no row for `{folder}/`");
            found.push(Finding::new(MAP, 0, text));
        }
    }
    found
}

/// A name with an ending of our languages.
fn is_file(name: &str) -> bool {
    let endings = [".rs", ".ts", ".mts", ".mjs", ".toml", ".md"];
    !name.contains(' ') && endings.iter().any(|ending| name.ends_with(ending))
}

#[cfg(test)]
#[path = "paths_test.rs"]
mod paths_test;
