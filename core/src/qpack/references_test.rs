use super::{Reach, References, SECTIONS_MAX};
use crate::error::Violation;

fn reach(required: u64, lowest: u64) -> Reach {
    Reach { required, lowest }
}

#[test]
fn a_reach_spans_all_that_a_section_names() {
    let mut span = Reach::default();
    for absolute in [5, 3, 9] {
        span.extend(absolute);
    }
    assert_eq!(span, reach(10, 3));
}

#[test]
fn nothing_named_and_unacknowledged_may_go_nor_what_did_not_arrive() {
    let mut references = References::default();
    assert_eq!(references.evictable_below(), 0, "nothing arrived yet");
    references.receive(10, 10).unwrap();
    assert_eq!(references.evictable_below(), 10);
    references.add(4, reach(8, 3));
    references.add(8, reach(6, 5));
    assert_eq!(references.evictable_below(), 3);
    references.acknowledge(4).unwrap();
    assert_eq!(references.evictable_below(), 5);
    references.cancel(8);
    assert_eq!(references.evictable_below(), 10);
}

#[test]
fn an_acknowledgement_takes_the_oldest_section_of_its_stream() {
    let mut references = References::default();
    references.add(4, reach(1, 0));
    references.add(4, reach(7, 2));
    references.acknowledge(4).unwrap();
    assert_eq!(references.known_received(), 1);
    references.acknowledge(4).unwrap();
    assert_eq!(references.known_received(), 7);
    assert_eq!(
        references.acknowledge(4),
        Err(Violation::QpackDecoderStreamInvalid)
    );
}

#[test]
fn a_cancellation_takes_all_of_its_stream_and_says_nothing_about_insertions() {
    let mut references = References::default();
    references.add(4, reach(1, 0));
    references.add(4, reach(7, 2));
    references.add(8, reach(9, 2));
    references.cancel(4);
    assert_eq!(references.known_received(), 0);
    assert!(references.acknowledge(4).is_err());
    references.acknowledge(8).unwrap();
    references.cancel(100);
    assert_eq!(
        references.known_received(),
        9,
        "unknown streams are no error"
    );
}

#[test]
fn an_increment_of_zero_or_beyond_what_was_sent_is_an_error() {
    let mut references = References::default();
    let invalid = Err(Violation::QpackDecoderStreamInvalid);
    assert_eq!(references.receive(0, 5), invalid);
    assert_eq!(references.receive(6, 5), invalid);
    assert_eq!(references.receive(u64::MAX, 5), invalid);
    assert_eq!(references.receive(5, 5), Ok(()));
    assert_eq!(references.receive(1, 5), invalid);
}

#[test]
fn a_stream_that_is_at_risk_may_risk_more_and_others_up_to_the_bound() {
    let mut references = References::default();
    assert!(!references.may_block(4, 0));
    assert!(references.may_block(4, 1));
    references.add(4, reach(1, 0));
    assert!(references.may_block(4, 1), "the same stream");
    assert!(!references.may_block(8, 1));
    assert!(references.may_block(8, 2));
    references.receive(1, 1).unwrap();
    assert!(references.may_block(8, 1), "4 cannot be blocked any more");
}

#[test]
fn sections_under_way_are_bounded() {
    let mut references = References::default();
    for stream in 0..SECTIONS_MAX as u64 {
        assert!(references.has_room());
        references.add(stream, reach(1, 0));
    }
    assert!(!references.has_room());
    references.cancel(7);
    assert!(references.has_room());
}
