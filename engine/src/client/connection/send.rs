//! Moves request bodies into the machine, as fast as it has room for them.

use super::ConnectionTask;
use super::entry::{EntrySlots, ExchangeEntry, Incoming, Upload};
use crate::body::Body;
use crate::body::header_map;
use crate::driver::signals::SlotWaker;
use crate::error::Error;
use bytes::Bytes;
use http_body::Body as _;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite};
use trunkline_core::error::{H2Code, Misuse};
use trunkline_core::http::StreamId;
use trunkline_core::limits::LEFT_TUNNEL_TIME_MAX;

/// The slot number that stands for bodies whose last bytes have not left, among the connection's deadlines, beside that of its health and
/// that of its peer's settings. None below is a slot's.
pub(super) const UNFLUSHED: u32 = u32::MAX - 2;

impl<S: AsyncRead + AsyncWrite + Unpin> ConnectionTask<S> {
    /// Keeps the body of an exchange that is over until its last bytes have left, or its peer has taken none of them for the
    /// time that a response may take.
    pub(super) fn keep_unflushed(&mut self, now: Instant, entry: ExchangeEntry) {
        let patience = entry.request.patience.headers;
        let patience = patience.or(self.settings.timeouts.headers);
        self.keep_for(now, entry, patience.unwrap_or(LEFT_TUNNEL_TIME_MAX));
    }

    fn keep_for(&mut self, now: Instant, entry: ExchangeEntry, patience: Duration) {
        let queued = self.io.machine.queued(entry.stream);
        self.deadlines.push(now + patience, UNFLUSHED, 0);
        self.slots.keep_unflushed(entry, (now, patience), queued);
    }

    /// Whether bytes of the body of an exchange that is over have not left.
    pub(super) fn has_unsent(&mut self, entry: &ExchangeEntry) -> bool {
        match entry.body_read || entry.unsent.is_some() {
            true => self.io.is_sending(entry.stream),
            // One that was given whole is looked for where its peer holds it up.
            false => entry.has_content() && self.io.is_held_back(entry.stream),
        }
    }

    /// A response is about to end: its listener may wait for what is left here of the request's body.
    pub(super) fn await_unsent(&mut self, slot: u32) {
        if let Some(entry) = self.slots.get_mut(slot)
            && entry.has_listener
            && match entry.upload {
                Upload::Done => entry.has_content() && self.io.is_held_back(entry.stream),
                upload => upload.flows(),
            }
        {
            entry.await_unsent();
        }
    }

    /// Drops the bodies whose last bytes have left since. True: the peer is to learn of some that are left.
    pub(super) fn drop_flushed(&mut self, now: Instant) -> bool {
        if self.slots.leaves_bodies {
            return self.leave_bodies(now);
        }
        if self.slots.unflushed.is_empty() {
            return false;
        }
        let (io, deadlines) = (&mut self.io, &mut self.deadlines);
        let mut has_left = false;
        self.slots.unflushed.retain_mut(|body| {
            let is_sending = io.is_sending(body.stream);
            if body.until > now || !is_sending {
                return is_sending;
            }
            let queued = io.machine.queued(body.stream);
            if queued < body.queued {
                (body.queued, body.until) = (queued, now + body.patience);
                deadlines.push(body.until, UNFLUSHED, 0);
                return true;
            }
            // Its stream would count for its peer as long as the connection lives.
            io.machine.reset(now, body.stream, H2Code::CANCEL);
            has_left = true;
            false
        });
        has_left
    }

    /// Sends nothing more of bodies whose responses have ended, and of tunnels that were left, behind what has just been written of them.
    /// True: the peer is to learn of one.
    fn leave_bodies(&mut self, now: Instant) -> bool {
        let has_ended = |slots: &EntrySlots, slot: u32| {
            let entry = slots.get(slot);
            entry.is_some_and(|entry| matches!(entry.incoming, Incoming::Ended))
        };
        let mut is_news = !self.slots.unflushed.is_empty();
        for slot in 0..self.slots.slots() {
            if has_ended(&self.slots, slot) {
                self.cancel(now, slot);
                is_news = true;
            }
        }
        for body in self.slots.unflushed.drain(..) {
            self.io.machine.reset(now, body.stream, H2Code::CANCEL);
        }
        is_news
    }

    /// A body that is all there: the machine holds it by reference until the peer takes it.
    pub(super) fn send_whole(&mut self, now: Instant, slot: u32, bytes: Bytes) {
        let Some(entry) = self.slots.get_mut(slot) else {
            return;
        };
        match self.io.machine.send_body(now, entry.stream, bytes, true) {
            Ok(()) => {}
            // The peer has ended the stream or the connection behind the 100 or the head that let the body go. That
            // end is an event of its own, and it settles the exchange.
            Err(Misuse::StreamNotOpen | Misuse::ConnectionClosed) => {
                entry.upload = Upload::Stopped;
            }
            Err(misuse) => self.fail_upload(now, slot, Error::misuse(misuse)),
        }
    }

    /// Moves a streaming body on until the machine has no room or the body has no bytes.
    pub(super) fn pump(&mut self, now: Instant, slot: u32) {
        if self.slots.get(slot).is_none_or(|e| !e.upload.flows()) {
            return;
        }
        let waker: Waker = SlotWaker::waker(&self.handle.signals, slot);
        let mut cx = Context::from_waker(&waker);
        loop {
            let Some(entry) = self.slots.get_mut(slot) else {
                return;
            };
            if !entry.upload.flows() {
                return;
            }
            if self.io.machine.send_room(entry.stream) == 0 {
                // The peer is what it waits for, and not its source any more.
                if entry.upload == Upload::SourceEmpty {
                    entry.upload = Upload::Streaming;
                }
                return;
            }
            entry.upload = Upload::Streaming;
            let Poll::Ready(frame) = Pin::new(&mut entry.request.body).poll_frame(&mut cx) else {
                entry.upload = Upload::SourceEmpty;
                return;
            };
            entry.progress_at = now;
            entry.body_read = true;
            let (stream, machine) = (entry.stream, &mut self.io.machine);
            let sent = match frame {
                Some(Err(error)) => return self.fail_upload(now, slot, error),
                None => {
                    entry.upload = Upload::Done;
                    machine.send_body(now, stream, Bytes::new(), true)
                }
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => {
                        let end = entry.request.body.is_end_stream();
                        if end {
                            entry.upload = Upload::Done;
                        }
                        machine.send_body(now, stream, data, end)
                    }
                    Err(frame) => {
                        entry.upload = Upload::Done;
                        let trailers = frame.into_trailers().unwrap_or_default();
                        let trailers = header_map::trailers_of(&trailers);
                        machine.send_trailers(now, stream, &trailers)
                    }
                },
            };
            if let Err(misuse) = sent {
                return self.fail_upload(now, slot, Error::misuse(misuse));
            }
            self.finish_if_over(now, slot);
        }
    }

    /// The peer asked for a body that was held back, or has not done so in time.
    pub(super) fn send_deferred(&mut self, now: Instant, slot: u32) {
        let Some(entry) = self.slots.get_mut(slot) else {
            return;
        };
        if !matches!(entry.upload, Upload::Deferred(_)) {
            return;
        }
        let (upload, at_once) = Upload::of(&entry.request.body);
        entry.upload = upload;
        entry.progress_at = now;
        match at_once {
            Some(bytes) => self.send_whole(now, slot, bytes),
            // The head went out with a body to come, which turned out to be empty while it waited.
            None if upload == Upload::Done => self.send_whole(now, slot, Bytes::new()),
            None => self.pump(now, slot),
        }
    }

    /// A final answer came while the body was held back: a success wants it still, anything else
    /// was decided without it (RFC 9110 section 10.1.1), as was one that ends the connection.
    pub(super) fn judge_deferred(&mut self, now: Instant, slot: u32, status: u16) {
        if (200..300).contains(&status) && !self.io.machine.is_closed() {
            return self.send_deferred(now, slot);
        }
        if let Some(entry) = self.slots.get_mut(slot)
            && matches!(entry.upload, Upload::Deferred(_))
        {
            entry.upload = Upload::Declined;
        }
    }

    /// The peer takes no more of the body; its response may still come (RFC 9114 section 4.1). The
    /// source of a body that could not be sent again is dropped, so that its writer gets an error.
    pub(super) fn stop_upload(&mut self, now: Instant, stream: StreamId) {
        let Some(slot) = self.slots.of_stream(stream) else {
            return;
        };
        if let Some(entry) = self.slots.get_mut(slot)
            && entry.upload != Upload::Done
        {
            // The peer's answer is all that is left to wait for: its time begins here, however long the
            // source had no bytes before.
            entry.progress_at = now;
            entry.upload = Upload::Stopped;
            if entry.body_read {
                entry.request.body = Body::empty();
            }
        }
        self.finish_if_over(now, slot);
    }

    /// The user of an exchange is gone. What was written to a tunnel goes to the machine, which ends our side behind it;
    /// nothing more can come from a body that has no bytes now.
    pub(super) fn give_up(&mut self, now: Instant, slot: u32) {
        let is_left =
            |entry: &ExchangeEntry| entry.request.exchange.is_left() && !entry.is_unanswered();
        if !self.slots.get(slot).is_some_and(is_left) {
            return self.cancel(now, slot);
        }
        let Some(mut entry) = self.slots.remove(slot) else {
            return;
        };
        self.gave_up = true;
        let (stream, machine) = (entry.stream, &mut self.io.machine);
        let mut cx = Context::from_waker(Waker::noop());
        while entry.upload.flows()
            && let Poll::Ready(Some(frame)) = Pin::new(&mut entry.request.body).poll_frame(&mut cx)
        {
            let data = frame.map(|frame| frame.into_data().unwrap_or_default());
            let sent = data.map(|data| machine.send_body(now, stream, data, false));
            if !matches!(sent, Ok(Ok(()))) {
                return machine.reset(now, stream, H2Code::CANCEL);
            }
        }
        machine.leave(now, stream);
        if self.io.is_sending(stream) {
            entry.request.body = Body::empty();
            self.keep_for(now, entry, LEFT_TUNNEL_TIME_MAX);
        }
    }

    /// The body failed, or is not what its content-length said. With CANCEL, behind which a stream of node:http2 ends without an error,
    /// a server may take what came for all of it.
    fn fail_upload(&mut self, now: Instant, slot: u32, error: Error) {
        self.hand_over_head(slot);
        if let Some(entry) = self.slots.remove(slot) {
            let code = H2Code::INTERNAL_ERROR;
            self.io.machine.reset(now, entry.stream, code);
            entry.fail(self.id, &self.settings.counts, error);
        }
    }
}
