//! Listening Unix sockets. Workers share one, because Unix sockets have no SO_REUSEPORT.

use crate::error::Error;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use socket2::{Domain, SockAddr, Socket, Type};
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener as StdUnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A listener, and its file if the socket was bound here. Fields drop in order, so the file is
/// removed before the listener closes: a client that finds the file reaches a listening socket.
#[derive(Debug)]
pub(crate) struct UnixListener<L> {
    pub(super) bound: Option<Arc<Bound>>,
    pub(super) listener: L,
}

impl UnixListener<StdUnixListener> {
    /// Listens at `path`, which must not exist. A path that begins with a zero byte is a name of
    /// Linux's own, with no file. `mode`: the permissions of the file, instead of what the umask
    /// leaves.
    ///
    /// # Errors
    /// Names the path and what to do: in use, not allowed, without a directory, too long.
    pub(crate) fn bind(path: &Path, mode: Option<u32>, backlog: u32) -> Result<Self, Error> {
        let explain =
            |error: io::Error| Error::config(explanation(path, error.kind())).with_source(error);
        check(path)?;
        let address = SockAddr::unix(path).map_err(explain)?;
        let socket = Socket::new(Domain::UNIX, Type::STREAM, None).map_err(explain)?;
        socket.bind(&address).map_err(explain)?;
        let bound = match is_abstract(path) {
            true => None,
            false => Some(Arc::new(Bound::at(path, None).map_err(explain)?)),
        };
        if let (Some(mode), Some(_)) = (mode, &bound) {
            // No client can connect before the socket listens.
            fs::set_permissions(path, Permissions::from_mode(mode)).map_err(explain)?;
        }
        let backlog = i32::try_from(backlog).unwrap_or(i32::MAX);
        socket.listen(backlog).map_err(explain)?;
        let listener = socket.into();
        Ok(Self { bound, listener })
    }
    /// A socket bound by another process, whose file is not removed.
    pub(crate) fn of(listener: StdUnixListener) -> Self {
        let bound = None;
        Self { bound, listener }
    }
    /// A socket that another process has bound. Its file goes with this server, once the other process has
    /// left it: by a byte on `predecessor`, or by its end.
    pub(crate) fn inherited(listener: StdUnixListener, predecessor: Arc<UnixStream>) -> Self {
        let address = listener.local_addr().ok();
        let path = address.as_ref().and_then(|address| address.as_pathname());
        let bound = path.and_then(|path| Bound::at(path, Some(predecessor)).ok());
        let bound = bound.map(Arc::new);
        Self { bound, listener }
    }
    /// Whether its file goes with this server.
    pub(crate) fn has_file(&self) -> bool {
        self.bound.is_some()
    }
    /// The file stays when this listener and those that share it are closed.
    pub(crate) fn leave_file(&self) {
        if let Some(bound) = &self.bound {
            bound.is_left.store(true, Ordering::Relaxed);
        }
    }
    pub(crate) fn address(&self) -> io::Result<std::os::unix::net::SocketAddr> {
        self.listener.local_addr()
    }
}

impl<L> UnixListener<L> {
    /// Another listener on the same socket.
    pub(super) fn with<M>(&self, listener: M) -> UnixListener<M> {
        let bound = self.bound.clone();
        UnixListener { bound, listener }
    }
}

fn is_abstract(path: &Path) -> bool {
    cfg!(target_os = "linux") && path.as_os_str().as_bytes().first() == Some(&0)
}

/// Checks that `path` can be a path; the address constructor checks its length.
fn check(path: &Path) -> Result<(), Error> {
    if path.as_os_str().is_empty() {
        return Err(Error::config(
            "the path of a Unix socket is empty; name a file that does not exist",
        ));
    }
    // The system would take what stands before it.
    if path.as_os_str().as_bytes().contains(&0) && !is_abstract(path) {
        return Err(Error::config(format!(
            "{path:?} has a zero byte; the path of a Unix socket must not have one"
        )));
    }
    Ok(())
}

/// The file of a socket that was bound here; it goes with the last listener.
#[derive(Debug)]
pub(crate) struct Bound {
    path: PathBuf,
    /// Device and inode: a file that another process has created since must not be removed. No
    /// other file gets this inode while the socket is open.
    file: (u64, u64),
    /// Another process has the socket now, and removes the file.
    is_left: AtomicBool,
    /// The process that bound it, which may still serve.
    predecessor: Option<Arc<UnixStream>>,
}

impl Bound {
    fn at(path: &Path, predecessor: Option<Arc<UnixStream>>) -> io::Result<Self> {
        // The process may go to another directory.
        let path = std::path::absolute(path)?;
        let file = identity(&path)?;
        let is_left = AtomicBool::new(false);
        Ok(Self {
            path,
            file,
            is_left,
            predecessor,
        })
    }
    /// Whether another process has it, before this one or behind it.
    fn is_elsewhere(&self) -> bool {
        let is_kept = |predecessor: &Arc<UnixStream>| {
            let mut descriptors = [PollFd::new(predecessor, PollFlags::IN)];
            matches!(poll(&mut descriptors, Some(&Timespec::default())), Ok(0))
        };
        self.is_left.load(Ordering::Relaxed) || self.predecessor.as_ref().is_some_and(is_kept)
    }
}

impl Drop for Bound {
    fn drop(&mut self) {
        if !self.is_elsewhere() && identity(&self.path).is_ok_and(|file| file == self.file) {
            // Without permission to remove it the file stays, as after a kill.
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn identity(path: &Path) -> io::Result<(u64, u64)> {
    let file = fs::symlink_metadata(path)?;
    Ok((file.dev(), file.ino()))
}

fn explanation(path: &Path, kind: io::ErrorKind) -> String {
    let displayed = path.display();
    match kind {
        io::ErrorKind::AddrInUse => format!(
            "{displayed} exists already: another program listens there, or has left it behind; stop it, \
             remove the file, or take another path"
        ),
        io::ErrorKind::PermissionDenied => {
            format!("listening on {displayed} is not allowed: its directory cannot be written")
        }
        io::ErrorKind::NotFound => format!("{displayed} is in a directory that does not exist"),
        io::ErrorKind::InvalidInput => {
            let bytes = path.as_os_str().len();
            format!(
                "{displayed} has {bytes} bytes; the path of a Unix socket has at most {PATH_BYTES_MAX}"
            )
        }
        _ => format!("listening on {displayed} failed"),
    }
}

/// `sun_path` of `sockaddr_un`, less the zero at its end.
const PATH_BYTES_MAX: usize = if cfg!(any(target_os = "linux", target_os = "android")) {
    107
} else {
    103
};
