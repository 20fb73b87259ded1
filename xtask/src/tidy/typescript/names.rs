//! Rejects exported names without meaning, and types and classes that share a name.

use super::Module;
use crate::tidy::Finding;
use crate::tidy::words::names::{HOMONYM, fault_of, metaphor_of};
use std::collections::BTreeMap;

/// Types with one name in several files, and why.
const TWINS: &[(&str, &str)] = &[
    (
        "Body",
        "the channel's word for where a body is, the same in Rust; a body of fetch; undici's type that programs import",
    ),
    (
        "Connection",
        "an open connection, of a client and of a server",
    ),
    (
        "Exchange",
        "a request and its response, of a client and of a server",
    ),
    (
        "FormData",
        "the class of fetch, and its type in `faces` by that of the global one",
    ),
    (
        "Headers",
        "as `FormData`; and fields as an object, in the forms that undici and node:http2 take",
    ),
    ("Request", "as `FormData`"),
    ("Response", "as `FormData`"),
];

/// Words before a name that is defined.
const KEYWORDS: [&str; 9] = [
    "const",
    "let",
    "var",
    "function",
    "class",
    "interface",
    "type",
    "enum",
    "namespace",
];
/// Words before the name of a member.
const MODIFIERS: [&str; 10] = [
    "public",
    "private",
    "protected",
    "static",
    "readonly",
    "async",
    "get",
    "set",
    "override",
    "declare",
];

/// Names that a file defines, members too, with a metaphor in them.
pub(super) fn check_definitions(path: &str, text: &str) -> Vec<Finding> {
    let mut found = Vec::new();
    for (line, words) in (1..).zip(text.lines()) {
        let mut names = definitions(words);
        names.dedup();
        let faults = names.iter().filter_map(|name| metaphor_of(name));
        found.extend(faults.map(|text| Finding::new(path, line, text)));
    }
    found
}

/// The names that one line defines, as far as a line shows it.
fn definitions(line: &str) -> Vec<&str> {
    let is_comment = ["//", "/*", "*"]
        .iter()
        .any(|mark| line.trim_start().starts_with(mark));
    if is_comment {
        return Vec::new();
    }
    let is_of_name = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '$');
    // Text between quotes stands at the odd places.
    let code = line.split(['\'', '"', '`']).step_by(2);
    let mut found = Vec::new();
    for (place, piece) in code.enumerate() {
        let piece = piece.split("//").next().unwrap_or_default();
        let mut is_definition = false;
        for word in piece.split(|letter| !is_of_name(letter)) {
            if is_definition && !word.is_empty() {
                found.push(word);
            }
            is_definition = KEYWORDS.contains(&word);
        }
        if place > 0 {
            continue;
        }
        let mut rest = piece.trim_start();
        while let Some((_, behind)) = rest
            .split_once(' ')
            .filter(|(word, _)| MODIFIERS.contains(word))
        {
            rest = behind.trim_start();
        }
        let rest = rest.trim_start_matches(['*', '#']);
        let end = rest
            .find(|letter| !is_of_name(letter))
            .unwrap_or(rest.len());
        let behind = rest[end..].trim_start_matches(['?', '!']).trim_start();
        if end > 0 && behind.starts_with([':', '(', '=', ';', '<']) {
            found.push(&rest[..end]);
        }
    }
    found
}

pub(super) fn check(modules: &[Module]) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut defined = BTreeMap::<&str, Vec<&Module>>::new();
    for module in modules {
        for export in &module.exports {
            let fault = fault_of(&export.name, export.is_type);
            found.extend(fault.map(|text| module.finding(export.line, text)));
            let others = defined.entry(&export.name).or_default();
            if export.is_type && others.last().is_none_or(|last| last.path != module.path) {
                others.push(module);
            }
        }
    }
    for (name, files) in defined {
        if files.len() > 1 && TWINS.iter().all(|(twin, _)| *twin != name) {
            let others: Vec<&str> = files[1..].iter().map(|file| file.path.as_str()).collect();
            let text = format!(
                "`{name}` {HOMONYM} {}; name one of them by what it is",
                others.join(", ")
            );
            found.push(files[0].finding(0, text));
        }
    }
    found
}
