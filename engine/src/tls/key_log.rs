//! A file to which the secrets of TLS sessions are written, for tools that decrypt a recording
//! (the format that `SSLKEYLOGFILE` names). Whoever can read it can read the traffic.

use crate::error::Error;
use rustls::KeyLog;
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// An open key log.
#[derive(Debug)]
pub(super) struct KeyLogFile {
    file: Mutex<File>,
}

impl KeyLogFile {
    /// Opens `path` to append to it; a new file is its owner's alone.
    ///
    /// # Errors
    /// Names the file that cannot be written.
    pub(super) fn open(path: &Path) -> Result<Self, Error> {
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(path).map_err(|error| {
            let text = format!("the key log {} cannot be written", path.display());
            Error::config(text).with_source(error)
        })?;
        Ok(Self {
            file: Mutex::new(file),
        })
    }
}

impl KeyLog for KeyLogFile {
    fn log(&self, label: &str, client_random: &[u8], secret: &[u8]) {
        let mut line = String::from(label);
        for bytes in [client_random, secret] {
            line.push(' ');
            for byte in bytes {
                // Writing to a String does not fail.
                let _ = write!(line, "{byte:02x}");
            }
        }
        line.push('\n');
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        // A full disk must not end a connection.
        let _ = file.write_all(line.as_bytes());
    }
}
