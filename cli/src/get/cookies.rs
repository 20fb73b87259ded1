//! -b and -c: cookies by name, and cookie files as curl's.

use super::{given, output};
use crate::failure::Failure;
use clap::Args;
use http::header::COOKIE;
use http::{HeaderValue, Request, Uri};
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use trunkline::Body;
use trunkline::client::{CookieStore, Jar};

/// The flags of cookies.
#[derive(Args)]
pub(super) struct CookieOptions {
    /// The field cookie, `name=value; name=value`; or, without a `=`, a cookie file to start with, empty where it is not
    /// there. May be repeated.
    #[arg(short = 'b', long, value_name = "COOKIES")]
    cookie: Vec<String>,
    /// Keep cookies from one request to the next, and write them to this file at the end (`-` for standard
    /// output).
    #[arg(short = 'c', long, value_name = "FILE")]
    cookie_jar: Option<PathBuf>,
    /// Leave out cookies of a session, which have no expiry, from the cookie files of -b.
    #[arg(short = 'j', long)]
    junk_session_cookies: bool,
}

impl CookieOptions {
    /// The `cookie` field that -b gives.
    pub(super) fn given(&self) -> Option<String> {
        let given = self.cookie.iter().filter(|text| text.contains('='));
        let given: Vec<&str> = given.map(String::as_str).collect();
        (!given.is_empty()).then(|| given.join("; "))
    }

    /// The cookies that are kept from one request to the next, those of `shared` too; `None`: neither a file nor -c asks
    /// for it. `named`: the host that -H gives.
    pub(super) fn kept(
        &self,
        shared: &mut Option<Arc<Jar>>,
        named: Option<String>,
    ) -> Result<Option<Arc<KeptCookies>>, Failure> {
        let files = self.cookie.iter().filter(|text| !text.contains('='));
        let files: Vec<&String> = files.collect();
        if files.is_empty() && self.cookie_jar.is_none() {
            return Ok(None);
        }
        let jar = Arc::clone(shared.get_or_insert_default());
        let mut of_heads = Vec::new();
        // curl's way to keep cookies without a file: `-b ""`.
        for path in files.into_iter().filter(|path| !path.is_empty()) {
            // One that is not there yet has no cookies: with -c beside it, it is made at the end.
            let is_there = path == "-" || std::path::Path::new(path).exists();
            let bytes = if is_there {
                given::read(path)?
            } else {
                Vec::new()
            };
            let text = widened(&bytes);
            of_heads.extend(text.lines().filter_map(set_cookie_of).map(str::to_owned));
            match self.junk_session_cookies {
                true => jar.add_netscape(&without_session_cookies(&text)),
                false => jar.add_netscape(&text),
            }
        }
        if self.junk_session_cookies {
            of_heads.retain(|field| lasts(field));
        }
        Ok(Some(Arc::new(KeptCookies {
            jar,
            named,
            of_heads,
            hosts: Mutex::default(),
        })))
    }

    /// Writes the file of -c.
    pub(super) fn save(&self, kept: Option<&KeptCookies>) -> Result<(), Failure> {
        let Some((path, kept)) = self.cookie_jar.as_deref().zip(kept) else {
            return Ok(());
        };
        let path = (path.as_os_str() != "-").then_some(path);
        let mut output = output::Output::to(path, output::Opening::silent());
        output.write(&narrowed(&kept.jar.to_netscape()))?;
        output.close()
    }
}

/// The cookies that are kept, by the hosts of URLs. A host that -H names stands for those of the command line, as of a site
/// that is tried on another machine.
#[derive(Debug)]
pub(super) struct KeptCookies {
    jar: Arc<Jar>,
    named: Option<String>,
    /// Cookies of files that have heads of answers, as -D writes them. A head names no host: they are for every host of the
    /// command line.
    of_heads: Vec<String>,
    /// The hosts of the command line so far.
    hosts: Mutex<HashSet<String>>,
}

impl KeptCookies {
    /// Begins with a URL of the command line.
    pub(super) fn begin(&self, url: &Uri) {
        let Some(host) = url.host() else {
            return;
        };
        // Its server may have set others in the place of those of files since.
        if self.lock().insert(host.to_owned()) {
            let host = self.named.as_deref().unwrap_or(host);
            for field in &self.of_heads {
                // As if over TLS, so that those for TLS alone are kept too.
                self.jar.add(field, &format!("https://{host}/"));
            }
        }
    }
    fn lock(&self) -> MutexGuard<'_, HashSet<String>> {
        self.hosts.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// The URL whose cookies a request for `url` has.
    fn named(&self, url: &Uri) -> Uri {
        let is_named = url.host().is_some_and(|host| self.lock().contains(host));
        let (Some(named), true) = (&self.named, is_named) else {
            return url.clone();
        };
        let (scheme, path) = (url.scheme_str().unwrap_or("http"), url.path());
        let named = Uri::builder().scheme(scheme).authority(named.as_str());
        let named = named.path_and_query(path).build();
        named.unwrap_or_else(|_| url.clone())
    }
}

impl CookieStore for KeptCookies {
    fn set_cookies(&self, fields: &mut dyn Iterator<Item = &HeaderValue>, url: &Uri) {
        let wide = fields.filter_map(|field| HeaderValue::try_from(widened(field.as_bytes())).ok());
        let wide: Vec<HeaderValue> = wide.collect();
        self.jar.set_cookies(&mut wide.iter(), &self.named(url));
    }
    fn cookies(&self, url: &Uri) -> Option<HeaderValue> {
        let wide = self.jar.cookies(&self.named(url))?;
        let text = std::str::from_utf8(wide.as_bytes()).ok()?;
        let mut value = HeaderValue::from_bytes(&narrowed(text)).ok()?;
        value.set_sensitive(true);
        Some(value)
    }
}

/// Bytes of any charset as letters, one for each: a jar keeps text, and a cookie goes back as it came.
fn widened(bytes: &[u8]) -> String {
    bytes.iter().copied().map(char::from).collect()
}

/// The bytes of a text that [`widened`] made, or of ASCII.
fn narrowed(text: &str) -> Vec<u8> {
    text.chars().map(|letter| letter as u8).collect()
}

/// Whether a `set-cookie` field is of a cookie that outlives its session.
fn lasts(field: &str) -> bool {
    let names = field
        .split(';')
        .skip(1)
        .filter_map(|part| part.split('=').next());
    names
        .map(str::trim)
        .any(|name| name.eq_ignore_ascii_case("max-age") || name.eq_ignore_ascii_case("expires"))
}

/// The value of a line of a head that sets a cookie.
fn set_cookie_of(line: &str) -> Option<&str> {
    let (name, value) = line.split_once(':')?;
    name.trim()
        .eq_ignore_ascii_case("set-cookie")
        .then(|| value.trim())
}

/// The lines of a cookie file whose fifth value, the expiry, is not 0.
fn without_session_cookies(text: &str) -> String {
    let lines = text
        .lines()
        .filter(|line| line.split('\t').nth(4) != Some("0"));
    lines.collect::<Vec<_>>().join("\n")
}

/// Puts the kept cookies of its URL before those of -b in the `cookie` field of a request, as curl does.
pub(super) fn merge(request: &mut Request<Body>, kept: Option<&KeptCookies>) {
    let kept = kept.and_then(|kept| kept.cookies(request.uri()));
    let (Some(kept), Some(given)) = (kept, request.headers().get(COOKIE)) else {
        return;
    };
    let whole = [kept.as_bytes(), b"; ", given.as_bytes()].concat();
    if let Ok(mut value) = HeaderValue::from_bytes(&whole) {
        value.set_sensitive(true);
        request.headers_mut().insert(COOKIE, value);
    }
}
