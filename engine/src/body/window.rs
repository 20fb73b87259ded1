//! Receive windows for users: how many unread bytes a peer may send. The peer's own limit for our
//! bytes is called a quota and has no setting here.
//!
//! | version | a body's window | its connection's |
//! |---|---|---|
//! | HTTP/1.1 | what is read ahead of the application; beyond it TCP's own window fills | the same |
//! | HTTP/2 | flow control of the stream | flow control of the connection |
//! | HTTP/3 | QUIC's, one size for all streams, and above it what is read ahead | QUIC's |
//!
//! A handle leaves a note for the task that owns the connection, and waits for its answer.

use crate::driver::machine::Machine;
use crate::driver::signals::Signals;
use crate::driver::window_ask::WindowAsk;
use crate::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use trunkline_core::credit::WINDOW_MAX;
use trunkline_core::http::{StreamId, Version};

/// A receive window as it is now; counts are bytes. HTTP/1.1 and HTTP/3 count those of bodies; what
/// frames them is beside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReceiveWindow {
    /// Granted to the peer since the start. On HTTP/3 a window larger than QUIC's is granted as the
    /// body is read ahead.
    pub granted: u64,
    /// Used of it by the peer.
    pub used: u64,
    /// Received, and not yet taken by the application.
    pub unread: u64,
    /// The size of the window.
    pub window: u32,
    /// The lowest bound on the round trip that this window has seen; found without PINGs. On HTTP/3
    /// QUIC's estimate; `None` on HTTP/1.1.
    pub rtt: Option<Duration>,
}

/// The receive windows of one body: its own, and its connection's.
/// [`Body::window`](crate::Body::window) makes it.
#[derive(Clone, Debug)]
pub struct WindowHandle {
    signals: Arc<Signals>,
    stream: StreamId,
}

impl WindowHandle {
    pub(crate) fn new(signals: &Arc<Signals>, stream: StreamId) -> Self {
        Self {
            signals: Arc::clone(signals),
            stream,
        }
    }
    /// The body's receive window.
    ///
    /// # Errors
    /// When all of the body has come.
    pub async fn receive_window(&self) -> Result<ReceiveWindow, Error> {
        self.ask(Some(self.stream), None).await
    }
    /// The receive window of the body's connection.
    ///
    /// # Errors
    /// When the connection is gone.
    pub async fn connection_receive_window(&self) -> Result<ReceiveWindow, Error> {
        self.ask(None, None).await
    }
    /// Sets the body's receive window, in bytes. It only grows: from its size now to 2^31-1; and on
    /// HTTP/2 it goes on tuning itself from there. The memory is beside the memory budget. On
    /// HTTP/3 no more than its first size is ever under way at once: QUIC announces one for all
    /// streams of a connection.
    ///
    /// # Errors
    /// Names the value and what is allowed when it would shrink or is out of range. Else as
    /// [`receive_window`](Self::receive_window).
    pub async fn set_receive_window(&self, window: u32) -> Result<ReceiveWindow, Error> {
        self.ask(Some(self.stream), Some(window)).await
    }
    /// Sets the receive window of the body's connection, as
    /// [`set_receive_window`](Self::set_receive_window).
    ///
    /// # Errors
    /// As [`set_receive_window`](Self::set_receive_window).
    pub async fn set_connection_receive_window(&self, window: u32) -> Result<ReceiveWindow, Error> {
        self.ask(None, Some(window)).await
    }

    async fn ask(
        &self,
        stream: Option<StreamId>,
        set: Option<u32>,
    ) -> Result<ReceiveWindow, Error> {
        let (answer, answered) = oneshot::channel();
        self.signals.ask_window(WindowAsk {
            stream,
            set,
            answer,
        });
        let gone = |_| Error::cancelled("the connection has no receive windows any more");
        let read = answered.await.map_err(gone)?;
        let read = read.map_err(Error::misuse)?;
        Ok(ReceiveWindow {
            granted: read.granted,
            used: read.used,
            unread: read.unread,
            window: read.window,
            rtt: read.rtt,
        })
    }
}

/// A request's settings for the window of its response.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wanted {
    pub(crate) receive_window: Option<u32>,
    pub(crate) expected_size: u64,
}

impl Wanted {
    /// Refuses what no window can be.
    pub(crate) fn check(self) -> Result<(), Error> {
        match self.receive_window {
            Some(window) if !(1..=WINDOW_MAX).contains(&window) => Err(Error::config(format!(
                "receive_window is {window}; it must be from 1 to {WINDOW_MAX}"
            ))),
            _ => Ok(()),
        }
    }
    /// Announces it behind the request's head. A window that is larger already stays.
    pub(crate) fn announce(self, machine: &mut Machine, now: Instant, stream: StreamId) {
        if self.expected_size > 0 {
            machine.expect_body(now, stream, self.expected_size);
        }
        if let Some(window) = self.receive_window {
            // The one refusal that is possible says that it is larger.
            let _ = machine.set_receive_window(now, Some(stream), window);
            if machine.version() == Version::Http3 {
                // Its streams are wide from the start: what holds one up is the connection's.
                let _ = machine.set_receive_window(now, None, window);
            }
        }
    }
}
