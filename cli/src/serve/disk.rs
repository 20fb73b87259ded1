//! Files below one directory, opened and read at once where the kernel has them cached: names
//! (`RESOLVE_CACHED` of openat2(2)) and pages (`RWF_NOWAIT` of preadv2(2)). Others go to tokio's
//! blocking threads, and that hop costs more than either call.
//!
//! The kernel keeps a path below the directory (`RESOLVE_BENEATH`): no `..`, no link that leads out,
//! whatever is renamed meanwhile. Where it has no openat2, [`walk`] does.

#[cfg(not(unix))]
mod plain_open;
mod stand_in;
mod state;
#[cfg(unix)]
mod walk;

#[cfg(not(unix))]
use plain_open as walk;

pub(super) use self::stand_in::StandIn;
use self::state::Finding;
use std::fs::{File, Metadata};
use std::future::{Ready, ready};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready as try_ready};
use std::time::SystemTime;
use tokio::io::{AsyncRead, AsyncSeek, ReadBuf};
use tokio::task::{JoinHandle, spawn_blocking};
use tower_http::services::fs;

type Soon<T> = Pin<Box<dyn Future<Output = io::Result<T>> + Send>>;

/// The directory, for one request: what was looked at is opened only once, and each look is recorded.
#[derive(Clone)]
pub(crate) struct Disk {
    root: Arc<Root>,
    looks: Arc<Mutex<Looks>>,
    /// The path that a reader asks for in place of one that is no UTF-8.
    stand_in: Option<Arc<StandIn>>,
}

/// The looks of one request.
#[derive(Default)]
struct Looks {
    /// The file of the last `stat`, for an `open` of the same path.
    open: Option<(PathBuf, DiskFile)>,
    recorded: Vec<Look>,
}

/// One look at a path, and its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Look {
    path: PathBuf,
    found: Finding,
}

struct Root {
    /// Canonical.
    path: PathBuf,
    directory: File,
}

impl Disk {
    /// # Errors
    /// When `root` is not a directory that can be opened.
    pub(crate) fn new(root: &Path) -> io::Result<Self> {
        let path = root.canonicalize()?;
        let directory = walk::directory(&path)?;
        if !directory.metadata()?.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        let root = Arc::new(Root { path, directory });
        Ok(Self {
            root,
            looks: Arc::default(),
            stand_in: None,
        })
    }
    /// A copy for another request.
    pub(crate) fn for_request(&self) -> Self {
        Self {
            root: Arc::clone(&self.root),
            looks: Arc::default(),
            stand_in: None,
        }
    }
    /// The directory of the same request, for a reader that asks for the stand-in, if there is one.
    pub(crate) fn with(&self, stand_in: Option<StandIn>) -> Self {
        Self {
            stand_in: stand_in.map(Arc::new),
            ..self.clone()
        }
    }
    fn meant(&self, path: PathBuf) -> PathBuf {
        match &self.stand_in {
            Some(stand_in) => stand_in.meant(path),
            None => path,
        }
    }
    /// Whether the kernel keeps paths below the directory by itself. Where it does not, each is walked
    /// component by component.
    pub(crate) fn is_kept_by_kernel(&self) -> bool {
        kernel::open(&self.root.directory, Path::new("")).is_ok()
    }
    /// The directory, canonical.
    pub(crate) fn path(&self) -> &Path {
        &self.root.path
    }
    /// The file at `path`, which is relative to the directory.
    pub(crate) async fn stat(&self, path: PathBuf) -> io::Result<Metadata> {
        let file = self.look(&path).await?;
        let metadata = file.metadata.clone();
        self.looks().open = Some((path, file));
        Ok(metadata)
    }
    /// The looks of the request so far. `None`: a file has changed after `settled`, and a later look could find it equal
    /// although it has changed again.
    pub(crate) fn recorded(&self, settled: SystemTime) -> Option<Vec<Look>> {
        let recorded = &self.looks().recorded;
        let are_settled = recorded.iter().all(|look| look.found.is_settled(settled));
        are_settled.then(|| recorded.clone())
    }
    /// Whether a look at each path finds the same as before.
    pub(crate) async fn still_shows(&self, looks: &[Look]) -> bool {
        for before in looks {
            let now = self.root.file(&before.path).await;
            if Finding::of(now.as_ref().map(|file| &file.metadata)) != before.found {
                return false;
            }
        }
        true
    }
    async fn file(&self, path: PathBuf) -> io::Result<DiskFile> {
        let open = self.looks().open.take();
        match open {
            Some((looked, file)) if looked == path => Ok(file),
            _ => self.look(&path).await,
        }
    }
    async fn look(&self, path: &Path) -> io::Result<DiskFile> {
        let file = self.root.file(path).await;
        let look = Look {
            path: path.to_owned(),
            found: Finding::of(file.as_ref().map(|file| &file.metadata)),
        };
        self.looks().recorded.push(look);
        file
    }
    fn looks(&self) -> MutexGuard<'_, Looks> {
        self.looks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Root {
    async fn file(self: &Arc<Self>, path: &Path) -> io::Result<DiskFile> {
        match kernel::open_cached(&self.directory, path) {
            Ok(file) => DiskFile::new(file),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(error),
            Err(_) => {
                let (root, path) = (Arc::clone(self), path.to_owned());
                let opened = spawn_blocking(move || DiskFile::new(root.open(&path)?)).await;
                let opened = opened.unwrap_or_else(|_| Err(io::ErrorKind::Other.into()));
                opened.map_err(missing)
            }
        }
    }
    /// Opens it, however long that takes. Links may be absolute, if they lead inside.
    fn open(&self, path: &Path) -> io::Result<File> {
        let real = self.path.join(path).canonicalize()?;
        let inside = real.strip_prefix(&self.path);
        let inside = inside.map_err(|_| io::Error::from(io::ErrorKind::NotFound))?;
        match kernel::open(&self.directory, inside) {
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {
                walk::open(&self.path, &self.directory, inside)
            }
            opened => opened,
        }
    }
}

/// An error of a path that no file can have, as one whose name is too long and one of links in a circle, or of a socket, is that of a
/// missing file.
fn missing(error: io::Error) -> io::Error {
    #[cfg(unix)]
    {
        use rustix::io::Errno;
        let codes = [Errno::NAMETOOLONG, Errno::LOOP, Errno::NXIO].map(Errno::raw_os_error);
        if error
            .raw_os_error()
            .is_some_and(|code| codes.contains(&code))
        {
            return io::ErrorKind::NotFound.into();
        }
    }
    error
}

impl fs::Backend for Disk {
    type File = DiskFile;
    type Metadata = Metadata;
    type OpenFuture = Soon<DiskFile>;
    type MetadataFuture = Soon<Metadata>;

    fn open(&self, path: PathBuf) -> Self::OpenFuture {
        let (disk, path) = (self.clone(), self.meant(path));
        Box::pin(async move { disk.file(path).await })
    }
    fn metadata(&self, path: PathBuf) -> Self::MetadataFuture {
        let (disk, path) = (self.clone(), self.meant(path));
        Box::pin(async move { disk.stat(path).await })
    }
}

/// A file, as long as it was when it was opened.
pub(crate) struct DiskFile {
    file: Arc<File>,
    metadata: Metadata,
    at: u64,
    /// Bytes from `at` that had to be waited for.
    awaited: Option<JoinHandle<io::Result<Vec<u8>>>>,
}

impl DiskFile {
    /// # Errors
    /// When it is neither a file nor a directory: a pipe has no end, and a device none that is ours.
    fn new(file: File) -> io::Result<Self> {
        let metadata = file.metadata()?;
        if !metadata.is_file() && !metadata.is_dir() {
            return Err(io::ErrorKind::NotFound.into());
        }
        Ok(Self {
            file: Arc::new(file),
            metadata,
            at: 0,
            awaited: None,
        })
    }
}

/// Reads `length` bytes at `at`, or what there is.
///
/// # Errors
/// When there is nothing: the file became shorter, and a part must not look like the whole.
fn read_at(mut file: &File, at: u64, length: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(length);
    file.seek(SeekFrom::Start(at))?;
    file.take(length as u64).read_to_end(&mut bytes)?;
    match bytes.is_empty() {
        true => Err(io::ErrorKind::UnexpectedEof.into()),
        false => Ok(bytes),
    }
}

impl AsyncRead for DiskFile {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            if let Some(awaited) = &mut self.awaited {
                let read = try_ready!(Pin::new(awaited).poll(cx));
                self.awaited = None;
                let bytes = read.unwrap_or_else(|_| Err(io::ErrorKind::Other.into()))?;
                // A caller with less room reads the rest again.
                let taken = bytes.len().min(buffer.remaining());
                buffer.put_slice(&bytes[..taken]);
                self.at += taken as u64;
                return Poll::Ready(Ok(()));
            }
            let left = self.metadata.len().saturating_sub(self.at);
            let length = buffer
                .remaining()
                .min(usize::try_from(left).unwrap_or(usize::MAX));
            if length == 0 {
                return Poll::Ready(Ok(()));
            }
            let room = buffer.initialize_unfilled_to(length);
            // Nothing is not the end: kernels 5.9 and 5.10 say so of bytes that they have not at hand.
            if let Ok(read @ 1..) = kernel::read_cached(&self.file, room, self.at) {
                buffer.advance(read);
                self.at += read as u64;
                return Poll::Ready(Ok(()));
            }
            let (file, at) = (Arc::clone(&self.file), self.at);
            self.awaited = Some(spawn_blocking(move || read_at(&file, at, length)));
        }
    }
}

impl AsyncSeek for DiskFile {
    fn start_seek(mut self: Pin<&mut Self>, position: SeekFrom) -> io::Result<()> {
        let at = match position {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.metadata.len().checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = at.ok_or(io::ErrorKind::InvalidInput)?;
        self.awaited = None;
        Ok(())
    }
    fn poll_complete(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<u64>> {
        Poll::Ready(Ok(self.at))
    }
}

impl fs::File for DiskFile {
    type Metadata = Metadata;
    type MetadataFuture<'a> = Ready<io::Result<Metadata>>;

    fn metadata(&self) -> Self::MetadataFuture<'_> {
        ready(Ok(self.metadata.clone()))
    }
}

/// The calls that Linux has for this (5.6 and newer; cached names 5.12).
#[cfg(target_os = "linux")]
mod kernel {
    use rustix::fs::{Mode, OFlags, ResolveFlags, openat2};
    use rustix::io::{Errno, ReadWriteFlags, preadv2};
    use std::fs::File;
    use std::io::{self, IoSliceMut};
    use std::path::Path;

    /// # Errors
    /// `NotFound` when there is no such path; any other error: it is not known without blocking.
    pub(super) fn open_cached(directory: &File, path: &Path) -> io::Result<File> {
        beneath(directory, path, ResolveFlags::CACHED)
    }
    /// # Errors
    /// `Unsupported` where the kernel has no such call, or is not to be asked.
    pub(super) fn open(directory: &File, path: &Path) -> io::Result<File> {
        beneath(directory, path, ResolveFlags::empty())
    }
    fn beneath(directory: &File, path: &Path, more: ResolveFlags) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
        let path = match path.as_os_str().is_empty() {
            true => Path::new("."),
            false => path,
        };
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS | more;
        match openat2(directory, path, flags, Mode::empty(), resolve) {
            Ok(opened) => Ok(opened.into()),
            Err(Errno::NOSYS | Errno::PERM) => Err(io::ErrorKind::Unsupported.into()),
            Err(error) => Err(error.into()),
        }
    }
    /// # Errors
    /// When the bytes are not at hand.
    pub(super) fn read_cached(file: &File, room: &mut [u8], at: u64) -> io::Result<usize> {
        let mut slices = [IoSliceMut::new(room)];
        Ok(preadv2(file, &mut slices, at, ReadWriteFlags::NOWAIT)?)
    }
}

/// Everything is waited for.
#[cfg(not(target_os = "linux"))]
mod kernel {
    use std::fs::File;
    use std::io;
    use std::path::Path;

    pub(super) fn open_cached(_: &File, _: &Path) -> io::Result<File> {
        Err(io::ErrorKind::WouldBlock.into())
    }
    pub(super) fn open(_: &File, _: &Path) -> io::Result<File> {
        Err(io::ErrorKind::Unsupported.into())
    }
    pub(super) fn read_cached(_: &File, _: &mut [u8], _: u64) -> io::Result<usize> {
        Err(io::ErrorKind::WouldBlock.into())
    }
}

#[cfg(test)]
#[path = "disk_test.rs"]
mod disk_test;
