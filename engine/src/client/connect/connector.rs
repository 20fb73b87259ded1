//! The user's connector: opens the byte streams that carry the client's connections.

use super::attempt::NegotiatedConnection;
use super::route::displayed;
use crate::byte_stream::ByteStream;
use crate::error::{Error, ErrorKind, Fault, Retry};
use std::fmt;
use std::io;
use std::pin::Pin;
use trunkline_core::pool::{Multiplexing, Origin, Protocols};

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
}

impl fmt::Debug for dyn Connector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Connector")
    }
}

/// Opens a connection by the user's connector.
pub(super) async fn establish(
    connector: &dyn Connector,
    origin: &Origin,
) -> Result<NegotiatedConnection, Error> {
    let stream = connector.connect(origin).await.map_err(|error| {
        let text = format!("the connector gave no stream for {}", displayed(origin));
        Error::new(ErrorKind::Connect, Fault::Network, Retry::Safe)
            .with_text(text)
            .with_source(error)
    })?;
    let multiplexing = match (stream.speaks_http2(), origin.protocols) {
        (_, Protocols::H3Only) => {
            return Err(Error::config(
                "connector is set and only HTTP/3 is allowed; HTTP/3 goes over UDP, and a connector \
                 gives streams",
            ));
        }
        (true, Protocols::H1Only) => return Err(mismatch(origin, "HTTP/2", "HTTP/1.1")),
        (false, Protocols::H2Only) => return Err(mismatch(origin, "HTTP/1.1", "HTTP/2")),
        (true, _) => Multiplexing::Yes,
        (false, _) => Multiplexing::No,
    };
    Ok(NegotiatedConnection::from_connector(stream, multiplexing))
}

fn mismatch(origin: &Origin, got: &str, wanted: &str) -> Error {
    let text = format!(
        "the connector gave a stream for {} that speaks {got}, where only {wanted} is allowed",
        displayed(origin)
    );
    Error::new(ErrorKind::Connect, Fault::Us, Retry::Never).with_text(text)
}
