//! The format `text/event-stream` (the HTML standard, "Parsing an event stream").

use super::ServerEvent;
use std::mem;
use std::time::Duration;

/// Bytes of one event, its lines together. A stream with more is broken off.
pub(super) const EVENT_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Bytes of an id: common servers take no longer head back. Each event has a copy of the last id, so that
/// small events behind a long one cost far more than their bytes.
pub(super) const ID_BYTES_MAX: usize = 8 * 1024;
/// The longest time that a server can ask for between two connections.
const RETRY_MAX: Duration = Duration::from_secs(3600);

/// A part of a stream that is too long.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TooLong {
    /// An event has more than [`EVENT_BYTES_MAX`].
    Event,
    /// An id has more than [`ID_BYTES_MAX`].
    Id,
}

/// The events of one connection, from its bytes.
#[derive(Debug, Default)]
pub(super) struct Parser {
    line: Vec<u8>,
    /// The line before ended with CR, so that an LF belongs to it.
    after_return: bool,
    /// A line came before: no byte order mark any more.
    began: bool,
    name: String,
    data: String,
    has_data: bool,
    /// The id of the event under way: it counts from the event's end on.
    next_id: Option<String>,
    id: Option<String>,
    retry: Option<Duration>,
}

impl Parser {
    /// Goes on behind the event with this id.
    pub(super) fn resumed(id: Option<String>) -> Self {
        Self {
            id,
            ..Self::default()
        }
    }
    /// The id of the last event that had one, to send when connecting again.
    pub(super) fn last_id(&self) -> Option<&str> {
        self.id.as_deref()
    }
    /// The time between two connections, if the server has said one since the last call.
    pub(super) fn take_retry(&mut self) -> Option<Duration> {
        self.retry.take()
    }
    /// The next event that `bytes` complete, which are cut behind it: each event has a copy of an id that may be long, so
    /// that all events of one piece could have far more bytes than came.
    pub(super) fn next_event(&mut self, bytes: &mut &[u8]) -> Result<Option<ServerEvent>, TooLong> {
        while let Some((&byte, rest)) = bytes.split_first() {
            *bytes = rest;
            let belongs_to_return = mem::take(&mut self.after_return) && byte == b'\n';
            match byte {
                _ if belongs_to_return => {}
                b'\n' | b'\r' => {
                    self.after_return = byte == b'\r';
                    if let Some(event) = self.end_line()? {
                        return Ok(Some(event));
                    }
                }
                byte => {
                    if self.line.len() + self.data.len() >= EVENT_BYTES_MAX {
                        return Err(TooLong::Event);
                    }
                    self.line.push(byte);
                }
            }
        }
        Ok(None)
    }
    fn end_line(&mut self) -> Result<Option<ServerEvent>, TooLong> {
        let line = mem::take(&mut self.line);
        let text = String::from_utf8_lossy(&line);
        let text = match mem::replace(&mut self.began, true) {
            false => text.strip_prefix('\u{feff}').unwrap_or(&text),
            true => &text,
        };
        if text.is_empty() {
            return Ok(self.end_event());
        }
        let (field, value) = text.split_once(':').unwrap_or((text, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => {
                if self.has_data {
                    self.data.push('\n');
                }
                self.data.push_str(value);
                self.has_data = true;
            }
            "event" => value.clone_into(&mut self.name),
            "id" if value.len() > ID_BYTES_MAX => return Err(TooLong::Id),
            "id" if !value.contains('\0') => self.next_id = Some(value.to_owned()),
            "retry" if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) => {
                let millis = value.parse().map_or(RETRY_MAX, Duration::from_millis);
                self.retry = Some(millis.min(RETRY_MAX));
            }
            // A comment, or a field that is not known.
            _ => {}
        }
        Ok(None)
    }
    fn end_event(&mut self) -> Option<ServerEvent> {
        let name = mem::take(&mut self.name);
        let data = mem::take(&mut self.data);
        if let Some(id) = self.next_id.take() {
            self.id = Some(id);
        }
        mem::take(&mut self.has_data).then(|| ServerEvent {
            name: match name.is_empty() {
                true => "message".to_owned(),
                false => name,
            },
            data,
            id: self.id.clone().unwrap_or_default(),
        })
    }
}

#[cfg(test)]
#[path = "parse_test.rs"]
mod parse_test;
