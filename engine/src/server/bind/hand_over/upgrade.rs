//! The change from one server process to the next by a path that both know: the next one connects to the
//! Unix socket there and receives the listening sockets; when it serves, the one before drains.

use super::Sockets;
use crate::driver::timer;
use crate::error::Error;
use crate::server::worker::after;
use socket2::{Domain, SockAddr, Socket, Type};
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::AsyncReadExt as _;

/// How long the sockets may take to be sent and received.
const TRANSFER: Duration = Duration::from_secs(10);
/// How long the next process may take from its sockets to its first request before this one says so.
const START: Duration = Duration::from_secs(60);
/// Processes that wait for the sockets while one has them.
const BACKLOG: i32 = 128;
/// Between a process that did not come to serve and the wait for the next.
const PAUSE: Duration = Duration::from_millis(50);
/// The line of a process that serves on all of the sockets.
const SERVING: &str = "serving";
/// That of one without HTTP/3: the process before keeps its UDP sockets until it ends.
const SERVING_WITHOUT_HTTP3: &str = "serving without http3";
/// The longest line that is read: a reason of one that fails.
const LINE_BYTES_MAX: usize = 1024;

/// The process before, whose sockets this one has received.
#[derive(Clone, Debug)]
pub struct PreviousServer(Arc<UnixStream>);

impl PreviousServer {
    /// Receives the sockets of the process whose [`SuccessorListener`] is at `path`, in its order; `None`: none
    /// waits there. Blocks, for 10 s at most.
    ///
    /// # Errors
    /// When the process there does not give its sockets.
    pub fn at(path: &Path) -> io::Result<Option<(Self, Vec<Sockets>)>> {
        let stream = match UnixStream::connect(path) {
            Ok(stream) => stream,
            Err(error) => match error.kind() {
                io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => return Ok(None),
                _ => return Err(error),
            },
        };
        stream.set_read_timeout(Some(TRANSFER))?;
        let mut more = [0];
        (&stream).read_exact(&mut more)?;
        let all = (0..=more[0]).map(|_| Sockets::receive(&stream));
        let all = all.collect::<io::Result<_>>()?;
        Ok(Some((Self(Arc::new(stream)), all)))
    }
    /// Tells the process before that requests are answered here: it drains. Without `http3` it keeps its UDP sockets
    /// until then.
    pub fn report_serving(&self, http3: bool) {
        self.write(match http3 {
            true => SERVING,
            false => SERVING_WITHOUT_HTTP3,
        });
    }
    /// Tells the process before why this one does not serve: it goes on.
    pub fn report_failed(&self, why: &str) {
        self.write(why);
    }
    fn write(&self, line: &str) {
        // A process before that is gone needs none.
        let _ = writeln!(&*self.0, "{}", line.replace('\n', " "));
    }
}

/// The Unix socket to which the next process connects ([`PreviousServer::at`]). To be dropped when this process has
/// ended serving: a process that received sockets reads the UDP sockets among them from then on.
#[derive(Debug)]
pub struct SuccessorListener {
    listener: UnixListener,
    path: PathBuf,
    /// Device and inode: the next process puts a socket of its own there.
    file: (u64, u64),
    /// The stream of the last process that connected. It reads the UDP sockets when this is closed.
    last: Mutex<Option<UnixStream>>,
    /// [`START`], and less in tests.
    start: Duration,
}

impl SuccessorListener {
    /// Listens at `path`, in place of what the process before had there. Its owner alone can connect.
    ///
    /// # Errors
    /// When there can be no socket at `path`.
    pub fn bind(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref();
        let new = PathBuf::from(format!("{}.{}", path.display(), std::process::id()));
        let listen = || -> io::Result<Self> {
            let socket = private_socket(&new)?;
            socket.set_nonblocking(true)?;
            socket.listen(BACKLOG)?;
            let listener = socket.into();
            fs::rename(&new, path)?;
            Ok(Self {
                listener,
                path: path.to_owned(),
                file: identity(path)?,
                last: Mutex::default(),
                start: START,
            })
        };
        listen().inspect_err(|_| {
            let _ = fs::remove_file(&new);
        })
    }
    /// Waits for a process that connects, gives it the `sockets`, and waits until it serves: those on which it does are
    /// returned, for [`Running::drain_handed_over`](crate::Running::drain_handed_over). A process that ends or fails changes nothing:
    /// `failed` gets the reason, and the wait goes on. `failed` is called for one that has not served after 60 s too, which takes the place of
    /// this one whenever it serves; no other process gets the sockets until it does or has ended. To be called within a tokio runtime.
    pub async fn successor(
        &self,
        sockets: impl AsyncFn() -> Result<Vec<Sockets>, Error>,
        failed: impl Fn(&Error),
    ) -> Vec<Sockets> {
        loop {
            match self.next(&sockets, &failed).await {
                Ok(sockets) => return sockets,
                Err(why) => {
                    failed(&why);
                    // Accepting again at once would spin where descriptors have run out.
                    timer::sleep(PAUSE).await;
                }
            }
        }
    }
    /// One process that connects.
    async fn next(
        &self,
        sockets: impl AsyncFn() -> Result<Vec<Sockets>, Error>,
        late: impl Fn(&Error),
    ) -> Result<Vec<Sockets>, Error> {
        let stream = self.accept().await.map_err(connection_failed)?;
        self.keep_open(&stream).map_err(connection_failed)?;
        let sockets = sockets().await?;
        let sent = tokio::task::spawn_blocking(move || give(stream, sockets)).await;
        let sent = sent.map_err(io::Error::other).and_then(|sent| sent);
        let (stream, sockets) =
            sent.map_err(|error| Error::config("it did not take the sockets").with_source(error))?;
        let mut line = pin!(read_line(stream));
        let line = match timer::timeout_at(after(self.start), &mut line).await {
            Ok(line) => line,
            // It has the sockets: one that served beside this one for ever would be two servers in one place.
            Err(_) => {
                let seconds = self.start.as_secs();
                late(&Error::config(format!(
                    "it has not served after {seconds} s; it is waited for until it does or has ended"
                )));
                self.refusing_others(line).await
            }
        };
        match line.map_err(connection_failed)?.as_str() {
            SERVING => Ok(sockets),
            SERVING_WITHOUT_HTTP3 => Ok(sockets.into_iter().map(Sockets::without_udp).collect()),
            "" => Err(Error::config("it ended before it served")),
            why => Err(Error::config(why.escape_debug().to_string())),
        }
    }
    /// Waits for `line`; processes that connect meanwhile are disconnected.
    async fn refusing_others<R>(&self, mut line: impl Future<Output = R> + Unpin) -> R {
        loop {
            tokio::select! {
                // One that connects behind the end of that one is not refused.
                biased;
                line = &mut line => return line,
                other = self.accept() => if other.is_err() {
                    // Accepting again at once would spin where descriptors have run out.
                    timer::sleep(PAUSE).await;
                },
            }
        }
    }
    /// Removes the socket: no further process can connect. For a server that drains without a successor.
    pub fn withdraw(&self) {
        if identity(&self.path).is_ok_and(|file| file == self.file) {
            // Without permission to remove it the file stays, as after a kill.
            let _ = fs::remove_file(&self.path);
        }
    }
    async fn accept(&self) -> io::Result<UnixStream> {
        let listener = tokio::net::UnixListener::from_std(self.listener.try_clone()?)?;
        listener.accept().await?.0.into_std()
    }
    fn keep_open(&self, stream: &UnixStream) -> io::Result<()> {
        let stream = stream.try_clone()?;
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(stream);
        Ok(())
    }
}

impl Drop for SuccessorListener {
    fn drop(&mut self) {
        self.withdraw();
    }
}

/// A socket at `path` that does not listen yet, to which its owner alone may connect: a process that can connect can have
/// the sockets.
fn private_socket(path: &Path) -> io::Result<Socket> {
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    socket.bind(&SockAddr::unix(path)?)?;
    // No process can connect before the socket listens.
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
    Ok(socket)
}

/// Blocks.
fn give(stream: UnixStream, mut all: Vec<Sockets>) -> io::Result<(UnixStream, Vec<Sockets>)> {
    let more = all
        .len()
        .checked_sub(1)
        .and_then(|more| u8::try_from(more).ok());
    let more = more.ok_or(io::ErrorKind::InvalidInput)?;
    stream.set_nonblocking(false)?;
    stream.set_write_timeout(Some(TRANSFER))?;
    (&stream).write_all(&[more])?;
    for sockets in &mut all {
        sockets.send(&stream)?;
    }
    stream.set_nonblocking(true)?;
    Ok((stream, all))
}

fn connection_failed(error: io::Error) -> Error {
    Error::config("its connection failed").with_source(error)
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

fn identity(path: &Path) -> io::Result<(u64, u64)> {
    let file = fs::symlink_metadata(path)?;
    Ok((file.dev(), file.ino()))
}

#[cfg(test)]
#[path = "upgrade_test.rs"]
mod upgrade_test;
