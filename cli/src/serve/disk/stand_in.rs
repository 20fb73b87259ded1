//! Paths that are no UTF-8, for a reader of files that asks for UTF-8 alone: it asks for another name in place of each.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use std::path::{Component, Path, PathBuf};

/// All that a path in a URL may have to escape, without its slashes.
const IN_PATH: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/');

/// A path, and the one that is asked for in its place.
#[derive(Debug)]
pub(crate) struct StandIn {
    asked: String,
    real: PathBuf,
}

impl StandIn {
    /// `None`: the path is UTF-8.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        if path.to_str().is_some() {
            return None;
        }
        let parts = path.components();
        let real: PathBuf = parts
            .filter(|part| matches!(part, Component::Normal(_)))
            .collect();
        Some(Self {
            // The reader begins each with a dot.
            asked: format!("./{}", real.to_string_lossy()),
            real,
        })
    }
    /// The path of a URL that is asked for.
    pub(crate) fn url_path(&self) -> String {
        utf8_percent_encode(&self.asked[".".len()..], IN_PATH).to_string()
    }
    /// The path that is meant by one that is asked for: it may go on behind that of the stand-in, as with `.br`.
    #[cfg(unix)]
    pub(super) fn meant(&self, asked: PathBuf) -> PathBuf {
        use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
        let behind = asked
            .as_os_str()
            .as_bytes()
            .strip_prefix(self.asked.as_bytes());
        match behind {
            Some(behind) => {
                let real = [self.real.as_os_str().as_bytes(), behind].concat();
                std::ffi::OsString::from_vec(real).into()
            }
            None => asked,
        }
    }
    /// Every path in a URL is UTF-8 here.
    #[cfg(not(unix))]
    pub(super) fn meant(&self, asked: PathBuf) -> PathBuf {
        match asked == Path::new(&self.asked) {
            true => self.real.clone(),
            false => asked,
        }
    }
}
