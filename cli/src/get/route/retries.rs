//! The flags of repetitions.

use crate::failure::Failure;
use crate::get::exit;
use crate::get::given::seconds;
use clap::Args;
use http::header::{HeaderMap, RETRY_AFTER};
use http::{Response, StatusCode};
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::time::{Duration, Instant, SystemTime};

/// The statuses behind which curl tries again.
const STATUSES: [StatusCode; 6] = [
    StatusCode::REQUEST_TIMEOUT,
    StatusCode::TOO_MANY_REQUESTS,
    StatusCode::INTERNAL_SERVER_ERROR,
    StatusCode::BAD_GATEWAY,
    StatusCode::SERVICE_UNAVAILABLE,
    StatusCode::GATEWAY_TIMEOUT,
];

/// The first pause and the longest one that grew from it.
const PAUSES: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(10)];
/// The longest pause that a server is granted, curl's longest of its own.
const ASKED_MAX: Duration = Duration::from_secs(600);

/// When a URL is tried again.
#[derive(Args)]
pub(in crate::get) struct RetryOptions {
    /// Times to try again after errors that can pass and the statuses 408, 429, 500, 502, 503 and 504, with pauses that
    /// grow or that the server asks for; requests of any method, POST too.
    #[arg(long, value_name = "TIMES", value_parser = clap::value_parser!(u32).range(0..=100))]
    retry: Option<u32>,
    /// Seconds before each further try, in place of pauses that grow.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    retry_delay: Option<Duration>,
    /// Seconds from the first try behind which no other one begins.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    retry_max_time: Option<Duration>,
    /// Try again after every failure of the network or the server, with -f after every status of 400 or more.
    #[arg(long)]
    retry_all_errors: bool,
    /// Try again where no connection opens: done in any case with --retry.
    #[arg(long)]
    retry_connrefused: bool,
}

impl RetryOptions {
    /// The further tries of a URL whose first one begins.
    pub(in crate::get) fn tries(&self) -> Tries<'_> {
        Tries {
            options: self,
            began: Instant::now(),
            made: 0,
        }
    }
}

/// The further tries of a URL.
pub(in crate::get) struct Tries<'a> {
    options: &'a RetryOptions,
    began: Instant,
    made: u32,
}

impl Tries<'_> {
    /// The pause before another try behind this response; `None`: it is the URL's.
    pub(in crate::get) fn behind_response<B>(
        &mut self,
        response: &Response<B>,
    ) -> Option<Duration> {
        match STATUSES.contains(&response.status()) {
            true => self.pause(asked(response.headers())),
            false => None,
        }
    }
    /// The pause before another try behind this failure; `None`: it is the URL's.
    pub(in crate::get) fn behind_failure(&mut self, failure: &Failure) -> Option<Duration> {
        match exit::can_pass(failure.code(), self.options.retry_all_errors) {
            true => self.pause(None),
            false => None,
        }
    }
    /// Counts a further try, unless there is none.
    fn pause(&mut self, asked: Option<Duration>) -> Option<Duration> {
        if self.made >= self.options.retry.unwrap_or(0) {
            return None;
        }
        // 0 is no delay of one's own, as with curl.
        let fixed = self.options.retry_delay.filter(|time| !time.is_zero());
        let pause = asked.or(fixed).unwrap_or_else(|| grown(self.made));
        // 0 is no bound.
        let longest = self.options.retry_max_time.filter(|time| !time.is_zero());
        if pause > ASKED_MAX || longest.is_some_and(|max| self.began.elapsed() + pause > max) {
            return None;
        }
        self.made += 1;
        Some(pause)
    }
}

/// The pause before the first further try, which doubles for each other one: half of it and a random part of the other
/// half, so that clients do not come back at once.
fn grown(made: u32) -> Duration {
    let [first, max] = PAUSES;
    let whole = first
        .saturating_mul(1_u32.checked_shl(made).unwrap_or(u32::MAX))
        .min(max);
    // Its keys are random.
    let random = RandomState::new().build_hasher().finish();
    whole / 2 + whole / 2048 * (random % 1024) as u32
}

/// The time that `retry-after` asks for: seconds, or a date (RFC 9110 section 10.2.3).
fn asked(fields: &HeaderMap) -> Option<Duration> {
    let text = fields.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse::<u32>() {
        return Some(Duration::from_secs(seconds.into()));
    }
    let date = httpdate::parse_http_date(text).ok()?;
    // One that has passed: at once.
    Some(
        date.duration_since(SystemTime::now())
            .unwrap_or(Duration::ZERO),
    )
}

#[cfg(test)]
#[path = "retries_test.rs"]
mod retries_test;
