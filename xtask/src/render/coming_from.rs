//! Renders the tables of the guide's pages for those who come from other libraries, each row of which names the tests that
//! hold it, between two marks of its page.

use super::File;
use super::entries::{parsed, string, strings, tables};
use crate::root;
use std::fmt::Write;
use toml::Table;

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
    let table = parsed(TABLE, text)?;
    let pages = tables(&table, "page").map(|page| {
        Ok(Page {
            path: string(TABLE, page, "path")?,
            theirs: string(TABLE, page, "theirs")?,
            ours: string(TABLE, page, "ours")?,
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
    Ok(Counterpart {
        theirs: string(TABLE, entry, "theirs").unwrap_or_default(),
        ours: string(TABLE, entry, "ours")?,
        note: string(TABLE, entry, "note").unwrap_or_default(),
        tests: strings(entry, "tests"),
    })
}

#[cfg(test)]
#[path = "coming_from_test.rs"]
mod coming_from_test;
