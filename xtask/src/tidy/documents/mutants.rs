//! Checks `testkit/mutants.toml`: the text that a mutant replaces occurs in its file, once.

use crate::check::mutants::{LIST, Mutant};
use crate::tidy::Finding;
use crate::tidy::tree::Tree;

/// Finds mutants that would change nothing, or that match more than once.
pub(in crate::tidy) fn check(tree: &Tree) -> Vec<Finding> {
    let Some(text) = tree.text(LIST) else {
        return vec![Finding::new(LIST, 0, "is missing")];
    };
    let mutants = match Mutant::all(text) {
        Ok(mutants) => mutants,
        Err(why) => return vec![Finding::new(LIST, 0, why)],
    };
    let mut found = Vec::new();
    for mutant in &mutants {
        let count = tree
            .text(&mutant.file)
            .map_or(0, |text| text.matches(&mutant.was).count());
        if count != 1 {
            let (was, file) = (&mutant.was, &mutant.file);
            let text = format!("`{was}` stands {count} times in {file}; once is meant");
            found.push(Finding::new(LIST, 0, text));
        }
    }
    found
}

#[cfg(test)]
#[path = "mutants_test.rs"]
mod mutants_test;
