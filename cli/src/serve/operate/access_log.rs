//! The access log of `serve`: one line per request, in the common log format, in the combined one, or as JSON.
//!
//! Texts of clients cannot forge lines: whatever is not a visible ASCII character of its own stands as an escape.

mod output;
mod queue;

use super::OperateOptions;
use crate::failure::Failure;
use crate::serve::warn;
use clap::ValueEnum;
use http::{HeaderValue, Method, Uri, Version};
use output::{LogOutput, Rotation};
use serde_json::json;
use std::fmt::Write as _;
use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};
use trunkline::Access;

/// The form of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// As Apache's and nginx's `common`.
    Common,
    /// Common, with referer and user agent.
    Combined,
    /// An object per line.
    Json,
}

/// The requests that have a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogLevel {
    /// None.
    Off,
    /// Those without an answer, with one that was not sent to its end, or with a status of 500 or more.
    Errors,
    /// All.
    All,
}

/// A member of a JSON line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum LogField {
    /// When the line was written (RFC 3339, milliseconds).
    Time,
    /// The client's address.
    Client,
    /// The client's port.
    ClientPort,
    /// The method.
    Method,
    /// The host that was asked.
    Host,
    /// Path and query.
    Target,
    /// 1.0, 1.1, 2 or 3.
    Version,
    /// The final status; null: none was sent.
    Status,
    /// Bytes of the response's body.
    Bytes,
    /// From the request's head to its end, seconds.
    Duration,
    /// The field referer.
    Referer,
    /// The field user-agent.
    UserAgent,
    /// TLSv1.2 or TLSv1.3; null: cleartext.
    Tls,
    /// Why the exchange ended before its response did; null: it did not.
    Error,
    /// The number of its timeline, which `trunkline explain` prints; null: it has none.
    Timeline,
}

/// Where the lines go, and their form.
pub(crate) struct AccessLog {
    /// `None`: standard output.
    path: Option<PathBuf>,
    format: LogFormat,
    fields: Vec<LogField>,
    rotation: Option<Rotation>,
    /// `None`: a line could not be written, and a warning was.
    out: Mutex<Option<LogOutput>>,
    /// A [`LogLevel`].
    level: AtomicU8,
}

impl AccessLog {
    /// Whether the options fit together; nothing is opened.
    pub(crate) fn check(options: &OperateOptions) -> Result<(), Failure> {
        if options.access_log_format != LogFormat::Json && !options.access_log_fields.is_empty() {
            return Err(Failure::usage(
                "--access-log-fields is for JSON lines: add --access-log-format json",
            ));
        }
        let to_file = (options.access_log.as_deref()).is_some_and(|path| path != Path::new("-"));
        if options.access_log_bytes_max.is_some() && !to_file {
            return Err(Failure::usage(
                "--access-log-bytes-max is for a file: name one with --access-log, not \"-\"",
            ));
        }
        Ok(())
    }
    /// `None`: there is no log.
    pub(crate) fn of(options: &OperateOptions) -> Result<Option<Self>, Failure> {
        Self::check(options)?;
        let Some(path) = &options.access_log else {
            return Ok(None);
        };
        let format = options.access_log_format;
        let fields = match options.access_log_fields.is_empty() {
            true => LogField::value_variants().to_vec(),
            false => options.access_log_fields.clone(),
        };
        let path = (path.to_str() != Some("-")).then(|| path.clone());
        let rotation = options.access_log_bytes_max.map(|bytes_max| Rotation {
            bytes_max,
            files_kept: options.access_log_files_kept,
        });
        let out = LogOutput::open(path.as_deref(), rotation).map_err(|error| {
            let path = path.as_deref().unwrap_or(Path::new("-")).display();
            Failure::usage(format_args!(
                "--access-log {path} cannot be written: {error}"
            ))
        })?;
        Ok(Some(Self {
            path,
            format,
            fields,
            rotation,
            out: Mutex::new(Some(out)),
            level: AtomicU8::new(options.access_log_level as u8),
        }))
    }
    /// From now on these requests have a line.
    pub(in crate::serve) fn set_level(&self, level: LogLevel) {
        self.level.store(level as u8, Ordering::Relaxed);
    }
    /// Whether these are the requests that have a line.
    pub(super) fn has_level(&self, level: LogLevel) -> bool {
        self.level.load(Ordering::Relaxed) == level as u8
    }
    fn logs(&self, access: &Access<'_>) -> bool {
        let is_error = || {
            let failed = access.status.is_none_or(|status| status.is_server_error());
            failed || access.error.is_some()
        };
        self.has_level(LogLevel::All) || self.has_level(LogLevel::Errors) && is_error()
    }
    /// Goes on in a file that is opened now: what had the path before was renamed. On an error the lines go on
    /// where they went.
    pub(in crate::serve) fn reopen(&self) -> io::Result<()> {
        if self.path.is_none() {
            return Ok(());
        }
        let opened = LogOutput::open(self.path.as_deref(), self.rotation)?;
        *self.out.lock().unwrap_or_else(PoisonError::into_inner) = Some(opened);
        Ok(())
    }
    /// No exchange follows.
    pub(in crate::serve) fn finish(&self) {
        let out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(out) = &*out {
            out.finish();
        }
    }
    /// An exchange is over.
    pub(crate) fn report(&self, access: &Access<'_>) {
        if !self.logs(access) {
            return;
        }
        let now = SystemTime::now();
        let mut line = match self.format {
            LogFormat::Common => common(access, now),
            LogFormat::Combined => combined(access, now),
            LogFormat::Json => json(access, now, &self.fields),
        };
        line.push('\n');
        // No code panics while it holds the lock.
        let mut place = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(out) = &mut *place else { return };
        match out.write(line.as_bytes()) {
            Ok(None) => {}
            Ok(Some(error)) => warn(format_args!(
                "the access log stays in the file it had, beyond its size: {error}"
            )),
            Err(error) => {
                warn(format_args!("the access log ends here: {error}"));
                *place = None;
            }
        }
    }
}

/// The client's address and port: as a proxy states them, or the peer's.
fn client(access: &Access<'_>) -> (Option<IpAddr>, Option<u16>) {
    match access.forwarded {
        Some(client) => (client.address, client.port),
        None => access
            .connection
            .peer_addr()
            .map(|peer| (peer.ip(), peer.port()))
            .unzip(),
    }
}

fn common(access: &Access<'_>, now: SystemTime) -> String {
    // A client of a Unix socket has no address, and a proxy may keep that of its client to itself.
    let (address, _) = client(access);
    let host = address.map_or("-".to_owned(), |address| address.to_string());
    let mut text = format!(
        "{host} - - [{}] \"{}\" ",
        date(now),
        request_line(access.method, access.target, access.version)
    );
    // Writing to a String cannot fail.
    let _ = match access.status {
        Some(status) => write!(text, "{} ", status.as_u16()),
        None => write!(text, "- "),
    };
    let _ = match access.body_bytes {
        0 => write!(text, "-"),
        bytes => write!(text, "{bytes}"),
    };
    text
}

fn combined(access: &Access<'_>, now: SystemTime) -> String {
    let mut text = common(access, now);
    for field in [access.referer, access.user_agent] {
        text.push_str(" \"");
        match field {
            None => text.push('-'),
            Some(value) => escape(value.as_bytes(), b' ', &mut text),
        }
        text.push('"');
    }
    text
}

/// An object of `fields`. Bytes that are not UTF-8 become U+FFFD; JSON's own escapes take the controls, and those
/// beyond ASCII (C1, the line separators of Unicode) are escaped too.
fn json(access: &Access<'_>, now: SystemTime, fields: &[LogField]) -> String {
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let (address, port) = client(access);
    let authority = access.target.and_then(Uri::authority);
    let mut line = String::from("{");
    for field in fields {
        let (name, value) = match field {
            LogField::Time => ("time", json!(timestamp(now))),
            LogField::Client => ("client", json!(address.map(|address| address.to_string()))),
            LogField::ClientPort => ("client_port", json!(port)),
            LogField::Method => ("method", json!(access.method.map(Method::as_str))),
            LogField::Host => {
                let authority = authority.map(|it| it.as_str().to_owned());
                ("host", json!(authority.or(access.host.map(text))))
            }
            LogField::Target => ("target", json!(access.target.map(path))),
            LogField::Version => ("version", json!(version(access.version))),
            LogField::Status => ("status", json!(access.status.map(|it| it.as_u16()))),
            LogField::Bytes => ("bytes", json!(access.body_bytes)),
            LogField::Duration => ("duration", json!(access.time.as_secs_f64())),
            LogField::Referer => ("referer", json!(access.referer.map(text))),
            LogField::UserAgent => ("user_agent", json!(access.user_agent.map(text))),
            LogField::Tls => {
                let tls = access.connection.tls();
                ("tls", json!(tls.map(trunkline::TlsInfo::protocol)))
            }
            LogField::Error => ("error", json!(access.error.map(ToString::to_string))),
            LogField::Timeline => ("timeline", json!(access.timeline_id)),
        };
        let before = if line.len() > 1 { "," } else { "" };
        let _ = write!(line, "{before}\"{name}\":{value}");
    }
    line.push('}');
    let mut escaped = String::with_capacity(line.len());
    for c in line.chars() {
        match c {
            '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' => {
                let _ = write!(escaped, "\\u{:04x}", u32::from(c));
            }
            c => escaped.push(c),
        }
    }
    escaped
}

fn version(version: Version) -> &'static str {
    match version {
        Version::HTTP_10 => "1.0",
        Version::HTTP_2 => "2",
        Version::HTTP_3 => "3",
        _ => "1.1",
    }
}

/// The form that every version has: path and query. A request for a tunnel names an authority alone.
fn path(target: &Uri) -> String {
    match target.path_and_query() {
        Some(path) => path.as_str().to_owned(),
        None => target.to_string(),
    }
}

/// The request line; `-`: it could not be parsed.
fn request_line(method: Option<&Method>, target: Option<&Uri>, version: Version) -> String {
    let Some(method) = method else {
        return "-".to_owned();
    };
    let target = target.map_or("-".to_owned(), path);
    let mut line = format!("{method} ");
    escape(target.as_bytes(), b'!', &mut line);
    let _ = write!(line, " {version:?}");
    line
}

/// Writes text of a client that can end neither its quotes nor its line. `least`: the first byte that stands for
/// itself.
fn escape(text: &[u8], least: u8, line: &mut String) {
    for &byte in text {
        let _ = match byte {
            b'"' | b'\\' | 0x7f.. => write!(line, "\\x{byte:02x}"),
            _ if byte < least => write!(line, "\\x{byte:02x}"),
            _ => write!(line, "{}", char::from(byte)),
        };
    }
}

/// `10/Oct/2000:13:55:36 +0000`.
fn date(at: SystemTime) -> String {
    // IMF-fixdate has a fixed length: `Tue, 10 Oct 2000 13:55:36 GMT`.
    let date = httpdate::fmt_http_date(at);
    let part = |range| date.get(range).unwrap_or("-");
    let (day, month, year) = (part(5..7), part(8..11), part(12..16));
    format!("{day}/{month}/{year}:{} +0000", part(17..25))
}

/// `2000-10-10T13:55:36.000Z`.
fn timestamp(at: SystemTime) -> String {
    let date = httpdate::fmt_http_date(at);
    let part = |range| date.get(range).unwrap_or("-");
    let (day, month, year) = (part(5..7), part(8..11), part(12..16));
    let names = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let month = names.iter().position(|name| *name == month);
    let month = month.map_or(0, |at| at + 1);
    let millis = at
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.subsec_millis());
    format!("{year}-{month:02}-{day}T{}.{millis:03}Z", part(17..25))
}

#[cfg(test)]
#[path = "access_log_test.rs"]
mod access_log_test;
