//! Checks the English of comments: a doc comment or module header begins with a noun or a verb,
//! not with a headless clause, and no comment describes a machine as a person that is informed.

use super::Finding;
use super::tree::Tree;

/// Words that must not begin a doc comment or a module header. A question may begin with "What".
const BEGINNINGS: &[&str] = &[
    "Who", "Whoever", "What", "Nobody", "Somebody", "So many", "The same",
];
/// Phrases that must not occur in any comment, in lower case.
const PHRASES: &[&str] = &[
    "is told", "hears of", "is heard", "nobody", "somebody", "whoever", "so many",
];
/// Files with comments, by the end of their name, and the marker of their line comments.
const LANGUAGES: &[(&str, &str)] = &[
    (".rs", "//"),
    (".ts", "//"),
    (".mts", "//"),
    (".mjs", "//"),
    (".py", "#"),
];

/// Comments that break one of the two rules.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for (suffix, marker) in LANGUAGES {
        for (path, text) in tree.ending(suffix) {
            for comment in comments(text, marker) {
                let faults = faults(&comment);
                found.extend(faults.map(|fault| Finding::new(path, comment.line, fault)));
            }
        }
    }
    found
}

/// One comment: consecutive lines of one kind.
#[derive(Debug, Default, PartialEq, Eq)]
struct Comment {
    /// The first line, counted from 1.
    line: usize,
    /// Whether it documents an item, or heads its file.
    is_doc: bool,
    /// Its words, with one space between two.
    text: String,
}

fn faults(comment: &Comment) -> impl Iterator<Item = String> {
    let text = comment.text.as_str();
    let is_question = text
        .find(['.', '?'])
        .is_some_and(|at| text[at..].starts_with('?'));
    let begins = |word: &&&str| comment.is_doc && !is_question && starts_with_word(text, word);
    let beginning = BEGINNINGS.iter().find(begins);
    let lower = text.to_lowercase();
    let phrases = PHRASES
        .iter()
        .filter(move |phrase| has_words(&lower, phrase));
    beginning
        .map(|word| format!("begins with \"{word}\"; begin with a noun or a verb"))
        .into_iter()
        .chain(phrases.map(|phrase| format!("says \"{phrase}\"; name the part and what it does")))
}

fn starts_with_word(text: &str, word: &str) -> bool {
    let rest = text.strip_prefix(word);
    rest.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
}

/// Whether `phrase` occurs in `text` with no letter beside it.
fn has_words(text: &str, phrase: &str) -> bool {
    text.match_indices(phrase).any(|(at, _)| {
        let is_begun = !text[..at].ends_with(char::is_alphanumeric);
        is_begun && starts_with_word(&text[at..], phrase)
    })
}

/// The comments that have lines of their own.
fn comments(text: &str, marker: &str) -> Vec<Comment> {
    let mut found: Vec<Comment> = Vec::new();
    // The kind of the comment that the line before belongs to: its marker, "/**", or none.
    let mut kind = "";
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        let before = kind;
        let words;
        (kind, words) = match before == "/**" {
            true => ("/**", line.trim_start_matches('*')),
            false => kind_of(line, marker),
        };
        if kind.is_empty() {
            continue;
        }
        if kind != before {
            let is_header = index == 0 && marker == "//";
            found.push(Comment {
                line: index + 1,
                is_doc: is_header || matches!(kind, "//!" | "///" | "/**"),
                text: String::new(),
            });
        }
        if let Some(comment) = found.last_mut() {
            for word in words.trim_end_matches("*/").split_whitespace() {
                let space = if comment.text.is_empty() { "" } else { " " };
                comment.text += space;
                comment.text += word;
            }
        }
        if kind == "/**" && line.ends_with("*/") {
            kind = "";
        }
    }
    found
}

/// The kind of comment that `line` is, or "", and its words.
fn kind_of<'a>(line: &'a str, marker: &str) -> (&'static str, &'a str) {
    let kinds: &[&'static str] = match marker {
        "//" => &["//!", "///", "/**", "//"],
        _ => &["#"],
    };
    let kind = kinds.iter().find(|kind| line.starts_with(*kind));
    kind.map_or(("", ""), |kind| (*kind, &line[kind.len()..]))
}

#[cfg(test)]
#[path = "comments_test.rs"]
mod comments_test;
