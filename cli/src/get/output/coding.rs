//! Content codings of a body (RFC 9110 section 8.4).

use crate::failure::Failure;
use crate::get::exit;
use http::header::CONTENT_ENCODING;
use http::{Response, StatusCode};
use http_body::Body as _;
use trunkline::{Body, ResponseExt as _};

/// The body without its content codings.
pub(in crate::get) fn decoded(response: Response<Body>) -> Result<Body, Failure> {
    let response = response.decompressed();
    let coding = response.headers().get(CONTENT_ENCODING);
    if let Some(coding) = coding.filter(|coding| !matches!(coding.as_bytes(), b"identity" | b""))
        && !response.body().is_end_stream()
    {
        return Err(Failure::new(
            exit::CODING,
            match response.status() {
                StatusCode::PARTIAL_CONTENT => {
                    "a part of a compressed body does not decode; --raw writes it as it is"
                        .to_owned()
                }
                _ => format!(
                    "the server used content-encoding {coding:?}, which was not asked for; --raw writes it as it is"
                ),
            },
        ));
    }
    Ok(response.into_body())
}
