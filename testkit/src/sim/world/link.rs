//! One connection: two ends, each with its machine, its outgoing path and its received bytes.

use super::plan::Fault;
use crate::sim::dice::Dice;
use crate::sim::ledger::Ledger;
use crate::sim::machine::Machine;
use crate::sim::path::{Burst, Pipe, Wire};
use bytes::Bytes;
use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};
use trunkline_core::error::TransportEnd;
use trunkline_core::h2::frame::{FRAME_HEADER_BYTES, FrameHeader, flag, kind};
use trunkline_core::http::{Side, StreamId};
use trunkline_core::pool::{Capacity, ConnectionId, Health};

/// One end.
#[derive(Debug)]
pub(in crate::sim) struct LinkEnd {
    pub(in crate::sim) machine: Machine,
    pub(in crate::sim) out: Pipe,
    /// Arrived, not yet read by the machine.
    pub(in crate::sim) inbox: VecDeque<Bytes>,
    /// The peer has ended its side, in this way.
    pub(in crate::sim) eof: Option<TransportEnd>,
    /// The machine knows.
    pub(in crate::sim) eof_reported: bool,
    /// This end wants to end its side behind what is unsent.
    pub(in crate::sim) closing: bool,
    /// How the other end sees it.
    pub(in crate::sim) closes_as: TransportEnd,
    /// It has.
    pub(in crate::sim) closed: bool,
    /// When the next wake-up is entered for.
    pub(in crate::sim) wake_at: Option<Instant>,
}

/// A request on the connection, as the client sees it.
#[derive(Debug)]
pub(in crate::sim) struct Exchange {
    pub(in crate::sim) request: u32,
    pub(in crate::sim) sent: u64,
    pub(in crate::sim) upload_done: bool,
    pub(in crate::sim) head_seen: bool,
    pub(in crate::sim) received: u64,
    pub(in crate::sim) unread: u64,
    pub(in crate::sim) ended: bool,
    pub(in crate::sim) limit_known: bool,
    pub(in crate::sim) progress_at: Instant,
}

/// A request on the connection, as the server sees it.
#[derive(Debug)]
pub(in crate::sim) struct Handler {
    pub(in crate::sim) request: u32,
    pub(in crate::sim) received: u64,
    pub(in crate::sim) request_ended: bool,
    pub(in crate::sim) responded: bool,
    pub(in crate::sim) sent: u64,
    pub(in crate::sim) done: bool,
}

/// One connection.
#[derive(Debug)]
pub(in crate::sim) struct Link {
    pub(in crate::sim) origin: usize,
    pub(in crate::sim) id: ConnectionId,
    pub(in crate::sim) client: LinkEnd,
    pub(in crate::sim) server: LinkEnd,
    pub(in crate::sim) ledger: Option<Ledger>,
    // The client's side, as the engine keeps it.
    pub(in crate::sim) taken: u64,
    pub(in crate::sim) draining: bool,
    /// It has brought a response.
    pub(in crate::sim) answered: bool,
    pub(in crate::sim) health: Health,
    pub(in crate::sim) round_trip: Option<Duration>,
    /// Its streams timed out, or the network changed: PINGs without a request.
    pub(in crate::sim) asked: u64,
    pub(in crate::sim) reported: Capacity,
    pub(in crate::sim) left: bool,
    pub(in crate::sim) exchanges: BTreeMap<u64, Exchange>,
    // The server's side.
    pub(in crate::sim) handlers: BTreeMap<u64, Handler>,
    pub(in crate::sim) fault: Option<Fault>,
    /// The server writes nothing before this.
    pub(in crate::sim) mute_until: Option<Instant>,
    /// Nothing arrives before this.
    pub(in crate::sim) stalled_until: Option<Instant>,
    /// The path swallows everything.
    pub(in crate::sim) dead: bool,
    pub(in crate::sim) streams_seen: u64,
    /// The last stream of a one-step GOAWAY.
    pub(in crate::sim) goaway_last: Option<u64>,
    /// The limits on streams that the server has announced, in order.
    pub(in crate::sim) limits: Vec<u32>,
    /// Streams that get frames behind their end.
    pub(in crate::sim) late: Vec<StreamId>,
    /// The acknowledgement of the server machine's own SETTINGS has gone through.
    pub(in crate::sim) ack_passed: bool,
    /// The server ends its side behind what waits in its machine's outbox.
    pub(in crate::sim) ends_behind_outbox: bool,
}

impl LinkEnd {
    pub(in crate::sim) fn new(machine: Machine, now: Instant) -> Self {
        Self {
            machine,
            out: Pipe::new(now),
            inbox: VecDeque::new(),
            eof: None,
            eof_reported: false,
            closing: false,
            closes_as: TransportEnd::InOrder,
            closed: false,
            wake_at: None,
        }
    }
    /// Sends what the congestion window lets out.
    pub(in crate::sim) fn transmit(
        &mut self,
        now: Instant,
        wire: &mut Wire,
        dice: &mut Dice,
    ) -> Vec<Burst> {
        std::iter::from_fn(|| self.out.transmit(now, wire, dice)).collect()
    }
}

impl Link {
    /// The limit on streams that the client has acknowledged; `None` before the first.
    pub(in crate::sim) fn limit_known(&self) -> Option<u32> {
        let acks = self.ledger.as_ref()?.client.settings_acks;
        self.limits.get(acks.checked_sub(1)?).copied()
    }
}

impl Link {
    pub(in crate::sim) fn end(&mut self, side: Side) -> &mut LinkEnd {
        match side {
            Side::Client => &mut self.client,
            Side::Server => &mut self.server,
        }
    }
    pub(in crate::sim) fn end_and_ledger(
        &mut self,
        side: Side,
    ) -> (&mut LinkEnd, Option<&mut Ledger>) {
        let end = match side {
            Side::Client => &mut self.client,
            Side::Server => &mut self.server,
        };
        (end, self.ledger.as_mut())
    }
    /// The end that delimits the bodies of responses here.
    pub(in crate::sim) fn delimits_by_end(&self) -> Option<TransportEnd> {
        match self.fault {
            Some(Fault::EndDelimited(end)) if self.ledger.is_none() => Some(end),
            _ => None,
        }
    }
    /// Both machines are done, the pool knows, and what came is read.
    pub(in crate::sim) fn is_over(&mut self) -> bool {
        let read = self.exchanges.is_empty();
        read && self.left && self.client.machine.is_closed() && self.server.machine.is_closed()
    }
    /// Puts frames of the script's own behind what the server has written.
    pub(in crate::sim) fn report(&mut self, now: Instant, write: impl FnOnce(&mut Vec<u8>)) {
        write(self.server.machine.poll_write(now).buffer());
    }
    /// The server's machine knows of its own SETTINGS only: acknowledgements of the script's are
    /// taken out.
    pub(in crate::sim) fn without_extra_acks(&mut self, written: Bytes) -> Bytes {
        if self.ledger.is_none() {
            return written;
        }
        let mut kept = Vec::with_capacity(written.len());
        let mut rest = &written[..];
        if let Some(behind) = rest.strip_prefix(PREFACE) {
            kept.extend_from_slice(PREFACE);
            rest = behind;
        }
        while let Some((head, _)) = rest.split_first_chunk::<FRAME_HEADER_BYTES>() {
            let header = FrameHeader::parse(head);
            let (frame, behind) = rest.split_at(FRAME_HEADER_BYTES + header.len as usize);
            rest = behind;
            let is_ack = header.kind == kind::SETTINGS && header.has(flag::ACK);
            if !is_ack || !std::mem::replace(&mut self.ack_passed, true) {
                kept.extend_from_slice(frame);
            }
        }
        kept.into()
    }
}

/// RFC 9113 section 3.4.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
