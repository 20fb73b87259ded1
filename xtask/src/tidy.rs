//! The rules of structure, as a test: layers, sizes, names, words, dead files, and documents. Each
//! rule is a pure function of the [`Tree`], so that its tests can pass a tree of a few lines and
//! prove that it can fail.

mod comments;
mod dead;
mod docs;
mod generated;
mod layers;
mod mutants;
mod names;
mod requirements;
mod rust;
mod sizes;
mod tree;

use crate::Outcome;
use std::fmt;
use std::path::Path;
use tree::Tree;

/// One broken rule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    /// The file, from the project's root.
    path: String,
    /// The line, counted from 1; 0 for the file as a whole.
    line: usize,
    /// The fault and the allowed form.
    text: String,
}

impl Finding {
    fn new(path: &str, line: usize, text: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            line,
            text: text.into(),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.text)
    }
}

/// Every rule over one tree.
fn findings(tree: &Tree) -> Vec<Finding> {
    let (sources, mut found) = rust::parse(tree);
    found.extend(layers::check_core(&sources));
    found.extend(layers::check_crates(tree));
    found.extend(sizes::check(&sources, sizes::EXCEPTIONS));
    found.extend(names::check(tree, &sources));
    found.extend(comments::check(tree));
    found.extend(dead::check_sources(tree, &sources));
    found.extend(dead::check_documents(tree));
    found.extend(docs::check(tree));
    found.extend(generated::check(tree));
    found.extend(requirements::check(tree));
    found.extend(mutants::check(tree));
    found.sort();
    found
}

/// Prints what is wrong with the project at `root`.
pub(crate) fn run(root: &Path) -> Outcome {
    let tree = Tree::read(root)?;
    let found = findings(&tree);
    for finding in &found {
        eprintln!("{finding}");
    }
    match found.len() {
        0 => {
            for machine in ["core/src/h2/conn.rs", "core/src/h3/conn.rs"] {
                let open = tree.text(machine).map_or(0, open_fields);
                println!("tidy: {open} fields of {machine} are open to the files beside it");
            }
            println!("tidy: {} files, nothing to say", tree.len());
            Ok(())
        }
        count => Err(format!("{count} rules are broken")),
    }
}

/// Fields of `Conn` that every file of its folder may change.
fn open_fields(text: &str) -> usize {
    let lines = text.lines();
    let body = lines.skip_while(|line| !line.starts_with("pub struct Conn {"));
    let fields = body.take_while(|line| *line != "}");
    fields
        .filter(|line| line.starts_with("    pub(super) "))
        .count()
}

#[cfg(test)]
#[path = "tidy_test.rs"]
mod tidy_test;
