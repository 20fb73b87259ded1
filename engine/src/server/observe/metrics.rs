//! Metrics of a server, as they are read.

use crate::metrics::histogram::Histogram;
use std::time::Duration;

/// A reading of a server's counters, since its start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metrics {
    /// Connections accepted.
    pub connections_accepted: u64,
    /// Connections open now.
    pub connections_open: u64,
    /// Connections that were closed at once, because their address had as many as it may.
    pub connections_refused: u64,
    /// Connections without an exchange that were closed to let others in.
    pub connections_displaced: u64,
    /// TLS handshakes that failed or took too long.
    pub handshakes_failed: u64,
    /// Failed handshakes by the reason: `timeout`, `gone`, `not_tls`, `version`, `cipher` (no suite, group or
    /// signature in common), `protocol`, `certificate` (none was sent, or none that is trusted), `refused`, `alert` (the client's),
    /// `proxy_header` (a proxy sent none, or a wrong one) and `other`, as [`HandshakeFailure`](crate::server::HandshakeFailure) has them. Without those that
    /// are zero.
    pub handshakes_failed_by: Vec<(&'static str, u64)>,
    /// Requests answered with 421, because the connection was opened for another host or is not of
    /// their scheme.
    pub misdirected: u64,
    /// Requests that were answered without a handler for the sake of others, by the reason: `address` and `bytes` (429), `lag`, `memory` and
    /// `process` (503), as [`Shedding`](crate::Shedding) has them.
    pub requests_shed: Vec<(&'static str, u64)>,
    /// Requests on HTTP/1.1.
    pub requests_h1: u64,
    /// Requests on HTTP/2.
    pub requests_h2: u64,
    /// Requests on HTTP/3.
    pub requests_h3: u64,
    /// Requests on HTTP/3 that came with the handshake and were handed to a handler.
    pub requests_early: u64,
    /// Early requests that were answered with 425, because their method may not come so early.
    pub too_early: u64,
    /// The accepted connections over QUIC.
    pub quic_connections: u64,
    /// QUIC peers that were asked to prove their address first, because too many handshakes were
    /// in progress.
    pub quic_retries: u64,
    /// QUIC packets that were sent and taken for lost, on connections that have ended.
    pub quic_packets_lost: u64,
    /// QUIC packets that came to another worker than their connection's and were passed on.
    pub quic_packets_forwarded: u64,
    /// Times that a QUIC peer went on from another address, on connections that have ended.
    pub quic_moves: u64,
    /// HTTP datagrams that were dropped on their way to and from handlers, on connections that have
    /// ended: of no open exchange, or beyond the queue's bound. Those that a handler leaves unread
    /// are counted by its [`Datagrams`](crate::Datagrams).
    pub datagrams_dropped: u64,
    /// QUIC packets of no connection that were answered (Version Negotiation, stateless reset).
    pub quic_answers: u64,
    /// QUIC packets of no connection that were not answered, because too many came.
    pub quic_answers_withheld: u64,
    /// Connections that QUIC itself closed, or never let begin, because their peer broke one of its
    /// rules: by the name of RFC 9000 section 20.1. Rules without a violation are left out.
    pub quic_violations: Vec<(&'static str, u64)>,
    /// Exchanges that ended before their response did.
    pub resets: u64,
    /// These exchanges by the side that ended them: `server` (the client broke a rule), `client`, or `connection` (it
    /// ended below them).
    pub resets_by: Vec<(&'static str, u64)>,
    /// Connections of HTTP that have ended, by the reason: `violation` (the client broke a rule), `peer` (the client
    /// closed HTTP/2 or HTTP/3), `eof` (it ended the transport in order), `ragged_eof` (under TLS without
    /// close_notify), `transport` (a reset, or another error below HTTP), `idle` and `drained`.
    pub closed_by: Vec<(&'static str, u64)>,
    /// The parts that are counted for each version of HTTP: 1.1 (with 1.0), 2 and 3.
    pub versions: [VersionMetrics; 3],
    /// How late turns of the workers were, by what ran before them: one of each worker in a second, or in 50 ms where
    /// [`Shedding::lag_max`](crate::Shedding::lag_max) is set, which bounds it. Timers are a millisecond late where nothing else is.
    pub worker_lag: Histogram,
    /// The latest of the workers at its last measurement.
    pub worker_lag_now: Duration,
    /// TLS handshakes over TCP that were completed: their durations, from the accepted socket on.
    pub tls_handshakes: Histogram,
    /// QUIC handshakes that were completed: their durations, from the first packet on.
    pub quic_handshakes: Histogram,
    /// QUIC's smoothed round-trip times of connections that have ended, each at its end.
    pub quic_rtt: Histogram,
    /// QUIC packets that were sent, on connections that have ended.
    pub quic_packets_sent: u64,
    /// Bytes of HTTP that came over TCP and Unix sockets, without the records of TLS.
    pub stream_bytes_read: u64,
    /// Bytes of HTTP that went over TCP and Unix sockets, without the records of TLS.
    pub stream_bytes_written: u64,
    /// Bytes of UDP payloads that came for HTTP/3.
    pub quic_bytes_read: u64,
    /// Bytes of UDP payloads that went for HTTP/3.
    pub quic_bytes_written: u64,
    /// Bytes that receive windows have borrowed now, of
    /// [`Windows::memory_budget`](crate::core::limits::Windows::memory_budget).
    pub window_budget: InUse,
    /// Bytes that wait now for clients which do not read, of
    /// [`Windows::send_budget`](crate::core::limits::Windows::send_budget).
    pub send_budget: InUse,
    /// Bytes of RAM that the process has, of [`Shedding::process_memory_max`](crate::Shedding::process_memory_max), which is 0
    /// where it has no bound; both are 0 where the system does not tell.
    pub process_memory: InUse,
    /// Connections that we closed, exchanges that we reset and requests that we refused for a
    /// broken rule, by the rule's name ([`Violation::name`](crate::core::error::Violation::name)):
    /// limits and timeouts too, such as `BodyTooSlow` and `StreamStalled`. Rules without a
    /// violation are left out.
    pub violations: Vec<(&'static str, u64)>,
}

/// The counts of one version of HTTP.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct VersionMetrics {
    /// Connections that have begun to speak it.
    pub connections: u64,
    /// Connections that speak it now.
    pub connections_open: u64,
    /// Requests that came.
    pub requests: u64,
    /// Exchanges that are open now.
    pub requests_open: u64,
    /// Final responses whose head was sent, by the first digit of their status, `1xx` (101 alone) to `5xx`.
    pub responses: [(&'static str, u64); 5],
    /// From the request's head to the head of the final response.
    pub first_byte: Histogram,
    /// From the request's head to the end of the exchange: the last byte of the response was handed to the
    /// connection, or the exchange was reset.
    pub duration: Histogram,
}

/// A part of a budget that is in use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct InUse {
    /// Bytes in use.
    pub bytes: u64,
    /// Bytes that there are.
    pub total: u64,
}
