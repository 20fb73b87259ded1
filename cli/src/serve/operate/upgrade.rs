//! The change from one server process to the next without a refused client. Both are started with the same
//! `--upgrade PATH`: the next one connects to the Unix socket there and receives the listening sockets; when it serves, the one
//! before drains.

use super::admin::Admin;
use super::report;
use crate::failure::Failure;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::AsyncReadExt as _;
use tokio::net::UnixListener;
use trunkline::Running;
use trunkline::server::Sockets;

/// How long the sockets may take to be sent and received.
const TRANSFER: Duration = Duration::from_secs(10);
/// How long the next process may take from its sockets to its first request.
const START: Duration = Duration::from_secs(60);
/// The line of a process that serves on all of the sockets.
const SERVING: &str = "serving";
/// That of one without HTTP/3: the process before keeps its UDP sockets until it ends.
const SERVING_WITHOUT_HTTP3: &str = "serving without http3";
/// The longest line that is read: a reason of one that fails.
const LINE_BYTES_MAX: usize = 1024;

/// The process before.
#[derive(Clone, Debug)]
pub(super) struct Predecessor(Arc<UnixStream>);

/// The sockets of the site, and those of the admin address.
pub(super) type SocketsOfBoth = (Sockets, Option<Sockets>);

impl Predecessor {
    /// Receives the sockets of the process at `path`; `None`: none runs.
    pub(super) fn at(path: &Path) -> Result<Option<(Self, SocketsOfBoth)>, Failure> {
        let stream = match UnixStream::connect(path) {
            Ok(stream) => stream,
            Err(error) => match error.kind() {
                io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => return Ok(None),
                _ => return Err(no_sockets(path, &error)),
            },
        };
        let receive = || -> io::Result<SocketsOfBoth> {
            stream.set_read_timeout(Some(TRANSFER))?;
            let mut admins = [0];
            (&stream).read_exact(&mut admins)?;
            let site = Sockets::receive(&stream)?;
            let admin = match admins {
                [0] => None,
                _ => Some(Sockets::receive(&stream)?),
            };
            Ok((site, admin))
        };
        let sockets = receive().map_err(|error| no_sockets(path, &error))?;
        Ok(Some((Self(Arc::new(stream)), sockets)))
    }
    /// Requests are answered here: the process before may drain.
    pub(super) fn report_serving(&self, http3: bool) {
        self.write(match http3 {
            true => SERVING,
            false => SERVING_WITHOUT_HTTP3,
        });
    }
    /// The start has failed: the process before goes on, and prints why.
    pub(super) fn report_failed(&self, why: &Failure) {
        self.write(&why.to_string());
    }
    fn write(&self, line: &str) {
        // A process before that is gone needs none.
        let _ = writeln!(&*self.0, "{}", line.replace('\n', " "));
    }
}

fn no_sockets(path: &Path, error: &io::Error) -> Failure {
    let path = path.display();
    Failure::usage(format_args!(
        "--upgrade {path}: the server there does not give its sockets: {error}"
    ))
}

/// The socket to which the next process connects.
pub(super) struct SuccessorListener {
    listener: UnixListener,
    path: PathBuf,
    /// Device and inode: the next process puts a socket of its own there.
    file: (u64, u64),
    /// The stream of the last process that connected. It reads the UDP sockets when this is closed, so it stays
    /// open until this process reads them no more.
    last: Mutex<Option<UnixStream>>,
}

impl SuccessorListener {
    /// In place of what the process before had at `path`.
    pub(super) fn listen(path: &Path) -> Result<Self, Failure> {
        let place = path.display();
        let new = PathBuf::from(format!("{place}.{}", std::process::id()));
        let listen = || -> io::Result<Self> {
            let listener = UnixListener::bind(&new)?;
            // A process that can connect can have the sockets: its owner's alone.
            fs::set_permissions(&new, fs::Permissions::from_mode(0o600))?;
            fs::rename(&new, path)?;
            Ok(Self {
                listener,
                path: path.to_owned(),
                file: identity(path)?,
                last: Mutex::default(),
            })
        };
        listen().map_err(|error| {
            let _ = fs::remove_file(&new);
            Failure::usage(format_args!(
                "--upgrade {place} cannot be listened on: {error}"
            ))
        })
    }
    /// Waits for a process that takes the place of this one, and gives it the sockets; those on which it serves are
    /// returned. One that does not come up changes nothing: the reason is printed. Never ends without such a process.
    pub(super) async fn successor<A>(
        this: Option<&Self>,
        running: &Running<A>,
        admin: Option<&Admin>,
    ) -> SocketsOfBoth {
        let Some(this) = this else {
            return std::future::pending().await;
        };
        loop {
            let given = match this.listener.accept().await.and_then(|it| it.0.into_std()) {
                Ok(stream) => this.give(stream, running, admin).await,
                Err(error) => Err(error.to_string()),
            };
            match given {
                Ok(sockets) => return sockets,
                Err(why) => {
                    report!("trunkline: the new process does not serve, this one goes on: {why}");
                    // Accepting again at once would spin where descriptors have run out.
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            }
        }
    }
    /// Gives the sockets to the process at the other end, and waits until it serves.
    async fn give<A>(
        &self,
        stream: UnixStream,
        running: &Running<A>,
        admin: Option<&Admin>,
    ) -> Result<SocketsOfBoth, String> {
        let text = |error: trunkline::Error| error.to_string();
        let keep = stream.try_clone().map_err(|error| error.to_string())?;
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(keep);
        let mut sockets = running.hand_over().await.map_err(text)?;
        let mut admin = match admin {
            Some(admin) => Some(admin.hand_over().await.map_err(text)?),
            None => None,
        };
        let send = move || -> io::Result<(UnixStream, SocketsOfBoth)> {
            stream.set_nonblocking(false)?;
            stream.set_write_timeout(Some(TRANSFER))?;
            (&stream).write_all(&[u8::from(admin.is_some())])?;
            sockets.send(&stream)?;
            if let Some(admin) = &mut admin {
                admin.send(&stream)?;
            }
            stream.set_nonblocking(true)?;
            Ok((stream, (sockets, admin)))
        };
        let sent = tokio::task::spawn_blocking(send).await;
        let sent = sent.map_err(io::Error::other).and_then(|sent| sent);
        let (stream, (site, admin)) =
            sent.map_err(|error| format!("it did not take the sockets: {error}"))?;
        let line = tokio::time::timeout(START, read_line(stream)).await;
        let seconds = START.as_secs();
        let line = line.map_err(|_| format!("it did not serve within {seconds} s"))?;
        match line.map_err(|error| error.to_string())?.as_str() {
            SERVING => Ok((site, admin)),
            SERVING_WITHOUT_HTTP3 => Ok((site.without_udp(), admin)),
            "" => Err("it ended before it served".to_owned()),
            why => Err(why.escape_debug().to_string()),
        }
    }
}

/// One line, or what there is before the end.
async fn read_line(stream: UnixStream) -> io::Result<String> {
    let mut stream = tokio::net::UnixStream::from_std(stream)?;
    let mut line = Vec::new();
    while line.len() < LINE_BYTES_MAX {
        match stream.read_u8().await {
            Ok(b'\n') | Err(_) => break,
            Ok(byte) => line.push(byte),
        }
    }
    Ok(String::from_utf8_lossy(&line).into_owned())
}

impl Drop for SuccessorListener {
    fn drop(&mut self) {
        if identity(&self.path).is_ok_and(|file| file == self.file) {
            // Without permission to remove it the file stays, as after a kill.
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn identity(path: &Path) -> io::Result<(u64, u64)> {
    let file = fs::symlink_metadata(path)?;
    Ok((file.dev(), file.ino()))
}
