//! The next process, which this one starts upon SIGUSR2: the program at the path that this one was started with, which may be a newer
//! one, with the same arguments. It takes this one's place by `--upgrade`. A service manager takes it for a part of the service, which its parents were.
//! Between both is a process that ends at once: systemd waits for the end of a main process only where it is its parent, and a process is given to it
//! when its own parent has ended. Otherwise `systemctl stop` kills the server at once, in place of waiting for its drain.

use crate::failure::{Failure, report};
use crate::system::{CaughtSignal, ProcessSignal};
use std::env;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Set for the process between. A program that does not know it serves by itself.
const BETWEEN: &str = "TRUNKLINE_STARTS_NEXT_PROCESS";

/// The number of the process between, for the next one.
const STARTED_BY: &str = "TRUNKLINE_STARTED_BY";
/// How long the process between may take to end.
const END_MAX: Duration = Duration::from_secs(2);

/// Waits until the process between has ended, before the manager learns of the next one. Of no effect in a process that was started otherwise.
pub(crate) fn wait_for_end_of_parent() {
    let Some(started_by) = env::var_os(STARTED_BY) else {
        return;
    };
    let until = Instant::now() + END_MAX;
    while parent().is_some_and(|parent| *started_by == *parent.to_string())
        && Instant::now() < until
    {
        thread::sleep(Duration::from_millis(1));
    }
}

fn parent() -> Option<u32> {
    #[cfg(unix)]
    return Some(std::os::unix::process::parent_id());
    #[cfg(not(unix))]
    None
}

/// Starts the next process, where this is the one between; `None`: this is none.
pub(crate) fn pass_on() -> Option<Result<(), Failure>> {
    env::var_os(BETWEEN)?;
    let mut command = command();
    let started = command
        .env_remove(BETWEEN)
        .env(STARTED_BY, std::process::id().to_string())
        .spawn();
    Some(started.map(|_| ()).map_err(|error| {
        let program = command.get_program().display();
        Failure::usage(format_args!("{program} cannot be started: {error}"))
    }))
}

/// Starts the next process at each signal.
pub(crate) struct NextProcess {
    signal: CaughtSignal,
    /// A process between runs.
    runs: Arc<AtomicBool>,
}

impl NextProcess {
    /// `upgrades`: the next process can take this one's place. `None`: SIGUSR2 ends this one as ever.
    pub(crate) fn new(upgrades: bool) -> Result<Option<Self>, Failure> {
        let caught = upgrades.then(|| CaughtSignal::new(ProcessSignal::Upgrade));
        let signal = caught.transpose()?;
        Ok(signal.map(|signal| Self {
            signal,
            runs: Arc::default(),
        }))
    }

    /// Never ends. Signals count while this is waited for: a process that drains starts no other.
    pub(crate) async fn start_upon_signals(this: &mut Option<Self>) {
        if let Some(this) = this {
            while this.signal.recv().await.is_some() {
                this.start();
            }
        }
        std::future::pending().await
    }

    fn start(&self) {
        if self.runs.swap(true, Ordering::AcqRel) {
            return report!("trunkline: the next process is being started already");
        }
        let mut command = command();
        let started = command.env(BETWEEN, "1").spawn();
        let runs = Arc::clone(&self.runs);
        // The system keeps a process that has ended until its parent has asked for its exit code.
        let waited = started.and_then(|mut child| {
            thread::Builder::new().spawn(move || {
                let ended = child.wait();
                runs.store(false, Ordering::Release);
                match ended {
                    Ok(status) if status.success() => {}
                    Ok(status) => report!("trunkline: the next process was not started: {status}"),
                    Err(error) => {
                        report!("trunkline: the next process cannot be waited for: {error}")
                    }
                }
            })
        });
        if let Err(error) = waited {
            self.runs.store(false, Ordering::Release);
            let program = command.get_program().display();
            report!(
                "trunkline: {program} cannot be started upon SIGUSR2, this process goes on: {error}"
            );
        }
    }
}

/// The program that this one was, or what is at its path now.
fn command() -> Command {
    let mut arguments = env::args_os();
    let program = arguments.next().unwrap_or_default();
    let mut command = Command::new(program);
    command.args(arguments);
    // It gets its sockets from this process. The numbers are those of this one.
    for name in ["LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES"] {
        command.env_remove(name);
    }
    // The watchdog watches the service: it is the next process that answers it. The process between has no such number.
    if env::var("WATCHDOG_PID").is_ok_and(|of| of == std::process::id().to_string()) {
        command.env_remove("WATCHDOG_PID");
    }
    command
}
