//! Parses Rust files for the other rules and marks the parts that belong to tests.

use super::Finding;
use super::tree::Tree;
use syn::spanned::Spanned;

/// One parsed file.
pub(super) struct Source {
    pub path: String,
    pub text: String,
    pub syntax: syn::File,
}

/// A module declared by a file: `mod name;`, with its `#[path]`.
pub(super) struct Declared {
    pub name: String,
    pub path: Option<String>,
}

/// All Rust files, and a finding for each that does not parse.
pub(super) fn parse(tree: &Tree) -> (Vec<Source>, Vec<Finding>) {
    let mut sources = Vec::new();
    let mut found = Vec::new();
    for (path, text) in tree.ending(".rs") {
        match syn::parse_file(text) {
            Ok(syntax) => sources.push(Source {
                path: path.to_owned(),
                text: text.to_owned(),
                syntax,
            }),
            Err(why) => {
                let line = why.span().start().line;
                found.push(Finding::new(path, line, format!("does not parse: {why}")));
            }
        }
    }
    (sources, found)
}

impl Source {
    /// Whether the whole file is test code.
    pub(super) fn is_test(&self) -> bool {
        let is_tests = |part: &str| matches!(part, "tests" | "tests.rs");
        self.path.ends_with("_test.rs") || self.path.split('/').any(is_tests)
    }
    /// The modules this file declares in files of their own, test modules included.
    pub(super) fn declared(&self) -> Vec<Declared> {
        let mut all = Vec::new();
        for item in &self.syntax.items {
            if let syn::Item::Mod(module) = item
                && module.content.is_none()
            {
                all.push(Declared {
                    name: module.ident.to_string(),
                    path: path_attribute(&module.attrs),
                });
            }
        }
        all
    }
    /// Lines of code between two lines (counted from 1, inclusive): not blank, not only comment.
    pub(super) fn code_lines(&self, from: usize, to: usize) -> usize {
        self.text
            .lines()
            .skip(from.saturating_sub(1))
            .take((to + 1).saturating_sub(from))
            .map(str::trim_start)
            .filter(|line| !line.is_empty() && !line.starts_with("//"))
            .count()
    }
}

/// Whether an item is compiled for tests only.
pub(super) fn is_test_item(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("test")
            || (attribute.path().is_ident("cfg")
                && matches!(&attribute.meta, syn::Meta::List(list) if is_test_condition(list)))
    })
}

/// `test`, or `all(test, ..)`.
fn is_test_condition(list: &syn::MetaList) -> bool {
    let text = list.tokens.to_string().replace(' ', "");
    text == "test" || text.starts_with("all(test,")
}

/// First and last line of a piece of syntax.
pub(super) fn lines_of(piece: &impl Spanned) -> (usize, usize) {
    let span = piece.span();
    (span.start().line, span.end().line)
}

fn path_attribute(attributes: &[syn::Attribute]) -> Option<String> {
    attributes
        .iter()
        .find_map(|attribute| match &attribute.meta {
            syn::Meta::NameValue(pair) if pair.path.is_ident("path") => match &pair.value {
                syn::Expr::Lit(syn::ExprLit {
                    lit: syn::Lit::Str(text),
                    ..
                }) => Some(text.value()),
                _ => None,
            },
            _ => None,
        })
}
