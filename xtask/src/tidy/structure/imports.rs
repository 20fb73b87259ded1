//! The graph of imports between the files of each crate. A name that a module passes on with `use` is
//! followed to the file that defines it.

use crate::tidy::Finding;
use crate::tidy::rust::{Source, is_test_item, lines_of};
use std::collections::{BTreeMap, BTreeSet};
use syn::visit::Visit;

/// The folders of our crates' sources.
pub(in crate::tidy) const CRATES: &[&str] = &[
    "core/src",
    "engine/src",
    "cli/src",
    "node/native",
    "testkit/src",
    "interop/src",
    "bench/src",
    "xtask/src",
];
/// Steps that a name is followed through modules that pass it on. A longer way is a loop of globs.
const STEPS_MAX: usize = 16;

/// A module, from its crate's root; the root itself is empty.
type Module = Vec<String>;

/// An import of one file's names by another file of the crate.
pub(in crate::tidy) struct FileImport {
    pub folder: &'static str,
    pub file: String,
    pub line: usize,
    pub from: Module,
    pub to: Module,
}

/// Entries of one folder, one of which imports the other.
pub(in crate::tidy) struct Siblings<'a> {
    pub folder: String,
    pub from: &'a str,
    pub to: &'a str,
}

impl FileImport {
    /// The entries of the folder that holds both files; `None` where one file is a module of the other.
    pub(in crate::tidy) fn siblings(&self) -> Option<Siblings<'_>> {
        let pairs = self.from.iter().zip(&self.to);
        let same = pairs.take_while(|(from, to)| from == to).count();
        let folder =
            std::iter::once(self.folder).chain(self.from[..same].iter().map(String::as_str));
        Some(Siblings {
            folder: folder.clone().collect::<Vec<_>>().join("/"),
            from: self.from.get(same)?,
            to: self.to.get(same)?,
        })
    }
}

/// The names of one file.
#[derive(Default)]
struct Names {
    defined: BTreeSet<String>,
    /// Names from elsewhere by their path there, from the crate's root.
    passed: BTreeMap<String, Module>,
    globs: Vec<Module>,
    paths: Vec<(usize, Module)>,
}

/// Every import between two files of one crate, tests left out.
pub(in crate::tidy) fn between_files(sources: &[Source]) -> Vec<FileImport> {
    let mut all = Vec::new();
    for folder in CRATES {
        let files = sources.iter().filter(|source| !source.is_test());
        let files: Vec<(Module, &Source)> = files
            .filter_map(|source| Some((module_of(folder, &source.path)?, source)))
            .collect();
        let modules: BTreeSet<Module> = files.iter().map(|(module, _)| module.clone()).collect();
        let names: BTreeMap<Module, Names> = files
            .iter()
            .map(|(module, source)| (module.clone(), names_of(module, source, &modules)))
            .collect();
        for (from, source) in &files {
            for (line, path) in &names[from].paths {
                let to = definer(path, &names, STEPS_MAX);
                if to != *from {
                    all.push(FileImport {
                        folder,
                        file: source.path.clone(),
                        line: *line,
                        from: from.clone(),
                        to,
                    });
                }
            }
        }
    }
    all
}

/// The imports that close a circle of entries of one folder, in any crate: one for each pair of entries.
pub(in crate::tidy) fn check(imports: &[FileImport]) -> Vec<Finding> {
    let mut found = Vec::new();
    for (folder, circle) in circles(imports) {
        let names = circle.join(", ");
        let mut seen = BTreeSet::new();
        for import in imports {
            let is_inside = |pair: &Siblings<'_>| {
                let has = |entry: &str| circle.iter().any(|name| name == entry);
                pair.folder == folder && has(pair.from) && has(pair.to)
            };
            if let Some(pair) = import.siblings().filter(is_inside)
                && seen.insert((pair.from, pair.to))
            {
                let text = format!(
                    "`{}` imports `{}` in a circle of {folder} ({names}); move the shared noun below both",
                    pair.from, pair.to
                );
                found.push(Finding::new(&import.file, import.line, text));
            }
        }
    }
    found
}

/// Groups of entries of one folder that import each other in a circle, by folder.
fn circles(imports: &[FileImport]) -> Vec<(String, Vec<String>)> {
    let mut folders: BTreeMap<String, BTreeMap<&str, BTreeSet<&str>>> = BTreeMap::new();
    for pair in imports.iter().filter_map(FileImport::siblings) {
        let entries = folders.entry(pair.folder).or_default();
        entries.entry(pair.from).or_default().insert(pair.to);
    }
    let mut all = Vec::new();
    for (folder, imports) in folders {
        let reached: BTreeMap<&str, BTreeSet<&str>> = imports
            .keys()
            .map(|entry| (*entry, reachable(entry, &imports)))
            .collect();
        let mut seen: BTreeSet<&str> = BTreeSet::new();
        for (entry, theirs) in &reached {
            if theirs.contains(entry) && !seen.contains(entry) {
                let circle = theirs
                    .iter()
                    .filter(|other| reached.get(*other).is_some_and(|back| back.contains(entry)));
                let circle: Vec<&str> = circle.copied().collect();
                seen.extend(&circle);
                let circle = circle.into_iter().map(str::to_owned).collect();
                all.push((folder.clone(), circle));
            }
        }
    }
    all
}

fn reachable<'a>(
    start: &'a str,
    imports: &BTreeMap<&'a str, BTreeSet<&'a str>>,
) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut open = vec![start];
    while let Some(entry) = open.pop() {
        for next in imports.get(entry).into_iter().flatten() {
            if reached.insert(*next) {
                open.push(next);
            }
        }
    }
    reached
}

/// The module of a file below `folder`; programs of their own are none.
fn module_of(folder: &str, path: &str) -> Option<Module> {
    let inside = path.strip_prefix(folder)?.strip_prefix('/')?;
    let module: Module = inside
        .strip_suffix(".rs")?
        .split('/')
        .map(str::to_owned)
        .collect();
    match module.first().map(String::as_str) {
        Some("bin" | "peers") => None,
        Some("lib" | "main") => Some(Vec::new()),
        _ => Some(module),
    }
}

/// The file that defines what a path names.
fn definer(path: &Module, names: &BTreeMap<Module, Names>, steps: usize) -> Module {
    let mut module = path.clone();
    while !names.contains_key(&module) && module.pop().is_some() {}
    let (Some(here), Some(name)) = (names.get(&module), path.get(module.len())) else {
        return module;
    };
    if here.defined.contains(name) || steps == 0 {
        return module;
    }
    if let Some(passed) = here.passed.get(name) {
        return definer(passed, names, steps - 1);
    }
    let glob = here.globs.iter().find_map(|glob| {
        let path = [&glob[..], std::slice::from_ref(name)].concat();
        let theirs = names.get(glob)?;
        let has = theirs.defined.contains(name) || theirs.passed.contains_key(name);
        has.then(|| definer(&path, names, steps - 1))
    });
    glob.unwrap_or(module)
}

fn names_of(module: &Module, source: &Source, modules: &BTreeSet<Module>) -> Names {
    let mut collector = Collector {
        module,
        here: module.clone(),
        modules,
        names: Names::default(),
    };
    collector.visit_file(&source.syntax);
    collector.names
}

struct Collector<'a> {
    /// The file's module.
    module: &'a Module,
    /// The module at this place of the file.
    here: Module,
    modules: &'a BTreeSet<Module>,
    names: Names,
}

impl Collector<'_> {
    /// A path from the crate's root, if it names something of this crate.
    fn absolute(&self, segments: &[String]) -> Option<Module> {
        let first = segments.first()?;
        let mut base = match first.as_str() {
            "crate" => Vec::new(),
            "super" | "self" => self.here.clone(),
            name => {
                let child = [&self.here[..], &[name.to_owned()]].concat();
                if !self.modules.contains(&child) {
                    return None;
                }
                self.here.clone()
            }
        };
        for segment in segments {
            match segment.as_str() {
                "crate" | "self" => {}
                "super" => {
                    base.pop();
                }
                name => base.push(name.to_owned()),
            }
        }
        Some(base)
    }
    fn note(&mut self, line: usize, segments: &[String]) -> Option<Module> {
        let path = self.absolute(segments)?;
        self.names.paths.push((line, path.clone()));
        Some(path)
    }
    fn walk_use(&mut self, tree: &syn::UseTree, prefix: &[String]) {
        let with = |name: &syn::Ident| [prefix, &[name.to_string()]].concat();
        let (line, ident, name) = match tree {
            syn::UseTree::Path(path) => return self.walk_use(&path.tree, &with(&path.ident)),
            syn::UseTree::Group(group) => {
                for item in &group.items {
                    self.walk_use(item, prefix);
                }
                return;
            }
            syn::UseTree::Glob(glob) => {
                let path = self.note(lines_of(glob).0, prefix);
                return self.names.globs.extend(path);
            }
            syn::UseTree::Name(name) => (lines_of(name).0, &name.ident, &name.ident),
            syn::UseTree::Rename(name) => (lines_of(name).0, &name.ident, &name.rename),
        };
        let path = self.note(line, &with(ident));
        if let Some(path) = path.filter(|_| self.here == *self.module) {
            self.names.passed.insert(name.to_string(), path);
        }
    }
    fn define(&mut self, ident: &syn::Ident) {
        if self.here == *self.module {
            self.names.defined.insert(ident.to_string());
        }
    }
}

impl<'ast> Visit<'ast> for Collector<'_> {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        let (attributes, ident) = match item {
            syn::Item::Const(item) => (&item.attrs, Some(&item.ident)),
            syn::Item::Enum(item) => (&item.attrs, Some(&item.ident)),
            syn::Item::Fn(item) => (&item.attrs, Some(&item.sig.ident)),
            syn::Item::Impl(item) => (&item.attrs, None),
            syn::Item::Mod(item) => (&item.attrs, None),
            syn::Item::Static(item) => (&item.attrs, Some(&item.ident)),
            syn::Item::Struct(item) => (&item.attrs, Some(&item.ident)),
            syn::Item::Trait(item) => (&item.attrs, Some(&item.ident)),
            syn::Item::Type(item) => (&item.attrs, Some(&item.ident)),
            syn::Item::Use(item) => (&item.attrs, None),
            _ => return syn::visit::visit_item(self, item),
        };
        if is_test_item(attributes) {
            return;
        }
        if let Some(ident) = ident {
            self.define(ident);
        }
        syn::visit::visit_item(self, item);
    }
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        self.here.push(module.ident.to_string());
        syn::visit::visit_item_mod(self, module);
        self.here.pop();
    }
    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.walk_use(&item.tree, &[]);
    }
    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments: Vec<String> = path.segments.iter().map(|s| s.ident.to_string()).collect();
        if segments.len() > 1 {
            self.note(lines_of(path).0, &segments);
        }
        syn::visit::visit_path(self, path);
    }
}

#[cfg(test)]
#[path = "imports_test.rs"]
mod imports_test;
