//! The user's connector: opens the byte streams that carry the client's connections.

use crate::net::byte_stream::ByteStream;
use std::fmt;
use std::io;
use std::pin::Pin;
use trunkline_core::pool::{FailureScope, Origin};

/// The stream to come.
pub type Connecting = Pin<Box<dyn Future<Output = io::Result<ByteStream>> + Send>>;

/// Makes the connections of a client in place of the engine: name resolution, sockets, proxies and TLS are
/// its own, and no setting of theirs applies.
///
/// ```
/// use trunkline::ByteStream;
/// use trunkline::client::{Client, Connecting, Connector};
///
/// struct InMemory;
/// impl Connector for InMemory {
///     fn connect(&self, _origin: &trunkline::core::pool::Origin) -> Connecting {
///         let (ours, _theirs) = tokio::io::duplex(65_536);
///         Box::pin(async move { Ok(ByteStream::new(ours)) })
///     }
/// }
/// let client = Client::builder().connector(InMemory).build()?;
/// # Ok::<(), trunkline::Error>(())
/// ```
pub trait Connector: Send + Sync + 'static {
    /// Opens one connection to `origin`, on which the client speaks HTTP/2 if the stream says so
    /// ([`ByteStream::http2`], [`ByteStream::secured`]) and HTTP/1.1 otherwise. Under `https` the stream
    /// carries plaintext: TLS is the connector's. An error fails the requests that wait for the
    /// connection, and is their error's source. Dropped when the connect timeout has passed or the
    /// client is gone.
    fn connect(&self, origin: &Origin) -> Connecting;

    /// The waiting requests that fail with an error of [`connect`](Self::connect). Default: all that no other
    /// connection or attempt can serve.
    fn failure_scope(&self, error: &io::Error) -> FailureScope {
        let _ = error;
        FailureScope::All
    }
}

impl fmt::Debug for dyn Connector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Connector")
    }
}
