//! The receive window of a connection, as quinn-proto is given it. A window that falls leaves a debt
//! there, which later reads pay; one that rises again is granted at once, whatever is owed, so that a
//! window that falls and rises without a read between would let the peer send its size once more each
//! time. So it falls here by as much as was read, and no more is owed than one read.

/// The window that quinn-proto has, and the one that it should have.
#[derive(Debug, Default)]
pub(super) struct ReceiveWindow {
    /// `None`: as the handshake announced it.
    given: Option<u32>,
    /// How much smaller it should be.
    excess: u32,
}

impl ReceiveWindow {
    /// The machine wants `window`; what to give to quinn-proto now. `first`: what the handshake
    /// announced.
    pub(super) fn set(&mut self, window: u32, first: u32) -> Option<u32> {
        let given = self.given.get_or_insert(first);
        self.excess = given.saturating_sub(window);
        if window <= *given {
            return None;
        }
        *given = window;
        Some(window)
    }
    /// So many bytes were read of the connection's streams; what to give to quinn-proto now.
    pub(super) fn narrow(&mut self, bytes: usize) -> Option<u32> {
        let step = self.excess.min(u32::try_from(bytes).unwrap_or(u32::MAX));
        let given = self.given.as_mut().filter(|_| step > 0)?;
        self.excess -= step;
        *given -= step;
        Some(*given)
    }
}

#[cfg(test)]
#[path = "receive_window_test.rs"]
mod receive_window_test;
