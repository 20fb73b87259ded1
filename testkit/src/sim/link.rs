//! One connection: two ends, each with its machine, its outgoing path and its received bytes.

use super::ledger::Ledger;
use super::machine::Machine;
use super::path::{Burst, Pipe, Wire};
use super::world::dice::Dice;
use super::world::plan::Fault;
use bytes::Bytes;
use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};
use trunkline_core::error::TransportEnd;
use trunkline_core::h2::frame::{FRAME_HEADER_BYTES, FrameHeader, flag, kind};
use trunkline_core::http::{Side, StreamId};
use trunkline_core::pool::{Capacity, ConnectionId, Health};

/// One end.
#[derive(Debug)]
pub(super) struct LinkEnd {
    pub(super) machine: Machine,
    pub(super) out: Pipe,
    /// Arrived, not yet read by the machine.
    pub(super) inbox: VecDeque<Bytes>,
    /// The peer has ended its side, in this way.
    pub(super) eof: Option<TransportEnd>,
    /// The machine knows.
    pub(super) eof_reported: bool,
    /// This end wants to end its side behind what is unsent.
    pub(super) closing: bool,
    /// How the other end sees it.
    pub(super) closes_as: TransportEnd,
    /// It has.
    pub(super) closed: bool,
    /// When the next wake-up is entered for.
    pub(super) wake_at: Option<Instant>,
}

/// A request on the connection, as the client sees it.
#[derive(Debug)]
pub(super) struct Exchange {
    pub(super) request: u32,
    pub(super) sent: u64,
    pub(super) upload_done: bool,
    pub(super) head_seen: bool,
    pub(super) received: u64,
    pub(super) unread: u64,
    pub(super) ended: bool,
    pub(super) limit_known: bool,
    pub(super) progress_at: Instant,
}

/// A request on the connection, as the server sees it.
#[derive(Debug)]
pub(super) struct Handler {
    pub(super) request: u32,
    pub(super) received: u64,
    pub(super) request_ended: bool,
    pub(super) responded: bool,
    pub(super) sent: u64,
    pub(super) done: bool,
}

/// One connection.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) origin: usize,
    pub(super) id: ConnectionId,
    pub(super) client: LinkEnd,
    pub(super) server: LinkEnd,
    pub(super) ledger: Option<Ledger>,
    // The client's side, as the engine keeps it.
    pub(super) taken: u64,
    pub(super) draining: bool,
    /// It has brought a response.
    pub(super) answered: bool,
    pub(super) health: Health,
    pub(super) round_trip: Option<Duration>,
    /// Its streams timed out, or the network changed: PINGs without a request.
    pub(super) asked: u64,
    pub(super) reported: Capacity,
    pub(super) left: bool,
    pub(super) exchanges: BTreeMap<u64, Exchange>,
    // The server's side.
    pub(super) handlers: BTreeMap<u64, Handler>,
    pub(super) fault: Option<Fault>,
    /// The server writes nothing before this.
    pub(super) mute_until: Option<Instant>,
    /// Nothing arrives before this.
    pub(super) stalled_until: Option<Instant>,
    /// The path swallows everything.
    pub(super) dead: bool,
    pub(super) streams_seen: u64,
    /// The last stream of a one-step GOAWAY.
    pub(super) goaway_last: Option<u64>,
    /// The limits on streams that the server has announced, in order.
    pub(super) limits: Vec<u32>,
    /// Streams that get frames behind their end.
    pub(super) late: Vec<StreamId>,
    /// The acknowledgement of the server machine's own SETTINGS has gone through.
    pub(super) ack_passed: bool,
    /// The server ends its side behind what waits in its machine's outbox.
    pub(super) ends_behind_outbox: bool,
}

impl LinkEnd {
    pub(super) fn new(machine: Machine, now: Instant) -> Self {
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
    pub(super) fn transmit(
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
    pub(super) fn limit_known(&self) -> Option<u32> {
        let acks = self.ledger.as_ref()?.client.settings_acks;
        self.limits.get(acks.checked_sub(1)?).copied()
    }
}

impl Link {
    pub(super) fn end(&mut self, side: Side) -> &mut LinkEnd {
        match side {
            Side::Client => &mut self.client,
            Side::Server => &mut self.server,
        }
    }
    pub(super) fn end_and_ledger(&mut self, side: Side) -> (&mut LinkEnd, Option<&mut Ledger>) {
        let end = match side {
            Side::Client => &mut self.client,
            Side::Server => &mut self.server,
        };
        (end, self.ledger.as_mut())
    }
    /// The end that delimits the bodies of responses here.
    pub(super) fn delimits_by_end(&self) -> Option<TransportEnd> {
        match self.fault {
            Some(Fault::EndDelimited(end)) if self.ledger.is_none() => Some(end),
            _ => None,
        }
    }
    /// Both machines are done, the pool knows, and what came is read.
    pub(super) fn is_over(&mut self) -> bool {
        let read = self.exchanges.is_empty();
        read && self.left && self.client.machine.is_closed() && self.server.machine.is_closed()
    }
    /// Puts frames of the script's own behind what the server has written.
    pub(super) fn report(&mut self, now: Instant, write: impl FnOnce(&mut Vec<u8>)) {
        write(self.server.machine.poll_write(now).buffer());
    }
    /// The server's machine knows of its own SETTINGS only: acknowledgements of the script's are
    /// taken out.
    pub(super) fn without_extra_acks(&mut self, written: Bytes) -> Bytes {
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
