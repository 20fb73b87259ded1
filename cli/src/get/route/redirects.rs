//! The flags of redirects, and the schemes that may be asked.

use crate::failure::Failure;
use crate::get::exit;
use crate::target::{self, Target};
use clap::Args;
use http::header::LOCATION;
use http::{Response, StatusCode, Uri};
use percent_encoding::{CONTROLS, percent_encode};
use trunkline::Body;

/// Redirects followed with `-L` where `--max-redirs` sets no other number (curl's).
const REDIRECTS_MAX: u32 = 50;

/// Which redirects are followed, and what goes along.
#[derive(Args)]
pub(in crate::get) struct RedirectOptions {
    /// Follow redirects.
    #[arg(short = 'L', long)]
    location: bool,
    /// As -L, and credentials go along to other origins.
    #[arg(long)]
    pub(in crate::get) location_trusted: bool,
    /// Redirects to follow at most; -1: any number.
    #[arg(long, value_name = "TIMES", default_value_t = REDIRECTS_MAX, value_parser = times, allow_hyphen_values = true)]
    pub(in crate::get) max_redirs: u32,
    /// A POST stays one behind a 301.
    #[arg(long)]
    post301: bool,
    /// A POST stays one behind a 302.
    #[arg(long)]
    post302: bool,
    /// A POST stays one behind a 303.
    #[arg(long)]
    post303: bool,
    /// The schemes that may be asked, as curl has them: `=https` for https alone, `-http` for all but that.
    #[arg(long, value_name = "SCHEMES", value_parser = Schemes::parse, allow_hyphen_values = true, default_value = "all")]
    proto: Schemes,
    /// Those of them that redirects may lead to.
    #[arg(long, value_name = "SCHEMES", value_parser = Schemes::parse, allow_hyphen_values = true, default_value = "all")]
    proto_redir: Schemes,
}

/// A number of times; -1: any.
fn times(text: &str) -> Result<u32, String> {
    match text {
        "-1" => Ok(u32::MAX),
        _ => text
            .parse()
            .map_err(|_| "it must be a number of times, or -1 for any".to_owned()),
    }
}

impl RedirectOptions {
    pub(in crate::get) fn follows(&self) -> bool {
        self.location || self.location_trusted
    }
    /// Whether a POST stays one behind this status.
    pub(in crate::get) fn keeps_post(&self, status: StatusCode) -> bool {
        match status.as_u16() {
            301 => self.post301,
            302 => self.post302,
            303 => self.post303,
            _ => false,
        }
    }
    /// Checks the scheme of a URL; `is_redirect`: one that an answer leads to.
    ///
    /// # Errors
    /// It may not be asked.
    pub(in crate::get) fn check(&self, uri: &Uri, is_redirect: bool) -> Result<(), Failure> {
        let scheme = uri.scheme_str().unwrap_or_default();
        let lists = [
            (&self.proto, "--proto"),
            (&self.proto_redir, "--proto-redir"),
        ];
        let counted = if is_redirect { 2 } else { 1 };
        for (schemes, flag) in &lists[..counted] {
            if !schemes.allows(scheme) {
                let text = format!("{flag} does not allow {scheme}, which {uri} has");
                return Err(Failure::new(exit::SCHEME, text));
            }
        }
        Ok(())
    }
}

/// The schemes http and https, as far as they are allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Schemes {
    http: bool,
    https: bool,
}

impl Schemes {
    /// Names with commas between them; `+` in front of one allows it too, `-` forbids it, `=` allows it alone. Names of
    /// schemes that are not here count for nothing, as with curl.
    fn parse(text: &str) -> Result<Self, String> {
        let mut schemes = Self {
            http: true,
            https: true,
        };
        for item in text.split(',') {
            let marks = item.len() - item.trim_start_matches(['+', '-', '=']).len();
            let (marks, name) = item.split_at(marks);
            if name.is_empty() {
                return Err("it must name schemes, as =https".to_owned());
            }
            if marks.contains('=') {
                (schemes.http, schemes.https) = (false, false);
            }
            let is_allowed = !marks.contains('-');
            let is_named = |scheme: &str| name == "all" || name.eq_ignore_ascii_case(scheme);
            if is_named("http") {
                schemes.http = is_allowed;
            }
            if is_named("https") {
                schemes.https = is_allowed;
            }
        }
        Ok(schemes)
    }
    fn allows(self, scheme: &str) -> bool {
        match scheme {
            "http" => self.http,
            _ => self.https,
        }
    }
}

/// A URL that an answer leads to.
pub(in crate::get) struct Redirect {
    /// The URL to ask, or why it cannot be asked.
    pub(in crate::get) next: Result<(Target, Option<String>), Failure>,
    /// As -w has it: with its fragment, without credentials, of any scheme.
    pub(in crate::get) shown: String,
}

/// Where the answer leads, if it leads anywhere.
pub(in crate::get) fn next(from: &Uri, response: &Response<Body>) -> Option<Redirect> {
    // RFC 9110 section 15.4.1: 300 too, where it names the one that the server prefers.
    let leads = matches!(response.status().as_u16(), 300..=303 | 307 | 308);
    let location = response.headers().get(LOCATION);
    // One without a value leads nowhere.
    let location = location.filter(|location| leads && !location.is_empty())?;
    // Bytes beyond ASCII are escaped one by one: a server may mean UTF-8 or another encoding.
    let text = percent_encode(location.as_bytes(), CONTROLS).to_string();
    let unread = |(code, why): (u8, String)| {
        let text = format!("the redirect to {location:?} cannot be followed: {why}");
        Failure::new(code, text)
    };
    let joined = url::Url::parse(&from.to_string()).and_then(|base| base.join(&text));
    let mut next = match joined {
        Ok(next) => next,
        Err(error) => {
            return Some(Redirect {
                next: Err(unread((exit::URL, error.to_string()))),
                shown: text,
            });
        }
    };
    let fragment = next.fragment().map(|it| format!("#{it}"));
    next.set_fragment(None);
    let asked = target::with_credentials(next.as_str());
    // It has none where it has no host.
    let _ = (next.set_username(""), next.set_password(None));
    let shown = match &asked {
        Ok((target, _)) => target.uri.to_string(),
        Err(_) => next.to_string(),
    };
    let code = match next.scheme() {
        "http" | "https" => exit::URL,
        _ => exit::SCHEME,
    };
    Some(Redirect {
        next: asked.map_err(|failure| unread((code, failure.to_string()))),
        shown: shown + &fragment.unwrap_or_default(),
    })
}

#[cfg(test)]
#[path = "redirects_test.rs"]
mod redirects_test;
