//! Requires a doc comment of every field of the exported interfaces of options.

use super::FOLDER;
use crate::tidy::Finding;
use crate::tidy::tree::Tree;

/// Ends of the names of interfaces that programs fill in.
const ENDINGS: [&str; 5] = ["Options", "Limits", "Timeouts", "Windows", "Init"];

/// Fields without a doc comment. An interface on one line is a list of names that others document.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let files = tree
        .ending(".ts")
        .filter(|(path, _)| path.starts_with(FOLDER));
    files
        .flat_map(|(path, text)| undocumented(path, text))
        .collect()
}

fn undocumented(path: &str, text: &str) -> Vec<Finding> {
    let mut found = Vec::new();
    // The interface that a line is in, and how many braces are open in it.
    let mut inside: Option<(&str, usize)> = None;
    let mut is_documented = false;
    for (number, line) in (1..).zip(text.lines()) {
        let words = line.trim();
        let Some((name, depth)) = inside else {
            inside = options(line).map(|name| (name, 1));
            continue;
        };
        if ["//", "/*", "*"].iter().any(|mark| words.starts_with(mark)) {
            is_documented = words.ends_with("*/");
            continue;
        }
        if let Some(field) = field(words).filter(|_| depth == 1 && !is_documented) {
            let text =
                format!("`{name}.{field}` has no doc comment: meaning, unit, range, default");
            found.push(Finding::new(path, number, text));
        }
        is_documented = false;
        let depth = (depth + words.matches('{').count()).saturating_sub(words.matches('}').count());
        inside = (depth > 0).then_some((name, depth));
    }
    found
}

/// The name of the interface of options that begins on this line.
fn options(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("export interface ")?;
    let end = rest.find(|letter: char| !letter.is_alphanumeric())?;
    let name = &rest[..end];
    let is_open = rest.trim_end().ends_with('{');
    let is_of_options = ENDINGS.iter().any(|ending| name.ends_with(ending));
    (is_open && is_of_options).then_some(name)
}

/// The field that a line of an interface begins.
fn field(words: &str) -> Option<&str> {
    let words = words.strip_prefix("readonly ").unwrap_or(words);
    let end =
        words.find(|letter: char| !letter.is_alphanumeric() && !matches!(letter, '_' | '\''))?;
    let behind = words[end..].trim_start_matches('?');
    (end > 0 && behind.starts_with([':', '('])).then(|| &words[..end])
}
