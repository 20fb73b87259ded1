//! The access log of `serve`: one line per request in the common log format.

use super::warn;
use crate::failure::Failure;
use http::{Method, Uri, Version};
use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;
use trunkline::Access;

/// Where the lines go.
pub(super) struct AccessLog {
    /// `None`: a line could not be written, which was said.
    out: Mutex<Option<Box<dyn Write + Send>>>,
}

impl AccessLog {
    /// Behind what `path` has already; `-`: standard output.
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        let out: Box<dyn Write + Send> = match path.to_str() {
            Some("-") => Box::new(std::io::stdout()),
            _ => {
                let file = OpenOptions::new().append(true).create(true).open(path);
                Box::new(file.map_err(|error| {
                    let path = path.display();
                    Failure::usage(format_args!(
                        "--access-log {path} cannot be written: {error}"
                    ))
                })?)
            }
        };
        Ok(Self {
            out: Mutex::new(Some(out)),
        })
    }
    /// An exchange is over.
    pub(super) fn report(&self, access: &Access<'_>) {
        let peer = access.connection.peer_addr();
        // A client of a Unix socket has no address.
        let host = peer.map_or("-".to_owned(), |peer| peer.ip().to_string());
        let mut text = format!(
            "{host} - - [{}] \"{}\" ",
            date(SystemTime::now()),
            request_line(access.method, access.target, access.version)
        );
        // Writing to a String cannot fail.
        let _ = match access.status {
            Some(status) => write!(text, "{} ", status.as_u16()),
            None => write!(text, "- "),
        };
        let _ = match access.body_bytes {
            0 => writeln!(text, "-"),
            bytes => writeln!(text, "{bytes}"),
        };
        // No code panics while it holds the lock. One call per line: a reader of the file sees
        // whole lines, also with several threads.
        let mut place = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(out) = &mut *place
            && let Err(error) = out.write_all(text.as_bytes()).and_then(|()| out.flush())
        {
            warn(format_args!("the access log ends here: {error}"));
            *place = None;
        }
    }
}

/// The request line; `-`: it could not be parsed.
fn request_line(method: Option<&Method>, target: Option<&Uri>, version: Version) -> String {
    let Some(method) = method else {
        return "-".to_owned();
    };
    let target = match target {
        None => "-".to_owned(),
        // The form that every version has. Who asks for a tunnel names an authority alone.
        Some(target) => match target.path_and_query() {
            Some(path) => path.as_str().to_owned(),
            None => target.to_string(),
        },
    };
    let mut line = format!("{method} ");
    for byte in target.bytes() {
        // A quote of the client's must not end the field.
        let _ = match byte {
            b'"' | b'\\' | 0x7f.. | ..b' ' => write!(line, "\\x{byte:02x}"),
            _ => write!(line, "{}", char::from(byte)),
        };
    }
    let _ = write!(line, " {version:?}");
    line
}

/// `10/Oct/2000:13:55:36 +0000`.
fn date(at: SystemTime) -> String {
    // IMF-fixdate has a fixed length: `Tue, 10 Oct 2000 13:55:36 GMT`.
    let date = httpdate::fmt_http_date(at);
    let part = |range| date.get(range).unwrap_or("-");
    let (day, month, year) = (part(5..7), part(8..11), part(12..16));
    format!("{day}/{month}/{year}:{} +0000", part(17..25))
}

#[cfg(test)]
#[path = "access_log_test.rs"]
mod access_log_test;
