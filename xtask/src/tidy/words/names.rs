//! Rejects names without meaning, of files, folders, modules and types.

mod meaning;

pub(in crate::tidy) use meaning::HOMONYM;

use crate::tidy::Finding;
use crate::tidy::rust::Source;
use crate::tidy::tree::Tree;
use syn::visit::Visit;

const BANNED: &[&str] = &[
    "manager", "util", "utils", "common", "helper", "helpers", "inner", "data2", "misc",
];

/// Files, folders, modules and types whose name holds a banned word.
pub(in crate::tidy) fn check(tree: &Tree, sources: &[Source]) -> Vec<Finding> {
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
    found.extend(hollow(name).map(|text| Finding::new(path, line, text)));
}

/// The fault of a name, if it has a banned word or a metaphor in it.
pub(in crate::tidy) fn fault_of(name: &str, is_type: bool) -> Option<String> {
    hollow(name).or_else(|| meaning::fault_of(name, is_type))
}

/// The fault of any name that is defined, if it has a metaphor in it.
pub(in crate::tidy) fn metaphor_of(name: &str) -> Option<String> {
    meaning::fault_of(name, false)
}

/// The fault of a name with a banned word in it.
fn hollow(name: &str) -> Option<String> {
    let mut words = words(name).into_iter();
    let word = words.find(|word| BANNED.contains(&word.as_str()))?;
    Some(format!(
        "`{name}`: the word `{word}` says nothing; name what it does"
    ))
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
