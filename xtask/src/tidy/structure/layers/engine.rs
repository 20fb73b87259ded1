//! The order of the engine's folders and files: imports go down only.

mod rows;

use crate::tidy::{Finding, rust::Source, structure::imports::FileImport};
use rows::unlisted;

/// The entries of each folder, the lowest first; each may import those before it.
const ENGINE: &[(&str, &[&str])] = &[
    (
        "engine/src",
        &[
            "error",
            "metrics",
            "tls",
            "config",
            "connection_info",
            "driver",
            "net",
            "body",
            "tunnel",
            "server",
            "client",
            "grpc",
            "admin",
        ],
    ),
    ("engine/src/admin", &["guard", "state", "live", "site"]),
    (
        "engine/src/metrics",
        &["histogram", "exposition", "instruments", "client"],
    ),
    (
        "engine/src/body",
        &[
            "header_map",
            "inlet",
            "sender",
            "begun",
            "rewindable",
            "convert",
            "window",
            "read",
            "stream",
            "file",
        ],
    ),
    (
        "engine/src/grpc",
        &["timeout", "framing", "request_body", "web", "client"],
    ),
    ("engine/src/tunnel", &["datagrams", "capsules", "upgrade"]),
    (
        "engine/src/tunnel/upgrade/hyper",
        &["pair", "either", "call"],
    ),
    (
        "engine/src/client",
        &[
            "connect",
            "listener",
            "settings",
            "exchange",
            "dispatch",
            "connection",
            "attempt",
            "request",
            "submission",
            "direct",
            "builder",
        ],
    ),
    (
        "engine/src/client/connect",
        &[
            "socket",
            "race",
            "proxy",
            "addresses",
            "resolve",
            "connector",
            "route",
            "lookup",
        ],
    ),
    (
        "engine/src/client/connect/proxy",
        &["bypass", "env", "connect", "socks"],
    ),
    ("engine/src/client/settings", &["url", "policy", "origin"]),
    ("engine/src/client/settings/url", &["rfc3986", "whatwg"]),
    (
        "engine/src/client/settings/policy",
        &["cookies", "decompression", "redirect", "retry"],
    ),
    (
        "engine/src/error",
        &["timeline", "display", "timelines", "classify", "convert"],
    ),
    (
        "engine/src/client/request",
        &[
            "trace",
            "header_value",
            "fields",
            "multipart",
            "follow_up",
            "response_future",
            "charset",
            "response_ext",
            "events",
            "blocking",
            "service",
        ],
    ),
    (
        "engine/src/client/request/blocking",
        &["response", "request"],
    ),
    (
        "engine/src/client/connection",
        &[
            "deadlines",
            "receiver",
            "entry",
            "early",
            "health",
            "end",
            "datagrams",
            "tunnel",
            "send",
            "start",
            "repeat",
            "recv",
        ],
    ),
    (
        "engine/src/client/submission/websocket",
        &["opening", "stream"],
    ),
    (
        "engine/src/client/listener",
        &["connection_use", "connection", "trace"],
    ),
    (
        "engine/src/driver",
        &[
            "lock",
            "timer",
            "event_loop",
            "machine",
            "read_buffer",
            "window_ask",
            "signals",
            "transport",
            "quic",
            "connection_io",
        ],
    ),
    (
        "engine/src/driver/quic",
        &[
            "numbers",
            "rules",
            "config",
            "receive_window",
            "socket",
            "timers",
            "unanswered",
            "session",
            "transport",
        ],
    ),
    (
        "engine/src/driver/quic/config",
        &["secret", "congestion", "quic_lb", "cid"],
    ),
    (
        "engine/src/driver/machine/qlog",
        &["file", "event", "frames", "without"],
    ),
    (
        "engine/src/driver/transport",
        &[
            "socket",
            "pieces",
            "cleartext",
            "old_hello",
            "refused_bytes",
            "tls",
            "client_hello",
            "drain",
            "last_alert",
            "without_quic",
        ],
    ),
    (
        "engine/src/net",
        &[
            "address_list",
            "byte_stream",
            "stream_source",
            "listen",
            "passing",
            "unix",
            "listener",
        ],
    ),
    (
        "engine/src/server",
        &[
            "memory_budget",
            "observe",
            "response",
            "registry",
            "exchange",
            "tower",
            "callbacks",
            "connection",
            "worker",
            "bind",
        ],
    ),
    ("engine/src/client/exchange", &["reason_phrase", "compose"]),
    (
        "engine/src/server/bind",
        &[
            "hand_over",
            "inspector",
            "running",
            "config_handle",
            "listening",
            "second",
            "target",
            "port",
            "unix",
            "detached",
            "start",
        ],
    ),
    (
        "engine/src/server/callbacks",
        &[
            "heads",
            "exchange_timeline",
            "exchange",
            "tunnel",
            "exchanges",
            "serve",
            "refused",
            "held",
        ],
    ),
    (
        "engine/src/server/connection",
        &[
            "linger",
            "first_bytes",
            "handshake",
            "serving",
            "accept",
            "proxied",
            "quic",
        ],
    ),
    (
        "engine/src/server/exchange",
        &[
            "control",
            "request",
            "targets",
            "forwarding",
            "info_policy",
            "scratch",
            "turn",
            "send",
            "context",
            "serve",
        ],
    ),
    (
        "engine/src/server/observe",
        &[
            "handshake_failure",
            "inspect",
            "metrics",
            "openmetrics",
            "resident",
            "timeline",
            "counters",
            "handshake_log",
            "access",
            "trace",
        ],
    ),
    (
        "engine/src/server/registry",
        &["places", "shedding", "activity"],
    ),
    (
        "engine/src/server/tower",
        &[
            "interim",
            "service",
            "service_fn",
            "handler_runtime",
            "on_runtime",
            "upgrading",
            "per_connection",
            "slot",
            "slots",
            "extensions",
            "runtime_tower",
        ],
    ),
    (
        "engine/src/server/worker",
        &[
            "generations",
            "without_quic",
            "quic",
            "spawn",
            "second",
            "admission",
        ],
    ),
    (
        "engine/src/tls",
        &["key_log", "certified", "pem", "openssl", "server", "client"],
    ),
    (
        "engine/src/tls/openssl",
        &[
            "certificate",
            "refusal",
            "names",
            "chain",
            "peer",
            "clients",
        ],
    ),
    (
        "engine/src/tls/server",
        &[
            "seed",
            "policy",
            "clients",
            "alternatives",
            "identities",
            "choose",
            "tickets",
        ],
    ),
];

/// Imports upward that are known: folder, from, to, and why the circle is still there.
const UPWARD: &[(&str, &str, &str, &str)] = &[];

/// Imports inside the engine that go up, and entries without a row.
pub(in crate::tidy) fn check(sources: &[Source], imports: &[FileImport]) -> Vec<Finding> {
    check_against(ENGINE, UPWARD, sources, imports)
}

fn check_against(
    order: &[(&str, &[&str])],
    upward: &[(&str, &str, &str, &str)],
    sources: &[Source],
    imports: &[FileImport],
) -> Vec<Finding> {
    let mut found = unlisted(order, sources);
    let mut needed = vec![false; upward.len()];
    for import in imports {
        let Some(pair) = import.siblings() else {
            continue;
        };
        let Some((_, entries)) = order.iter().find(|(folder, _)| *folder == pair.folder) else {
            if import.folder == "engine/src" {
                let text = "the folder has no row in the layer table";
                found.push(Finding::new(&pair.folder, 0, text));
            }
            continue;
        };
        let place = |name: &str| entries.iter().position(|entry| *entry == name);
        if place(pair.to) <= place(pair.from) {
            continue;
        }
        let known = upward.iter().position(|(folder, from, to, _)| {
            (*folder, *from, *to) == (pair.folder.as_str(), pair.from, pair.to)
        });
        match known {
            Some(index) => needed[index] = true,
            None => {
                let text = format!(
                    "`{}` must not import `{}`, which is above it in {}",
                    pair.from, pair.to, pair.folder
                );
                found.push(Finding::new(&import.file, import.line, text));
            }
        }
    }
    for ((folder, from, to, _), _) in upward.iter().zip(needed).filter(|(_, needed)| !needed) {
        let text = format!("`{from}` does not import `{to}` (any more): remove the exception");
        found.push(Finding::new(folder, 0, text));
    }
    found
}

#[cfg(test)]
#[path = "engine_test.rs"]
mod engine_test;
