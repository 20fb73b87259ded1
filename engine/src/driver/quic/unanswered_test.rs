use super::*;
use std::time::Duration;

const TICK: Duration = Duration::from_millis(10);

fn frames(stream: u64, acks: u64) -> FrameStats {
    let mut frames = FrameStats::default();
    (frames.stream, frames.acks) = (stream, acks);
    frames
}

#[test]
fn acknowledgements_alone_ask_for_no_answer() {
    let mut answers = Answers::default();
    answers.note_sent(Instant::now(), &frames(0, 5));
    assert_eq!(answers.unanswered(), None);
}

#[test]
fn what_is_sent_again_after_a_timer_counts_until_the_peer_answers() {
    let start = Instant::now();
    let mut answers = Answers::default();
    answers.note_timeout();
    answers.note_sent(start, &frames(1, 0));
    let first = answers.unanswered().unwrap();
    assert_eq!(
        (first.since, first.repeats),
        (start, 0),
        "pacing is no timeout"
    );
    answers.note_sent(start + TICK, &frames(2, 0));
    assert_eq!(answers.unanswered(), Some(first), "more of the same");
    for repeats in 1..=3 {
        answers.note_timeout();
        answers.note_sent(start + TICK * 2, &frames(2 + u64::from(repeats), 0));
        let unanswered = answers.unanswered().unwrap();
        assert_eq!((unanswered.since, unanswered.repeats), (start, repeats));
    }
    answers.note_received();
    assert_eq!(answers.unanswered(), None);
    answers.note_timeout();
    answers.note_sent(start + TICK * 3, &frames(5, 9));
    assert_eq!(
        answers.unanswered(),
        None,
        "nothing was sent that asks for it"
    );
}

#[test]
fn a_ping_behind_unanswered_packets_repeats_them_once_with_or_without_a_timeout() {
    let start = Instant::now();
    let pings = |ping| {
        let mut frames = frames(1, 0);
        frames.ping = ping;
        frames
    };
    let mut answers = Answers::default();
    answers.note_sent(start, &pings(1));
    assert_eq!(answers.unanswered().unwrap().repeats, 0, "the first of it");
    answers.note_sent(start + TICK, &pings(2));
    assert_eq!(answers.unanswered().unwrap().repeats, 1);
    answers.note_timeout();
    answers.note_sent(start + TICK * 2, &pings(4));
    assert_eq!(
        answers.unanswered().unwrap().repeats,
        2,
        "probes of one timeout"
    );
}

#[test]
fn a_port_that_is_refused_says_nothing_where_nothing_is_unanswered() {
    let mut answers = Answers::default();
    answers.note_refused();
    let now = Instant::now();
    answers.note_sent(now, &frames(1, 0));
    assert!(!answers.unanswered().unwrap().refused);
    answers.note_refused();
    assert!(answers.unanswered().unwrap().refused);
}
