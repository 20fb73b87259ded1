//! Settings of HTTP/3.

use super::ClientBuilder;
#[cfg(doc)]
use crate::client::Protocols;
use crate::config::Congestion;

/// HTTP/3 (feature `http3`); [`protocols`](Self::protocols) lets it be used.
impl<C> ClientBuilder<C> {
    /// Whether `https` origins are taken to serve HTTP/3 on their port before they have said so: with
    /// [`Protocols::All`] QUIC is then tried first from the first request on, TCP 200 ms later. Where
    /// nothing answers over QUIC that costs the 200 ms, once a minute at first. Default: false.
    pub fn assume_http3(mut self, on: bool) -> Self {
        self.settings.assumes_http3 = on;
        self
    }
    /// The congestion controller of HTTP/3 connections. Default: [`Congestion::Cubic`].
    pub fn quic_congestion(mut self, congestion: Congestion) -> Self {
        self.settings.quic.congestion = congestion;
        self
    }
    /// Whether HTTP/3 requests may go out with the handshake of a resumed session (0-RTT, RFC 8446
    /// section 2.3), a round trip earlier. An attacker who records early data can replay it, so
    /// only GET, HEAD and OPTIONS without a body are sent early, and a request answered with 425 is
    /// sent once more after the handshake (RFC 8470 section 5.2). Where QUIC races TCP
    /// ([`Protocols::All`]), a handshake that carries requests has TCP's head start, 200 ms, and a
    /// round trip; after that its requests are sent again over TCP.
    /// [`Client::early_data`](crate::Client::early_data) counts the outcomes. Default: false.
    pub fn early_data(mut self, early_data: bool) -> Self {
        self.settings.quic.early_data = early_data;
        self
    }
    /// Whether HTTP datagrams (RFC 9297) are announced over HTTP/3. The answer to an extended CONNECT
    /// then carries [`Datagrams`](crate::Datagrams) among its extensions: the request's method is
    /// CONNECT, and [`Protocol`](crate::upgrade::Protocol) is among its extensions. Default: false,
    /// because nothing else gives datagrams a meaning.
    pub fn datagrams(mut self, on: bool) -> Self {
        self.settings.config.datagrams = on;
        self
    }
}
