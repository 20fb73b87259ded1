//! Writes the body to standard output, or to a file with a progress bar on a terminal.

use super::resume;
use crate::failure::Failure;
use indicatif::{ProgressBar, ProgressStyle};
use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

/// The file that -O writes: the last part of the URL's path, which names no folder.
pub(crate) fn name_of(path: &str) -> Result<PathBuf, Failure> {
    let path = path.split(['?', '#']).next().unwrap_or_default();
    match path.rsplit('/').next() {
        Some(name) if !matches!(name, "" | "." | "..") => Ok(PathBuf::from(name)),
        _ => Err(Failure::usage(format_args!(
            "-O needs a URL whose path ends with a name; {path} has none: use -o FILE"
        ))),
    }
}

/// An open place for bytes.
pub(crate) struct Output {
    sink: Box<dyn Write>,
    path: Option<PathBuf>,
    bar: ProgressBar,
}

impl Output {
    /// Opens `path`, or standard output without one, to be written from the offset `from` on. `expected` is the body's length if known.
    pub(crate) fn open(
        path: Option<&Path>,
        from: u64,
        expected: Option<u64>,
        is_silent: bool,
    ) -> Result<Self, Failure> {
        let Some(path) = path else {
            let sink = Box::new(io::stdout().lock());
            return Ok(Self {
                sink,
                path: None,
                bar: ProgressBar::hidden(),
            });
        };
        let opened = match from {
            0 => File::create(path),
            _ => resume::open_at(path, from),
        };
        let file = opened
            .map_err(|error| Failure::output(format_args!("-o {}", path.display()), &error))?;
        let bar = match io::stderr().is_terminal() && !is_silent {
            true => bar(expected),
            false => ProgressBar::hidden(),
        };
        Ok(Self {
            sink: Box::new(file),
            path: Some(path.to_owned()),
            bar,
        })
    }

    /// Writes all of `bytes`. A disk or pipe that blocks holds the peer back: nothing piles up here.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let written = self.sink.write_all(bytes);
        written.map_err(|error| self.failure(&error))?;
        self.bar.inc(bytes.len() as u64);
        Ok(())
    }

    pub(crate) fn close(&mut self) -> Result<(), Failure> {
        self.bar.finish_and_clear();
        self.sink.flush().map_err(|error| self.failure(&error))
    }

    fn failure(&self, error: &io::Error) -> Failure {
        match &self.path {
            Some(path) => Failure::output(path.display(), error),
            None => Failure::output("standard output", error),
        }
    }
}

fn bar(expected: Option<u64>) -> ProgressBar {
    let (bar, template) = match expected {
        Some(length) => (
            ProgressBar::new(length),
            "{bar:40} {bytes}/{total_bytes} {bytes_per_sec} {eta}",
        ),
        None => (
            ProgressBar::new_spinner(),
            "{spinner} {bytes} {bytes_per_sec}",
        ),
    };
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
