use super::*;
use std::time::Duration;

timer_kinds! {
    /// Three kinds, two of which many tests need.
    enum Kind {
        First,
        Second,
        Third,
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "virtual time needs a first instant"
)]
fn start() -> Instant {
    Instant::now()
}

#[test]
fn an_empty_table_has_no_deadline() {
    let mut timers = TimerTable::<Kind>::new(start());
    assert_eq!(timers.next(), None);
    assert_eq!(timers.expire(start()), None);
}

#[test]
fn a_deadline_is_kept_to_the_nanosecond_and_for_centuries() {
    let t = start();
    let mut timers = TimerTable::<Kind>::new(t);
    for after in [
        Duration::from_nanos(1),
        Duration::from_secs(86_400 * 365 * 500),
    ] {
        timers.set(Kind::First, t + after);
        assert_eq!(timers.next(), Some(t + after));
        assert_eq!(timers.expire(t + after - Duration::from_nanos(1)), None);
        assert_eq!(timers.expire(t + after), Some(Kind::First));
    }
}

#[test]
fn a_deadline_behind_a_moment_is_the_same_as_one_at_its_instant() {
    let t = start();
    let now = t + Duration::from_millis(1234);
    let mut timers = TimerTable::<Kind>::new(t);
    for after in [
        Duration::ZERO,
        Duration::new(7, 89),
        Duration::from_secs(86_400),
    ] {
        timers.set_after(Kind::First, timers.moment(now), after);
        assert_eq!(timers.get(Kind::First), Some(now + after));
    }
    // One that never comes is a deadline all the same.
    timers.set_after(Kind::First, timers.moment(now), Duration::MAX);
    assert!(timers.is_set(Kind::First));
    assert_eq!(timers.expire(now + Duration::from_secs(86_400)), None);
}

#[test]
fn a_deadline_before_the_table_was_made_is_due_at_once() {
    let t = start();
    let mut timers = TimerTable::<Kind>::new(t);
    timers.set(Kind::Second, t - Duration::from_secs(1));
    assert_eq!(timers.expire(t), Some(Kind::Second));
}

#[test]
fn the_earliest_deadline_is_next() {
    let t = start();
    let mut timers = TimerTable::<Kind>::new(t);
    timers.set(Kind::First, t + Duration::from_secs(3));
    timers.set(Kind::Third, t + Duration::from_secs(1));
    assert_eq!(timers.next(), Some(t + Duration::from_secs(1)));
    timers.set(Kind::Third, t + Duration::from_secs(5));
    assert_eq!(
        timers.next(),
        Some(t + Duration::from_secs(3)),
        "it was moved"
    );
    timers.stop(Kind::First);
    assert_eq!(timers.next(), Some(t + Duration::from_secs(5)));
    assert_eq!(
        (timers.get(Kind::First), timers.get(Kind::Third)),
        (None, Some(t + Duration::from_secs(5)))
    );
}

#[test]
fn a_deadline_expires_at_its_instant_and_once() {
    let t = start();
    let mut timers = TimerTable::<Kind>::new(t - Duration::from_secs(1));
    timers.set(Kind::Second, t);
    assert_eq!(timers.expire(t - Duration::from_nanos(1)), None);
    assert_eq!(timers.expire(t), Some(Kind::Second));
    assert_eq!(timers.expire(t), None);
    assert_eq!(timers.next(), None);
}

#[test]
fn all_that_is_due_expires_one_by_one() {
    let t = start();
    let mut timers = TimerTable::<Kind>::new(t);
    for (seconds, &kind) in (0..).zip(Kind::ALL) {
        timers.set(kind, t + Duration::from_secs(seconds));
    }
    let now = t + Duration::from_secs(1);
    let due: Vec<_> = std::iter::from_fn(|| timers.expire(now)).collect();
    assert_eq!(due, [Kind::First, Kind::Second]);
    assert_eq!(timers.next(), Some(t + Duration::from_secs(2)));
}

#[test]
fn postponed_deadlines_are_all_as_much_later_and_none_is_made() {
    let t = start();
    let mut timers = TimerTable::<Kind>::new(t);
    timers.set(Kind::First, t + Duration::from_secs(3));
    timers.set(Kind::Third, t + Duration::from_secs(1));
    timers.postpone(Duration::from_secs(10));
    assert_eq!(timers.get(Kind::First), Some(t + Duration::from_secs(13)));
    assert_eq!(timers.get(Kind::Second), None);
    assert_eq!(timers.next(), Some(t + Duration::from_secs(11)));
    timers.postpone(Duration::MAX);
    assert!(timers.is_set(Kind::First) && !timers.is_set(Kind::Second));
}
