use super::*;
use std::time::Duration;

#[allow(
    clippy::disallowed_methods,
    reason = "a test needs some instant to count from"
)]
fn epoch() -> Instant {
    Instant::now()
}

#[test]
fn tcp_waits_for_the_head_start_and_starts_once() {
    let start = epoch();
    let mut race = QuicRace::new(start);
    let joins = start + QUIC_HEAD_START;
    assert_eq!(race.poll(start), QuicRaceStep::Wait(Some(joins)));
    let almost = joins - Duration::from_millis(1);
    assert_eq!(race.poll(almost), QuicRaceStep::Wait(Some(joins)));
    assert_eq!(race.poll(joins), QuicRaceStep::StartTcp);
    assert_eq!(race.poll(joins), QuicRaceStep::Wait(None));
}

#[test]
fn quic_that_fails_early_lets_tcp_start_at_once() {
    let start = epoch();
    let mut race = QuicRace::new(start);
    race.handle_quic_failed();
    assert_eq!(race.poll(start), QuicRaceStep::StartTcp);
    assert_eq!(race.poll(start), QuicRaceStep::Wait(None));
}

#[test]
fn it_is_lost_when_both_have_failed_in_either_order() {
    let start = epoch();
    let late = start + QUIC_HEAD_START;
    let mut race = QuicRace::new(start);
    assert_eq!(race.poll(late), QuicRaceStep::StartTcp);
    race.handle_tcp_failed();
    assert_eq!(race.poll(late), QuicRaceStep::Wait(None), "QUIC still runs");
    race.handle_quic_failed();
    assert_eq!(race.poll(late), QuicRaceStep::Failed);

    let mut race = QuicRace::new(start);
    race.handle_quic_failed();
    assert_eq!(race.poll(start), QuicRaceStep::StartTcp);
    race.handle_tcp_failed();
    assert_eq!(race.poll(start), QuicRaceStep::Failed);
}

/// It is all that a path that drops UDP adds to the first answer.
#[test]
fn the_head_start_is_shorter_than_300_ms() {
    assert!(QUIC_HEAD_START < Duration::from_millis(300));
}
