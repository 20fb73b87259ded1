//! Exchanges that start on the connection: what the pool dispatched to it.

use super::entry::{Entry, Incoming, Upload};
use super::*;
use trunkline_core::http::Token;

impl<S: AsyncRead + AsyncWrite + Unpin> Connection<S> {
    /// Starts what the pool dispatched.
    pub(super) fn take_arrivals(&mut self, now: Instant) {
        let mut arrivals = std::mem::take(&mut self.arrivals);
        self.door.take(&mut arrivals);
        self.taken += arrivals.len() as u64;
        let is_settled = self.link.machine.is_settled();
        let is_early = self.link.is_early();
        for request in arrivals.drain(..) {
            // RFC 8441 section 3: an extended CONNECT only after the server has said that it takes
            // it. SETTINGS come after the handshake, with which not everything may go out.
            let waits = request.head.protocol().is_some() || is_early && !request.may_be_early();
            match waits && !is_settled {
                true => self.unsettled.push(request),
                false => self.start(now, request),
            }
        }
        self.arrivals = arrivals;
        if is_settled {
            for request in std::mem::take(&mut self.unsettled) {
                self.start(now, request);
            }
        }
    }

    fn start(&mut self, now: Instant, mut request: Box<Outgoing>) {
        let slot = self.slots.vacant();
        if !request.exchange.board(&self.door.signals, slot) {
            return;
        }
        self.check_up(now);
        let (mut upload, mut at_once) = match request.leaves_http {
            // Its body is what is written behind the answer.
            true => (Upload::Done, None),
            false => Upload::of(&request.body),
        };
        let end = matches!(upload, Upload::Done) && at_once.is_none();
        if !end
            && let Some(wait) = self.settings.timeouts.expect
            && request.head.get(Token::EXPECT).is_some()
        {
            (upload, at_once) = (Upload::Held(now + wait), None);
        }
        if request.ends_connection {
            self.link.machine.ask_close();
        }
        let opened = self.link.machine.open(now, &request.head, end);
        let stream = match opened {
            Ok(stream) => stream,
            Err(Misuse::NoCapacity | Misuse::ConnectionClosed) => {
                return self.send_elsewhere(now, request);
            }
            Err(misuse) => return request.fail(Error::misuse(misuse)),
        };
        request.tries += 1;
        if self.link.is_early() {
            request.early = Early::Sent;
        }
        request.wanted.announce(&mut self.link.machine, now, stream);
        let has_listener = request.listener.is_some();
        if let Some(listener) = &mut request.listener {
            request.exchange.open_as(stream);
            listener.started(self.id.number());
        }
        let entry = Entry {
            request,
            has_listener,
            stream,
            serial: self.taken,
            upload,
            body_read: false,
            interim_seen: false,
            incoming: Incoming::Awaited,
            progress_at: now,
        };
        let due = entry.due();
        let serial = self.slots.insert(slot, entry);
        self.watch_silence();
        if let Some(due) = due {
            self.deadlines.push(due, slot, serial);
            let slots = &self.slots;
            self.deadlines.tidy(slots.len(), |slot, serial| {
                slot == HEALTH || slots.get(slot).is_some_and(|entry| entry.serial == serial)
            });
        }
        match at_once {
            Some(bytes) => self.send_whole(now, slot, bytes),
            None => self.pump(now, slot),
        }
    }

    /// A request of which the peer provably processed nothing goes back to the pool.
    pub(super) fn send_elsewhere(&mut self, now: Instant, request: Box<Outgoing>) {
        if !request.exchange.unboard() {
            return;
        }
        match self.dispatch.upgrade() {
            Some(dispatch) => dispatch.resubmit(now, request, self.id),
            None => request.fail(Error::cancelled("the client was dropped")),
        }
    }
}
