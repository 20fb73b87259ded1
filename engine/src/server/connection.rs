//! One connection over a byte stream on one task: its socket, its machine and all its handlers. A turn
//! reads the available bytes, polls the ready handlers, and writes once.

pub(super) mod accept;
mod first_bytes;
mod handshake;
mod linger;
pub(super) mod proxied;
#[cfg(feature = "http3")]
pub(super) mod quic;
mod serving;

use super::exchange::serve::{Exchanging, RawConnection, Serve};
use super::observe::inspect::ConnectionStage;
use super::registry::OpenEntry;
use crate::driver::connection_io::ConnectionIo;
use crate::driver::timer;
use crate::driver::transport::RECORD_BYTES;
use crate::tunnel::upgrade::Upgraded;
use linger::Linger;
use serving::Serving;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Instant;
use tokio::io::{AsyncRead, AsyncWrite};

/// Rounds of one connection in one turn, each of two reads and a write, before others on the thread
/// get theirs.
const ROUNDS_PER_TURN_MAX: u32 = 4;

/// A connection from after its handshake to its end.
pub(super) struct ServedConnection<S: Serve, T> {
    io: ConnectionIo<T>,
    serving: Serving<S>,
    stage: Stage,
}

enum Stage {
    Serving,
    /// The machine is done: TLS and the socket's write side are closed.
    Closing,
    /// Waiting for the peer's end.
    Lingering(Box<(Pin<Box<timer::Sleep>>, Linger)>),
}

impl<S: Serve, T: AsyncRead + AsyncWrite + Unpin> ServedConnection<S, T> {
    /// Serves `io`.
    pub(super) fn new(io: ConnectionIo<T>, serving: Serving<S>) -> Self {
        Self {
            io,
            serving,
            stage: Stage::Serving,
        }
    }
    /// Served to the end: what leaves HTTP goes to its handler. `entry`: its place among the open
    /// connections.
    pub(super) fn leave(mut self, entry: OpenEntry)
    where
        T: Send + 'static,
    {
        let stall = self.io.tunnel_stall();
        // A tunnel is never idle.
        self.serving.activity.set_exchanges(1);
        self.serving.activity.set_stage(ConnectionStage::Tunnel);
        if let Some(left) = self.serving.left.take()
            && let (stream, rest) = *left
            && let Some(transport) = self.io.into_transport()
        {
            self.serving.exchanges.leave(RawConnection {
                stream,
                bytes: Upgraded::new(transport, &rest),
                entry,
                stall,
            });
        }
    }
    /// One turn. `Ready`: the machine is done and all is written.
    fn serve(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let now = Instant::now();
        if self.io.is_alarm_due(now) {
            self.io.poll_alarm(cx);
        }
        for _ in 0..ROUNDS_PER_TURN_MAX {
            self.serving.take_notes(&mut self.io.machine, now);
            if self.serving.is_reset {
                self.io.give_up();
            }
            if self.serving.is_paused(&mut self.io.machine, cx, now) {
                return self.serve_paused(cx, now);
            }
            let mut read = self.io.poll_read(cx, now);
            self.serving.drain_if_due(&mut self.io.machine, now);
            self.handle_events(now);
            if matches!(read, Poll::Ready(true)) {
                // Mostly there is no more, which costs no system call to learn; learnt after the
                // write it would cost a round.
                read = self.io.poll_read(cx, now);
                if matches!(read, Poll::Ready(true)) {
                    self.handle_events(now);
                }
            }
            let written = self.io.poll_write(cx, now);
            // Writing may have made room for bodies that waited.
            let answered = self.handle_events(now);
            if self.io.is_done(now) || (self.serving.left.is_some() && written.is_ready()) {
                return Poll::Ready(());
            }
            if self.io.reads_on(read) || (answered && written.is_ready()) {
                continue;
            }
            let release = self.io.rest(now);
            self.serving.rest(&self.io.machine, now, release);
            let armed = self.io.poll_timer(cx, now).is_pending();
            if armed && self.serving.end_turn(cx.waker()) {
                return Poll::Pending;
            }
        }
        // A peer that always has more to say must not keep its deadlines from passing.
        let _ = self.io.poll_timer(cx, now);
        // More is to be done, but others on this thread wait.
        cx.waker().wake_by_ref();
        Poll::Pending
    }
    /// Waits for the peer's end. `Ready`: the socket is to be closed.
    fn linger(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Self { io, serving, stage } = self;
        let Stage::Lingering(wait) = stage else {
            return Poll::Ready(());
        };
        let (look, linger) = &mut **wait;
        loop {
            let now = Instant::now();
            serving.take_notes(&mut io.machine, now);
            if serving.is_reset {
                io.give_up();
                return Poll::Ready(());
            }
            if serving.draining
                && let Some(wait) = linger.drain()
            {
                *look = Box::pin(timer::sleep(wait));
            }
            if io.poll_discard(cx, &mut linger.came).is_ready() {
                return Poll::Ready(());
            }
            if look.as_mut().poll(cx).is_ready() {
                let is_upload = serving.is_upload_left && !io.machine.is_scarce_to_send();
                match linger.look(now, is_upload) {
                    Some(wait) => *look = Box::pin(timer::sleep(wait)),
                    None => return Poll::Ready(()),
                }
            } else if serving.end_turn(cx.waker()) {
                return Poll::Pending;
            }
        }
    }
    /// Answers the machine's events; true when there were any. Records are sealed as they fill.
    fn handle_events(&mut self, now: Instant) -> bool {
        let (io, serving) = (&mut self.io, &mut self.serving);
        if let Some(error) = io.stream_failure() {
            serving.exchanges.fail(error);
        }
        let mut any = false;
        while serving.handle_events(&mut io.machine, now, RECORD_BYTES) {
            any = true;
            if io.machine.written().len() < RECORD_BYTES {
                // None was left for want of room.
                break;
            }
            io.seal(now);
        }
        any
    }
    /// A turn that reads no input: responses are sent, and no deadline passes.
    fn serve_paused(&mut self, cx: &mut Context<'_>, now: Instant) -> Poll<()> {
        loop {
            self.serving.drain_if_due(&mut self.io.machine, now);
            self.handle_events(now);
            let written = self.io.poll_write(cx, now);
            let answered = self.handle_events(now);
            if self.io.is_done(now) || (self.serving.left.is_some() && written.is_ready()) {
                return Poll::Ready(());
            }
            if answered && written.is_ready() {
                continue;
            }
            self.serving.rest(&self.io.machine, now, false);
            if self.serving.end_turn(cx.waker()) {
                return Poll::Pending;
            }
            self.serving.take_notes(&mut self.io.machine, now);
        }
    }
}

impl<S: Serve, T: AsyncRead + AsyncWrite + Unpin> Future for ServedConnection<S, T> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let connection = &mut *self;
        loop {
            match &mut connection.stage {
                Stage::Serving => {
                    std::task::ready!(connection.serve(cx));
                    if connection.serving.left.is_some() {
                        return Poll::Ready(());
                    }
                    let activity = &connection.serving.activity;
                    activity.set_stage(ConnectionStage::Closing);
                    connection.stage = Stage::Closing;
                }
                Stage::Closing => {
                    // Handlers are gone with their streams; nothing here waits for them.
                    std::task::ready!(connection.io.poll_shutdown(cx, Instant::now()));
                    if connection.io.is_read_closed() {
                        return Poll::Ready(());
                    }
                    let linger = Linger::new(Instant::now(), connection.serving.draining);
                    let look = Box::pin(timer::sleep(linger.first()));
                    connection.stage = Stage::Lingering(Box::new((look, linger)));
                }
                Stage::Lingering(..) => return connection.linger(cx),
            }
        }
    }
}

impl<S: Serve, T> Unpin for ServedConnection<S, T> {}
