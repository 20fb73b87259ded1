//! One TCP or Unix connection on one task: its socket, its machine and all its handlers. A turn
//! reads the available bytes, polls the ready handlers, and writes once.

use super::open::OpenEntry;
use super::serve::{Exchanging, Left, Serve};
use super::serving::Serving;
use crate::driver::link::Link;
use crate::driver::transport::RECORD_BYTES;
use crate::upgrade::Upgraded;
use std::any::Any;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

/// Rounds of one connection in one turn, each of two reads and a write, before others on the thread
/// get theirs.
const ROUNDS_PER_TURN_MAX: u32 = 4;
/// How long a closed connection waits for the peer to close too: long enough for our last words
/// to arrive, short enough to hold nothing.
pub(super) const LINGER: Duration = Duration::from_secs(2);
/// As `LINGER`, while the server drains.
const LINGER_DRAINING: Duration = Duration::from_millis(250);

/// A connection from after its handshake to its end.
pub(super) struct Connection<S: Serve, T> {
    link: Link<T>,
    serving: Serving<S>,
    stage: Stage,
}

enum Stage {
    Serving,
    /// The machine is done: TLS and the socket's write side are closed.
    Closing,
    /// Waiting for the peer's end.
    Lingering(Pin<Box<tokio::time::Sleep>>),
}

impl<S: Serve, T: AsyncRead + AsyncWrite + Unpin> Connection<S, T> {
    /// Serves `link`.
    pub(super) fn new(link: Link<T>, serving: Serving<S>) -> Self {
        Self {
            link,
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
        let write_stall = self.link.write_stall();
        // A tunnel is never idle.
        self.serving.activity.exchanges.set(1);
        if let Some(left) = self.serving.left.take()
            && let (stream, rest) = *left
            && let Some(transport) = self.link.into_transport()
        {
            self.serving.exchanges.leave(Left {
                stream,
                bytes: Upgraded::new(transport, &rest),
                entry,
                write_stall,
            });
        }
    }
    /// One turn. `Ready`: the machine is done and all is written.
    fn serve(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let now = Instant::now();
        if self.link.is_alarm_due(now) {
            self.link.poll_alarm(cx);
        }
        for _ in 0..ROUNDS_PER_TURN_MAX {
            self.serving.take_notes(&mut self.link.machine, now);
            if self.serving.is_paused(&mut self.link.machine, cx, now) {
                return self.speak(cx, now);
            }
            let mut read = self.link.poll_read(cx, now);
            self.handle_events(now);
            if matches!(read, Poll::Ready(true)) {
                // Mostly there is no more, which costs no system call to learn; learnt after the
                // write it would cost a round.
                read = self.link.poll_read(cx, now);
                if matches!(read, Poll::Ready(true)) {
                    self.handle_events(now);
                }
            }
            let written = self.link.poll_write(cx, now);
            // Writing may have made room for bodies that waited.
            let answered = self.handle_events(now);
            if self.link.is_done(now) || (self.serving.left.is_some() && written.is_ready()) {
                return Poll::Ready(());
            }
            if matches!(read, Poll::Ready(true)) || (answered && written.is_ready()) {
                continue;
            }
            self.serving.rest(self.link.rest(now));
            let armed = self.link.poll_timer(cx, now).is_pending();
            if armed && self.serving.end_turn(cx.waker()) {
                return Poll::Pending;
            }
        }
        // A peer that always has more to say must not keep its deadlines from passing.
        let _ = self.link.poll_timer(cx, now);
        // More is to be done, but others on this thread wait.
        cx.waker().wake_by_ref();
        Poll::Pending
    }
    /// Answers the machine's events; true when there were any. Records are sealed as they fill.
    fn handle_events(&mut self, now: Instant) -> bool {
        let (link, serving) = (&mut self.link, &mut self.serving);
        let mut any = false;
        while serving.handle_events(&mut link.machine, now, RECORD_BYTES) {
            any = true;
            if link.machine.written().len() < RECORD_BYTES {
                // None was left for want of room.
                break;
            }
            link.seal(now);
        }
        any
    }
    /// A turn that reads no input: responses are sent, and no deadline passes.
    fn speak(&mut self, cx: &mut Context<'_>, now: Instant) -> Poll<()> {
        loop {
            self.handle_events(now);
            let written = self.link.poll_write(cx, now);
            let answered = self.handle_events(now);
            if self.link.is_done(now) || (self.serving.left.is_some() && written.is_ready()) {
                return Poll::Ready(());
            }
            if answered && written.is_ready() {
                continue;
            }
            self.serving.rest(false);
            if self.serving.end_turn(cx.waker()) {
                return Poll::Pending;
            }
            self.serving.take_notes(&mut self.link.machine, now);
        }
    }
}

impl<S: Serve, T: AsyncRead + AsyncWrite + Unpin> Future for Connection<S, T> {
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
                    connection.stage = Stage::Closing;
                }
                Stage::Closing => {
                    // Handlers are gone with their streams; nothing here waits for them.
                    std::task::ready!(connection.link.poll_shutdown(cx));
                    if connection.link.is_read_closed() {
                        return Poll::Ready(());
                    }
                    let linger = if connection.serving.draining {
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

impl<S: Serve, T> Unpin for Connection<S, T> {}

/// Has the system drop what it holds for the peer when the socket is closed, and send a reset (SO_LINGER
/// of zero). Else it keeps megabytes per connection for as long as the peer lets its window shut, after
/// the server has forgotten it.
pub(super) fn drop_queue<T: 'static>(socket: &T) {
    if let Some(socket) = (socket as &dyn Any).downcast_ref::<TcpStream>() {
        // A socket that takes no option is closed as ever.
        let _ = socket.set_zero_linger();
    }
}
