//! -b and -c: cookies by name, and cookie files as curl's.

use super::{given, output};
use crate::failure::Failure;
use clap::Args;
use http::header::COOKIE;
use http::{HeaderValue, Request, Uri};
use std::cell::RefCell;
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use trunkline::Body;
use trunkline::client::{CookieStore as _, Jar};

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
    /// for it.
    pub(super) fn jar(
        &self,
        shared: &mut Option<Arc<Jar>>,
    ) -> Result<(Option<Arc<Jar>>, HeadCookies), Failure> {
        let mut heads = Vec::new();
        let files = self.cookie.iter().filter(|text| !text.contains('='));
        let files: Vec<&String> = files.collect();
        if files.is_empty() && self.cookie_jar.is_none() {
            return Ok((None, HeadCookies::default()));
        }
        let jar = Arc::clone(shared.get_or_insert_default());
        // curl's way to keep cookies without a file: `-b ""`.
        for path in files.into_iter().filter(|path| !path.is_empty()) {
            // One that is not there yet has no cookies: with -c beside it, it is made at the end.
            let is_there = path == "-" || std::path::Path::new(path).exists();
            let bytes = if is_there {
                given::read(path)?
            } else {
                Vec::new()
            };
            let text = String::from_utf8_lossy(&bytes);
            heads.extend(text.lines().filter_map(set_cookie_of).map(str::to_owned));
            match self.junk_session_cookies {
                true => jar.add_netscape(&without_session_cookies(&text)),
                false => jar.add_netscape(&text),
            }
        }
        if self.junk_session_cookies {
            heads.retain(|head| {
                let head = head.to_ascii_lowercase();
                head.contains("max-age") || head.contains("expires")
            });
        }
        let heads = HeadCookies {
            fields: heads,
            hosts: RefCell::default(),
        };
        Ok((Some(jar), heads))
    }

    /// Writes the file of -c.
    pub(super) fn save(&self, jar: Option<&Jar>) -> Result<(), Failure> {
        let Some((path, jar)) = self.cookie_jar.as_deref().zip(jar) else {
            return Ok(());
        };
        let path = (path.as_os_str() != "-").then_some(path);
        let mut output = output::Output::open(path, output::Opening::silent())?;
        output.write(jar.to_netscape().as_bytes())?;
        output.close()
    }
}

/// The cookies of files that have heads of answers, as -D writes them. A head names no host: they are for every host
/// of the command line.
#[derive(Default)]
pub(super) struct HeadCookies {
    fields: Vec<String>,
    /// Origins that have them already, and may have set others in their place.
    hosts: RefCell<HashSet<String>>,
}

impl HeadCookies {
    /// Gives them to the host of a URL of the command line, once.
    pub(super) fn give(&self, jar: Option<&Jar>, url: &Uri) {
        let Some((jar, host)) = jar.zip(url.host()) else {
            return;
        };
        if !self.fields.is_empty() && self.hosts.borrow_mut().insert(host.to_owned()) {
            for field in &self.fields {
                // As if over TLS, so that those for TLS alone are kept too.
                jar.add(field, &format!("https://{host}/"));
            }
        }
    }
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
pub(super) fn merge(request: &mut Request<Body>, jar: Option<&Jar>) {
    let kept = jar.and_then(|jar| jar.cookies(request.uri()));
    let (Some(kept), Some(given)) = (kept, request.headers().get(COOKIE)) else {
        return;
    };
    let whole = [kept.as_bytes(), b"; ", given.as_bytes()].concat();
    if let Ok(mut value) = HeaderValue::from_bytes(&whole) {
        value.set_sensitive(true);
        request.headers_mut().insert(COOKIE, value);
    }
}
