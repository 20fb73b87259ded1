//! Content codings of a body (RFC 9110 section 8.4).

use crate::failure::Failure;
use crate::get::exit;
use bytes::Bytes;
use http::header::CONTENT_ENCODING;
use http::{Response, StatusCode};
use http_body::Body as _;
use http_body_util::BodyExt as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use trunkline::{Body, ResponseExt as _};

/// The bytes of a body as they came.
#[derive(Clone, Debug, Default)]
pub(in crate::get) struct CodedBytes(Arc<AtomicU64>);

impl CodedBytes {
    pub(in crate::get) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
    fn counted(&self, body: Body) -> Body {
        let bytes = Arc::clone(&self.0);
        Body::wrap(body.map_frame(move |frame| {
            let length = frame.data_ref().map_or(0, Bytes::len);
            bytes.fetch_add(length as u64, Ordering::Relaxed);
            frame
        }))
    }
}

/// Names of no coding; `none` is no registered one, and is sent all the same.
const NO_CODING: [&[u8]; 3] = [b"", b"identity", b"none"];

/// The body without its content codings, and the bytes of it that have come with them.
pub(in crate::get) fn decoded(response: Response<Body>) -> Result<(Body, CodedBytes), Failure> {
    let came = CodedBytes::default();
    let response = response.map(|body| came.counted(body)).decompressed();
    let coding = response.headers().get(CONTENT_ENCODING);
    if let Some(coding) = coding.filter(|coding| !NO_CODING.contains(&coding.as_bytes()))
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
    Ok((response.into_body(), came))
}
