//! The TypeScript of the Node.js package, as the other rules read it: the imports of each file of `node/src`,
//! and the names that it exports. A line that begins with `import` or `export` begins a statement.

mod layers;
mod names;
mod options;

pub(super) use layers::CIRCLE;

use super::Finding;
use super::tree::Tree;

const FOLDER: &str = "node/src/";

/// Imports that go up or in a circle, and names without one meaning.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let modules = parse(tree);
    let mut found = layers::check(&modules, layers::ROWS, layers::MUTUAL);
    found.extend(names::check(&modules));
    let files = tree.ending(".ts").chain(tree.ending(".mts"));
    let files = files.chain(tree.ending(".mjs"));
    let ours = files.filter(|(path, _)| path.starts_with("node/"));
    found.extend(ours.flat_map(|(path, text)| names::check_definitions(path, text)));
    found.extend(options::check(tree));
    found
}

/// One file; paths count from `node/src`.
#[derive(Debug)]
struct Module {
    path: String,
    imports: Vec<Import>,
    exports: Vec<Export>,
}

/// An import of one file of the package by another, or its export from there.
#[derive(Debug)]
struct Import {
    line: usize,
    target: String,
    /// The statement imports types alone, and leaves no trace when it is compiled.
    is_type: bool,
}

/// A name that other files can import.
#[derive(Debug)]
struct Export {
    line: usize,
    name: String,
    is_type: bool,
}

impl Module {
    fn finding(&self, line: usize, text: String) -> Finding {
        Finding::new(&format!("{FOLDER}{}", self.path), line, text)
    }
}

fn parse(tree: &Tree) -> Vec<Module> {
    let files = tree.ending(".ts");
    let ours = files.filter_map(|(path, text)| Some((path.strip_prefix(FOLDER)?, text)));
    let modules = ours.map(|(path, text)| Module {
        path: path.to_owned(),
        imports: imports(tree, path, text),
        exports: (1..)
            .zip(text.lines())
            .filter_map(|(line, words)| export(line, words))
            .collect(),
    });
    modules.collect()
}

fn imports(tree: &Tree, path: &str, text: &str) -> Vec<Import> {
    const MARKERS: [&str; 4] = ["from '", "import '", "import('", "require('"];
    let mut found = Vec::new();
    let mut is_type = false;
    for (line, words) in (1..).zip(text.lines()) {
        if words.starts_with("import ") || words.starts_with("export ") {
            is_type = ["import type ", "export type "]
                .iter()
                .any(|beginning| words.starts_with(beginning));
        }
        if ["//", "/*", "*"]
            .iter()
            .any(|mark| words.trim_start().starts_with(mark))
        {
            continue;
        }
        for rest in MARKERS
            .iter()
            .flat_map(|marker| words.split(marker).skip(1))
        {
            let specifier = rest.split('\'').next().unwrap_or_default();
            found.extend(resolve(tree, path, specifier).map(|target| Import {
                line,
                target,
                is_type,
            }));
        }
    }
    found
}

/// The file of the package that `specifier` names in the file at `path`.
fn resolve(tree: &Tree, path: &str, specifier: &str) -> Option<String> {
    if !specifier.starts_with('.') {
        return None;
    }
    let mut parts: Vec<&str> = path.split('/').collect();
    parts.pop();
    for part in specifier.split('/') {
        match part {
            "." => {}
            ".." => {
                parts.pop();
            }
            name => parts.push(name),
        }
    }
    let stem = parts.join("/");
    let files = [format!("{stem}.ts"), format!("{stem}/index.ts")];
    files
        .into_iter()
        .find(|file| tree.text(&format!("{FOLDER}{file}")).is_some())
}

/// The name that a line exports by its definition.
fn export(line: usize, words: &str) -> Option<Export> {
    const KINDS: [(&str, bool); 8] = [
        ("class ", true),
        ("interface ", true),
        ("type ", true),
        ("const enum ", true),
        ("enum ", true),
        ("function ", false),
        ("const ", false),
        ("let ", false),
    ];
    let mut rest = words.strip_prefix("export ")?;
    for modifier in ["declare ", "default ", "abstract ", "async "] {
        rest = rest.strip_prefix(modifier).unwrap_or(rest);
    }
    let (rest, is_type) = KINDS
        .iter()
        .find_map(|(kind, is_type)| Some((rest.strip_prefix(kind)?, *is_type)))?;
    let end = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_');
    let name = &rest[..end.unwrap_or(rest.len())];
    (!name.is_empty()).then(|| Export {
        line,
        name: name.to_owned(),
        is_type,
    })
}

#[cfg(test)]
#[path = "typescript_test.rs"]
mod typescript_test;
