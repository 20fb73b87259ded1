//! Delivers the machine's response events to the exchanges that wait for them.

use super::super::listener::BodyArrival;
use super::super::settings::KeepAlive;
use super::ConnectionTask;
use super::entry::{ExchangeEntry, Incoming, Upload};
use super::receiver::Receiver;
use super::repeat::MISDIRECTED;
use crate::body::Body;
use crate::client::exchange::compose;
use crate::error::Error;
use bytes::Bytes;
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite};
use trunkline_core::error::{Closed, H2Code};
use trunkline_core::h1;
use trunkline_core::http::{Event, Fields, Reset, ResponseHead, StreamId, Token, Version};
use trunkline_core::pool::{Cause, Protocols};

/// A body up to this size that came whole with its head is handed over whole: no pipe, no notes.
const WHOLE_BYTES_MAX: usize = 16 * 1024;
/// RFC 9110 section 15.2.1.
const CONTINUE: u16 = 100;

impl<S: AsyncRead + AsyncWrite + Unpin> ConnectionTask<S> {
    /// True: bodies that waited for room were moved on.
    pub(super) fn take_events(&mut self, now: Instant) -> bool {
        self.judge_race(now);
        let mut pumped = false;
        while let Some(event) = self.io.machine.poll_event() {
            match event {
                Event::ResponseReceived { stream, head, end } => {
                    self.take_head(now, stream, head, end);
                }
                Event::BodyReceived { stream, data, end } => {
                    self.take_body(now, stream, data, end);
                }
                Event::TrailersReceived { stream, trailers } => {
                    self.take_trailers(now, stream, trailers);
                }
                Event::InterimReceived { stream, head } => self.take_interim(now, stream, head),
                Event::StreamReset { stream, reset } => self.take_reset(now, stream, reset),
                Event::SendReady { stream } => {
                    if let Some(slot) = self.slots.of_stream(stream) {
                        self.pump(now, slot);
                        pumped = true;
                    }
                }
                Event::SendStopped { stream } => self.stop_upload(now, stream),
                Event::GoingAway { .. } => self.draining = true,
                Event::Closed(closed) => self.fail_all(closed),
                Event::Upgraded { stream, rest } => {
                    self.take_upgrade(now, stream, rest);
                    break;
                }
                // The turn's report to the pool includes it.
                Event::CapacityChanged => {}
                Event::PongReceived { .. } => self.note_answer(now),
                Event::RequestReceived { .. }
                | Event::BodyLost { .. }
                | Event::InputEnded
                | Event::RequestRefused { .. }
                | Event::PingReceived { .. }
                | Event::SettingsReceived { .. }
                | Event::OriginsReceived { .. }
                | Event::AltSvcReceived { .. }
                | Event::SettingsAcknowledged { .. } => {}
            }
        }
        pumped
    }

    fn take_head(&mut self, now: Instant, stream: StreamId, head: ResponseHead, end: bool) {
        let Some(slot) = self.slots.of_stream(stream) else {
            return self.io.machine.recycle(head.into_fields());
        };
        self.answered = true;
        self.health.handle_news();
        self.apply_patience(now, &head);
        if self.repeat(now, slot, head.status) {
            return self.io.machine.recycle(head.into_fields());
        }
        self.judge_deferred(now, slot, head.status);
        let Some(entry) = self.slots.get_mut(slot) else {
            return;
        };
        entry.progress_at = now;
        let after = entry.request.age(now);
        self.handle.counts.answered(head.status, after);
        if end {
            entry.incoming = Incoming::Ended;
            self.await_unsent(slot);
            self.complete(slot, head, Bytes::new());
            self.finish_if_over(now, slot);
        } else {
            // It is not sent again, whatever comes.
            entry.request.body.forget();
            entry.incoming = Incoming::Head(head);
            self.heads.push(slot);
        }
    }

    fn take_body(&mut self, now: Instant, stream: StreamId, data: Bytes, end: bool) {
        let bytes = data.len();
        self.health.handle_news();
        let Some(slot) = self.slots.of_stream(stream) else {
            return self.io.machine.consume(now, stream, bytes);
        };
        let Some(entry) = self.slots.get_mut(slot) else {
            return;
        };
        entry.progress_at = now;
        if end {
            self.await_unsent(slot);
        }
        let Some(entry) = self.slots.get_mut(slot) else {
            return;
        };
        // A listener gets the end apart from the head where its request's body flows, which goes on behind it.
        let is_apart = entry.has_listener && entry.upload.flows();
        let is_whole = end && !is_apart && bytes <= WHOLE_BYTES_MAX;
        if is_whole && matches!(entry.incoming, Incoming::Head(_)) {
            let incoming = std::mem::replace(&mut entry.incoming, Incoming::Ended);
            if let Incoming::Head(head) = incoming {
                self.complete(slot, head, data);
            }
            self.io.machine.consume(now, stream, bytes);
            return self.finish_if_over(now, slot);
        }
        self.hand_over_head(slot);
        let Some(entry) = self.slots.get_mut(slot) else {
            return;
        };
        let Incoming::Streaming(receiver) = &mut entry.incoming else {
            return self.io.machine.consume(now, stream, bytes);
        };
        let is_read = receiver.push(data, end);
        if end {
            entry.incoming = Incoming::Ended;
        }
        if !is_read {
            self.io.machine.consume(now, stream, bytes);
        }
        match (is_read, end) {
            (false, false) => self.cancel(now, slot),
            _ => self.finish_if_over(now, slot),
        }
    }

    fn take_trailers(&mut self, now: Instant, stream: StreamId, trailers: Fields) {
        if let Some(slot) = self.slots.of_stream(stream) {
            self.hand_over_head(slot);
            self.await_unsent(slot);
            if let Some(entry) = self.slots.get_mut(slot) {
                let incoming = std::mem::replace(&mut entry.incoming, Incoming::Ended);
                if let Incoming::Streaming(receiver) = incoming {
                    receiver.end(&trailers);
                }
            }
            self.finish_if_over(now, slot);
        }
        self.io.machine.recycle(trailers);
    }

    fn take_interim(&mut self, now: Instant, stream: StreamId, head: ResponseHead) {
        let slot = self.slots.of_stream(stream);
        if let Some(slot) = slot.filter(|_| head.status == CONTINUE) {
            self.send_deferred(now, slot);
        }
        let version = self.io.machine.version();
        if let Some(entry) = slot.and_then(|slot| self.slots.get_mut(slot)) {
            entry.progress_at = now;
            entry.interim_seen = true;
            if let Some(listener) = &mut entry.request.listener {
                listener.interim(&head, version);
            } else if let Some(call) = &entry.request.on_interim {
                let (response, fields) = compose::response(head, version, ());
                call(response);
                return self.io.machine.recycle(fields);
            }
        }
        self.io.machine.recycle(head.into_fields());
    }

    fn take_reset(&mut self, now: Instant, stream: StreamId, reset: Reset) {
        let Some(slot) = self.slots.of_stream(stream) else {
            return;
        };
        // A head that came is the user's, whatever follows it in the same turn.
        self.hand_over_head(slot);
        let Some(entry) = self.slots.remove(slot) else {
            return;
        };
        self.count_early(&entry, &reset);
        // Its own slot is free again by now.
        let cause = match self.io.is_early() {
            // The handshake was never answered, so the server has not processed the requests sent
            // with it.
            true => Cause::TooEarly,
            false => Cause::of(&reset, self.answered, self.io.machine.capacity() > 0),
        };
        let loss = self.loss(&entry, cause);
        let mut error = self.with_failure(Error::reset(reset));
        if matches!(entry.incoming, Incoming::Streaming(_)) {
            // A peer that has answered did process the request, whatever its code says.
            error = error.with_processing_possible();
        }
        self.give_back(now, entry, loss, error);
    }

    /// Fails the exchanges that are still open after the machine has reported the end of each
    /// stream.
    fn fail_all(&mut self, closed: Closed) {
        self.draining = true;
        self.ended.get_or_insert(closed);
        for unsettled in std::mem::take(&mut self.unsettled) {
            if let Some(request) = unsettled.go() {
                self.send_elsewhere(Instant::now(), request);
            }
        }
        for slot in 0..self.slots.slots() {
            self.hand_over_head(slot);
            if let Some(entry) = self.slots.remove(slot) {
                let error = self.with_failure(Error::closed(closed));
                entry.fail(self.id, &self.settings.counts, error);
            }
        }
    }

    /// Hands over the heads whose bodies did not come whole in this turn.
    pub(super) fn hand_over_heads(&mut self) {
        while let Some(slot) = self.heads.pop() {
            self.hand_over_head(slot);
        }
    }

    pub(super) fn hand_over_head(&mut self, slot: u32) {
        let Some(entry) = self.slots.get_mut(slot) else {
            return;
        };
        if !matches!(entry.incoming, Incoming::Head(_)) {
            return;
        }
        let Incoming::Head(head) = std::mem::replace(&mut entry.incoming, Incoming::Awaited) else {
            return;
        };
        if let Some(mut listener) = entry.request.listener.take() {
            let version = self.io.machine.version();
            listener.response(&head, version, BodyArrival::Streaming);
            self.start_streaming(slot, Receiver::listener(listener));
            return self.recycle_answered(slot, head);
        }
        let length = head.content_length();
        let (inlet, body) = Body::incoming(&self.handle.signals, entry.stream, length);
        self.start_streaming(slot, Receiver::Pipe(inlet));
        self.complete_future(slot, head, body);
    }

    fn start_streaming(&mut self, slot: u32, receiver: Receiver) {
        if let Some(entry) = self.slots.get_mut(slot) {
            entry.incoming = Incoming::Streaming(receiver);
            // The phase changed, and with it the deadline. One of the headers' phase that is no later
            // is there already, and is put off when it comes.
            let (due, serial, patience) = (entry.due(), entry.serial, entry.request.patience);
            let is_sooner = |body| patience.headers.is_none_or(|headers| body < headers);
            if let Some(due) = due
                && patience.body.is_some_and(is_sooner)
            {
                self.deadlines.push(due, slot, serial);
            }
        }
    }

    /// A response that came whole.
    fn complete(&mut self, slot: u32, head: ResponseHead, body: Bytes) {
        let listener = self.slots.get_mut(slot);
        let listener = listener.and_then(|entry| entry.request.listener.take());
        if let Some(mut listener) = listener {
            let version = self.io.machine.version();
            listener.response(&head, version, BodyArrival::Whole(body));
            return self.recycle_answered(slot, head);
        }
        self.complete_future(slot, head, Body::full(body));
    }

    fn recycle_answered(&mut self, slot: u32, head: ResponseHead) {
        self.apply_alternative(slot, &head);
        self.io.machine.recycle(head.into_fields());
    }

    fn complete_future(&mut self, slot: u32, head: ResponseHead, body: Body) {
        self.has_completed = true;
        self.apply_alternative(slot, &head);
        let datagrams = self.datagrams_of_answer(slot, head.status);
        let version = self.io.machine.version();
        let (mut response, fields) = compose::response(head, version, body);
        if let Some(entry) = self.slots.get_mut(slot) {
            if self.settings.connection_info {
                let used = self.used.after(entry.serial.saturating_sub(1));
                response.extensions_mut().insert(used);
            }
            if let Some(datagrams) = datagrams {
                response.extensions_mut().insert(datagrams);
            }
            entry.request.exchange.complete(Ok(response));
            entry.request.is_settled = true;
        }
        self.io.machine.recycle(fields);
    }

    /// Subtracts bytes that a listener has taken from its exchange's unread bytes.
    pub(super) fn note_taken(&mut self, stream: StreamId, bytes: usize) {
        let slot = self.slots.of_stream(stream);
        if let Some(entry) = slot.and_then(|slot| self.slots.get_mut(slot))
            && let Incoming::Streaming(Receiver::Listener { unread, .. }) = &mut entry.incoming
        {
            *unread = unread.saturating_sub(bytes);
        }
    }

    /// An origin that says for the first time that it serves HTTP/3 gets no new requests here: the
    /// next attempt tries it.
    fn apply_alternative(&mut self, slot: u32, head: &ResponseHead) {
        // RFC 7838 section 6: a 421 says nothing of alternatives.
        if self.settings.protocols != Protocols::All || head.status == MISDIRECTED {
            return;
        }
        let Some(value) = head.get(Token::ALT_SVC) else {
            return;
        };
        let Some(entry) = self.slots.get(slot) else {
            return;
        };
        let now = Instant::now();
        let origin = &entry.request.origin;
        let is_change = self.settings.alternatives().learn(now, origin, value);
        if is_change && self.io.machine.version() != Version::Http3 {
            self.draining = true;
            self.io.machine.shut_down(now);
        }
    }

    /// Applies an HTTP/1.1 peer's `keep-alive` timeout when it has changed.
    fn apply_patience(&mut self, now: Instant, head: &ResponseHead) {
        if self.io.machine.version() != Version::Http11 {
            return;
        }
        let value = h1::keep_alive_seconds(head.fields());
        if value.is_none() || value == self.keep_alive_seconds {
            return;
        }
        self.keep_alive_seconds = value;
        if let (Some(dispatch), Some(seconds)) = (self.dispatch.upgrade(), value) {
            let KeepAlive { max, margin } = self.settings.keep_alive;
            let patience = Duration::from_secs(seconds.into());
            let idle = patience.saturating_sub(margin).min(max);
            dispatch.note_peer_patience(now, self.id, idle);
        }
    }

    pub(super) fn finish_if_over(&mut self, now: Instant, slot: u32) {
        if !self.slots.get(slot).is_some_and(ExchangeEntry::is_over) {
            return;
        }
        let Some(entry) = self.slots.remove(slot) else {
            return;
        };
        self.handle.counts.ended(entry.request.age(now));
        if entry.upload == Upload::Declined {
            // HTTP/1.1 has no other way to leave a body out that its head announced.
            self.io.machine.reset(now, entry.stream, H2Code::CANCEL);
        } else if self.has_unsent(&entry) {
            self.keep_unflushed(now, entry);
        }
    }
}
