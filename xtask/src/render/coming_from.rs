//! Renders the tables of the guide's pages for those who come from other libraries, each row of which names the tests that
//! hold it, between two marks of its page.

use super::File;
use crate::root;
use std::fmt::Write;
use toml::{Table, Value};

/// The rows, by page.
pub(crate) const TABLE: &str = "docs/guide/from/tables.toml";
/// The table of a page stands between these lines.
const BEGIN: &str = "<!-- table: rendered from tables.toml; do not edit by hand -->\n";
const END: &str = "<!-- end table -->";
/// The cell of a row without a counterpart, which no test can hold.
pub(crate) const NOTHING: &str = "none";

/// The table of one page.
pub(crate) struct Page {
    pub(crate) path: String,
    theirs: String,
    ours: String,
    pub(crate) rows: Vec<Counterpart>,
}

/// A row: their words, ours, and the difference.
pub(crate) struct Counterpart {
    pub(crate) theirs: String,
    pub(crate) ours: String,
    note: String,
    /// `file::function`, `file::words of a title`, or a file.
    pub(crate) tests: Vec<String>,
}

/// Every page, in the order of the file.
pub(crate) fn read(text: &str) -> Result<Vec<Page>, String> {
    let table: Table = text
        .parse()
        .map_err(|why| format!("{TABLE} does not parse: {why}"))?;
    let pages = tables(&table, "page").map(|page| {
        Ok(Page {
            path: string(page, "path")?,
            theirs: string(page, "theirs")?,
            ours: string(page, "ours")?,
            rows: tables(page, "row")
                .map(row)
                .collect::<Result<_, String>>()?,
        })
    });
    pages.collect()
}

/// The pages with their tables.
pub(crate) fn render(text: &str) -> Result<Vec<File>, String> {
    let pages = read(text)?.into_iter().map(|page| {
        let path = root().join(&page.path);
        let before =
            std::fs::read_to_string(path).map_err(|why| format!("{}: {why}", page.path))?;
        let after = with_table(&before, &page)?;
        Ok((page.path, after))
    });
    pages.collect()
}

/// `text` with the page's table between its marks.
fn with_table(text: &str, page: &Page) -> Result<String, String> {
    let unmarked = || format!("{} has lost the two lines that mark its table", page.path);
    let (before, rest) = text.split_once(BEGIN).ok_or_else(unmarked)?;
    let (_, after) = rest.split_once(END).ok_or_else(unmarked)?;
    let mut table = format!(
        "| {} | {} | note |\n|---|---|---|\n",
        page.theirs, page.ours
    );
    let mut tests = Vec::new();
    for row in &page.rows {
        let _ = writeln!(table, "| {} | {} | {} |", row.theirs, row.ours, row.note);
        tests.extend(
            row.tests
                .iter()
                .filter(|test| !tests.contains(test))
                .collect::<Vec<_>>(),
        );
    }
    let _ = write!(
        table,
        "\n<details><summary>{} tests hold these rows</summary>\n\n",
        tests.len()
    );
    for test in tests {
        let _ = writeln!(table, "- `{test}`");
    }
    Ok(format!("{before}{BEGIN}{table}\n</details>\n{END}{after}"))
}

fn row(entry: &Table) -> Result<Counterpart, String> {
    let tests = entry.get("tests").and_then(Value::as_array);
    let tests = tests.map_or(&[][..], Vec::as_slice);
    Ok(Counterpart {
        theirs: string(entry, "theirs").unwrap_or_default(),
        ours: string(entry, "ours")?,
        note: string(entry, "note").unwrap_or_default(),
        tests: tests
            .iter()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect(),
    })
}

fn tables<'a>(table: &'a Table, key: &str) -> impl Iterator<Item = &'a Table> {
    let entries = table.get(key).and_then(Value::as_array);
    let entries = entries.map_or(&[][..], Vec::as_slice);
    entries.iter().filter_map(Value::as_table)
}

fn string(entry: &Table, key: &str) -> Result<String, String> {
    let text = entry.get(key).and_then(Value::as_str);
    text.map(str::to_owned)
        .ok_or_else(|| format!("{TABLE}: `{key}` is missing in {entry:?}"))
}

#[cfg(test)]
#[path = "coming_from_test.rs"]
mod coming_from_test;
