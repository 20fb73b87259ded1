//! The signals of a server: SIGINT and SIGTERM end it, SIGUSR1 opens its access log again. SIGHUP is `renewal`'s. The
//! buttons of the admin page send them.

use super::access_log::AccessLog;
use super::report;
use crate::failure::Failure;
use rustix::process::{Signal, getpid, kill_process};
use std::sync::Arc;
use tokio::signal::unix::{self, SignalKind, signal};

pub(in crate::serve) fn register(kind: SignalKind) -> Result<unix::Signal, Failure> {
    signal(kind).map_err(|error| Failure::usage(format_args!("cannot catch signals: {error}")))
}

/// A signal that the process sends to itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Raised {
    /// SIGTERM.
    Drain,
    /// SIGHUP.
    Reload,
    /// SIGUSR1.
    ReopenLog,
}

impl Raised {
    /// In the path of its button.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Drain => "drain",
            Self::Reload => "reload",
            Self::ReopenLog => "reopen-log",
        }
    }
    /// The text of its button.
    pub(super) fn label(self) -> &'static str {
        match self {
            Self::Drain => "Drain and end",
            Self::Reload => "Read certificates and settings again",
            Self::ReopenLog => "Open the access log again",
        }
    }
}

/// Does what `signal` does when it comes from outside.
pub(super) fn raise(signal: Raised) {
    let signal = match signal {
        Raised::Drain => Signal::TERM,
        Raised::Reload => Signal::HUP,
        Raised::ReopenLog => Signal::USR1,
    };
    // A process may always send signals to itself.
    let _ = kill_process(getpid(), signal);
}

/// The signals that end a server in order.
pub(super) struct Stop {
    interrupt: unix::Signal,
    terminate: unix::Signal,
}

impl Stop {
    pub(super) fn new() -> Result<Self, Failure> {
        Ok(Self {
            interrupt: register(SignalKind::interrupt())?,
            terminate: register(SignalKind::terminate())?,
        })
    }

    pub(super) async fn wait(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

/// An access log that is opened again at each SIGUSR1.
pub(super) struct Reopening {
    user: unix::Signal,
    log: Arc<AccessLog>,
}

impl Reopening {
    /// `None`: there is no log, and SIGUSR1 ends the process as ever.
    pub(super) fn of(log: Option<Arc<AccessLog>>) -> Result<Option<Self>, Failure> {
        let Some(log) = log else {
            return Ok(None);
        };
        let user = register(SignalKind::user_defined1())?;
        Ok(Some(Self { user, log }))
    }

    /// Never ends.
    pub(super) async fn run(this: Option<Self>) {
        let Some(mut this) = this else {
            return std::future::pending().await;
        };
        while this.user.recv().await.is_some() {
            match this.log.reopen() {
                Ok(()) => {}
                Err(error) => report!("the access log stays in the file it had: {error}"),
            }
        }
        std::future::pending().await
    }
}
