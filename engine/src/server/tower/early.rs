//! The extension that marks requests sent as early data.

/// Extension of a request that arrived before its connection's handshake was done
/// ([`Server::early_data`](crate::Server::early_data)): an attacker may have recorded and replayed
/// it. A handler that must not process a replay answers with `425 (Too Early)` (RFC 8470 section
/// 5.2); the client then sends the request again after the handshake, without this extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EarlyData;
