//! Checks that generated files equal the rendering of their table.

use crate::render::generated::TABLES;
use crate::tidy::Finding;
use crate::tidy::tree::Tree;

/// Files that were changed by hand, or not rendered after their table changed.
pub(in crate::tidy) fn check(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for (table, render) in TABLES {
        let files = tree.text(table).ok_or("is missing".to_owned());
        match files.and_then(render) {
            Ok(files) => found.extend(files.into_iter().filter_map(|(path, text)| {
                let why =
                    format!("is not what {table} renders to; run `cargo run -p xtask -- generate`");
                (tree.text(&path) != Some(&text)).then(|| Finding::new(&path, 0, why))
            })),
            Err(why) => found.push(Finding::new(table, 0, why)),
        }
    }
    found
}
