//! The attacks on our server, by the rows of docs/attacks.md.

use super::P99_MAX;
use super::wire::Fate;
use super::{http1, http2};
use std::net::SocketAddr;
use std::time::Duration;

/// The bound on memory of most attacks, MiB.
const RSS_MIB: u64 = 64;

/// The row of tunnels.
const TUNNEL_ROW: u32 = 18;

/// How an attack reaches the server.
pub(crate) enum Run {
    /// In cleartext.
    Clear(fn(SocketAddr) -> Vec<Fate>),
    /// To a port of TLS.
    Tls(fn(SocketAddr) -> Vec<Fate>),
    /// As `Clear`, at a server that limits each address.
    Limited(fn(SocketAddr) -> Vec<Fate>),
    /// As `Clear`, at a server of 250 connections, which are scarce from 188 on.
    Scarce(fn(SocketAddr) -> Vec<Fate>),
    /// Over QUIC: a function of `conformance/h3/attack.py`, or of the file before the dot.
    Quic(&'static str),
    /// By slowhttptest, with these arguments and the server's URL with this path.
    Slow(&'static [&'static str], &'static str),
}

/// The server that is attacked.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Host {
    /// The Rust server.
    Rust,
    /// A server of `node:http2`'s API, with the engine on JavaScript's thread.
    Inline,
    /// A server of that API with the engine on a thread of its own, given streams made in JavaScript.
    Streams,
}

impl Host {
    pub(crate) const ALL: [Self; 3] = [Self::Rust, Self::Inline, Self::Streams];

    /// The name of a run against it.
    pub(crate) fn name(self, attack: &Attack) -> String {
        match self {
            Self::Rust => attack.name.to_owned(),
            Self::Inline => format!("Node.js inline: {}", attack.name),
            Self::Streams => format!("Node.js over streams: {}", attack.name),
        }
    }
    /// The servers of Node.js take attacks in cleartext alone: those of TLS and QUIC reach the same
    /// machines as those of the Rust server. They close a CONNECT that nothing listens for without an
    /// answer, as node:http does.
    pub(crate) fn takes(self, attack: &Attack) -> bool {
        self == Self::Rust || (matches!(attack.run, Run::Clear(_)) && attack.row != TUNNEL_ROW)
    }
    /// The fate that is due. A stream made in JavaScript ends without a reset, which is all that an attacker sees that
    /// does not read.
    pub(crate) fn fate(self, attack: &Attack) -> &'static str {
        match (self, attack.fate) {
            (Self::Streams, SOME_CLOSED) => "open",
            (_, fate) => fate,
        }
    }
    /// Memory and CPU that it may have beside those of the Rust server: Node.js's own, and the compilation of
    /// its code; where thousands of requests are open at once, the objects of each and the piece of an
    /// answer that its handler has written.
    pub(crate) fn extra(self, attack: &Attack) -> (u64, f64) {
        match self {
            Self::Rust => (0, 0.0),
            _ if attack.rss_mib_max > RSS_MIB => (544, 4.0),
            _ => (192, 4.0),
        }
    }
    /// The bound on the 99th percentile of the neighbour, on two cores that build something else too.
    /// Handlers of JavaScript run one after another: behind 4,000 requests that come at once the neighbour
    /// waits for as many.
    pub(crate) fn p99_max(self, attack: &Attack) -> Duration {
        match self {
            Self::Rust => P99_MAX,
            _ if attack.rss_mib_max > RSS_MIB => Duration::from_secs(6),
            _ => P99_MAX,
        }
    }
}

/// One attack and its bounds.
pub(crate) struct Attack {
    pub(crate) row: u32,
    pub(crate) name: &'static str,
    pub(crate) run: Run,
    /// The fate of every connection of the attacker.
    pub(crate) fate: &'static str,
    pub(crate) rss_mib_max: u64,
    pub(crate) cpu_seconds_max: f64,
}

const fn clear(
    row: u32,
    name: &'static str,
    run: fn(SocketAddr) -> Vec<Fate>,
    fate: &'static str,
) -> Attack {
    of(row, name, Run::Clear(run), fate)
}
const fn tls(
    row: u32,
    name: &'static str,
    run: fn(SocketAddr) -> Vec<Fate>,
    fate: &'static str,
) -> Attack {
    of(row, name, Run::Tls(run), fate)
}
const fn quic(row: u32, name: &'static str, function: &'static str, fate: &'static str) -> Attack {
    of(row, name, Run::Quic(function), fate)
}
const fn slow(
    row: u32,
    name: &'static str,
    arguments: &'static [&'static str],
    path: &'static str,
    fate: &'static str,
) -> Attack {
    of(row, name, Run::Slow(arguments, path), fate)
}
const fn of(row: u32, name: &'static str, run: Run, fate: &'static str) -> Attack {
    Attack {
        row,
        name,
        run,
        fate,
        rss_mib_max: RSS_MIB,
        cpu_seconds_max: 4.0,
    }
}
impl Attack {
    const fn within(self, rss_mib_max: u64, cpu_seconds_max: f64) -> Self {
        Self {
            rss_mib_max,
            cpu_seconds_max,
            ..self
        }
    }
}

/// Some of an attacker's connections were reset.
pub(crate) const SOME_CLOSED: &str = "some closed";
/// ENHANCE_YOUR_CALM (RFC 9113 section 7).
const CALM: &str = "GOAWAY 11";
/// The line of slowhttptest for a server that has ended every connection.
const ENDED: &str = "No open connections left, service available: YES";
/// As `ENDED`, where it reads too slowly to reach the resets that its system holds.
const UNSEEN: &str = "Hit test time limit, service available: YES";
/// H3_EXCESSIVE_LOAD (RFC 9114 section 8.1).
const LOAD: &str = "CLOSE 0x107";

#[rustfmt::skip]
pub(crate) const ATTACKS: &[Attack] = &[
    clear(1, "h2 rapid reset", http2::rapid_reset, CALM),
    clear(1, "h2 rapid reset between good streams", http2::rapid_reset_between, CALM),
    quic(1, "h3 rapid reset", "rapid_reset", LOAD),
    clear(2, "h2 made you reset, six primitives", http2::made_you_reset, CALM),
    quic(2, "h3 malformed requests", "malformed", LOAD),
    clear(3, "h2 continuation flood", http2::continuations, CALM),
    clear(3, "h2 continuation flood of 16 KiB each", http2::large_continuations, CALM),
    quic(3, "h3 field section of 1 GiB", "endless_section", "reset 0x100"),
    clear(4, "h2 bomb behind a shut window", http2::bomb_behind_shut_window, CALM),
    quic(4, "h3 bomb behind a shut window", "bomb_behind_shut_window", LOAD),
    clear(5, "h2 hpack bomb", http2::hpack_bomb, CALM),
    clear(5, "h2 tables of 4 GiB", http2::large_tables, "GOAWAY 9"),
    clear(6, "h2 answers behind shut windows, 40 connections", http2::shut_windows, "open").within(160, 8.0),
    clear(6, "h2 answers that are not read, 40 connections", http2::unread, "open").within(160, 8.0),
    clear(6, "h1 answers that are not read, 200 connections", http1::unread, SOME_CLOSED).within(160, 8.0),
    of(6, "h1 answers that are not read, 200 of 250 connections", Run::Scarce(http1::unread), SOME_CLOSED).within(160, 8.0),
    clear(6, "h1 pipelined requests, answers not read", http1::pipelined, SOME_CLOSED).within(160, 8.0),
    slow(6, "slowhttptest, slow reading of 200 connections", &["-X", "-c", "200", "-w", "10", "-y", "20", "-n", "5", "-z", "32", "-k", "3"], "/bytes/1000000", UNSEEN).within(160, 8.0),
    quic(6, "h3 answers behind shut windows, 20 connections", "unread", "open").within(160, 8.0),
    clear(7, "h2 ping flood", http2::pings, CALM),
    clear(7, "h2 settings flood", http2::settings_flood, CALM),
    clear(7, "h2 goaway flood", http2::goaways, CALM),
    quic(7, "h3 goaway flood", "goaways", LOAD),
    clear(8, "h2 priority flood", http2::priorities, CALM),
    clear(8, "h2 priority update flood", http2::priority_updates, CALM),
    clear(9, "h2 malformed requests", http2::malformed, CALM),
    clear(10, "h2 empty field names", http2::empty_names, CALM),
    clear(11, "h2 empty frames", http2::empty_data, CALM),
    quic(11, "h3 empty frames", "empty_data", LOAD),
    clear(12, "h2 window update flood", http2::window_updates, CALM),
    clear(13, "h2 window overflow, 1,000 connections", http2::overflowed_windows, "GOAWAY 3").within(160, 16.0),
    clear(13, "h2 window above 2^31-1", http2::oversized_window, "GOAWAY 3").within(160, 4.0),
    clear(14, "h2 too many streams", http2::streams, CALM),
    clear(14, "h1 4,000 idle connections", http1::many_idle, "open").within(96, 4.0),
    clear(15, "h1 slow heads, 200 connections", http1::slow_heads, "closed"),
    clear(15, "h1 slow bodies, 200 connections", http1::slow_bodies, "closed"),
    clear(15, "h2 never greets, 200 connections", http2::silent, "GOAWAY 4"),
    tls(15, "tls slow hellos, 200 connections", http1::slow_hellos, "closed"),
    slow(15, "slowhttptest, slow heads of 500 connections", &["-H", "-c", "500", "-i", "2", "-t", "GET"], "/", ENDED),
    slow(15, "slowhttptest, slow bodies of 200 connections", &["-B", "-c", "200", "-i", "2", "-s", "8192", "-t", "POST"], "/", ENDED),
    quic(15, "h3 slow heads, 100 connections", "slow_heads", "reset 0x10c"),
    clear(16, "h1 body of 256 MiB", http1::huge_body, "open").within(64, 16.0),
    clear(17, "h1 smuggled requests", http1::smuggled, "400 closed"),
    clear(18, "h1 tunnel before it is accepted", http1::early_tunnel, "405 closed"),
    quic(20, "quic handshake without an answer", "rfc9000.a_peer_that_never_answers_gets_at_most_three_times_what_it_sent_and_one_packet", "open"),
    quic(21, "quic half-open handshakes", "rfc9000.where_many_handshakes_are_half_open_a_peer_must_prove_its_address", "open"),
    quic(22, "quic too many connection ids", "rfc9000.more_connection_ids_than_asked_for_end_the_connection", "CLOSE 0x9"),
    quic(22, "quic retired connection ids", "rfc9000.retired_connection_ids_without_end_are_a_budget", LOAD),
    quic(23, "quic data beyond the window", "rfc9000.data_beyond_the_window_ends_the_connection_even_behind_a_gap", "CLOSE 0x3"),
    quic(23, "quic gaps", "rfc9000.more_pieces_with_gaps_than_it_keeps_end_the_connection", "CLOSE 0x1"),
    quic(24, "quic optimistic acknowledgement", "rfc9000.an_acknowledgement_of_what_was_never_sent_ends_the_connection", "CLOSE 0xa"),
    quic(25, "quic too many streams", "rfc9000_4_6.a_client_that_opens_more_than_its_credit_is_closed", "CLOSE 0x4"),
    quic(25, "quic too many unidirectional streams", "rfc9000_4_6.a_client_that_opens_more_unidirectional_streams_than_allowed_is_closed", "CLOSE 0x4"),
    quic(26, "h3 qpack bomb", "qpack_bomb", LOAD),
    quic(26, "h3 endless encoder stream", "endless_encoder_stream", "CLOSE 0x201"),
    quic(26, "h3 blocked streams", "rfc9204_2.one_blocked_stream_more_than_allowed_ends_the_connection", "CLOSE 0x200"),
    quic(27, "h3 unknown frames", "unknown_frames", LOAD),
    quic(27, "h3 streams of unknown types", "unknown_streams", LOAD),
    quic(27, "h3 priority updates", "priority_updates", LOAD),
    quic(27, "h3 cancelled pushes", "cancelled_pushes", "CLOSE 0x108"),
    quic(28, "quic packets of unknown versions", "rfc9000.versions_that_nobody_speaks_are_answered_at_a_rate", "open"),
    quic(28, "quic packets of unknown connections", "rfc9000.packets_for_nobody_are_answered_at_a_rate", "open"),
    quic(29, "quic client that moves", "rfc9000.a_client_that_moves_on_and_on_is_left", LOAD),
    quic(29, "quic path challenges", "rfc9000.challenges_without_end_are_a_budget", LOAD),
    quic(30, "quic tickets for early data", "rfc9000.tickets_allow_no_early_data", "open"),
    clear(31, "h1 upgrade to h2c", http1::h2c_upgrade, "200 505 closed"),
    of(37, "h1 requests of one address beyond its rate", Run::Limited(http1::too_many_requests), "429"),
    of(37, "h1 bytes of one address beyond its rate", Run::Limited(http1::too_many_bytes), "429"),
    clear(33, "h1 foreign scheme", http1::foreign_scheme, "421 open"),
    clear(33, "h2 foreign scheme", http2::foreign_scheme, "open"),
];
