//! The rules of structure, as a test: layers, sizes, names, words, dead files, and documents. Each
//! rule is a pure function of the [`Tree`], so that its tests can pass a tree of a few lines and
//! prove that it can fail.

mod documents;
mod rust;
mod structure;
mod tree;
mod typescript;
mod words;

use crate::Outcome;
use documents::{decisions, exchange, generated, mutants, paths, requirements};
use std::fmt;
use std::path::Path;
use structure::{dead, folders, imports, language, layers, packages, sizes, timers};
use tree::Tree;
use words::{comments, names, options};

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
    found.extend(layers::check_modules(&sources));
    found.extend(layers::check_crates(tree));
    let imports = imports::between_files(&sources);
    found.extend(layers::check_engine(&sources, &imports));
    found.extend(imports::check(&imports));
    found.extend(folders::check(&sources));
    found.extend(folders::check_left_over(tree));
    found.extend(timers::check(&sources));
    found.extend(language::check(&sources));
    found.extend(packages::check(tree));
    found.extend(sizes::check(&sources, sizes::EXCEPTIONS));
    found.extend(names::check(tree, &sources));
    found.extend(typescript::check(tree));
    found.extend(comments::check(tree));
    found.extend(options::check(&sources));
    found.extend(dead::check_sources(tree, &sources));
    found.extend(dead::check_documents(tree));
    found.extend(documents::check(tree));
    found.extend(paths::check(tree));
    found.extend(decisions::check(tree));
    found.extend(exchange::check(tree, &sources));
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
    print_counts(&found);
    match found.len() {
        0 => {
            let (sources, _) = rust::parse(&tree);
            for figure in exchange::figures(&tree, &sources).lines() {
                println!("tidy: {figure}");
            }
            println!(
                "tidy: 0 circles of imports in the crates of Rust, 0 `#[path]` and 0 `use super::*` outside tests; {}",
                folders::summary()
            );
            println!("tidy: {} files, nothing to say", tree.len());
            Ok(())
        }
        count => Err(format!("{count} rules are broken")),
    }
}

/// Prints how many circles and homonyms there are, none included.
fn print_counts(found: &[Finding]) {
    let count = |text: &str, is_node: bool| {
        let has =
            |it: &&Finding| it.text.contains(text) && it.path.starts_with("node/src/") == is_node;
        found.iter().filter(has).count()
    };
    let circles = count(typescript::CIRCLE, true);
    println!("tidy: {circles} circles of imports in node/src");
    let (rust, node) = (count(names::HOMONYM, false), count(names::HOMONYM, true));
    println!("tidy: {rust} homonyms in the crates of Rust, {node} in node/src");
}

#[cfg(test)]
#[path = "tidy_test.rs"]
mod tidy_test;
