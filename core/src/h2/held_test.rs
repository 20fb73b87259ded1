use super::*;

const MILLISECOND: Duration = Duration::from_millis(1);
const RTT: Option<Duration> = Some(Duration::from_millis(100));

#[test]
fn a_slot_comes_back_with_the_first_sign_one_round_trip_later() {
    let start = epoch();
    let mut held = Held::default();
    held.hold(start);
    held.handle_bytes(start + 99 * MILLISECOND, RTT);
    assert_eq!(held.len(), 1, "it may have been sent before");
    held.handle_bytes(start + 100 * MILLISECOND, RTT);
    assert_eq!(held.len(), 0);
}

#[test]
fn a_peer_that_says_nothing_is_believed_to_have_seen_it_after_a_second() {
    let start = epoch();
    let mut held = Held::default();
    held.hold(start);
    let due = held.next_deadline(RTT).unwrap();
    assert_eq!(due, start + PATIENCE);
    held.handle_timeout(due - MILLISECOND, RTT);
    assert_eq!(held.len(), 1);
    held.handle_timeout(due, RTT);
    assert_eq!(held.len(), 0);
    assert_eq!(held.next_deadline(RTT), None);
}

#[test]
fn the_answer_to_a_ping_proves_what_was_reset_before_it() {
    let start = epoch();
    let mut held = Held::default();
    assert!(!held.ask(start), "nothing is held");
    held.hold(start);
    assert!(held.ask(start));
    held.hold(start);
    assert!(!held.ask(start), "one at a time");
    assert!(held.handle_pong(start + MILLISECOND));
    assert_eq!(held.len(), 1, "the second reset came after the PING");
    assert!(!held.handle_pong(start + MILLISECOND));
    assert!(!held.ask(start + ASK_EVERY), "the peer sent nothing else");
    held.handle_progress();
    assert!(held.ask(start + ASK_EVERY));
}

#[test]
fn beyond_the_burst_slots_come_back_as_fast_as_a_peers_budget_refills() {
    let start = epoch();
    let mut held = Held::default();
    let mut now = start;
    let mut resets = 0;
    // A user who aborts at once whatever starts, on a connection with 100 slots.
    while now < start + Duration::from_secs(10) {
        while held.len() < 100 {
            held.hold(now);
            resets += 1;
        }
        now += MILLISECOND;
        held.handle_bytes(now, Some(MILLISECOND));
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
