//! Rules for the message that the peer sends (RFC 9110 section 6): the order of its parts, interim
//! responses, the length of its content, and the beginning of a tunnel.
//!
//! ```text
//! Head --interim head--> Head
//! Head --final head----> Content | Tunnel (CONNECT)
//! Content --data-------> Content
//! Content --head-------> Trailers
//! Content | Tunnel | Trailers --end--> Ended
//! ```
//!
//! Invariants: content is never longer than content-length; a message that ends by itself is as long.

use super::{MethodKind, Sent};
use crate::error::Violation;
use crate::http::body::length::{Expected, ResponseContent};
use crate::http::head::receive_trailers;
use crate::http::{Fields, RequestHead, ResponseHead, Side, Version};

#[cfg(test)]
#[path = "receive_test.rs"]
mod receive_test;

/// The part of the peer's message that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MessagePart {
    /// The final head.
    Head,
    /// Content, trailers or the end.
    Content,
    /// Data or the end: a tunnel has no trailers (RFC 9110 section 9.3.6).
    Tunnel,
    /// The end.
    Trailers,
    /// The peer's side is over, by its end or because we stopped it.
    Ended,
}

/// A frame of the peer, or the end of its side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MessageInput {
    Headers,
    Data,
    End,
}

/// The meaning of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Takes {
    /// A head, interim or final.
    Head,
    /// Bytes of content or of a tunnel.
    Content,
    /// The trailer section.
    Trailers,
    /// The end of the message.
    End,
}

/// The violations that a version names a part out of order by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OutOfOrder {
    /// Data where none is due.
    pub(crate) data: Violation,
    /// A field section where none is due.
    pub(crate) headers: Violation,
}

/// How much of the peer's message has come.
#[derive(Debug)]
pub(crate) struct Received {
    /// Content still to come, where content-length says so.
    length: Expected,
    interims: u32,
    part: MessagePart,
    /// The method of the request, on either side.
    method: MethodKind,
    has_request: bool,
    /// Server: the client sends its content once it has a 100 (RFC 9110 section 10.1.1).
    is_withheld: bool,
}

impl Received {
    /// Server: nothing of the request has come.
    #[inline]
    pub(crate) fn awaiting_request() -> Self {
        Self {
            length: Expected::any(),
            interims: 0,
            part: MessagePart::Head,
            method: MethodKind::Other,
            has_request: false,
            is_withheld: false,
        }
    }
    /// Client: nothing of the response to `request` has come.
    #[inline]
    pub(crate) fn awaiting_response(request: &RequestHead) -> Self {
        Self {
            method: MethodKind::of(request),
            ..Self::awaiting_request()
        }
    }

    // Rules.

    /// The meaning of `input` now. `side` is ours.
    ///
    /// # Errors
    /// The violation of `out_of_order` for a part where another is due (RFC 9110 section 6);
    /// [`Violation::RequestIncomplete`] and [`Violation::ResponseIncomplete`] for an end before the
    /// head.
    #[inline]
    pub(crate) fn takes(
        &self,
        input: MessageInput,
        side: Side,
        out_of_order: OutOfOrder,
    ) -> Result<Takes, Violation> {
        step(self.part, input, side, out_of_order)
    }

    /// Server: the request's head came; `end`: with the end.
    ///
    /// # Errors
    /// [`Violation::ContentLengthMismatch`] when the end contradicts content-length.
    #[inline]
    pub(crate) fn take_request(&mut self, head: &RequestHead, end: bool) -> Result<(), Violation> {
        let length = Expected::of_request(head);
        if end {
            length.end()?;
        }
        self.length = length;
        self.method = MethodKind::of(head);
        self.has_request = true;
        self.is_withheld = !end && head.asks_for_continue();
        self.part = match end {
            true => MessagePart::Ended,
            // RFC 9110 section 9.3.6.
            false if self.method.asks_tunnel() => MessagePart::Tunnel,
            false => MessagePart::Content,
        };
        Ok(())
    }

    /// Client: a response head came; `end`: with the end. True: it is the final one.
    ///
    /// # Errors
    /// [`Violation::InterimWithEnd`], [`Violation::InterimTooMany`] for one more than `interims_max`,
    /// [`Violation::ContentLengthMismatch`] when the end contradicts content-length.
    #[inline]
    pub(crate) fn take_response(
        &mut self,
        head: &ResponseHead,
        end: bool,
        interims_max: u32,
    ) -> Result<bool, Violation> {
        if head.is_interim() {
            // RFC 9110 section 15.2: a final response follows an interim one.
            if end {
                return Err(Violation::InterimWithEnd);
            }
            count_interim(&mut self.interims, interims_max)?;
            return Ok(false);
        }
        let length = Expected::of_response(self.method.as_bytes(), head);
        if end {
            length.end()?;
        }
        self.length = length;
        self.part = match end {
            true => MessagePart::Ended,
            false => match ResponseContent::by_status(self.method.as_bytes(), head.status) {
                ResponseContent::Tunnel => MessagePart::Tunnel,
                ResponseContent::None | ResponseContent::Any => MessagePart::Content,
            },
        };
        Ok(true)
    }

    /// `bytes` of content came.
    ///
    /// # Errors
    /// [`Violation::ContentLengthMismatch`] when more came than was announced.
    #[inline]
    pub(crate) fn take_content(&mut self, bytes: u64) -> Result<(), Violation> {
        self.is_withheld = false;
        self.length.receive(bytes)
    }
    /// Server: a 100 goes out.
    pub(crate) fn ask_for_content(&mut self) {
        self.is_withheld = false;
    }

    /// The trailer section came.
    ///
    /// # Errors
    /// A field that may not stand there (RFC 9110 section 6.5.1), or
    /// [`Violation::ContentLengthMismatch`] when less content came than was announced.
    pub(crate) fn take_trailers(
        &mut self,
        trailers: &mut Fields,
        version: Version,
    ) -> Result<(), Violation> {
        receive_trailers(trailers, version)?;
        self.length.end()?;
        self.part = MessagePart::Trailers;
        Ok(())
    }

    /// The peer ended its side, where an end is due. True: no trailers came, which would have ended
    /// the content.
    ///
    /// # Errors
    /// [`Violation::ContentLengthMismatch`] when less content came than was announced.
    #[inline]
    pub(crate) fn take_end(&mut self) -> Result<bool, Violation> {
        self.length.end()?;
        let was = std::mem::replace(&mut self.part, MessagePart::Ended);
        Ok(was != MessagePart::Trailers)
    }

    /// Ends the peer's message here: nothing that still comes of it counts.
    #[inline]
    pub(crate) fn stop(&mut self) {
        self.part = MessagePart::Ended;
    }

    /// Whether the peer owes the next bytes: a head, or content for which our user has room, who
    /// holds `unread` bytes. While we send content the pace is the application's, while the client waits for
    /// a 100 or a final head the handler's, and a tunnel may rest.
    pub(crate) fn is_peer_due(&self, sent: &Sent, unread: u64) -> bool {
        let is_withheld = self.is_withheld && sent.awaits_head();
        match self.part {
            MessagePart::Head => true,
            MessagePart::Content | MessagePart::Trailers => {
                !sent.takes_content() && unread == 0 && !is_withheld
            }
            MessagePart::Tunnel | MessagePart::Ended => false,
        }
    }

    // Facts.

    #[inline]
    pub(crate) fn method(&self) -> MethodKind {
        self.method
    }
    /// Whether the head is still due.
    #[inline]
    pub(crate) fn awaits_head(&self) -> bool {
        self.part == MessagePart::Head
    }
    /// Server: whether the owner was given the request.
    #[inline]
    pub(crate) fn has_request(&self) -> bool {
        self.has_request
    }
    #[inline]
    pub(crate) fn is_ended(&self) -> bool {
        self.part == MessagePart::Ended
    }
    /// Content still to come, bytes, where content-length says so.
    #[inline]
    pub(crate) fn content_left(&self) -> Option<u64> {
        self.length.left()
    }
}

/// Counts an interim response, of which there may be `max` before the final one (RFC 9110 section
/// 15.2 sets no bound).
///
/// # Errors
/// [`Violation::InterimTooMany`].
pub(crate) fn count_interim(interims: &mut u32, max: u32) -> Result<(), Violation> {
    if *interims >= max {
        return Err(Violation::InterimTooMany);
    }
    *interims += 1;
    Ok(())
}

/// The one table of the order of parts.
#[inline]
fn step(
    part: MessagePart,
    input: MessageInput,
    side: Side,
    out_of_order: OutOfOrder,
) -> Result<Takes, Violation> {
    use MessagePart::{Content, Ended, Head, Trailers, Tunnel};
    match (part, input) {
        (Head, MessageInput::Headers) => Ok(Takes::Head),
        (Content, MessageInput::Headers) => Ok(Takes::Trailers),
        (Tunnel | Trailers | Ended, MessageInput::Headers) => Err(out_of_order.headers),
        (Content | Tunnel, MessageInput::Data) => Ok(Takes::Content),
        (Head | Trailers | Ended, MessageInput::Data) => Err(out_of_order.data),
        (Content | Tunnel | Trailers, MessageInput::End) => Ok(Takes::End),
        (Head, MessageInput::End) => Err(match side {
            Side::Server => Violation::RequestIncomplete,
            Side::Client => Violation::ResponseIncomplete,
        }),
        (Ended, MessageInput::End) => Err(out_of_order.data),
    }
}
