//! Checks that documents are true: the paths of ARCHITECTURE, the tests of the promises and of the
//! attacks, the limits' names.

pub(super) mod decisions;
pub(super) mod exchange;
pub(super) mod generated;
pub(super) mod mutants;
pub(super) mod paths;
pub(super) mod requirements;

use crate::render::{coming_from, promises};
use crate::tidy::Finding;
use crate::tidy::tree::Tree;

/// The ids of the product's promises; docs/promises.toml has an entry for each.
const PROMISES: &[(char, usize)] = &[
    ('C', 14),
    ('W', 6),
    ('S', 7),
    ('Q', 3),
    ('P', 4),
    ('R', 6),
    ('N', 6),
    ('G', 1),
    ('U', 3),
    ('O', 3),
    ('D', 2),
];
/// The rows of docs/attacks.md: against servers, and against clients.
const ATTACKS: usize = 35;
const CLIENT_ATTACKS: usize = 14;

const ARCHITECTURE: &str = "ARCHITECTURE.md";
const ATTACKS_FILE: &str = "docs/attacks.md";
const ERRORS: &str = "engine/src/error.rs";
const TROUBLESHOOTING: &str = "docs/guide/how-to/troubleshooting.md";
/// Constants, deadlines and windows.
const LIMITS: [&str; 3] = [
    "core/src/limits.rs",
    "core/src/limits/timeouts.rs",
    "core/src/limits/windows.rs",
];

/// Every rule about documents.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut found = check_paths(tree);
    let promises: Vec<String> = PROMISES
        .iter()
        .flat_map(|(letter, count)| (1..=*count).map(move |n| format!("{letter}{n}")))
        .collect();
    let against_clients = (1..=CLIENT_ATTACKS).map(|n| format!("S{n}"));
    let attacks: Vec<String> = (1..=ATTACKS)
        .map(|n| n.to_string())
        .chain(against_clients)
        .collect();
    found.extend(check_promises(tree, &promises));
    found.extend(check_tests(tree, ATTACKS_FILE, &attacks));
    found.extend(check_limits(tree));
    found.extend(check_rows(tree));
    found.extend(check_kinds(tree));
    found
}

/// Every path in ARCHITECTURE exists: each piece of code in the table "where is", and elsewhere each
/// with a slash. `*` stands for one or more files.
fn check_paths(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    let Some(text) = tree.text(ARCHITECTURE) else {
        return vec![Finding::new(ARCHITECTURE, 0, "is missing")];
    };
    let rows = rows_under(text, "Where is");
    for (line, cells) in &rows {
        let paths = cells.iter().flat_map(|cell| quoted(cell));
        found.extend(paths.filter_map(|path| missing_path(tree, path, *line)));
    }
    // Elsewhere a piece of code is a path if it has a slash.
    let is_in_table = |line: usize| rows.iter().any(|(row, _)| *row == line);
    for (line, text) in (1..)
        .zip(text.lines())
        .filter(|(line, _)| !is_in_table(*line))
    {
        let paths = quoted(text).into_iter().filter(|code| code.contains('/'));
        found.extend(paths.filter_map(|path| missing_path(tree, path, line)));
    }
    if rows.is_empty() {
        found.push(Finding::new(
            ARCHITECTURE,
            0,
            "has no table under \"Where is\"",
        ));
    }
    found
}

/// Each id has one entry with tests that exist, or says what is missing.
fn check_promises(tree: &Tree, ids: &[String]) -> Vec<Finding> {
    let read = tree.text(promises::TABLE).map(promises::read);
    let read = match read {
        None => return vec![Finding::new(promises::TABLE, 0, "is missing")],
        Some(Err(why)) => return vec![Finding::new(promises::TABLE, 0, why)],
        Some(Ok(read)) => read,
    };
    let mut found = Vec::new();
    for id in ids {
        let entries = read.iter().filter(|promise| promise.id == *id).count();
        if entries != 1 {
            let text = format!("{entries} entries for {id}; there must be one");
            found.push(Finding::new(promises::TABLE, 0, text));
        }
    }
    for promise in &read {
        let id = &promise.id;
        if promise.tests.is_empty() && promise.todo.is_none() {
            let text = format!("{id} names no test and has no `todo`");
            found.push(Finding::new(promises::TABLE, 0, text));
        }
        let missing = promise
            .tests
            .iter()
            .filter_map(|test| missing_test(tree, test));
        found.extend(missing.map(|why| Finding::new(promises::TABLE, 0, format!("{id}: {why}"))));
    }
    found
}

/// Each row of the tables for those who come from elsewhere names tests that exist, unless there is no counterpart.
fn check_rows(tree: &Tree) -> Vec<Finding> {
    let pages = match tree.text(coming_from::TABLE).map(coming_from::read) {
        None => return vec![Finding::new(coming_from::TABLE, 0, "is missing")],
        Some(Err(why)) => return vec![Finding::new(coming_from::TABLE, 0, why)],
        Some(Ok(pages)) => pages,
    };
    let mut found = Vec::new();
    for (page, row) in pages
        .iter()
        .flat_map(|page| page.rows.iter().map(move |row| (page, row)))
    {
        let name = format!("{}, {} {}", page.path, row.theirs, row.ours);
        if row.tests.is_empty() && row.ours != coming_from::NOTHING {
            let text = format!("{name}: names no test");
            found.push(Finding::new(coming_from::TABLE, 0, text));
        }
        let missing = row.tests.iter().filter_map(|test| missing_test(tree, test));
        found.extend(
            missing.map(|why| Finding::new(coming_from::TABLE, 0, format!("{name}: {why}"))),
        );
    }
    found
}

/// Each name of a kind of errors of the crate has an anchor on the page of troubleshooting.
fn check_kinds(tree: &Tree) -> Vec<Finding> {
    let (Some(errors), Some(page)) = (tree.text(ERRORS), tree.text(TROUBLESHOOTING)) else {
        return Vec::new();
    };
    let names = errors.split_once("const NAMES: ");
    let names = names.and_then(|(_, rest)| rest.split_once("];"));
    let Some((names, _)) = names else {
        return vec![Finding::new(ERRORS, 0, "has no list NAMES of its kinds")];
    };
    let words = names.split('"').skip(1).step_by(2);
    words
        .filter(|word| !page.contains(&format!("<a id=\"rust-{word}\"></a>`{word}`")))
        .map(|word| {
            let text = format!("has no row with the anchor `rust-{word}` for that kind of errors");
            Finding::new(TROUBLESHOOTING, 0, text)
        })
        .collect()
}

/// A finding, unless `path` exists.
fn missing_path(tree: &Tree, path: &str, line: usize) -> Option<Finding> {
    (!tree.has_any(path))
        .then(|| Finding::new(ARCHITECTURE, line, format!("`{path}` does not exist")))
}

/// Each id has one row, whose last cell names tests that exist or begins with `todo`.
fn check_tests(tree: &Tree, file: &str, ids: &[String]) -> Vec<Finding> {
    let mut found = Vec::new();
    let Some(text) = tree.text(file) else {
        return vec![Finding::new(file, 0, "is missing")];
    };
    let rows: Vec<(usize, Vec<&str>)> = rows_under(text, "");
    for id in ids {
        let with_id: Vec<_> = rows.iter().filter(|(_, cells)| cells[0] == id).collect();
        let [(line, cells)] = with_id.as_slice() else {
            let text = format!("{} rows for {id}; there must be one", with_id.len());
            found.push(Finding::new(file, 0, text));
            continue;
        };
        let last = cells.last().copied().unwrap_or_default();
        let tests = quoted(last);
        if tests.is_empty() && !last.starts_with("todo") {
            let text = format!("{id} names no test and is not marked `todo`");
            found.push(Finding::new(file, *line, text));
        }
        for test in tests {
            if let Some(why) = missing_test(tree, test) {
                found.push(Finding::new(file, *line, format!("{id}: {why}")));
            }
        }
    }
    found
}

/// Why `path::name` is not a test, if so: a function, or in JavaScript words of a title. A path without a name (a runner's
/// list) is a file.
fn missing_test(tree: &Tree, test: &str) -> Option<String> {
    let Some((path, name)) = test.rsplit_once("::") else {
        return (!tree.has(test)).then(|| format!("`{test}` does not exist"));
    };
    if !tree.has(path) {
        return Some(format!("`{path}` does not exist"));
    }
    if path.ends_with(".mjs") {
        let has_title = tree.text(path).is_some_and(|text| text.contains(name));
        return (!has_title).then(|| format!("`{path}` has no test `{name}`"));
    }
    (!tree.has_function(path, name)).then(|| format!("`{path}` has no function `{name}`"))
}

/// Names of limits in docs/attacks.md (`limits.rs` NAME) are constants or options there.
fn check_limits(tree: &Tree) -> Vec<Finding> {
    let limits: String = LIMITS.iter().filter_map(|path| tree.text(path)).collect();
    let Some(text) = tree.text(ATTACKS_FILE).filter(|_| !limits.is_empty()) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for (line, cells) in rows_under(text, "") {
        // The column before the last names limits.
        let Some(cell) = cells.len().checked_sub(2).and_then(|at| cells.get(at)) else {
            continue;
        };
        for name in quoted(cell) {
            let constant = limits.contains(&format!("pub const {name}:"));
            let field = limits.contains(&format!("pub {name}:"));
            if !constant && !field {
                let text = format!("`{name}` is not in {}", LIMITS.join(", "));
                found.push(Finding::new(ATTACKS_FILE, line, text));
            }
        }
    }
    found
}

/// The rows (line, cells) of the tables under the heading that contains `heading`, header rows
/// and rules left out; of all tables when it is empty.
pub(super) fn rows_under<'a>(text: &'a str, heading: &str) -> Vec<(usize, Vec<&'a str>)> {
    let mut rows = Vec::new();
    let mut inside = heading.is_empty();
    let lines: Vec<&str> = text.lines().collect();
    for (index, line) in lines.iter().enumerate() {
        if line.starts_with('#') && !heading.is_empty() {
            inside = line.contains(heading);
        }
        let is_rule = |line: &str| line.starts_with("|--") || line.starts_with("| --");
        let is_header = lines.get(index + 1).is_some_and(|next| is_rule(next));
        if inside && line.starts_with('|') && !is_rule(line) && !is_header {
            let cells = line.trim_matches('|').split('|').map(str::trim).collect();
            rows.push((index + 1, cells));
        }
    }
    rows
}

/// The pieces between backticks.
pub(super) fn quoted(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

#[cfg(test)]
#[path = "documents_test.rs"]
mod documents_test;
