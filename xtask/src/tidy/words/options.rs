//! Requires the default in the doc comment of every option of the core and of the engine: each public field of
//! a struct of options. One whose type is a struct of options has the defaults of that.

use crate::tidy::Finding;
use crate::tidy::rust::{Source, lines_of};
use syn::visit::Visit;

const FOLDERS: [&str; 2] = ["core/src/", "engine/src/"];
/// Ends of the names of structs that programs fill in.
const ENDINGS: [&str; 6] = [
    "Config", "Limits", "Options", "Policy", "Timeouts", "Windows",
];

pub(in crate::tidy) fn check(sources: &[Source]) -> Vec<Finding> {
    let ours = sources.iter().filter(|source| {
        !source.is_test() && FOLDERS.iter().any(|folder| source.path.starts_with(folder))
    });
    let mut found = Vec::new();
    for source in ours {
        let mut options = Options {
            path: &source.path,
            found: &mut found,
        };
        options.visit_file(&source.syntax);
    }
    found
}

struct Options<'a> {
    path: &'a str,
    found: &'a mut Vec<Finding>,
}

impl<'ast> Visit<'ast> for Options<'_> {
    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        let name = item.ident.to_string();
        let is_public =
            |visibility: &syn::Visibility| matches!(visibility, syn::Visibility::Public(_));
        if !is_public(&item.vis) || !is_of_options(&name) {
            return;
        }
        for field in item.fields.iter().filter(|field| is_public(&field.vis)) {
            let Some(ident) = &field.ident else {
                continue;
            };
            if !is_nested(&field.ty) && !doc_of(&field.attrs).contains("efault") {
                let text = format!("`{name}.{ident}` does not say its default");
                self.found
                    .push(Finding::new(self.path, lines_of(ident).0, text));
            }
        }
    }
}

fn is_of_options(name: &str) -> bool {
    ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// Whether the type is itself a struct of options.
fn is_nested(kind: &syn::Type) -> bool {
    let syn::Type::Path(path) = kind else {
        return false;
    };
    let last = path.path.segments.last();
    last.is_some_and(|last| last.arguments.is_empty() && is_of_options(&last.ident.to_string()))
}

fn doc_of(attributes: &[syn::Attribute]) -> String {
    let mut doc = String::new();
    for attribute in attributes {
        if let syn::Meta::NameValue(pair) = &attribute.meta
            && pair.path.is_ident("doc")
            && let syn::Expr::Lit(literal) = &pair.value
            && let syn::Lit::Str(text) = &literal.lit
        {
            doc.push_str(&text.value());
            doc.push('\n');
        }
    }
    doc
}

#[cfg(test)]
#[path = "options_test.rs"]
mod options_test;
