//! Responses: their heads, bodies and trailers on their way to files and to standard output.

use super::heads;
use super::pace::Pace;
use super::trace::Trace;
use super::write_out::{self, Facts};
use super::{Opening, Output, coding, declared, resume, set_time, shown};
use crate::failure::{Diagnostics, Failure, report};
use crate::get::{Fetch, Get, exit};
use http::header::LAST_MODIFIED;
use http::{HeaderMap, Response};
use http_body_util::BodyExt;
use std::io::Write as _;
use trunkline::Body;

impl Get {
    /// Writes a response to its place, or refuses it.
    pub(in crate::get) async fn deliver(
        &self,
        trace: &Trace,
        fetch: &mut Fetch,
        response: Response<Body>,
        from: u64,
        written_heads: &[u8],
    ) -> Result<(), Failure> {
        let (head, body) = response.into_parts();
        let mut refusal = (head.status.as_u16() >= 400).then(|| {
            let text = format!("the server answered {}", head.status);
            Failure::new(exit::STATUS, text)
        });
        let is_end = from > 0 && resume::is_beyond_end(head.status, &head.headers);
        if let Some(refusal) = refusal.take_if(|_| self.options.fail && !is_end) {
            self.write_refused(fetch, &head.headers, written_heads)?;
            return Err(refusal);
        }
        let declared = declared(&head.headers);
        if from > 0
            && !self.options.head
            && resume::is_whole(head.status, &head.headers, declared, from)?
        {
            return Ok(());
        }
        let fields = head.headers.clone();
        self.options.output.check_size(declared.unwrap_or(0))?;
        let (path, existing) = self.options.output.path(&fetch.place, &head.headers)?;
        fetch.facts.file = shown(path.as_deref());
        let path = path.filter(|_| self.options.writes(head.status));
        let mut output = Output::to(
            path.as_deref(),
            Opening {
                from,
                expected: declared,
                existing,
                creates_folders: self.options.output.create_dirs,
                is_silent: self.options.output.hides_progress(),
            },
        );
        let response = Response::from_parts(head, body);
        let written = self.write_response(
            trace,
            &mut fetch.facts,
            response,
            written_heads,
            &mut output,
        );
        let written = written.await;
        fetch.place.note_opened(output.opened_file());
        if let Some(opened) = output.opened_file() {
            fetch.facts.file = shown(Some(opened));
        }
        written?;
        // With the tag of a part the rest would never be asked for.
        let creates_folders = self.options.output.create_dirs;
        self.options.conditions.save(&fields, creates_folders)?;
        if let Some(path) = output
            .opened_file()
            .filter(|_| self.options.output.remote_time)
        {
            set_time(path, fields.get(LAST_MODIFIED));
        }
        trace.end();
        match refusal.filter(|_| self.options.fail_with_body) {
            Some(refusal) => Err(refusal),
            None => Ok(()),
        }
    }

    /// Writes a response, its heads too where -i or -I asks for them.
    async fn write_response(
        &self,
        trace: &Trace,
        facts: &mut Facts,
        response: Response<Body>,
        written_heads: &[u8],
        output: &mut Output,
    ) -> Result<(), Failure> {
        if self.options.output.include || self.options.head {
            output.write(written_heads)?;
        }
        let body = match self.options.decodes() {
            true => {
                let (body, came) = coding::decoded(response)?;
                facts.coded_bytes = Some(came);
                body
            }
            false => response.into_body(),
        };
        let trailers = match self.options.head {
            // With -X it is not HEAD; nothing but the head is written all the same.
            true => Vec::new(),
            false => self.copy(trace, facts, body, output).await?,
        };
        if self.options.output.include {
            output.write(&trailers)?;
        }
        output.close()?;
        self.heads.borrow_mut().write(&trailers)
    }

    /// Writes the head alone of a response that is an error, where -i or -I asks for it.
    pub(in crate::get) fn write_refused(
        &self,
        fetch: &Fetch,
        fields: &HeaderMap,
        written_heads: &[u8],
    ) -> Result<(), Failure> {
        let output = &self.options.output;
        if !output.include && !self.options.head {
            return Ok(());
        }
        let (path, existing) = output.path(&fetch.place, fields)?;
        let opening = Opening {
            existing,
            creates_folders: output.create_dirs,
            ..Opening::silent()
        };
        let mut output = Output::to(path.as_deref(), opening);
        output.write(written_heads)?;
        output.close()
    }

    /// Writes a body; its trailers as -i has them.
    async fn copy(
        &self,
        trace: &Trace,
        facts: &mut Facts,
        mut body: Body,
        output: &mut Output,
    ) -> Result<Vec<u8>, Failure> {
        let mut trailers = Vec::new();
        let mut pace = Pace::new(self.options.limit_rate);
        let mut slow = self.options.slow.watch();
        loop {
            let frame = match &mut slow {
                Some(slow) => slow.next(body.frame()).await?,
                None => body.frame().await,
            };
            let Some(frame) = frame else {
                break;
            };
            let frame = frame.map_err(|error| exit::of(&trace.failed(error), true))?;
            trace.frame(&frame);
            let data = match frame.into_data() {
                Ok(data) => data,
                Err(frame) => {
                    trailers = heads::fields_text(&frame.into_trailers().unwrap_or_default());
                    continue;
                }
            };
            facts.body_bytes += data.len() as u64;
            if let Some(slow) = &mut slow {
                slow.count(data.len());
            }
            self.options.output.check_size(facts.body_bytes)?;
            output.write(&data)?;
            pace.spend(data.len()).await;
        }
        Ok(trailers)
    }

    /// Writes what -w has behind a URL.
    pub(in crate::get) fn write_out(&self, facts: &Facts) -> Result<(), Failure> {
        let Some(format) = &self.format else {
            return Ok(());
        };
        let filled = write_out::filled(format, facts);
        for name in filled.unknown {
            report!("trunkline: -w knows no variable {name:?}");
        }
        // Standard error may be closed: what is said there is beside the work.
        let _ = Diagnostics.write_all(filled.err.as_bytes());
        let mut output = Output::to(None, Opening::default());
        output.write(filled.out.as_bytes())?;
        output.close()
    }
}
