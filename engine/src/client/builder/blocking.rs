//! Settings of a client whose calls wait.

use super::ClientBuilder;
use crate::client::request::blocking::BlockingClient;
use crate::error::Error;

impl BlockingClient {
    /// Settings to change before the client is made.
    pub fn builder() -> ClientBuilder<Self> {
        ClientBuilder::of_kind()
    }
}

/// Settings of a client whose calls wait.
impl ClientBuilder<BlockingClient> {
    /// Makes the client.
    ///
    /// # Errors
    /// Names the setting that cannot be used and what is allowed, or the system gives no thread.
    pub fn build(self) -> Result<BlockingClient, Error> {
        BlockingClient::of(self.checked()?)
    }
}
