//! The heads of answers as -i and -D write them.

use crate::failure::Failure;
use http::{HeaderMap, Response, Version};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use trunkline::client::{ReasonPhrase, RequestBuilder};

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
    pub(in crate::get) fn write(&mut self, text: &str) -> Result<(), Failure> {
        let Some(sink) = &mut self.0 else {
            return Ok(());
        };
        let written = sink.write_all(text.as_bytes()).and_then(|()| sink.flush());
        written.map_err(|error| Failure::output("the file of -D", &error))
    }
}

/// The 1xx heads of an exchange, in the order in which they came.
#[derive(Clone, Default)]
pub(in crate::get) struct Interims(Arc<Mutex<String>>);

impl Interims {
    /// Collects those of this request.
    pub(in crate::get) fn of(&self, request: RequestBuilder) -> RequestBuilder {
        let collected = Arc::clone(&self.0);
        request.on_interim(move |head| {
            let text = head_text(&head);
            let mut collected = collected.lock().unwrap_or_else(PoisonError::into_inner);
            collected.push_str(&text);
        })
    }
    pub(in crate::get) fn take(&self) -> String {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A head as -i writes it: HTTP/2 and HTTP/3 have no reason phrase, and curl no minor version for them.
pub(in crate::get) fn head_text<B>(response: &Response<B>) -> String {
    let (version, status) = (response.version(), response.status());
    let mut text = match version {
        Version::HTTP_2 => format!("HTTP/2 {} \r\n", status.as_u16()),
        Version::HTTP_3 => format!("HTTP/3 {} \r\n", status.as_u16()),
        _ => {
            let usual = status.canonical_reason().unwrap_or_default().as_bytes();
            let reason = response.extensions().get::<ReasonPhrase>();
            let reason = String::from_utf8_lossy(reason.map_or(usual, ReasonPhrase::as_bytes));
            format!("{version:?} {} {reason}\r\n", status.as_u16())
        }
    };
    text.push_str(&fields_text(response.headers()));
    text.push_str("\r\n");
    text
}

/// Fields as -i writes them, those of trailers too.
pub(in crate::get) fn fields_text(fields: &HeaderMap) -> String {
    let mut text = String::new();
    for (name, value) in fields {
        // Writing to a String cannot fail.
        let _ = write!(
            text,
            "{name}: {}\r\n",
            String::from_utf8_lossy(value.as_bytes())
        );
    }
    text
}
