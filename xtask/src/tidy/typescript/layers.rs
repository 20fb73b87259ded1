//! The allowed imports between the files of `node/src`: to the same row of a table or to one above it, which is
//! a layer below, and never in a circle. Imports of types count as those of values do: a file whose
//! types need another's cannot be read without it.

use super::{Finding, Module};
use std::collections::{BTreeMap, BTreeSet};

/// Files and folders, the lowest layer first. The longest row that a path begins with is its own, so that a file
/// on which a whole folder stands has a row below the folder's.
pub(super) const ROWS: &[&str] = &[
    "errors/help",
    "node_version",
    "syntax",
    "errors/near",
    "errors/nghttp2",
    "fifo",
    "permission",
    "timers",
    "open",
    "errors/timelines",
    "errors",
    "observe/open_metrics",
    "observe/prom_client",
    "channel",
    "server/listen/error",
    "observe/inspect_page",
    "server/refused",
    "server/bounds",
    // Certificates and policies, which a listener takes; identities are read for its options.
    "server/tls/clients",
    "server/tls/context",
    "server/tls/policy",
    "server/listen",
    "server",
    "server/tls",
    "http2/codes",
    "http2/fields",
    "http2/callbacks",
    "http2/options",
    "http2/channels",
    "http2/connection/socket",
    "http2/connection/origin_frames",
    "http2/connection/session",
    "http2/stream",
    // The socket of what leaves HTTP, for connections that never were HTTP too.
    "http2/compat/upgrade",
    "http2/connection",
    "http2/client",
    "http2/handshake",
    "http2/compat",
    "http2/server",
    "http2",
    // Bodies and headers of fetch, on which one of its exchanges stands.
    "fetch/body/multipart",
    "fetch/webidl",
    "fetch/headers/header_list",
    "fetch/headers/mime",
    "fetch/form_data",
    "fetch/body/form_parser",
    "fetch/body/body",
    "fetch/body/queue",
    "client/tls",
    "client/connect/connection",
    "client/connect/dial",
    "client/options",
    // The requests under way to an origin, which connections and exchanges count.
    "client/dispatcher/load",
    "client/connect",
    "client/prepare/head",
    "client/prepare/body",
    "client/prepare/stream_pieces",
    "client/prepare/upload",
    // The handlers that a prepared request reports to.
    "client/calls/channels",
    "client/calls/handler_forms",
    "client/calls/tunnel",
    "client/calls/owner",
    "client/calls/exchange",
    "client/prepare",
    "client/calls",
    // An exchange of a fetch, which dispatchers start without a handler.
    "fetch/call/hop",
    "client/dispatcher",
    "client",
    "client/proxy",
    "fetch",
    "client/global",
    "serve/web/cookies",
    "serve/web/served_list",
    "serve/web/url",
    "serve/incoming",
    "serve/files/file_types",
    "serve/web",
    "serve/files",
    "serve",
    "register",
    "index",
    "ambient.d",
];

/// Files whose types may name each other, and why that cannot be otherwise. Their imports of values may not.
pub(super) const MUTUAL: &[(&[&str], &str)] = &[(
    &["serve/info.ts", "serve/options.ts", "serve/serve.ts"],
    "public types of one API: a handler among the options gets the server and the request's information, the \
     information has the server, and the server takes options again",
)];

/// The words of a finding of a circle, by which circles are counted.
pub(in crate::tidy) const CIRCLE: &str = "import each other in a circle";

/// Imports of a layer above, circles, and rows and exceptions that nothing needs.
pub(super) fn check(modules: &[Module], rows: &[&str], mutual: &[(&[&str], &str)]) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut unused: BTreeSet<&str> = rows.iter().copied().collect();
    for module in modules {
        let Some(own) = row_of(rows, &module.path) else {
            found.push(module.finding(0, "has no row in the table of layers".into()));
            continue;
        };
        unused.remove(rows[own]);
        for import in &module.imports {
            let Some(other) = row_of(rows, &import.target).filter(|other| *other > own) else {
                continue;
            };
            let text = format!(
                "`{}` must not import `{}`, a layer above it",
                rows[own], rows[other]
            );
            found.push(module.finding(import.line, text));
        }
    }
    if let Some(module) = modules.first() {
        found.extend(
            unused
                .iter()
                .map(|row| module.finding(0, format!("no file is in the layer `{row}`"))),
        );
    }
    let is_excepted = |from: &str, to: &str| {
        let has_both = |group: &[&str]| group.contains(&from) && group.contains(&to);
        mutual.iter().any(|(group, _)| has_both(group))
    };
    for circle in circles(modules, |from, to, is_type| {
        !is_type || !is_excepted(from, to)
    }) {
        let first = modules.iter().find(|module| module.path == circle[0]);
        let text = format!(
            "{} files {CIRCLE}: {}; move the types that they share to a file below",
            circle.len(),
            circle.join(", ")
        );
        found.extend(first.map(|module| module.finding(0, text)));
    }
    let all = circles(modules, |_, _, _| true);
    for (group, _) in mutual {
        let is_needed = |circle: &Vec<&str>| group.iter().all(|path| circle.contains(path));
        if !modules.is_empty() && !all.iter().any(is_needed) {
            let text = format!("the exception of {} is not needed", group.join(", "));
            found.push(modules[0].finding(0, text));
        }
    }
    found
}

/// The place in the table of the longest row that `path` begins with.
fn row_of(rows: &[&str], path: &str) -> Option<usize> {
    let stem = path.strip_suffix(".ts").unwrap_or(path);
    let is_in = |row: &str| {
        stem.strip_prefix(row)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let all = rows.iter().enumerate().filter(|(_, row)| is_in(row));
    all.max_by_key(|(_, row)| row.len()).map(|(place, _)| place)
}

/// The sets of files of which each imports every other one, over others too, by the imports that `counts` (from,
/// to, whether of types alone).
fn circles(modules: &[Module], counts: impl Fn(&str, &str, bool) -> bool) -> Vec<Vec<&str>> {
    let mut edges = BTreeMap::<&str, BTreeSet<&str>>::new();
    for module in modules {
        let imports = module.imports.iter();
        let counted = imports.filter(|import| counts(&module.path, &import.target, import.is_type));
        let targets = counted.map(|import| import.target.as_str());
        edges.insert(&module.path, targets.collect());
    }
    let reached: BTreeMap<&str, BTreeSet<&str>> = edges
        .keys()
        .map(|path| (*path, reached_from(&edges, path)))
        .collect();
    let mut found = Vec::new();
    for (path, targets) in &reached {
        let is_mutual = |other: &&&str| reached.get(**other).is_some_and(|it| it.contains(path));
        let circle: Vec<&str> = targets.iter().filter(is_mutual).copied().collect();
        // Each is found from all of its files.
        if circle.first() == Some(path) {
            found.push(circle);
        }
    }
    found
}

fn reached_from<'a>(edges: &BTreeMap<&'a str, BTreeSet<&'a str>>, from: &str) -> BTreeSet<&'a str> {
    let mut seen = BTreeSet::new();
    let mut open = vec![from];
    while let Some(targets) = open.pop().and_then(|path| edges.get(path)) {
        for target in targets {
            if seen.insert(*target) {
                open.push(target);
            }
        }
    }
    seen
}
