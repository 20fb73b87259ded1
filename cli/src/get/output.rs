//! Where the body goes: standard output, or a file with a progress bar if someone watches.

use crate::failure::Failure;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

/// An open place for bytes.
pub(crate) struct Output {
    sink: Box<dyn Write>,
    path: Option<PathBuf>,
    bar: ProgressBar,
}

impl Output {
    /// Opens `path`, or standard output without one. `expected` is the body's length if known.
    pub(crate) fn open(path: Option<&Path>, expected: Option<u64>) -> Result<Self, Failure> {
        let Some(path) = path else {
            let sink = Box::new(std::io::stdout().lock());
            return Ok(Self {
                sink,
                path: None,
                bar: ProgressBar::hidden(),
            });
        };
        let file = std::fs::File::create(path).map_err(|error| {
            Failure::usage(format_args!(
                "-o {} cannot be written: {error}",
                path.display()
            ))
        })?;
        let bar = match std::io::stderr().is_terminal() {
            true => bar(expected),
            false => ProgressBar::hidden(),
        };
        Ok(Self {
            sink: Box::new(file),
            path: Some(path.to_owned()),
            bar,
        })
    }

    /// Writes. A disk or pipe that blocks holds the peer back: nothing piles up here.
    pub(crate) async fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.bar.inc(bytes.len() as u64);
        self.sink
            .write_all(bytes)
            .map_err(|error| self.failure(&error))
    }

    pub(crate) async fn close(mut self) -> Result<(), Failure> {
        self.bar.finish_and_clear();
        self.sink.flush().map_err(|error| self.failure(&error))
    }

    fn failure(&self, error: &std::io::Error) -> Failure {
        match &self.path {
            Some(path) => Failure::usage(format_args!(
                "{} cannot be written: {error}",
                path.display()
            )),
            None => Failure::usage(format_args!("standard output cannot be written: {error}")),
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
