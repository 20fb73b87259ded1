use super::*;

const MILLISECOND: Duration = Duration::from_millis(1);
const RTT: Option<Duration> = Some(Duration::from_millis(100));

#[test]
fn a_slot_comes_back_with_the_first_sign_one_round_trip_later() {
    let start = epoch();
    let mut reset_slots = ResetSlots::default();
    reset_slots.hold(start);
    reset_slots.handle_bytes(start + 99 * MILLISECOND, RTT);
    assert_eq!(reset_slots.len(), 1, "it may have been sent before");
    reset_slots.handle_bytes(start + 100 * MILLISECOND, RTT);
    assert_eq!(reset_slots.len(), 0);
}

#[test]
fn a_peer_that_says_nothing_is_believed_to_have_seen_it_after_a_second() {
    let start = epoch();
    let mut reset_slots = ResetSlots::default();
    reset_slots.hold(start);
    let due = reset_slots.next_deadline(RTT).unwrap();
    assert_eq!(due, start + PATIENCE);
    reset_slots.handle_timeout(due - MILLISECOND, RTT);
    assert_eq!(reset_slots.len(), 1);
    reset_slots.handle_timeout(due, RTT);
    assert_eq!(reset_slots.len(), 0);
    assert_eq!(reset_slots.next_deadline(RTT), None);
}

#[test]
fn the_answer_to_a_ping_proves_what_was_reset_before_it() {
    let start = epoch();
    let mut reset_slots = ResetSlots::default();
    assert!(!reset_slots.ask(start), "nothing is held");
    reset_slots.hold(start);
    assert!(reset_slots.ask(start));
    reset_slots.hold(start);
    assert!(!reset_slots.ask(start), "one at a time");
    assert!(reset_slots.handle_pong(start + MILLISECOND));
    assert_eq!(reset_slots.len(), 1, "the second reset came after the PING");
    assert!(!reset_slots.handle_pong(start + MILLISECOND));
    assert!(
        !reset_slots.ask(start + ASK_EVERY),
        "the peer sent nothing else"
    );
    reset_slots.handle_progress();
    assert!(reset_slots.ask(start + ASK_EVERY));
}

#[test]
fn beyond_the_burst_slots_come_back_as_fast_as_a_peers_budget_refills() {
    let start = epoch();
    let mut reset_slots = ResetSlots::default();
    let mut now = start;
    let mut resets = 0;
    // A user who aborts at once whatever starts, on a connection with 100 slots.
    while now < start + Duration::from_secs(10) {
        while reset_slots.len() < 100 {
            reset_slots.hold(now);
            resets += 1;
        }
        now += MILLISECOND;
        reset_slots.handle_bytes(now, Some(MILLISECOND));
    }
    let allowed = 200 + 33 * 10;
    assert!(resets <= allowed, "{resets} resets, {allowed} allowed");
    assert!(resets >= 100 + 25 * 10, "{resets}: it goes on all the same");
}

#[allow(
    clippy::disallowed_methods,
    reason = "a test needs some instant to count from"
)]
fn epoch() -> Instant {
    Instant::now()
}
