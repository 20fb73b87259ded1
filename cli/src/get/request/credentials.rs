//! Request fields that belong to one origin and do not follow a redirect to another.

use http::HeaderMap;
use http::header::{AUTHORIZATION, COOKIE, HOST, HeaderName, PROXY_AUTHORIZATION};

/// Credentials by standard, and `host`, which names the origin (CVE-2024-30260, CVE-2018-1000007).
const NAMES: [HeaderName; 5] = [
    AUTHORIZATION,
    PROXY_AUTHORIZATION,
    COOKIE,
    HeaderName::from_static("cookie2"),
    HOST,
];

/// Credentials by custom: a field whose name has one of these words, as `x-api-key` and `x-auth-token`.
/// To drop a field that is none costs the user a `-H` at the next URL; to send one that is costs more.
const WORDS: [&str; 12] = [
    "api-key",
    "apikey",
    "auth",
    "bearer",
    "credential",
    "csrf",
    "password",
    "secret",
    "session",
    "signature",
    "token",
    "xsrf",
];

/// Removes them.
pub(in crate::get) fn remove(fields: &mut HeaderMap) {
    let names: Vec<HeaderName> = fields.keys().filter(|name| is_one(name)).cloned().collect();
    for name in names {
        // All values of the name.
        fields.remove(name);
    }
}

fn is_one(name: &HeaderName) -> bool {
    NAMES.contains(name) || WORDS.iter().any(|word| name.as_str().contains(word))
}

#[cfg(test)]
#[path = "credentials_test.rs"]
mod credentials_test;
