//! Windows: no Unix sockets, no sockets of another process, no service manager, and Ctrl-C with the admin page in place of signals.

use super::ProcessSignal;
use crate::failure::Failure;
use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::signal::windows::{CtrlBreak, CtrlC, CtrlClose, CtrlShutdown};
use tokio::signal::windows::{ctrl_break, ctrl_c, ctrl_close, ctrl_shutdown};
use tokio::sync::Notify;
use trunkline::admin::Admin;
use trunkline::client::ClientBuilder;
use trunkline::{Error, Running, Server};
use windows_sys::Win32::Foundation::FILETIME;
use windows_sys::Win32::System::Threading::{GetCurrentProcess, GetProcessTimes};

/// Sockets of another process: this system has none.
#[derive(Debug)]
pub(crate) enum Sockets {}

impl Sockets {
    pub(crate) fn are_unix(&self) -> bool {
        match *self {}
    }
    pub(crate) fn local_addr(&self) -> Option<SocketAddr> {
        match *self {}
    }
    pub(crate) fn have_udp(&self) -> bool {
        match *self {}
    }
    pub(crate) fn without_udp(self) -> Self {
        match self {}
    }
    pub(crate) fn try_clone(&self) -> io::Result<Self> {
        match *self {}
    }
}

/// A server whose place this process takes: this system has none.
#[derive(Clone, Debug)]
pub(crate) enum PreviousServer {}

impl PreviousServer {
    pub(crate) fn report_serving(&self, _: bool) {
        match *self {}
    }
    pub(crate) fn report_failed(&self, _: &str) {
        match *self {}
    }
}

/// Waits for a process that takes the place of this one: this system has none.
#[derive(Debug)]
pub(crate) enum SuccessorListener {}

impl SuccessorListener {
    pub(crate) fn withdraw(&self) {
        match *self {}
    }
}

/// Stands for a server on a Unix socket; none starts.
pub(crate) type PortInPlaceOfUnix = Running;

pub(crate) fn on_sockets(sockets: Sockets) -> Server {
    match sockets {}
}

/// # Errors
/// Always.
pub(crate) fn on_unix_socket(path: &Path, _: Option<Sockets>, _: bool) -> Result<Server, Failure> {
    Err(without_unix_sockets(path))
}

pub(crate) fn serve_admin(admin: Admin, server: Server) -> Result<PortInPlaceOfUnix, Error> {
    admin.serve_on(server)
}

pub(crate) fn path_of(sockets: &Sockets) -> Option<PathBuf> {
    match *sockets {}
}

/// # Errors
/// Always.
pub(crate) fn through_unix_socket(_: ClientBuilder, path: &Path) -> Result<ClientBuilder, Failure> {
    Err(without_unix_sockets(path))
}

fn without_unix_sockets(path: &Path) -> Failure {
    let path = path.display();
    Failure::usage(format_args!(
        "{path} is a Unix socket, which trunkline has on Unix alone; take host:port"
    ))
}

/// The lists of who may open a file are not read here.
pub(crate) fn mode_for_all(_: &Metadata) -> Option<u32> {
    None
}

/// Named pipes are no files here.
pub(crate) fn is_named_pipe(_: &Metadata) -> bool {
    false
}

/// No other process writes to a file of this one here.
pub(crate) fn lock_exclusive(_: &File) -> io::Result<()> {
    Ok(())
}

pub(crate) fn unlock(_: &File) -> io::Result<()> {
    Ok(())
}

/// Assumed where the path has a file: the standard library gives files no identity here.
pub(crate) fn is_at(_: &File, path: &Path) -> io::Result<bool> {
    path.try_exists()
}

/// User and kernel time of this process so far. Zero where the system does not say.
pub(crate) fn cpu_time() -> Duration {
    let zero = FILETIME {
        dwLowDateTime: 0,
        dwHighDateTime: 0,
    };
    let [mut created, mut ended, mut kernel, mut user] = [zero; 4];
    // SAFETY: the handle is this process's own, which is not closed; each pointer is to a FILETIME of this frame.
    let result = unsafe {
        GetProcessTimes(
            GetCurrentProcess(),
            &mut created,
            &mut ended,
            &mut kernel,
            &mut user,
        )
    };
    if result == 0 {
        return Duration::ZERO;
    }
    // In units of 100 ns.
    let part = |time: FILETIME| {
        let units = u64::from(time.dwHighDateTime) << 32 | u64::from(time.dwLowDateTime);
        Duration::from_micros(units / 10)
    };
    part(kernel) + part(user)
}

/// Raised by buttons of the admin page, in place of a signal.
static TERMINATE: Notify = Notify::const_new();
static HANGUP: Notify = Notify::const_new();
static USER: Notify = Notify::const_new();
static UPGRADE: Notify = Notify::const_new();

/// An event of the console or of the admin page.
pub(crate) enum ConsoleEvent {
    Interrupt(CtrlC),
    Terminate(Box<(CtrlBreak, CtrlClose, CtrlShutdown)>),
    Raised(&'static Notify),
}

impl ConsoleEvent {
    /// Catches `which` from now on.
    pub(crate) fn new(which: ProcessSignal) -> Result<Self, Failure> {
        let caught = match which {
            ProcessSignal::Interrupt => ctrl_c().map(Self::Interrupt),
            ProcessSignal::Terminate => {
                let all = || Ok((ctrl_break()?, ctrl_close()?, ctrl_shutdown()?));
                all().map(|all| Self::Terminate(Box::new(all)))
            }
            ProcessSignal::Hangup => Ok(Self::Raised(&HANGUP)),
            ProcessSignal::User => Ok(Self::Raised(&USER)),
            ProcessSignal::Upgrade => Ok(Self::Raised(&UPGRADE)),
        };
        caught.map_err(|error: io::Error| {
            Failure::usage(format_args!("cannot catch Ctrl-C: {error}"))
        })
    }
    /// Waits for the next one; `None`: none can come any more.
    pub(crate) async fn recv(&mut self) -> Option<()> {
        match self {
            Self::Interrupt(signal) => signal.recv().await,
            Self::Terminate(all) => {
                let (by_break, by_close, by_shutdown) = &mut **all;
                tokio::select! {
                    came = by_break.recv() => came,
                    came = by_close.recv() => came,
                    came = by_shutdown.recv() => came,
                    () = TERMINATE.notified() => Some(()),
                }
            }
            Self::Raised(raised) => {
                raised.notified().await;
                Some(())
            }
        }
    }
}

/// Does what the signal does on Unix.
pub(crate) fn raise(signal: ProcessSignal) {
    match signal {
        ProcessSignal::Interrupt | ProcessSignal::Terminate => TERMINATE.notify_one(),
        ProcessSignal::Hangup => HANGUP.notify_one(),
        ProcessSignal::User => USER.notify_one(),
        ProcessSignal::Upgrade => UPGRADE.notify_one(),
    }
}

/// The socket of a service manager of Unix.
#[derive(Debug)]
pub(crate) enum NoNotifySocket {}

impl NoNotifySocket {
    /// # Errors
    /// Always.
    pub(crate) fn connect(_: &OsStr) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }
    pub(crate) fn send(&self, _: &str) -> io::Result<()> {
        match *self {}
    }
}

/// No manager compares it here.
pub(crate) fn monotonic_micros() -> i64 {
    0
}
