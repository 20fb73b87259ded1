//! The guide's page of all options of the crate and its kinds of errors, from the comments at their declarations: fields of
//! the types of settings, methods of builders, variants.

mod table;

use crate::root;
use quote::ToTokens;
use std::collections::BTreeMap;
use std::path::Path;
use syn::{Attribute, Expr, ImplItem, Item, Lit, Meta, ReturnType, Type, Visibility};
pub(crate) use table::table_of;

/// A part of the page.
struct Part {
    heading: &'static str,
    sentence: &'static str,
    /// The type whose public fields, or whose functions that give it back, are the options.
    name: &'static str,
}

const fn part(heading: &'static str, name: &'static str, sentence: &'static str) -> Part {
    Part {
        heading,
        sentence,
        name,
    }
}

const PARTS: [Part; 15] = [
    part("Clients", "ClientBuilder", "`Client::builder()`."),
    part(
        "Requests",
        "RequestBuilder",
        "`client.get(url)` and the like.",
    ),
    part("TLS of a client", "ClientTls", "`ClientBuilder::tls`."),
    part("Redirects", "RedirectPolicy", "`ClientBuilder::redirect`."),
    part(
        "Retries by status",
        "RetryPolicy",
        "`ClientBuilder::retry`.",
    ),
    part(
        "`serve`",
        "ServeBuilder",
        "`trunkline::serve(listener, service)`.",
    ),
    part(
        "`Server`",
        "Server",
        "`Server::bind(address)` and the like.",
    ),
    part(
        "Settings of a server",
        "ServerConfig",
        "`Server::config`; `with_NAME(value)` sets one of them.",
    ),
    part("TLS of a server", "Tls", "`Server::tls`."),
    part(
        "TLS versions and suites of a server",
        "TlsPolicy",
        "`Tls::policy`.",
    ),
    part(
        "Certificates of clients",
        "ClientCertificates",
        "`Tls::client_certificates`.",
    ),
    part(
        "Limits",
        "Limits",
        "`ServerConfig::limits`, `ClientConfig::limits`.",
    ),
    part(
        "Timeouts",
        "Timeouts",
        "`ServerConfig::timeouts`; `None` turns one off.",
    ),
    part(
        "Windows",
        "Windows",
        "`ServerConfig::windows`, `ClientBuilder::windows`.",
    ),
    part(
        "Kinds of errors",
        "ErrorKind",
        "`Error::kind`; `Error::retry` says whether the same request may be sent again, `Error::timeline` what happened to it.",
    ),
];

/// A row: the option, its type, its text.
type Row = (String, String, String);

/// Options by the type that has them.
#[derive(Default)]
struct Declarations {
    rows: BTreeMap<String, Vec<Row>>,
}

/// The page, in Markdown.
pub(crate) fn page() -> Result<String, String> {
    let mut declared = Declarations::default();
    declared.read(&root().join("core/src/limits.rs"))?;
    declared.read_folder(&root().join("core/src/limits"))?;
    declared.read_folder(&root().join("engine/src"))?;
    declared.page()
}

impl Declarations {
    fn read_folder(&mut self, folder: &Path) -> Result<(), String> {
        let entries =
            std::fs::read_dir(folder).map_err(|why| format!("{}: {why}", folder.display()))?;
        let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths {
            if path.is_dir() {
                self.read_folder(&path)?;
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                self.read(&path)?;
            }
        }
        Ok(())
    }
    fn read(&mut self, path: &Path) -> Result<(), String> {
        let named = |why: &dyn std::fmt::Display| format!("{}: {why}", path.display());
        let text = std::fs::read_to_string(path).map_err(|why| named(&why))?;
        let file = syn::parse_file(&text).map_err(|why| named(&why))?;
        for item in &file.items {
            self.take(item);
        }
        Ok(())
    }
    fn take(&mut self, item: &Item) {
        match item {
            Item::Macro(called) => {
                if let Some(Ok(table)) = table_of(&called.mac) {
                    let rows = table.options.iter().map(|option| {
                        let text = comment(&option.attributes);
                        (option.name.to_string(), printed(&option.kind), text)
                    });
                    self.add(&table.name, rows);
                }
            }
            Item::Struct(declared) => {
                let public = declared.fields.iter().filter(|field| is_public(&field.vis));
                let rows = public.filter_map(|field| {
                    let name = field.ident.as_ref()?.to_string();
                    Some((name, printed(&field.ty), comment(&field.attrs)))
                });
                self.add(&declared.ident, rows);
            }
            Item::Enum(declared) => {
                let rows = declared.variants.iter().map(|variant| {
                    let held = variant.fields.iter().map(|field| printed(&field.ty));
                    let held: Vec<String> = held.collect();
                    (
                        variant.ident.to_string(),
                        held.join(", "),
                        comment(&variant.attrs),
                    )
                });
                self.add(&declared.ident, rows);
            }
            Item::Impl(of) if of.trait_.is_none() => {
                let Some(name) = last_name(&of.self_ty) else {
                    return;
                };
                self.add(&name, of.items.iter().filter_map(setter));
            }
            _ => {}
        }
    }
    fn add(&mut self, name: &impl ToString, rows: impl Iterator<Item = Row>) {
        self.rows.entry(name.to_string()).or_default().extend(rows);
    }
    fn page(&self) -> Result<String, String> {
        let mut page = "# Options and errors of Rust\n\nMade from the declarations; [the crate's documentation](../reference.md) has the same text whole.\n".to_owned();
        for part in &PARTS {
            let rows = self.rows.get(part.name).filter(|rows| !rows.is_empty());
            let rows = rows.ok_or_else(|| format!("no option of {} is declared", part.name))?;
            page += &format!(
                "\n## {}\n\n{}\n\n| option | type | meaning, unit, default |\n|---|---|---|\n",
                part.heading, part.sentence
            );
            for (name, of, text) in rows {
                let text = cell(text);
                let of = match of.as_str() {
                    "" => String::new(),
                    of => format!("`{}`", cell(of)),
                };
                page += &format!("| `{name}` | {of} | {text} |\n");
            }
        }
        Ok(page)
    }
}

/// A function that makes a value, or takes one and gives it back.
fn setter(item: &ImplItem) -> Option<Row> {
    let ImplItem::Fn(method) = item else {
        return None;
    };
    let signature = &method.sig;
    let borrows = signature
        .receiver()
        .is_some_and(|is| is.reference.is_some());
    let ReturnType::Type(_, output) = &signature.output else {
        return None;
    };
    let output = printed(output);
    let gives_self = output == "Self" || output.starts_with("Result<Self,");
    if !is_public(&method.vis) || borrows || !gives_self {
        return None;
    }
    let arguments = signature
        .inputs
        .iter()
        .skip(1)
        .filter_map(|input| match input {
            syn::FnArg::Typed(typed) => Some(printed(&typed.ty)),
            syn::FnArg::Receiver(_) => None,
        });
    let arguments: Vec<String> = arguments.collect();
    Some((
        signature.ident.to_string(),
        arguments.join(", "),
        comment(&method.attrs),
    ))
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

fn last_name(of: &Type) -> Option<String> {
    let Type::Path(path) = of else {
        return None;
    };
    path.path
        .segments
        .last()
        .map(|segment| segment.ident.to_string())
}

/// The first paragraph of a doc comment, on one line, its links as their text.
fn comment(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter_map(|attribute| {
        let Meta::NameValue(pair) = &attribute.meta else {
            return None;
        };
        let Expr::Lit(literal) = &pair.value else {
            return None;
        };
        match (&literal.lit, pair.path.is_ident("doc")) {
            (Lit::Str(text), true) => Some(text.value()),
            _ => None,
        }
    });
    let paragraph: Vec<String> = lines
        .map(|line| line.trim().to_owned())
        .take_while(|line| !line.is_empty())
        .collect();
    unlinked(&paragraph.join(" "))
}

/// Links with a target as their text: the targets are places in the crate.
fn unlinked(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("](") {
        let Some(begin) = before.rfind('[') else {
            break;
        };
        let Some((_, behind)) = after.split_once(')') else {
            break;
        };
        out += &before[..begin];
        out += &before[begin + 1..];
        rest = behind;
    }
    out + rest
}

/// A type as people write it.
fn printed(of: &Type) -> String {
    let text = of.to_token_stream().to_string();
    let mut out = text
        .replace(" :: ", "::")
        .replace(" < ", "<")
        .replace(" >", ">");
    out = out
        .replace("< ", "<")
        .replace(" ,", ",")
        .replace("& ", "&")
        .replace("' ", "'");
    out.replace(" (", "(").replace("( ", "(").replace(" )", ")")
}

/// Text that stands in a cell of a table; names of the crate without a target are no links there.
fn cell(text: &str) -> String {
    text.replace("[`", "`")
        .replace("`]", "`")
        .replace('|', "\\|")
}

#[cfg(test)]
#[path = "options_test.rs"]
mod options_test;
