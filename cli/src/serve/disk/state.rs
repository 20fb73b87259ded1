//! Whether a file is the same and has the same content as before, by what the system says of it.

use std::fs::Metadata;
use std::io;
use std::time::{Duration, SystemTime};

/// Result of a look at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Finding {
    Nothing,
    File(FileState),
    /// An error, or a file of which the system does not say which one it is.
    Unknown,
}

/// A file and a version of its content: an inode, its length, and its times in seconds and nanoseconds. A program
/// cannot set the time of change (`ctime`), so a copy that keeps the time of modification differs too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FileState {
    device: u64,
    inode: u64,
    length: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Finding {
    pub(super) fn of(looked: Result<&Metadata, &io::Error>) -> Self {
        match looked {
            Ok(metadata) => FileState::of(metadata).map_or(Self::Unknown, Self::File),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Self::Nothing,
            Err(_) => Self::Unknown,
        }
    }
    /// Whether a file that changes from now on is found to be another. The clock of a file system has steps (4 ms on
    /// Linux, 2 s on FAT), and a second change within the step of the first leaves the same times: the last change
    /// has to be before `settled`.
    pub(super) fn is_settled(&self, settled: SystemTime) -> bool {
        match self {
            Self::Nothing => true,
            Self::File(state) => state.last_change() < settled,
            Self::Unknown => false,
        }
    }
}

impl FileState {
    #[cfg(unix)]
    fn of(metadata: &Metadata) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        Some(Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            length: metadata.len(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        })
    }
    #[cfg(not(unix))]
    fn of(_: &Metadata) -> Option<Self> {
        None
    }
    fn last_change(&self) -> SystemTime {
        let (seconds, nanoseconds) = self.modified.max(self.changed);
        let seconds = Duration::from_secs(seconds.try_into().unwrap_or(0));
        let nanoseconds = Duration::from_nanos(nanoseconds.try_into().unwrap_or(0));
        SystemTime::UNIX_EPOCH + seconds + nanoseconds
    }
}
