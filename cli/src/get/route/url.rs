//! URLs of the command line and of redirects, with curl's codes for what is wrong with them.

use crate::failure::Failure;
use crate::get::exit;
use crate::target::{self, Target};
use std::borrow::Cow;

/// The flags that say how they are read.
#[derive(clap::Args)]
pub(in crate::get) struct UrlOptions {
    /// The scheme of a URL that has none, in place of http.
    #[arg(long, value_name = "SCHEME", value_parser = ["http", "https"], ignore_case = true)]
    proto_default: Option<String>,
    /// Exit with 67 where a URL or a redirect has a user in it.
    #[arg(long)]
    disallow_username_in_url: bool,
}

impl UrlOptions {
    /// A URL of the command line, and the credentials in it.
    pub(in crate::get) fn read(&self, url: &str) -> Result<(Target, Option<String>), Failure> {
        let url = match &self.proto_default {
            Some(scheme) if !has_scheme(url) => Cow::Owned(format!("{scheme}://{url}")),
            _ => Cow::Borrowed(url),
        };
        let read = target::with_credentials(&url);
        let (target, credentials) = read.map_err(|failure| {
            let scheme = url.split_once("://").map(|(scheme, _)| scheme);
            failure.with_code(match scheme.is_some_and(|scheme| !is_known(scheme)) {
                true => exit::SCHEME,
                false => exit::URL,
            })
        })?;
        self.check(credentials.as_deref())?;
        Ok((target, credentials))
    }

    /// Checks the credentials that a URL has.
    ///
    /// # Errors
    /// It may have none.
    pub(in crate::get) fn check(&self, credentials: Option<&str>) -> Result<(), Failure> {
        match credentials {
            Some(_) if self.disallow_username_in_url => Err(Failure::new(
                exit::LOGIN,
                "the URL has a user in it, which --disallow-username-in-url forbids",
            )),
            _ => Ok(()),
        }
    }
}

fn is_known(scheme: &str) -> bool {
    ["http", "https"]
        .iter()
        .any(|known| scheme.eq_ignore_ascii_case(known))
}

/// Whether a URL says its scheme; one may stand in front of one slash.
fn has_scheme(url: &str) -> bool {
    let scheme = url.split_once(':').map(|(scheme, _)| scheme);
    url.is_empty() || url.contains("://") || scheme.is_some_and(is_known)
}
