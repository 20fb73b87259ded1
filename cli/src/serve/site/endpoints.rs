//! The test endpoints of `--test-endpoints`: responses of a known size, delay or status, for tests
//! and measurements.
//!
//! | path | answer |
//! |---|---|
//! | `/bytes/N` | N bytes, N up to [`BYTES_MAX`] |
//! | `/delay/MS` | `ok` after MS milliseconds, up to [`DELAY_MS_MAX`] |
//! | `/echo` | the request's body, with its content type |
//! | `/status/N` | an empty answer with status N, 200 to 599 |

use crate::serve::answer::{Answer, SiteBody, plain};
use bytes::Bytes;
use http::{HeaderValue, Request, Response, StatusCode, header};
use http_body_util::Full;
use std::sync::LazyLock;
use std::time::Duration;

/// The largest `/bytes/N`: 16 GiB, streamed from one piece.
const BYTES_MAX: u64 = 16 << 30;
/// The longest `/delay/MS`.
const DELAY_MS_MAX: u64 = 60_000;
/// Bodies up to this are one slice of a shared buffer; longer ones repeat it.
const PIECE_BYTES: usize = 64 * 1024;

static PIECE: LazyLock<Bytes> = LazyLock::new(|| {
    let line = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_\n";
    line.iter().copied().cycle().take(PIECE_BYTES).collect()
});

/// One of the set, its argument checked.
pub(crate) enum Endpoint {
    Bytes(u64),
    Delay(Duration),
    Echo,
    Status(StatusCode),
    /// One of the set, with an argument out of its range.
    Refused(String),
}

impl Endpoint {
    /// The endpoint that `path` names, if it is one of the set.
    pub(crate) fn of(path: &str) -> Option<Self> {
        if path == "/echo" {
            return Some(Self::Echo);
        }
        let (name, argument) = path.strip_prefix('/')?.split_once('/')?;
        let endpoint = match name {
            "bytes" => number(argument, 0, BYTES_MAX).map(Self::Bytes),
            "delay" => {
                number(argument, 0, DELAY_MS_MAX).map(|ms| Self::Delay(Duration::from_millis(ms)))
            }
            "status" => number(argument, 200, 599).map(|status| {
                Self::Status(StatusCode::from_u16(status as u16).expect("200 to 599 are valid"))
            }),
            _ => return None,
        };
        Some(endpoint.unwrap_or_else(Self::Refused))
    }

    /// Answers.
    pub(crate) fn answer<B>(self, request: Request<B>) -> Answer<B> {
        match self {
            Self::Bytes(count) => Answer::ready(bytes(count)),
            Self::Delay(time) => Answer::waiting(async move {
                tokio::time::sleep(time).await;
                plain(StatusCode::OK, "ok\n")
            }),
            Self::Echo => Answer::ready(echo(request)),
            Self::Status(status) => {
                let mut response = Response::new(SiteBody::Full(Full::default()));
                *response.status_mut() = status;
                Answer::ready(response)
            }
            Self::Refused(why) => Answer::ready(plain(StatusCode::BAD_REQUEST, &why)),
        }
    }
}

fn bytes<B>(count: u64) -> Response<SiteBody<B>> {
    let body = if count <= PIECE_BYTES as u64 {
        SiteBody::Full(Full::new(PIECE.slice(..count as usize)))
    } else {
        SiteBody::Repeat {
            piece: PIECE.clone(),
            left: count,
        }
    };
    let mut response = Response::new(body);
    response.headers_mut().insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/octet-stream"),
    );
    response
}

fn echo<B>(request: Request<B>) -> Response<SiteBody<B>> {
    let (mut head, body) = request.into_parts();
    let mut response = Response::new(SiteBody::Echo(body));
    if let Some(kind) = head.headers.remove(header::CONTENT_TYPE) {
        response.headers_mut().insert(header::CONTENT_TYPE, kind);
    }
    response
}

fn number(text: &str, least: u64, most: u64) -> Result<u64, String> {
    text.parse::<u64>()
        .ok()
        .filter(|number| (least..=most).contains(number))
        .ok_or_else(|| format!("{text:?} is not a number from {least} to {most}\n"))
}

#[cfg(test)]
#[path = "endpoints_test.rs"]
mod endpoints_test;
