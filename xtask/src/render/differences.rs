//! Renders the tables of `docs/guide/node-differences.md`, by the script that knows the list of differences.

use super::File;
use crate::root;
use std::io::ErrorKind;
use std::process::Command;

/// The accepted differences of the comparisons in Node.js.
pub(crate) const TABLE: &str = "node/test/comparisons/differences.mjs";
const SCRIPT: &str = "node/test/comparisons/tables.mjs";
const PAGE: &str = "docs/guide/node-differences.md";

/// The page; nothing where Node.js is not installed. The script reads the list itself.
pub(crate) fn render(_list: &str) -> Result<Vec<File>, String> {
    let made = Command::new("node")
        .arg(root().join(SCRIPT))
        .arg("--print")
        .output();
    let made = match made {
        Ok(made) => made,
        Err(why) if why.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(why) => return Err(format!("cannot start node: {why}")),
    };
    if !made.status.success() {
        let why = String::from_utf8_lossy(&made.stderr);
        return Err(format!("{SCRIPT}: {}", why.trim()));
    }
    let text = String::from_utf8(made.stdout);
    let text = text.map_err(|why| format!("{SCRIPT}: {why}"))?;
    Ok(vec![(PAGE.to_owned(), text)])
}
