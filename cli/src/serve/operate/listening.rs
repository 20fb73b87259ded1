//! A server of the command, on a port or a Unix socket, and those beside the first one.

use super::report;
use super::sockets::is_at;
use crate::failure::Failure;
use crate::serve::ServeOptions;
use crate::serve::listeners::{ListenTable, others};
use crate::system::{RunningOnUnix, Sockets};
use std::net::SocketAddr;
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

/// Starts the server of a table, on sockets of another process if there are any.
pub(in crate::serve) type Opener<'a> =
    dyn Fn(&ListenTable, Option<Sockets>) -> Result<Listening, Failure> + 'a;

/// The servers beside the first one, which come and go with the file that names them.
pub(in crate::serve) struct Others<'a> {
    open: Mutex<Vec<(ListenTable, Arc<Listening>)>>,
    opener: Box<Opener<'a>>,
    /// The first one's, which shows these too.
    inspector: Inspector,
}

impl<'a> Others<'a> {
    /// Starts those of `options`; `given` has the sockets of some.
    pub(in crate::serve) fn start(
        options: &ServeOptions,
        inspector: Inspector,
        mut given: impl FnMut(&ListenTable) -> Option<Sockets>,
        opener: Box<Opener<'a>>,
    ) -> Result<Self, Failure> {
        let others_of = Self {
            open: Mutex::default(),
            opener,
            inspector,
        };
        for table in others(options) {
            others_of.open_one(&table, given(&table))?;
        }
        Ok(others_of)
    }
    /// Of the first server and all of these but redirects.
    pub(super) fn inspector(&self) -> Inspector {
        self.inspector.clone()
    }
    fn open_one(&self, table: &ListenTable, sockets: Option<Sockets>) -> Result<(), Failure> {
        let listening = (self.opener)(table, sockets)?;
        if !table.redirect {
            self.inspector.include(&listening.inspector());
        }
        self.all().push((table.clone(), Arc::new(listening)));
        Ok(())
    }
    /// As `options` have them now: new ones are opened, those that are named no more drain within `time`, all have the limits and
    /// timeouts of `config`.
    pub(super) fn renew(&self, options: &ServeOptions, config: &ServerConfig, time: Duration) {
        let wanted = others(options);
        let mut kept = Vec::new();
        for (table, listening) in std::mem::take(&mut *self.all()) {
            if wanted.contains(&table) {
                // It was found usable with the first server's.
                let _ = listening.config_handle().configure(config);
                kept.push((table, listening));
            } else if let Some(listening) = Arc::into_inner(listening) {
                report!("trunkline: {} is listened on no more", shown(&table));
                tokio::spawn(listening.drain(None, time));
            }
        }
        *self.all() = kept;
        for table in wanted {
            let is_there = self.all().iter().any(|(has, _)| *has == table);
            if is_there {
                continue;
            }
            match self.open_one(&table, None) {
                Ok(()) => report!("trunkline: {} is listened on", shown(&table)),
                Err(why) => report!("trunkline: {} is not listened on: {why}", shown(&table)),
            }
        }
    }
    /// A line for each, behind that of the site.
    pub(super) fn lines(&self) -> Vec<String> {
        let lines = self.all();
        let lines = lines
            .iter()
            .map(|(table, listening)| match listening.address() {
                Some(address) if table.redirect => format!("redirecting http://{address}"),
                Some(address) => format!("also on {address}"),
                None => format!("also on {}", shown(table)),
            });
        lines.collect()
    }
    /// The servers as they are now, for the next process.
    #[cfg(unix)]
    pub(super) fn servers(&self) -> Vec<Arc<Listening>> {
        let servers = self.all();
        servers
            .iter()
            .map(|(_, listening)| Arc::clone(listening))
            .collect()
    }
    /// All of them end within `time`; `sockets`: another process serves on these, in any order. How many requests were cut.
    pub(super) async fn drain(&self, mut sockets: Vec<Sockets>, time: Duration) -> u64 {
        let all = std::mem::take(&mut *self.all());
        let mut drains = tokio::task::JoinSet::new();
        for (table, listening) in all {
            let has = listening.address();
            let own = sockets.iter().position(|it| match has {
                Some(has) => it.local_addr() == Some(has),
                None => table
                    .address
                    .as_ref()
                    .is_some_and(|wanted| is_at(it, wanted)),
            });
            let own = own.map(|at| sockets.swap_remove(at));
            if let Some(listening) = Arc::into_inner(listening) {
                drains.spawn(listening.drain(own, time));
            }
        }
        drains.join_all().await.into_iter().sum()
    }
    fn all(&self) -> std::sync::MutexGuard<'_, Vec<(ListenTable, Arc<Listening>)>> {
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
