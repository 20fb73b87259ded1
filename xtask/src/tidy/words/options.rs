//! Requires the default in the doc comment of every option of the core and of the engine, the range of one that is a
//! number, and a meaning beside a link: each field of an `options!` table, and each public field of another struct of
//! options. One whose type is a struct of options has the defaults of that.

use crate::render::options::table_of;
use crate::tidy::Finding;
use crate::tidy::rust::{Source, lines_of};
use syn::visit::Visit;

const FOLDERS: [&str; 2] = ["core/src/", "engine/src/"];
/// Ends of the names of structs that programs fill in.
const ENDINGS: [&str; 7] = [
    "Config", "Limits", "Options", "Policy", "Times", "Timeouts", "Windows",
];
/// The types of options that have a range, alone or within an `Option` or an array.
const NUMBERS: [&str; 6] = ["Rate", "u8", "u16", "u32", "u64", "usize"];

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

impl Options<'_> {
    fn look(&mut self, name: &str, field: &syn::Ident, kind: &syn::Type, doc: &str) {
        let mut find = |text: &str| {
            let text = format!("`{name}.{field}` {text}");
            let line = lines_of(field).0;
            self.found.push(Finding::new(self.path, line, text));
        };
        if is_nested(kind) {
            return;
        }
        if !doc.contains("efault") {
            find("does not say its default");
        }
        if is_number(kind) && !doc.contains("Range: ") {
            find("does not say its range (\"Range: from 1.\", \"Range: any.\")");
        }
        if doc.trim_start().starts_with("See ") {
            find("names another place in place of its meaning");
        }
    }
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
            if let Some(ident) = &field.ident {
                self.look(&name, ident, &field.ty, &doc_of(&field.attrs));
            }
        }
    }
    fn visit_macro(&mut self, called: &'ast syn::Macro) {
        let Some(table) = table_of(called) else {
            return;
        };
        match table {
            Ok(table) => {
                let name = table.name.to_string();
                for option in &table.options {
                    let doc = doc_of(&option.attributes);
                    self.look(&name, &option.name, &option.kind, &doc);
                }
            }
            Err(error) => {
                let text = format!("this table of options cannot be read: {error}");
                let line = error.span().start().line;
                self.found.push(Finding::new(self.path, line, text));
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

fn is_number(kind: &syn::Type) -> bool {
    match kind {
        syn::Type::Array(array) => is_number(&array.elem),
        syn::Type::Path(path) => path.path.segments.last().is_some_and(|last| {
            let within = match &last.arguments {
                syn::PathArguments::AngleBracketed(within) if last.ident == "Option" => within,
                _ => return NUMBERS.iter().any(|number| last.ident == number),
            };
            within.args.iter().any(
                |argument| matches!(argument, syn::GenericArgument::Type(kind) if is_number(kind)),
            )
        }),
        _ => false,
    }
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
