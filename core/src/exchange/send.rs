//! Rules for the message that our user gives (RFC 9110 section 6): which part may go out when, and
//! whether content is as long as the head said. A broken rule is a [`Misuse`], and nothing is sent.
//!
//! ```text
//! Head --final head--> Content --end or trailers--> Ended
//!                      Content --peer stopped us--> Stopped
//! ```

use super::MethodKind;
use crate::error::{Misuse, Violation};
use crate::http::body::length::Expected;
use crate::http::head::validate_trailers;
use crate::http::{Fields, RequestHead, ResponseHead, Version};

#[cfg(test)]
#[path = "send_test.rs"]
mod send_test;

/// The part of our message that the user gives next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SentPart {
    /// Server: the final response head.
    Head,
    /// Content or trailers.
    Content,
    /// Nothing; some of what was given may wait.
    Ended,
    /// Client: the peer stopped us, the response is on its way (RFC 9114 section 4.1). What the user
    /// gives is discarded.
    Stopped,
}

/// How much of our message the user has given.
#[derive(Debug)]
pub(crate) struct Sent {
    /// Content still to be given, where content-length says so.
    length: Expected,
    part: SentPart,
}

impl Sent {
    /// Server: nothing of the response.
    #[inline]
    pub(crate) fn awaiting_response() -> Self {
        Self {
            length: Expected::any(),
            part: SentPart::Head,
        }
    }
    /// Client: a request's head; `end`: and nothing else.
    ///
    /// # Errors
    /// [`Misuse::BodyLength`] when the end contradicts content-length.
    #[inline]
    pub(crate) fn request(head: &RequestHead, end: bool) -> Result<Self, Misuse> {
        let mut sent = Self::awaiting_response();
        sent.begin(Expected::of_request(head), end)?;
        Ok(sent)
    }

    fn begin(&mut self, mut length: Expected, end: bool) -> Result<(), Misuse> {
        count_content(&mut length, 0, end)?;
        self.length = length;
        self.part = match end {
            true => SentPart::Ended,
            false => SentPart::Content,
        };
        Ok(())
    }

    /// Server: the final head; `end`: and nothing else. `method` is the request's.
    ///
    /// # Errors
    /// [`Misuse::StreamNotOpen`] when it was given before; [`Misuse::BodyLength`] when the end
    /// contradicts content-length.
    #[inline]
    pub(crate) fn respond(
        &mut self,
        method: MethodKind,
        head: &ResponseHead,
        end: bool,
    ) -> Result<(), Misuse> {
        if !self.awaits_head() {
            return Err(Misuse::StreamNotOpen);
        }
        self.begin(Expected::of_response(method.as_bytes(), head), end)
    }

    /// Server: checks a final head with all of its content, `bytes` of it.
    ///
    /// # Errors
    /// [`Misuse::BodyLength`] when content-length is another.
    #[inline]
    pub(crate) fn check_answer(
        method: MethodKind,
        head: &ResponseHead,
        bytes: usize,
    ) -> Result<(), Misuse> {
        match Expected::of_response(method.as_bytes(), head).is_met_by(bytes as u64) {
            true => Ok(()),
            false => Err(Misuse::BodyLength),
        }
    }

    /// `bytes` of content; `end`: and nothing else. False: they are discarded.
    ///
    /// # Errors
    /// [`Misuse::StreamNotOpen`] where no content is due; [`Misuse::BodyLength`] when content-length
    /// is another.
    #[inline]
    pub(crate) fn content(&mut self, bytes: usize, end: bool) -> Result<bool, Misuse> {
        match self.part {
            SentPart::Content => {}
            SentPart::Stopped => return Ok(false),
            SentPart::Head | SentPart::Ended => return Err(Misuse::StreamNotOpen),
        }
        count_content(&mut self.length, bytes, end)?;
        if end {
            self.part = SentPart::Ended;
        }
        Ok(true)
    }

    /// Trailers that [`check_trailers`] allows. False: they are discarded.
    ///
    /// # Errors
    /// As [`content`](Self::content).
    pub(crate) fn trailers(&mut self) -> Result<bool, Misuse> {
        self.content(0, true)
    }

    /// Our message is complete.
    #[inline]
    pub(crate) fn finish(&mut self) {
        self.part = SentPart::Ended;
    }
    /// The peer takes no more of it.
    pub(crate) fn stop(&mut self) {
        self.part = SentPart::Stopped;
    }

    /// Whether the final head is due.
    #[inline]
    pub(crate) fn awaits_head(&self) -> bool {
        self.part == SentPart::Head
    }
    /// Whether content is due.
    #[inline]
    pub(crate) fn takes_content(&self) -> bool {
        self.part == SentPart::Content
    }
    #[inline]
    pub(crate) fn is_ended(&self) -> bool {
        self.part == SentPart::Ended
    }
}

/// Counts `bytes` of content that we send against content-length (RFC 9110 section 8.6); `end`: and
/// nothing else.
///
/// # Errors
/// [`Misuse::BodyLength`] when content-length is another; then nothing is counted.
#[inline]
pub(crate) fn count_content(length: &mut Expected, bytes: usize, end: bool) -> Result<(), Misuse> {
    let mut rest = *length;
    if rest.receive(bytes as u64).is_err() || end && rest.end().is_err() {
        return Err(Misuse::BodyLength);
    }
    *length = rest;
    Ok(())
}

/// A 1xx before the final head. 101 is a final head on HTTP/1.1 and does not exist on other versions
/// (RFC 9113 section 8.6, RFC 9114 section 4.5).
///
/// # Errors
/// [`Violation::StatusInvalid`] for every other status.
pub(crate) fn check_interim(head: &ResponseHead) -> Result<(), Misuse> {
    match head.is_interim() && head.status != 101 {
        true => Ok(()),
        false => Err(Misuse::Invalid(Violation::StatusInvalid)),
    }
}

/// A head that ends the interim ones (RFC 9110 section 15.2).
///
/// # Errors
/// [`Violation::StatusInvalid`] for a 1xx.
#[inline]
pub(crate) fn check_final(head: &ResponseHead) -> Result<(), Misuse> {
    match head.is_interim() {
        true => Err(Misuse::Invalid(Violation::StatusInvalid)),
        false => Ok(()),
    }
}

/// Trailers (RFC 9110 section 6.5.1).
///
/// # Errors
/// The rule that a field breaks.
pub(crate) fn check_trailers(trailers: &Fields, version: Version) -> Result<(), Misuse> {
    validate_trailers(trailers, version).map_err(Misuse::Invalid)
}
