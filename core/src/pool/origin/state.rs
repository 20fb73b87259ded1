//! The pool's state of one origin: its queue, its connections, and what it remembers.

use super::Origin;
use super::growth::Growth;
use super::prewarm::Prewarm;
use crate::pool::ConnectionId;
use crate::pool::connection::Connection;
use crate::pool::connection::capacity::Multiplexing;
use crate::pool::connection::capacity::Standing;
use crate::pool::connection::lifetime::Lifetime;
use crate::pool::dispatch::decide::OriginView;
use crate::pool::dispatch::queue::OriginQueue;
use crate::pool::retry::RetryBudget;
use crate::pool::slab::{Key, Slab};
use std::time::{Duration, Instant};

/// Facts learned about an origin, kept while the pool lives, so that later bursts need no probe.
#[derive(Clone, Copy, Debug)]
pub(in crate::pool) struct Memory {
    pub(in crate::pool) multiplexing: Multiplexing,
    /// The peer's limit on concurrent exchanges when we last knew it.
    pub(in crate::pool) limit: Option<u32>,
    round_trip: Option<Duration>,
    need: PathNeed,
    learned_at: Instant,
}

/// How large a receive window the way to the origin has shown to need, and when it did last.
#[derive(Clone, Copy, Debug)]
struct PathNeed {
    bytes: u32,
    confirmed_at: Instant,
}

#[derive(Debug)]
pub(in crate::pool) struct OriginState {
    pub(in crate::pool) origin: Origin,
    pub(in crate::pool) origin_queue: OriginQueue,
    /// Connections with room; the one that became ready last stands last.
    pub(in crate::pool) ready: Vec<Key>,
    /// Connections whose limit is not known yet.
    unsettled: Vec<Key>,
    /// Connections that are open or suspect.
    pub(in crate::pool) connections: u32,
    /// The part of `connections` that gets no new request until their peer answers.
    pub(in crate::pool) suspect: u32,
    /// Connections that stay silent and for which another was asked, until it works.
    pub(in crate::pool) silent: Vec<Key>,
    /// The slowest recent answer.
    slow_answer: Option<SlowAnswer>,
    /// Connections that only finish what they have.
    pub(in crate::pool) draining: u32,
    /// The part of `draining` that counts against the bound on connections.
    pub(in crate::pool) leaving: u32,
    pub(in crate::pool) attempts: u32,
    /// Sums over connections that are open: exchanges that may start, and those that did.
    pub(in crate::pool) room: u32,
    pub(in crate::pool) active: u32,
    /// Requests that pause before they join the line.
    pub(in crate::pool) parked: u32,
    pub(in crate::pool) retries: RetryBudget,
    pub(in crate::pool) lifetime: Lifetime,
    pub(in crate::pool) prewarm: Prewarm,
    pub(in crate::pool) growth: Growth,
    /// When the attempt began that asks for the version.
    pub(in crate::pool) probe_began: Option<Instant>,
    pinned_h1_at: Option<Instant>,
    memory: Option<Memory>,
    /// Rounds of attempts that failed in a row.
    failures: u32,
    failed_at: Option<Instant>,
    pub(super) not_before: Option<Instant>,
    /// It stands in the pool's list of origins that wait for a socket.
    pub(in crate::pool) waits_for_socket: bool,
}

/// A handshake, or a silence that ended.
#[derive(Clone, Copy, Debug)]
struct SlowAnswer {
    at: Instant,
    took: Duration,
}

/// How long a slow answer tells of its peer. One that was busy, or stood still, for a second serves
/// what came in that time within a few seconds; behind that a silence is another one.
const SLOW_ANSWER_REMEMBERED: Duration = Duration::from_secs(10);

impl OriginState {
    pub(in crate::pool) fn new(origin: Origin) -> Self {
        Self {
            origin,
            origin_queue: OriginQueue::default(),
            ready: Vec::new(),
            unsettled: Vec::new(),
            connections: 0,
            suspect: 0,
            silent: Vec::new(),
            slow_answer: None,
            draining: 0,
            leaving: 0,
            attempts: 0,
            room: 0,
            active: 0,
            parked: 0,
            retries: RetryBudget::default(),
            lifetime: Lifetime::default(),
            prewarm: Prewarm::default(),
            growth: Growth::default(),
            probe_began: None,
            pinned_h1_at: None,
            memory: None,
            failures: 0,
            failed_at: None,
            not_before: None,
            waits_for_socket: false,
        }
    }

    /// Whether nothing is open, coming or waiting, so that the origin may be forgotten.
    pub(in crate::pool) fn is_idle(&self) -> bool {
        self.origin_queue.len() + self.parked + self.connections + self.draining + self.attempts
            == 0
    }

    pub(in crate::pool) fn view(
        &self,
        now: Instant,
        connections: &Slab<Connection>,
        bounds: &PoolBounds,
    ) -> OriginView {
        let multiplexing = self.multiplexing(now);
        let per_connection = match multiplexing {
            Some(Multiplexing::No) => Some(bounds.pipelining),
            Some(Multiplexing::Yes) => self.limit_hint(now),
            None => None,
        };
        let per_connection = self.lifetime.bound(per_connection);
        // A suspect may be dead: it must not keep others from being opened.
        let open = self.connections - self.suspect;
        let connections_max = self
            .connections_max(now, bounds)
            .saturating_sub(self.leaving);
        OriginView {
            waiting: self.origin_queue.len(),
            waiting_max: bounds.waiting_max,
            roomiest: self.roomiest(connections, bounds.avoid, bounds.alone),
            kept_free: self.is_kept_free(
                per_connection,
                connections_max.saturating_sub(open),
                bounds.reserved,
            ),
            connections: open,
            suspects: self.suspect,
            attempts: self.attempts,
            probe_is_late: self.probe_due(now, bounds).is_some_and(|at| at <= now),
            connections_max,
            sockets_left: bounds.sockets_left,
            per_connection,
            expected: self.expected(connections, per_connection),
            failing: self.failures > 0,
            backing_off: self.not_before.is_some_and(|at| at > now),
        }
    }

    /// The bound on connections, with those that only finish what they have.
    pub(in crate::pool) fn connections_max(&self, now: Instant, bounds: &PoolBounds) -> u32 {
        let bound = bounds.connections_max(self.multiplexing(now));
        bound.max(self.growth.connections_max)
    }

    /// Whether what is left, connections to come included, is kept for more urgent requests. An
    /// idle origin serves any request: a reserve above its capacity blocks no queue.
    fn is_kept_free(&self, per_connection: Option<u32>, openable: u32, reserved: u32) -> bool {
        if reserved == 0 || self.active == 0 {
            return false;
        }
        let expected = openable.saturating_mul(per_connection.unwrap_or(u32::MAX));
        self.room.saturating_add(expected) <= reserved
    }

    /// When the attempt that asks for the version has taken so long that a second one begins.
    pub(in crate::pool) fn probe_due(&self, now: Instant, bounds: &PoolBounds) -> Option<Instant> {
        let asks = self.attempts == 1 && self.connections == 0 && self.multiplexing(now).is_none();
        let began = self.probe_began.filter(|_| asks)?;
        let known = self.memory.and_then(|memory| memory.round_trip);
        let trips = known.unwrap_or(ROUND_TRIP_UNKNOWN) * PROBE_ROUND_TRIPS;
        Some(began + bounds.probe_patience?.max(trips))
    }

    /// The least loaded of the connections that became ready last. An idle one is taken at once:
    /// nothing is less loaded, and the most recently used is the least likely to be dead.
    pub(in crate::pool) fn roomiest(
        &self,
        connections: &Slab<Connection>,
        avoid: Option<Key>,
        alone: bool,
    ) -> Option<ConnectionId> {
        let mut best: Option<(u32, Key)> = None;
        // An idle connection may stand anywhere; only where requests are pipelined is it looked for.
        let choices = if alone { usize::MAX } else { CHOICES_MAX };
        for &key in self.ready.iter().rev().take(choices) {
            let Some(connection) = connections.get(key) else {
                continue;
            };
            let pipelines = connection.multiplexing == Multiplexing::No;
            if alone && pipelines && connection.gate.active() > 0 {
                continue;
            }
            let load = match avoid == Some(key) {
                // Better than nothing: a refusal may have been of the moment.
                true => u32::MAX,
                false => connection.gate.load_per_mille(),
            };
            if best.is_none_or(|(lowest, _)| load < lowest) {
                best = Some((load, key));
            }
            if load == 0 {
                break;
            }
        }
        best.map(|(_, key)| ConnectionId(key))
    }

    fn expected(&self, connections: &Slab<Connection>, per_connection: Option<u32>) -> u32 {
        let Some(expected) = per_connection else {
            return 0;
        };
        let unsettled = self
            .unsettled
            .iter()
            .filter_map(|&key| connections.get(key));
        unsettled
            .filter(|connection| connection.gate.standing() == Standing::Open)
            .map(|connection| expected.saturating_sub(connection.gate.active()))
            .fold(0, u32::saturating_add)
    }

    /// Files `connection` where its gate says it belongs now.
    pub(in crate::pool) fn refile(&mut self, key: Key, connection: &mut Connection) {
        let has_room = connection.gate.room() > 0;
        if has_room != connection.is_ready {
            connection.is_ready = has_room;
            if has_room {
                self.ready.push(key);
            } else {
                remove_last(&mut self.ready, key);
            }
        }
        let filed = match connection.gate.standing() {
            Standing::Open => (connection.gate.room(), connection.gate.active()),
            Standing::Draining | Standing::Suspect { .. } => (0, 0),
        };
        self.room = self.room - connection.filed.0 + filed.0;
        self.active = self.active - connection.filed.1 + filed.1;
        connection.filed = filed;
        let unsettled = !connection.gate.is_limit_known();
        if unsettled != connection.is_unsettled {
            connection.is_unsettled = unsettled;
            if unsettled {
                self.unsettled.push(key);
            } else {
                remove_last(&mut self.unsettled, key);
            }
        }
    }

    /// The peer has answered on one of its connections after this time.
    pub(in crate::pool) fn note_answer(&mut self, now: Instant, took: Duration) {
        if took >= self.answer_time(now) {
            self.slow_answer = Some(SlowAnswer { at: now, took });
        }
    }

    /// How long the peer took for its slowest recent answer.
    pub(in crate::pool) fn answer_time(&self, now: Instant) -> Duration {
        let of_late = |it: &SlowAnswer| now < it.at + SLOW_ANSWER_REMEMBERED;
        self.slow_answer
            .filter(of_late)
            .map_or(Duration::ZERO, |it| it.took)
    }

    /// Takes a connection that is gone out of every list.
    pub(in crate::pool) fn forget(&mut self, key: Key, connection: &Connection) {
        if connection.is_ready {
            remove_last(&mut self.ready, key);
        }
        if connection.is_unsettled {
            remove_last(&mut self.unsettled, key);
        }
        self.silent.retain(|&silent| silent != key);
        self.room -= connection.filed.0;
        self.active -= connection.filed.1;
        self.suspect -= u32::from(connection.suspect_since.is_some());
        if connection.is_draining {
            self.draining -= 1;
            self.leaving -= u32::from(connection.keeps_place());
        } else {
            self.connections -= 1;
        }
    }

    /// The origin wants HTTP/1.1, whatever its ALPN says.
    pub(in crate::pool) fn pin_h1(&mut self, now: Instant) {
        self.pinned_h1_at = Some(now);
    }

    pub(in crate::pool) fn is_pinned_h1(&self, now: Instant) -> bool {
        self.pinned_h1_at
            .is_some_and(|at| now.saturating_duration_since(at) < MEMORY_AGE_MAX)
    }

    pub(in crate::pool) fn multiplexing(&self, now: Instant) -> Option<Multiplexing> {
        if self.is_pinned_h1(now) {
            return Some(Multiplexing::No);
        }
        self.origin
            .expected_multiplexing()
            .or_else(|| self.memory(now).map(|memory| memory.multiplexing))
    }

    pub(in crate::pool) fn limit_hint(&self, now: Instant) -> Option<u32> {
        self.memory(now)?.limit
    }

    fn memory(&self, now: Instant) -> Option<Memory> {
        self.memory
            .filter(|memory| now.saturating_duration_since(memory.learned_at) < MEMORY_AGE_MAX)
    }

    pub(in crate::pool) fn learn(&mut self, now: Instant, multiplexing: Multiplexing) {
        self.failures = 0;
        self.not_before = None;
        let limit = self
            .memory
            .filter(|memory| memory.multiplexing == multiplexing)
            .and_then(|memory| memory.limit);
        self.memory = Some(Memory {
            multiplexing,
            limit,
            round_trip: self.memory.and_then(|memory| memory.round_trip),
            need: self.memory.map_or(
                PathNeed {
                    bytes: 0,
                    confirmed_at: now,
                },
                |memory| memory.need,
            ),
            learned_at: now,
        });
    }

    pub(in crate::pool) fn learn_limit(&mut self, limit: u32) {
        if let Some(memory) = &mut self.memory {
            memory.limit = Some(limit);
        }
    }

    /// A connection measured a round trip.
    pub(in crate::pool) fn learn_round_trip(&mut self, round_trip: Duration) {
        if let Some(memory) = &mut self.memory {
            memory.round_trip = Some(round_trip);
        }
    }

    pub(in crate::pool) fn round_trip(&self, now: Instant) -> Option<Duration> {
        self.memory(now)?.round_trip
    }

    /// The path is another one now.
    pub(in crate::pool) fn forget_round_trip(&mut self) {
        if let Some(memory) = &mut self.memory {
            memory.round_trip = None;
        }
    }

    /// A connection has seen how large a window the path needs. Small bodies need little and say
    /// nothing: the largest recent one counts.
    pub(in crate::pool) fn learn_path_need(&mut self, now: Instant, bytes: u32) {
        if bytes > 0
            && bytes >= self.bdp_bytes(now)
            && let Some(memory) = &mut self.memory
        {
            let confirmed_at = now;
            memory.need = PathNeed {
                bytes,
                confirmed_at,
            };
        }
    }

    pub(in crate::pool) fn bdp_bytes(&self, now: Instant) -> u32 {
        self.memory(now)
            .map(|memory| memory.need)
            .filter(|need| now.saturating_duration_since(need.confirmed_at) < PATH_NEED_AGE_MAX)
            .map_or(0, |need| need.bytes)
    }

    /// Forgets earlier failures.
    pub(in crate::pool) fn forgive(&mut self) {
        self.failures = 0;
        self.not_before = None;
    }

    /// An attempt failed: the first costs nothing, then 100 ms, doubling to [`BACK_OFF_MAX`].
    /// Attempts that were under way together count once. Returns when to try again, if later;
    /// `pauses`: it may be.
    pub(in crate::pool) fn back_off(
        &mut self,
        now: Instant,
        began: Instant,
        pauses: bool,
    ) -> Option<Instant> {
        if self.failed_at.is_some_and(|at| began < at) {
            return None;
        }
        self.failed_at = Some(now);
        let wait = match self.failures {
            failures if failures == 0 || !pauses => None,
            failures => Some(BACK_OFF_MIN * (1 << (failures - 1).min(8))),
        };
        self.failures = self.failures.saturating_add(1);
        self.not_before = wait.map(|wait| now + wait.min(BACK_OFF_MAX));
        self.not_before
    }
}

/// The pool's bounds for [`OriginState::view`].
#[derive(Clone, Copy, Debug)]
pub(in crate::pool) struct PoolBounds {
    pub(in crate::pool) pipelining: u32,
    pub(in crate::pool) waiting_max: u32,
    pub(in crate::pool) connections_max: Option<u32>,
    pub(in crate::pool) sockets_left: u32,
    pub(in crate::pool) avoid: Option<Key>,
    /// The request in question is not pipelined behind others.
    pub(in crate::pool) alone: bool,
    /// Slots that the request in question must leave free.
    pub(in crate::pool) reserved: u32,
    pub(in crate::pool) probe_patience: Option<Duration>,
}

impl PoolBounds {
    pub(in crate::pool) fn connections_max(&self, multiplexing: Option<Multiplexing>) -> u32 {
        self.connections_max.unwrap_or(match multiplexing {
            Some(Multiplexing::Yes) => crate::pool::CONNECTIONS_MULTIPLEXED_MAX,
            Some(Multiplexing::No) | None => crate::pool::CONNECTIONS_MAX,
        })
    }
}

/// The connections that changed last stand at the end, so the search is short.
fn remove_last(list: &mut Vec<Key>, key: Key) {
    if let Some(at) = list.iter().rposition(|&other| other == key) {
        list.remove(at);
    }
}

/// Connections compared for the least load: enough that the choice is good, few enough that
/// thousands of connections cost nothing.
const CHOICES_MAX: usize = 16;
/// Servers change: learned facts are probed again after a day.
const MEMORY_AGE_MAX: Duration = Duration::from_secs(24 * 3600);
/// Routes change, and so does what else runs over them.
const PATH_NEED_AGE_MAX: Duration = Duration::from_secs(10 * 60);
/// Round trips of an attempt: TCP, TLS, and one that is lost.
const PROBE_ROUND_TRIPS: u32 = 3;
/// RFC 9002 section 6.2.2: the assumed round trip of an unmeasured path.
const ROUND_TRIP_UNKNOWN: Duration = Duration::from_millis(333);
const BACK_OFF_MIN: Duration = Duration::from_millis(100);
const BACK_OFF_MAX: Duration = Duration::from_secs(1);
