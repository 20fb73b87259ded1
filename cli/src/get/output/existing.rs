//! Files that are there before a body is written to them: --no-clobber and --skip-existing.

use super::{BodyPlace, Destination, OutputOptions, name_of};
use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// The last number behind the name of a file (curl's).
const NUMBER_MAX: u32 = 100;

/// The flags.
#[derive(clap::Args)]
pub(super) struct ExistingOptions {
    /// Leave a file of -o, -O or -OJ that is there as it is: the body goes to the first of FILE.1 to FILE.100 that is not.
    #[arg(long, conflicts_with = "continue_at")]
    pub(super) no_clobber: bool,
    /// Leave a URL out whose file of -o or -O is there.
    #[arg(long)]
    skip_existing: bool,
}

/// Treatment of a file that is there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Existing {
    #[default]
    Replaced,
    /// It is an error: the server chose its name.
    Refused,
    /// The body goes to another one, with a number behind the name.
    Kept,
}

impl OutputOptions {
    /// The file for which a URL is left out (--skip-existing).
    pub(in crate::get) fn skips(&self, place: &BodyPlace) -> Option<PathBuf> {
        let name = match &place.destination {
            _ if !self.existing.skip_existing => None,
            Destination::Stdout => None,
            Destination::File(path) => Some(path.clone()),
            Destination::RemoteName => name_of(&place.asked).ok(),
        };
        name.map(|name| self.in_folder(name))
            .filter(|path| path.exists())
    }
}

/// Opens the file of this path, or the first one with a number behind it that is not there. A device is no file that could be
/// lost.
pub(super) fn open_free(path: &Path) -> io::Result<(File, PathBuf)> {
    if path.exists() && !path.is_file() {
        return Ok((File::create(path)?, path.to_owned()));
    }
    let numbered = (1..=NUMBER_MAX).map(|number| {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".{number}"));
        PathBuf::from(name)
    });
    for path in std::iter::once(path.to_owned()).chain(numbered) {
        let opened = OpenOptions::new().write(true).create_new(true).open(&path);
        match opened {
            Ok(file) => return Ok((file, path)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}
