//! Rows of a layer table and the files of their folders.

use crate::tidy::{Finding, rust::Source};
use std::collections::BTreeSet;

/// Files in a folder of the table that have no row, and rows without a file.
pub(super) fn unlisted(order: &[(&str, &[&str])], sources: &[Source]) -> Vec<Finding> {
    let mut found = Vec::new();
    for (folder, entries) in order {
        let mut there = BTreeSet::new();
        for source in sources.iter().filter(|source| !source.is_test()) {
            let inside = source.path.strip_prefix(folder);
            if let Some(inside) = inside.and_then(|path| path.strip_prefix('/')) {
                let name = inside.split('/').next().unwrap_or(inside);
                there.insert(name.trim_end_matches(".rs"));
            }
        }
        there.remove("lib");
        for name in there.iter().filter(|name| !entries.contains(name)) {
            let text = format!("`{name}` has no row in the layer table");
            found.push(Finding::new(folder, 0, text));
        }
        for name in entries.iter().filter(|name| !there.contains(*name)) {
            let text = format!("the layer table's `{name}` is not there");
            found.push(Finding::new(folder, 0, text));
        }
    }
    found
}
