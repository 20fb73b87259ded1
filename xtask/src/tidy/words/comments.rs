//! Checks the English of comments: each begins with a noun or a verb, not with a headless clause, and
//! no comment or document describes a machine as a person that is
//! informed.

use crate::tidy::Finding;
use crate::tidy::tree::Tree;

/// Words that must not begin a comment. A question may begin with "What".
const BEGINNINGS: &[&str] = &[
    "Who", "Whoever", "What", "Of", "Nobody", "Somebody", "So many", "The same",
];
/// Words that must not begin the header of a file either: it says what the file is.
const HEADER_BEGINNINGS: &[&str] = &["Which", "Where", "How", "When"];
/// Phrases that must not occur in any comment or document, in lower case.
const PHRASES: &[&str] = &[
    "is told",
    "are told",
    "be told",
    "been told",
    "told of",
    "was told",
    "were told",
    "hears",
    "is heard",
    "nobody",
    "somebody",
    "everybody",
    "anybody",
    "whoever",
    "so many",
    "heed",
    "heeds",
    "heeded",
    "kin",
    "in vain",
    "but for",
    "of late",
];
/// Files with comments, by the end of their name, and the marker of their line comments.
const LANGUAGES: &[(&str, &str)] = &[
    (".rs", "//"),
    (".ts", "//"),
    (".mts", "//"),
    (".mjs", "//"),
    (".py", "#"),
    (".go", "//"),
];

/// Documents that are not edited: past releases, the output of measuring runs, and the page that is
/// rendered from `docs/promises.toml`, with the names of tests.
const RECORDS: &[&str] = &["CHANGELOG.md", "docs/measured/", "docs/promises.md"];

/// Comments that break one of the two rules, and documents that break the second.
pub(in crate::tidy) fn check(tree: &Tree) -> Vec<Finding> {
    let mut found = check_documents(tree);
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

fn check_documents(tree: &Tree) -> Vec<Finding> {
    let is_record = |path: &str| RECORDS.iter().any(|record| path.starts_with(record));
    let mut found = Vec::new();
    for (path, text) in tree.ending(".md").filter(|(path, _)| !is_record(path)) {
        for paragraph in paragraphs(text) {
            let faults = faults(&paragraph);
            found.extend(faults.map(|fault| Finding::new(path, paragraph.line, fault)));
        }
    }
    found
}

/// The paragraphs of a document, between empty lines.
fn paragraphs(text: &str) -> Vec<Comment> {
    let mut found: Vec<Comment> = Vec::new();
    let mut is_inside = false;
    for (line, words) in (1..).zip(text.lines()) {
        if !is_inside {
            found.push(Comment {
                line,
                is_paragraph: true,
                ..Comment::default()
            });
        }
        is_inside = !words.trim().is_empty();
        if let Some(paragraph) = found.last_mut() {
            paragraph.append(words);
        }
    }
    found
}

/// One comment: consecutive lines of one kind; or one paragraph.
#[derive(Debug, Default, PartialEq, Eq)]
struct Comment {
    /// The first line, counted from 1.
    line: usize,
    /// Whether it is a paragraph of a document, whose beginning may be a question's answer.
    is_paragraph: bool,
    /// Its words, with one space between two.
    text: String,
}

impl Comment {
    fn append(&mut self, words: &str) {
        for word in words.split_whitespace() {
            let space = if self.text.is_empty() { "" } else { " " };
            self.text += space;
            self.text += word;
        }
    }
}

fn faults(comment: &Comment) -> impl Iterator<Item = String> {
    let text = comment.text.as_str();
    let is_question = text
        .find(['.', '?'])
        .is_some_and(|at| text[at..].starts_with('?'));
    let begins =
        |word: &&&str| !comment.is_paragraph && !is_question && starts_with_word(text, word);
    let of_header: &[&str] = if comment.line == 1 {
        HEADER_BEGINNINGS
    } else {
        &[]
    };
    let beginning = BEGINNINGS.iter().chain(of_header).find(begins);
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
    rest.is_some_and(|rest| !rest.starts_with(is_of_word))
}

/// An underscore too, so that the name of a test is one word.
fn is_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// Whether `phrase` occurs in `text` with no letter beside it.
fn has_words(text: &str, phrase: &str) -> bool {
    text.match_indices(phrase).any(|(at, _)| {
        let is_begun = !text[..at].ends_with(is_of_word);
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
            found.push(Comment {
                line: index + 1,
                ..Comment::default()
            });
        }
        if let Some(comment) = found.last_mut() {
            comment.append(words.trim_end_matches("*/"));
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
