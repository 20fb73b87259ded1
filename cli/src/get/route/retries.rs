//! The flags of repetitions.

use crate::get::given::seconds;
use clap::Args;
use http::StatusCode;
use std::time::Duration;
use trunkline::client::RetryPolicy;

/// The statuses behind which curl tries again.
const STATUSES: [StatusCode; 6] = [
    StatusCode::REQUEST_TIMEOUT,
    StatusCode::TOO_MANY_REQUESTS,
    StatusCode::INTERNAL_SERVER_ERROR,
    StatusCode::BAD_GATEWAY,
    StatusCode::SERVICE_UNAVAILABLE,
    StatusCode::GATEWAY_TIMEOUT,
];

/// The longest pause, unless the first one is longer.
const PAUSE_MAX: Duration = Duration::from_secs(10);

/// When a URL is tried again.
#[derive(Args)]
pub(in crate::get) struct RetryOptions {
    /// Times to try again after errors that can pass and the statuses 408, 429, 500, 502, 503 and 504, with pauses that
    /// grow or that the server asks for; requests of any method, POST too.
    #[arg(long, value_name = "TIMES", value_parser = clap::value_parser!(u32).range(0..=100))]
    retry: Option<u32>,
    /// Seconds before the first further try, from which the pauses grow.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    retry_delay: Option<Duration>,
    /// Try again where no connection opens: done in any case with --retry.
    #[arg(long)]
    retry_connrefused: bool,
}

impl RetryOptions {
    /// The policy; `None`: nothing is repeated.
    pub(in crate::get) fn policy(&self) -> Option<RetryPolicy> {
        let times = self.retry.filter(|times| *times > 0)?;
        let policy = RetryPolicy::new(times)
            .share(1.0)
            .statuses(STATUSES)
            .any_method(true);
        // 0 is no delay of one's own, as with curl.
        Some(match self.retry_delay.filter(|time| !time.is_zero()) {
            Some(time) => policy.pauses(time, time.max(PAUSE_MAX)),
            None => policy,
        })
    }
}
