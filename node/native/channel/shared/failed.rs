//! The errors of the last failed requests, whose timelines are made when JavaScript reads them.

use std::collections::VecDeque;
use trunkline::Error;

/// Errors that are kept, the latest: some 500 bytes each. The timeline of an older one that was never read is gone.
const KEPT_MAX: usize = 1024;

#[derive(Default)]
pub(crate) struct FailedRequests {
    kept: VecDeque<Error>,
    /// The number of the first of them.
    first: u64,
}

impl FailedRequests {
    /// Keeps an error; the number by which its timeline is asked for.
    pub(crate) fn keep(&mut self, error: Error) -> u64 {
        if self.kept.len() == KEPT_MAX {
            self.kept.pop_front();
            self.first += 1;
        }
        self.kept.push_back(error);
        self.first + self.kept.len() as u64 - 1
    }
    /// The timeline of the error with this number; `None`: it is not kept any more.
    pub(crate) fn timeline(&self, number: u64) -> Option<String> {
        let at = usize::try_from(number.checked_sub(self.first)?).ok()?;
        self.kept.get(at).map(Error::timeline)
    }
}

#[cfg(test)]
#[path = "failed_test.rs"]
mod failed_test;
