//! One connection outside of the pool, driven by its caller without a future per request, over the
//! client's transport and machines. For `trunkline bench` alone: no public API.

use super::attempt::{self, Start};
use super::connect::socket::Socket;
use super::dispatch::Dispatch;
use super::settings::origin::origin_of;
use crate::driver::connection_io::ConnectionIo;
use crate::driver::machine::Machine;
use crate::driver::timer::Alarm;
use crate::error::Error;
use bytes::Bytes;
use http::{Method, Request, Uri};
use std::fmt;
use std::future::{Future, poll_fn};
use std::task::{Context, Poll};
use std::time::Instant;
use trunkline_core::error::Misuse;
use trunkline_core::http::{Event, Fields, RequestHead, StreamId, Version};

/// Reads of one turn: what they bring is answered with one write.
const READS_MAX: usize = 8;

/// A connection whose handshake is done and whose version is known.
pub struct Direct {
    io: ConnectionIo<Socket>,
    /// An event that writing brought: over QUIC the machine then reads on what had waited in a stream
    /// for room, and no other event wakes the task for it.
    ahead: Option<Event>,
}

/// The next step that the caller of a turn asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Wait for the peer, or until the time if there is one.
    Wait(Option<Instant>),
    /// Close: open exchanges are given up.
    Close,
}

/// The commands of a turn. Facts come from [`event`](Self::event); take all of them in each turn.
pub struct DirectTurn<'a> {
    machine: &'a mut Machine,
    ahead: &'a mut Option<Event>,
    /// The time of this turn.
    pub now: Instant,
}

impl Direct {
    pub(super) async fn connect(dispatch: &Dispatch, url: &str) -> Result<Self, Error> {
        let uri: Uri = url.parse().map_err(|error| {
            Error::config(format!("the URL {url:?} cannot be parsed")).with_source(error)
        })?;
        let (mut parts, ()) = Request::new(()).into_parts();
        parts.method = Method::GET;
        parts.uri = uri;
        let settings = &dispatch.settings;
        let origin = origin_of(&parts, settings)?;
        let start = Start {
            early: false,
            stream_window: settings.config.windows.quic_stream(),
        };
        let opened = attempt::establish_in_time(settings, &origin, start).await?;
        Ok(Self {
            io: opened.into_link(dispatch, &origin, Instant::now()),
            ahead: None,
        })
    }

    /// The version that the connection speaks.
    pub fn version(&self) -> Version {
        self.io.machine.version()
    }

    /// Runs the connection: `turn` is called at the start, whenever the peer sent something, and
    /// at the time it asked for. Ends when `turn` says so or when the connection is closed (the
    /// last event is [`Event::Closed`]).
    pub fn run(
        mut self,
        mut turn: impl FnMut(&mut DirectTurn<'_>) -> Next,
    ) -> impl Future<Output = ()> {
        let mut alarm = Alarm::default();
        poll_fn(move |cx| self.poll(cx, &mut turn, &mut alarm))
    }

    fn poll(
        &mut self,
        cx: &mut Context<'_>,
        turn: &mut impl FnMut(&mut DirectTurn<'_>) -> Next,
        alarm: &mut Alarm,
    ) -> Poll<()> {
        let Self { io, ahead } = self;
        loop {
            let now = Instant::now();
            io.poll_alarm(cx);
            let mut more = false;
            for _ in 0..READS_MAX {
                more = matches!(io.poll_read(cx, now), Poll::Ready(true));
                if !more {
                    break;
                }
            }
            more |= io.poll_timer(cx, now).is_ready();
            let next = turn(&mut DirectTurn {
                machine: &mut io.machine,
                ahead,
                now,
            });
            let _ = io.poll_write(cx, now);
            if ahead.is_none() {
                *ahead = io.machine.poll_event();
            }
            more |= ahead.is_some();
            if next == Next::Close || ahead.is_none() && io.is_done(now) {
                return Poll::Ready(());
            }
            let is_due = match next {
                Next::Wait(Some(at)) => alarm.poll_until(cx, at).is_ready(),
                Next::Wait(None) | Next::Close => false,
            };
            if !more && !is_due {
                return Poll::Pending;
            }
        }
    }
}

impl DirectTurn<'_> {
    /// The next fact.
    pub fn event(&mut self) -> Option<Event> {
        self.ahead.take().or_else(|| self.machine.poll_event())
    }
    /// How many more exchanges may start now.
    pub fn capacity(&self) -> u32 {
        self.machine.capacity()
    }
    /// Starts an exchange with all of its body.
    ///
    /// # Errors
    /// [`Misuse::NoCapacity`] and [`Misuse::ConnectionClosed`]: nothing was sent.
    pub fn open(&mut self, head: &RequestHead, body: Option<&Bytes>) -> Result<StreamId, Misuse> {
        let stream = self.machine.open(self.now, head, body.is_none())?;
        if let Some(body) = body {
            self.machine
                .send_body(self.now, stream, body.clone(), true)?;
        }
        Ok(stream)
    }
    /// Body bytes were read: the peer may send as many more.
    pub fn consume(&mut self, stream: StreamId, bytes: usize) {
        self.machine.consume(self.now, stream, bytes);
    }
    /// Gives the memory of a head back for the next one.
    pub fn recycle(&mut self, fields: Fields) {
        self.machine.recycle(fields);
    }
}

impl fmt::Debug for Direct {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Direct")
            .field("version", &self.version())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for DirectTurn<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DirectTurn")
            .field("now", &self.now)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
#[path = "direct_test.rs"]
mod direct_test;
