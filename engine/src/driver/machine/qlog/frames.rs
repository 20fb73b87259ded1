//! The frames of one connection in the file.

use super::event;
use super::file::Qlog;
use std::time::Instant;
use trunkline_core::http::trace::{Direction, TraceEvent};
use trunkline_core::http::{Side, StreamId};
use trunkline_core::wire::Outbox;
use trunkline_core::{h2, h3};

/// The log of one connection.
#[derive(Debug)]
pub(crate) struct FrameLog {
    qlog: Qlog,
    reader: Reader,
    /// The connection's name in the file.
    group: String,
    /// Records while they are made.
    records: String,
}

#[derive(Debug)]
enum Reader {
    /// `described`: where the outbox's described bytes end, counted from the connection's first.
    Http2 {
        trace: Box<h2::frame::trace::Http2Trace>,
        described: u64,
        /// Bytes that the outbox counts a second time: those that the socket took later.
        drained: u64,
    },
    Http3(Box<h3::stream_kind::trace::Http3Trace>),
}

impl FrameLog {
    /// Logs an HTTP/2 connection from its first byte.
    pub(crate) fn http2(qlog: &Qlog, side: Side) -> Box<Self> {
        let reader = Reader::Http2 {
            trace: Box::new(h2::frame::trace::Http2Trace::new(side)),
            described: 0,
            drained: 0,
        };
        Self::of(qlog, reader, "http2")
    }
    /// Logs an HTTP/3 connection from its first byte.
    pub(crate) fn http3(qlog: &Qlog) -> Box<Self> {
        Self::of(qlog, Reader::Http3(Box::default()), "http3")
    }
    fn of(qlog: &Qlog, reader: Reader, version: &str) -> Box<Self> {
        Box::new(Self {
            qlog: qlog.clone(),
            reader,
            group: format!("{version}-{}", qlog.next_connection()),
            records: String::new(),
        })
    }
    /// Describes the next bytes of an HTTP/2 peer.
    pub(crate) fn received(&mut self, now: Instant, bytes: &[u8]) {
        self.describe(now, |reader, sink| {
            if let Reader::Http2 { trace, .. } = reader {
                trace.read(Direction::Received, bytes, sink);
            }
        });
    }
    /// Describes what waits for an HTTP/2 peer, as far as it is new.
    pub(crate) fn waiting(&mut self, now: Instant, outbox: &Outbox) {
        self.describe(now, |reader, sink| {
            let Reader::Http2 {
                trace,
                described,
                drained,
            } = reader
            else {
                return;
            };
            let taken = outbox.written() - *drained;
            let mut known = usize::try_from(described.saturating_sub(taken)).unwrap_or(usize::MAX);
            for piece in outbox.pieces() {
                let skipped = known.min(piece.len());
                known -= skipped;
                trace.read(Direction::Sent, &piece[skipped..], sink);
            }
            *described = taken + outbox.len() as u64;
        });
    }
    /// The outbox counts `bytes` that left it before.
    pub(crate) fn note_drained(&mut self, bytes: u64) {
        if let Reader::Http2 { drained, .. } = &mut self.reader {
            *drained += bytes;
        }
    }
    /// Describes the next bytes of a stream of an HTTP/3 peer.
    pub(crate) fn received_on(&mut self, now: Instant, stream: StreamId, bytes: &[u8], fin: bool) {
        self.describe_stream(now, Direction::Received, stream, bytes, fin);
    }
    /// Describes the next bytes of ours on a stream.
    pub(crate) fn sent_on(&mut self, now: Instant, stream: StreamId, bytes: &[u8], fin: bool) {
        self.describe_stream(now, Direction::Sent, stream, bytes, fin);
    }
    fn describe_stream(
        &mut self,
        now: Instant,
        direction: Direction,
        stream: StreamId,
        bytes: &[u8],
        fin: bool,
    ) {
        self.describe(now, |reader, sink| {
            if let Reader::Http3(trace) = reader {
                trace.read(direction, stream, bytes, fin, sink);
            }
        });
    }
    /// quinn-proto may have written about this connection just now.
    pub(crate) fn note_packets(&self) {
        self.qlog.name_last(&self.group);
    }
    fn describe(
        &mut self,
        now: Instant,
        read: impl FnOnce(&mut Reader, &mut dyn FnMut(TraceEvent<'_>)),
    ) {
        let is_http2 = matches!(self.reader, Reader::Http2 { .. });
        let time = self.qlog.time_of(now);
        let (records, group) = (&mut self.records, &*self.group);
        read(&mut self.reader, &mut |event| {
            event::put(&event, is_http2, time, group, records);
        });
        for record in self.records.split_inclusive('\n') {
            self.qlog.write_record(now, record);
        }
        self.records.clear();
    }
}

impl Drop for FrameLog {
    fn drop(&mut self) {
        self.qlog.forget(&self.group);
    }
}
