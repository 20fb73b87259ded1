//! Reads `docs/promises.toml` and renders it to `docs/promises.md`.

use super::File;
use super::entries::{parsed, string, strings, tables};
use std::fmt::Write;
use toml::Table;

/// The promises, each with the tests that hold it.
pub(crate) const TABLE: &str = "docs/promises.toml";
const PAGE: &str = "docs/promises.md";

/// One promise.
pub(crate) struct Promise {
    pub(crate) id: String,
    text: String,
    /// The page of docs/ that has its table.
    page: Option<String>,
    /// The part that no test holds yet.
    pub(crate) todo: Option<String>,
    /// `file::function`, or a file.
    pub(crate) tests: Vec<String>,
}

struct Section {
    letter: String,
    title: String,
    promises: Vec<Promise>,
}

/// Every promise, in the order of the file.
pub(crate) fn read(text: &str) -> Result<Vec<Promise>, String> {
    let sections = sections(text)?;
    Ok(sections.into_iter().flat_map(|it| it.promises).collect())
}

/// The page.
pub(crate) fn render(text: &str) -> Result<Vec<File>, String> {
    let mut page = String::from(
        "# Promises\n\nWhat Trunkline promises, each with the tests that hold it. Rendered from \
         [promises.toml](promises.toml).\n",
    );
    for section in sections(text)? {
        let _ = write!(page, "\n## {}. {}\n", section.letter, section.title);
        for promise in &section.promises {
            write_promise(&mut page, promise);
        }
    }
    Ok(vec![(PAGE.to_owned(), page)])
}

fn write_promise(page: &mut String, promise: &Promise) {
    let _ = write!(page, "\n**{}** {}.", promise.id, promise.text);
    if let Some(table) = &promise.page {
        let _ = write!(page, " Table: [{table}]({table}).");
    }
    if let Some(todo) = &promise.todo {
        let _ = write!(page, " Not yet: {todo}.");
    }
    let count = match promise.tests.len() {
        1 => "1 test".to_owned(),
        count => format!("{count} tests"),
    };
    let _ = write!(page, "\n\n<details><summary>{count}</summary>\n\n");
    for test in &promise.tests {
        let _ = writeln!(page, "- `{test}`");
    }
    page.push_str("\n</details>\n");
}

fn sections(text: &str) -> Result<Vec<Section>, String> {
    let table = parsed(TABLE, text)?;
    tables(&table, "section")
        .map(|section| {
            let promises = tables(section, "promise").map(promise);
            Ok(Section {
                letter: string(TABLE, section, "letter")?,
                title: string(TABLE, section, "title")?,
                promises: promises.collect::<Result<_, String>>()?,
            })
        })
        .collect()
}

fn promise(entry: &Table) -> Result<Promise, String> {
    Ok(Promise {
        id: string(TABLE, entry, "id")?,
        text: string(TABLE, entry, "text")?,
        page: string(TABLE, entry, "page").ok(),
        todo: string(TABLE, entry, "todo").ok(),
        tests: strings(entry, "tests"),
    })
}
