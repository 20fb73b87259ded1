//! A server of the command, on a port or a Unix socket, and those of all its addresses.

use super::report;
use super::sockets::is_at;
use crate::failure::Failure;
use crate::serve::ServeOptions;
use crate::serve::listeners::{ListenTable, all};
use crate::system::{RunningOnUnix, Sockets};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use trunkline::Running;
use trunkline::ServerConfig;
use trunkline::server::{ConfigHandle, Inspector};

/// A running server. Dropping it closes it.
pub(in crate::serve) enum Listening {
    Port(Running),
    Unix(RunningOnUnix),
}

impl Listening {
    /// The TCP address; `None`: a Unix socket.
    pub(in crate::serve) fn address(&self) -> Option<SocketAddr> {
        match self {
            Self::Port(running) => Some(running.local_addr()),
            Self::Unix(_) => None,
        }
    }
    pub(in crate::serve) fn inspector(&self) -> Inspector {
        match self {
            Self::Port(running) => running.inspector(),
            Self::Unix(running) => running.inspector(),
        }
    }
    pub(in crate::serve) fn config_handle(&self) -> ConfigHandle {
        match self {
            Self::Port(running) => running.config_handle(),
            Self::Unix(running) => running.config_handle(),
        }
    }
    /// Its sockets, for the next process.
    #[cfg(unix)]
    pub(super) async fn hand_over(&self) -> Result<Sockets, trunkline::Error> {
        match self {
            Self::Port(running) => running.hand_over().await,
            Self::Unix(running) => running.hand_over().await,
        }
    }
    /// Ends within `time`; `sockets`: another process serves on them. How many requests were cut.
    pub(super) async fn drain(self, sockets: Option<Sockets>, time: Duration) -> u64 {
        let drained = match (self, sockets) {
            #[cfg(unix)]
            (Self::Port(running), Some(sockets)) => running.drain_handed_over(sockets, time).await,
            (Self::Port(running), None) => running.drain(time).await,
            #[cfg(unix)]
            (Self::Unix(running), Some(sockets)) => running.drain_handed_over(sockets, time).await,
            (Self::Unix(running), None) => running.drain(time).await,
        };
        drained.cut
    }
}

/// Starts the server of a table with these options, on sockets of another process if there are any.
pub(in crate::serve) type Opener<'a> =
    dyn Fn(&ServeOptions, &ListenTable, Option<Sockets>) -> Result<Listening, Failure> + 'a;

/// A server and the table that it is of.
type Opened = (ListenTable, Arc<Listening>);

/// The servers of all addresses, the site's first one in front. They come and go with the file that names them.
pub(in crate::serve) struct Listeners<'a> {
    open: Mutex<Vec<Opened>>,
    opener: Box<Opener<'a>>,
    /// Inspects all servers but redirects, those that have ended too.
    inspector: Inspector,
    /// The port of the first, to which others redirect.
    https_port: Arc<AtomicU16>,
}

impl<'a> Listeners<'a> {
    /// Starts those of `options` beside the first; `given` has the sockets of some.
    pub(in crate::serve) fn start(
        options: &ServeOptions,
        (first, https_port): (Listening, Arc<AtomicU16>),
        mut given: impl FnMut(&ListenTable) -> Option<Sockets>,
        opener: Box<Opener<'a>>,
    ) -> Result<Self, Failure> {
        let mut tables = all(options).into_iter();
        let inspector = first.inspector();
        let first = tables.next().map(|table| (table, Arc::new(first)));
        let listeners = Self {
            open: Mutex::new(first.into_iter().collect()),
            opener,
            inspector,
            https_port,
        };
        listeners.note_port();
        for table in tables {
            let opened = listeners.open_one(options, &table, given(&table))?;
            listeners.all().push(opened);
        }
        Ok(listeners)
    }
    /// The inspector of all servers but redirects.
    pub(super) fn inspector(&self) -> Inspector {
        self.inspector.clone()
    }
    fn note_port(&self) {
        let port = self.site().and_then(|site| site.address());
        let port = port.map_or(0, |address| address.port());
        self.https_port.store(port, Ordering::Relaxed);
    }
    /// The server of the first address.
    pub(super) fn site(&self) -> Option<Arc<Listening>> {
        self.all().first().map(|(_, site)| Arc::clone(site))
    }
    fn open_one(
        &self,
        options: &ServeOptions,
        table: &ListenTable,
        sockets: Option<Sockets>,
    ) -> Result<Opened, Failure> {
        let listening = (self.opener)(options, table, sockets)?;
        if !table.redirect {
            self.inspector.include(&listening.inspector());
        }
        Ok((table.clone(), Arc::new(listening)))
    }
    /// As `options` have them now: new ones are opened, those that are named no more drain within `time`, all have the limits and
    /// timeouts of `config`. Where the first cannot be opened, the one before it stays, and so does one whose table has changed except for the
    /// address: that is not free for another.
    pub(super) fn renew(&self, options: &ServeOptions, config: &ServerConfig, time: Duration) {
        let mut before = std::mem::take(&mut *self.all());
        let mut now = Vec::new();
        for (number, table) in all(options).into_iter().enumerate() {
            let known = before
                .iter()
                .position(|(has, _)| has.address == table.address);
            let opened = match known {
                Some(at) => Ok(before.swap_remove(at)),
                None => self.open_one(options, &table, None),
            };
            match opened {
                Ok(opened) => {
                    if known.is_none() {
                        report!("trunkline: {} is listened on", shown(&table));
                    } else if opened.0 != table {
                        report!(
                            "trunkline: {} stays as it was: tls and redirect of an address change with a restart, or where one \
                             reload takes it out and the next puts it back",
                            shown(&table)
                        );
                    }
                    // They were found usable with the first server's.
                    let _ = opened.1.config_handle().configure(config);
                    now.push(opened);
                }
                Err(why) => {
                    report!("trunkline: {} is not listened on: {why}", shown(&table));
                    if number == 0 && !before.is_empty() {
                        now.push(before.remove(0));
                    }
                }
            }
        }
        *self.all() = now;
        self.note_port();
        for (table, listening) in before {
            if let Some(listening) = Arc::into_inner(listening) {
                report!("trunkline: {} is listened on no more", shown(&table));
                tokio::spawn(listening.drain(None, time));
            }
        }
    }
    /// A line for each, behind that of the site.
    pub(super) fn lines(&self) -> Vec<String> {
        let all = self.all();
        let others = all.iter().skip(1);
        let lines = others.map(|(table, listening)| match listening.address() {
            Some(address) if table.redirect => format!("redirecting http://{address}"),
            Some(address) => format!("also on {address}"),
            None => format!("also on {}", shown(table)),
        });
        lines.collect()
    }
    /// The servers as they are now, the site's first one in front, for the next process.
    #[cfg(unix)]
    pub(super) fn servers(&self) -> Vec<Arc<Listening>> {
        let servers = self.all();
        servers
            .iter()
            .map(|(_, listening)| Arc::clone(listening))
            .collect()
    }
    /// All of them end within `time`; another process serves on `sockets`: `site` for the first, `others` in any order. How many
    /// requests were cut.
    pub(super) async fn drain(
        &self,
        mut site: Option<Sockets>,
        mut others: Vec<Sockets>,
        time: Duration,
    ) -> u64 {
        let all = std::mem::take(&mut *self.all());
        let mut drains = tokio::task::JoinSet::new();
        for (number, (table, listening)) in all.into_iter().enumerate() {
            let has = listening.address();
            let own = others.iter().position(|it| match has {
                Some(has) => it.local_addr() == Some(has),
                None => table
                    .address
                    .as_ref()
                    .is_some_and(|wanted| is_at(it, wanted)),
            });
            let own = match number {
                0 => site.take(),
                _ => own.map(|at| others.swap_remove(at)),
            };
            if let Some(listening) = Arc::into_inner(listening) {
                drains.spawn(listening.drain(own, time));
            }
        }
        drains.join_all().await.into_iter().sum()
    }
    fn all(&self) -> std::sync::MutexGuard<'_, Vec<Opened>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn shown(table: &ListenTable) -> String {
    table
        .address
        .as_ref()
        .map(ToString::to_string)
        .unwrap_or_default()
}
