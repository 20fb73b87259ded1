//! The file, which ends at a bound.

use crate::error::Error;
use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use trunkline_core::http::Side;

/// The most bytes of a file: 256 MiB, some million packets. qvis reads a file into memory whole.
const FILE_BYTES_MAX: u64 = 256 << 20;
/// The most bytes of records that wait for their connection's name: 64 KiB. What comes beyond is left out.
const HELD_BYTES_MAX: usize = 64 * 1024;
/// The byte before each record (RFC 7464 section 2.2).
pub(super) const RECORD_SEPARATOR: char = '\x1e';

/// An open file. Clones write to the same one.
#[derive(Clone)]
pub(crate) struct Qlog(Arc<Shared>);

struct Shared {
    out: Mutex<Out>,
    /// Times are counted from here.
    began: Instant,
    /// Connections so far.
    connections: AtomicU64,
}

struct Out {
    file: File,
    /// Names of connections by what quinn-proto calls them: two things over a client's life.
    names: HashMap<String, String>,
    /// Records of connections whose name is not known yet, with quinn-proto's name for them.
    held: Vec<(String, String)>,
    held_bytes: usize,
    /// Bytes that may follow, the last record not counted.
    room: u64,
    ended: bool,
}

/// The files of servers.
static OPEN: Mutex<Vec<(PathBuf, Weak<Shared>)>> = Mutex::new(Vec::new());

thread_local! {
    /// The group of the record that quinn-proto wrote last on this thread: what it calls the connection, which it says
    /// nowhere else.
    static LAST_GROUP: RefCell<Option<String>> = const { RefCell::new(None) };
}

impl Qlog {
    /// Makes the file, or empties it. `side`: whose log it is.
    ///
    /// # Errors
    /// Names the file that cannot be written.
    pub(crate) fn create(path: &Path, side: Side) -> Result<Self, Error> {
        Self::create_within(path, side, FILE_BYTES_MAX)
    }
    /// The file of a server: servers of a process that name one file write to the same, as those of several addresses do.
    ///
    /// # Errors
    /// Names the file that cannot be written.
    pub(crate) fn of_server(path: &Path) -> Result<Self, Error> {
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|(_, shared)| shared.strong_count() > 0);
        let known = open.iter().find(|(known, _)| known == path);
        if let Some(shared) = known.and_then(|(_, shared)| shared.upgrade()) {
            return Ok(Self(shared));
        }
        let made = Self::create(path, Side::Server)?;
        open.push((path.to_owned(), Arc::downgrade(&made.0)));
        Ok(made)
    }
    fn create_within(path: &Path, side: Side, bytes_max: u64) -> Result<Self, Error> {
        let unusable = |error| {
            let text = format!("the qlog {} cannot be written", path.display());
            Error::config(text).with_source(error)
        };
        // Appended to, so that two processes may write during a hand-over.
        let mut options = OpenOptions::new();
        options.create(true).append(true);
        // URLs and fields have secrets in them that have no name.
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(path).map_err(unusable)?;
        file.set_len(0).map_err(unusable)?;
        let header = header(side);
        file.write_all(header.as_bytes()).map_err(unusable)?;
        Ok(Self(Arc::new(Shared {
            out: Mutex::new(Out {
                file,
                names: HashMap::new(),
                held: Vec::new(),
                held_bytes: 0,
                room: bytes_max.saturating_sub(header.len() as u64),
                ended: false,
            }),
            began: Instant::now(),
            connections: AtomicU64::new(0),
        })))
    }
    /// The number of a connection that begins.
    pub(super) fn next_connection(&self) -> u64 {
        self.0.connections.fetch_add(1, Ordering::Relaxed) + 1
    }
    /// A time in milliseconds, with the same rounding as quinn-proto's: events of a turn have one time.
    pub(super) fn time_of(&self, now: Instant) -> f32 {
        now.saturating_duration_since(self.0.began).as_secs_f32() * 1000.0
    }
    /// Appends a record; behind the bound nothing but one that says so. A file that takes no more, for want of space
    /// for example, is given up: a log is no reason to end a connection.
    pub(super) fn write_record(&self, now: Instant, record: &str) {
        self.append(&mut self.out(), now, record);
    }
    fn out(&self) -> MutexGuard<'_, Out> {
        self.0.out.lock().unwrap_or_else(PoisonError::into_inner)
    }
    fn append(&self, out: &mut Out, now: Instant, record: &str) {
        if out.ended {
            return;
        }
        // A record at a time: a debugged process may be killed.
        let written = match out.room.checked_sub(record.len() as u64) {
            Some(room) => {
                out.room = room;
                out.file.write_all(record.as_bytes())
            }
            None => {
                out.ended = true;
                out.file.write_all(self.last_record(now, record).as_bytes())
            }
        };
        out.ended |= written.is_err();
    }
    /// Says that the file is full, in the group of the record that it has no room for.
    fn last_record(&self, now: Instant, record: &str) -> String {
        let time = self.time_of(now);
        let group = group_of(record).unwrap_or_default();
        format!(
            "{RECORD_SEPARATOR}{{\"time\":{time},\"name\":\"info:message\",\"data\":{{\"message\":\
             \"the file has reached its bound, what follows is left out\"}},\"group_id\":\"{group}\"}}\n"
        )
    }
    /// The stream that quinn-proto writes its records to.
    #[cfg(feature = "http3")]
    pub(crate) fn packets(&self) -> Option<quinn_proto::QlogStream> {
        let mut config = quinn_proto::QlogConfig::default();
        config.start_time(self.0.began).writer(Box::new(Packets {
            qlog: self.clone(),
            record: Vec::new(),
            has_header: false,
        }));
        config.into_stream()
    }
    /// Appends a record of quinn-proto, in the group of its connection, once its name is known.
    #[cfg(feature = "http3")]
    fn write_packet(&self, record: &str) {
        let Some(group) = group_of(record) else {
            return;
        };
        let mut out = self.out();
        match out.names.get(group) {
            Some(name) => {
                let named = renamed(record, group, name);
                self.append(&mut out, Instant::now(), &named);
            }
            None if out.held_bytes < HELD_BYTES_MAX => {
                out.held_bytes += record.len();
                out.held.push((group.to_owned(), record.to_owned()));
            }
            None => {}
        }
        LAST_GROUP.set(Some(group.to_owned()));
    }
    /// The record that quinn-proto wrote last on this thread, if it did, was of the connection `name`.
    pub(super) fn name_last(&self, name: &str) {
        let Some(group) = LAST_GROUP.take() else {
            return;
        };
        let mut out = self.out();
        if out.names.contains_key(&group) {
            return;
        }
        let (own, others) = std::mem::take(&mut out.held)
            .into_iter()
            .partition(|(of, _)| *of == group);
        out.held = others;
        for (_, record) in own {
            out.held_bytes -= record.len();
            self.append(&mut out, Instant::now(), &renamed(&record, &group, name));
        }
        out.names.insert(group, name.to_owned());
    }
    /// The connection `name` has ended.
    pub(super) fn forget(&self, name: &str) {
        self.out().names.retain(|_, known| known != name);
    }
}

impl fmt::Debug for Qlog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Qlog")
    }
}

/// The head of the file. qvis takes version 0.3 of the format, and needs to know whose log it is.
fn header(side: Side) -> String {
    let side = match side {
        Side::Client => "client",
        Side::Server => "server",
    };
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let reference = since.map_or(0, |since| since.as_millis());
    format!(
        "{RECORD_SEPARATOR}{{\"qlog_version\":\"0.3\",\"qlog_format\":\"JSON-SEQ\",\"title\":\"trunkline\",\"trace\":{{\
         \"vantage_point\":{{\"name\":\"trunkline\",\"type\":\"{side}\"}},\"title\":\"trunkline {side}\",\
         \"configuration\":{{\"time_offset\":0}},\"common_fields\":{{\"protocol_type\":[\"QUIC\",\"HTTP3\",\"HTTP2\"],\
         \"reference_time\":{reference},\"time_format\":\"relative\"}}}}}}\n"
    )
}

/// The record in another group.
fn renamed(record: &str, group: &str, name: &str) -> String {
    let quoted = |group: &str| format!("\"group_id\":\"{group}\"");
    record.replace(&quoted(group), &quoted(name))
}

/// The group of a record.
fn group_of(record: &str) -> Option<&str> {
    let (_, rest) = record.rsplit_once("\"group_id\":\"")?;
    rest.split_once('"').map(|(group, _)| group)
}

/// Puts the pieces that quinn-proto writes together to records.
#[cfg(feature = "http3")]
struct Packets {
    qlog: Qlog,
    record: Vec<u8>,
    /// quinn-proto has written its own header, which does not say whose log it is; the file has ours.
    has_header: bool,
}

#[cfg(feature = "http3")]
impl Write for Packets {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.record.extend_from_slice(bytes);
        if !self.record.ends_with(b"\n") {
            return Ok(bytes.len());
        }
        if std::mem::replace(&mut self.has_header, true)
            && let Ok(record) = std::str::from_utf8(&self.record)
        {
            self.qlog.write_packet(record);
        }
        self.record.clear();
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
#[path = "file_test.rs"]
mod file_test;
