//! Chooses the TLS settings of a handshake after its ClientHello has been read.

use super::Tls;
use std::error::Error as StdError;
use std::fmt;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;

/// The ClientHello of a client (RFC 8446 section 4.1.2). None of it is authenticated.
#[derive(Clone, Debug)]
pub struct ClientHello {
    addresses: Option<(SocketAddr, SocketAddr)>,
    server_name: Option<String>,
    protocols: Vec<Vec<u8>>,
}

impl ClientHello {
    pub(crate) fn new(
        hello: &rustls::server::ClientHello<'_>,
        addresses: Option<(SocketAddr, SocketAddr)>,
    ) -> Self {
        let offered = hello.alpn().into_iter().flatten();
        Self {
            addresses,
            server_name: hello.server_name().map(str::to_owned),
            protocols: offered.map(<[u8]>::to_vec).collect(),
        }
    }
    /// The host that it asks for (SNI, RFC 6066 section 3).
    pub fn server_name(&self) -> Option<&str> {
        self.server_name.as_deref()
    }
    /// The client's ALPN protocols (RFC 7301), best first; empty without ALPN.
    pub fn protocols(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.protocols.iter().map(Vec::as_slice)
    }
    /// The peer's address and ours; a Unix socket has none.
    pub fn addresses(&self) -> Option<(SocketAddr, SocketAddr)> {
        self.addresses
    }
}

/// A refusal of a client before the handshake: the reason and the alert to send.
#[derive(Clone, Debug)]
pub struct TlsRefusal {
    alert: u8,
    why: Arc<dyn StdError + Send + Sync>,
}

impl TlsRefusal {
    /// The alert for a client that is not to come in.
    pub const ACCESS_DENIED: u8 = 49;
    /// The alert for what went wrong on our side.
    pub const INTERNAL_ERROR: u8 = 80;
    /// The alert for a host that is not ours.
    pub const UNRECOGNIZED_NAME: u8 = 112;
    /// The alert for a client that speaks nothing that we speak.
    pub const NO_APPLICATION_PROTOCOL: u8 = 120;

    /// Sends `alert` (RFC 8446 section 6) to the client; the reason is reported as
    /// [`HandshakeFailure::Refused`](crate::server::HandshakeFailure::Refused).
    pub fn new(alert: u8, why: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        let why = why.into().into();
        Self { alert, why }
    }
    /// The alert to send.
    pub fn alert(&self) -> u8 {
        self.alert
    }
    /// The reason.
    pub fn why(&self) -> &(dyn StdError + Send + Sync + 'static) {
        &*self.why
    }
}

impl fmt::Display for TlsRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the client is refused: {}", self.why)
    }
}

impl StdError for TlsRefusal {}

/// Two are the same if they say the same.
impl PartialEq for TlsRefusal {
    fn eq(&self, other: &Self) -> bool {
        self.alert == other.alert && self.why.to_string() == other.why.to_string()
    }
}

impl Eq for TlsRefusal {}

/// The chosen settings of a handshake; `None`: the server's own.
type Chosen = Result<Option<Tls>, TlsRefusal>;
type Choosing = Pin<Box<dyn Future<Output = Chosen> + Send>>;
type Choose = dyn Fn(ClientHello) -> Choosing + Send + Sync;

/// The user's callback, called at each handshake.
#[derive(Clone)]
pub(crate) struct Chooser(Arc<Choose>);

impl Chooser {
    pub(in crate::tls) fn new<F>(choose: impl Fn(ClientHello) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Chosen> + Send + 'static,
    {
        Self(Arc::new(move |hello| Box::pin(choose(hello))))
    }
    pub(crate) fn choose(&self, hello: ClientHello) -> Choosing {
        (self.0)(hello)
    }
}

impl fmt::Debug for Chooser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chooser").finish_non_exhaustive()
    }
}
