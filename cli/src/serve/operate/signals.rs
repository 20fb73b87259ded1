//! The signals of a server: SIGINT and SIGTERM end it, SIGHUP reads its certificate again, SIGUSR1 opens its access
//! log again.

use super::access_log::AccessLog;
use super::notify::Notify;
use super::report;
use crate::failure::Failure;
use crate::serve::{ServeOptions, in_full};
use std::path::PathBuf;
use std::sync::Arc;
use tokio::signal::unix::{Signal, SignalKind, signal};
use trunkline::Tls;

fn register(kind: SignalKind) -> Result<Signal, Failure> {
    signal(kind).map_err(|error| Failure::usage(format_args!("cannot catch signals: {error}")))
}

/// The signals that end a server in order.
pub(super) struct Stop {
    interrupt: Signal,
    terminate: Signal,
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

/// A certificate and its key, read again at each SIGHUP; connections go on.
pub(super) struct Renewal {
    hangup: Signal,
    tls: Tls,
    certificate: PathBuf,
    key: PathBuf,
}

impl Renewal {
    /// `None`: there are no files to read again, and SIGHUP ends the process as ever.
    pub(super) fn of(options: &ServeOptions, tls: Option<Tls>) -> Result<Option<Self>, Failure> {
        let (Some(tls), Some(certificate), Some(key)) =
            (tls, options.tls_cert.clone(), options.tls_key.clone())
        else {
            return Ok(None);
        };
        Ok(Some(Self {
            hangup: register(SignalKind::hangup())?,
            tls,
            certificate,
            key,
        }))
    }

    /// Never ends.
    pub(super) async fn run(this: Option<Self>, notify: &Notify) {
        let Some(mut this) = this else {
            return std::future::pending().await;
        };
        while this.hangup.recv().await.is_some() {
            notify.reloading();
            match this.tls.set_pem_files(&this.certificate, &this.key) {
                Ok(()) => report!("{} was read again", this.certificate.display()),
                Err(error) => report!("the certificate stays as it was: {}", in_full(&error)),
            }
            notify.ready();
        }
        std::future::pending().await
    }
}

/// An access log that is opened again at each SIGUSR1.
pub(super) struct Reopening {
    user: Signal,
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
