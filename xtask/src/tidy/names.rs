//! Rejects names without meaning, of files, folders, modules and types.

mod meaning;

use super::Finding;
use super::rust::Source;
use super::tree::Tree;
use syn::visit::Visit;

const BANNED: &[&str] = &[
    "manager", "util", "utils", "common", "helper", "helpers", "inner", "data2", "misc",
];

/// Files, folders, modules and types whose name holds a banned word.
pub(super) fn check(tree: &Tree, sources: &[Source]) -> Vec<Finding> {
    let mut found = Vec::new();
    for path in tree.paths() {
        for part in path.split('/') {
            let stem = part.split('.').next().unwrap_or(part);
            note(&mut found, path, 0, stem);
        }
    }
    for source in sources {
        let mut types = Types { names: Vec::new() };
        types.visit_file(&source.syntax);
        for ident in types.names {
            note(
                &mut found,
                &source.path,
                ident.span().start().line,
                &ident.to_string(),
            );
        }
    }
    found.extend(meaning::check(tree, sources));
    found
}

fn note(found: &mut Vec<Finding>, path: &str, line: usize, name: &str) {
    if let Some(word) = words(name)
        .into_iter()
        .find(|word| BANNED.contains(&word.as_str()))
    {
        let text = format!("`{name}`: the word `{word}` says nothing; name what it does");
        found.push(Finding::new(path, line, text));
    }
}

/// The words of a name in snake, kebab or camel case, in lower case.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut after_lower = false;
    for letter in name.chars() {
        let boundary = matches!(letter, '_' | '-') || (letter.is_uppercase() && after_lower);
        if boundary {
            words.push(String::new());
        }
        if !matches!(letter, '_' | '-')
            && let Some(word) = words.last_mut()
        {
            word.extend(letter.to_lowercase());
        }
        after_lower = letter.is_lowercase() || letter.is_ascii_digit();
    }
    words
}

struct Types {
    names: Vec<syn::Ident>,
}

impl<'ast> Visit<'ast> for Types {
    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.names.push(item.ident.clone());
    }
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        self.names.push(item.ident.clone());
        syn::visit::visit_item_mod(self, item);
    }
    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.names.push(item.ident.clone());
    }
    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.names.push(item.ident.clone());
    }
    fn visit_item_type(&mut self, item: &'ast syn::ItemType) {
        self.names.push(item.ident.clone());
    }
}

#[cfg(test)]
#[path = "names_test.rs"]
mod names_test;
