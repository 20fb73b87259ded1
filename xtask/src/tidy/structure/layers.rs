//! The allowed imports: between the modules of the core and of the addon, and between crates.

mod engine;

pub(in crate::tidy) use engine::check as check_engine;

use crate::tidy::Finding;
use crate::tidy::rust::{Source, is_test_item, lines_of};
use crate::tidy::tree::Tree;
use syn::visit::Visit;

/// The core's modules and what each may import, beside itself. Down only; siblings never.
const CORE: &[(&str, &[&str])] = &[
    ("budget", &[]),
    ("credit", &["error"]),
    ("error", &[]),
    ("options", &[]),
    ("time", &[]),
    ("wire", &[]),
    ("limits", &["budget", "options"]),
    ("abuse", &["budget", "error", "limits"]),
    ("min_rate", &["error", "limits"]),
    ("send_account", &["credit", "limits"]),
    ("write_stall", &["error", "http", "limits"]),
    (
        "http",
        &["budget", "credit", "error", "limits", "time", "wire"],
    ),
    // Snapshots of connections.
    ("inspect", &["http"]),
    // The common part of both header compressions.
    ("compress", &["error", "http", "limits"]),
    (
        "hpack",
        &[
            "budget", "credit", "error", "limits", "time", "wire", "http", "compress",
        ],
    ),
    (
        "qpack",
        &[
            "budget", "credit", "error", "limits", "time", "wire", "http", "compress",
        ],
    ),
    (
        "h1",
        &[
            "inspect",
            "budget",
            "credit",
            "error",
            "limits",
            "min_rate",
            "send_account",
            "time",
            "wire",
            "write_stall",
            "http",
            "exchange",
        ],
    ),
    // The rules of RFC 9110, and the parts that HTTP/2 and HTTP/3 have in common above their frames.
    (
        "exchange",
        &[
            "abuse",
            "credit",
            "error",
            "http",
            "limits",
            "min_rate",
            "send_account",
        ],
    ),
    (
        "h2",
        &[
            "inspect",
            "abuse",
            "budget",
            "credit",
            "error",
            "limits",
            "min_rate",
            "send_account",
            "time",
            "wire",
            "write_stall",
            "http",
            "exchange",
            "hpack",
        ],
    ),
    (
        "h3",
        &[
            "inspect",
            "abuse",
            "budget",
            "credit",
            "error",
            "limits",
            "min_rate",
            "send_account",
            "time",
            "wire",
            "http",
            "exchange",
            "qpack",
        ],
    ),
    (
        "machine",
        &[
            "credit", "error", "wire", "http", "inspect", "h1", "h2", "h3",
        ],
    ),
    // The pool sees capacity and heads, never a version.
    (
        "pool",
        &[
            "options", "budget", "credit", "error", "limits", "time", "wire", "http",
        ],
    ),
    // CONNECT is an exchange of HTTP/1.1.
    ("proxy", &["error", "limits", "wire", "http", "h1"]),
];

/// The addon's modules and what each may import. Down only.
const NATIVE: &[(&str, &[&str])] = &[
    ("failure", &[]),
    ("platform", &[]),
    ("channel", &["platform"]),
    ("cached_read", &["platform"]),
    ("calls", &["channel", "failure"]),
    ("streams", &["channel", "failure"]),
    ("pages", &["calls", "failure"]),
    (
        "client",
        &["calls", "channel", "failure", "pages", "streams"],
    ),
    (
        "server",
        &["calls", "channel", "failure", "pages", "streams"],
    ),
    (
        "engine",
        &["channel", "client", "failure", "platform", "server"],
    ),
    // The names and texts of events are those of servers.
    ("session", &["channel", "failure", "platform", "server"]),
    (
        "environment",
        &[
            "calls", "channel", "client", "engine", "failure", "platform", "server",
        ],
    ),
];

/// The crates and what each may depend on, of ours; for the core also of others'.
struct CrateRule {
    manifest: &'static str,
    ours: &'static [&'static str],
    /// `None`: any well-kept crate.
    foreign: Option<&'static [&'static str]>,
}

const CRATES: &[CrateRule] = &[
    CrateRule {
        manifest: "core/Cargo.toml",
        ours: &[],
        // No runtime, no sockets, no TLS, no clock, no randomness: add here with a reason only.
        foreign: Some(&["bytes", "http", "httparse", "memchr"]),
    },
    CrateRule {
        manifest: "engine/Cargo.toml",
        ours: &["trunkline-core"],
        foreign: None,
    },
    CrateRule {
        manifest: "cli/Cargo.toml",
        ours: &["trunkline", "trunkline-core"],
        foreign: None,
    },
    CrateRule {
        manifest: "node/Cargo.toml",
        ours: &["trunkline"],
        foreign: None,
    },
    CrateRule {
        manifest: "testkit/Cargo.toml",
        ours: &["trunkline", "trunkline-core"],
        foreign: None,
    },
    CrateRule {
        manifest: "interop/Cargo.toml",
        ours: &["trunkline"],
        foreign: None,
    },
    CrateRule {
        manifest: "bench/Cargo.toml",
        ours: &["trunkline", "trunkline-interop", "trunkline-testkit"],
        foreign: None,
    },
    CrateRule {
        manifest: "xtask/Cargo.toml",
        ours: &[],
        foreign: None,
    },
];

const OURS: &[&str] = &[
    "trunkline",
    "trunkline-bench",
    "trunkline-cli",
    "trunkline-core",
    "trunkline-interop",
    "trunkline-node",
    "trunkline-testkit",
    "xtask",
];

/// Imports inside the core and inside the addon, written as `crate::..` or `super::..`, in `use` or in place.
pub(in crate::tidy) fn check_modules(sources: &[Source]) -> Vec<Finding> {
    let mut found = check_folder(sources, "core/src/", CORE);
    found.extend(check_folder(sources, "node/native/", NATIVE));
    found
}

fn check_folder(sources: &[Source], folder: &str, table: &[(&str, &[&str])]) -> Vec<Finding> {
    let mut found = Vec::new();
    for source in sources {
        let Some(inside) = source.path.strip_prefix(folder) else {
            continue;
        };
        if source.is_test() || inside == "lib.rs" {
            continue;
        }
        let here: Vec<String> = inside
            .trim_end_matches(".rs")
            .split('/')
            .map(str::to_owned)
            .collect();
        let layer = here[0].clone();
        let Some((_, allowed)) = table.iter().find(|(name, _)| *name == layer) else {
            let text = format!("the module `{layer}` of {folder} has no row in the layer table");
            found.push(Finding::new(&source.path, 0, text));
            continue;
        };
        let mut imports = Imports {
            here,
            roots: Vec::new(),
        };
        imports.visit_file(&source.syntax);
        for (line, root) in imports.roots {
            let known = table.iter().any(|(name, _)| *name == root);
            if known && root != layer && !allowed.contains(&root.as_str()) {
                let text = format!(
                    "`{layer}` must not import `{root}`; it may import: {}",
                    allowed.join(", ")
                );
                found.push(Finding::new(&source.path, line, text));
            }
        }
    }
    found
}

/// Collects the first module, counted from the crate's root, of every path.
struct Imports {
    here: Vec<String>,
    roots: Vec<(usize, String)>,
}

impl Imports {
    fn note(&mut self, line: usize, segments: &[String]) {
        let mut base = match segments.first().map(String::as_str) {
            Some("crate") => Vec::new(),
            Some("super" | "self") => self.here.clone(),
            _ => return,
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
        if let Some(root) = base.first() {
            self.roots.push((line, root.clone()));
        }
    }
    fn walk_use(&mut self, tree: &syn::UseTree, prefix: &[String]) {
        let with = |name: String| [prefix, &[name]].concat();
        match tree {
            syn::UseTree::Path(path) => self.walk_use(&path.tree, &with(path.ident.to_string())),
            syn::UseTree::Group(group) => {
                for item in &group.items {
                    self.walk_use(item, prefix);
                }
            }
            syn::UseTree::Name(name) => {
                self.note(lines_of(name).0, &with(name.ident.to_string()));
            }
            syn::UseTree::Rename(name) => {
                self.note(lines_of(name).0, &with(name.ident.to_string()));
            }
            syn::UseTree::Glob(glob) => self.note(lines_of(glob).0, prefix),
        }
    }
}

impl<'ast> Visit<'ast> for Imports {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if is_test_item(&module.attrs) {
            return;
        }
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

/// Dependencies in the manifests, `[dependencies]` only: tests may use the testkit.
pub(in crate::tidy) fn check_crates(tree: &Tree) -> Vec<Finding> {
    let mut found = Vec::new();
    for rule in CRATES {
        let Some(text) = tree.text(rule.manifest) else {
            continue;
        };
        let manifest: toml::Table = match text.parse() {
            Ok(manifest) => manifest,
            Err(why) => {
                found.push(Finding::new(
                    rule.manifest,
                    0,
                    format!("does not parse: {why}"),
                ));
                continue;
            }
        };
        let Some(toml::Value::Table(dependencies)) = manifest.get("dependencies") else {
            continue;
        };
        for name in dependencies.keys() {
            let allowed = if OURS.contains(&name.as_str()) {
                rule.ours.contains(&name.as_str())
            } else {
                rule.foreign
                    .is_none_or(|foreign| foreign.contains(&name.as_str()))
            };
            if !allowed {
                let text = format!("must not depend on `{name}`");
                found.push(Finding::new(rule.manifest, 0, text));
            }
        }
    }
    found
}

#[cfg(test)]
#[path = "layers_test.rs"]
mod layers_test;
