use super::super::ring::ENTRIES;
use super::super::ring::ring_test::Reader;
use super::*;

fn pair() -> (Outbound, Reader) {
    let memory = Memory::new();
    (Outbound::new(Arc::clone(&memory)), Reader::new(memory))
}

fn entry(number: u32) -> Entry {
    [1, number, 0, 0, 0, 0, 0, 0]
}

#[test]
fn what_finds_no_room_comes_later_and_in_order() {
    let (mut outbound, mut reader) = pair();
    let count = 3 * ENTRIES;
    for number in 0..count {
        let _ = outbound.complete(entry(number), b"head", b"body");
    }
    for number in 0..count {
        if number % 1000 == 0 {
            let _ = outbound.spill();
        }
        let next = reader.next().or_else(|| {
            let _ = outbound.spill();
            reader.next()
        });
        let (entry, text) = next.unwrap();
        assert_eq!((entry[1], text.as_slice()), (number, &b"head"[..]));
    }
    assert!(!outbound.spill(), "nothing waited");
    assert!(reader.next().is_none());
}

#[test]
fn javascript_learns_of_what_waits_though_it_slept_before_it_was_said_that_something_does() {
    let (mut outbound, mut reader) = pair();
    for number in 0..=ENTRIES {
        let _ = outbound.complete(entry(number), b"", b"");
    }
    for _ in 0..ENTRIES {
        reader.next().unwrap();
    }
    assert!(reader.next().is_none(), "the last one waits at the engine");
    reader.sleep();
    assert!(outbound.spill(), "it waits no more");
    assert!(outbound.announce(), "and the loop is woken for it");
    assert_eq!(reader.next().unwrap().0[1], ENTRIES);
}

#[test]
fn an_engine_that_rests_with_nothing_new_rings_for_nobody() {
    let (mut outbound, mut reader) = pair();
    assert!(!outbound.announce());
    assert!(!outbound.complete(entry(0), b"", b""));
    assert!(outbound.announce());
    assert!(!outbound.announce());
    assert!(reader.next().is_some());
}

#[test]
fn the_ring_says_that_something_waits_until_all_of_it_has_found_room() {
    let memory = Memory::new();
    let (mut outbound, mut reader) = (
        Outbound::new(Arc::clone(&memory)),
        Reader::new(Arc::clone(&memory)),
    );
    for number in 0..ENTRIES + 2 {
        assert!(!memory.overflows() || number > ENTRIES);
        let _ = outbound.complete(entry(number), b"", b"");
    }
    assert!(memory.overflows());
    reader.next().unwrap();
    assert!(!outbound.spill(), "one of two found room");
    assert!(memory.overflows());
    reader.next().unwrap();
    assert!(outbound.spill());
    assert!(!memory.overflows());
}

#[test]
fn javascript_is_behind_by_as_long_as_the_oldest_completion_waits() {
    let (mut outbound, mut reader) = pair();
    let start = Instant::now();
    let at = |ms| start + Duration::from_millis(ms);
    assert_eq!(outbound.lag(at(0)), Duration::ZERO);
    let _ = outbound.complete(entry(0), b"", b"");
    assert_eq!(outbound.lag(at(50)), Duration::ZERO, "since this look");
    let _ = outbound.complete(entry(1), b"", b"");
    assert_eq!(outbound.lag(at(100)), Duration::from_millis(50));
    assert!(reader.next().is_some());
    // The second one was found at 100.
    assert_eq!(outbound.lag(at(150)), Duration::from_millis(50));
    assert!(reader.next().is_some());
    assert_eq!(outbound.lag(at(200)), Duration::ZERO);
    for look in 0..2 * LOOKS_MAX as u64 {
        let _ = outbound.complete(entry(2), b"", b"");
        assert_eq!(outbound.lag(at(200 + look)), Duration::from_millis(look));
    }
    assert_eq!(outbound.looks.len(), LOOKS_MAX);
}
