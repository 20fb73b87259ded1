//! The TLS handshake of an accepted socket, and whether who did it is admitted.

use crate::connection_info::{Addresses, ConnectionInfo};
use crate::driver::greeted::Greeted;
use crate::driver::transport::Transport;
use crate::tls::{Chooser, ClientHello, Tls};
use rustls::ServerConnection;
use std::future::poll_fn;
use std::io;
use tokio::io::{AsyncRead, AsyncWrite};

/// A transport whose handshake is done.
pub(super) struct Secured<T> {
    pub(super) transport: Transport<T>,
    /// What the handshake went on with, if it is not what the server has for everybody.
    chosen: Option<Tls>,
}

impl<T: AsyncRead + AsyncWrite + Unpin> Secured<T> {
    /// `tls` is the server's.
    pub(super) async fn new(
        socket: T,
        tls: &Tls,
        addresses: Option<Addresses>,
    ) -> io::Result<Self> {
        let mut secured = match tls.chooser() {
            None => {
                let config = tls.config_of(addresses);
                let connection = ServerConnection::new(config).map_err(io::Error::other)?;
                Self {
                    transport: Transport::tls(socket, connection.into()),
                    chosen: None,
                }
            }
            // Apart, so that its states are nobody else's.
            Some(chooser) => Box::pin(chosen(socket, tls, chooser, addresses)).await?,
        };
        poll_fn(|cx| secured.transport.poll_handshake(cx)).await?;
        if let Some(judge) = secured.tls(tls).judge() {
            let shown = secured.transport.peer_certificates();
            let admitted = judge.admit(shown);
            admitted.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        }
        Ok(secured)
    }
    /// What the handshake went on with.
    fn tls<'a>(&'a self, of_server: &'a Tls) -> &'a Tls {
        self.chosen.as_ref().unwrap_or(of_server)
    }
    /// Whether it was agreed on what is no HTTP; or the client did not say what it speaks, and nothing is
    /// served to such.
    pub(super) fn is_stranger(&self, of_server: &Tls) -> bool {
        match self.transport.alpn() {
            None => !self.tls(of_server).serves_unnamed(),
            Some(name) => name != b"h2" && !name.starts_with(b"http/"),
        }
    }
    pub(super) fn info(&self, of_server: &Tls, addresses: Option<Addresses>) -> ConnectionInfo {
        let judge = self.tls(of_server).judge();
        let tls = self.transport.tls_info(None).map(|tls| match judge {
            Some(judge) => tls.with_client(judge, self.transport.peer_certificates()),
            None => tls,
        });
        ConnectionInfo::new(addresses, tls)
    }
}

/// Has `chooser` say what the handshake goes on with; the rest of it is still to be driven.
async fn chosen<T: AsyncRead + AsyncWrite + Unpin>(
    socket: T,
    tls: &Tls,
    chooser: &Chooser,
    addresses: Option<Addresses>,
) -> io::Result<Secured<T>> {
    let mut greeted = Greeted::hear(socket).await?;
    let hello = ClientHello::new(&greeted.hello(), addresses);
    match greeted.wait_for(chooser.choose(hello)).await? {
        Ok(chosen) => {
            let chosen = chosen.map(|chosen| chosen.heard_as(tls));
            let config = chosen.as_ref().unwrap_or(tls).config_of(addresses);
            let transport = greeted.go_on(config).await?;
            Ok(Secured { transport, chosen })
        }
        Err(refusal) => {
            greeted.refuse(refusal.alert()).await;
            Err(io::Error::other(refusal))
        }
    }
}
