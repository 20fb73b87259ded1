//! A page that shows what a server or a client is doing, for people: connections, exchanges with their windows and the
//! reason of each wait, counts and latencies, live. The same state is there as JSON, and the counts as OpenMetrics text.
//!
//! ```no_run
//! # async fn example<S: trunkline::HttpService>(service: S) -> Result<(), trunkline::Error> {
//! use trunkline::Server;
//! use trunkline::admin::Admin;
//!
//! let running = Server::bind("0.0.0.0:8080").serve(service)?;
//! let admin = Admin::of_server(running.inspector()).listen("127.0.0.1:9901")?;
//! println!("http://{}/", admin.local_addr());
//! # Ok(())
//! # }
//! ```

mod guard;
mod live;
mod site;
mod state;

use crate::error::Error;
use crate::server::{Inspector, Running, Server, service_fn};
use guard::Guard;
use site::Site;
use state::PageSubject;
use std::convert::Infallible;
use std::fmt;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;

/// Characters of a token, at least: fewer could be guessed.
pub const TOKEN_CHARACTERS_MIN: usize = 16;
/// Connections that the page lists; the others are counted.
pub const LISTED_CONNECTIONS_MAX: usize = 100;
/// Exchanges that the page lists of each connection; the others are counted. With [`LISTED_CONNECTIONS_MAX`] a state has
/// at most about 2 MB.
pub const LISTED_STREAMS_MAX: usize = 50;
/// Readers of the live state at one time; a further one gets 503. Each costs a look at every connection that is listed
/// once a second.
pub const LIVE_READERS_MAX: usize = 8;

/// Something that the page has a button for.
pub(crate) struct Action {
    /// Its name in the path.
    name: &'static str,
    /// The text of its button.
    label: &'static str,
    run: Box<dyn Fn() + Send + Sync>,
    /// Whether it is one of several choices, and the one in force.
    is_chosen: Option<Box<dyn Fn() -> bool + Send + Sync>>,
}

/// The page of one server or client, and its settings. It is read at `/`, as JSON at `/state.json`, as server-sent events
/// once a second at `/events`; `/timelines/ID` has the timeline of a failed request of a client, `/metrics` the counts; `/healthz` and
/// `/readyz` are for load balancers.
#[must_use]
pub struct Admin {
    source: PageSubject,
    token: Option<String>,
    actions: Vec<Action>,
    is_ready: Option<Box<dyn Fn() -> bool + Send + Sync>>,
}

impl Admin {
    /// The page of a server.
    pub fn of_server(inspector: Inspector) -> Self {
        Self::of(PageSubject::Server(inspector))
    }
    /// The page of a client, which keeps the timelines of its failed requests from now on
    /// ([`Client::keep_timelines`](crate::Client::keep_timelines)).
    #[cfg(feature = "client")]
    pub fn of_client(client: &crate::Client) -> Self {
        client.keep_timelines();
        Self::of(PageSubject::Client(client.clone()))
    }
    fn of(source: PageSubject) -> Self {
        Self {
            source,
            token: None,
            actions: Vec::new(),
            is_ready: None,
        }
    }
    /// Readers of all but the empty page, `/healthz` and `/readyz` must give this token, as `authorization: Bearer TOKEN`; the
    /// page asks for it. Default: none, on loopback addresses and Unix sockets alone.
    ///
    /// # Errors
    /// When it has fewer than [`TOKEN_CHARACTERS_MIN`] characters, or others than visible ASCII ones.
    pub fn token(mut self, token: impl Into<String>) -> Result<Self, Error> {
        let token = token.into();
        let is_visible = token.bytes().all(|byte| byte.is_ascii_graphic());
        if token.len() < TOKEN_CHARACTERS_MIN || !is_visible {
            return Err(Error::config(format!(
                "the token of an admin address must have {TOKEN_CHARACTERS_MIN} or more visible ASCII characters"
            )));
        }
        self.token = Some(token);
        Ok(self)
    }
    /// Adds a button with the text `label`, which sends `POST /actions/NAME`. `run` must not block.
    pub fn action(
        mut self,
        name: &'static str,
        label: &'static str,
        run: impl Fn() + Send + Sync + 'static,
    ) -> Self {
        let run = Box::new(run);
        self.actions.push(Action {
            name,
            label,
            run,
            is_chosen: None,
        });
        self
    }
    /// Adds a button as [`action`](Self::action) does, for one value of a setting: the page shows whether it is the one in force, which
    /// `is_chosen` says. The level of a log is such a setting.
    pub fn choice(
        mut self,
        name: &'static str,
        label: &'static str,
        is_chosen: impl Fn() -> bool + Send + Sync + 'static,
        run: impl Fn() + Send + Sync + 'static,
    ) -> Self {
        self.actions.push(Action {
            name,
            label,
            run: Box::new(run),
            is_chosen: Some(Box::new(is_chosen)),
        });
        self
    }
    /// Whether new requests are welcome, which `/readyz` says. Default: until a drain begins.
    pub fn ready_while(mut self, is_ready: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        self.is_ready = Some(Box::new(is_ready));
        self
    }
    /// Serves the page at a loopback address, or with a [`token`](Self::token) at any: in cleartext, so on a wire only where
    /// its network is trusted. Dropping the result closes it.
    ///
    /// # Errors
    /// When the address cannot be listened on, or is not loopback's and there is no token.
    pub fn listen(self, address: &str) -> Result<Running, Error> {
        let found = address.to_socket_addrs().map_err(|error| {
            Error::config(format!("{address} cannot be resolved")).with_source(error)
        })?;
        let found: Vec<SocketAddr> = found.collect();
        if self.token.is_none() && !found.iter().all(|found| found.ip().is_loopback()) {
            return Err(Error::config(format!(
                "the admin address {address} is not a loopback address: others could read it; give a token, or \
                 take 127.0.0.1 or [::1]"
            )));
        }
        self.serve_on(Server::bind(address))
    }
    /// As [`listen`](Self::listen), on a Unix socket at `path` that its owner alone can connect to.
    ///
    /// # Errors
    /// When the path cannot be listened on.
    #[cfg(unix)]
    pub fn listen_unix(
        self,
        path: impl AsRef<std::path::Path>,
    ) -> Result<Running<std::os::unix::net::SocketAddr>, Error> {
        self.serve_on_unix(Server::bind_unix(path).mode(0o600))
    }
    /// Serves the page on a server of the caller's choice: its address is not checked.
    ///
    /// # Errors
    /// When it cannot be listened on.
    pub fn serve_on(self, server: Server) -> Result<Running, Error> {
        self.start(server, true)
    }
    /// As [`serve_on`](Self::serve_on), on a Unix socket.
    ///
    /// # Errors
    /// When it cannot be listened on.
    #[cfg(unix)]
    pub fn serve_on_unix(
        self,
        server: Server<crate::server::UnixSocket>,
    ) -> Result<Running<std::os::unix::net::SocketAddr>, Error> {
        self.start(server, false)
    }
    fn start<P: crate::server::ListenTarget>(
        self,
        server: Server<P>,
        is_port: bool,
    ) -> Result<Running<P::Address>, Error> {
        let guard = Guard::new(self.token, is_port)?;
        let site = Site::new(self.source, guard, self.actions, self.is_ready);
        let site = Arc::new(site);
        server
            .workers(1)
            .serve(service_fn(move |request: http::Request<crate::Body>| {
                let site = Arc::clone(&site);
                async move { Ok::<_, Infallible>(site.answer(&request).await) }
            }))
    }
}

impl fmt::Debug for Admin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Admin").finish_non_exhaustive()
    }
}
