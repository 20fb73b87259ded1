//! One meaning per name: a type name stands for one thing in its crate, a metaphor for nothing, and the
//! glossary of CONTRIBUTING is short, used and true.

use super::words;
use crate::tidy::Finding;
use crate::tidy::rust::{Source, is_test_item};
use crate::tidy::tree::Tree;
use std::collections::{BTreeMap, BTreeSet};
use syn::visit::Visit;

/// Words that stood for a concept that the field has a word for: `lane` for a stream or a queue,
/// `told` for reported, `starved` for waiting.
const METAPHORS: &[&str] = &[
    "desk",
    "border",
    "ears",
    "hearer",
    "hearers",
    "told",
    "tell",
    "tells",
    "teller",
    "lane",
    "lanes",
    "attendant",
    "attended",
    "attending",
    "seat",
    "seats",
    "door",
    "doors",
    "unboard",
    "starved",
    "starve",
    "seldom",
    "heed",
    "heeds",
    "heeded",
    "glance",
    "glances",
    "greeted",
    "stranger",
    "strangers",
    "books",
    "spares",
    "lender",
    "warmth",
    "wording",
    "hear",
    "hears",
    "heard",
];
/// Speech and moods of machines. A test's name is a sentence and may say what a field says.
const FIGURES: &[&str] = &[
    "say",
    "says",
    "said",
    "saying",
    "heeding",
    "bury",
    "buried",
    "doubt",
    "doubts",
    "doubted",
    "farewell",
    "farewells",
    "agenda",
    "bell",
    "surprises",
    "happening",
    "goodbye",
    "hopeless",
    "hurry",
    "keen",
    "meets",
    "nobodys",
    "uninvited",
    "vouch",
    "weather",
];
/// Names with more words are sentences.
const SENTENCE_WORDS_MIN: usize = 5;
/// As the whole name of a type: too many things have one.
const VAGUE_TYPES: &[&str] = &[
    "Adding", "Asked", "Coming", "Given", "Ground", "Held", "Left", "Line", "Making", "Order",
    "Place", "Post", "Said", "Shown",
];
/// Types with one name in several modules of a crate, and why.
const TWINS: &[(&str, &str)] = &[
    (
        "Conn",
        "the machine of a version: always `h1::`, `h2::` or `h3::Conn`",
    ),
    ("Stream", "an exchange on its version's connection"),
    (
        "Settings",
        "RFC 9113 section 6.5 and RFC 9114 section 7.2.4 name them so",
    ),
    (
        "Encoder",
        "HPACK's and QPACK's; RFC 9204 section 2.1 names it so",
    ),
    (
        "Decoder",
        "HPACK's and QPACK's; RFC 9204 section 2.2 names it so",
    ),
    ("Timer", "the index of a version's table of deadlines"),
];
/// The words of a finding of a homonym, by which homonyms are counted.
pub(in crate::tidy) const HOMONYM: &str = "means another thing in";
/// Entries of the glossary.
const GLOSSARY_MAX: usize = 25;

/// Definitions of types by crate and name: file, and whether another file can name it.
type Defined = BTreeMap<(String, String), Vec<(String, bool)>>;

/// Everything that the module refuses.
pub(super) fn check(tree: &Tree, sources: &[Source]) -> Vec<Finding> {
    let mut found = homonyms(sources);
    for source in sources {
        let mut defined = Definitions::default();
        defined.visit_file(&source.syntax);
        for (ident, is_type) in defined.names {
            let name = ident.to_string();
            if let Some(text) = fault_of(&name, is_type) {
                found.push(Finding::new(&source.path, ident.span().start().line, text));
            }
        }
    }
    found.extend(glossary(tree, sources));
    found
}

/// Why a name that is defined is none.
pub(super) fn fault_of(name: &str, is_type: bool) -> Option<String> {
    if is_type && VAGUE_TYPES.contains(&name) {
        return Some(format!(
            "`{name}` may be anything; name the type by what it is"
        ));
    }
    let words = words(name);
    let is_short = words.len() < SENTENCE_WORDS_MIN;
    let word = words.iter().find(|word| {
        METAPHORS.contains(&word.as_str()) || (is_short && FIGURES.contains(&word.as_str()))
    })?;
    Some(format!(
        "`{name}`: `{word}` is a metaphor; take the field's own word"
    ))
}

/// Type names that another file can name and that are defined in more than one file of a crate.
fn homonyms(sources: &[Source]) -> Vec<Finding> {
    let mut defined = Defined::new();
    for source in sources.iter().filter(|source| !is_apart(source)) {
        let mut types = Types { all: Vec::new() };
        types.visit_file(&source.syntax);
        for (name, is_visible) in types.all {
            let key = (crate_of(&source.path), name);
            defined
                .entry(key)
                .or_default()
                .push((source.path.clone(), is_visible));
        }
    }
    let mut found = Vec::new();
    for ((_, name), places) in defined {
        let files: BTreeSet<&str> = places.iter().map(|(file, _)| file.as_str()).collect();
        let is_visible = places.iter().any(|(_, is_visible)| *is_visible);
        if files.len() > 1 && is_visible && TWINS.iter().all(|(twin, _)| *twin != name) {
            let all: Vec<&str> = files.iter().copied().collect();
            let text = format!(
                "`{name}` {HOMONYM} {}; name one of them by what it is",
                all[1..].join(", ")
            );
            found.push(Finding::new(all[0], 0, text));
        }
    }
    found
}

/// Whether a file is a program or a test of its own, beside its crate.
fn is_apart(source: &Source) -> bool {
    source.is_test() || source.path.contains("/examples/") || source.path.starts_with("fuzz/")
}

/// The crate that a file belongs to: its first folder, or the program under `peers` or `bin`.
fn crate_of(path: &str) -> String {
    let parts: Vec<&str> = path.split('/').collect();
    match parts
        .iter()
        .position(|part| matches!(*part, "peers" | "bin"))
    {
        Some(at) => parts[..parts.len().min(at + 2)].join("/"),
        None => parts[0].to_owned(),
    }
}

/// CONTRIBUTING's glossary: few entries of one sentence, each a word that the code uses.
fn glossary(tree: &Tree, sources: &[Source]) -> Vec<Finding> {
    const FILE: &str = "CONTRIBUTING.md";
    let Some(text) = tree.text(FILE) else {
        return Vec::new();
    };
    let section = text
        .lines()
        .enumerate()
        .skip_while(|(_, line)| *line != "## Glossary")
        .skip(1);
    let section = section.take_while(|(_, line)| !line.starts_with("## "));
    let entries: Vec<(usize, &str)> = section
        .filter(|(_, line)| line.starts_with("- **"))
        .collect();
    let mut found = Vec::new();
    if entries.is_empty() || entries.len() > GLOSSARY_MAX {
        let text = format!(
            "the glossary has {} entries; 1 to {GLOSSARY_MAX} are allowed",
            entries.len()
        );
        found.push(Finding::new(FILE, 0, text));
    }
    for (number, line) in entries {
        let entry = line.trim_start_matches("- **").split_once("**: ");
        let Some((word, _)) = entry.filter(|(_, it)| it.ends_with('.') && !it.contains(". "))
        else {
            found.push(Finding::new(
                FILE,
                number + 1,
                "an entry is `- **word**: one sentence.`",
            ));
            continue;
        };
        if METAPHORS.contains(&word) || FIGURES.contains(&word) {
            found.push(Finding::new(
                FILE,
                number + 1,
                format!("`{word}` is refused in names"),
            ));
        }
        if !sources.iter().any(|source| source.text.contains(word)) {
            found.push(Finding::new(
                FILE,
                number + 1,
                format!("no code uses `{word}`"),
            ));
        }
    }
    found
}

/// Types that are not test code, and whether they have a visibility.
struct Types {
    all: Vec<(String, bool)>,
}

impl Types {
    fn note(&mut self, attributes: &[syn::Attribute], name: &syn::Ident, vis: &syn::Visibility) {
        if !is_test_item(attributes) {
            let is_visible = !matches!(vis, syn::Visibility::Inherited);
            self.all.push((name.to_string(), is_visible));
        }
    }
}

impl<'ast> Visit<'ast> for Types {
    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.note(&item.attrs, &item.ident, &item.vis);
    }
    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.note(&item.attrs, &item.ident, &item.vis);
    }
    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.note(&item.attrs, &item.ident, &item.vis);
    }
    fn visit_item_type(&mut self, item: &'ast syn::ItemType) {
        self.note(&item.attrs, &item.ident, &item.vis);
    }
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_test_item(&item.attrs) {
            syn::visit::visit_item_mod(self, item);
        }
    }
    // A type inside of a function is known to it alone.
    fn visit_item_fn(&mut self, _: &'ast syn::ItemFn) {}
    fn visit_impl_item_fn(&mut self, _: &'ast syn::ImplItemFn) {}
}

/// Names that a file gives: types, functions, fields, variants, modules, constants and bindings.
#[derive(Default)]
struct Definitions {
    names: Vec<(syn::Ident, bool)>,
}

impl<'ast> Visit<'ast> for Definitions {
    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.names.push((item.ident.clone(), true));
        syn::visit::visit_item_enum(self, item);
    }
    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.names.push((item.ident.clone(), true));
        syn::visit::visit_item_struct(self, item);
    }
    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.names.push((item.ident.clone(), true));
        syn::visit::visit_item_trait(self, item);
    }
    fn visit_item_type(&mut self, item: &'ast syn::ItemType) {
        self.names.push((item.ident.clone(), true));
    }
    fn visit_item_const(&mut self, item: &'ast syn::ItemConst) {
        self.names.push((item.ident.clone(), false));
        syn::visit::visit_item_const(self, item);
    }
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        self.names.push((item.ident.clone(), false));
        syn::visit::visit_item_mod(self, item);
    }
    fn visit_signature(&mut self, signature: &'ast syn::Signature) {
        self.names.push((signature.ident.clone(), false));
        syn::visit::visit_signature(self, signature);
    }
    fn visit_field(&mut self, field: &'ast syn::Field) {
        self.names
            .extend(field.ident.clone().map(|ident| (ident, false)));
    }
    fn visit_variant(&mut self, variant: &'ast syn::Variant) {
        self.names.push((variant.ident.clone(), false));
        syn::visit::visit_variant(self, variant);
    }
    fn visit_pat_ident(&mut self, pattern: &'ast syn::PatIdent) {
        self.names.push((pattern.ident.clone(), false));
        syn::visit::visit_pat_ident(self, pattern);
    }
}

#[cfg(test)]
#[path = "meaning_test.rs"]
mod meaning_test;
