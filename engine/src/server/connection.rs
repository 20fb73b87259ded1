//! One connection on one task: its socket, its machine and all its handlers. A turn reads what is
//! there, runs what became ready, and writes once.

use super::exchange::Exchanges;
use super::metrics::{Counters, add};
use super::service::HttpService;
use crate::driver::link::Link;
use crate::driver::machine::Machine;
use crate::driver::signals::{Notes, Signals, Stop};
use crate::upgrade::Upgraded;
use bytes::Bytes;
use std::cell::Cell;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite};
use trunkline_core::error::H2Code;
use trunkline_core::http::{Event, StreamId};

/// Reads of one connection in one turn, before others on the thread get theirs.
const READS_PER_TURN_MAX: u32 = 8;
/// How long a closed connection waits for the peer to close too: long enough for our last words
/// to arrive, short enough to hold nothing.
const LINGER: Duration = Duration::from_secs(2);
/// The same while the server drains and someone waits for it.
const LINGER_DRAINING: Duration = Duration::from_millis(250);

/// A connection from after its handshake to its end.
pub(super) struct Connection<S: HttpService, T> {
    link: Link<T>,
    exchanges: Exchanges<S>,
    signals: Arc<Signals>,
    notes: Notes,
    counters: Arc<Counters>,
    /// Exchanges open, for whoever drains the server.
    open: Rc<Cell<u64>>,
    stage: Stage,
    /// The connection left HTTP with this exchange; the bytes came behind it.
    left: Option<(StreamId, Bytes)>,
    draining: bool,
}

enum Stage {
    Serving,
    /// The machine is done: TLS and the socket's write side are closed.
    Closing,
    /// Waiting for the peer's end.
    Lingering(Pin<Box<tokio::time::Sleep>>),
}

impl<S: HttpService, T: AsyncRead + AsyncWrite + Unpin> Connection<S, T> {
    /// Serves `link` with `exchanges`; `signals` are those of `exchanges`.
    pub(super) fn new(
        link: Link<T>,
        exchanges: Exchanges<S>,
        signals: Arc<Signals>,
        counters: Arc<Counters>,
        open: Rc<Cell<u64>>,
    ) -> Self {
        Self {
            link,
            exchanges,
            signals,
            notes: Notes::default(),
            counters,
            open,
            stage: Stage::Serving,
            left: None,
            draining: false,
        }
    }
    /// Serves to the end; what leaves HTTP goes to its handler.
    pub(super) async fn run(mut self: Box<Self>)
    where
        T: Send + 'static,
    {
        (&mut *self).await;
        self.leave();
    }
    fn leave(mut self: Box<Self>)
    where
        T: Send + 'static,
    {
        if let Some((stream, rest)) = self.left.take()
            && let Some(taker) = self.exchanges.take_upgrade(stream)
        {
            // A handler that did not wait for it lets the connection close.
            let _ = taker.send(Upgraded::new(self.link.into_transport(), &rest));
        }
    }
    /// One turn. `Ready`: the machine is done and all is written.
    fn serve(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let now = Instant::now();
        self.link.poll_alarm(cx);
        for _ in 0..READS_PER_TURN_MAX {
            self.take_notes(now);
            let read = self.link.poll_read(cx, now);
            let expired = self.link.expire_due(now);
            self.handle_events(now);
            let written = self.link.poll_write(cx, now);
            // Writing may have made room for bodies that waited.
            let answered = self.handle_events(now);
            if self.link.is_done(now) || (self.left.is_some() && written.is_ready()) {
                return Poll::Ready(());
            }
            if matches!(read, Poll::Ready(true)) || expired || (answered && written.is_ready()) {
                continue;
            }
            self.rest(now);
            let armed = self.link.poll_timer(cx, now).is_pending();
            if armed && self.signals.end_turn(cx.waker()) {
                return Poll::Pending;
            }
        }
        // More is to be done, but others on this thread wait.
        cx.waker().wake_by_ref();
        Poll::Pending
    }
    /// Carries out what others noted.
    fn take_notes(&mut self, now: Instant) {
        self.notes.clear();
        self.signals.begin_turn(&mut self.notes);
        let machine = &mut self.link.machine;
        for (stream, bytes) in self.notes.taken.drain(..) {
            machine.consume(now, stream, bytes);
        }
        let stop = self.notes.stop.take();
        match stop {
            None => {}
            Some(Stop::Drain) => machine.shut_down(now),
            Some(Stop::Abort) => machine.abort(now, H2Code::CANCEL),
        }
        self.draining |= stop.is_some();
        for slot in self.notes.ready.drain(..) {
            self.exchanges.resume(machine, now, slot);
        }
    }
    /// Answers the machine's events; true when there were any.
    fn handle_events(&mut self, now: Instant) -> bool {
        let (mut any, mut requests, mut resets) = (false, 0, 0);
        let machine = &mut self.link.machine;
        let exchanges = &mut self.exchanges;
        while let Some(event) = machine.poll_event() {
            any = true;
            match event {
                Event::RequestReceived { stream, head, end } => {
                    requests += 1;
                    exchanges.start(machine, now, stream, head, end);
                }
                Event::BodyReceived { stream, data, end } => {
                    exchanges.receive(machine, now, stream, data, end);
                }
                Event::TrailersReceived { stream, trailers } => {
                    exchanges.receive_trailers(stream, &trailers);
                    machine.recycle(trailers);
                }
                Event::SendReady { stream } => exchanges.resume_stream(machine, now, stream),
                Event::StreamReset { stream, reset } => {
                    resets += 1;
                    exchanges.cancel(machine, stream, reset);
                }
                Event::Upgraded { stream, rest } => self.left = Some((stream, rest)),
                Event::Closed(closed) => self.counters.closed(closed),
                // A client's facts, or of no consequence here.
                Event::InterimReceived { .. }
                | Event::ResponseReceived { .. }
                | Event::CapacityChanged
                | Event::GoingAway { .. }
                | Event::PongReceived => {}
            }
        }
        if any {
            self.count(requests, resets);
        }
        any
    }
    fn count(&self, requests: u64, resets: u64) {
        if requests > 0 {
            let counter = match self.link.machine {
                Machine::H1(_) => &self.counters.requests_h1,
                Machine::H2(_) => &self.counters.requests_h2,
            };
            add(counter, requests);
        }
        if resets > 0 {
            add(&self.counters.resets, resets);
        }
        self.open.set(self.exchanges.len() as u64);
    }
    /// Before the task sleeps.
    fn rest(&mut self, now: Instant) {
        self.open.set(self.exchanges.len() as u64);
        if self.link.rest(now) {
            self.exchanges.release();
        }
    }
}

impl<S: HttpService, T: AsyncRead + AsyncWrite + Unpin> Future for Connection<S, T> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let connection = &mut *self;
        loop {
            match &mut connection.stage {
                Stage::Serving => {
                    std::task::ready!(connection.serve(cx));
                    if connection.left.is_some() {
                        return Poll::Ready(());
                    }
                    connection.stage = Stage::Closing;
                }
                Stage::Closing => {
                    // Handlers are gone with their streams; nothing here waits for them.
                    std::task::ready!(connection.link.poll_shutdown(cx));
                    if connection.link.is_read_closed() {
                        return Poll::Ready(());
                    }
                    let linger = if connection.draining {
                        LINGER_DRAINING
                    } else {
                        LINGER
                    };
                    connection.stage = Stage::Lingering(Box::pin(tokio::time::sleep(linger)));
                }
                Stage::Lingering(until) => {
                    if until.as_mut().poll(cx).is_ready() {
                        return Poll::Ready(());
                    }
                    return connection.link.poll_discard(cx);
                }
            }
        }
    }
}

impl<S: HttpService, T> Unpin for Connection<S, T> {}
