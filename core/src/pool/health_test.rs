use super::health::*;
use std::time::{Duration, Instant};

const SECOND: Duration = Duration::from_secs(1);

fn times() -> HealthTimes {
    HealthTimes::default()
}

#[test]
fn a_busy_connection_is_never_asked() {
    let start = epoch();
    let mut health = Health::new(start);
    for second in 0..100 {
        let now = start + SECOND * second;
        health.handle_bytes(now);
        let asked = health.handle_start(now + 9 * SECOND, &times());
        assert_eq!(asked, Checkup::Fine);
        assert_eq!(health.next_deadline(&times(), None, false), None);
    }
}

#[test]
fn a_quiet_connection_is_asked_once_with_its_next_request() {
    let start = epoch();
    let mut health = Health::new(start);
    let now = start + 10 * SECOND;
    assert_eq!(health.handle_start(now, &times()), Checkup::Ask);
    assert_eq!(health.handle_start(now, &times()), Checkup::Fine);
    assert!(!health.is_suspect(), "it has its time to answer");
    assert_eq!(
        health.next_deadline(&times(), None, false),
        Some(now + 2 * SECOND)
    );
}

#[test]
fn a_silent_connection_is_asked_after_a_time_of_its_own_and_judged_by_its_answer() {
    let times = HealthTimes {
        unasked: Some(30 * SECOND),
        ..times()
    };
    let start = epoch();
    let mut health = Health::new(start);
    let due = |health: &Health| health.next_deadline(&times, None, false);
    assert_eq!(due(&health), Some(start + 30 * SECOND));
    let heard = start + 20 * SECOND;
    health.handle_bytes(heard);
    assert_eq!(
        health.handle_timeout(start + 30 * SECOND, &times, None, false),
        Checkup::Fine,
        "it was heard meanwhile"
    );
    let asked = heard + 30 * SECOND;
    assert_eq!(due(&health), Some(asked));
    assert_eq!(
        health.handle_timeout(asked, &times, None, false),
        Checkup::Ask
    );
    assert_eq!(health.asked_at(), Some(asked));
    assert_eq!(due(&health), Some(asked + 2 * SECOND));
    assert_eq!(
        health.handle_timeout(asked + 15 * SECOND, &times, None, false),
        Checkup::Bury
    );
}

#[test]
fn silence_after_a_question_makes_it_suspect_then_dead() {
    let start = epoch();
    let mut health = Health::new(start);
    let asked = start + 20 * SECOND;
    let _ = health.handle_start(asked, &times());
    let almost = asked + 2 * SECOND - Duration::from_millis(1);
    let _ = health.handle_timeout(almost, &times(), None, false);
    assert!(!health.is_suspect());
    let answer = health.handle_timeout(asked + 2 * SECOND, &times(), None, false);
    assert_eq!(answer, Checkup::Doubt);
    assert!(health.is_suspect());
    let end = asked + 15 * SECOND;
    assert_eq!(health.next_deadline(&times(), None, false), Some(end));
    assert_eq!(
        health.handle_timeout(end, &times(), None, false),
        Checkup::Bury
    );
}

#[test]
fn any_byte_clears_the_suspicion() {
    let start = epoch();
    let mut health = Health::new(start);
    let _ = health.handle_network_change(start);
    assert!(health.is_suspect());
    health.handle_bytes(start + SECOND);
    assert!(!health.is_suspect());
    assert_eq!(health.next_deadline(&times(), None, false), None);
    let later = health.handle_timeout(start + 60 * SECOND, &times(), None, false);
    assert_eq!(later, Checkup::Fine);
}

#[test]
fn a_long_path_gets_six_round_trips() {
    let start = epoch();
    let mut health = Health::new(start);
    let rtt = Some(SECOND);
    let _ = health.handle_network_change(start);
    health.handle_bytes(start);
    let _ = health.handle_start(start + 10 * SECOND, &times());
    let due = health.next_deadline(&times(), rtt, false);
    assert_eq!(due, Some(start + 16 * SECOND));
}

#[test]
fn one_slow_stream_asks_and_several_in_a_silence_are_a_sign() {
    let start = epoch();
    let mut health = Health::new(start);
    assert_eq!(health.handle_stream_timeout(start), Checkup::Ask);
    assert!(!health.is_suspect());
    assert_eq!(health.handle_stream_timeout(start), Checkup::Fine);
    assert!(health.is_suspect());
    health.handle_bytes(start);
    let _ = health.handle_stream_timeout(start);
    assert!(!health.is_suspect(), "bytes came between the two");
}

#[allow(
    clippy::disallowed_methods,
    reason = "a test needs some instant to count from"
)]
fn epoch() -> Instant {
    Instant::now()
}

#[test]
fn a_connection_whose_exchanges_wait_on_a_path_is_asked_in_a_quiet_time() {
    let start = epoch();
    let mut health = Health::new(start);
    assert_eq!(health.next_deadline(&times(), None, false), None);
    let quiet = start + 10 * SECOND;
    assert_eq!(health.next_deadline(&times(), None, true), Some(quiet));
    let early = health.handle_timeout(quiet - SECOND, &times(), None, true);
    assert_eq!(early, Checkup::Fine);
    let asked = health.handle_timeout(quiet, &times(), None, true);
    assert_eq!(asked, Checkup::Ask);
    assert_eq!(
        health.next_deadline(&times(), None, true),
        Some(quiet + 2 * SECOND)
    );
}

#[test]
fn a_connection_is_doubted_once_in_a_silence() {
    let start = epoch();
    let mut health = Health::new(start);
    let _ = health.handle_stream_timeout(start);
    let doubt = health.handle_timeout(start + 2 * SECOND, &times(), None, true);
    assert_eq!(doubt, Checkup::Doubt);
    let again = health.handle_timeout(start + 3 * SECOND, &times(), None, true);
    assert_eq!(again, Checkup::Ask);
    let end = health.handle_timeout(start + 15 * SECOND, &times(), None, true);
    assert_eq!(end, Checkup::Bury);
}

#[test]
fn a_suspect_whose_exchanges_wait_is_asked_again_until_it_is_heard_or_dead() {
    let start = epoch();
    let mut health = Health::new(start);
    let asked = start + 10 * SECOND;
    let first = health.handle_timeout(asked, &times(), None, true);
    assert_eq!(first, Checkup::Ask);
    let suspect = asked + 2 * SECOND;
    let moved = health.handle_timeout(suspect, &times(), None, true);
    assert_eq!(moved, Checkup::Doubt);
    let mut questions = 0;
    loop {
        let due = health.next_deadline(&times(), None, true).unwrap();
        match health.handle_timeout(due, &times(), None, true) {
            Checkup::Ask => questions += 1,
            Checkup::Bury => break assert_eq!(due, asked + 15 * SECOND),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(questions, 25, "every half a second for 13 s");
    let idle = health.next_deadline(&times(), None, false);
    assert_eq!(idle, Some(asked + 15 * SECOND), "nobody waits");
}

#[test]
fn who_has_moved_is_asked_sooner_in_the_next_silence() {
    let start = epoch();
    let mut health = Health::new(start);
    let _ = health.handle_network_change(start);
    health.handle_bytes(start + SECOND);
    let soon = health.next_deadline(&times(), None, true);
    assert_eq!(soon, Some(start + 3 * SECOND));
    let asked = health.handle_timeout(start + 3 * SECOND, &times(), None, true);
    assert_eq!(asked, Checkup::Ask);
    health.handle_bytes(start + 15 * SECOND);
    let later = health.next_deadline(&times(), None, true);
    assert_eq!(later, Some(start + 25 * SECOND), "the new path has worked");
}
