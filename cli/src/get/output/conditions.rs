//! The flags of conditions (RFC 9110 section 13): what is fetched only where it has changed.

mod date;

use super::write_out::Facts;
use crate::failure::{Failure, report};
use crate::get::given;
use clap::Args;
use http::header::{
    ETAG, HeaderName, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_UNMODIFIED_SINCE, LAST_MODIFIED,
};
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};
use trunkline::Body;

/// Dates and tags.
#[derive(Args)]
pub(in crate::get) struct ConditionOptions {
    /// Only what has changed since this date (as in `last-modified`, or `6 Nov 1994`) or since this file was; with `-` in front, only
    /// what has not.
    #[arg(short = 'z', long, value_name = "TIME", allow_hyphen_values = true)]
    time_cond: Option<String>,
    /// Only what has another etag than the one in this file.
    #[arg(long, value_name = "FILE")]
    etag_compare: Option<String>,
    /// Write the answer's etag to this file (`-` for standard output).
    #[arg(long, value_name = "FILE")]
    etag_save: Option<PathBuf>,
}

impl ConditionOptions {
    /// The fields that they stand for.
    pub(in crate::get) fn fields(&self) -> Result<Vec<(HeaderName, HeaderValue)>, Failure> {
        let mut fields = Vec::new();
        if let Some(text) = &self.time_cond {
            let (name, text) = match text.strip_prefix('-') {
                Some(text) => (IF_UNMODIFIED_SINCE, text),
                None => (IF_MODIFIED_SINCE, text.as_str()),
            };
            if let Some(time) = time(text) {
                let date = httpdate::fmt_http_date(time);
                let date = HeaderValue::try_from(date).expect("letters and digits");
                fields.push((name, date));
            }
        }
        if let Some(path) = &self.etag_compare {
            let tag = given::read(path)?;
            let tag = String::from_utf8_lossy(&tag);
            // No answer has the empty one: an empty file asks for all of it.
            let tag = match tag.trim() {
                "" => "\"\"",
                tag => tag,
            };
            let value = HeaderValue::try_from(tag)
                .map_err(|_| Failure::usage(format_args!("{path} has no etag in it")))?;
            fields.push((IF_NONE_MATCH, value));
        }
        Ok(fields)
    }

    /// The answer as the time of -z allows it.
    pub(in crate::get) fn applied(
        &self,
        facts: &mut Facts,
        response: Response<Body>,
    ) -> Response<Body> {
        let (mut head, body) = response.into_parts();
        if !self.forbids(head.status, &head.headers) {
            return Response::from_parts(head, body);
        }
        head.status = StatusCode::NOT_MODIFIED;
        facts.head = Some((head.version, head.status, head.headers.clone()));
        Response::from_parts(head, Body::empty())
    }

    /// Whether the time of -z forbids an answer that a server has given all the same, as one that knows no conditions does. curl
    /// takes it for a 304.
    fn forbids(&self, status: StatusCode, answer: &HeaderMap) -> bool {
        let Some(given) = self.time_cond.as_ref().filter(|_| status == StatusCode::OK) else {
            return false;
        };
        let (is_since, text) = match given.strip_prefix('-') {
            Some(text) => (false, text),
            None => (true, given.as_str()),
        };
        let modified = answer.get(LAST_MODIFIED).and_then(|it| it.to_str().ok());
        let modified = modified.and_then(|text| httpdate::parse_http_date(text).ok());
        let Some((modified, asked)) = modified.zip(known_time(text)) else {
            return false;
        };
        // A date of HTTP has whole seconds.
        let seconds =
            |time: SystemTime| time.duration_since(UNIX_EPOCH).map_or(0, |it| it.as_secs());
        let (modified, asked) = (seconds(modified), seconds(asked));
        if is_since {
            modified <= asked
        } else {
            modified >= asked
        }
    }

    /// Writes the etag of an answer; without one the file stays as it is.
    pub(in crate::get) fn save(
        &self,
        answer: &HeaderMap,
        creates_folders: bool,
    ) -> Result<(), Failure> {
        let Some(path) = &self.etag_save else {
            return Ok(());
        };
        let tag = answer.get(ETAG).filter(|tag| !tag.is_empty());
        let line = tag.map(|tag| [tag.as_bytes(), b"\n"].concat());
        let written = match path.as_os_str() == "-" {
            true => io::stdout().write_all(&line.unwrap_or_default()),
            false => write_tag(path, line, creates_folders),
        };
        written.map_err(|error| Failure::output(path.display(), &error))
    }
}

/// Writes the line of a tag to its file, which is there behind it without one too.
fn write_tag(path: &Path, line: Option<Vec<u8>>, creates_folders: bool) -> io::Result<()> {
    if let Some(folder) = path.parent().filter(|_| creates_folders) {
        std::fs::create_dir_all(folder)?;
    }
    match line {
        Some(line) => std::fs::write(path, line),
        None => OpenOptions::new()
            .append(true)
            .create(true)
            .open(path)
            .map(drop),
    }
}

/// A date, or the time at which a file was changed. `None`: it is no date, and there is no such file yet, so that all is asked for.
fn time(text: &str) -> Option<SystemTime> {
    let time = known_time(text);
    if time.is_none() {
        report!(
            "trunkline: -z {text:?} is neither a date, as \"Wed, 21 Oct 2015 07:28:00 GMT\", nor a file: no condition is sent"
        );
    }
    time
}

fn known_time(text: &str) -> Option<SystemTime> {
    date::parse(text).or_else(|| {
        std::fs::metadata(text)
            .and_then(|file| file.modified())
            .ok()
    })
}
