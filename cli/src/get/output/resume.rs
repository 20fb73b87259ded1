//! `-C`: the rest of a file that is there in part (RFC 9110 section 14).

use crate::failure::Failure;
use http::header::CONTENT_RANGE;
use http::{HeaderMap, StatusCode};
use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom};
use std::path::Path;

/// Where to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::get) enum Offset {
    /// At the end of the file.
    End,
    At(u64),
}

/// The value of `-C`.
pub(in crate::get) fn offset(text: &str) -> Result<Offset, String> {
    match text {
        "-" => Ok(Offset::End),
        _ => text
            .parse()
            .map(Offset::At)
            .map_err(|_| "it must be - for the end of the file, or an offset in bytes".to_owned()),
    }
}

/// The first byte to ask for; 0: all of it.
pub(in crate::get) fn start(offset: Option<Offset>, file: Option<&Path>) -> Result<u64, Failure> {
    match (offset, file) {
        (None, _) => Ok(0),
        (Some(Offset::At(at)), _) => Ok(at),
        // There is nothing to go on with.
        (Some(Offset::End), None) => Ok(0),
        (Some(Offset::End), Some(path)) => match std::fs::metadata(path) {
            Ok(metadata) => Ok(metadata.len()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
            Err(error) => Err(Failure::output(path.display(), &error)),
        },
    }
}

/// Whether the server has no byte behind what was asked for, of a content whose length it does not say. It is that of what is
/// here, as with curl.
pub(in crate::get) fn is_beyond_end(status: StatusCode, headers: &HeaderMap) -> bool {
    status == StatusCode::RANGE_NOT_SATISFIABLE && !headers.contains_key(CONTENT_RANGE)
}

/// Whether nothing is left to fetch; `declared`: the length of the answer's body. An answer that is not the part that was
/// asked for is an error.
pub(in crate::get) fn is_whole(
    status: StatusCode,
    headers: &HeaderMap,
    declared: Option<u64>,
    from: u64,
) -> Result<bool, Failure> {
    let range = headers
        .get(CONTENT_RANGE)
        .and_then(|value| value.to_str().ok());
    let range = range.and_then(|text| text.strip_prefix("bytes "));
    match status {
        StatusCode::PARTIAL_CONTENT
            if range.is_some_and(|range| range.starts_with(&format!("{from}-"))) =>
        {
            Ok(false)
        }
        StatusCode::RANGE_NOT_SATISFIABLE if range == Some(&format!("*/{from}")) => Ok(true),
        _ if is_beyond_end(status, headers) => Ok(true),
        // All of it, by a server that knows no parts.
        StatusCode::OK if declared == Some(from) => Ok(true),
        _ => Err(Failure::new(
            crate::get::exit::RANGE,
            format_args!(
                "the server does not give the bytes from {from} on, it answered {status}: \
             without -C all of it is fetched"
            ),
        )),
    }
}

/// Opens a file to write from an offset on. Bytes behind it are dropped: they would be those of another
/// content.
pub(in crate::get) fn open_at(path: &Path, from: u64) -> io::Result<File> {
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)?;
    file.set_len(from)?;
    file.seek(SeekFrom::Start(from))?;
    Ok(file)
}

#[cfg(test)]
#[path = "resume_test.rs"]
mod resume_test;
