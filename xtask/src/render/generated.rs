//! Files that are rendered from a table and committed: `generate` writes them, `tidy` renders them
//! again and compares.

use super::{File, channel, coming_from, differences, promises};
use crate::{Outcome, root};

type Render = fn(&str) -> Result<Vec<File>, String>;

/// Each table with what renders it.
pub(crate) const TABLES: &[(&str, Render)] = &[
    (channel::TABLE, channel::render),
    (promises::TABLE, promises::render),
    (differences::TABLE, differences::render),
    (coming_from::TABLE, coming_from::render),
];

/// Writes every file.
pub(crate) fn generate() -> Outcome {
    for (path, render) in TABLES {
        let table = std::fs::read_to_string(root().join(path));
        let table = table.map_err(|why| format!("cannot read {path}: {why}"))?;
        for (path, text) in render(&table)? {
            let written = std::fs::write(root().join(&path), text);
            written.map_err(|why| format!("cannot write {path}: {why}"))?;
        }
    }
    Ok(())
}
