//! Opens a path below a directory without openat2(2): component by component, each relative to the
//! one before and none through a link, so that no concurrent rename leads outside.

use rustix::fs::{Mode, OFlags, openat};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::path::{Component, Path};

/// A pipe without a writer would block its opener.
const FLAGS: OFlags = OFlags::RDONLY
    .union(OFlags::NONBLOCK)
    .union(OFlags::CLOEXEC)
    .union(OFlags::NOCTTY)
    .union(OFlags::NOFOLLOW);

/// Opens a directory for [`open`].
pub(in crate::serve) fn directory(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// Opens `path`, in which every link has been resolved before: it has names only.
///
/// # Errors
/// `NotFound` also where a component is a link now, or the path is not one of names.
pub(in crate::serve) fn open(_: &Path, directory: &File, path: &Path) -> io::Result<File> {
    let mut place = None;
    let mut components = path.components().peekable();
    if components.peek().is_none() {
        let flags = FLAGS | OFlags::DIRECTORY;
        return Ok(openat(directory, ".", flags, Mode::empty())?.into());
    }
    while let Some(component) = components.next() {
        let Component::Normal(name) = component else {
            return Err(io::ErrorKind::NotFound.into());
        };
        let flags = match components.peek() {
            Some(_) => FLAGS | OFlags::DIRECTORY,
            None => FLAGS,
        };
        let at = place.as_ref().unwrap_or(directory);
        let opened = openat(at, name, flags, Mode::empty()).map_err(|error| match error {
            // A link: ELOOP, of which FreeBSD says EMLINK; ENOTDIR where a directory was asked for.
            Errno::LOOP | Errno::MLINK | Errno::NOTDIR => io::ErrorKind::NotFound.into(),
            error => io::Error::from(error),
        })?;
        place = Some(File::from(opened));
    }
    place.ok_or_else(|| io::ErrorKind::NotFound.into())
}

#[cfg(test)]
#[path = "walk_test.rs"]
mod walk_test;
