//! Checks the form of the decision pages: number, then context, options, decision, and the cost or the figures.

use crate::tidy::Finding;
use crate::tidy::tree::Tree;

const FOLDER: &str = "docs/decisions/";
/// The sections that each page begins with, in this order.
const FIRST: [&str; 3] = ["Context", "Options", "Decision"];
/// One of them follows.
const LAST: [&str; 2] = ["Cost", "Measured"];

/// Pages of another form, and numbers that two pages have.
pub(in crate::tidy) fn check(tree: &Tree) -> Vec<Finding> {
    let pages = tree
        .ending(".md")
        .filter(|(path, _)| path.starts_with(FOLDER));
    let mut found = Vec::new();
    for (expected, (path, text)) in (1..).zip(pages) {
        let name = path.strip_prefix(FOLDER).unwrap_or(path);
        let number: Option<usize> = name
            .split('-')
            .next()
            .and_then(|digits| digits.parse().ok());
        if number != Some(expected) {
            let text = format!("its name must begin with the next number, {expected:04}");
            found.push(Finding::new(path, 0, text));
        }
        if !text.starts_with(&format!("# {expected}. ")) {
            let text = format!("its heading must begin with `# {expected}. `");
            found.push(Finding::new(path, 1, text));
        }
        let sections: Vec<&str> = text
            .lines()
            .filter_map(|line| line.strip_prefix("## "))
            .collect();
        let is_ordered = sections.len() > FIRST.len() && sections[..FIRST.len()] == FIRST;
        if !is_ordered || !sections.iter().any(|section| LAST.contains(section)) {
            let text = format!(
                "its sections must be {}, and {} behind them",
                FIRST.join(", "),
                LAST.join(" or ")
            );
            found.push(Finding::new(path, 0, text));
        }
    }
    found
}

#[cfg(test)]
#[path = "decisions_test.rs"]
mod decisions_test;
