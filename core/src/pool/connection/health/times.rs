//! Times after which a silent peer is asked, suspected, replaced and given up: a user's settings, lengthened by the
//! path's round trip.

use std::time::Duration;

/// Questions in the time that made it suspect: each is one packet, and brings the peer three more.
const PROBES_PER_SUSPECT: u32 = 4;
/// An answer takes one; the others are for a path that is loaded.
const SUSPECT_ROUND_TRIPS: u32 = 6;
/// Repetitions that make a suspect: QUIC sends two packets at a timeout (RFC 9002 section 6.2.4), and
/// one for a PING, so three to five are lost where nothing else is wrong.
pub(super) const REPEATS_SUSPECT: u32 = 2;
/// Over two and a half round trips, for a peer that delays its acknowledgements (RFC 9000 section
/// 18.2: 25 ms by default) and timers that are late.
const UNANSWERED_SLACK: Duration = Duration::from_millis(100);

crate::options! {
    /// How long a peer may be silent.
    #[derive(PartialEq, Eq)]
    pub struct HealthTimes {
        /// A connection that was quiet for this long is probed with its next request. Default 10 s.
        pub quiet: Duration = Duration::from_secs(10), with_quiet;
        /// A connection that was quiet for this long is probed even without a request, so that
        /// exchanges on a dead peer fail and idle paths stay open. Default: none, it is not.
        pub unasked: Option<Duration> = None, with_unasked;
        /// An HTTP/1.1 connection that rested for this long is looked at once more before it gets a
        /// request: the peer may have closed it unnoticed. Default 1 s.
        pub rested: Duration = Duration::from_secs(1), with_rested;
        /// Silence after a question that makes it suspect, or six round trips if that is longer.
        /// Default 2 s.
        pub suspect: Duration = Duration::from_secs(2), with_suspect;
        /// Silence after a question that ends it; at least `suspect`. Default 15 s.
        pub dead: Duration = Duration::from_secs(15), with_dead;
        /// How long a connection may leave data unacknowledged that was sent again at least twice,
        /// before it is suspect; two and a half round trips and 100 ms if that is longer. Its transport
        /// repeats it; over HTTP/3, while exchanges wait, two PINGs in that time do. A new connection is opened in its place half of this time later, less the two
        /// round trips that it takes, and it ends when that one works and it is still silent three
        /// eighths of this time later, or one and a quarter round trips and 50 ms, or the peer's slowest answer on
        /// any connection in the last 10 s, whichever is longest.
        /// `None`: repetitions are ignored. HTTP/3
        /// everywhere; HTTP/1.1 and HTTP/2 on Linux, which reports its retransmissions (TCP_INFO); elsewhere a PING of HTTP/2 finds a dead path after `suspect` and
        /// `dead`, and HTTP/1.1 has the timeouts of its requests alone. Default 300 ms.
        ///
        /// An HTTP/3 connection whose exchanges wait is probed after this time too, because a server
        /// that dies with all data acknowledged leaves nothing unacknowledged, and no kernel answers in
        /// its place, as for TCP. The probes become rarer while exchanges wait and only their answers
        /// arrive: from the sixteenth on a sixteenth of this time is added to each pause, up to
        /// `quiet`.
        pub unanswered: Option<Duration> = Some(Duration::from_millis(300)), with_unanswered;
    }
}

/// How long what is unanswered may stay so, for a path of this length.
pub(super) struct Patience {
    /// Until each PING, where the transport's timeouts are late. The last has a round trip for its
    /// answer before the connection is suspect.
    pub(super) repeats: [Duration; REPEATS_SUSPECT as usize],
    /// Until the connection is suspect.
    pub(super) suspect: Duration,
    /// From there until another is opened in its place: a path may have changed, and a packet from
    /// a new address finds that out in a round trip.
    pub(super) replace: Duration,
    /// From the first sign that another connection works until this one ends.
    pub(super) outlived: Duration,
    pub(super) round_trip: Duration,
}

impl Patience {
    pub(super) fn of(times: &HealthTimes, round_trip: Option<Duration>) -> Option<Self> {
        let base = times.unanswered?;
        let trip = round_trip.unwrap_or_default();
        let answer = trip * 5 / 4 + UNANSWERED_SLACK / 2;
        let first = (base / 2).max(answer);
        Some(Self {
            repeats: [first, first + (base / 8).max(trip / 4)],
            suspect: base.max(answer * 2),
            // A connection takes two round trips: on a longer path it is begun sooner.
            replace: (base / 2).saturating_sub(trip * 2),
            outlived: (base * 3 / 8).max(answer),
            round_trip: trip,
        })
    }
}

pub(super) fn suspect_after(times: &HealthTimes, round_trip: Option<Duration>) -> Duration {
    let trips = round_trip.unwrap_or_default() * SUSPECT_ROUND_TRIPS;
    times.suspect.max(trips)
}

pub(super) fn dead_after(times: &HealthTimes, round_trip: Option<Duration>) -> Duration {
    times.dead.max(suspect_after(times, round_trip))
}

/// Between two questions to a suspect whose exchanges wait.
pub(super) fn ask_again_after(times: &HealthTimes) -> Duration {
    times.suspect / PROBES_PER_SUSPECT
}
