//! The admin address of `serve`: the library's page with buttons for what signals do, for people and load balancers.

use super::listen_address::ListenAddress;
use super::signals::{Raised, raise};
use crate::failure::Failure;
use crate::serve::refused;
use crate::token;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use trunkline::admin;
use trunkline::server::{Inspector, Sockets};
use trunkline::{Running, Server};

/// Whether new requests are welcome: `/readyz` says it.
#[derive(Clone, Debug)]
pub(super) struct Readiness(Arc<AtomicBool>);

impl Readiness {
    /// Of a server that takes requests.
    pub(super) fn new() -> Self {
        Self(Arc::new(AtomicBool::new(true)))
    }
    /// From now on load balancers are to send requests elsewhere.
    pub(super) fn withdraw(&self) {
        self.0.store(false, Ordering::Relaxed);
    }
    fn is_ready(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The flags of the admin address, checked.
#[derive(Debug)]
pub(super) struct AdminOptions {
    place: ListenAddress,
    token: Option<String>,
}

impl AdminOptions {
    /// `None`: there is no admin address.
    pub(super) fn of(
        place: Option<&ListenAddress>,
        token_file: Option<&Path>,
    ) -> Result<Option<Self>, Failure> {
        let Some(place) = place else {
            return Ok(None);
        };
        let token = token_file
            .map(|path| token::read("--admin-token-file", path))
            .transpose()?;
        if token.is_none() && !place.is_local()? {
            return Err(Failure::usage(format_args!(
                "--admin {place} is not a loopback address or a Unix socket: others could read it; add \
                 --admin-token-file, or take 127.0.0.1, [::1] or unix:PATH"
            )));
        }
        let place = place.clone();
        Ok(Some(Self { place, token }))
    }
    /// Starts the server of the admin address; `given`: on sockets of the process before. `catches`: signals that the
    /// process does not end with, which have buttons.
    pub(super) fn serve(
        &self,
        (inspector, readiness): (Inspector, Readiness),
        catches: &[Raised],
        given: Option<Sockets>,
    ) -> Result<Admin, Failure> {
        let mut admin = admin::Admin::of_server(inspector);
        admin = admin.ready_while(move || readiness.is_ready());
        if let Some(token) = &self.token {
            admin = admin.token(token.as_str()).map_err(refused)?;
        }
        for signal in catches {
            let signal = *signal;
            admin = admin.action(signal.name(), signal.label(), move || raise(signal));
        }
        let given =
            given.filter(|given| given.are_unix() == matches!(self.place, ListenAddress::Unix(_)));
        match &self.place {
            ListenAddress::Port(address) => {
                let server = match given {
                    Some(given) => Server::on_sockets(given),
                    None => Server::bind(address.as_str()),
                };
                admin.serve_on(server).map(Admin::Port).map_err(refused)
            }
            ListenAddress::Unix(path) => {
                // Its owner alone may connect.
                let server = match given {
                    Some(given) => Server::on_unix_sockets(given),
                    None => Server::bind_unix(path).mode(0o600),
                };
                admin
                    .serve_on_unix(server)
                    .map(Admin::Unix)
                    .map_err(refused)
            }
        }
    }
}

/// The running server of the admin address. Dropping it closes it.
pub(super) enum Admin {
    Port(Running),
    Unix(Running<std::os::unix::net::SocketAddr>),
}

impl Admin {
    /// The TCP address; `None`: a Unix socket.
    pub(super) fn address(&self) -> Option<SocketAddr> {
        match self {
            Self::Port(running) => Some(running.local_addr()),
            Self::Unix(_) => None,
        }
    }
    /// Its sockets, for the next process.
    pub(super) async fn hand_over(&self) -> Result<Sockets, trunkline::Error> {
        match self {
            Self::Port(running) => running.hand_over().await,
            Self::Unix(running) => running.hand_over().await,
        }
    }
    /// Ends: the next process serves on these sockets, and has the file of a Unix socket.
    pub(super) async fn leave(self, sockets: Sockets) {
        match self {
            Self::Port(running) => running.drain_handed_over(sockets, Duration::ZERO).await,
            Self::Unix(running) => running.drain_handed_over(sockets, Duration::ZERO).await,
        };
    }
}

#[cfg(test)]
#[path = "admin_test.rs"]
mod admin_test;
