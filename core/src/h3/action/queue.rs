//! The actions that wait for the transport.
//!
//! Invariants: `queued_bytes` is the sum of the writes that wait; `carried_out` counts each byte of
//! a stream once, however often its write came back.

use super::TransportAction;
use crate::http::StreamId;
use bytes::Bytes;
use std::collections::VecDeque;

/// Orders to the transport, first come first served.
#[derive(Debug, Default)]
pub(in crate::h3) struct ActionQueue {
    waiting: VecDeque<TransportAction>,
    /// Bytes of the writes in `waiting`.
    queued_bytes: usize,
    /// The write that the transport was given last, until it is known to be taken.
    given: Option<(StreamId, bool)>,
    /// Its bytes.
    given_bytes: usize,
    /// Bytes that the transport has taken, or was asked to take.
    carried_out: u64,
    writes: u64,
}

impl ActionQueue {
    /// An order that is no write.
    #[inline]
    pub(in crate::h3) fn push(&mut self, action: TransportAction) {
        debug_assert!(
            !matches!(action, TransportAction::Write { .. }),
            "its bytes are counted by `push_write`"
        );
        self.waiting.push_back(action);
    }
    #[inline]
    pub(in crate::h3) fn push_write(&mut self, stream: StreamId, pieces: [Bytes; 2], fin: bool) {
        let len = pieces[0].len() + pieces[1].len();
        self.queued_bytes += len;
        self.carried_out += len as u64;
        self.writes += 1;
        self.waiting.push_back(TransportAction::Write {
            stream,
            pieces,
            fin,
        });
    }
    /// The next order, which the transport is given now.
    #[inline]
    pub(in crate::h3) fn pop(&mut self) -> Option<TransportAction> {
        if let Some(TransportAction::Write {
            stream,
            pieces,
            fin,
        }) = self.waiting.front()
        {
            self.given_bytes = pieces[0].len() + pieces[1].len();
            self.queued_bytes -= self.given_bytes;
            self.given = Some((*stream, *fin));
        }
        // Moved out last, so that it is copied once.
        self.waiting.pop_front()
    }
    /// The stream of the write that was given last, and whether it ends it: the transport has taken
    /// it.
    #[inline]
    pub(in crate::h3) fn take_given(&mut self) -> Option<(StreamId, bool)> {
        self.given.take()
    }
    /// Bytes of the write that was given last.
    pub(in crate::h3) fn given_bytes(&self) -> usize {
        self.given_bytes
    }
    /// The write that was given last came back. Those of its stream that wait stand behind it: their
    /// bytes are put behind `pieces`. True: the stream's end is among them.
    pub(in crate::h3) fn take_back(&mut self, stream: StreamId, pieces: &mut Vec<Bytes>) -> bool {
        self.given = None;
        let mut fin = false;
        let mut bytes = 0;
        self.waiting.retain_mut(|action| match action {
            TransportAction::Write {
                stream: of,
                pieces: more,
                fin: ends,
            } if *of == stream => {
                bytes += more[0].len() + more[1].len();
                pieces.extend(more.iter_mut().map(std::mem::take));
                fin |= *ends;
                false
            }
            _ => true,
        });
        self.queued_bytes -= bytes;
        fin
    }
    /// `bytes` that were asked for wait in the queue of their stream again.
    pub(in crate::h3) fn note_returned(&mut self, bytes: usize) {
        self.carried_out -= bytes as u64;
    }
    /// No write matters any more.
    pub(in crate::h3) fn clear(&mut self) {
        self.waiting.clear();
        self.queued_bytes = 0;
    }
    /// Gives memory back while nothing waits.
    pub(in crate::h3) fn release(&mut self) {
        if self.waiting.is_empty() {
            self.waiting = VecDeque::new();
        }
    }
    /// Goes on from the queue of a connection whose streams were all forgotten: actions about windows,
    /// and counts.
    pub(in crate::h3) fn resume(&mut self, before: Self) {
        let is_window = |it: &TransportAction| {
            matches!(
                it,
                TransportAction::GrantBytes { .. } | TransportAction::HoldBytes { .. }
            )
        };
        let windows = before.waiting.into_iter().filter(is_window);
        self.waiting.extend(windows);
        self.writes = before.writes;
    }

    #[inline]
    pub(in crate::h3) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
    #[inline]
    pub(in crate::h3) fn queued_bytes(&self) -> usize {
        self.queued_bytes
    }
    #[inline]
    pub(in crate::h3) fn carried_out(&self) -> u64 {
        self.carried_out
    }
    /// Writes so far.
    pub(in crate::h3) fn writes(&self) -> u64 {
        self.writes
    }
}
