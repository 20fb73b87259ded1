//! The numbers and layouts of the channel between JavaScript and the engine, rendered from
//! `node/channel.toml` into one source for each end. Both renderings are committed; `tidy` renders
//! them again and compares.

mod rust;
mod script;

use super::File;
use toml::{Table, Value};

/// The table that both ends are made from.
pub(crate) const TABLE: &str = "node/channel.toml";
/// The engine's end.
pub(crate) const RUST: &str = "node/native/channel/codes.rs";
/// JavaScript's end.
pub(crate) const SCRIPT: &str = "node/src/channel/codes.ts";

/// Sections of numbers with a name and a sentence each, and the key that holds the number.
const NUMBERS: &[(&str, &str, &str)] = &[
    ("control", "word", "Words of control, by their index."),
    (
        "body",
        "code",
        "How a body comes: the second byte of an entry's first word.",
    ),
    (
        "submission_flag",
        "bit",
        "Flags in the first word of a client's request.",
    ),
    (
        "response_flag",
        "bit",
        "Flags in the first word of a server's response and of its pieces.",
    ),
    (
        "completion_flag",
        "bit",
        "Flags in the first word of a completion.",
    ),
    (
        "control_frame",
        "code",
        "Which control frame a submission is.",
    ),
    (
        "http_version",
        "code",
        "The version of HTTP of a connection or a head; newer ones have greater codes.",
    ),
    ("handshake_failure", "code", "Why a handshake failed."),
];

/// A code of one of the rings.
struct Message {
    name: String,
    code: i64,
    doc: String,
    /// Its entry has the serial of an exchange.
    has_serial: bool,
    /// Its entry has the position and the length of a text.
    has_text: bool,
    words: Vec<Number>,
}

/// A number with a name.
struct Number {
    name: String,
    value: i64,
    doc: String,
}

/// The text of each generated file.
pub(crate) fn render(table: &str) -> Result<Vec<File>, String> {
    let table: Table = table
        .parse()
        .map_err(|why| format!("{TABLE} does not parse: {why}"))?;
    Ok(vec![
        (RUST.to_owned(), rust::render(&table)?),
        (SCRIPT.to_owned(), script::render(&table)?),
    ])
}

fn messages(table: &Table, ring: &str) -> Result<Vec<Message>, String> {
    let entries = table.get(ring).and_then(Value::as_array);
    let entries = entries.ok_or_else(|| format!("{TABLE} has no [[{ring}]]"))?;
    let mut read = entries
        .iter()
        .map(|entry| {
            let entry = entry
                .as_table()
                .ok_or_else(|| format!("a {ring} is no table"))?;
            Ok(Message {
                name: text(entry, "name")?,
                code: number(entry, "code")?,
                doc: text(entry, "doc")?,
                has_serial: flag(entry, "serial"),
                has_text: flag(entry, "text"),
                words: match entry.get("words").and_then(Value::as_table) {
                    Some(words) => numbers(words, "at")?,
                    None => Vec::new(),
                },
            })
        })
        .collect::<Result<Vec<_>, String>>()?;
    read.sort_by_key(|message| message.code);
    match read.windows(2).find(|two| two[0].code == two[1].code) {
        Some(two) => Err(format!(
            "{ring}: {} and {} have one code",
            two[0].name, two[1].name
        )),
        None => Ok(read),
    }
}

/// The numbers of a section, in ascending order.
fn numbers(section: &Table, key: &str) -> Result<Vec<Number>, String> {
    let mut read = section
        .iter()
        .map(|(name, entry)| {
            let entry = entry
                .as_table()
                .ok_or_else(|| format!("{name} is no table"))?;
            let (value, doc) = (number(entry, key)?, text(entry, "doc")?);
            let name = name.clone();
            Ok(Number { name, value, doc })
        })
        .collect::<Result<Vec<_>, String>>()?;
    read.sort_by_key(|number| number.value);
    Ok(read)
}

fn section(table: &Table, name: &str, key: &str) -> Result<Vec<Number>, String> {
    let section = table.get(name).and_then(Value::as_table);
    numbers(
        section.ok_or_else(|| format!("{TABLE} has no [{name}]"))?,
        key,
    )
}

fn text(entry: &Table, key: &str) -> Result<String, String> {
    let text = entry.get(key).and_then(Value::as_str);
    text.map(str::to_owned)
        .ok_or_else(|| format!("{TABLE}: `{key}` is missing in {entry:?}"))
}

fn number(entry: &Table, key: &str) -> Result<i64, String> {
    let number = entry.get(key).and_then(Value::as_integer);
    number.ok_or_else(|| format!("{TABLE}: `{key}` is missing in {entry:?}"))
}

fn flag(entry: &Table, key: &str) -> bool {
    entry.get(key).and_then(Value::as_bool).unwrap_or(false)
}

/// Where the words stand that all entries have.
fn layout(table: &Table) -> Result<&Table, String> {
    let layout = table.get("entry").and_then(Value::as_table);
    layout.ok_or_else(|| format!("{TABLE} has no [entry]"))
}

/// The value that stands in the sources: a bit is written as its mask.
fn literal(key: &str, value: i64) -> String {
    match key {
        "bit" => format!("1 << {value}"),
        _ => value.to_string(),
    }
}

fn upper(name: &str) -> String {
    name.to_uppercase()
}

#[cfg(test)]
#[path = "channel_test.rs"]
mod channel_test;
