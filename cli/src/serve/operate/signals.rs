//! The signals of a server: SIGINT and SIGTERM end it, SIGUSR1 opens its access log again. SIGHUP is `renewal`'s. The
//! buttons of the admin page send them.

use super::access_log::AccessLog;
use super::report;
use crate::failure::Failure;
use crate::system::{CaughtSignal, ProcessSignal};
use std::sync::Arc;

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
    crate::system::raise(match signal {
        Raised::Drain => ProcessSignal::Terminate,
        Raised::Reload => ProcessSignal::Hangup,
        Raised::ReopenLog => ProcessSignal::User,
    });
}

/// The signals that end a server in order.
pub(super) struct Stop {
    interrupt: CaughtSignal,
    terminate: CaughtSignal,
}

impl Stop {
    pub(super) fn new() -> Result<Self, Failure> {
        Ok(Self {
            interrupt: CaughtSignal::new(ProcessSignal::Interrupt)?,
            terminate: CaughtSignal::new(ProcessSignal::Terminate)?,
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
    user: CaughtSignal,
    log: Arc<AccessLog>,
}

impl Reopening {
    /// `None`: there is no log, and SIGUSR1 ends the process as ever.
    pub(super) fn of(log: Option<Arc<AccessLog>>) -> Result<Option<Self>, Failure> {
        let Some(log) = log else {
            return Ok(None);
        };
        let user = CaughtSignal::new(ProcessSignal::User)?;
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
