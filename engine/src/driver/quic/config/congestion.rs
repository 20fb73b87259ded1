//! A congestion controller that lets a connection's last packet through, and measures how late
//! acknowledgements are.
//!
//! quinn-proto 0.11 withholds CONNECTION_CLOSE while other frames are queued and the congestion window
//! is full, and no acknowledgement is processed in the closing state, so that it never leaves: the peer
//! waits for its idle timeout. RFC 9002 section 7 exempts the packets that carry it. Once a connection
//! is closed its window is unlimited here: nothing but that packet can be sent then.
//!
//! quinn-proto exposes the smoothed round trip, not its variation (RFC 9002 section 5.3). A congestion
//! controller is given samples above the smoothed one.

use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerFactory, ControllerMetrics};
use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A controller of quinn-proto, until the connection is closed.
struct UntilClosed {
    inner: Box<dyn Controller>,
    /// The smoothed round trip and the larger one of it and the last sample, when they were last
    /// looked at.
    last: (Duration, Duration),
    shared: Shared,
}

/// Shared with the copies that quinn-proto makes. Relaxed: a connection is polled and looked at under
/// one exclusive borrow.
#[derive(Clone, Default)]
struct Shared {
    is_closed: Arc<AtomicBool>,
    late_micros: Arc<AtomicU64>,
}

/// How late the acknowledgements of a connection are.
#[derive(Debug, Default)]
pub(in crate::driver::quic) struct Lateness(Arc<AtomicU64>);

impl Lateness {
    /// The count of a connection's controller; always zero for one that this file did not make.
    pub(in crate::driver::quic) fn of(controller: &dyn Controller) -> Self {
        let found = controller.clone_box().into_any().downcast::<UntilClosed>();
        Self(found.map_or_else(|_| Arc::default(), |it| it.shared.late_micros))
    }
    /// The mean of how much samples of the round trip exceeded the smoothed one and the delay that a
    /// peer may add to its acknowledgements, the last ones above all.
    pub(in crate::driver::quic) fn mean(&self) -> Duration {
        Duration::from_micros(self.0.load(Ordering::Relaxed))
    }
}

/// By default a peer delays an acknowledgement by no more (RFC 9000 section 18.2).
const ACK_DELAY_MAX: Duration = Duration::from_millis(25);
/// The share of a sample in the mean, as that of RFC 9002 section 5.3.
const LATENESS_SHARE: u64 = 4;

/// Makes them around those of another factory.
pub(in crate::driver::quic) struct UntilClosedFactory<F>(pub(in crate::driver::quic) Arc<F>);

impl<F: ControllerFactory> ControllerFactory for UntilClosedFactory<F> {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        Box::new(UntilClosed {
            inner: Arc::clone(&self.0).build(now, current_mtu),
            last: Default::default(),
            shared: Shared::default(),
        })
    }
}

/// Opens the window of a connection's controller for its last packet. Does nothing to a controller
/// that this file did not make.
pub(in crate::driver::quic) fn open_for_close(controller: &dyn Controller) {
    if let Ok(found) = controller.clone_box().into_any().downcast::<UntilClosed>() {
        found.shared.is_closed.store(true, Ordering::Relaxed);
    }
}

impl UntilClosed {
    /// Called for each acknowledged packet; those of one frame bring one sample.
    fn note_round_trip(&mut self, smoothed: Duration, largest: Duration) {
        if self.last == (smoothed, largest) {
            return;
        }
        self.last = (smoothed, largest);
        let late = largest.saturating_sub(smoothed + ACK_DELAY_MAX);
        let sample = u64::try_from(late.as_micros()).unwrap_or(u64::MAX) / LATENESS_SHARE;
        let mean = self.shared.late_micros.load(Ordering::Relaxed);
        let mean = mean - mean.div_ceil(LATENESS_SHARE) + sample;
        self.shared.late_micros.store(mean, Ordering::Relaxed);
    }
}

impl Controller for UntilClosed {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        self.inner.on_sent(now, bytes, last_packet_number);
    }
    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        app_limited: bool,
        rtt: &RttEstimator,
    ) {
        self.note_round_trip(rtt.get(), rtt.conservative());
        self.inner.on_ack(now, sent, bytes, app_limited, rtt);
    }
    fn on_end_acks(
        &mut self,
        now: Instant,
        in_flight: u64,
        app_limited: bool,
        largest_packet_num_acked: Option<u64>,
    ) {
        self.inner
            .on_end_acks(now, in_flight, app_limited, largest_packet_num_acked);
    }
    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        lost_bytes: u64,
    ) {
        self.inner
            .on_congestion_event(now, sent, is_persistent_congestion, lost_bytes);
    }
    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.inner.on_mtu_update(new_mtu);
    }
    fn window(&self) -> u64 {
        match self.shared.is_closed.load(Ordering::Relaxed) {
            // Above 2^32 quinn-proto does not pace either.
            true => u64::MAX,
            false => self.inner.window(),
        }
    }
    fn metrics(&self) -> ControllerMetrics {
        self.inner.metrics()
    }
    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Self {
            inner: self.inner.clone_box(),
            last: self.last,
            shared: self.shared.clone(),
        })
    }
    fn initial_window(&self) -> u64 {
        self.inner.initial_window()
    }
    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

#[cfg(test)]
#[path = "congestion_test.rs"]
mod congestion_test;
