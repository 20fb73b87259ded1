//! Opens a path below a directory on systems that have no openat(2). Links in it have been resolved before; a user that may rename below the
//! directory can lead it outside in between.

use std::fs::{File, OpenOptions};
use std::io;
#[cfg(windows)]
use std::os::windows::fs::OpenOptionsExt as _;
use std::path::{Component, Path};

/// Without this flag Windows opens no directories.
#[cfg(windows)]
const BACKUP_SEMANTICS: u32 = windows_sys::Win32::Storage::FileSystem::FILE_FLAG_BACKUP_SEMANTICS;

/// Opens a directory for [`open`].
pub(in crate::serve) fn directory(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    #[cfg(windows)]
    options.custom_flags(BACKUP_SEMANTICS);
    options.read(true).open(path)
}

/// Opens `path`, in which every link has been resolved before, below the directory `root`.
///
/// # Errors
/// `NotFound` also where the path is not one of names.
pub(in crate::serve) fn open(root: &Path, _: &File, path: &Path) -> io::Result<File> {
    let is_name = |component| matches!(component, Component::Normal(_));
    match path.components().all(is_name) {
        true => directory(&root.join(path)),
        false => Err(io::ErrorKind::NotFound.into()),
    }
}
