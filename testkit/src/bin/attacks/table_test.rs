//! The rows of docs/attacks.md and the runs of this program are the same. No socket is opened.

use super::hostile::{HOSTILE, Serve};
use super::servers::{ATTACKS, Run};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}
fn text(path: &str) -> String {
    let path = root().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|why| panic!("{}: {why}", path.display()))
}

/// The rows of the document's tables: their number, and the cell "over sockets".
fn rows() -> Vec<(String, String)> {
    let document = text("docs/attacks.md");
    let mut rows = Vec::new();
    let mut column = None;
    for line in document.lines() {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        if cells[0] == "#" {
            column = cells.iter().position(|cell| *cell == "over sockets");
            assert!(column.is_some(), "a table without the column: {line}");
        } else if let Some(column) = column
            && line.starts_with("| ")
        {
            let cell = cells.get(column).copied().unwrap_or_default();
            rows.push((cells[0].to_owned(), cell.to_owned()));
        }
    }
    assert!(rows.len() > 40, "the tables were not found");
    rows
}

/// The pieces between backticks.
fn quoted(cell: &str) -> BTreeSet<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

#[test]
fn every_row_of_the_document_names_the_runs_that_the_program_has_of_it_or_why_there_is_none() {
    let rows = rows();
    let mut runs: Vec<(String, &str)> = Vec::new();
    runs.extend(ATTACKS.iter().map(|it| (it.row.to_string(), it.name)));
    runs.extend(HOSTILE.iter().map(|it| (format!("S{}", it.row), it.name)));
    for (row, cell) in &rows {
        let of_row = runs.iter().filter(|(number, _)| number == row);
        let there: BTreeSet<&str> = of_row.map(|(_, name)| *name).collect();
        assert_eq!(quoted(cell), there, "row {row}");
        let is_reasoned = cell
            .strip_prefix("none: ")
            .is_some_and(|why| why.len() > 10);
        assert!(!there.is_empty() || is_reasoned, "row {row}: {cell}");
    }
    for (number, name) in &runs {
        let is_there = rows.iter().any(|(row, _)| row == number);
        assert!(is_there, "{name}: there is no row {number}");
    }
}

#[test]
fn no_two_runs_have_the_same_name_in_a_table() {
    let names: BTreeSet<_> = ATTACKS.iter().map(|it| it.name).collect();
    assert_eq!(names.len(), ATTACKS.len());
    let names: BTreeSet<_> = HOSTILE.iter().map(|it| it.name).collect();
    assert_eq!(names.len(), HOSTILE.len());
}

#[test]
fn every_function_of_a_run_over_quic_exists() {
    let has = |file: &str, function: &str| {
        let found =
            text(&format!("conformance/h3/{file}.py")).contains(&format!("def {function}("));
        assert!(found, "{file}.py has no {function}");
    };
    for attack in ATTACKS {
        if let Run::Quic(name) = attack.run {
            let (file, function) = name.rsplit_once('.').unwrap_or(("attack", name));
            has(file, function);
        }
    }
    for attack in HOSTILE {
        if let Serve::Http3(function) = attack.serve {
            has("hostile", function);
        }
    }
}
