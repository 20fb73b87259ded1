//! A file that has every key, as comments: for `serve --example-config`.

use super::keys::{CERTIFICATE, KEYS, LISTEN};
use std::fmt::Write as _;

/// The text of the file.
pub(in crate::serve) fn example() -> String {
    let mut text =
        String::from("# Settings of `trunkline serve --config`. Every line is a default.\n");
    let mut table = "";
    for key in KEYS {
        if key.table() != table {
            table = key.table();
            let header = match table {
                CERTIFICATE | LISTEN => format!("[[{table}]]"),
                table => format!("[{table}]"),
            };
            // Writing to a String cannot fail.
            let _ = write!(text, "\n# {header}\n");
        }
        let value = match key.default.starts_with('(') {
            true => format!("... {}", key.default),
            false => key.default.to_owned(),
        };
        let (name, meaning, allowed) = (key.name(), key.meaning, key.kind.allowed());
        let _ = write!(text, "# {meaning}: {allowed}.\n# {name} = {value}\n");
    }
    text
}
