//! The cut between exchanges and framing in the core: fields of a machine that its whole folder may
//! change, functions that HTTP/2 and HTTP/3 have twice, and the places that `docs/exchange.md` names.

use crate::tidy::Finding;
use crate::tidy::documents::{quoted, rows_under};
use crate::tidy::rust::{Source, lines_of};
use crate::tidy::tree::Tree;
use std::collections::BTreeSet;
use syn::visit::Visit;

/// Fields of `Conn` that may be open to the files beside it. A field whose changes keep an invariant
/// belongs into a struct with private fields.
const OPEN_FIELDS_MAX: &[(&str, usize)] =
    &[("core/src/h2/conn.rs", 15), ("core/src/h3/conn.rs", 25)];
/// Functions of one name and one body in `core/src/h2` and `core/src/h3`, apart from those that a
/// trait asks for.
const SAME_BODIES_MAX: usize = 20;
/// Rules of RFC 9110 with their places.
const RULES: &str = "docs/exchange.md";

/// The figures of the rules of this module.
pub(in crate::tidy) struct Figures {
    open_fields: Vec<(&'static str, usize)>,
    same_bodies: BTreeSet<String>,
}

pub(in crate::tidy) fn figures(tree: &Tree, sources: &[Source]) -> Figures {
    let open = |&(path, _): &(&'static str, usize)| {
        let fields = tree.text(path).map_or(0, open_fields);
        (path, fields)
    };
    Figures {
        open_fields: OPEN_FIELDS_MAX.iter().map(open).collect(),
        same_bodies: same_bodies(sources),
    }
}

impl Figures {
    /// One line per figure.
    pub(in crate::tidy) fn lines(&self) -> Vec<String> {
        let open = self.open_fields.iter();
        let mut lines: Vec<String> = open
            .map(|(path, fields)| {
                format!("{fields} fields of {path} are open to the files beside it")
            })
            .collect();
        let count = self.same_bodies.len();
        lines.push(format!(
            "{count} functions have one body in core/src/h2 and core/src/h3"
        ));
        lines
    }
}

/// Figures above their bound, and rules without their place.
pub(in crate::tidy) fn check(tree: &Tree, sources: &[Source]) -> Vec<Finding> {
    let figures = figures(tree, sources);
    let mut found = Vec::new();
    for ((path, fields), (_, most)) in figures.open_fields.iter().zip(OPEN_FIELDS_MAX) {
        if fields > most {
            let text = format!("{fields} fields are open to the files beside it; at most {most}");
            found.push(Finding::new(path, 0, text));
        }
    }
    let count = figures.same_bodies.len();
    if count > SAME_BODIES_MAX {
        let names: Vec<&str> = figures.same_bodies.iter().map(String::as_str).collect();
        let names = names.join(", ");
        let text = format!(
            "{count} functions have the body of one of h2; at most {SAME_BODIES_MAX}: {names}"
        );
        found.push(Finding::new("core/src/h3", 0, text));
    }
    found.extend(check_rules(tree));
    found
}

/// Fields of `Conn`: every file of its folder may change them, private ones too.
fn open_fields(text: &str) -> usize {
    let lines = text.lines();
    let body = lines.skip_while(|line| !line.starts_with("pub struct Conn {"));
    let fields = body.take_while(|line| *line != "}").map(str::trim_start);
    let is_field = |line: &&str| !line.starts_with(['/', '#']) && line.contains(": ");
    fields.filter(is_field).count()
}

/// Names of functions that both folders have with the same body.
fn same_bodies(sources: &[Source]) -> BTreeSet<String> {
    let of = |folder: &str| {
        let mut all = BTreeSet::new();
        for source in sources.iter().filter(|source| !source.is_test()) {
            if source.path.starts_with(folder) {
                let mut bodies = Bodies {
                    source,
                    all: &mut all,
                };
                bodies.visit_file(&source.syntax);
            }
        }
        all
    };
    let (h2, h3) = (of("core/src/h2/"), of("core/src/h3/"));
    h2.intersection(&h3).map(|(name, _)| name.clone()).collect()
}

/// Name and text of each function body.
struct Bodies<'a> {
    source: &'a Source,
    all: &'a mut BTreeSet<(String, String)>,
}

impl Bodies<'_> {
    fn note(&mut self, name: &syn::Ident, block: &syn::Block) {
        let (from, to) = lines_of(block);
        // Behind the line of the opening brace, which has the signature's end.
        let lines = self.source.text.lines().skip(from).take(to - from);
        let code = lines.map(str::trim).filter(|line| !line.starts_with("//"));
        self.all.insert((name.to_string(), code.collect()));
    }
}

impl<'ast> Visit<'ast> for Bodies<'_> {
    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        // A trait asks for its functions, whose bodies are mostly one expression.
        if item.trait_.is_none() {
            syn::visit::visit_item_impl(self, item);
        }
    }
    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        self.note(&function.sig.ident, &function.block);
    }
    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        self.note(&function.sig.ident, &function.block);
    }
}

/// Every `file::function` in a table of the document exists.
fn check_rules(tree: &Tree) -> Vec<Finding> {
    let Some(text) = tree.text(RULES) else {
        return vec![Finding::new(RULES, 0, "is missing")];
    };
    let mut found = Vec::new();
    for (line, cells) in rows_under(text, "") {
        for place in cells.iter().skip(2).flat_map(|cell| quoted(cell)) {
            let exists = place.split_once("::").is_some_and(|(path, name)| {
                let generic = format!("fn {name}<");
                tree.has_function(path, name)
                    || tree.text(path).is_some_and(|text| text.contains(&generic))
            });
            if !exists {
                let text = format!("`{place}` is no function of a file");
                found.push(Finding::new(RULES, line, text));
            }
        }
        if cells.iter().skip(2).any(|cell| quoted(cell).is_empty()) {
            let text = "a rule names a place and a test";
            found.push(Finding::new(RULES, line, text));
        }
    }
    found
}

#[cfg(test)]
#[path = "exchange_test.rs"]
mod exchange_test;
