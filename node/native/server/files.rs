//! Files as response bodies: opened and read on the runtime's blocking threads, and sent as fast as
//! the connection takes them. Their bytes do not pass through JavaScript.

use crate::channel::records::FileRequest;
use bytes::Bytes;
use std::cell::Cell;
use std::fs::{File, metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::rc::Rc;
use std::time::Instant;
use tokio::sync::Notify;
use tokio::task::spawn_blocking;
use trunkline::core::error::H2Code;
use trunkline::server::{Answer, ConnectionHandle, ResponseBody, StreamHandle};

/// Bytes of one read.
const READ_BYTES_MAX: u64 = 128 * 1024;
/// Bytes that may wait for the connection before the next read.
const PENDING_BYTES_MAX: usize = 256 * 1024;

/// The state of a file being sent, shared by both ends.
#[derive(Default)]
pub(crate) struct SendRoom {
    pending: Cell<usize>,
    is_over: Cell<bool>,
    moved: Notify,
}

impl SendRoom {
    /// The connection took `bytes`; false: they are not the file's, which is sent.
    pub(crate) fn took(&self, bytes: usize) -> bool {
        self.pending.set(self.pending.get().saturating_sub(bytes));
        self.moved.notify_one();
        !self.is_over.get()
    }
    /// The exchange is over, or the file is not what is sent.
    pub(crate) fn end(&self) {
        self.is_over.set(true);
        self.moved.notify_one();
    }
    /// Waits until more may be sent; false: nothing may any more.
    async fn has_room(&self) -> bool {
        while !self.is_over.get() && self.pending.get() > PENDING_BYTES_MAX {
            self.moved.notified().await;
        }
        !self.is_over.get()
    }
}

/// An answer whose body is a file, or a part of one.
pub(crate) struct FileAnswer {
    pub(crate) commands: ConnectionHandle,
    pub(crate) handle: StreamHandle,
    pub(crate) status: u16,
    pub(crate) fields: Vec<u8>,
    pub(crate) date: bool,
    pub(crate) facts: FileRequest,
    pub(crate) send_room: Rc<SendRoom>,
}

impl FileRequest {
    /// The file, and how much of it is to be sent.
    fn open(&self) -> io::Result<OpenedFile> {
        // Before it is opened: a pipe without a writer would block the thread.
        let found = metadata(&self.path)?;
        if !found.is_file() {
            let kind = match found.is_dir() {
                true => io::ErrorKind::IsADirectory,
                false => io::ErrorKind::InvalidInput,
            };
            return Err(io::Error::new(kind, "it is not a regular file"));
        }
        let mut file = File::open(&self.path)?;
        let there = file.metadata()?.len().saturating_sub(self.offset);
        if self.offset > 0 {
            file.seek(SeekFrom::Start(self.offset))?;
        }
        let length = self.length.unwrap_or(there).min(there);
        let first = match length {
            0 => Bytes::new(),
            _ => piece(&mut file, length)?,
        };
        Ok(OpenedFile {
            file,
            first,
            length,
        })
    }
}

/// A file whose first piece has been read, because another way to its thread costs more than to read it.
struct OpenedFile {
    file: File,
    first: Bytes,
    /// Bytes that are to be sent, `first` among them.
    length: u64,
}

/// The next bytes of a file that has `left` still to be sent; it is an error where there are none.
fn piece(file: &mut File, left: u64) -> io::Result<Bytes> {
    let next = left.min(READ_BYTES_MAX);
    let mut bytes = Vec::with_capacity(next as usize);
    match file.take(next).read_to_end(&mut bytes)? {
        0 => Err(io::ErrorKind::UnexpectedEof.into()),
        _ => Ok(bytes.into()),
    }
}

/// Sends the response; `failed` gets the reason if there is none, before anything was sent.
pub(crate) async fn send(answer: FileAnswer, failed: impl FnOnce(&io::Error)) {
    let FileAnswer {
        commands,
        handle,
        status,
        mut fields,
        date,
        facts,
        send_room,
    } = answer;
    let opened = spawn_blocking(move || facts.open()).await;
    let OpenedFile {
        mut file,
        first,
        length,
    } = match opened.unwrap_or_else(|_| Err(io::ErrorKind::Other.into())) {
        Ok(opened) => opened,
        Err(error) => {
            // Another answer may follow, whose bytes are its own.
            send_room.end();
            return failed(&error);
        }
    };
    if !fields.is_empty() {
        fields.push(0);
    }
    fields.extend_from_slice(format!("content-length\0{length}").as_bytes());
    let mut left = length - first.len() as u64;
    let body = match (length, left) {
        (0, _) => ResponseBody::Nothing,
        (_, 0) => ResponseBody::Whole(first.clone()),
        _ => ResponseBody::Streaming,
    };
    let head = Answer {
        status,
        reason: None,
        fields: &fields,
        body,
        date,
        length: false,
        quiet: false,
    };
    commands.answer(Instant::now(), handle, head);
    let send = |bytes: Bytes, end: bool| {
        send_room.pending.set(send_room.pending.get() + bytes.len());
        commands.send(handle, bytes, end);
    };
    if left > 0 {
        send(first, false);
    }
    while left > 0 && send_room.has_room().await {
        let read = spawn_blocking(move || piece(&mut file, left).map(|bytes| (file, bytes)));
        let read: io::Result<_> = read
            .await
            .unwrap_or_else(|_| Err(io::ErrorKind::Other.into()));
        let Ok((same, bytes)) = read else {
            // A part must not look like the whole.
            return commands.reset(handle, H2Code::INTERNAL_ERROR);
        };
        file = same;
        left -= bytes.len() as u64;
        send(bytes, left == 0);
    }
}
