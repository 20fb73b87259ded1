//! The admin address of `serve`: the library's page with buttons for what signals do, for people and load balancers.

use super::access_log::{AccessLog, LogLevel};
use super::listening::Listening;
use super::signals::{Raised, raise};
use crate::failure::Failure;
use crate::serve::listeners::ListenAddress;
use crate::serve::refused;
use crate::system::{Sockets, on_sockets, on_unix_socket, serve_admin};
use crate::token;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use trunkline::Server;
use trunkline::admin;
use trunkline::server::Inspector;

/// Whether new requests are welcome: `/readyz` says it.
#[derive(Clone, Debug)]
pub(super) struct Readiness(Arc<AtomicBool>);

impl Readiness {
    /// The state of a server that takes requests.
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
    /// process does not end with, which have buttons, as the levels of its access log do.
    pub(super) fn serve(
        &self,
        (inspector, readiness): (Inspector, Readiness),
        (catches, log): (&[Raised], Option<&Arc<AccessLog>>),
        given: Option<Sockets>,
    ) -> Result<Listening, Failure> {
        let mut admin = admin::Admin::of_server(inspector);
        admin = admin.ready_while(move || readiness.is_ready());
        if let Some(token) = &self.token {
            admin = admin.token(token.as_str()).map_err(refused)?;
        }
        for signal in catches {
            let signal = *signal;
            admin = admin.action(signal.name(), signal.label(), move || raise(signal));
        }
        if let Some(log) = log {
            for (level, name, label) in [
                (LogLevel::All, "log-all", "Log all requests"),
                (LogLevel::Errors, "log-errors", "Log failed requests alone"),
                (LogLevel::Off, "log-off", "Log no requests"),
            ] {
                let (asked, set) = (Arc::clone(log), Arc::clone(log));
                let is_chosen = move || asked.has_level(level);
                admin = admin.choice(name, label, is_chosen, move || set.set_level(level));
            }
        }
        let given =
            given.filter(|given| given.are_unix() == matches!(self.place, ListenAddress::Unix(_)));
        match &self.place {
            ListenAddress::Port(address) => {
                let server = match given {
                    Some(given) => on_sockets(given),
                    None => Server::bind(address.as_str()),
                };
                admin.serve_on(server).map(Listening::Port).map_err(refused)
            }
            ListenAddress::Unix(path) => {
                let server = on_unix_socket(path, given, true)?;
                serve_admin(admin, server)
                    .map(Listening::Unix)
                    .map_err(refused)
            }
        }
    }
}

#[cfg(test)]
#[path = "admin_test.rs"]
mod admin_test;
