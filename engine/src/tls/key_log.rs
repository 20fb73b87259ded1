//! Logs TLS session secrets in the format of `SSLKEYLOGFILE`, to a file or a listener, for tools
//! that decrypt recorded traffic. The secrets decrypt all traffic of their sessions.

use crate::error::Error;
use rustls::KeyLog;
use std::fmt::{self, Write as _};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

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
        let mut line = line(label, client_random, secret);
        line.push('\n');
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        // A full disk must not end a connection.
        let _ = file.write_all(line.as_bytes());
    }
}

/// One log line of a session, without its line end.
fn line(label: &str, client_random: &[u8], secret: &[u8]) -> String {
    let mut line = String::from(label);
    for bytes in [client_random, secret] {
        line.push(' ');
        for byte in bytes {
            // Writing to a String does not fail.
            let _ = write!(line, "{byte:02x}");
        }
    }
    line
}

type Listen = dyn Fn(Option<(SocketAddr, SocketAddr)>, &str) + Send + Sync;

/// The listener of every connection's secrets.
#[derive(Clone)]
pub(super) struct KeyListener(Arc<Listen>);

impl KeyListener {
    pub(super) fn new(
        listen: impl Fn(Option<(SocketAddr, SocketAddr)>, &str) + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(listen))
    }
    /// For one connection; `other` receives the lines too.
    pub(super) fn of(
        &self,
        addresses: Option<(SocketAddr, SocketAddr)>,
        other: Arc<dyn KeyLog>,
    ) -> Arc<dyn KeyLog> {
        Arc::new(OfConnection {
            listener: self.clone(),
            addresses,
            other,
        })
    }
}

impl fmt::Debug for KeyListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyListener").finish_non_exhaustive()
    }
}

#[derive(Debug)]
struct OfConnection {
    listener: KeyListener,
    addresses: Option<(SocketAddr, SocketAddr)>,
    other: Arc<dyn KeyLog>,
}

impl KeyLog for OfConnection {
    fn log(&self, label: &str, client_random: &[u8], secret: &[u8]) {
        (self.listener.0)(self.addresses, &line(label, client_random, secret));
        self.other.log(label, client_random, secret);
    }
    fn will_log(&self, _: &str) -> bool {
        true
    }
}
