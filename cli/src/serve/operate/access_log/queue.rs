//! Lines for an output that may not take them, as a pipe whose reader stands still or a terminal that is stopped. A thread
//! writes them: a worker that writes a line never waits.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::mem;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Lines that wait for the output; further ones are left out.
pub(super) const QUEUE_BYTES_MAX: usize = 1024 * 1024;
/// How long the end of the process waits for the output to take the rest.
const END_WAIT: Duration = Duration::from_secs(1);

/// Called with a sentence for the operator.
type Report = dyn Fn(&str) + Send + Sync;

/// Lines on their way to an output. The thread that writes them ends once this is dropped and they are written.
pub(super) struct LineQueue(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    /// Lines have come, were written, or will not come any more.
    changed: Condvar,
    report: Box<Report>,
}

#[derive(Default)]
struct State {
    lines: VecDeque<Vec<u8>>,
    /// Those of `lines` and of the line that is being written.
    bytes: usize,
    /// Lines left out since the end of the last standstill was reported.
    left_out: u64,
    /// No line follows.
    is_closed: bool,
    /// The output takes none any more.
    has_failed: bool,
}

impl LineQueue {
    /// # Errors
    /// When the system gives no thread.
    pub(super) fn new(
        output: impl Write + Send + 'static,
        report: impl Fn(&str) + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            state: Mutex::default(),
            changed: Condvar::new(),
            report: Box::new(report),
        });
        let writes = Arc::clone(&shared);
        let thread = thread::Builder::new().name("trunkline-access-log".to_owned());
        thread.spawn(move || writes.write_all(output))?;
        Ok(Self(shared))
    }
    /// Writes the line soon; one for which there is no room is left out and counted.
    pub(super) fn push(&self, line: &[u8]) {
        let mut state = self.0.state();
        if state.has_failed {
            return;
        }
        if state.bytes + line.len() <= QUEUE_BYTES_MAX {
            state.bytes += line.len();
            state.lines.push_back(line.to_vec());
            self.0.changed.notify_all();
            return;
        }
        state.left_out += 1;
        if state.left_out == 1 {
            drop(state);
            let shared = Arc::clone(&self.0);
            // Standard error may be the same pipe. Without a thread the count is said later.
            let _ = thread::Builder::new().spawn(move || {
                (shared.report)(
                    "the reader of the access log takes no more lines: further ones are left out until it does",
                );
            });
        }
    }
    /// Waits for a moment until all lines are written.
    pub(super) fn finish(&self) {
        let until = Instant::now() + END_WAIT;
        let mut state = self.0.state();
        while state.bytes > 0 && !state.has_failed {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                // The one that is being written may be taken in part.
                let lines = state.lines.len() as u64 + 1 + state.left_out;
                drop(state);
                return (self.0.report)(&format!(
                    "the access log is without its last {lines} lines, which its reader did not take"
                ));
            }
            let waited = self.0.changed.wait_timeout(state, left);
            (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Drop for LineQueue {
    fn drop(&mut self) {
        self.0.state().is_closed = true;
        self.0.changed.notify_all();
    }
}

impl Shared {
    /// No code panics while it holds the lock.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
    fn write_all(&self, mut output: impl Write) {
        while let Some(line) = self.next() {
            // One call per line: lines of several processes on one pipe stay whole.
            let written = output.write_all(&line).and_then(|()| output.flush());
            let mut state = self.state();
            state.bytes -= line.len();
            if let Err(error) = written {
                state.has_failed = true;
                drop(state);
                self.changed.notify_all();
                return (self.report)(&format!("the access log ends here: {error}"));
            }
            // A reader that is slow all the time is one standstill.
            let left_out = match state.lines.is_empty() {
                true => mem::take(&mut state.left_out),
                false => 0,
            };
            drop(state);
            self.changed.notify_all();
            if left_out > 0 {
                (self.report)(&format!(
                    "the access log goes on: {left_out} lines were left out, which its reader did not take"
                ));
            }
        }
    }
    /// Waits for a line; `None`: none follows.
    fn next(&self) -> Option<Vec<u8>> {
        let mut state = self.state();
        loop {
            if let Some(line) = state.lines.pop_front() {
                return Some(line);
            }
            if state.is_closed {
                return None;
            }
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}

#[cfg(test)]
#[path = "queue_test.rs"]
mod queue_test;
