//! The way between two ends, as TCP shows it: an ordered, reliable stream of bytes that takes
//! time. What is modelled, and no more:
//!
//! - A [`Wire`] per direction, shared by the connections of an origin: it serialises at its rate,
//!   holds `queue_bytes`, and delays by half a round trip.
//! - A [`Pipe`] per connection and direction. It sends in bursts of about a millisecond of the
//!   line (what segmentation offload does), never more in flight than its congestion window: ten
//!   segments at first, doubled every round trip by its acknowledgements, up to what the line and
//!   its queue hold. It never shrinks for idleness.
//! - A loss, by chance or by a full queue, is a stall: the burst arrives a round trip later (200 ms
//!   more when nothing behind it tells of the loss), everything behind it waits, and the window
//!   halves, to double again.
//! - What is not acknowledged is sent again, and lost again, where the path drops everything, and the
//!   sender's system says how often its timer has fired.
//! - Reordering is a stall too, of a tenth of a round trip.

use super::dice::Dice;
use bytes::Bytes;
use std::collections::VecDeque;
use std::time::{Duration, Instant};
use trunkline_core::pool::Unanswered;

/// The payload of a segment on a path of 1500-byte packets.
const SEGMENT_BYTES: u64 = 1448;
/// Linux's least retransmission timeout.
const RETRANSMISSION_TIMEOUT_MIN: Duration = Duration::from_millis(200);
/// RFC 6928: ten segments.
const CONGESTION_WINDOW_INITIAL: u64 = 10 * SEGMENT_BYTES;
/// Bytes that wait in a socket before it takes no more.
const UNSENT_BYTES_MAX: usize = 128 * 1024;
/// The largest burst.
const BURST_BYTES_MAX: u64 = 64 * 1024;
/// The delay that the retransmission timer adds at the tail of a flight (RFC 6298 as Linux has it).
const TAIL_LOSS_DELAY: Duration = Duration::from_millis(200);

/// A path's nature.
#[derive(Clone, Copy, Debug)]
pub struct PathPlan {
    /// There and back, when nothing queues.
    pub round_trip: Duration,
    /// The rate of each direction.
    pub bytes_per_second: u64,
    /// The capacity of the queue in front of the line.
    pub queue_bytes: u64,
    /// Bursts lost.
    pub loss_per_mille: u32,
    /// Bursts overtaken.
    pub reorder_per_mille: u32,
}

impl PathPlan {
    /// A path that loses nothing, with a queue of a quarter of what is under way on it.
    pub fn clean(round_trip: Duration, bytes_per_second: u64) -> Self {
        let under_way = (round_trip.as_secs_f64() * bytes_per_second as f64) as u64;
        Self {
            round_trip,
            bytes_per_second,
            queue_bytes: (under_way / 4).max(64 * 1024),
            loss_per_mille: 0,
            reorder_per_mille: 0,
        }
    }
    /// Bytes that are under way when the line is full.
    pub fn bytes_under_way(&self) -> u64 {
        (self.round_trip.as_secs_f64() * self.bytes_per_second as f64) as u64
    }
    /// How long `bytes` take.
    pub fn time_of(&self, bytes: u64) -> Duration {
        Duration::from_nanos(bytes.saturating_mul(1_000_000_000) / self.bytes_per_second)
    }
}

/// One direction of a path.
#[derive(Clone, Debug)]
pub struct Wire {
    plan: PathPlan,
    free_at: Instant,
}

/// One direction of a connection.
#[derive(Debug)]
pub struct Pipe {
    unsent: VecDeque<Bytes>,
    unsent_bytes: usize,
    window: u64,
    in_flight: u64,
    /// After so long without an acknowledgement the sender's system sends again.
    timeout: Duration,
    /// Since when no acknowledgement has come, while something is under way.
    waits_since: Instant,
    last_arrival: Instant,
}

/// A burst on its way.
#[derive(Debug)]
pub struct Burst {
    /// The bytes that arrive.
    pub bytes: Bytes,
    /// When.
    pub arrives_at: Instant,
    /// When its sender knows.
    pub acknowledged_at: Instant,
}

impl Wire {
    /// An empty line.
    pub fn new(plan: PathPlan, now: Instant) -> Self {
        Self { plan, free_at: now }
    }
    /// The plan of the path.
    pub fn plan(&self) -> PathPlan {
        self.plan
    }
    /// Takes `bytes`; when they have left, and whether the queue had room for them.
    fn take(&mut self, now: Instant, bytes: u64) -> (Instant, bool) {
        let backlog = self.free_at.saturating_duration_since(now);
        // One connection never fills the queue alone: it paces what its window holds.
        let fits = backlog <= self.plan.time_of(self.plan.queue_bytes) + self.plan.round_trip;
        self.free_at = self.free_at.max(now) + self.plan.time_of(bytes);
        (self.free_at, fits)
    }
}

impl Pipe {
    /// An empty pipe.
    pub fn new(now: Instant) -> Self {
        Self {
            unsent: VecDeque::new(),
            unsent_bytes: 0,
            window: CONGESTION_WINDOW_INITIAL,
            in_flight: 0,
            timeout: RETRANSMISSION_TIMEOUT_MIN,
            waits_since: now,
            last_arrival: now,
        }
    }
    /// The bytes that the sender sends before any acknowledgement: for servers that remember the
    /// path or are configured so.
    pub fn open_to(&mut self, bytes: u64) {
        self.window = bytes;
    }
    /// Whether the socket takes more.
    pub fn has_room(&self) -> bool {
        self.unsent_bytes < UNSENT_BYTES_MAX
    }
    /// Whether everything is on its way.
    pub fn is_flushed(&self) -> bool {
        self.unsent_bytes == 0
    }
    /// When the last byte so far arrives.
    pub fn last_arrival(&self) -> Instant {
        self.last_arrival
    }
    /// Gives bytes to the socket.
    pub fn push(&mut self, bytes: Bytes) {
        if !bytes.is_empty() {
            self.unsent_bytes += bytes.len();
            self.unsent.push_back(bytes);
        }
    }
    /// The sender is gone, with what it had not sent.
    pub fn clear(&mut self) {
        self.unsent.clear();
        self.unsent_bytes = 0;
    }
    /// The next burst that may leave.
    pub fn transmit(&mut self, now: Instant, wire: &mut Wire, dice: &mut Dice) -> Option<Burst> {
        let plan = wire.plan;
        let allowed = self.window.saturating_sub(self.in_flight);
        let burst = (plan.bytes_per_second / 1000).clamp(SEGMENT_BYTES, BURST_BYTES_MAX);
        let front = self.unsent.front_mut()?;
        let len = burst.min(allowed).min(front.len() as u64);
        // A sliver of window is not worth a packet while more is under way (RFC 9293 3.8.6.2.1).
        if len == 0 || (len < SEGMENT_BYTES.min(front.len() as u64) && self.in_flight > 0) {
            return None;
        }
        let bytes = front.split_to(len as usize);
        if front.is_empty() {
            self.unsent.pop_front();
        }
        self.unsent_bytes -= bytes.len();
        let (left_at, fits) = wire.take(now, len);
        let mut arrives_at = left_at + plan.round_trip / 2;
        if !fits || dice.per_mille(plan.loss_per_mille) {
            let tail = self.unsent_bytes == 0;
            arrives_at += plan.round_trip;
            if tail {
                arrives_at += TAIL_LOSS_DELAY;
            }
            self.window = (self.window / 2).max(CONGESTION_WINDOW_INITIAL);
        } else if dice.per_mille(plan.reorder_per_mille) {
            arrives_at += plan.round_trip / 10;
        }
        arrives_at = arrives_at.max(self.last_arrival);
        self.last_arrival = arrives_at;
        if self.in_flight == 0 {
            self.waits_since = now;
        }
        self.in_flight += len;
        let acknowledged_at = arrives_at + plan.round_trip / 2;
        // The estimate of the round trip follows the queue (RFC 6298 section 2).
        self.timeout = RETRANSMISSION_TIMEOUT_MIN.max((acknowledged_at - now) * 2);
        Some(Burst {
            bytes,
            arrives_at,
            acknowledged_at,
        })
    }
    /// The sender's unacknowledged data, as its kernel reports it: its timer fires once, and each
    /// further time twice as late (RFC 6298 section 5.5).
    pub fn unanswered(&self, now: Instant) -> Option<Unanswered> {
        let waits = now.saturating_duration_since(self.waits_since);
        let periods = (waits.as_millis() / self.timeout.as_millis()) as u32;
        (self.in_flight > 0).then_some(Unanswered {
            since: self.waits_since,
            repeats: (periods + 1).ilog2(),
            refused: false,
        })
    }
    /// The other end has `bytes`.
    pub fn acknowledge(&mut self, now: Instant, bytes: u64, plan: &PathPlan) {
        self.in_flight -= bytes;
        self.waits_since = now;
        let full = plan.bytes_under_way() + plan.queue_bytes;
        self.window = (self.window + bytes).min(full.max(CONGESTION_WINDOW_INITIAL));
    }
}
