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

/// The time at which the peer is too slow when `bytes` arrive each second and are read at once.
fn ends_after(bytes: u64, seconds: u32, is_due: bool) -> Option<(u32, Violation)> {
    let (timeouts, began) = (Timeouts::default(), start());
    let mut min_rate = MinRate::new(began, 0);
    for second in 1..=seconds {
        let now = began + SECOND * second;
        min_rate.receive(now);
        min_rate.take(now);
        if let Err(violation) = min_rate.check(now, &timeouts, bytes * u64::from(second), is_due) {
            return Some((second, violation));
        }
    }
    None
}

#[test]
fn a_peer_that_dribbles_is_too_slow_and_one_that_is_slow_but_fast_enough_is_not() {
    assert_eq!(ends_after(1, 60, true), Some((10, Violation::BodyTooSlow)));
    assert_eq!(
        ends_after(1023, 60, true),
        Some((10, Violation::BodyTooSlow))
    );
    assert_eq!(ends_after(1024, 600, true), None);
    let unknown = ends_after(1, 3600, false);
    assert_eq!(unknown, None, "no bytes are due of a body without a length");
}

#[test]
fn a_peer_that_stops_is_given_up_after_the_idle_time() {
    let timeouts = Timeouts {
        rate_min: 0,
        body_idle: Some(30 * SECOND),
        ..Timeouts::default()
    };
    let began = start();
    let mut min_rate = MinRate::new(began, 0);
    assert_eq!(
        min_rate.check(began + 29 * SECOND, &timeouts, 0, true),
        Ok(Some(began + 30 * SECOND))
    );
    min_rate.receive(began + 29 * SECOND);
    min_rate.take(began + 29 * SECOND);
    assert_eq!(
        min_rate.check(began + 58 * SECOND, &timeouts, 0, true),
        Ok(Some(began + 59 * SECOND))
    );
    let late = min_rate.check(began + 59 * SECOND, &timeouts, 0, true);
    assert_eq!(late, Err(Violation::BodyTimeout));
}

#[test]
fn the_time_in_which_bytes_lie_with_our_user_is_not_the_peers() {
    let (timeouts, began) = (Timeouts::default(), start());
    let mut min_rate = MinRate::new(began, 0);
    min_rate.receive(began + 9 * SECOND);
    // Our user takes a minute for it.
    min_rate.take(began + 69 * SECOND);
    let look = min_rate.check(began + 69 * SECOND, &timeouts, 0, true);
    assert_eq!(
        look,
        Ok(Some(began + 70 * SECOND)),
        "nine of ten seconds are over"
    );
    let slow = min_rate.check(began + 70 * SECOND, &timeouts, 0, true);
    assert_eq!(slow, Err(Violation::BodyTooSlow));
}

#[test]
fn bodies_that_share_a_slow_line_are_not_slow() {
    let (timeouts, began) = (Timeouts::default(), start());
    let mut min_rate = MinRate::new(began, 7);
    let carried = 7 + 10 * 1024;
    let look = min_rate.check(began + 10 * SECOND, &timeouts, carried, true);
    assert_eq!(look, Ok(Some(began + 20 * SECOND)));
    let slow = min_rate.check(
        began + 20 * SECOND,
        &timeouts,
        carried + 10 * 1024 - 1,
        true,
    );
    assert_eq!(slow, Err(Violation::BodyTooSlow));
}

#[test]
fn a_peer_that_is_not_the_one_to_act_has_all_its_time_again() {
    let (timeouts, began) = (Timeouts::default(), start());
    let mut min_rate = MinRate::new(began, 0);
    min_rate.restart(began + 9 * SECOND, 0);
    let look = min_rate.check(began + 18 * SECOND, &timeouts, 0, true);
    assert_eq!(look, Ok(Some(began + 19 * SECOND)));
}

#[test]
fn a_body_without_a_length_is_too_slow_once_connections_are_scarce() {
    let (timeouts, began) = (Timeouts::default(), start());
    let mut min_rate = MinRate::new(began, 0);
    let scarcity = Scarcity::shared();
    let of_connection = scarcity.clone();
    for look in 1..=20 {
        let now = began + 10 * SECOND * look;
        min_rate.receive(now);
        min_rate.take(now);
        let again = min_rate.check(now, &timeouts, u64::from(look), of_connection.is_set());
        assert_eq!(again, Ok(Some(now + 10 * SECOND)));
    }
    scarcity.set(true);
    let late = min_rate.check(began + 210 * SECOND, &timeouts, 20, of_connection.is_set());
    assert_eq!(late, Err(Violation::BodyTooSlow));
    assert!(!Scarcity::default().is_set());
}
