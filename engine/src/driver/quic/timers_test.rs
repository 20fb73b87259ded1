use super::*;
use std::time::Duration;

fn ms(base: Instant, ms: u64) -> Option<Instant> {
    Some(base + Duration::from_millis(ms))
}

#[test]
fn deadlines_come_up_in_order_once_each() {
    let base = Instant::now();
    let mut timers = Timers::default();
    for (key, at) in [(0, 30), (1, 10), (2, 20)] {
        timers.set(key, ms(base, at));
    }
    let late = base + Duration::from_millis(25);
    assert_eq!(timers.pop_due(late), Some(1));
    assert_eq!(timers.pop_due(late), Some(2));
    assert_eq!(timers.pop_due(late), None);
    assert_eq!(timers.next(), ms(base, 30));
}

#[test]
fn a_deadline_that_moves_away_is_not_due_at_its_old_time() {
    let base = Instant::now();
    let mut timers = Timers::default();
    timers.set(7, ms(base, 10));
    timers.set(7, ms(base, 50));
    assert_eq!(timers.pop_due(base + Duration::from_millis(20)), None);
    assert_eq!(timers.next(), ms(base, 50));
    assert_eq!(timers.pop_due(base + Duration::from_millis(50)), Some(7));
}

#[test]
fn a_deadline_that_comes_nearer_is_due_earlier_and_only_once() {
    let base = Instant::now();
    let mut timers = Timers::default();
    timers.set(7, ms(base, 50));
    timers.set(7, ms(base, 10));
    assert_eq!(timers.pop_due(base + Duration::from_millis(10)), Some(7));
    assert_eq!(timers.pop_due(base + Duration::from_millis(60)), None);
    assert_eq!(timers.next(), None);
}

#[test]
fn a_cleared_deadline_is_never_due() {
    let base = Instant::now();
    let mut timers = Timers::default();
    timers.set(1, ms(base, 10));
    timers.set(1, None);
    assert_eq!(timers.pop_due(base + Duration::from_millis(10)), None);
    timers.set(1, ms(base, 20));
    assert_eq!(timers.pop_due(base + Duration::from_millis(20)), Some(1));
}

#[test]
fn a_thousand_moves_of_one_deadline_leave_one_entry() {
    let base = Instant::now();
    let mut timers = Timers::default();
    for at in 0..1000 {
        timers.set(3, ms(base, 10 + at));
    }
    assert_eq!(timers.heap.len(), 1);
}
