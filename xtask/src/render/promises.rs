//! Reads `docs/promises.toml` and renders it to `docs/promises.md`.

use super::File;
use std::fmt::Write;
use toml::{Table, Value};

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
    let table: Table = text
        .parse()
        .map_err(|why| format!("{TABLE} does not parse: {why}"))?;
    tables(&table, "section")
        .map(|section| {
            let promises = tables(section, "promise").map(promise);
            Ok(Section {
                letter: string(section, "letter")?,
                title: string(section, "title")?,
                promises: promises.collect::<Result<_, String>>()?,
            })
        })
        .collect()
}

fn promise(entry: &Table) -> Result<Promise, String> {
    let tests = entry.get("tests").and_then(Value::as_array);
    let tests = tests.map_or(&[][..], Vec::as_slice);
    let tests = tests.iter().filter_map(Value::as_str).map(str::to_owned);
    Ok(Promise {
        id: string(entry, "id")?,
        text: string(entry, "text")?,
        page: string(entry, "page").ok(),
        todo: string(entry, "todo").ok(),
        tests: tests.collect(),
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
