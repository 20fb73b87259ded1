//! Requests that are sent again, their times and their number.

use super::{Retries, RetryPolicy};
use crate::error::{Error, ErrorKind, Fault, Retry};
use http::{Method, Response};
use std::time::{Duration, Instant, SystemTime};

fn retries(policy: RetryPolicy) -> Retries {
    Retries::new(policy, Instant::now()).unwrap()
}

fn status(status: u16, retry_after: Option<&str>) -> Result<Response<()>, Error> {
    let mut response = Response::builder().status(status);
    if let Some(value) = retry_after {
        response = response.header("retry-after", value);
    }
    Ok(response.body(()).unwrap())
}

#[test]
fn only_what_may_be_processed_twice_is_repeated() {
    let retries = retries(RetryPolicy::new(3).share(1.0));
    let now = Instant::now();
    let repeats = |method: Method, outcome: Result<Response<()>, Error>| {
        retries.earn();
        retries.pause(&method, &outcome, 0, 0, now).is_some()
    };
    let failed = |retry| Err(Error::new(ErrorKind::Connect, Fault::Network, retry));
    for (method, idempotent) in [
        (Method::GET, true),
        (Method::HEAD, true),
        (Method::PUT, true),
        (Method::DELETE, true),
        (Method::POST, false),
        (Method::PATCH, false),
    ] {
        for (code, later) in [
            (200, false),
            (404, false),
            (429, true),
            (500, false),
            (502, true),
            (503, true),
            (504, true),
        ] {
            let got = repeats(method.clone(), status(code, None));
            assert_eq!(got, later && idempotent, "{method} {code}");
        }
        assert!(repeats(method.clone(), failed(Retry::Safe)));
        let got = repeats(method.clone(), failed(Retry::OnlyIfIdempotent));
        assert_eq!(got, idempotent, "{method}");
        assert!(!repeats(method, failed(Retry::Never)));
    }
}

#[test]
fn requests_of_any_method_are_repeated_where_the_policy_allows_it() {
    let retries = retries(RetryPolicy::new(3).share(1.0).any_method(true));
    let now = Instant::now();
    let failed = |retry| Err(Error::new(ErrorKind::Connect, Fault::Network, retry));
    for (outcome, repeats) in [
        (status(503, None), true),
        (status(200, None), false),
        (failed(Retry::OnlyIfIdempotent), true),
        (failed(Retry::Never), false),
    ] {
        retries.earn();
        let pause = retries.pause(&Method::POST, &outcome, 0, 0, now);
        assert_eq!(pause.is_some(), repeats);
    }
}

#[test]
fn pauses_double_up_to_the_longest_and_a_half_of_them_is_random() {
    let (first, longest) = (Duration::from_millis(100), Duration::from_millis(500));
    let retries = retries(RetryPolicy::new(9).pauses(first, longest));
    let now = Instant::now();
    let of = |count, random| {
        let outcome = status(503, None);
        let pause = retries.pause(&Method::GET, &outcome, count, random, now);
        pause.unwrap().as_millis()
    };
    assert_eq!(of(0, 0), 50);
    assert!((98..=100).contains(&of(0, 1023)));
    assert_eq!(of(1, 0), 100);
    assert_eq!(of(2, 0), 200);
    assert_eq!(of(3, 0), 250);
    assert_eq!(of(8, 0), 250);
    assert!(
        retries
            .pause(&Method::GET, &status(503, None), 9, 0, now)
            .is_none()
    );
}

#[test]
fn retry_after_takes_the_place_of_the_pause_unless_it_is_too_long() {
    let retries = retries(RetryPolicy::new(3));
    let now = Instant::now();
    let of = |value: &str| retries.pause(&Method::GET, &status(503, Some(value)), 0, 0, now);
    assert_eq!(of("0"), Some(Duration::ZERO));
    assert_eq!(of("7"), Some(Duration::from_secs(7)));
    assert_eq!(of("11"), None);
    assert_eq!(of("Thu, 01 Jan 1970 00:00:00 GMT"), Some(Duration::ZERO));
    let far = SystemTime::now() + Duration::from_secs(3600);
    assert_eq!(of(&httpdate::fmt_http_date(far)), None);
    // No valid value: as without one.
    assert_eq!(of("soon"), Some(Duration::from_millis(50)));
}

#[test]
fn the_client_repeats_a_share_of_its_requests_beside_a_small_reserve() {
    let retries = retries(RetryPolicy::new(u32::MAX).share(0.5));
    let now = Instant::now();
    let spend = || {
        let outcome = status(503, None);
        retries.pause(&Method::GET, &outcome, 0, 0, now).is_some()
    };
    assert_eq!((0..30).filter(|_| spend()).count(), 10, "the reserve");
    for _ in 0..8 {
        retries.earn();
    }
    assert_eq!((0..30).filter(|_| spend()).count(), 4, "half of eight");
    for _ in 0..100_000 {
        retries.earn();
    }
    assert_eq!((0..300).filter(|_| spend()).count(), 100, "saved up");
}

#[test]
fn a_policy_out_of_its_range_is_refused_with_its_value() {
    let new = |policy| Retries::new(policy, Instant::now());
    let error = new(RetryPolicy::new(1).share(11.0)).unwrap_err();
    assert!(error.to_string().contains("11; it must be from 0 to 10"));
    assert!(new(RetryPolicy::new(1).share(f32::NAN)).is_err());
    let pauses = RetryPolicy::new(1).pauses(Duration::from_secs(2), Duration::from_secs(1));
    assert!(new(pauses).unwrap_err().to_string().contains("2s"));
}
