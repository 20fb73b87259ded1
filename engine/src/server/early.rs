//! Requests that came with the handshake.

/// Among the extensions of a request that came before its connection's handshake was done
/// ([`Server::early_data`](crate::Server::early_data)): somebody else may have recorded it and sent
/// it again. A handler that minds answers with `425 (Too Early)` (RFC 8470 section 5.2); the client
/// then sends the request again after the handshake, without this extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EarlyData;
