//! The listener of a WebSocket's exchange: its head decides whether it opens, its body goes to the reader.

use crate::body::header_map::append_all;
use crate::client::listener::{BodyArrival, ExchangeListener};
use crate::error::{Error, ErrorKind, Fault, Retry};
use bytes::Bytes;
use http::header::{SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_EXTENSIONS, SEC_WEBSOCKET_PROTOCOL};
use http::{HeaderMap, Response, StatusCode};
use tokio::sync::{mpsc, oneshot};
use trunkline_core::http::{Fields, ResponseHead, Version};

/// A piece of the peer's bytes, and whether it counts as unread until it is taken.
pub(super) type Piece = Result<(Bytes, bool), Error>;

/// The subprotocols and extensions that a request names: a server may choose no others (RFC 6455 section 4.1).
pub(super) struct Offered {
    subprotocols: Vec<Vec<u8>>,
    has_extensions: bool,
}

impl Offered {
    pub(super) fn of(fields: &HeaderMap) -> Self {
        let lists = fields.get_all(SEC_WEBSOCKET_PROTOCOL).into_iter();
        let names = lists.flat_map(|list| list.as_bytes().split(|byte| *byte == b','));
        Self {
            subprotocols: names.map(|name| name.trim_ascii().to_vec()).collect(),
            has_extensions: fields.contains_key(SEC_WEBSOCKET_EXTENSIONS),
        }
    }
    fn check(&self, response: &HeaderMap, status: StatusCode) -> Result<(), Error> {
        let chosen = response.get_all(SEC_WEBSOCKET_PROTOCOL).into_iter();
        let offered = |name: &[u8]| self.subprotocols.iter().any(|known| known == name);
        let wrong = if !chosen.into_iter().all(|name| offered(name.as_bytes())) {
            "a subprotocol that was not offered (sec-websocket-protocol)"
        } else if response.contains_key(SEC_WEBSOCKET_EXTENSIONS) && !self.has_extensions {
            "an extension that was not offered (sec-websocket-extensions)"
        } else {
            return Ok(());
        };
        Err(refused(status).with_text(format!("the server chose {wrong}")))
    }
}

pub(super) struct WebSocketListener {
    opened: Option<oneshot::Sender<Result<Response<()>, Error>>>,
    /// `None` behind the end.
    to_reader: Option<mpsc::UnboundedSender<Piece>>,
    /// The `sec-websocket-accept` of an upgrade; `None`: it is a stream.
    accept: Option<String>,
    offered: Offered,
}

impl WebSocketListener {
    pub(super) fn new(
        opened: oneshot::Sender<Result<Response<()>, Error>>,
        to_reader: mpsc::UnboundedSender<Piece>,
        accept: Option<String>,
        offered: Offered,
    ) -> Self {
        Self {
            opened: Some(opened),
            to_reader: Some(to_reader),
            accept,
            offered,
        }
    }
    fn open(&self, head: &ResponseHead, version: Version) -> Result<Response<()>, Error> {
        let status = StatusCode::from_u16(head.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = Response::new(());
        *response.status_mut() = status;
        *response.version_mut() = match version {
            Version::Http10 => http::Version::HTTP_10,
            Version::Http11 => http::Version::HTTP_11,
            Version::Http2 => http::Version::HTTP_2,
            Version::Http3 => http::Version::HTTP_3,
        };
        // A client has no limit beyond that of a map.
        let _ = append_all(response.headers_mut(), head.fields());
        match &self.accept {
            None if status.is_success() => {}
            Some(accept) if status == StatusCode::SWITCHING_PROTOCOLS => {
                if !is_accepted(response.headers(), accept) {
                    return Err(refused(status).with_text(
                        "the server switched protocols without the sec-websocket-accept of a WebSocket",
                    ));
                }
            }
            _ => return Err(refused(status)),
        }
        self.offered.check(response.headers(), status)?;
        Ok(response)
    }
    fn pass_on(&self, data: Bytes, counts: bool) {
        if let Some(to_reader) = &self.to_reader {
            // A reader that is gone has cancelled the exchange.
            let _ = to_reader.send(Ok((data, counts)));
        }
    }
}

/// RFC 6455 section 4.1.
fn is_accepted(fields: &HeaderMap, accept: &str) -> bool {
    let found = fields.get(SEC_WEBSOCKET_ACCEPT);
    found.is_some_and(|found| found.as_bytes() == accept.as_bytes())
}

fn refused(status: StatusCode) -> Error {
    Error::new(ErrorKind::Status(status), Fault::Peer, Retry::Never)
        .with_was_sent(true)
        .with_text(format!(
            "the server answered {status} and opens no WebSocket"
        ))
}

impl ExchangeListener for WebSocketListener {
    fn interim(&mut self, _: &ResponseHead, _: Version) {}
    fn response(&mut self, head: &ResponseHead, version: Version, body: BodyArrival) {
        let outcome = self.open(head, version);
        if let Some(opened) = self.opened.take() {
            // The caller may have given up.
            let _ = opened.send(outcome);
        }
        if let BodyArrival::Whole(data) = body {
            self.pass_on(data, false);
            self.to_reader = None;
        }
    }
    fn data(&mut self, data: Bytes) {
        self.pass_on(data, true);
    }
    fn end(&mut self, _: Option<&Fields>) {
        self.to_reader = None;
    }
    fn fail(&mut self, error: Error) {
        match (self.opened.take(), self.to_reader.take()) {
            (Some(opened), _) => {
                let _ = opened.send(Err(error));
            }
            (None, Some(to_reader)) => {
                let _ = to_reader.send(Err(error));
            }
            (None, None) => {}
        }
    }
}
