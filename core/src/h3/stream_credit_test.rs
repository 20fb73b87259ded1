use super::StreamCredit;
use crate::error::Violation;
use std::time::Instant;

/// The start of virtual time: any instant will do.
#[allow(clippy::disallowed_methods, reason = "only a start, never read again")]
fn start() -> Instant {
    Instant::now()
}

#[test]
fn the_limit_is_granted_from_the_start_and_one_more_is_too_many() {
    let now = start();
    let mut credit = StreamCredit::new(100, now);
    for _ in 0..100 {
        assert_eq!(credit.opened(now), Ok(()));
    }
    assert_eq!(credit.opened(now), Err(Violation::StreamCreditExceeded));
    assert_eq!(credit.open(), 100);
}

#[test]
fn credit_comes_back_an_eighth_at_a_time() {
    let now = start();
    let mut credit = StreamCredit::new(256, now);
    let mut grants = Vec::new();
    for _ in 0..256 {
        assert_eq!(credit.opened(now), Ok(()));
        credit.closed();
        grants.extend(credit.grant(now));
    }
    let eighths: Vec<u64> = (1..=8).map(|eighth| 256 + 32 * eighth).collect();
    assert_eq!(grants, eighths);
}

#[test]
fn a_client_that_is_blocked_gets_what_is_free_at_once() {
    let now = start();
    let mut credit = StreamCredit::new(100, now);
    for _ in 0..100 {
        assert_eq!(credit.opened(now), Ok(()));
    }
    assert_eq!(credit.blocked(now), None, "nothing is free");
    credit.closed();
    assert_eq!(credit.grant(now), Some(101), "it waits: one is enough");
}

#[test]
fn a_limit_of_one_is_granted_one_by_one() {
    let now = start();
    let mut credit = StreamCredit::new(1, now);
    for count in 1..100 {
        assert_eq!(credit.opened(now), Ok(()));
        assert_eq!(credit.opened(now), Err(Violation::StreamCreditExceeded));
        credit.closed();
        assert_eq!(credit.grant(now), Some(1 + count));
    }
}

#[test]
fn a_hundred_thousand_streams_fit_any_limit_at_any_concurrency_up_to_it() {
    let now = start();
    let cases: [(u32, u32); 5] = [(100, 1), (100, 100), (256, 255), (256, 256), (3, 3)];
    for (limit, at_once) in cases {
        let mut credit = StreamCredit::new(limit, now);
        for _ in 0..at_once {
            assert_eq!(credit.opened(now), Ok(()));
        }
        let mut announced = u64::from(limit);
        let mut opened = u64::from(at_once);
        while opened < 100_000 {
            credit.closed();
            announced = credit.grant(now).unwrap_or(announced);
            if opened == announced {
                announced = credit.blocked(now).unwrap_or(announced);
            }
            assert!(opened < announced, "{limit} {at_once}: it never runs dry");
            assert_eq!(credit.opened(now), Ok(()));
            opened += 1;
            assert!(announced <= opened + u64::from(limit) - u64::from(at_once));
        }
    }
}
