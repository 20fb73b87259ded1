//! The language of the oldest compiler that Cargo.toml names (`rust-version`). No lint refuses syntax that is
//! newer, and that compiler may not be installed; clippy's `incompatible_msrv` checks the library.

use crate::tidy::Finding;
use crate::tidy::rust::Source;
use syn::spanned::Spanned;
use syn::visit::Visit;

pub(in crate::tidy) fn check(sources: &[Source]) -> Vec<Finding> {
    let mut found = Vec::new();
    for source in sources {
        let mut newer = Newer::default();
        newer.visit_file(&source.syntax);
        for (line, text) in newer.found {
            found.push(Finding::new(&source.path, line, text));
        }
    }
    found
}

#[derive(Default)]
struct Newer {
    in_guard: bool,
    found: Vec<(usize, &'static str)>,
}

impl<'ast> Visit<'ast> for Newer {
    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        if let Some((_, guard)) = &arm.guard {
            self.in_guard = true;
            self.visit_expr(guard);
            self.in_guard = false;
        }
        self.visit_expr(&arm.body);
    }
    fn visit_expr_closure(&mut self, closure: &'ast syn::ExprClosure) {
        let outside = std::mem::take(&mut self.in_guard);
        syn::visit::visit_expr_closure(self, closure);
        self.in_guard = outside;
    }
    fn visit_expr_block(&mut self, block: &'ast syn::ExprBlock) {
        let outside = std::mem::take(&mut self.in_guard);
        syn::visit::visit_expr_block(self, block);
        self.in_guard = outside;
    }
    fn visit_expr_let(&mut self, expr: &'ast syn::ExprLet) {
        if self.in_guard {
            let text = "`if let` as a guard needs Rust 1.95, `rust-version` is older; match inside the arm";
            self.found.push((expr.span().start().line, text));
        }
        syn::visit::visit_expr_let(self, expr);
    }
    fn visit_macro(&mut self, called: &'ast syn::Macro) {
        if called.path.is_ident("cfg_select") {
            let text = "`cfg_select!` needs Rust 1.95, `rust-version` is older; write `#[cfg(..)]`";
            self.found.push((called.span().start().line, text));
        }
        syn::visit::visit_macro(self, called);
    }
}

#[cfg(test)]
#[path = "language_test.rs"]
mod language_test;
