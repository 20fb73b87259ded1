//! The writing half of [`Conn`]: turns the owner's commands into bytes.

use super::{Conn, Receiving};
use crate::error::{Misuse, Violation};
use crate::exchange::{
    MethodKind, Sent, check_final, check_interim, check_trailers, count_content,
};
use crate::h1::encode::{self, Announce, Form, Persist, Target};
use crate::h1::exchange::{Exchange, SendLength, Sending};
use crate::h1::framing;
use crate::h1::parse::HeadScan;
use crate::h1::reuse::{CloseReason, has_option, persistence};
use crate::http::idempotence::is_idempotent;
use crate::http::{Field, Fields, RequestHead, ResponseHead, Side, StreamId, Token, Version};
use crate::limits::UNREAD_BODY_BYTES_MAX;
use crate::wire::Outbox;
use bytes::Bytes;
use std::time::Instant;

/// RFC 9110 section 15.2.1.
const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

impl Conn {
    /// Client: starts an exchange. `end`: no body follows. A body without content-length goes
    /// out chunked.
    ///
    /// # Errors
    /// `NoCapacity` when [`capacity`](Self::capacity) is 0, `ConnectionClosed` when it stays so;
    /// `WrongSide` on a server and for an extended CONNECT; `BodyLength` when `end` contradicts
    /// content-length; `Invalid(HostMissing)` without an authority.
    pub fn open(
        &mut self,
        now: Instant,
        head: &RequestHead,
        end: bool,
    ) -> Result<StreamId, Misuse> {
        self.enter();
        // Asked of this exchange, whether it can be opened or not.
        let options = std::mem::take(&mut self.open_options);
        if self.side == Side::Server || head.protocol().is_some() {
            return Err(Misuse::WrongSide);
        }
        if self.is_inert() || self.draining || self.last.is_some() {
            return Err(Misuse::ConnectionClosed);
        }
        if self.capacity() == 0 {
            return Err(Misuse::NoCapacity);
        }
        let authority = head
            .authority()
            .ok_or(Misuse::Invalid(Violation::HostMissing))?;
        let method = MethodKind::of(head);
        let path = match method {
            MethodKind::Connect => None,
            _ => Some(
                head.path()
                    .ok_or(Misuse::Invalid(Violation::PseudoFieldMissing))?,
            ),
        };
        let (announce, sending) = framing::of_request(head, end)?;
        let id = self.take_id();
        let mut open = Exchange::new(id, method, Version::Http11, sending);
        open.opened_at = Some(now);
        open.head_at = self.sent + self.outbox.len() as u64;
        open.upgrade =
            head.get(Token::UPGRADE).is_some() && connection_lists(head.fields(), b"upgrade");
        open.repeatable = is_idempotent(head.method());
        open.blocks = options.ends_pipeline;
        if options.closes || persistence(Version::Http11, head.fields()).is_some() {
            open.close_because(CloseReason::WeAskedClose);
        } else if id.0 >= self.config.limits.requests_per_connection_max {
            open.close_because(CloseReason::RequestsExhausted);
        }
        self.last = open.close;
        let form = match options.absolute_form {
            true => Form::Absolute,
            false => Form::Usual,
        };
        let target = Target::of(path, self.proxy.as_deref(), form);
        let persist = match options.closes {
            // A connection that leaves HTTP carries no other request, and one that is asked to end does not leave it:
            // `close` would stand in the place of the option `upgrade` (RFC 9110 section 7.8).
            _ if open.upgrade || method == MethodKind::Connect => Persist::AsGiven,
            true => Persist::Close,
            false if self.config.sends_keep_alive => Persist::KeepAlive,
            false => Persist::AsGiven,
        };
        let out = self.outbox.buffer();
        encode::request_head(out, head, &target, authority, announce, persist);
        self.exchanges.push_back(open);
        self.advance(now);
        Ok(id)
    }

    /// Server: a 1xx before the final head. To an HTTP/1.0 client nothing goes out
    /// (RFC 9110 section 15.2).
    ///
    /// # Errors
    /// `StreamNotOpen` when the final head was sent; `Invalid(StatusInvalid)` for 101 (which is
    /// final: [`respond`](Self::respond)) and for what is not a 1xx.
    pub fn send_interim(
        &mut self,
        now: Instant,
        stream: StreamId,
        head: &ResponseHead,
    ) -> Result<(), Misuse> {
        self.enter();
        let index = self.index_in(stream, |sending| sending == Sending::Head)?;
        check_interim(head)?;
        let open = &mut self.exchanges[index];
        let version = open.version;
        if head.status == 100 {
            open.continue_due = false;
        }
        if version != Version::Http10 {
            let out = self.outbox_of(index).buffer();
            let (announce, persist) = (Announce::Nothing, Persist::AsGiven);
            encode::response_head(out, head, announce, persist);
        }
        self.advance(now);
        Ok(())
    }

    /// Server: the final head. `end`: no body follows. With content-length the body must be as
    /// long; without, it goes out chunked, or to HTTP/1.0 until the connection closes; with `end`
    /// and neither, `content-length: 0` is added. The body of an answer to HEAD, of 204 and of 304
    /// is dropped.
    ///
    /// 101, and a 2xx to CONNECT, hand the connection over: `Upgraded` follows when the responses
    /// before it are out and the request is complete.
    ///
    /// # Errors
    /// `StreamNotOpen` when the exchange is over or answered; `BodyLength` when `end` contradicts
    /// content-length; `Invalid(StatusInvalid)` for an interim status, and for 101 to a request
    /// that did not ask for it.
    pub fn respond(
        &mut self,
        now: Instant,
        stream: StreamId,
        head: &ResponseHead,
        end: bool,
    ) -> Result<(), Misuse> {
        self.enter();
        let index = self.index_in(stream, |sending| sending == Sending::Head)?;
        let draining_last = self.draining && index + 1 == self.exchanges.len();
        let may_rest_be_long = self.may_rest_be_long(index);
        let open = &mut self.exchanges[index];
        if !(head.status == 101 && open.upgrade) {
            check_final(head)?;
        }
        let (announce, sending) = framing::of_response(open.method, open.version, head, end)?;
        let closes = connection_lists(head.fields(), b"close");
        if sending != Sending::Switch {
            if closes {
                open.close_because(CloseReason::WeAskedClose);
            }
            if sending == Sending::Body(SendLength::UntilClose) {
                open.close_because(CloseReason::BodyUntilClose);
            }
            if open.continue_due && !open.received {
                open.close_because(CloseReason::ExpectationUnmet);
            }
            // RFC 9112 section 9.6: its client sends no other request behind a body that is not read to its end.
            if open.handler_gone && may_rest_be_long {
                open.close_because(CloseReason::RequestUnread);
            }
            if open.method == MethodKind::Connect {
                open.close_because(CloseReason::ConnectRefused);
            }
            if draining_last {
                open.close_because(CloseReason::ShutDown);
            }
        }
        // RFC 9110 section 7.8: a server that switches wants the whole request first.
        let invites = sending == Sending::Switch && std::mem::take(&mut open.continue_due);
        open.sending = sending;
        let persist = match (sending, open.close, open.version) {
            (Sending::Switch, ..) => Persist::AsGiven,
            // It stays in its place, as it is spelled.
            (_, Some(_), _) if closes => Persist::AsGiven,
            (_, Some(_), _) => Persist::Close,
            (_, None, Version::Http10) => Persist::KeepAlive,
            (_, None, _) => Persist::AsGiven,
        };
        self.last = self.last.or(open.close);
        let close = open.close;
        if invites {
            self.outbox_of(index).buffer().extend_from_slice(CONTINUE);
        }
        let out = match index {
            0 => self.outbox.buffer(),
            _ => self.exchanges[index].queued.buffer(),
        };
        encode::response_head(out, head, announce, persist);
        if sending != Sending::Switch && matches!(self.receiving, Receiving::AwaitSwitch) {
            self.receiving = match close {
                Some(_) => Receiving::Nothing,
                None if self.draining => Receiving::Nothing,
                None => Receiving::Head(HeadScan::default()),
            };
        }
        match sending {
            // It is concluded with the body, or by the `poll_write` that follows.
            Sending::Body(_) | Sending::Done if index == 0 => self.conclude_later(now),
            _ => self.advance(now),
        }
        Ok(())
    }

    /// Server: whether more of this request's body is to come than is discarded to keep the connection. The length of a chunked
    /// one is known at its last chunk.
    fn may_rest_be_long(&self, index: usize) -> bool {
        let is_receiver = index + 1 == self.exchanges.len();
        is_receiver
            && match self.receiving {
                Receiving::Known { left } => left > UNREAD_BODY_BYTES_MAX as u64,
                Receiving::Chunked(_) => true,
                _ => false,
            }
    }

    /// Server: the final head and all of the body.
    ///
    /// # Errors
    /// As those of [`respond`](Self::respond); `BodyLength`, with nothing sent, when content-length
    /// is another.
    pub fn answer(
        &mut self,
        now: Instant,
        stream: StreamId,
        head: &ResponseHead,
        body: Bytes,
    ) -> Result<(), Misuse> {
        let index = self.index_in(stream, |sending| sending == Sending::Head)?;
        Sent::check_answer(self.exchanges[index].method, head, body.len())?;
        self.respond(now, stream, head, body.is_empty())?;
        match body.is_empty() {
            true => Ok(()),
            false => self.send_body(now, stream, body, true),
        }
    }

    /// Body bytes; `end` may come with empty `data`.
    ///
    /// # Errors
    /// `StreamNotOpen` when our side is not in its body; `BodyLength` when the body would differ
    /// from the content-length that was sent (nothing is queued then).
    pub fn send_body(
        &mut self,
        now: Instant,
        stream: StreamId,
        data: Bytes,
        end: bool,
    ) -> Result<(), Misuse> {
        self.enter();
        let index = self.index_in(stream, |sending| matches!(sending, Sending::Body(_)))?;
        let Sending::Body(length) = &mut self.exchanges[index].sending else {
            return Err(Misuse::StreamNotOpen);
        };
        if let SendLength::Known(left) = length {
            count_content(left, data.len(), end)?;
        }
        let length = *length;
        self.exchanges[index].sent_bytes += data.len() as u64;
        let out = self.outbox_of(index);
        match length {
            SendLength::Discard => {}
            SendLength::Known(_) | SendLength::UntilClose => out.push_body(data),
            SendLength::Chunked => {
                // An empty chunk would be the last one.
                if !data.is_empty() {
                    encode::chunk_line(out.buffer(), data.len());
                    out.push_body(data);
                    out.buffer().extend_from_slice(b"\r\n");
                }
                if end {
                    encode::last_chunk(out.buffer(), None);
                }
            }
        }
        match end {
            true => {
                self.exchanges[index].sending = Sending::Done;
                self.conclude_later(now);
            }
            false => self.advance(now),
        }
        Ok(())
    }

    /// Trailers, which end our side. They are dropped where the body is not chunked: there is no
    /// place for them (RFC 9110 section 6.5.1 lets a sender that cannot send them go on without).
    ///
    /// # Errors
    /// As [`send_body`](Self::send_body), and `Invalid` for trailers that the validator refuses.
    pub fn send_trailers(
        &mut self,
        now: Instant,
        stream: StreamId,
        trailers: &Fields,
    ) -> Result<(), Misuse> {
        self.enter();
        let index = self.index_in(stream, |sending| matches!(sending, Sending::Body(_)))?;
        check_trailers(trailers, Version::Http11)?;
        match &mut self.exchanges[index].sending {
            Sending::Body(SendLength::Known(left)) => count_content(left, 0, true)?,
            Sending::Body(SendLength::Chunked) => {
                encode::last_chunk(self.outbox_of(index).buffer(), Some(trailers));
            }
            _ => {}
        }
        self.exchanges[index].sending = Sending::Done;
        self.advance(now);
        Ok(())
    }

    /// The user took `bytes` of the body: reading goes on when enough are taken. On a server the
    /// first call, even with 0 bytes, says that the body is wanted, and sends the 100 that a
    /// client waits for.
    pub fn consume(&mut self, now: Instant, stream: StreamId, bytes: usize) {
        self.enter();
        if let Some(index) = self.index_of(stream) {
            let open = &mut self.exchanges[index];
            let taken = bytes.min(open.unread);
            open.unread -= taken;
            self.unread -= taken;
            let due = std::mem::replace(&mut open.continue_due, false);
            if due && open.sending == Sending::Head {
                self.outbox_of(index).buffer().extend_from_slice(CONTINUE);
            }
        }
        self.advance(now);
    }

    /// Server: the handler of this stream is gone (finished or cancelled). Once its response is
    /// complete, what is left of the request body has no reader: a little is read and thrown
    /// away to keep the connection, more costs it.
    pub fn handler_done(&mut self, stream: StreamId) {
        if let Some(index) = self.index_of(stream) {
            self.exchanges[index].handler_gone = true;
            self.unsettled = true;
        }
    }

    /// Conclusions from a part of a response are drawn once, when its bytes are written; where others wait behind it, the
    /// connection ends with it, or its body finds no room behind what waits, now.
    fn conclude_later(&mut self, now: Instant) {
        let front = self.exchanges.front();
        let ends = self.draining || front.is_some_and(|open| open.close.is_some());
        let is_full = |open: &Exchange| {
            matches!(open.sending, Sending::Body(_)) && self.send_room(open.id) == 0
        };
        let waits = self.exchanges.len() > 1 || front.is_some_and(is_full);
        if ends || self.side == Side::Client || waits {
            return self.advance(now);
        }
        self.enter();
        self.unsettled = true;
        self.awaits_write = true;
    }

    /// The outbox of an exchange: a server's first one writes, the others wait for it.
    fn outbox_of(&mut self, index: usize) -> &mut Outbox {
        if index == 0 || self.side == Side::Client {
            &mut self.outbox
        } else {
            &mut self.exchanges[index].queued
        }
    }

    fn index_in(
        &self,
        stream: StreamId,
        is_right: impl Fn(Sending) -> bool,
    ) -> Result<usize, Misuse> {
        if self.is_inert() {
            return Err(Misuse::ConnectionClosed);
        }
        self.index_of(stream)
            .filter(|&index| is_right(self.exchanges[index].sending))
            .ok_or(Misuse::StreamNotOpen)
    }
}

/// Whether a connection field has `option`.
pub(super) fn connection_lists<'a>(
    mut fields: impl Iterator<Item = Field<'a>>,
    option: &[u8],
) -> bool {
    fields.any(|field| field.token == Some(Token::CONNECTION) && has_option(field.value, option))
}
