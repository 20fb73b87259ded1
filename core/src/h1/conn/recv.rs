//! The reading half of [`Conn`]: parses bytes into heads, bodies and trailers.

use super::send::connection_lists;
use super::{Conn, Receiving, Timer};
use crate::error::Violation;
use crate::exchange::{MethodKind, count_interim};
use crate::h1::chunked::{ChunkDecoder, Chunked};
use crate::h1::exchange::{Exchange, Sending};
use crate::h1::parse::{self, HeadScan};
use crate::h1::reuse::{CloseReason, persistence};
use crate::http::body::length::BodyLength;
use crate::http::event::ResetBy;
use crate::http::{Event, ResponseHead, Side, StreamId, Token, Version};
use crate::limits::UNREAD_BODY_BYTES_MAX;
use bytes::{Bytes, BytesMut};
use std::time::Instant;

/// Body bytes share allocations of this size.
const SLAB_BYTES: usize = 16 * 1024;

/// The outcome of one step of reading.
pub(in crate::h1) enum ReadStep {
    /// Consumed this many bytes; there may be more to do.
    Took(usize),
    /// Needs more bytes.
    Wait,
    /// Bytes are there but may not be parsed yet.
    HoldBack,
}

impl Conn {
    /// Takes all of `bytes`; keeps an unparsed tail itself.
    pub fn handle_bytes(&mut self, now: Instant, bytes: &[u8]) {
        if self.switched {
            return self.hand_on(bytes);
        }
        self.enter();
        self.feed(now, bytes);
        if self.awaits_answer() {
            // Nothing follows but this, before the answer.
            self.timers.stop(Timer::Idle);
            self.unsettled = true;
        } else {
            self.advance(now);
        }
    }

    /// Bytes behind a switch belong to the next owner of the connection. One read of the transport may bring them in
    /// several pieces (each TLS record is one), before that owner exists.
    fn hand_on(&mut self, bytes: &[u8]) {
        if let Some(Event::Upgraded { rest, .. }) = self.events.back_mut() {
            let mut all = BytesMut::from(std::mem::take(rest));
            all.extend_from_slice(bytes);
            *rest = all.freeze();
        }
    }

    /// Server: one whole request is here, nothing else, and its owner has not answered.
    fn awaits_answer(&self) -> bool {
        let mut open = self.exchanges.iter();
        let (Some(first), None) = (open.next(), open.next()) else {
            return false;
        };
        self.side == Side::Server
            && first.received
            && first.sending == Sending::Head
            && self.closed.is_none()
            && !self.is_paused
            && self.tail.is_empty()
    }

    /// Parses the tail and `bytes`, and keeps what is left as the tail.
    pub(super) fn feed(&mut self, now: Instant, bytes: &[u8]) {
        self.is_paused = false;
        if self.tail.is_empty() {
            let used = self.receive(now, bytes);
            if self.keeps_tail() {
                self.tail.extend_from_slice(&bytes[used..]);
            }
        } else {
            let mut tail = std::mem::take(&mut self.tail);
            tail.extend_from_slice(bytes);
            let used = self.receive(now, &tail);
            tail.drain(..used);
            self.tail = tail;
            if !self.keeps_tail() {
                self.tail.clear();
            }
        }
        self.flush_body(false);
    }

    /// A connection that is over keeps nothing; one that changed hands has given it away.
    fn keeps_tail(&self) -> bool {
        !self.is_inert() && !matches!(self.receiving, Receiving::Nothing)
    }

    /// Parses as much of `bytes` as can be; returns how much that is.
    fn receive(&mut self, now: Instant, bytes: &[u8]) -> usize {
        let mut used = 0;
        while !self.is_inert() {
            match self.step(now, &bytes[used..]) {
                Ok(ReadStep::Took(n)) => used += n,
                Ok(ReadStep::Wait) => break,
                Ok(ReadStep::HoldBack) => {
                    self.is_paused = used < bytes.len();
                    break;
                }
                Err(violation) => {
                    self.keep_broken(bytes, used);
                    let by = ResetBy::Us(violation);
                    if !self.lose_body(by, CloseReason::BodyLost(violation)) {
                        self.violate(violation);
                    }
                    return bytes.len();
                }
            }
        }
        used
    }

    fn step(&mut self, now: Instant, bytes: &[u8]) -> Result<ReadStep, Violation> {
        match self.receiving {
            Receiving::AwaitSwitch => return Ok(ReadStep::HoldBack),
            _ if bytes.is_empty() => return Ok(ReadStep::Wait),
            // RFC 9112 section 2.2: empty lines before a request line are ignored. Before a status
            // line they come from servers that end a 100 twice; no other reading of them exists.
            Receiving::Head(_) if self.awaits_head() && bytes.starts_with(b"\r\n") => {
                return Ok(ReadStep::Took(2));
            }
            Receiving::Head(_) if self.awaits_head() && bytes == b"\r" => {
                return Ok(ReadStep::Wait);
            }
            Receiving::Head(scan) if self.side == Side::Server => {
                return self.receive_request(now, scan, bytes);
            }
            Receiving::Head(scan) => return self.receive_response(scan, bytes),
            Receiving::Known { left } => {
                let len = usize::try_from(left).map_or(bytes.len(), |left| left.min(bytes.len()));
                let left = left - len as u64;
                self.receiving = Receiving::Known { left };
                self.take_body(&bytes[..len])?;
                if left == 0 {
                    self.end_message(None);
                }
                return Ok(ReadStep::Took(len));
            }
            Receiving::Chunked(decoder) => return self.receive_chunks(decoder, bytes),
            Receiving::Trailers(scan) => return self.receive_trailers(scan, bytes),
            Receiving::UntilClose => self.take_body(bytes)?,
            Receiving::Nothing => {}
        }
        Ok(ReadStep::Took(bytes.len()))
    }

    /// Whether a head may come now: a request any time, a response only when it is due.
    fn awaits_head(&self) -> bool {
        self.side == Side::Server || !self.exchanges.is_empty()
    }

    /// Client: a response head, interim or final.
    fn receive_response(
        &mut self,
        mut scan: HeadScan,
        bytes: &[u8],
    ) -> Result<ReadStep, Violation> {
        if self.receiver().is_none() {
            return Err(Violation::ResponseUnexpected);
        }
        // A peer of another protocol may never send the empty line that ends a head; and one that sends
        // it at once is named as one that sends it later.
        if !parse::begins_as_response(bytes)
            && let Some(is_tls) = parse::begins_as_tls(bytes)
        {
            return Err(match is_tls {
                true => Violation::TlsInCleartext,
                false => Violation::HeadInvalid,
            });
        }
        let found = scan.find_end(bytes, self.config.limits.head_bytes_max)?;
        self.receiving = Receiving::Head(scan);
        let Some(len) = found else {
            return Ok(ReadStep::Wait);
        };
        self.timers.stop(Timer::Head);
        let fields = self.free_list.section();
        let (limits, spells) = (&self.config.limits, self.config.spelled_names);
        let (head, version) = parse::response(&bytes[..len], fields, limits, spells)?;
        if head.is_interim() && head.status != 101 {
            self.receive_interim(head)?;
        } else {
            self.begin_response(head, version, &bytes[len..])?;
            if self.switched {
                // The rest went with the event.
                return Ok(ReadStep::Took(bytes.len()));
            }
        }
        Ok(ReadStep::Took(len))
    }

    fn receive_interim(&mut self, head: ResponseHead) -> Result<(), Violation> {
        let max = self.config.limits.interim_responses_max;
        let Some(open) = self.exchanges.front_mut() else {
            return Err(Violation::ResponseUnexpected);
        };
        count_interim(&mut open.interims, max)?;
        if !open.silent {
            let stream = open.id;
            self.events
                .push_back(Event::InterimReceived { stream, head });
        }
        self.receiving = Receiving::Head(HeadScan::default());
        Ok(())
    }

    fn begin_response(
        &mut self,
        head: ResponseHead,
        version: Version,
        rest: &[u8],
    ) -> Result<(), Violation> {
        let Some(open) = self.exchanges.front_mut() else {
            return Err(Violation::ResponseUnexpected);
        };
        let length = BodyLength::of_response(open.method.as_bytes(), &head)?;
        // RFC 9110 sections 7.8 and 15.2.2: only a request for it can be answered with a switch, only
        // when it is complete (attacks.md row 18), and by one that names the protocol.
        let names_protocol =
            head.get(Token::UPGRADE).is_some() && connection_lists(head.fields(), b"upgrade");
        let asked = open.upgrade && names_protocol || head.status != 101;
        if length == BodyLength::Tunnel && !(asked && open.sending == Sending::Done) {
            return Err(Violation::SwitchUnexpected);
        }
        open.version = version;
        open.answered = true;
        if let Some(reason) = persistence(version, head.fields()) {
            open.close_because(reason);
            self.peer_stops = true;
        }
        if length == BodyLength::UntilClose {
            open.close_because(CloseReason::BodyUntilClose);
        }
        if length != BodyLength::Tunnel {
            // RFC 9110 sections 7.8 and 9.3.6: the connection stays in HTTP. But a server may have taken it out of HTTP
            // to refuse, and would not read a request behind it.
            match open.method {
                MethodKind::Connect => open.close_because(CloseReason::ConnectRefused),
                _ if open.upgrade => open.close_because(CloseReason::UpgradeRefused),
                _ => {}
            }
            self.last = self.last.or(open.close);
        }
        let (stream, silent) = (open.id, open.silent);
        let end = matches!(length, BodyLength::None | BodyLength::Known(0));
        if !silent {
            self.events
                .push_back(Event::ResponseReceived { stream, head, end });
        }
        if length == BodyLength::Tunnel {
            self.switch(stream, Bytes::copy_from_slice(rest));
        } else {
            self.receive_body(length);
        }
        Ok(())
    }

    /// Goes on behind a head.
    pub(super) fn receive_body(&mut self, length: BodyLength) {
        self.receiving = match length {
            BodyLength::None | BodyLength::Known(0) => return self.end_of_message(),
            BodyLength::Known(left) => Receiving::Known { left },
            BodyLength::Chunked => Receiving::Chunked(ChunkDecoder::new(self.config.chunk_blanks)),
            BodyLength::UntilClose => Receiving::UntilClose,
            // Handled where a head is received; a request is never one.
            BodyLength::Tunnel => Receiving::Nothing,
        };
    }

    fn receive_chunks(
        &mut self,
        mut decoder: ChunkDecoder,
        bytes: &[u8],
    ) -> Result<ReadStep, Violation> {
        let max = self.config.limits.chunk_extension_bytes_max;
        let chunked = decoder.decode(bytes, max)?;
        self.receiving = Receiving::Chunked(decoder);
        Ok(match chunked {
            Chunked::More => ReadStep::Took(bytes.len()),
            Chunked::Data { used, data } => {
                self.take_body(data)?;
                ReadStep::Took(used)
            }
            Chunked::Last { used } => {
                self.receiving = Receiving::Trailers(HeadScan::default());
                ReadStep::Took(used)
            }
        })
    }

    fn receive_trailers(
        &mut self,
        mut scan: HeadScan,
        bytes: &[u8],
    ) -> Result<ReadStep, Violation> {
        let found = scan.find_end(bytes, self.config.limits.head_bytes_max)?;
        self.receiving = Receiving::Trailers(scan);
        let Some(len) = found else {
            return Ok(ReadStep::Wait);
        };
        if len == 2 {
            self.end_message(None);
        } else {
            let fields = self.free_list.section();
            let (limits, spells) = (&self.config.limits, self.config.spelled_names);
            let trailers = parse::trailers(&bytes[..len], fields, limits, self.side, spells)?;
            self.end_message(Some(trailers));
        }
        Ok(ReadStep::Took(len))
    }

    /// Collects body bytes: pieces of one read become one event, so that tiny chunks cost no
    /// more than their bytes.
    fn take_body(&mut self, data: &[u8]) -> Result<(), Violation> {
        self.timers.stop(Timer::BodyIdle);
        self.received += data.len() as u64;
        let Some(open) = self.receiver() else {
            return Ok(());
        };
        open.continue_due = false;
        if open.discards() {
            self.discard(data.len());
            return Ok(());
        }
        if self.slab.capacity() - self.slab.len() < data.len() {
            self.slab.reserve(data.len().max(SLAB_BYTES));
        }
        self.slab.extend_from_slice(data);
        Ok(())
    }

    /// Throws body bytes away that have no reader: a few keep the connection, more end it, behind the answers that wait.
    fn discard(&mut self, bytes: usize) {
        self.discarded += bytes;
        if self.discarded <= UNREAD_BODY_BYTES_MAX {
            return;
        }
        let reason = CloseReason::RequestUnread;
        if self.exchanges.len() == 1 {
            return self.finish(reason.closed());
        }
        self.receiving = Receiving::Nothing;
        self.last.get_or_insert(reason);
        if let Some(open) = self.receiver() {
            open.received = true;
            open.close_because(reason);
        }
    }

    /// Hands the collected bytes over.
    pub(super) fn flush_body(&mut self, end: bool) {
        if self.slab.is_empty() && !end {
            return;
        }
        let data = self.slab.split().freeze();
        let Some(open) = self.receiver() else {
            return;
        };
        if open.discards() {
            return;
        }
        open.body_bytes += data.len() as u64;
        open.unread += data.len();
        let stream = open.id;
        self.unread += data.len();
        self.events
            .push_back(Event::BodyReceived { stream, data, end });
    }

    /// The body is over, with or without trailers.
    pub(super) fn end_message(&mut self, trailers: Option<crate::http::Fields>) {
        match trailers {
            None => self.flush_body(true),
            Some(trailers) => {
                self.flush_body(false);
                if let Some(open) = self.receiver()
                    && !open.discards()
                {
                    let stream = open.id;
                    self.events
                        .push_back(Event::TrailersReceived { stream, trailers });
                }
            }
        }
        self.end_of_message();
    }

    /// The peer's side of an exchange is complete; what comes next is another message, if one
    /// may come.
    fn end_of_message(&mut self) {
        let side = self.side;
        let draining = self.draining && side == Side::Server;
        let Some(open) = self.receiver() else {
            return;
        };
        open.received = true;
        open.continue_due = false;
        let over = open.close.is_some() || draining;
        let undecided = (open.method == MethodKind::Connect || open.upgrade)
            && matches!(open.sending, Sending::Head | Sending::Switch);
        self.receiving = match side {
            Side::Server if undecided => Receiving::AwaitSwitch,
            _ if over => Receiving::Nothing,
            _ => Receiving::Head(HeadScan::default()),
        };
        if side == Side::Client {
            self.stop_upload();
            // Bytes that follow in this read belong to the next exchange.
            while self.advance_front(None) {}
        }
    }

    /// The exchange whose message is being received: a server's last, a client's first.
    pub(in crate::h1) fn receiver(&mut self) -> Option<&mut Exchange> {
        match self.side {
            Side::Server => self.exchanges.back_mut().filter(|open| !open.received),
            Side::Client => self.exchanges.front_mut().filter(|open| !open.received),
        }
    }

    pub(super) fn take_id(&mut self) -> StreamId {
        let id = StreamId(self.next_id);
        self.next_id += 1;
        id
    }
}
