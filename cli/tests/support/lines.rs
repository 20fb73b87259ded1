//! The lines of a running program, each waited for with a bound of its own: a line that never comes fails its test, and
//! says what came in its place.

use std::io::{BufRead as _, BufReader, Read};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Generous: the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(120);

/// The lines of a pipe, which a thread reads: a reader of the pipe itself has no deadline.
pub(crate) struct Lines {
    lines: Receiver<String>,
    patience: Duration,
}

impl Lines {
    pub(crate) fn of(pipe: impl Read + Send + 'static) -> Self {
        let (sender, lines) = channel();
        thread::spawn(move || {
            let mut pipe = BufReader::new(pipe);
            let mut line = String::new();
            while pipe.read_line(&mut line).expect("it is text") > 0 {
                // Its receiver has seen enough; the program must not wait for a full pipe.
                let _ = sender.send(std::mem::take(&mut line));
            }
        });
        Self {
            lines,
            patience: PATIENCE,
        }
    }
    /// The next line.
    #[track_caller]
    pub(crate) fn next(&mut self) -> String {
        self.line_with("")
    }
    /// The next line that has `expected`; lines before it are dropped.
    #[track_caller]
    pub(crate) fn line_with(&mut self, expected: &str) -> String {
        let until = Instant::now() + self.patience;
        let mut before = String::new();
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left) {
                Ok(line) if line.contains(expected) => return line,
                Ok(line) => before.push_str(&line),
                Err(error) => panic!("{expected:?} is not in {before:?}: {error}"),
            }
        }
    }
}

#[test]
fn a_line_that_never_comes_fails_within_its_bound_and_says_what_came() {
    for open in [true, false] {
        let (pipe, mut writer) = std::io::pipe().expect("a pipe");
        std::io::Write::write_all(&mut writer, b"one\ntwo\n").expect("it is read");
        let writer = open.then_some(writer);
        let mut lines = Lines::of(pipe);
        lines.patience = Duration::from_millis(200);
        let failed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            lines.line_with("three");
        }));
        let message = *failed
            .expect_err("there is none")
            .downcast::<String>()
            .expect("a text");
        assert!(
            message.starts_with(r#""three" is not in "one\ntwo\n""#),
            "{message}"
        );
        drop(writer);
    }
}
