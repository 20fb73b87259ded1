//! The heads of answers as -i and -D write them.

use crate::failure::Failure;
use http::{HeaderMap, Response, Version};
use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use trunkline::client::{ReasonPhrase, ReceivedFields, RequestBuilder};

/// The file of -D, for all URLs.
pub(in crate::get) struct HeadFile(Option<Box<dyn io::Write>>);

impl HeadFile {
    pub(in crate::get) fn open(path: Option<&Path>) -> Result<Self, Failure> {
        let Some(path) = path else {
            return Ok(Self(None));
        };
        match path.as_os_str() == "-" {
            true => Ok(Self(Some(Box::new(io::stdout())))),
            false => match File::create(path) {
                Ok(file) => Ok(Self(Some(Box::new(file)))),
                Err(error) => Err(Failure::output(path.display(), &error)),
            },
        }
    }
    pub(in crate::get) fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let Some(sink) = &mut self.0 else {
            return Ok(());
        };
        let written = sink.write_all(bytes).and_then(|()| sink.flush());
        written.map_err(|error| Failure::output("the file of -D", &error))
    }
}

/// The 1xx heads of an exchange, in the order in which they came.
#[derive(Clone, Default)]
pub(in crate::get) struct Interims(Arc<Mutex<Vec<u8>>>);

impl Interims {
    /// Collects those of this request.
    pub(in crate::get) fn of(&self, request: RequestBuilder) -> RequestBuilder {
        let collected = Arc::clone(&self.0);
        request.on_interim(move |head| {
            let text = head_text(&head);
            let mut collected = collected.lock().unwrap_or_else(PoisonError::into_inner);
            collected.extend(text);
        })
    }
    pub(in crate::get) fn take(&self) -> Vec<u8> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A head as -i writes it: HTTP/2 and HTTP/3 have no reason phrase, and curl no minor version for them.
pub(in crate::get) fn head_text<B>(response: &Response<B>) -> Vec<u8> {
    let (version, status) = (response.version(), response.status());
    let mut text = match version {
        Version::HTTP_2 => format!("HTTP/2 {} ", status.as_u16()).into_bytes(),
        Version::HTTP_3 => format!("HTTP/3 {} ", status.as_u16()).into_bytes(),
        _ => {
            let usual = status.canonical_reason().unwrap_or_default().as_bytes();
            let reason = response.extensions().get::<ReasonPhrase>();
            let line = format!("{version:?} {} ", status.as_u16());
            [
                line.as_bytes(),
                reason.map_or(usual, ReasonPhrase::as_bytes),
            ]
            .concat()
        }
    };
    text.extend_from_slice(b"\r\n");
    match response.extensions().get::<ReceivedFields>() {
        // As they came over HTTP/1.1.
        Some(received) => {
            for (name, value) in received.as_slice() {
                field_line(&mut text, name, value);
            }
        }
        None => text.extend(fields_text(response.headers())),
    }
    text.extend_from_slice(b"\r\n");
    text
}

/// Fields as -i writes them, those of trailers too.
pub(in crate::get) fn fields_text(fields: &HeaderMap) -> Vec<u8> {
    let mut text = Vec::new();
    for (name, value) in fields {
        field_line(&mut text, name.as_str().as_bytes(), value.as_bytes());
    }
    text
}

fn field_line(text: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    for part in [name, b": ", value, b"\r\n"] {
        text.extend_from_slice(part);
    }
}
