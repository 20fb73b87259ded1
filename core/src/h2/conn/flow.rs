//! Windows: DATA uses them, consumption refunds them, and the peer's WINDOW_UPDATE raises ours.
//! [`Credit`](crate::credit::Credit) and [`Quota`](crate::credit::Quota) keep all sums.

mod inspect;

use super::{Conn, Life, Timer};
use crate::abuse::BodyFrames;
use crate::credit::{Credit, Readback, WINDOW_MAX};
use crate::error::{H2Code, Misuse, Violation};
use crate::exchange::{Framing, MessageInput, UNWANTED_WAIT};
use crate::h2::frame::{DataLayout, FrameHeader, WindowUpdate, flag};
use crate::h2::settings::initial_window;
use crate::h2::stream::{Incoming, Stream};
use crate::h2::stream_state::{ClosedHow, StreamInput, step};
use crate::http::StreamId;
use crate::limits::WINDOW_BEHIND_HEAD_BYTES;
use std::time::Instant;

impl Conn {
    // DATA in.

    /// Books a DATA frame whose layout is known (CVE-2019-9518, RUSTSEC-2026-0258).
    pub(super) fn note_data(
        &mut self,
        now: Instant,
        header: FrameHeader,
        layout: DataLayout,
    ) -> Result<(), Violation> {
        let end = DataLayout::ends_stream(header);
        let mut of_nobody = BodyFrames::default();
        let incoming = self.streams.get_mut(header.stream);
        let of_body = match incoming.and_then(Stream::incoming) {
            Some(incoming) => &mut incoming.frames,
            None => &mut of_nobody,
        };
        let abuse = self.session.abuse_mut();
        let verdict = abuse.data_received(of_body, layout.body_len, end, now);
        abuse.data_discarded(&mut of_nobody);
        self.judge(now, verdict)
    }

    /// Counts a DATA frame against both windows before its payload comes. True: the stream takes
    /// the body. False: the bytes are to be discarded. `Err` ends the connection.
    pub(super) fn admit_data(
        &mut self,
        now: Instant,
        header: FrameHeader,
    ) -> Result<bool, Violation> {
        let (id, len, end) = (header.stream, header.len, header.has(flag::END_STREAM));
        // RFC 9113 section 6.9: on any stream, closed ones too.
        self.credit(now)
            .spend(len, now)
            .map_err(|_| Violation::ConnectionCreditExceeded)?;
        let Some(stream) = self.streams.get_mut(id) else {
            let is_late = self.ids.closed(id) == Some(ClosedHow::ResetByUs);
            if !(is_late && self.session.abuse_mut().takes_late_data(len)) {
                self.frame_on_closed(now, id, StreamInput::RecvData { end })?;
            }
            return Ok(false);
        };
        let side = self.session.side();
        let mut admitted = step(stream.state, StreamInput::RecvData { end }).and_then(|_| {
            let received = &stream.received;
            received.takes(MessageInput::Data, side, Self::OUT_OF_ORDER)
        });
        if admitted.is_ok()
            && let Some(incoming) = &mut stream.incoming
            && incoming.credit.spend(len, now).is_err()
        {
            admitted = Err(Violation::CreditExceeded);
        }
        if let Err(violation) = admitted {
            self.break_stream(now, id, violation)?;
            return Ok(false);
        }
        Ok(true)
    }

    /// Body bytes of a stream; false when it does not take them any more.
    pub(super) fn receive_body(&mut self, now: Instant, id: u32, body: &[u8]) -> bool {
        let len = body.len() as u32;
        let Some(stream) = self.streams.get_mut(id) else {
            return false;
        };
        let Some(incoming) = &mut stream.incoming else {
            return false;
        };
        incoming.min_rate.receive(now);
        if let Err(violation) = stream.received.take_content(u64::from(len)) {
            if let Err(violation) = self.break_stream(now, id, violation) {
                self.fail(now, violation);
            }
            return false;
        }
        self.session.totals_mut().body_bytes_received += u64::from(len);
        self.reset_slots.handle_progress();
        self.session.push_body(StreamId(u64::from(id)), body);
        true
    }

    /// The response at `key` may be complete and the reader of its request gone: the end of that is due.
    pub(super) fn watch_unwanted(&mut self, now: Instant, key: u32) {
        let carried = self.session.totals().body_bytes_received;
        if let Some((_, stream)) = self.streams.by_key_mut(key)
            && stream.is_unwanted()
            && let Some(incoming) = &mut stream.incoming
        {
            incoming.min_rate.restart(now, carried);
            self.watch_streams(now, Some(UNWANTED_WAIT));
        }
    }

    /// A body continues behind a complete response, which ends its reader, or its end is late: the peer is asked to
    /// stop without an error (RFC 9113 section 8.1). A body whose end comes with its first frame is
    /// not worth a reset. False: the body is wanted.
    pub(super) fn decline_body(&mut self, now: Instant, id: u32) -> bool {
        let declined = self.streams.get_mut(id).is_some_and(|it| it.is_unwanted());
        if declined {
            self.reset(now, StreamId(u64::from(id)), H2Code::NO_ERROR);
        }
        declined
    }

    /// END_STREAM on DATA.
    pub(super) fn receive_end(&mut self, now: Instant, id: u32) {
        let Some(stream) = self.streams.get_mut(id) else {
            return;
        };
        if let Err(violation) = stream.received.take_end() {
            if let Err(violation) = self.break_stream(now, id, violation) {
                self.fail(now, violation);
            }
            return;
        }
        self.session.end_body(StreamId(u64::from(id)));
        self.peer_ended(now, id, StreamInput::RecvData { end: true });
    }

    /// Discards bytes without a reader: padding, or DATA for a stream that is gone. They return to
    /// the connection's window at once, and to the stream's if it is open.
    pub(super) fn discard(&mut self, now: Instant, id: u32, bytes: u32) {
        self.refund(bytes);
        if let Some(incoming) = self.incoming(id) {
            incoming.credit.discard(bytes);
            self.grant_stream(now, id);
        }
    }

    fn incoming(&mut self, id: u32) -> Option<&mut Incoming> {
        self.streams.get_mut(id)?.incoming()
    }

    // Our grant to the peer.

    /// The user took `bytes` of the body: the peer gets room for as many.
    pub fn consume(&mut self, now: Instant, stream: StreamId, bytes: usize) {
        // The bytes of a stream that is closed went back to the connection with it.
        let Ok(id) = self.live_id(stream) else {
            return;
        };
        let incoming = self.streams.get_mut(id).and_then(Stream::incoming);
        let Some(incoming) = incoming else {
            return;
        };
        let is_first = !std::mem::replace(&mut incoming.is_read, true);
        let unread = incoming.credit.unread();
        let bytes = unread.min(bytes as u64);
        let abuse = self.session.abuse_mut();
        abuse.data_consumed(&mut incoming.frames, bytes, unread);
        incoming.credit.refund(bytes as u32);
        if incoming.credit.unread() == 0 {
            incoming.min_rate.take(now);
        }
        self.refund(bytes as u32);
        if is_first && self.session.is_server() {
            self.raise_read(now, id);
        }
        self.grant_stream(now, id);
        self.grant_connection(now);
    }

    /// Returns body bytes to the connection's window.
    pub(super) fn refund(&mut self, bytes: u32) {
        self.window.refund(bytes);
    }

    fn credit(&mut self, now: Instant) -> &mut Credit {
        self.window.credit(&self.session.config().windows, now)
    }

    pub(super) fn grant_stream(&mut self, now: Instant, id: u32) {
        let writing = !self.outbox.is_empty();
        let Some(stream) = self.streams.get_mut(id) else {
            return;
        };
        if !stream.state.can_recv() {
            // Nothing more comes: a WINDOW_UPDATE would be waste.
            return;
        }
        let Some(incoming) = &mut stream.incoming else {
            return;
        };
        let grant = incoming.credit.grant(
            now,
            self.session.round_trip(),
            writing,
            self.session.receive_budget(),
        );
        let sample = incoming.credit.rtt_sample();
        if let Some(at) = incoming.credit.next_deadline() {
            self.timers.set_earlier(Timer::Windows, at);
        }
        if let Some(increment) = grant {
            self.session.path_mut().note(now, incoming.credit.demand());
            self.send_window_update(WindowUpdate {
                stream: id,
                increment,
            });
        }
        self.note_round_trip(sample);
    }

    /// Grants credit that was withheld for long, and reclaims unused reservations: the one place
    /// where the open streams are scanned for their windows, once in a while.
    pub(super) fn expire_windows(&mut self, now: Instant) {
        for id in self.streams.ids() {
            self.grant_stream(now, id);
        }
        self.grant_connection(now);
    }

    pub(super) fn grant_connection(&mut self, now: Instant) {
        let writing = !self.outbox.is_empty();
        let rtt = self.session.round_trip();
        let budget = self.session.receive_budget();
        let (grant, sample) = self.window.grant(now, rtt, writing, budget);
        if let Some(increment) = grant {
            self.send_window_update(WindowUpdate {
                stream: 0,
                increment,
            });
        }
        self.note_round_trip(sample);
    }

    /// Opens the window of a stream that begins where the initial one is 0; returns what to announce behind the head.
    pub(super) fn open_window(&self, now: Instant, incoming: &mut Incoming) -> Option<u32> {
        if initial_window(self.session.config()) > 0 {
            return None;
        }
        // Only a window that shrinks is refused.
        let _ = incoming.credit.set_window(WINDOW_BEHIND_HEAD_BYTES);
        incoming.credit.announce(now)
    }

    /// Raises the window of a stream that begins to what the path has shown to need, shared with
    /// the streams that are open; returns what to announce behind the head, in the same write. A
    /// client's: it waits for the answer. A server's window is raised when its handler begins to read.
    pub(super) fn raise_fresh(&mut self, now: Instant, incoming: &mut Incoming) -> Option<u32> {
        let opened = self.open_window(now, incoming);
        let Some(window) = self.share_of_need(now, self.streams.len() + 1) else {
            return opened;
        };
        incoming
            .credit
            .raise_to(window, self.session.receive_budget());
        let raised = incoming.credit.announce(now);
        opened.map_or(raised, |first| Some(first + raised.unwrap_or(0)))
    }

    /// Server: a handler has read of a body for the first time. Its first flight came with the head,
    /// so that nothing is lost by waiting for this; a body that is not read keeps the initial window.
    fn raise_read(&mut self, now: Instant, id: u32) {
        let Some(window) = self.share_of_need(now, self.streams.len()) else {
            return;
        };
        if let Some(incoming) = self.streams.get_mut(id).and_then(Stream::incoming) {
            incoming
                .credit
                .raise_to(window, self.session.receive_budget());
            self.announce_stream(now, id);
        }
    }

    /// The window that one of `streams` begins with on a path whose need is known.
    fn share_of_need(&self, now: Instant, streams: u32) -> Option<u32> {
        let need = self.session.path().need(now);
        let is_raised = self.session.config().windows.auto
            && need > self.session.config().windows.stream_initial;
        is_raised.then(|| (need / streams.max(1)).min(self.raise_max()))
    }

    /// Sets the expected size of the body to come (0: unknown), before its head arrives: its window
    /// is raised, as far as the memory budget allows.
    pub fn expect_body(&mut self, now: Instant, stream: StreamId, bytes: u64) {
        let Ok(id) = self.live_id(stream) else {
            return;
        };
        let raise_max = self.raise_max();
        let Some(incoming) = self.streams.get_mut(id).and_then(Stream::incoming) else {
            return;
        };
        let window = u32::try_from(bytes).unwrap_or(u32::MAX).min(raise_max);
        incoming
            .credit
            .raise_to(window, self.session.receive_budget());
        self.announce_stream(now, id);
    }

    /// The largest window on a guess: a quarter of what the shared budget has left. What is granted cannot
    /// be taken back, and streams that then receive nothing must not leave the others without.
    fn raise_max(&self) -> u32 {
        let quarter = self.session.receive_budget_quarter();
        let initial = self.session.config().windows.stream_initial;
        quarter.saturating_add(initial).min(WINDOW_MAX)
    }

    /// Sets a receive window, of a stream or (`None`) of the connection, in bytes: how much the
    /// peer may send that the application has not taken. It only grows, and goes on tuning itself
    /// from there. The memory is the caller's word, beside the memory budget.
    ///
    /// # Errors
    /// [`Misuse::WindowInvalid`] when `window` is smaller than the window is now, or not in
    /// 1..=2^31-1; then nothing changes. [`Misuse::StreamNotOpen`] when the stream is over.
    pub fn set_receive_window(
        &mut self,
        now: Instant,
        stream: Option<StreamId>,
        window: u32,
    ) -> Result<(), Misuse> {
        let Some(stream) = stream else {
            if self.life == Life::Closed {
                return Err(Misuse::ConnectionClosed);
            }
            let credit = self.credit(now);
            credit.set_window(window).map_err(Misuse::WindowInvalid)?;
            if let Some(increment) = credit.announce(now) {
                let stream = 0;
                self.send_window_update(WindowUpdate { stream, increment });
            }
            return Ok(());
        };
        let id = self.live_id(stream)?;
        let stream = self.streams.get_mut(id).and_then(Stream::incoming);
        let incoming = stream.ok_or(Misuse::StreamNotOpen)?;
        let set = incoming.credit.set_window(window);
        set.map_err(Misuse::WindowInvalid)?;
        self.announce_stream(now, id);
        Ok(())
    }

    /// Sets the connection's receive window, up or down: what was granted stays granted, and a
    /// smaller window is reached by withholding. From 1 to 2^31-1 bytes.
    ///
    /// # Errors
    /// As [`set_receive_window`](Self::set_receive_window); a smaller window is none.
    pub fn move_connection_window(&mut self, now: Instant, window: u32) -> Result<(), Misuse> {
        let before = self.connection_window().window;
        if self.life != Life::Closed && (1..before).contains(&window) {
            self.credit(now).shrink_to(window);
            return Ok(());
        }
        self.set_receive_window(now, None, window)
    }

    fn announce_stream(&mut self, now: Instant, id: u32) {
        let Some(stream) = self.streams.get_mut(id) else {
            return;
        };
        if !stream.state.can_recv() {
            return;
        }
        let granted = stream.incoming().and_then(|it| it.credit.announce(now));
        if let Some(increment) = granted {
            let stream = id;
            self.send_window_update(WindowUpdate { stream, increment });
        }
    }

    pub(super) fn send_window_update(&mut self, update: WindowUpdate) {
        self.window.note_update_sent();
        update.write(self.outbox.buffer());
    }

    // The peer's grant to us.

    pub(super) fn take_window_update(
        &mut self,
        now: Instant,
        header: FrameHeader,
        payload: &[u8],
    ) -> Result<(), Violation> {
        let verdict = self.session.abuse_mut().window_update();
        self.judge(now, verdict)?;
        let update = match WindowUpdate::parse(header, payload) {
            Ok(update) => update,
            Err(violation) if self.streams.get(header.stream).is_some() => {
                return self.break_stream(now, header.stream, violation);
            }
            Err(Violation::WindowIncrementZero) => {
                return self.frame_on_closed(now, header.stream, StreamInput::RecvWindowUpdate);
            }
            Err(violation) => return Err(violation),
        };
        if update.stream == 0 {
            return self.window.raise(update.increment);
        }
        let Some(stream) = self.streams.get_mut(update.stream) else {
            return self.frame_on_closed(now, update.stream, StreamInput::RecvWindowUpdate);
        };
        if stream.quota.grant(update.increment).is_err() {
            return self.break_stream(now, update.stream, Violation::WindowOverflow);
        }
        self.schedule_stream(update.stream);
        self.note_stream_room(update.stream);
        Ok(())
    }

    /// The window of a stream grew: more may wait on it.
    pub(super) fn note_stream_room(&mut self, id: u32) {
        if let Some(key) = self.streams.key(id) {
            self.note_room(key);
        }
    }

    // Read access.

    /// A receive window, of a stream or (`None`) of the connection; `None` when the stream is over.
    pub fn receive_window(&self, stream: Option<StreamId>) -> Option<Readback> {
        match stream {
            Some(stream) => self.stream_window(stream),
            None => Some(self.connection_window()),
        }
    }
    /// The connection's receive window.
    pub fn connection_window(&self) -> Readback {
        let windows = &self.session.config().windows;
        self.window
            .readback(windows, self.unacknowledged.started_at())
    }
    /// A stream's receive window, while it is open.
    pub fn stream_window(&self, stream: StreamId) -> Option<Readback> {
        let stream = self.streams.get(self.live_id(stream).ok()?)?;
        let incoming = stream.incoming.as_ref()?;
        Some(incoming.credit.readback())
    }
    /// Bytes the peer lets us send on the connection now.
    pub fn connection_quota(&self) -> u32 {
        self.window.sendable()
    }
}
