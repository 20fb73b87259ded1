//! A congestion controller that lets a connection's last packet through.
//!
//! quinn-proto 0.11 withholds CONNECTION_CLOSE while other frames are queued and the congestion window
//! is full, and no acknowledgement is processed in the closing state, so that it never leaves: the peer
//! waits for its idle timeout. RFC 9002 section 7 exempts the packets that carry it. Once a connection
//! is closed its window is unlimited here: nothing but that packet can be sent then.

use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerFactory, ControllerMetrics};
use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// A controller of quinn-proto, until the connection is closed.
struct UntilClosed {
    inner: Box<dyn Controller>,
    /// Shared with the copies that quinn-proto makes.
    is_closed: Arc<AtomicBool>,
}

/// Makes them around those of another factory.
pub(in crate::driver::quic) struct UntilClosedFactory<F>(pub(in crate::driver::quic) Arc<F>);

impl<F: ControllerFactory> ControllerFactory for UntilClosedFactory<F> {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        Box::new(UntilClosed {
            inner: Arc::clone(&self.0).build(now, current_mtu),
            is_closed: Arc::default(),
        })
    }
}

/// Opens the window of a connection's controller for its last packet. Does nothing to a controller
/// that this file did not make.
pub(in crate::driver::quic) fn open_for_close(controller: &dyn Controller) {
    if let Ok(found) = controller.clone_box().into_any().downcast::<UntilClosed>() {
        // Relaxed: the connection is closed and polled under one exclusive borrow.
        found.is_closed.store(true, Ordering::Relaxed);
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
        match self.is_closed.load(Ordering::Relaxed) {
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
            is_closed: Arc::clone(&self.is_closed),
        })
    }
    fn initial_window(&self) -> u64 {
        self.inner.initial_window()
    }
    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
