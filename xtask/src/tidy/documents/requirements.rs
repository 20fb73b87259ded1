//! Checks `conformance/requirements.toml`: every MUST of the RFCs that a peer can provoke, as done
//! (with its test), todo or not applicable (each with the reason). The share that is done never
//! drops, and no rule occurs twice.

use crate::tidy::Finding;
use crate::tidy::tree::Tree;
use std::collections::BTreeSet;

const FILE: &str = "conformance/requirements.toml";

/// Entries that are incomplete, tests that are not there, and fewer done than `done_min`.
pub(in crate::tidy) fn check(tree: &Tree) -> Vec<Finding> {
    let Some(text) = tree.text(FILE) else {
        return vec![Finding::new(FILE, 0, "is missing")];
    };
    let list: toml::Table = match text.parse() {
        Ok(list) => list,
        Err(why) => return vec![Finding::new(FILE, 0, format!("does not parse: {why}"))],
    };
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    let mut done = 0;
    let entries = list
        .get("requirement")
        .and_then(toml::Value::as_array)
        .map_or(&[][..], Vec::as_slice);
    for entry in entries {
        let of = |key: &str| {
            entry
                .get(key)
                .and_then(toml::Value::as_str)
                .unwrap_or_default()
        };
        let name = format!(
            "RFC {} section {} ({})",
            of("rfc"),
            of("section"),
            of("rule")
        );
        if [of("rfc"), of("section"), of("rule")].contains(&"") {
            let text = format!("{name}: rfc, section and rule must be there");
            found.push(Finding::new(FILE, 0, text));
        }
        if !seen.insert(name.clone()) {
            found.push(Finding::new(FILE, 0, format!("{name} stands there twice")));
        }
        match of("state") {
            "done" => {
                done += 1;
                if !has_test(tree, of("test")) {
                    let text = format!("{name}: the test `{}` does not exist", of("test"));
                    found.push(Finding::new(FILE, 0, text));
                }
            }
            "todo" | "not-applicable" if of("because").is_empty() => {
                found.push(Finding::new(
                    FILE,
                    0,
                    format!("{name}: `because` is missing"),
                ));
            }
            "todo" | "not-applicable" => {}
            other => {
                let text = format!("{name}: state `{other}` is not done, todo or not-applicable");
                found.push(Finding::new(FILE, 0, text));
            }
        }
    }
    let least = list
        .get("done_min")
        .and_then(toml::Value::as_integer)
        .unwrap_or(0);
    if done != least {
        let text = format!("{done} are done but done_min says {least}: coverage never drops");
        found.push(Finding::new(FILE, 0, text));
    }
    found
}

fn has_test(tree: &Tree, test: &str) -> bool {
    test.rsplit_once("::")
        .is_some_and(|(path, name)| tree.has_function(path, name))
}

#[cfg(test)]
#[path = "requirements_test.rs"]
mod requirements_test;
