//! Limits on how often a peer may do what costs us work. Every flood is bounded by a [`Budget`] or
//! a proportion; odd but legal input costs points of one glitch budget (docs/attacks.md). Pure
//! bookkeeping: the connection reports events and carries out the verdict.
//!
//! Running handlers are counted where they are admitted, not here: a reset frees the stream, not
//! its handler (CVE-2023-44487).

use crate::budget::{Budget, Rate};
use crate::error::Violation;
use crate::limits::{
    DATA_OVERHEAD_BYTES, DATA_OVERHEAD_BYTES_MAX, EMPTY_FRAMES, Limits,
    PRIORITY_UPDATES_PENDING_MAX, PROVOKED_RESETS, RESET_AGE, RESETS_CEILING_BURSTS,
    RESETS_CEILING_REFILLS, WINDOW_UPDATES_FREE, WINDOW_UPDATES_PER_DATA_FRAME_MAX,
    WINDOW_UPDATES_PER_STREAM_MAX,
};
use std::time::{Duration, Instant};

#[cfg(test)]
#[path = "abuse_test.rs"]
mod abuse_test;

/// From this share of the glitch budget, in per cent, the connection drains.
const DRAIN_PERCENT: u32 = 75;
/// The share of reset streams is taken over about this many of the last: then both counts are
/// halved.
const RATIO_STREAMS: u32 = 1024;

/// The reaction to an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a verdict that is not carried out stops no flood"]
pub enum Verdict {
    /// Go on.
    Fine,
    /// Go on with what is open, and take no more streams: GOAWAY with NO_ERROR. Comes again with
    /// every further glitch.
    Drain,
    /// Close the connection with this violation.
    Close(Violation),
}

/// The books of one connection.
#[derive(Clone, Debug)]
pub struct Abuse {
    rates: Rates,
    /// Nothing where the owner has set no limit of these counts.
    counted: Option<Box<CountedLimits>>,
    /// Nothing until the first charge: full budgets.
    budgets: Option<Box<Budgets>>,
    /// Streams the peer opened and streams that were reset, lately; see [`RATIO_STREAMS`].
    opened_lately: u32,
    reset_lately: u32,
    streams: u64,
    data_frames_sent: u64,
    /// The cost of the unread frames of all bodies, beside their bytes.
    overhead: u64,
    /// Bytes that the peer may still send on streams that we have reset, before it knows.
    late_bytes: u64,
    counts: [u32; NAMES.len()],
}

/// The frames of one body. Each body has its own count: an unread one must not make those beside it look unread too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BodyFrames {
    /// The cost of its unread frames, beside their bytes.
    overhead: u32,
    had_empty: bool,
}

/// Counts that end a connection, whatever its budgets say.
#[derive(Clone, Debug)]
struct CountedLimits {
    stream_errors_max: u32,
    refused_max: u32,
    /// Frames that broke a rule of their stream.
    stream_errors: u32,
    /// Streams that were refused since one was taken.
    refused_in_a_row: u32,
}

impl CountedLimits {
    fn new(limits: &Limits) -> Option<Box<Self>> {
        let (stream_errors_max, refused_max) =
            (limits.stream_errors_max, limits.refused_streams_max);
        let is_set = stream_errors_max.min(refused_max) < u32::MAX;
        is_set.then(|| {
            Box::new(Self {
                stream_errors_max,
                refused_max,
                stream_errors: 0,
                refused_in_a_row: 0,
            })
        })
    }
}

/// How the budgets of a connection refill.
#[derive(Clone, Copy, Debug)]
struct Rates {
    glitches: Rate,
    resets: Rate,
    pings: Rate,
}

/// Budgets that few peers are ever charged for.
#[derive(Clone, Debug)]
struct Budgets {
    glitches: Budget,
    resets: Budget,
    /// The budget of all resets, whatever their share.
    resets_ceiling: Budget,
    provoked: Budget,
    pings: Budget,
    empty_frames: Budget,
}

/// Index into the counts.
#[derive(Clone, Copy)]
enum AbuseKind {
    GlitchPoints,
    ResetsReceived,
    ResetsProvoked,
    StreamsRefused,
    Pings,
    Settings,
    EmptyData,
    WindowUpdates,
    PriorityUpdates,
    OverheadExceeded,
}

/// Stable names for metrics, in the order of [`AbuseKind`].
const NAMES: [&str; 10] = [
    "glitch_points",
    "resets_received",
    "resets_provoked",
    "streams_refused",
    "pings",
    "settings",
    "empty_data",
    "window_updates",
    "priority_updates",
    "overhead_exceeded",
];

impl Abuse {
    /// Full budgets.
    pub fn new(limits: &Limits) -> Self {
        Self {
            rates: Rates {
                glitches: limits.glitches,
                resets: limits.resets,
                pings: limits.pings,
            },
            counted: CountedLimits::new(limits),
            budgets: None,
            opened_lately: 0,
            reset_lately: 0,
            streams: 0,
            data_frames_sent: 0,
            overhead: 0,
            late_bytes: 0,
            counts: [0; NAMES.len()],
        }
    }

    /// A tolerated oddity; `points` from 1 (a frame on a stream long closed) to 10.
    pub fn glitch(&mut self, points: u32, now: Instant) -> Verdict {
        let count = &mut self.counts[AbuseKind::GlitchPoints as usize];
        *count = count.saturating_add(points);
        let glitches = &mut self.budgets(now).glitches;
        if !glitches.charge(points, now) {
            return Verdict::Close(Violation::GlitchesTooMany);
        }
        if glitches.used_percent(now) >= DRAIN_PERCENT {
            return Verdict::Drain;
        }
        Verdict::Fine
    }

    /// A stream was opened, by either side; refused ones included.
    pub fn stream_opened(&mut self) {
        self.streams += 1;
        self.opened_lately += 1;
        if self.opened_lately >= RATIO_STREAMS {
            self.opened_lately /= 2;
            self.reset_lately /= 2;
        }
    }

    /// The peer sent RST_STREAM on a stream that was open for `age` (CVE-2023-44487). One that follows a
    /// complete answer (NO_ERROR, RFC 9113 section 8.1) is not for here.
    pub fn reset_received(&mut self, age: Duration, now: Instant) -> Verdict {
        self.count(AbuseKind::ResetsReceived);
        if age < RESET_AGE {
            return self.charge_reset(now);
        }
        match self.budgets(now).resets_ceiling.charge(1, now) {
            true => Verdict::Fine,
            false => Verdict::Close(Violation::ResetsTooMany),
        }
    }

    /// We refused a stream: it has cost a header block, and counts like a reset.
    pub fn stream_refused(&mut self, now: Instant) -> Verdict {
        self.count(AbuseKind::StreamsRefused);
        if let Some(counted) = &mut self.counted {
            if counted.refused_in_a_row > counted.refused_max {
                return Verdict::Close(Violation::RefusedStreamsTooMany);
            }
            counted.refused_in_a_row = counted.refused_in_a_row.saturating_add(1);
        }
        self.charge_reset(now)
    }

    /// A stream was taken.
    #[inline]
    pub fn stream_accepted(&mut self) {
        if let Some(counted) = &mut self.counted {
            counted.refused_in_a_row = 0;
        }
    }

    /// Counts a frame that broke a rule of its stream. True: it is one too many.
    fn exceeds_stream_errors(&mut self) -> bool {
        let Some(counted) = &mut self.counted else {
            return false;
        };
        let exceeds = counted.stream_errors > counted.stream_errors_max;
        counted.stream_errors = counted.stream_errors.saturating_add(1);
        exceeds
    }

    /// We reset a stream because the peer broke a rule (CVE-2025-8671). Those that a single frame
    /// provokes have a budget of their own, far smaller.
    pub fn reset_provoked(&mut self, violation: Violation, now: Instant) -> Verdict {
        self.count(AbuseKind::ResetsProvoked);
        if self.exceeds_stream_errors() {
            return Verdict::Close(Violation::StreamErrorsTooMany);
        }
        if needs_no_request(violation) && !self.budgets(now).provoked.charge(1, now) {
            return Verdict::Close(Violation::ResetsTooMany);
        }
        self.charge_reset(now)
    }

    /// A flood is faster than the budget refills, and more than half of the streams: a browser that
    /// leaves a page resets many at once. Or it exceeds the ceiling ([`RESETS_CEILING_BURSTS`]),
    /// whatever its share: good streams are cheap to put between.
    fn charge_reset(&mut self, now: Instant) -> Verdict {
        self.reset_lately = self.reset_lately.saturating_add(1);
        let budgets = self.budgets(now);
        let in_budget = budgets.resets.charge(1, now);
        let below_ceiling = budgets.resets_ceiling.charge(1, now);
        let mostly_reset = u64::from(self.reset_lately) * 2 > u64::from(self.opened_lately);
        if below_ceiling && (in_budget || !mostly_reset) {
            return Verdict::Fine;
        }
        Verdict::Close(Violation::ResetsTooMany)
    }

    /// A PING that asks for an answer (CVE-2019-9512).
    pub fn ping(&mut self, now: Instant) -> Verdict {
        self.count(AbuseKind::Pings);
        self.charge_ping(now)
    }

    /// A SETTINGS frame that asks for an answer (CVE-2019-9515); not the first, which has to come.
    pub fn settings(&mut self, now: Instant) -> Verdict {
        self.count(AbuseKind::Settings);
        self.charge_ping(now)
    }

    fn charge_ping(&mut self, now: Instant) -> Verdict {
        if self.budgets(now).pings.charge(1, now) {
            return Verdict::Fine;
        }
        Verdict::Close(Violation::PingsTooMany)
    }

    /// A DATA frame with `body_len` bytes of body came, padding not counted. Frames with
    /// END_STREAM cost nothing: there is one per stream. Empty ones draw on a budget
    /// (CVE-2019-9518); the first of a body is free, because it costs less than its stream. Short ones are charged to
    /// `of_body` what they cost in memory until
    /// [`data_consumed`](Self::data_consumed), and only beyond
    /// [`DATA_OVERHEAD_BYTES_MAX`] of all bodies is each a glitch, so that a stream of small messages with a
    /// reader lives for ever.
    pub fn data_received(
        &mut self,
        of_body: &mut BodyFrames,
        body_len: u32,
        end: bool,
        now: Instant,
    ) -> Verdict {
        if end {
            return Verdict::Fine;
        }
        if body_len == 0 {
            return self.empty_data(of_body, now);
        }
        let overhead = DATA_OVERHEAD_BYTES.saturating_sub(body_len);
        if overhead == 0 {
            return Verdict::Fine;
        }
        if self.overhead + u64::from(overhead) > DATA_OVERHEAD_BYTES_MAX {
            self.count(AbuseKind::OverheadExceeded);
            return self.glitch(1, now);
        }
        self.overhead += u64::from(overhead);
        of_body.overhead += overhead;
        Verdict::Fine
    }

    fn empty_data(&mut self, of_body: &mut BodyFrames, now: Instant) -> Verdict {
        self.count(AbuseKind::EmptyData);
        if self.exceeds_stream_errors() {
            return Verdict::Close(Violation::StreamErrorsTooMany);
        }
        let is_first = !std::mem::replace(&mut of_body.had_empty, true);
        if is_first || self.budgets(now).empty_frames.charge(1, now) {
            return Verdict::Fine;
        }
        Verdict::Close(Violation::EmptyFramesTooMany)
    }

    /// `bytes` of the `unread` ones of a body were read: their share of its overhead is free again.
    pub fn data_consumed(&mut self, of_body: &mut BodyFrames, bytes: u64, unread: u64) {
        if bytes >= unread {
            return self.data_discarded(of_body);
        }
        // Both factors are bounded: the overhead by its limit, the bytes by the windows.
        let freed = u64::from(of_body.overhead) * bytes / unread;
        of_body.overhead -= freed as u32;
        self.overhead -= freed;
    }

    /// Nothing of a body lies unread any more.
    pub fn data_discarded(&mut self, of_body: &mut BodyFrames) {
        self.overhead -= u64::from(std::mem::take(&mut of_body.overhead));
    }

    /// We reset a stream on which the peer may send `bytes` more.
    pub fn stream_abandoned(&mut self, bytes: u64) {
        self.late_bytes = self.late_bytes.saturating_add(bytes);
    }

    /// Whether a DATA frame of `len` bytes on a stream that we have reset is one that the peer may have sent before it knew. Such
    /// frames cost nothing: a peer that sends small ones fast has thousands of them on their way. A short one counts as
    /// much as its overhead, so that few of them fit a window.
    pub fn takes_late_data(&mut self, len: u32) -> bool {
        let left = self
            .late_bytes
            .checked_sub(len.max(DATA_OVERHEAD_BYTES).into());
        self.late_bytes = left.unwrap_or(self.late_bytes);
        left.is_some()
    }

    /// We sent a DATA frame: the peer has a reason for WINDOW_UPDATE.
    pub fn data_sent(&mut self) {
        self.data_frames_sent += 1;
    }

    /// A WINDOW_UPDATE came, on a stream or the connection: they are in proportion to the DATA
    /// we sent and to the streams.
    pub fn window_update(&mut self) -> Verdict {
        self.count(AbuseKind::WindowUpdates);
        let allowed = u64::from(WINDOW_UPDATES_FREE)
            + self.data_frames_sent * u64::from(WINDOW_UPDATES_PER_DATA_FRAME_MAX)
            + self.streams * u64::from(WINDOW_UPDATES_PER_STREAM_MAX);
        if u64::from(self.counts[AbuseKind::WindowUpdates as usize]) > allowed {
            return Verdict::Close(Violation::WindowUpdatesTooMany);
        }
        Verdict::Fine
    }

    /// A PRIORITY_UPDATE came; `pending` are those kept for streams that are idle, this one
    /// included (RFC 9218 section 7.1). Each costs a glitch point.
    pub fn priority_update(&mut self, pending: usize, now: Instant) -> Verdict {
        self.count(AbuseKind::PriorityUpdates);
        if pending > PRIORITY_UPDATES_PENDING_MAX {
            return Verdict::Close(Violation::PriorityUpdatesTooMany);
        }
        self.glitch(1, now)
    }

    /// How often each thing happened, by stable names.
    pub fn counts(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        NAMES.into_iter().zip(self.counts.map(u64::from))
    }

    fn budgets(&mut self, now: Instant) -> &mut Budgets {
        let rates = self.rates;
        self.budgets.get_or_insert_with(|| {
            Box::new(Budgets {
                glitches: Budget::new(rates.glitches, now),
                resets: Budget::new(rates.resets, now),
                resets_ceiling: Budget::new(ceiling_of(rates.resets), now),
                provoked: Budget::new(PROVOKED_RESETS, now),
                pings: Budget::new(rates.pings, now),
                empty_frames: Budget::new(EMPTY_FRAMES, now),
            })
        })
    }

    fn count(&mut self, kind: AbuseKind) {
        let count = &mut self.counts[kind as usize];
        *count = count.saturating_add(1);
    }
}

/// The rate of all resets of a peer, where `resets` is that of those that count for its share.
fn ceiling_of(resets: Rate) -> Rate {
    Rate {
        burst: resets.burst.saturating_mul(RESETS_CEILING_BURSTS),
        per_second: resets.per_second.saturating_mul(RESETS_CEILING_REFILLS),
    }
}

/// Stream errors that one frame provokes at will on a stream that is open or never was: the
/// primitives of CVE-2025-8671.
fn needs_no_request(violation: Violation) -> bool {
    matches!(
        violation,
        Violation::WindowIncrementZero
            | Violation::WindowOverflow
            | Violation::FrameSizeInvalidOnStream
            | Violation::DependsOnItself
            | Violation::StreamHalfClosed
            | Violation::StreamClosedByReset
    )
}
