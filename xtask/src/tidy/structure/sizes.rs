//! Limits sizes: 400 lines of code in a file, 70 in a function. Tests, blank lines and comments are
//! not counted.

use crate::tidy::Finding;
use crate::tidy::rust::{Source, is_test_item, lines_of};
use syn::visit::Visit;

const FILE_LINES_MAX: usize = 400;
const FUNCTION_LINES_MAX: usize = 70;

/// Files (`path`) and functions (`path::name`) that may be longer: tables and codecs, each with
/// its own bound and its reason. A line here that is no longer needed is a finding.
pub(in crate::tidy) const EXCEPTIONS: &[Exception] = &[];
/// How many exceptions there are. Raising it is a decision, so it is written down twice.
const EXCEPTION_COUNT: usize = 0;
const _: () = assert!(EXCEPTIONS.len() == EXCEPTION_COUNT);

/// One file or function that may be longer than the rule.
#[derive(Debug)]
pub(in crate::tidy) struct Exception {
    pub what: &'static str,
    pub lines_max: usize,
    #[allow(dead_code, reason = "read by people")]
    pub reason: &'static str,
}

/// Files and functions above their bound, and exceptions that nothing needs.
pub(in crate::tidy) fn check(sources: &[Source], exceptions: &[Exception]) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut needed = vec![false; exceptions.len()];
    let mut bound = |what: &str, lines: usize, rule: usize| {
        let exception = exceptions
            .iter()
            .position(|exception| exception.what == what);
        match exception {
            Some(index) if lines > rule => {
                needed[index] = true;
                exceptions[index].lines_max
            }
            _ => rule,
        }
    };
    for source in sources.iter().filter(|source| !source.is_test()) {
        let mut functions = Functions {
            source,
            lengths: Vec::new(),
            test_lines: 0,
        };
        functions.visit_file(&source.syntax);
        let end = source.text.lines().count();
        let lines = source.code_lines(1, end) - functions.test_lines;
        let most = bound(&source.path, lines, FILE_LINES_MAX);
        if lines > most {
            let text = format!("{lines} lines of code; at most {most}");
            found.push(Finding::new(&source.path, 0, text));
        }
        for (name, line, lines) in functions.lengths {
            let most = bound(
                &format!("{}::{name}", source.path),
                lines,
                FUNCTION_LINES_MAX,
            );
            if lines > most {
                let text = format!("`{name}` has {lines} lines of code; at most {most}");
                found.push(Finding::new(&source.path, line, text));
            }
        }
    }
    for (exception, _) in exceptions.iter().zip(needed).filter(|(_, needed)| !needed) {
        let text = "the size exception is not needed (any more): remove it";
        found.push(Finding::new(exception.what, 0, text));
    }
    found
}

struct Functions<'a> {
    source: &'a Source,
    /// Name, first line, lines of code.
    lengths: Vec<(String, usize, usize)>,
    test_lines: usize,
}

impl Functions<'_> {
    fn note(&mut self, name: &syn::Ident, piece: &impl syn::spanned::Spanned) {
        // Attributes and documentation belong to the span: count from the name on.
        let from = name.span().start().line;
        let (_, to) = lines_of(piece);
        let lines = self.source.code_lines(from, to);
        self.lengths.push((name.to_string(), from, lines));
    }
}

impl<'ast> Visit<'ast> for Functions<'_> {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if is_test_item(&module.attrs) {
            let (from, to) = lines_of(module);
            self.test_lines += self.source.code_lines(from, to);
            return;
        }
        syn::visit::visit_item_mod(self, module);
    }
    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        if is_test_item(&function.attrs) {
            return;
        }
        self.note(&function.sig.ident, function);
        syn::visit::visit_item_fn(self, function);
    }
    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        self.note(&function.sig.ident, function);
        syn::visit::visit_impl_item_fn(self, function);
    }
}

#[cfg(test)]
#[path = "sizes_test.rs"]
mod sizes_test;
