//! Cookies of a client (RFC 6265), kept by the crate `cookie_store` within bounds.

mod netscape;

use cookie_store::{CookieDomain, RawCookie, StoreAction};
use http::{HeaderValue, Uri};
use std::collections::VecDeque;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use url::{Host, Url};

/// Keeps cookies and says which a request gets. Called on the tasks that send and receive: it must not block.
pub trait CookieStore: fmt::Debug + Send + Sync + 'static {
    /// Keeps what the `set-cookie` fields of a response to a request for `url` say.
    fn set_cookies(&self, fields: &mut dyn Iterator<Item = &HeaderValue>, url: &Uri);
    /// The `cookie` field of a request for `url`; `None`: without one.
    fn cookies(&self, url: &Uri) -> Option<HeaderValue>;
}

/// Cookies in memory, by the rules of RFC 6265: domain, path, `Secure`, expiry. A cookie for a whole
/// top-level domain is not kept, and one whose name begins with `__Secure-` or `__Host-` only as these ask; there is no list of public suffixes, so one for `co.uk` is, from a server whose
/// name ends so. A response in cleartext sets no `Secure` cookie and replaces none (RFC 6265bis section 5.7), but from
/// `localhost` and loopback addresses.
///
/// A field that is not UTF-8 is not kept, as by reqwest's.
///
/// Bounds: 4,096 bytes for one cookie's field (a longer one is not kept), 180 cookies of one domain and
/// 3,000 in all; those that were set first give way.
#[derive(Default)]
pub struct Jar {
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    store: cookie_store::CookieStore,
    /// Domain, path and name of each cookie, in the order in which they were set first.
    order: VecDeque<(String, String, String)>,
}

/// Bytes of one `set-cookie` field, as browsers take them (RFC 6265bis section 5.6 has 4,096 for name and
/// value).
const FIELD_BYTES_MAX: usize = 4096;
/// Cookies of one domain; RFC 6265 section 6.1 asks for 50 at least.
const OF_DOMAIN_MAX: usize = 180;
/// Cookies in all; RFC 6265 section 6.1 asks for 3,000 at least.
const COOKIES_MAX: usize = 3000;

impl Jar {
    /// Adds a cookie as a `set-cookie` field of `url` has it (`name=value; Path=/; Secure`). One that is
    /// not for that URL, or no cookie, is not kept.
    pub fn add(&self, cookie: &str, url: &str) {
        if let Ok(url) = Url::parse(url) {
            self.lock().set(cookie, &url);
        }
    }
    /// Forgets all.
    pub fn clear(&self) {
        *self.lock() = Kept::default();
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        // No code of ours panics while it holds the lock.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn set(&mut self, cookie: &str, url: &Url) {
        if cookie.len() > FIELD_BYTES_MAX {
            return;
        }
        let Ok(raw) = RawCookie::parse(cookie.to_owned()) else {
            return;
        };
        // A tab ends a value in a cookie file; the others end a field (RFC 6265bis section 5.6).
        let has_control = |text: &str| text.bytes().any(|byte| byte.is_ascii_control());
        if !is_as_prefixed(&raw) || has_control(raw.name()) || has_control(raw.value()) {
            return;
        }
        let Ok(cookie) = cookie_store::Cookie::try_from_raw_cookie(&raw, url) else {
            return;
        };
        let cookie = cookie.into_owned();
        let domain = match &cookie.domain {
            // A server may not set cookies for a whole top-level domain.
            CookieDomain::Suffix(domain)
                if !domain.contains('.') && url.host_str() != Some(domain) =>
            {
                return;
            }
            CookieDomain::HostOnly(domain) | CookieDomain::Suffix(domain) => domain.clone(),
            CookieDomain::NotPresent | CookieDomain::Empty => return,
        };
        let key = (domain, String::from(&cookie.path), cookie.name().to_owned());
        if !is_private(url) && (cookie.secure() == Some(true) || self.hides_secure(&key)) {
            return;
        }
        match self.store.insert(cookie, url) {
            Ok(StoreAction::Inserted) => {}
            Ok(StoreAction::ExpiredExisting) => {
                self.order.retain(|kept| *kept != key);
                self.store.remove(&key.0, &key.1, &key.2);
                return;
            }
            Ok(StoreAction::UpdatedExisting) | Err(_) => return,
        }
        self.order.retain(|kept| *kept != key);
        let of_domain = |kept: &&(String, String, String)| kept.0 == key.0;
        if self.order.iter().filter(of_domain).count() >= OF_DOMAIN_MAX {
            let oldest = self.order.iter().position(|kept| kept.0 == key.0);
            self.remove(oldest.unwrap_or(0));
        }
        if self.order.len() >= COOKIES_MAX {
            self.remove(0);
        }
        self.order.push_back(key);
    }
    /// Whether a cookie would stand in the place of one for TLS alone, or be sent in front of it (RFC 6265bis section 5.7, its
    /// step on secure-only cookies).
    fn hides_secure(&self, (domain, path, name): &(String, String, String)) -> bool {
        let is_below = |inner: &str, outer: &str| {
            let rest = inner.strip_suffix(outer);
            rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        };
        let is_under = |outer: &str| {
            let rest = path.strip_prefix(outer);
            rest.is_some_and(|rest| {
                rest.is_empty() || outer.ends_with('/') || rest.starts_with('/')
            })
        };
        self.order.iter().any(|(of_domain, of_path, of_name)| {
            of_name == name
                && is_under(of_path)
                && (is_below(domain, of_domain) || is_below(of_domain, domain))
                && (self.store.get(of_domain, of_path, of_name))
                    .is_some_and(|kept| kept.secure() == Some(true))
        })
    }
    fn remove(&mut self, index: usize) {
        if let Some((domain, path, name)) = self.order.remove(index) {
            self.store.remove(&domain, &path, &name);
        }
    }
}

/// Whether responses from `url` come over TLS, or from this machine itself: where cookies for TLS alone are sent.
fn is_private(url: &Url) -> bool {
    url.scheme() == "https"
        || match url.host() {
            Some(Host::Domain(name)) => name == "localhost",
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => address.is_loopback(),
            None => false,
        }
}

/// Whether a cookie is what the prefix of its name promises: set to be sent over TLS alone, and with `__Host-` by the host
/// itself for all of its paths (RFC 6265bis section 4.1.3).
fn is_as_prefixed(cookie: &RawCookie<'_>) -> bool {
    let begins = |prefix: &str| {
        let found = cookie.name().get(..prefix.len());
        found.is_some_and(|found| found.eq_ignore_ascii_case(prefix))
    };
    let is_secure = cookie.secure() == Some(true);
    if begins("__Host-") {
        return is_secure && cookie.path() == Some("/") && cookie.domain().is_none();
    }
    is_secure || !begins("__Secure-")
}

impl CookieStore for Jar {
    fn set_cookies(&self, fields: &mut dyn Iterator<Item = &HeaderValue>, url: &Uri) {
        let Ok(url) = Url::parse(&url.to_string()) else {
            return;
        };
        let mut kept = self.lock();
        for field in fields {
            if let Ok(text) = std::str::from_utf8(field.as_bytes()) {
                kept.set(text, &url);
            }
        }
    }
    fn cookies(&self, url: &Uri) -> Option<HeaderValue> {
        let url = Url::parse(&url.to_string()).ok()?;
        let kept = self.lock();
        let mut cookies = kept.store.matches(&url);
        if cookies.is_empty() {
            return None;
        }
        // RFC 6265 section 5.4: longer paths first, and of those as long the ones that were set first.
        cookies.sort_by_cached_key(|cookie| {
            let is =
                |key: &(String, String, String)| key.2 == cookie.name() && *key.1 == *cookie.path;
            let place = kept.order.iter().position(is);
            (std::cmp::Reverse(cookie.path.len()), place)
        });
        let pair = |cookie: &&cookie_store::Cookie<'static>| {
            let (name, value) = cookie.name_value();
            format!("{name}={value}")
        };
        let pairs: Vec<String> = cookies.iter().map(pair).collect();
        let mut value = HeaderValue::from_str(&pairs.join("; ")).ok()?;
        value.set_sensitive(true);
        Some(value)
    }
}

impl fmt::Debug for Jar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Values are secrets.
        let count = self.lock().order.len();
        f.debug_struct("Jar")
            .field("cookies", &count)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
#[path = "cookies_test.rs"]
mod cookies_test;
