//! The start of an endpoint whose socket another process may still read.

use super::QuicListener;
use crate::server::exchange::serve::Serve;

impl<S: Serve> QuicListener<S> {
    /// Serves until it is dropped; `Send` where the exchanges of `S` are.
    pub(in crate::server::worker) async fn serve(mut self) {
        if let Some(mut released) = self.released.take() {
            // Without a sender the process before has ended.
            let _ = released.wait_for(|released| *released).await;
        }
        self.await;
    }
}
