//! The operation of a server: signals, the drain, the admin address, logs, and the service manager.

pub(super) mod access_log;
#[cfg(unix)]
mod activation;
pub(super) mod admin;
pub(super) mod given;
pub(super) mod listening;
#[cfg(not(unix))]
mod no_upgrade;
pub(super) mod notify;
pub(super) mod signals;
mod sockets;
#[cfg(unix)]
mod upgrade;

use super::{ServeOptions, report};
use crate::failure::Failure;
use crate::serve::listeners::ListenAddress;
use crate::system::SuccessorListener;
use crate::system::next_process::{self, NextProcess};
use access_log::{AccessLog, LogField, LogFormat, LogLevel};
use admin::{AdminOptions, Readiness};
use given::GivenSockets;
use listening::{Listeners, Listening};
#[cfg(not(unix))]
use no_upgrade as upgrade;
use notify::Notify;
use signals::{Raised, Reopening, Stop};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedReceiver;
use trunkline::ServerConfig;

/// Requests that take longer have timelines on the admin page, as those that fail have.
const SLOW: Duration = Duration::from_secs(1);
/// The least size of an access log that is renamed: a file of a few lines is a mistake in the unit.
pub(super) const FILE_BYTES_LEAST: u64 = 4096;

/// Flags of `serve` about its operation.
#[derive(Clone, clap::Args)]
#[cfg_attr(test, derive(Debug))]
pub(crate) struct OperateOptions {
    /// Serve a page at this address that shows connections, exchanges and why they wait; /state.json, /metrics (OpenMetrics),
    /// /healthz and /readyz too. A loopback address, or unix:PATH for a Unix socket; every other address needs
    /// --admin-token-file.
    #[arg(long, value_name = "ADDR")]
    pub(super) admin: Option<ListenAddress>,
    /// A file with the token that readers must give (authorization: Bearer TOKEN), 16 characters
    /// or more, which other users may not read. /healthz and /readyz need none.
    #[arg(long, value_name = "FILE", requires = "admin")]
    pub(super) admin_token_file: Option<PathBuf>,
    /// Requests that take longer have timelines on the admin page, which a file alone sets.
    #[arg(skip = SLOW)]
    pub(super) slow: Duration,
    /// Take the place of the server that was started with the same path: this one receives its listening sockets over
    /// a Unix socket there, and the other drains once this one serves; no client is refused, and no connection lost. Then,
    /// and where none runs, wait there for the next one, which SIGUSR2 starts: the same command again.
    #[arg(long, value_name = "PATH", conflicts_with = "open")]
    pub(super) upgrade: Option<PathBuf>,
    /// Append a line for every request to this file; `-` for standard output. SIGUSR1 makes the file be opened
    /// again, as logrotate needs it.
    #[arg(long, value_name = "FILE")]
    pub(super) access_log: Option<PathBuf>,
    /// The form of its lines: the common log format, with referer and user agent (combined), or JSON.
    #[arg(long, value_enum, default_value_t = LogFormat::Common, requires = "access_log")]
    pub(super) access_log_format: LogFormat,
    /// The members of a JSON line, in this order. Default: all.
    #[arg(
        long,
        value_enum,
        value_name = "FIELDS",
        value_delimiter = ',',
        requires = "access_log"
    )]
    pub(super) access_log_fields: Vec<LogField>,
    /// The requests that have a line: all, those that failed or have a status of 500 or more, or none. The admin page and SIGHUP
    /// change it.
    #[arg(long, value_enum, default_value_t = LogLevel::All, requires = "access_log")]
    pub(super) access_log_level: LogLevel,
    /// Rename the file before a line would make it larger than this many bytes, to FILE.1, and what had that name to FILE.2,
    /// and go on in a new one. Default: no limit.
    #[arg(long, value_name = "BYTES", requires = "access_log", value_parser = clap::value_parser!(u64).range(FILE_BYTES_LEAST..))]
    pub(super) access_log_bytes_max: Option<u64>,
    /// The number of renamed files that are kept.
    #[arg(long, value_name = "N", default_value_t = 5, requires = "access_log_bytes_max", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(super) access_log_files_kept: u32,
    /// Seconds between SIGINT or SIGTERM, upon which /readyz says 503, and the drain: the time in which a load
    /// balancer notices. Requests are answered meanwhile.
    #[arg(long, value_name = "SECONDS", default_value_t = 0, value_parser = clap::value_parser!(u64).range(0..=3600))]
    pub(super) drain_delay: u64,
    /// Seconds that open requests get to finish after SIGINT or SIGTERM. A second signal cuts them at once.
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(0..=3600))]
    pub(super) drain: u64,
}

impl OperateOptions {
    /// Whether they fit together and can be used; nothing is opened but the token's file.
    pub(super) fn check(&self) -> Result<(), Failure> {
        AccessLog::check(self)?;
        self.admin_options().map(|_| ())
    }
    fn admin_options(&self) -> Result<Option<AdminOptions>, Failure> {
        AdminOptions::of(self.admin.as_ref(), self.admin_token_file.as_deref())
    }
}

/// Options that were read again, and the settings of a server by them.
pub(super) type NewSettings = (ServeOptions, ServerConfig);

/// A server's operation, from before its first request to its end. Signals are registered when it is made, before
/// the port is open, so that none is missed.
pub(super) struct Operation {
    stop: Stop,
    reopening: Option<Reopening>,
    log: Option<Arc<AccessLog>>,
    admin: Option<AdminOptions>,
    upgrade: Option<PathBuf>,
    next: Option<NextProcess>,
    notify: Notify,
    drain_delay: Duration,
    drain: Duration,
}

impl Operation {
    pub(super) fn new(
        options: &ServeOptions,
        log: Option<Arc<AccessLog>>,
    ) -> Result<Self, Failure> {
        let operate = &options.operate;
        Ok(Self {
            stop: Stop::new()?,
            reopening: Reopening::of(log.clone())?,
            log,
            admin: operate.admin_options()?,
            upgrade: operate.upgrade.clone(),
            next: NextProcess::new(operate.upgrade.is_some())?,
            notify: Notify::of_environment(),
            drain_delay: Duration::from_secs(operate.drain_delay),
            drain: Duration::from_secs(operate.drain),
        })
    }

    /// The service manager.
    pub(super) fn notify(&self) -> Notify {
        self.notify.clone()
    }

    /// Serves until a signal or another process comes, then drains. `renewal` runs beside it, and never ends; `renews`:
    /// upon SIGHUP, and gives the new options. `announce` prints the address, once nothing can fail any more and the next process can
    /// connect.
    pub(super) async fn run(
        mut self,
        listeners: Listeners<'_>,
        mut given: GivenSockets,
        (renewal, renews, renewed): (
            impl Future<Output = ()>,
            bool,
            UnboundedReceiver<NewSettings>,
        ),
        announce: impl FnOnce(),
    ) -> Result<(), Failure> {
        let readiness = Readiness::new();
        let admin = self.admin.as_ref();
        let mut catches = vec![Raised::Drain];
        catches.extend(renews.then_some(Raised::Reload));
        catches.extend(self.reopening.is_some().then_some(Raised::ReopenLog));
        let admin = admin.map(|options| {
            let site = (listeners.inspector(), readiness.clone());
            options.serve(site, (&catches, self.log.as_ref()), given.take_admin())
        });
        let admin = admin.transpose()?;
        let notify = self.notify.clone();
        let successors = self.upgrade.as_deref().map(upgrade::listen);
        let successors = successors.transpose()?;
        announce();
        listeners.lines().iter().for_each(|line| print_line(line));
        if let Some(address) = admin.as_ref().and_then(Listening::address) {
            print_line(&format!("admin on http://{address}"));
        }
        next_process::wait_for_end_of_parent();
        notify.started(given.report_serving());
        // Its duplicates of the listening sockets would outlive those of the workers.
        drop(given);
        let reopening = Reopening::run(self.reopening.take());
        tokio::select! {
            served = self.serve((listeners, renewed), admin, successors, &readiness) => served,
            () = renewal => Ok(()),
            () = reopening => Ok(()),
            () = notify.watch() => Ok(()),
        }
    }

    async fn serve(
        &mut self,
        (listeners, mut renewed): (Listeners<'_>, UnboundedReceiver<NewSettings>),
        admin: Option<Listening>,
        successors: Option<SuccessorListener>,
        readiness: &Readiness,
    ) -> Result<(), Failure> {
        let drain = self.drain;
        let mut next = self.next.take();
        let handed_over = {
            let mut next = std::pin::pin!(NextProcess::start_upon_signals(&mut next));
            let successor = upgrade::successor(successors.as_ref(), &listeners, admin.as_ref());
            let mut successor = std::pin::pin!(successor);
            loop {
                tokio::select! {
                    () = self.stop.wait() => break None,
                    () = &mut next => {}
                    sockets = &mut successor => break Some(sockets),
                    Some((options, config)) = renewed.recv() => listeners.renew(&options, &config, drain),
                }
            }
        };
        readiness.withdraw();
        if let Some(sockets) = handed_over {
            // The admin address is the next process's, which the service manager watches now.
            if let Some((admin, sockets)) = admin.zip(sockets.admin) {
                admin.drain(Some(sockets), Duration::ZERO).await;
            }
            let mut drained = std::pin::pin!(listeners.drain(sockets.site, sockets.others, drain));
            // A manager that ends the service sends each of its processes the signal, of which the first one drains.
            tokio::select! {
                biased;
                () = self.stop.wait() => {}
                cut = &mut drained => return self.ended(cut),
            }
            return self.drained(drained).await;
        }
        if let Some(successors) = &successors {
            successors.withdraw();
        }
        self.notify.stopping();
        tokio::select! {
            () = tokio::time::sleep(self.drain_delay) => {}
            () = self.stop.wait() => return Err(cut_short()),
        }
        self.drained(listeners.drain(None, Vec::new(), drain)).await
    }

    /// Waits for the end of the drains, or for a signal to cut them.
    async fn drained(&mut self, drained: impl Future<Output = u64>) -> Result<(), Failure> {
        tokio::select! {
            cut = drained => self.ended(cut),
            () = self.stop.wait() => Err(cut_short()),
        }
    }
    fn ended(&self, cut: u64) -> Result<(), Failure> {
        match cut {
            0 => Ok(()),
            cut => Err(Failure::remote(format_args!(
                "{cut} requests had not finished after {} s and were cut",
                self.drain.as_secs()
            ))),
        }
    }
}

/// The second signal.
fn cut_short() -> Failure {
    Failure::remote("a second signal came: open requests were cut")
}

/// Prints a line about another address, behind that of the site.
fn print_line(line: &str) {
    use std::io::Write as _;
    let mut out = std::io::stdout();
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}
