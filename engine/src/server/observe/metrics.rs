//! Metrics of a server. Each worker counts without sharing; reading sums the workers.

use super::handshake_failure;
use crate::driver::quic::rules;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use trunkline_core::error::{Closed, Violation};
use trunkline_core::http::{Reset, ResetBy, Version};

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
    /// Those by why they failed: `timeout`, `gone`, `not_tls`, `version`, `cipher`, `protocol`,
    /// `certificate` (none was sent, or none that is trusted), `refused`, `alert` (the client's)
    /// and `other`, as [`HandshakeFailure`](crate::server::HandshakeFailure) has them. Without those that
    /// are zero.
    pub handshakes_failed_by: Vec<(&'static str, u64)>,
    /// Requests answered with 421, because the connection was opened for another host or is not of
    /// their scheme.
    pub misdirected: u64,
    /// Requests on HTTP/1.1.
    pub requests_h1: u64,
    /// Requests on HTTP/2.
    pub requests_h2: u64,
    /// Requests on HTTP/3.
    pub requests_h3: u64,
    /// Requests on HTTP/3 that came with the handshake and were handed to a handler.
    pub requests_early: u64,
    /// Those that were answered with 425 instead, because their method may not come so early.
    pub too_early: u64,
    /// Of the connections accepted, those over QUIC.
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
    /// Those of them that were not answered, because too many came.
    pub quic_answers_withheld: u64,
    /// Connections that QUIC itself closed, or never let begin, because their peer broke one of its
    /// rules: by the name of RFC 9000 section 20.1. Rules without a violation are left out.
    pub quic_violations: Vec<(&'static str, u64)>,
    /// Exchanges that ended before their response did.
    pub resets: u64,
    /// Connections that we closed, exchanges that we reset and requests that we refused for a
    /// broken rule, by the rule's name ([`Violation::name`](crate::core::error::Violation::name)):
    /// limits and timeouts too, such as `BodyTooSlow` and `StreamStalled`. Rules without a
    /// violation are left out.
    pub violations: Vec<(&'static str, u64)>,
}

/// The counters of one worker.
#[derive(Debug)]
pub(in crate::server) struct Counters {
    pub(in crate::server) connections_accepted: AtomicU64,
    pub(in crate::server) connections_closed: AtomicU64,
    pub(in crate::server) connections_refused: AtomicU64,
    pub(in crate::server) connections_displaced: AtomicU64,
    pub(super) handshakes_failed: AtomicU64,
    /// Indexed as [`handshake_failure::NAMES`].
    handshakes_failed_by: [AtomicU64; handshake_failure::NAMES.len()],
    pub(in crate::server) misdirected: AtomicU64,
    pub(in crate::server) requests_h1: AtomicU64,
    pub(in crate::server) requests_h2: AtomicU64,
    pub(in crate::server) requests_h3: AtomicU64,
    pub(in crate::server) requests_early: AtomicU64,
    pub(in crate::server) too_early: AtomicU64,
    pub(in crate::server) quic_connections: AtomicU64,
    pub(in crate::server) quic_retries: AtomicU64,
    pub(in crate::server) quic_packets_lost: AtomicU64,
    pub(in crate::server) quic_packets_forwarded: AtomicU64,
    pub(in crate::server) quic_moves: AtomicU64,
    pub(in crate::server) datagrams_dropped: AtomicU64,
    pub(in crate::server) quic_answers: AtomicU64,
    pub(in crate::server) quic_answers_withheld: AtomicU64,
    /// Indexed as [`rules::NAMES`].
    quic_violations: [AtomicU64; rules::NAMES.len()],
    pub(in crate::server) resets: AtomicU64,
    /// Indexed as [`Violation::ALL`].
    violations: Vec<AtomicU64>,
}

impl Default for Counters {
    fn default() -> Self {
        Self {
            connections_accepted: AtomicU64::default(),
            connections_closed: AtomicU64::default(),
            connections_refused: AtomicU64::default(),
            connections_displaced: AtomicU64::default(),
            handshakes_failed: AtomicU64::default(),
            handshakes_failed_by: Default::default(),
            misdirected: AtomicU64::default(),
            requests_h1: AtomicU64::default(),
            requests_h2: AtomicU64::default(),
            requests_h3: AtomicU64::default(),
            requests_early: AtomicU64::default(),
            too_early: AtomicU64::default(),
            quic_connections: AtomicU64::default(),
            quic_retries: AtomicU64::default(),
            quic_packets_lost: AtomicU64::default(),
            quic_packets_forwarded: AtomicU64::default(),
            quic_moves: AtomicU64::default(),
            datagrams_dropped: AtomicU64::default(),
            quic_answers: AtomicU64::default(),
            quic_answers_withheld: AtomicU64::default(),
            quic_violations: Default::default(),
            resets: AtomicU64::default(),
            violations: Violation::ALL
                .iter()
                .map(|_| AtomicU64::default())
                .collect(),
        }
    }
}

impl Counters {
    /// A handshake failed for this of [`handshake_failure::NAMES`].
    pub(super) fn handshake_failed_by(&self, kind: usize) {
        add(&self.handshakes_failed_by[kind], 1);
    }
    /// QUIC ended a connection, or did not let it begin, for this of [`rules::NAMES`].
    pub(in crate::server) fn quic_closed(&self, rule: usize) {
        add(&self.quic_violations[rule], 1);
    }
    /// A connection ended.
    pub(in crate::server) fn closed(&self, closed: Closed) {
        if let Closed::ByUs(violation) = closed {
            self.broken(violation);
        }
    }
    /// An exchange ended early. One of HTTP/1.1 ends with its connection, which counts the rule.
    pub(in crate::server) fn reset(&self, version: Version, reset: Reset) {
        add(&self.resets, 1);
        if let (ResetBy::Us(violation), Version::Http2 | Version::Http3) = (reset.by, version) {
            self.broken(violation);
        }
    }
    /// A peer broke this rule, and its connection or its exchange ended.
    pub(in crate::server) fn broken(&self, violation: Violation) {
        if let Some(at) = Violation::ALL.iter().position(|rule| *rule == violation) {
            add(&self.violations[at], 1);
        }
    }
}

/// Those of a name that are not zero.
fn broken(
    names: impl Iterator<Item = &'static str>,
    count: impl Fn(usize) -> u64,
) -> Vec<(&'static str, u64)> {
    let counted = names.enumerate().map(|(at, name)| (name, count(at)));
    counted.filter(|(_, count)| *count > 0).collect()
}

/// Counts. Relaxed: counters order nothing.
pub(in crate::server) fn add(counter: &AtomicU64, count: u64) {
    counter.fetch_add(count, Ordering::Relaxed);
}

/// The sum of all workers.
pub(in crate::server) fn sum(workers: &[Arc<Counters>]) -> Metrics {
    let total = |counter: fn(&Counters) -> &AtomicU64| -> u64 {
        workers
            .iter()
            .map(|worker| counter(worker).load(Ordering::Relaxed))
            .sum()
    };
    let accepted = total(|worker| &worker.connections_accepted);
    let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    let rules = Violation::ALL.iter().map(|rule| rule.name());
    let of_rule = |at: usize| workers.iter().map(|it| read(&it.violations[at])).sum();
    let of_handshake = |at: usize| {
        let of_worker = workers.iter().map(|it| read(&it.handshakes_failed_by[at]));
        of_worker.sum()
    };
    let of_quic = |at: usize| workers.iter().map(|it| read(&it.quic_violations[at])).sum();
    Metrics {
        connections_accepted: accepted,
        connections_open: accepted.saturating_sub(total(|worker| &worker.connections_closed)),
        connections_refused: total(|worker| &worker.connections_refused),
        connections_displaced: total(|worker| &worker.connections_displaced),
        handshakes_failed: total(|worker| &worker.handshakes_failed),
        handshakes_failed_by: broken(handshake_failure::NAMES.into_iter(), of_handshake),
        misdirected: total(|worker| &worker.misdirected),
        requests_h1: total(|worker| &worker.requests_h1),
        requests_h2: total(|worker| &worker.requests_h2),
        requests_h3: total(|worker| &worker.requests_h3),
        requests_early: total(|worker| &worker.requests_early),
        too_early: total(|worker| &worker.too_early),
        quic_connections: total(|worker| &worker.quic_connections),
        quic_retries: total(|worker| &worker.quic_retries),
        quic_packets_lost: total(|worker| &worker.quic_packets_lost),
        quic_packets_forwarded: total(|worker| &worker.quic_packets_forwarded),
        quic_moves: total(|worker| &worker.quic_moves),
        datagrams_dropped: total(|worker| &worker.datagrams_dropped),
        quic_answers: total(|worker| &worker.quic_answers),
        quic_answers_withheld: total(|worker| &worker.quic_answers_withheld),
        quic_violations: broken(rules::NAMES.into_iter(), of_quic),
        resets: total(|worker| &worker.resets),
        violations: broken(rules, of_rule),
    }
}
