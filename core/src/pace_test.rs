use super::*;
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

#[expect(
    clippy::disallowed_methods,
    reason = "virtual time needs one real instant to count from"
)]
fn start() -> Instant {
    Instant::now()
}

/// So many bytes come each second, and are read at once: when the peer's time is up.
fn ends_after(bytes: u64, seconds: u32) -> Option<(u32, Violation)> {
    let (timeouts, began) = (Timeouts::default(), start());
    let mut pace = Pace::new(began, 0);
    for second in 1..=seconds {
        let now = began + SECOND * second;
        pace.receive(now);
        pace.take(now);
        if let Err(violation) = pace.check(now, &timeouts, bytes * u64::from(second)) {
            return Some((second, violation));
        }
    }
    None
}

#[test]
fn a_peer_that_dribbles_is_too_slow_and_one_that_is_slow_but_fast_enough_is_not() {
    assert_eq!(ends_after(1, 60), Some((10, Violation::BodyTooSlow)));
    assert_eq!(ends_after(1023, 60), Some((10, Violation::BodyTooSlow)));
    assert_eq!(ends_after(1024, 600), None);
}

#[test]
fn a_peer_that_stops_is_given_up_after_the_idle_time() {
    let timeouts = Timeouts {
        rate_min: 0,
        ..Timeouts::default()
    };
    let began = start();
    let mut pace = Pace::new(began, 0);
    assert_eq!(
        pace.check(began + 29 * SECOND, &timeouts, 0),
        Ok(Some(began + 30 * SECOND))
    );
    pace.receive(began + 29 * SECOND);
    pace.take(began + 29 * SECOND);
    assert_eq!(
        pace.check(began + 58 * SECOND, &timeouts, 0),
        Ok(Some(began + 59 * SECOND))
    );
    let late = pace.check(began + 59 * SECOND, &timeouts, 0);
    assert_eq!(late, Err(Violation::BodyTimeout));
}

#[test]
fn the_time_in_which_bytes_lie_with_our_user_is_not_the_peers() {
    let (timeouts, began) = (Timeouts::default(), start());
    let mut pace = Pace::new(began, 0);
    pace.receive(began + 9 * SECOND);
    // Our user takes a minute for it.
    pace.take(began + 69 * SECOND);
    let look = pace.check(began + 69 * SECOND, &timeouts, 0);
    assert_eq!(
        look,
        Ok(Some(began + 70 * SECOND)),
        "nine of ten seconds are over"
    );
    let slow = pace.check(began + 70 * SECOND, &timeouts, 0);
    assert_eq!(slow, Err(Violation::BodyTooSlow));
}

#[test]
fn bodies_that_share_a_slow_line_are_not_slow() {
    let (timeouts, began) = (Timeouts::default(), start());
    let mut pace = Pace::new(began, 7);
    let carried = 7 + 10 * 1024;
    let look = pace.check(began + 10 * SECOND, &timeouts, carried);
    assert_eq!(look, Ok(Some(began + 20 * SECOND)));
    let slow = pace.check(began + 20 * SECOND, &timeouts, carried + 10 * 1024 - 1);
    assert_eq!(slow, Err(Violation::BodyTooSlow));
}

#[test]
fn a_peer_that_is_not_the_one_to_act_has_all_its_time_again() {
    let (timeouts, began) = (Timeouts::default(), start());
    let mut pace = Pace::new(began, 0);
    pace.restart(began + 9 * SECOND, 0);
    let look = pace.check(began + 18 * SECOND, &timeouts, 0);
    assert_eq!(look, Ok(Some(began + 19 * SECOND)));
}
