//! Rejects exported names without meaning, and types and classes that share a name.

use super::{Finding, Module};
use crate::tidy::words::names::{HOMONYM, fault_of};
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
