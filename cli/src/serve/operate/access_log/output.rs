//! The output of the access log: standard output, or a file that is renamed once it has its size. What is no file, as a pipe, has a
//! queue in front of it: its reader may stand still.
//!
//! A file keeps its lines when it is renamed, here, by logrotate, or by another process that writes to it too, as the one
//! before does while it drains.

use super::queue::LineQueue;
use crate::serve::warn;
use crate::system::{is_at, is_named_pipe, lock_exclusive, unlock};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// How large the file grows, and how many are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rotation {
    /// The file is renamed before a line that would make it larger, in bytes.
    pub(super) bytes_max: u64,
    /// Renamed files beside it: `FILE.1`, the newest, to `FILE.N`.
    pub(super) files_kept: u32,
}

/// An output of lines.
pub(super) enum LogOutput {
    /// Standard output that is a file.
    Stdout,
    File(LogFile),
    Queued(LineQueue),
}

impl LogOutput {
    /// `None`: standard output. A file goes on behind what it has already.
    pub(super) fn open(path: Option<&Path>, rotation: Option<Rotation>) -> io::Result<Self> {
        Ok(match path {
            // Without this path, on other systems, a file has the queue too.
            None if fs::metadata("/dev/stdout").is_ok_and(|it| it.is_file()) => Self::Stdout,
            None => Self::Queued(LineQueue::new(io::stdout(), |text| warn(text))?),
            Some(path) => {
                let file = append_to(path)?;
                match file.metadata()?.is_file() {
                    true => Self::File(LogFile::of(path, real_path(path)?, file, rotation)?),
                    false => Self::Queued(LineQueue::new(file, |text| warn(text))?),
                }
            }
        })
    }
    /// One call per line: a reader of the file sees whole lines, also with several threads. The second value says why the
    /// file could not be renamed, though the line is in it.
    pub(super) fn write(&mut self, line: &[u8]) -> io::Result<Option<io::Error>> {
        match self {
            Self::Stdout => {
                let mut out = io::stdout();
                out.write_all(line).and_then(|()| out.flush())?;
                Ok(None)
            }
            Self::File(file) => file.write(line),
            Self::Queued(queue) => {
                queue.push(line);
                Ok(None)
            }
        }
    }
    /// No line follows: waits, for a bounded time, until they are written.
    pub(super) fn finish(&self) {
        if let Self::Queued(queue) = self {
            queue.finish();
        }
    }
}

/// A file that is appended to.
pub(super) struct LogFile {
    path: PathBuf,
    /// Without symbolic links, which keep their names: `/dev/stdout` may be one.
    real: PathBuf,
    file: File,
    rotation: Option<Rotation>,
    /// Its size, without what other processes append.
    size: u64,
}

impl LogFile {
    fn of(path: &Path, real: PathBuf, file: File, rotation: Option<Rotation>) -> io::Result<Self> {
        let metadata = file.metadata()?;
        Ok(Self {
            path: path.to_owned(),
            real,
            file,
            rotation,
            size: metadata.len(),
        })
    }
    fn write(&mut self, line: &[u8]) -> io::Result<Option<io::Error>> {
        let length = line.len() as u64;
        let mut failed = None;
        if let Some(rotation) = self.rotation
            && self.size > 0
            && self.size + length > rotation.bytes_max
            && let Err(error) = self.rotate(rotation)
        {
            // Tried again once the file has grown as much again, not with each line.
            self.size = 0;
            failed = Some(error);
        }
        self.file.write_all(line)?;
        self.size += length;
        Ok(failed)
    }
    /// Goes on in a new file, and the one so far has the name `FILE.1`.
    fn rotate(&mut self, rotation: Rotation) -> io::Result<()> {
        // Another process may come to the same end with the same file: the second one finds another at the path.
        lock_exclusive(&self.file)?;
        let renamed = self.rename_all(rotation);
        // A lock that stays ends with its file.
        let _ = unlock(&self.file);
        renamed?;
        let (path, real) = (self.path.clone(), self.real.clone());
        *self = Self::of(&path, real, append_to(&path)?, Some(rotation))?;
        Ok(())
    }
    fn rename_all(&self, rotation: Rotation) -> io::Result<()> {
        if !is_at(&self.file, &self.real)? {
            return Ok(());
        }
        for number in (1..rotation.files_kept).rev() {
            rename(&self.numbered(number), &self.numbered(number + 1))?;
        }
        rename(&self.real, &self.numbered(1))
    }
    fn numbered(&self, number: u32) -> PathBuf {
        let mut path = self.real.clone().into_os_string();
        path.push(format!(".{number}"));
        path.into()
    }
}

fn append_to(path: &Path) -> io::Result<File> {
    if fs::metadata(path).is_ok_and(|it| is_named_pipe(&it)) {
        // Open for reading too: otherwise the start would wait for a reader, and the log end with it.
        return OpenOptions::new().read(true).write(true).open(path);
    }
    OpenOptions::new().append(true).create(true).open(path)
}

/// The path of what is opened at `path`. Another process may have renamed the file since.
fn real_path(path: &Path) -> io::Result<PathBuf> {
    let is_link = fs::symlink_metadata(path).is_ok_and(|it| it.is_symlink());
    let (Some(folder), Some(name), false) = (path.parent(), path.file_name(), is_link) else {
        return fs::canonicalize(path);
    };
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    Ok(fs::canonicalize(folder)?.join(name))
}

/// In place of what `to` was.
fn rename(from: &Path, to: &Path) -> io::Result<()> {
    match fs::rename(from, to) {
        // There are fewer files as yet.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

#[cfg(test)]
#[path = "output_test.rs"]
mod output_test;
