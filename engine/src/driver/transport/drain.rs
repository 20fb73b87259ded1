//! Progress that a write does not show. A system says that a socket takes bytes again only when a good
//! part of its buffer is free: with megabytes in it, a peer that reads steadily but slowly makes no
//! write go on for minutes. What the socket still holds shows whether it reads.

use std::any::Any;
use std::time::{Duration, Instant};
use tokio::net::TcpStream;
use trunkline_core::limits::Timeouts;
use trunkline_core::min_rate::Scarcity;

/// A call to the system about a socket whose peer does not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SocketCall {
    /// The peer is given up while bytes wait for it, and the socket is closed next.
    GiveUp,
    /// The bytes that it holds of those that were written to it, unacknowledged ones included.
    Held,
    /// The error of a connection that is lost, as the number that the system has for it; it is given once.
    Lost,
}

/// Carries the calls out. The count of [`SocketCall::Held`], the number of [`SocketCall::Lost`]; `None`: the system does not say.
pub(crate) type CallSocket<S> = fn(&S, SocketCall) -> Option<u64>;

/// Looks at what a socket holds while it takes nothing.
#[derive(Debug)]
pub(crate) struct Drain {
    every: Duration,
    /// Fewer bytes between two looks are no progress: a dribble does not restart the time of a stall.
    least: u64,
    look_at: Option<Instant>,
    /// The bytes that it held at the last look.
    held: Option<u64>,
}

impl Drain {
    /// `None`: no deadline depends on it.
    pub(crate) fn of(timeouts: &Timeouts) -> Option<Self> {
        let rate = (timeouts.rate_min > 0).then_some(timeouts.rate_grace);
        let stall = timeouts.write_stall.map(|it| timeouts.shortest_stall(it));
        let shortest = stall.into_iter().chain(rate).min()?;
        let every = shortest / LOOKS_PER_DEADLINE;
        Some(Self {
            every,
            least: timeouts.least_bytes(every).max(1),
            look_at: None,
            held: None,
        })
    }
    /// The socket takes nothing.
    pub(crate) fn note_blocked(&mut self, now: Instant) {
        self.look_at.get_or_insert(now + self.every);
    }
    /// The socket took bytes: it holds more than at the last look.
    pub(crate) fn note_written(&mut self) {
        (self.look_at, self.held) = (None, None);
    }
    /// When to look next.
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.look_at
    }
    /// Bytes that left the socket since the last look, if it is time for one and they are enough to be
    /// progress.
    pub(crate) fn look(&mut self, now: Instant, ask: impl FnOnce() -> Option<u64>) -> Option<u64> {
        if self.look_at.is_none_or(|at| now < at) {
            return None;
        }
        // Where the system does not say, it is a look all the same: the server may have become scarce.
        self.look_at = Some(now + self.every);
        let held = ask()?;
        let before = self.held.replace(held)?;
        before
            .checked_sub(held)
            .filter(|&drained| drained >= self.least)
    }
}

/// How long a peer may take nothing, now.
pub(crate) fn stall_now(timeouts: &Timeouts, is_scarce: impl FnOnce() -> bool) -> Option<Duration> {
    let stall = timeouts.write_stall?;
    Some(match is_scarce() {
        true => timeouts.shortest_stall(stall),
        false => stall,
    })
}

/// The time for which the peer of a tunnel takes nothing of what waits for it.
#[derive(Debug)]
pub(crate) struct TunnelStall {
    /// Where connections are not scarce, and where they are.
    limits: (Duration, Duration),
    scarcity: Scarcity,
    drain: Option<Drain>,
    blocked_since: Option<Instant>,
}

/// The peer of a tunnel has taken nothing for `Timeouts::write_stall`, or `scarce_stall` where connections are scarce.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stalled;

impl TunnelStall {
    /// `None`: a peer may take nothing for ever.
    pub(crate) fn of(timeouts: &Timeouts, scarcity: Scarcity) -> Option<Self> {
        let limit = timeouts.write_stall?;
        Some(Self {
            limits: (limit, timeouts.shortest_stall(limit)),
            scarcity,
            drain: Drain::of(timeouts),
            blocked_since: None,
        })
    }
    /// The socket took bytes, or nothing waits.
    pub(crate) fn note_written(&mut self) {
        self.blocked_since = None;
        if let Some(drain) = &mut self.drain {
            drain.note_written();
        }
    }
    /// The socket takes nothing; `ask`: the bytes that it holds. Returns when to call next, if nothing
    /// is written until then.
    pub(crate) fn judge(
        &mut self,
        now: Instant,
        ask: impl FnOnce() -> Option<u64>,
    ) -> Result<Instant, Stalled> {
        let since = self.blocked_since.get_or_insert(now);
        let mut look_at = None;
        if let Some(drain) = &mut self.drain {
            drain.note_blocked(now);
            if drain.look(now, ask).is_some() {
                *since = now;
            }
            look_at = drain.next_deadline();
        }
        let due = *since
            + match self.scarcity.is_set() {
                true => self.limits.1,
                false => self.limits.0,
            };
        match now >= due {
            true => Err(Stalled),
            false => Ok(look_at.map_or(due, |at| at.min(due))),
        }
    }
}

/// Has the system drop what it holds for the peer when the socket is closed, and send a reset (SO_LINGER
/// of zero). Else it keeps megabytes per connection for as long as the peer lets its window shut, after
/// the server has forgotten it.
fn drop_queue<T: 'static>(socket: &T) {
    if let Some(socket) = (socket as &dyn Any).downcast_ref::<TcpStream>() {
        // A socket that takes no option is closed as ever.
        let _ = socket.set_zero_linger();
    }
}

/// The calls of a server about a TCP socket; other sockets have none.
pub(crate) fn call_socket<T: 'static>(socket: &T, call: SocketCall) -> Option<u64> {
    match call {
        SocketCall::Held => held_by(socket),
        SocketCall::Lost => error_of(socket),
        SocketCall::GiveUp => {
            drop_queue(socket);
            None
        }
    }
}

/// The error that waits at a TCP socket (SO_ERROR): a reset, or probes without an answer.
fn error_of<T: 'static>(socket: &T) -> Option<u64> {
    let socket = (socket as &dyn Any).downcast_ref::<TcpStream>()?;
    let error = socket.take_error().ok().flatten()?;
    u64::try_from(error.raw_os_error()?).ok()
}

/// Bytes that the system holds of those written to a TCP socket, on Linux (SIOCOUTQ, tcp(7)).
/// Elsewhere, and of other sockets, a write that goes on is the only progress.
fn held_by<T: 'static>(socket: &T) -> Option<u64> {
    let socket = (socket as &dyn Any).downcast_ref::<TcpStream>()?;
    held_by_tcp(socket)
}

#[cfg(target_os = "linux")]
fn held_by_tcp(socket: &TcpStream) -> Option<u64> {
    use std::os::fd::AsRawFd;
    let mut bytes: libc::c_int = 0;
    // SAFETY: the system writes one integer to `bytes`.
    let done = unsafe { libc::ioctl(socket.as_raw_fd(), libc::TIOCOUTQ, &raw mut bytes) };
    (done == 0).then(|| u64::try_from(bytes).ok()).flatten()
}

#[cfg(not(target_os = "linux"))]
fn held_by_tcp(_: &TcpStream) -> Option<u64> {
    None
}

/// Two looks give what left between them; the others are for a peer that reads in bursts.
const LOOKS_PER_DEADLINE: u32 = 4;

#[cfg(test)]
#[path = "drain_test.rs"]
mod drain_test;
