//! Generated sources are what their table renders to.

use super::Finding;
use super::tree::Tree;
use crate::channel;

/// Files that were changed by hand, or not rendered after their table changed.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let Some(table) = tree.text(channel::TABLE) else {
        return vec![Finding::new(channel::TABLE, 0, "is missing")];
    };
    let files = match channel::render(table) {
        Ok(files) => files,
        Err(why) => return vec![Finding::new(channel::TABLE, 0, why)],
    };
    let stale = files
        .into_iter()
        .filter(|(path, text)| tree.text(path) != Some(text));
    stale
        .map(|(path, _)| {
            let text =
                "is not what node/channel.toml renders to; run `cargo run -p xtask -- generate`";
            Finding::new(path, 0, text)
        })
        .collect()
}
