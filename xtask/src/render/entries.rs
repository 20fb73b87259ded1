//! Entries of the TOML files that pages are rendered from.

use toml::{Table, Value};

/// The tables of the array `key`; none where it is missing.
pub(super) fn tables<'a>(table: &'a Table, key: &str) -> impl Iterator<Item = &'a Table> {
    array(table, key).iter().filter_map(Value::as_table)
}

/// The text `key` of an entry of `file`.
pub(super) fn string(file: &str, entry: &Table, key: &str) -> Result<String, String> {
    let text = entry.get(key).and_then(Value::as_str);
    text.map(str::to_owned)
        .ok_or_else(|| format!("{file}: `{key}` is missing in {entry:?}"))
}

/// The texts of the array `key`; none where it is missing.
pub(super) fn strings(entry: &Table, key: &str) -> Vec<String> {
    let texts = array(entry, key).iter().filter_map(Value::as_str);
    texts.map(str::to_owned).collect()
}

/// The file as a table.
pub(super) fn parsed(file: &str, text: &str) -> Result<Table, String> {
    text.parse()
        .map_err(|why| format!("{file} does not parse: {why}"))
}

fn array<'a>(table: &'a Table, key: &str) -> &'a [Value] {
    let entries = table.get(key).and_then(Value::as_array);
    entries.map_or(&[], Vec::as_slice)
}
