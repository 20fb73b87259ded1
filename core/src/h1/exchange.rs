//! One request and its response on an HTTP/1.1 connection.

use super::reuse::CloseReason;
use crate::error::{Closed, Violation};
use crate::exchange::MethodKind;
use crate::http::body::length::Expected;
use crate::http::{StreamId, Version};
use crate::wire::Outbox;
use std::time::Instant;

/// How the body we send is delimited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SendLength {
    /// content-length: what is left of it.
    Known(Expected),
    /// The chunked coding.
    Chunked,
    /// The end of the connection: a response to HTTP/1.0.
    UntilClose,
    /// No body goes out (HEAD, 204, 304): what the owner sends is dropped.
    Discard,
}

/// Where our side of an exchange stands.
///
/// ```text
/// server: Head -> Body -> Done        Head -> Refused        any -> Broken
/// client:         Body -> Done
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sending {
    /// Server: the final head has not been sent.
    Head,
    /// The head is out, the body is not complete.
    Body(SendLength),
    /// Our side is complete.
    Done,
    /// Server: 101, or a 2xx to CONNECT: the connection changes hands when everything before is
    /// out and the request is complete.
    Switch,
    /// Server: the request broke a rule; when its turn comes it is answered with the rule's
    /// status and the connection closes.
    Refused(Violation),
    /// Nothing more can be sent for it: the connection closes when its turn comes.
    Broken(Closed),
}

/// An open exchange.
#[derive(Debug)]
pub(super) struct Exchange {
    pub(super) id: StreamId,
    pub(super) method: MethodKind,
    /// Client: the request may be repeated, so that others may be pipelined behind it (RFC 9112
    /// section 9.3.2).
    pub(super) repeatable: bool,
    /// The request asked to switch protocols.
    pub(super) upgrade: bool,
    /// Client: nothing goes out behind it before it is answered.
    pub(super) blocks: bool,
    /// The version of the peer's head.
    pub(super) version: Version,
    pub(super) sending: Sending,
    /// The peer's side is complete.
    pub(super) received: bool,
    /// Server: the client waits for 100 before it sends the body.
    pub(super) continue_due: bool,
    /// Server: the handler is gone: body bytes have no reader.
    pub(super) handler_gone: bool,
    /// Its end was reported to the owner, or caused by it: no more events.
    pub(super) silent: bool,
    /// Client: the final response head has come.
    pub(super) answered: bool,
    pub(super) close: Option<CloseReason>,
    /// When its head came or was sent; `None`: no head could be read.
    pub(super) opened_at: Option<Instant>,
    /// Body bytes that the owner gave.
    pub(super) sent_bytes: u64,
    /// Body bytes that the owner was given, and those of them that it has not consumed.
    pub(super) body_bytes: u64,
    pub(super) unread: usize,
    /// `send_room` was seen at 0.
    pub(super) room_lost: bool,
    /// Interim responses received.
    pub(super) interims: u32,
    /// Client: how many bytes of the connection stood before its head.
    pub(super) head_at: u64,
    /// Server: what waits for the responses before it.
    pub(super) queued: Outbox,
}

impl Exchange {
    pub(super) fn new(
        id: StreamId,
        method: MethodKind,
        version: Version,
        sending: Sending,
    ) -> Self {
        Self {
            id,
            method,
            repeatable: false,
            upgrade: false,
            blocks: false,
            version,
            sending,
            received: false,
            continue_due: false,
            handler_gone: false,
            silent: false,
            answered: false,
            close: None,
            opened_at: None,
            sent_bytes: 0,
            body_bytes: 0,
            unread: 0,
            room_lost: false,
            interims: 0,
            head_at: 0,
            queued: Outbox::new(),
        }
    }

    /// Whether body bytes have no reader: the owner gave the exchange up, or the handler is gone
    /// and its answer complete.
    pub(super) fn discards(&self) -> bool {
        self.silent || (self.handler_gone && self.sending == Sending::Done)
    }

    /// Keeps the first reason.
    pub(super) fn close_because(&mut self, reason: CloseReason) {
        self.close.get_or_insert(reason);
    }
}
