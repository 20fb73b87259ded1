//! The WHATWG URL standard, by the crate `url`: what browsers send.

use super::{BoxError, CredentialsApart};
use url::Url;

pub(super) fn normalized(url: &str) -> Result<String, BoxError> {
    Ok(without_fragment(Url::parse(url)?))
}

pub(super) fn credentials_apart(url: &str) -> Result<CredentialsApart, BoxError> {
    let mut parsed = Url::parse(url)?;
    let user = parsed.username().to_owned();
    let password = parsed.password().unwrap_or_default().to_owned();
    // Neither fails for a URL with a host, and other ones have no place for credentials.
    let _ = parsed.set_username("");
    let _ = parsed.set_password(None);
    Ok(CredentialsApart {
        url: without_fragment(parsed),
        user,
        password,
    })
}

pub(super) fn joined(base: &str, reference: &str) -> Result<String, BoxError> {
    Ok(without_fragment(Url::parse(base)?.join(reference)?))
}

fn without_fragment(mut url: Url) -> String {
    url.set_fragment(None);
    url.into()
}
