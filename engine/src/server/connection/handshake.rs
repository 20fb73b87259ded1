//! The TLS handshake of an accepted socket, and the check that its client is admitted.

use super::first_bytes::LastWait;
use super::linger::LINGER;
use crate::connection_info::{Addresses, TlsInfo};
use crate::driver::signals::Signals;
use crate::driver::timer;
use crate::driver::transport::Transport;
use crate::driver::transport::client_hello::{PeekedHello, Refused};
use crate::driver::transport::old_hello::{OldHello, PROTOCOL_VERSION_ALERT};
use crate::tls::{Chooser, ClientHello, Tls};
use rustls::{AlertDescription, ServerConnection};
use std::future::poll_fn;
use std::io;
use std::pin::pin;
use std::task::Poll;
use tokio::io::{AsyncRead, AsyncWrite};

/// A transport whose handshake is done.
pub(in crate::server) struct Secured<T> {
    pub(in crate::server) transport: Transport<T>,
    /// The TLS settings chosen for this handshake, if not the server's.
    chosen: Option<Tls>,
}

impl<T: AsyncRead + AsyncWrite + Unpin> Secured<T> {
    /// `tls` is the server's. A server that stops, as `signals` say, waits for a ClientHello as long as for a first request.
    pub(in crate::server) async fn new(
        socket: T,
        tls: &Tls,
        addresses: Option<Addresses>,
        signals: &Signals,
    ) -> Result<Self, Refused<T>> {
        let mut secured = match tls.chooser() {
            None => {
                let config = tls.config_of(addresses);
                let connection = ServerConnection::new(config).map_err(io::Error::other)?;
                Self {
                    transport: Transport::tls(socket, connection.into()),
                    chosen: None,
                }
            }
            // Boxed, so that the states of this rare path do not enlarge every handshake.
            Some(chooser) => Box::pin(chosen(socket, tls, chooser, addresses, signals)).await?,
        };
        let transport = &mut secured.transport;
        let mut last_wait = LastWait::default();
        let shaken = poll_fn(|cx| {
            let polled = transport.poll_handshake(cx);
            let is_silent = polled.is_pending() && !transport.has_hello();
            match is_silent && last_wait.is_over(signals, cx) {
                true => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
                false => polled,
            }
        });
        if let Err(error) = shaken.await {
            return Err(Box::pin(failed(secured.transport, error)).await);
        }
        if let Some(judge) = secured.tls(tls).judge()
            && let Err(why) = judge.admit(secured.transport.peer_certificates())
        {
            return Err(Box::pin(unadmitted(secured.transport, why)).await);
        }
        Ok(secured)
    }
    /// The TLS settings of the handshake.
    fn tls<'a>(&'a self, of_server: &'a Tls) -> &'a Tls {
        self.chosen.as_ref().unwrap_or(of_server)
    }
    /// Whether it was agreed on what is no HTTP; or the client did not say what it speaks, and nothing is
    /// served to such.
    pub(super) fn is_unnegotiated(&self, of_server: &Tls) -> bool {
        match self.transport.alpn() {
            None => !self.tls(of_server).serves_unnamed(),
            Some(name) => name != b"h2" && !name.starts_with(b"http/"),
        }
    }
    pub(in crate::server) fn info(&self, of_server: &Tls) -> Option<TlsInfo> {
        let judge = self.tls(of_server).judge();
        self.transport.tls_info(None).map(|tls| match judge {
            Some(judge) => tls.with_client(judge, self.transport.peer_certificates()),
            None => tls,
        })
    }
}

/// Reports a failed negotiation to the client with an alert, if one is due.
async fn failed<T>(mut transport: Transport<T>, error: io::Error) -> Refused<T>
where
    T: AsyncRead + AsyncWrite + Unpin,
{
    // TLS has refused what came; anything else is the end of the socket.
    if error.kind() != io::ErrorKind::InvalidData {
        return error.into();
    }
    let sent = match OldHello::is_in(&error) {
        true => transport.refuse_in_cleartext(&PROTOCOL_VERSION_ALERT).await,
        false => poll_fn(|cx| transport.poll_shutdown(cx)).await,
    };
    let alerted = sent.ok().map(|()| transport);
    Refused { error, alerted }
}

/// rustls does not verify a client certificate again on resumption, so we do, and send an alert if
/// it is no longer trusted.
async fn unadmitted<T>(mut transport: Transport<T>, why: rustls::Error) -> Refused<T>
where
    T: AsyncRead + AsyncWrite + Unpin,
{
    let alert = match &why {
        rustls::Error::InvalidCertificate(fault) => fault.clone().into(),
        // RFC 5246 section 7.4.6; TLS 1.3 has a word of its own.
        _ if transport.is_tls12() => AlertDescription::HandshakeFailure,
        _ => AlertDescription::CertificateRequired,
    };
    let sent = transport.refuse(alert).await;
    Refused {
        error: io::Error::new(io::ErrorKind::InvalidData, why),
        alerted: sent.ok().map(|()| transport),
    }
}

impl<T: AsyncRead + AsyncWrite + Unpin> Refused<T> {
    /// Waits for the client to end its side too, for a while.
    pub(in crate::server) async fn part(self) {
        if let Some(mut alerted) = self.alerted {
            let discarded = poll_fn(|cx| alerted.poll_discard(cx, &mut false));
            // A peer that does not end is cut.
            let _ = timer::timeout(LINGER, discarded).await;
        }
    }
}

/// Has `chooser` say what the handshake goes on with; the rest of it is still to be driven.
async fn chosen<T: AsyncRead + AsyncWrite + Unpin>(
    socket: T,
    tls: &Tls,
    chooser: &Chooser,
    addresses: Option<Addresses>,
    signals: &Signals,
) -> Result<Secured<T>, Refused<T>> {
    let mut read = pin!(PeekedHello::read(socket));
    let mut last_wait = LastWait::default();
    let read = poll_fn(|cx| match read.as_mut().poll(cx) {
        Poll::Pending if last_wait.is_over(signals, cx) => {
            Poll::Ready(Err(io::Error::from(io::ErrorKind::TimedOut).into()))
        }
        polled => polled,
    });
    let mut peeked = read.await?;
    let hello = ClientHello::new(&peeked.hello(), addresses);
    match peeked.wait_for(chooser.choose(hello)).await? {
        Ok(chosen) => {
            let chosen = chosen.map(|chosen| chosen.listened_as(tls));
            let config = chosen.as_ref().unwrap_or(tls).config_of(addresses);
            let transport = peeked.go_on(config).await?;
            Ok(Secured { transport, chosen })
        }
        Err(refusal) => {
            let alert = refusal.alert();
            Err(peeked.refuse(alert, io::Error::other(refusal)).await)
        }
    }
}
