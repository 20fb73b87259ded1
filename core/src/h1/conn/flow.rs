//! The read-ahead limit: how many unread body bytes a connection keeps before it stops reading and
//! TCP's window fills. One bound per connection, whose bodies arrive one after the other.

use super::Conn;
use crate::credit::{Readback, only_grows};
use crate::error::Misuse;
use crate::http::StreamId;

impl Conn {
    /// The bound on what is read ahead, as a window: of the connection (`None`) or of the body of
    /// one exchange, which is the same bound with that body's counts. `None` when that is over.
    pub fn receive_window(&self, stream: Option<StreamId>) -> Option<Readback> {
        let (used, unread) = match stream {
            None => (self.received, self.unread as u64),
            Some(stream) => {
                let open = &self.exchanges[self.index_of(stream)?];
                (open.body_bytes, open.unread as u64)
            }
        };
        let window = self.read_ahead;
        Some(Readback {
            granted: used - unread + u64::from(window).max(unread),
            used,
            unread,
            window,
            rtt: None,
        })
    }
    /// Sets the bound on what is read ahead, in bytes, of this body and of those behind it.
    ///
    /// # Errors
    /// [`Misuse::WindowInvalid`] when it would shrink or is not in 1..=2^31-1,
    /// [`Misuse::StreamNotOpen`] when the exchange is over.
    pub fn set_receive_window(
        &mut self,
        stream: Option<StreamId>,
        window: u32,
    ) -> Result<(), Misuse> {
        if self.is_closed() {
            return Err(Misuse::ConnectionClosed);
        }
        if stream.is_some_and(|stream| self.index_of(stream).is_none()) {
            return Err(Misuse::StreamNotOpen);
        }
        self.read_ahead = only_grows(self.read_ahead, window).map_err(Misuse::WindowInvalid)?;
        Ok(())
    }
}
