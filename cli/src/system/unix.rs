//! Unix.

use super::ProcessSignal;
use crate::failure::Failure;
use rustix::fs::{FlockOperation, flock};
use rustix::process::{Signal as RawSignal, getpid, kill_process};
use rustix::time::{ClockId, clock_gettime};
use std::ffi::OsStr;
use std::fs::{self, File, Metadata};
use std::io;
#[cfg(target_os = "linux")]
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
#[cfg(target_os = "linux")]
use std::os::unix::net::SocketAddr as UnixAddress;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::signal::unix::{Signal, SignalKind, signal};
use trunkline::admin::Admin;
use trunkline::client::ClientBuilder;
use trunkline::server::UnixSocket;
pub(crate) use trunkline::server::{PreviousServer, Sockets, SuccessorListener};
use trunkline::{Error, Running, Server};

/// A running server on a Unix socket.
pub(crate) type RunningOnUnix = Running<std::os::unix::net::SocketAddr>;

/// A server on sockets of another process.
pub(crate) fn on_sockets(sockets: Sockets) -> Server {
    Server::on_sockets(sockets)
}

/// A server on a Unix socket; `sockets`: of another process. Its owner alone may connect to one that is `private`.
pub(crate) fn on_unix_socket(
    path: &Path,
    sockets: Option<Sockets>,
    private: bool,
) -> Result<Server<UnixSocket>, Failure> {
    let server = match sockets {
        Some(sockets) => return Ok(Server::on_unix_sockets(sockets)),
        None => Server::bind_unix(path),
    };
    Ok(if private { server.mode(0o600) } else { server })
}

/// Serves the page of `admin`.
pub(crate) fn serve_admin(
    admin: Admin,
    server: Server<UnixSocket>,
) -> Result<RunningOnUnix, Error> {
    admin.serve_on_unix(server)
}

/// The path of a Unix socket that another process has opened.
pub(crate) fn path_of(sockets: &Sockets) -> Option<PathBuf> {
    let address = sockets.unix_address()?;
    address.as_pathname().map(Path::to_owned)
}

/// A client that connects through the Unix socket at `path`.
pub(crate) fn through_unix_socket(
    client: ClientBuilder,
    path: &Path,
) -> Result<ClientBuilder, Failure> {
    Ok(client.unix_socket(path))
}

/// The mode of a file that every user may read, write or execute; `None`: the owner or group alone may.
pub(crate) fn mode_for_all(file: &Metadata) -> Option<u32> {
    let mode = file.permissions().mode() & 0o777;
    (mode & 0o007 != 0).then_some(mode)
}

/// Whether it is a named pipe, which is opened for writing alone only while it is read.
pub(crate) fn is_named_pipe(file: &Metadata) -> bool {
    file.file_type().is_fifo()
}

/// Waits until no other process has the file locked, and locks it for this one.
pub(crate) fn lock_exclusive(file: &File) -> io::Result<()> {
    Ok(flock(file, FlockOperation::LockExclusive)?)
}

pub(crate) fn unlock(file: &File) -> io::Result<()> {
    Ok(flock(file, FlockOperation::Unlock)?)
}

/// Whether the path names the open file, and not another that has come into its place, or none.
pub(crate) fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let open = file.metadata()?;
    match fs::metadata(path) {
        Ok(named) => Ok((open.dev(), open.ino()) == (named.dev(), named.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// User and system time of this process so far. Zero where the system does not say.
pub(crate) fn cpu_time() -> Duration {
    let Ok(usage) = nix::sys::resource::getrusage(nix::sys::resource::UsageWho::RUSAGE_SELF) else {
        return Duration::ZERO;
    };
    let part = |time: nix::sys::time::TimeVal| {
        Duration::from_secs(time.tv_sec().max(0) as u64)
            + Duration::from_micros(time.tv_usec().max(0) as u64)
    };
    part(usage.user_time()) + part(usage.system_time())
}

/// A signal that does not end the process any more.
pub(crate) struct CaughtSignal(Signal);

impl CaughtSignal {
    /// Catches `which` from now on.
    pub(crate) fn new(which: ProcessSignal) -> Result<Self, Failure> {
        let kind = match which {
            ProcessSignal::Interrupt => SignalKind::interrupt(),
            ProcessSignal::Terminate => SignalKind::terminate(),
            ProcessSignal::Hangup => SignalKind::hangup(),
            ProcessSignal::User => SignalKind::user_defined1(),
            ProcessSignal::Upgrade => SignalKind::user_defined2(),
        };
        let caught = signal(kind);
        caught
            .map(Self)
            .map_err(|error| Failure::usage(format_args!("cannot catch signals: {error}")))
    }
    /// Waits for the next one; `None`: none can come any more.
    pub(crate) async fn recv(&mut self) -> Option<()> {
        self.0.recv().await
    }
}

/// Sends a signal to this process.
pub(crate) fn raise(signal: ProcessSignal) {
    let signal = match signal {
        ProcessSignal::Interrupt => RawSignal::INT,
        ProcessSignal::Terminate => RawSignal::TERM,
        ProcessSignal::Hangup => RawSignal::HUP,
        ProcessSignal::User => RawSignal::USR1,
        ProcessSignal::Upgrade => RawSignal::USR2,
    };
    // A process may always send signals to itself.
    let _ = kill_process(getpid(), signal);
}

/// The socket of a service manager.
#[derive(Debug)]
pub(crate) struct NotifySocket(UnixDatagram);

impl NotifySocket {
    /// Connects to a path, or where `place` begins with `@` to a name of Linux's own.
    pub(crate) fn connect(place: &OsStr) -> io::Result<Self> {
        let socket = UnixDatagram::unbound()?;
        // A manager that does not read must not stop the server.
        socket.set_nonblocking(true)?;
        match place.as_bytes().strip_prefix(b"@") {
            #[cfg(target_os = "linux")]
            Some(name) => socket.connect_addr(&UnixAddress::from_abstract_name(name)?)?,
            _ => socket.connect(place)?,
        }
        Ok(Self(socket))
    }
    pub(crate) fn send(&self, message: &str) -> io::Result<()> {
        self.0.send(message.as_bytes()).map(|_| ())
    }
}

/// Microseconds of the monotonic clock, as a service manager compares them.
pub(crate) fn monotonic_micros() -> i64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec * 1_000_000 + now.tv_nsec / 1_000
}
