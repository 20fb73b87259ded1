//! HTTP datagrams (RFC 9297) of one exchange, beside a tunnel's bytes: unreliable, unordered, over
//! HTTP/3 only, each in one QUIC packet.
//!
//! Users run on any thread; the connection's task moves the datagrams between them and QUIC: both
//! use one [`Channel`]. Each direction keeps a bounded number; beyond it the oldest is dropped and
//! counted.

use crate::driver::signals::Signals;
use crate::error::Error;
use bytes::Bytes;
use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use trunkline_core::error::Misuse;
use trunkline_core::http::StreamId;
use trunkline_core::limits::DATAGRAMS_MAX;

/// Sends and receives the datagrams of one extended CONNECT. A server's handler finds it among the
/// request's extensions ([`ServerConfig::datagrams`](crate::ServerConfig::datagrams)), a client
/// among those of a 2xx answer
/// ([`ClientBuilder::datagrams`](crate::client::ClientBuilder::datagrams)). It lasts as long as the
/// exchange: on both sides that is until the body that this side sends has ended.
#[derive(Clone)]
pub struct Datagrams {
    channel: Arc<Channel>,
    signals: Arc<Signals>,
    stream: StreamId,
}

impl Datagrams {
    /// Sends one, unless it is lost: the network may lose it, and so do we where 64 others wait
    /// for the connection behind it.
    ///
    /// # Errors
    /// When the peer takes no datagrams, or has not yet said so; when it is larger than
    /// [`size_max`](Self::size_max); when the exchange is over.
    pub fn send(&self, datagram: impl Into<Bytes>) -> Result<(), Error> {
        let datagram = datagram.into();
        let mut state = self.channel.lock();
        if state.over {
            return Err(over());
        }
        let Some(max) = state.size_max else {
            return Err(Error::misuse(Misuse::WrongSide)
                .with_text("the peer has not said that it takes datagrams"));
        };
        if datagram.len() > max {
            return Err(Error::misuse(Misuse::BodyLength).with_text(format!(
                "the datagram has {} bytes; at most {max} fit into a packet on this path",
                datagram.len()
            )));
        }
        let is_first = state.outgoing.is_empty();
        state.keep(Direction::Out, datagram);
        drop(state);
        if is_first {
            self.signals.datagrams(self.stream);
        }
        Ok(())
    }
    /// The next one that came; `None`: the exchange is over. One task receives at a time.
    pub async fn receive(&self) -> Option<Bytes> {
        poll_fn(|cx| self.poll_receive(cx)).await
    }
    /// As [`receive`](Self::receive).
    pub fn poll_receive(&self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let mut state = self.channel.lock();
        if let Some(datagram) = state.incoming.pop_front() {
            return Poll::Ready(Some(datagram));
        }
        if state.over {
            return Poll::Ready(None);
        }
        state.reader = Some(cx.waker().clone());
        Poll::Pending
    }
    /// The largest that fits into a packet now, in bytes. Packets grow in the first seconds of a
    /// connection, and may shrink when the path changes. `None`: the peer takes none, or has not
    /// yet said so.
    pub fn size_max(&self) -> Option<usize> {
        self.channel.lock().size_max
    }
    /// Datagrams that we have dropped, in either direction, because 64 waited.
    pub fn dropped(&self) -> u64 {
        self.channel.lock().dropped
    }
}

impl fmt::Debug for Datagrams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.channel.lock();
        f.debug_struct("Datagrams")
            .field("size_max", &state.size_max)
            .field("dropped", &state.dropped)
            .field("over", &state.over)
            .finish_non_exhaustive()
    }
}

fn over() -> Error {
    Error::misuse(Misuse::StreamNotOpen).with_text("a datagram of an exchange that is over")
}

/// The connection's side. Dropping it ends the user's receive calls.
#[derive(Debug)]
pub(crate) struct DatagramInlet(Arc<Channel>);

impl DatagramInlet {
    /// Both sides, for the exchange of `stream` on the connection of `signals`.
    pub(crate) fn new(
        signals: &Arc<Signals>,
        stream: StreamId,
        size_max: Option<usize>,
    ) -> (Self, Datagrams) {
        let channel = Arc::new(Channel::default());
        channel.lock().size_max = size_max;
        let datagrams = Datagrams {
            channel: Arc::clone(&channel),
            signals: Arc::clone(signals),
            stream,
        };
        (Self(channel), datagrams)
    }
    /// One came.
    pub(crate) fn push(&self, datagram: Bytes) {
        let mut state = self.0.lock();
        state.keep(Direction::In, datagram);
        let reader = state.reader.take();
        drop(state);
        if let Some(reader) = reader {
            reader.wake();
        }
    }
    /// Takes the datagrams to send.
    pub(crate) fn take(&self) -> VecDeque<Bytes> {
        std::mem::take(&mut self.0.lock().outgoing)
    }
    /// A packet holds so much now.
    pub(crate) fn resize(&self, size_max: Option<usize>) {
        self.0.lock().size_max = size_max;
    }
}

impl Drop for DatagramInlet {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.over = true;
        state.outgoing.clear();
        let reader = state.reader.take();
        drop(state);
        if let Some(reader) = reader {
            reader.wake();
        }
    }
}

/// Between the two.
#[derive(Debug, Default)]
struct Channel(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    incoming: VecDeque<Bytes>,
    outgoing: VecDeque<Bytes>,
    dropped: u64,
    size_max: Option<usize>,
    reader: Option<Waker>,
    over: bool,
}

enum Direction {
    In,
    Out,
}

impl State {
    /// A late reader wants the latest datagrams, so the oldest are dropped.
    fn keep(&mut self, way: Direction, datagram: Bytes) {
        let queue = match way {
            Direction::In => &mut self.incoming,
            Direction::Out => &mut self.outgoing,
        };
        if queue.len() == DATAGRAMS_MAX {
            queue.pop_front();
            self.dropped += 1;
        }
        queue.push_back(datagram);
    }
}

impl Channel {
    fn lock(&self) -> MutexGuard<'_, State> {
        // No code panics while it holds the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
#[path = "datagrams_test.rs"]
mod datagrams_test;
