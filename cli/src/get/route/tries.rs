//! One URL of the command line, with its further tries.

use crate::failure::{Failure, report};
use crate::get::output::write_out::Facts;
use crate::get::{Fetch, Get};
use std::time::{Duration, Instant};

/// The outcome of a try that did not fail.
pub(in crate::get) enum Tried {
    Done,
    /// The response asks for another one, behind this pause.
    Later(Duration),
}

impl Get {
    /// One URL with what -w has behind it, and its failure.
    ///
    /// # Errors
    /// Standard output cannot be written: there is no use in another URL.
    pub(in crate::get) async fn one(&self, mut fetch: Fetch) -> Result<Option<Failure>, Failure> {
        if let Some(path) = self.options.output.skips(&fetch.place) {
            if !self.options.output.hides_errors() {
                report!(
                    "trunkline: {} is there: its URL is left out",
                    path.display()
                );
            }
            return Ok(None);
        }
        fetch.facts.began = Instant::now();
        if let Some(cookies) = &self.cookies {
            cookies.begin(&fetch.uri);
        }
        let failure = self.tries(&mut fetch).await.err();
        if failure.is_some()
            && self.options.output.remove_on_error
            && let Some(opened) = &fetch.place.opened
        {
            // It may not be there.
            let _ = std::fs::remove_file(opened);
        }
        if let Some(failure) = &failure {
            fetch.facts.exit_code = failure.code();
            fetch.facts.error = failure.to_string();
        }
        self.write_out(&fetch.facts)?;
        Ok(failure)
    }

    /// Each try begins with the URL of the command line, as with curl.
    async fn tries(&self, fetch: &mut Fetch) -> Result<(), Failure> {
        let mut tries = self.options.retries.tries();
        let (uri, template) = (fetch.uri.clone(), fetch.template.clone());
        loop {
            let pause = match self.fetch(fetch, &mut tries).await {
                Ok(Tried::Done) => return Ok(()),
                Ok(Tried::Later(pause)) => pause,
                // Bytes on standard output cannot be taken back, and standard input is read once.
                Err(failure) if fetch.facts.is_on_stdout() || !template.can_repeat() => {
                    return Err(failure);
                }
                Err(failure) => match tries.behind_failure(&failure) {
                    Some(pause) => pause,
                    None => return Err(failure),
                },
            };
            tokio::time::sleep(pause).await;
            (fetch.uri, fetch.template) = (uri.clone(), template.clone());
            let before = std::mem::replace(&mut fetch.facts, Facts::new(uri.clone()));
            fetch.facts.began = before.began;
            fetch.facts.note_fragment(&before.given);
            (fetch.facts.given, fetch.facts.number) = (before.given, before.number);
            fetch.facts.connects = before.connects;
            fetch.facts.retries = before.retries + 1;
        }
    }
}
