//! The connection's receive window as set in quinn-proto. When a window falls, quinn-proto records
//! a debt that later reads repay, but grants a raised window at once; alternate changes without
//! reads would let the peer send the window again each time. So the window falls here only by the
//! bytes read, and the debt never exceeds one read.

/// The window that quinn-proto has, and the one that it should have.
#[derive(Debug, Default)]
pub(super) struct QuicReceiveWindow {
    /// `None`: as the handshake announced it.
    granted: Option<u32>,
    /// How much smaller it should be.
    excess: u32,
}

impl QuicReceiveWindow {
    /// The machine wants `window`; what to give to quinn-proto now. `first`: what the handshake
    /// announced.
    pub(super) fn set(&mut self, window: u32, first: u32) -> Option<u32> {
        let granted = self.granted.get_or_insert(first);
        self.excess = granted.saturating_sub(window);
        if window <= *granted {
            return None;
        }
        *granted = window;
        Some(window)
    }
    /// Notes `bytes` read from the connection's streams; returns the window to set in quinn-proto,
    /// if it changes.
    pub(super) fn narrow(&mut self, bytes: usize) -> Option<u32> {
        let step = self.excess.min(u32::try_from(bytes).unwrap_or(u32::MAX));
        let granted = self.granted.as_mut().filter(|_| step > 0)?;
        self.excess -= step;
        *granted -= step;
        Some(*granted)
    }
}

#[cfg(test)]
#[path = "receive_window_test.rs"]
mod receive_window_test;
