//! Requests that are sent again after an error or a status that says "later": which, when, and how many in
//! all, so that a server in trouble does not get a multiple of its load.

use crate::error::{Error, Retry};
use http::header::{HeaderMap, RETRY_AFTER};
use http::{Method, Response, StatusCode};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};
use trunkline_core::budget::{Budget, Rate};
use trunkline_core::http::idempotence::is_idempotent;

/// Which requests a client sends again. Without one it repeats what no peer has processed (refused streams,
/// GOAWAY), up to the bounds of its pool, and nothing else.
///
/// Repeated are requests whose body is not a stream:
/// - after an error with [`Retry::Safe`], of any method;
/// - of an idempotent method (RFC 9110 section 9.2.2), or of [`any_method`](Self::any_method), after an error with
///   [`Retry::OnlyIfIdempotent`], and after a response with one of the [`statuses`](Self::statuses).
///
/// An error of a body behind its head is its reader's: nothing is repeated then. The request's total
/// timeout goes on over all of it.
///
/// ```
/// use std::time::Duration;
/// use trunkline::client::RetryPolicy;
///
/// let client = trunkline::Client::builder()
///     .retry(RetryPolicy::new(3).pauses(Duration::from_millis(50), Duration::from_secs(5)))
///     .build()?;
/// # Ok::<(), trunkline::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct RetryPolicy {
    max: u32,
    statuses: Vec<StatusCode>,
    pause: Duration,
    pause_max: Duration,
    share: f32,
    any_method: bool,
}

impl RetryPolicy {
    /// Up to `max` repetitions of one request.
    pub fn new(max: u32) -> Self {
        Self {
            max,
            statuses: vec![
                StatusCode::TOO_MANY_REQUESTS,
                StatusCode::BAD_GATEWAY,
                StatusCode::SERVICE_UNAVAILABLE,
                StatusCode::GATEWAY_TIMEOUT,
            ],
            pause: Duration::from_millis(100),
            pause_max: Duration::from_secs(10),
            share: 0.2,
            any_method: false,
        }
    }
    /// The statuses after which a request is repeated. Default: 429, 502, 503 and 504.
    pub fn statuses(mut self, statuses: impl Into<Vec<StatusCode>>) -> Self {
        self.statuses = statuses.into();
        self
    }
    /// Whether requests of any method are repeated, and not those of idempotent methods alone: for servers that process a
    /// request twice without harm. Default: false.
    pub fn any_method(mut self, repeats: bool) -> Self {
        self.any_method = repeats;
        self
    }
    /// The pause before the first repetition, which doubles for each further one up to `max`; a random part of
    /// it, a half at least, is waited. A `retry-after` of the response takes its place; where
    /// that is longer than `max`, the response is given out. Default 100 ms and 10 s.
    pub fn pauses(mut self, first: Duration, max: Duration) -> Self {
        (self.pause, self.pause_max) = (first, max);
        self
    }
    /// The repetitions of the whole client, as a share of its requests: 0.2 is one for five requests.
    /// Beside that share it has ten, of which one comes back each second. From 0 to 10; default 0.2.
    pub fn share(mut self, share: f32) -> Self {
        self.share = share;
        self
    }
}

/// A policy with its client's budget.
#[derive(Debug)]
pub(in crate::client) struct Retries {
    policy: RetryPolicy,
    budget: Mutex<Repetitions>,
}

/// Repetitions that may be made.
#[derive(Debug)]
struct Repetitions {
    /// Thousandths, earned by requests.
    earned: u64,
    /// For a client with few requests.
    reserve: Budget,
}

/// Repetitions, ten at once and one a second, that need no requests to be earned.
const RESERVE: Rate = Rate {
    burst: 10,
    per_second: 1,
};
/// Repetitions that may be saved up, in thousandths: a hundred.
const EARNED_MAX: u64 = 100_000;
/// More than ten repetitions for each request are meant as no bound at all.
const SHARE_MAX: f32 = 10.0;

impl Retries {
    /// # Errors
    /// Names the setting that is out of its range.
    pub(in crate::client) fn new(policy: RetryPolicy, now: Instant) -> Result<Self, Error> {
        if !(0.0..=SHARE_MAX).contains(&policy.share) {
            return Err(Error::config(format!(
                "the share of retries is {}; it must be from 0 to {SHARE_MAX}",
                policy.share
            )));
        }
        if policy.pause > policy.pause_max {
            return Err(Error::config(format!(
                "the first pause before a retry is {:?}; it must be at most the longest, {:?}",
                policy.pause, policy.pause_max
            )));
        }
        let budget = Repetitions {
            earned: 0,
            reserve: Budget::new(RESERVE, now),
        };
        Ok(Self {
            policy,
            budget: Mutex::new(budget),
        })
    }
    /// Counts a request of the user's.
    pub(in crate::client) fn earn(&self) {
        let points = (self.policy.share * 1000.0) as u64;
        let mut budget = self.budget.lock().unwrap_or_else(PoisonError::into_inner);
        budget.earned = budget.earned.saturating_add(points).min(EARNED_MAX);
    }
    /// The pause after which the request is sent again, for the `count`th time (from 0); `None`: it is
    /// not. `random` is uniform.
    pub(in crate::client) fn pause<B>(
        &self,
        method: &Method,
        outcome: &Result<Response<B>, Error>,
        count: u32,
        random: u64,
        now: Instant,
    ) -> Option<Duration> {
        if count >= self.policy.max {
            return None;
        }
        let may_repeat = self.policy.any_method || is_idempotent(method.as_str().as_bytes());
        let asked = match outcome {
            Ok(response) => {
                let is_one = self.policy.statuses.contains(&response.status());
                if !is_one || !may_repeat {
                    return None;
                }
                retry_after(response.headers())
            }
            Err(error) => match error.retry() {
                Retry::Safe => None,
                Retry::OnlyIfIdempotent if may_repeat => None,
                _ => return None,
            },
        };
        let longest = self.policy.pause_max;
        let pause = match asked {
            Some(asked) if asked > longest => return None,
            Some(asked) => asked,
            None => {
                let factor = 1_u32.checked_shl(count).unwrap_or(u32::MAX);
                let whole = self.policy.pause.saturating_mul(factor).min(longest);
                // Half of it and a random part of the other, so that clients do not come back at once.
                let part = (random % 1024) as u32;
                whole / 2 + whole / 2048 * part
            }
        };
        self.spend(now).then_some(pause)
    }
    fn spend(&self, now: Instant) -> bool {
        let mut budget = self.budget.lock().unwrap_or_else(PoisonError::into_inner);
        if budget.earned >= 1000 {
            budget.earned -= 1000;
            return true;
        }
        budget.reserve.charge(1, now)
    }
}

/// RFC 9110 section 10.2.3: seconds, or a date.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse::<u32>() {
        return Some(Duration::from_secs(seconds.into()));
    }
    let date = httpdate::parse_http_date(text).ok()?;
    // A date that has passed: at once.
    Some(
        date.duration_since(SystemTime::now())
            .unwrap_or(Duration::ZERO),
    )
}

#[cfg(test)]
#[path = "retry_test.rs"]
mod retry_test;
