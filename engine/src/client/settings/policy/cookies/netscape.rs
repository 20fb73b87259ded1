//! The cookie file that Netscape had, which curl and wget read and write: a line of seven fields for each cookie.

use super::Jar;
use cookie_store::{Cookie, CookieDomain, CookieExpiration};
use std::fmt::Write as _;
use std::net::IpAddr;
use std::time::{SystemTime, UNIX_EPOCH};

/// How curl marks a cookie that scripts do not see; other lines that begin so are comments.
const HTTP_ONLY: &str = "#HttpOnly_";

impl Jar {
    /// Adds the cookies of such a file. Comments, lines that are no cookie and cookies that have expired are passed over.
    pub fn add_netscape(&self, text: &str) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.map_or(0, |since| since.as_secs());
        for (field, url) in text.lines().filter_map(|line| cookie_of(line, now)) {
            self.add(&field, &url);
        }
    }
    /// The cookies that have not expired, as such a file; those of the session have the time 0.
    pub fn to_netscape(&self) -> String {
        let kept = self.lock();
        let mut text = "# Netscape HTTP Cookie File\n".to_owned();
        for (domain, path, name) in &kept.order {
            let cookie = kept.store.get(domain, path, name);
            if let Some(cookie) = cookie.filter(|cookie| !cookie.is_expired()) {
                write_line(&mut text, cookie);
            }
        }
        text
    }
}

/// The `set-cookie` field of a line, and a URL that may set it.
fn cookie_of(line: &str, now: u64) -> Option<(String, String)> {
    let (attributes, line) = match line.strip_prefix(HTTP_ONLY) {
        Some(rest) => ("; HttpOnly", rest),
        None if line.starts_with('#') => return None,
        None => ("", line),
    };
    let fields: Vec<&str> = line.split('\t').collect();
    let &[
        domain,
        subdomains,
        path,
        secure,
        expires,
        name,
        ref value @ ..,
    ] = fields.as_slice()
    else {
        return None;
    };
    let host = domain.trim_start_matches('.');
    let value = value.first().copied().unwrap_or_default();
    let mut field = format!("{name}={value}; Path={path}{attributes}");
    if subdomains.eq_ignore_ascii_case("TRUE") {
        let _ = write!(field, "; Domain={host}");
    }
    if secure.eq_ignore_ascii_case("TRUE") {
        field.push_str("; Secure");
    }
    match expires.parse::<u64>().ok()? {
        0 => {}
        at => {
            let _ = write!(field, "; Max-Age={}", at.checked_sub(now)?);
        }
    }
    Some((field, format!("https://{host}{path}")))
}

fn write_line(text: &mut String, cookie: &Cookie<'_>) {
    let (dot, domain, subdomains) = match &cookie.domain {
        // An address has no subdomains (RFC 6265 section 5.1.3).
        CookieDomain::Suffix(domain) if domain.parse::<IpAddr>().is_err() => {
            (".", domain.as_str(), "TRUE")
        }
        CookieDomain::Suffix(domain) | CookieDomain::HostOnly(domain) => {
            ("", domain.as_str(), "FALSE")
        }
        CookieDomain::NotPresent | CookieDomain::Empty => return,
    };
    let mark = match cookie.http_only() {
        Some(true) => HTTP_ONLY,
        _ => "",
    };
    let secure = match cookie.secure() {
        Some(true) => "TRUE",
        _ => "FALSE",
    };
    let expires = match &cookie.expires {
        CookieExpiration::AtUtc(at) => at.unix_timestamp(),
        CookieExpiration::SessionEnd => 0,
    };
    let (name, value) = cookie.name_value();
    let path = String::from(&cookie.path);
    // Writing to a String cannot fail.
    let _ = writeln!(
        text,
        "{mark}{dot}{domain}\t{subdomains}\t{path}\t{secure}\t{expires}\t{name}\t{value}"
    );
}

#[cfg(test)]
#[path = "netscape_test.rs"]
mod netscape_test;
