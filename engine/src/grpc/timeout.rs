//! The field `grpc-timeout`: up to eight digits and a unit (the specification of gRPC over HTTP/2, "Requests").

use http::HeaderValue;
use std::time::Duration;

const DIGITS_MAX: usize = 8;

/// The time; `None`: it is none, and the call has no deadline.
pub(super) fn of(value: &HeaderValue) -> Option<Duration> {
    let (digits, unit) = value
        .to_str()
        .ok()?
        .split_at_checked(value.len().checked_sub(1)?)?;
    if digits.len() > DIGITS_MAX || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let count: u64 = digits.parse().ok()?;
    Some(match unit {
        "H" => Duration::from_secs(count * 3600),
        "M" => Duration::from_secs(count * 60),
        "S" => Duration::from_secs(count),
        "m" => Duration::from_millis(count),
        "u" => Duration::from_micros(count),
        "n" => Duration::from_nanos(count),
        _ => return None,
    })
}

#[cfg(test)]
#[path = "timeout_test.rs"]
mod timeout_test;
