use super::health::*;
use std::time::{Duration, Instant};

const SECOND: Duration = Duration::from_secs(1);

fn times() -> HealthTimes {
    HealthTimes::default()
}

/// Without a look at what the transport leaves unanswered.
fn by_questions() -> HealthTimes {
    HealthTimes {
        unanswered: None,
        ..times()
    }
}

#[test]
fn a_busy_connection_is_never_asked() {
    let start = epoch();
    let mut health = Health::new(start);
    for second in 0..100 {
        let now = start + SECOND * second;
        health.handle_bytes(now);
        let asked = health.handle_start(now + 9 * SECOND, &times());
        assert_eq!(asked, HealthAction::Nothing);
        assert_eq!(health.next_deadline(&times(), None, false), None);
    }
}

#[test]
fn a_quiet_connection_is_asked_once_with_its_next_request() {
    let start = epoch();
    let mut health = Health::new(start);
    let now = start + 10 * SECOND;
    assert_eq!(health.handle_start(now, &times()), HealthAction::Ping);
    assert_eq!(health.handle_start(now, &times()), HealthAction::Nothing);
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
    let received = start + 20 * SECOND;
    health.handle_bytes(received);
    assert_eq!(
        health.handle_timeout(start + 30 * SECOND, &times, None, false),
        HealthAction::Nothing,
        "it was heard meanwhile"
    );
    let asked = received + 30 * SECOND;
    assert_eq!(due(&health), Some(asked));
    assert_eq!(
        health.handle_timeout(asked, &times, None, false),
        HealthAction::Ping
    );
    assert_eq!(health.probed_at(), Some(asked));
    assert_eq!(due(&health), Some(asked + 2 * SECOND));
    assert_eq!(
        health.handle_timeout(asked + 15 * SECOND, &times, None, false),
        HealthAction::Close
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
    assert_eq!(answer, HealthAction::ChangePath);
    assert!(health.is_suspect());
    let end = asked + 15 * SECOND;
    assert_eq!(health.next_deadline(&times(), None, false), Some(end));
    assert_eq!(
        health.handle_timeout(end, &times(), None, false),
        HealthAction::Close
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
    assert_eq!(later, HealthAction::Nothing);
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
    assert_eq!(health.handle_stream_timeout(start), HealthAction::Ping);
    assert!(!health.is_suspect());
    assert_eq!(health.handle_stream_timeout(start), HealthAction::Nothing);
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
    assert_eq!(health.next_deadline(&by_questions(), None, false), None);
    let quiet = start + 10 * SECOND;
    assert_eq!(
        health.next_deadline(&by_questions(), None, true),
        Some(quiet)
    );
    let early = health.handle_timeout(quiet - SECOND, &by_questions(), None, true);
    assert_eq!(early, HealthAction::Nothing);
    let asked = health.handle_timeout(quiet, &by_questions(), None, true);
    assert_eq!(asked, HealthAction::Ping);
    assert_eq!(
        health.next_deadline(&by_questions(), None, true),
        Some(quiet + 2 * SECOND)
    );
}

#[test]
fn a_connection_is_doubted_once_in_a_silence() {
    let start = epoch();
    let mut health = Health::new(start);
    let _ = health.handle_stream_timeout(start);
    let change = health.handle_timeout(start + 2 * SECOND, &by_questions(), None, true);
    assert_eq!(change, HealthAction::ChangePath);
    let again = health.handle_timeout(start + 3 * SECOND, &by_questions(), None, true);
    assert_eq!(again, HealthAction::Ping);
    let end = health.handle_timeout(start + 15 * SECOND, &by_questions(), None, true);
    assert_eq!(end, HealthAction::Close);
}

#[test]
fn a_suspect_whose_exchanges_wait_is_asked_again_until_it_answers_or_is_dead() {
    let start = epoch();
    let mut health = Health::new(start);
    let asked = start + 10 * SECOND;
    let first = health.handle_timeout(asked, &by_questions(), None, true);
    assert_eq!(first, HealthAction::Ping);
    let suspect = asked + 2 * SECOND;
    let moved = health.handle_timeout(suspect, &by_questions(), None, true);
    assert_eq!(moved, HealthAction::ChangePath);
    let mut questions = 0;
    loop {
        let due = health.next_deadline(&by_questions(), None, true).unwrap();
        match health.handle_timeout(due, &by_questions(), None, true) {
            HealthAction::Ping => questions += 1,
            HealthAction::Close => break assert_eq!(due, asked + 15 * SECOND),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(questions, 25, "every half a second for 13 s");
    let idle = health.next_deadline(&by_questions(), None, false);
    assert_eq!(idle, Some(asked + 15 * SECOND), "nobody waits");
}

#[test]
fn who_has_moved_is_asked_sooner_in_the_next_silence() {
    let start = epoch();
    let mut health = Health::new(start);
    let _ = health.handle_network_change(start);
    health.handle_bytes(start + SECOND);
    let soon = health.next_deadline(&by_questions(), None, true);
    assert_eq!(soon, Some(start + 3 * SECOND));
    let asked = health.handle_timeout(start + 3 * SECOND, &by_questions(), None, true);
    assert_eq!(asked, HealthAction::Ping);
    health.handle_bytes(start + 15 * SECOND);
    let later = health.next_deadline(&by_questions(), None, true);
    assert_eq!(later, Some(start + 25 * SECOND), "the new path has worked");
}

const MS: Duration = Duration::from_millis(1);

fn unanswered(since: Instant, repeats: u32) -> Option<Unanswered> {
    Some(Unanswered {
        since,
        repeats,
        refused: false,
    })
}

/// Silent since 300 ms after `start`.
fn silent(start: Instant) -> Health {
    let mut health = Health::new(start);
    health.note_unanswered(unanswered(start, 2));
    let checkup = health.handle_timeout(start + 300 * MS, &times(), None, true);
    assert_eq!(checkup, HealthAction::ChangePath);
    assert!(health.is_suspect() && health.is_silent());
    health
}

#[test]
fn what_is_sent_twice_more_without_an_answer_makes_a_suspect_within_300_ms() {
    let start = epoch();
    let mut health = Health::new(start);
    health.note_unanswered(unanswered(start, 1));
    let due = health.next_deadline(&times(), None, false);
    assert_eq!(due, Some(start + 300 * MS));
    let once = health.handle_timeout(start + 300 * MS, &times(), None, false);
    assert_eq!(
        once,
        HealthAction::Nothing,
        "one timeout is a packet that was lost"
    );
    let due = health.next_deadline(&times(), None, false);
    assert_eq!(due, Some(start + 375 * MS), "the next may come at any time");
    health.note_unanswered(unanswered(start, 2));
    let twice = health.handle_timeout(start + 375 * MS, &times(), None, false);
    assert_eq!(twice, HealthAction::ChangePath);
    assert!(health.is_suspect());
}

#[test]
fn a_long_path_has_two_and_a_half_round_trips_and_a_tenth_of_a_second() {
    let start = epoch();
    let mut health = Health::new(start);
    health.note_unanswered(unanswered(start, 9));
    let rtt = Some(300 * MS);
    let due = health.next_deadline(&times(), rtt, false);
    assert_eq!(due, Some(start + 850 * MS));
    let early = health.handle_timeout(start + 849 * MS, &times(), rtt, false);
    assert_eq!(early, HealthAction::Nothing);
}

#[test]
fn on_a_long_path_two_pings_are_sent_before_late_timeouts_of_the_transport() {
    let start = epoch();
    let rtt = Some(300 * MS);
    let mut health = Health::new(start);
    health.note_unanswered(unanswered(start, 0));
    let mut seen = Vec::new();
    let mut pings = 0;
    while !health.is_silent() {
        let due = health.next_deadline(&times(), rtt, true).unwrap();
        let checkup = health.handle_timeout(due, &times(), rtt, true);
        pings += u32::from(checkup == HealthAction::Ping);
        health.note_unanswered(unanswered(start, pings));
        seen.push((due - start, checkup));
    }
    let asked = [425, 500].map(|at| (at * MS, HealthAction::Ping));
    assert_eq!(seen[..2], asked);
    assert_eq!(seen.last(), Some(&(850 * MS, HealthAction::ChangePath)));
    assert_eq!(
        health.next_deadline(&times(), rtt, true),
        Some(start + 850 * MS),
        "replaced at once"
    );
    // Data of which the peer says something in between begins anew.
    let mut health = Health::new(start);
    health.note_unanswered(unanswered(start, 0));
    let first = health.handle_timeout(start + 425 * MS, &times(), rtt, true);
    assert_eq!(first, HealthAction::Ping);
    let later = start + 430 * MS;
    health.handle_bytes(later);
    health.note_unanswered(unanswered(later, 0));
    let due = health.next_deadline(&times(), rtt, true);
    assert_eq!(due, Some(later + 425 * MS));
    // Without exchanges that wait no PING is sent.
    let due = health.next_deadline(&times(), rtt, false);
    assert_eq!(due, Some(later + 850 * MS));
}

#[test]
fn pings_that_a_full_congestion_window_holds_back_leave_a_suspect_to_one_timeout() {
    let start = epoch();
    let rtt = Some(300 * MS);
    for repeats in [0, 1] {
        let mut health = Health::new(start);
        health.note_unanswered(unanswered(start, repeats));
        for at in [425, 500] {
            let ping = health.handle_timeout(start + at * MS, &times(), rtt, true);
            assert_eq!(ping, HealthAction::Ping);
        }
        let end = health.handle_timeout(start + 850 * MS, &times(), rtt, true);
        let expected = [HealthAction::Nothing, HealthAction::ChangePath][repeats as usize];
        assert_eq!(end, expected);
    }
}

#[test]
fn where_the_transport_has_repeated_no_ping_is_added() {
    let start = epoch();
    let mut health = Health::new(start);
    health.note_unanswered(unanswered(start, 2));
    let due = health.next_deadline(&times(), Some(MS), true);
    assert_eq!(due, Some(start + 300 * MS));
    let change = health.handle_timeout(start + 300 * MS, &times(), Some(MS), true);
    assert_eq!(change, HealthAction::ChangePath);
}

#[test]
fn a_silent_connection_is_replaced_once_and_not_ended_for_silence_alone() {
    let start = epoch();
    let mut health = silent(start);
    let mut seen = Vec::new();
    loop {
        health.note_unanswered(unanswered(start, 3));
        let due = health.next_deadline(&times(), None, false).unwrap();
        match health.handle_timeout(due, &times(), None, false) {
            HealthAction::Nothing => {}
            HealthAction::Close => break seen.push((due - start, HealthAction::Close)),
            other => seen.push((due - start, other)),
        }
    }
    let dead = (15_300 * MS, HealthAction::Close);
    assert_eq!(seen, [(450 * MS, HealthAction::Replace), dead]);
}

#[test]
fn a_silent_connection_ends_when_another_works_and_it_does_not_answer_even_then() {
    let start = epoch();
    let mut health = silent(start);
    let works = start + 460 * MS;
    assert_eq!(
        health.handle_outlived(works, Duration::ZERO),
        HealthAction::Ping
    );
    assert_eq!(
        health.handle_outlived(works, Duration::ZERO),
        HealthAction::Nothing,
        "once"
    );
    let early = health.handle_timeout(works + 112 * MS, &times(), None, true);
    assert_eq!(
        early,
        HealthAction::Replace,
        "it is late for that, and harmless"
    );
    health.note_unanswered(unanswered(start, 3));
    let end = health.handle_timeout(works + 113 * MS, &times(), None, true);
    assert_eq!(end, HealthAction::Close);
}

#[test]
fn a_silent_connection_has_as_long_as_the_peer_took_for_an_answer_elsewhere() {
    let start = epoch();
    let mut health = silent(start);
    let works = start + 460 * MS;
    assert_eq!(health.handle_outlived(works, 900 * MS), HealthAction::Ping);
    let mut seen = Vec::new();
    loop {
        health.note_unanswered(unanswered(start, 3));
        let due = health.next_deadline(&times(), None, true).unwrap();
        match health.handle_timeout(due, &times(), None, true) {
            HealthAction::Close => break assert!(due >= works + 900 * MS, "{:?}", due - works),
            HealthAction::Nothing => assert!(due < works + 1_000 * MS),
            other => seen.push(other),
        }
    }
    assert!(!seen.contains(&HealthAction::ChangePath), "{seen:?}");
}

#[test]
fn a_connection_that_is_not_silent_is_not_outlived() {
    let start = epoch();
    let mut health = Health::new(start);
    assert_eq!(
        health.handle_outlived(start, Duration::ZERO),
        HealthAction::Nothing
    );
    let _ = health.handle_network_change(start);
    assert_eq!(
        health.handle_outlived(start, Duration::ZERO),
        HealthAction::Nothing
    );
    let mut health = silent(start);
    health.handle_bytes(start + 375 * MS);
    assert_eq!(
        health.handle_outlived(start + 375 * MS, Duration::ZERO),
        HealthAction::Nothing
    );
    assert!(!health.is_suspect() && !health.is_silent());
}

#[test]
fn a_port_that_is_refused_ends_a_connection_beside_repeats_only() {
    let start = epoch();
    let mut health = Health::new(start);
    let refused = |repeats| {
        Some(Unanswered {
            since: start,
            repeats,
            refused: true,
        })
    };
    health.note_unanswered(refused(1));
    let alone = health.handle_timeout(start + 300 * MS, &times(), None, false);
    assert_eq!(alone, HealthAction::Nothing, "anybody may have said so");
    health.note_unanswered(refused(2));
    let due = health.next_deadline(&times(), None, true);
    assert_eq!(due, Some(start + 375 * MS));
    let end = health.handle_timeout(start + 375 * MS, &times(), None, true);
    assert_eq!(end, HealthAction::Close);
}

#[test]
fn the_transports_timeouts_need_not_be_looked_at() {
    let times = HealthTimes {
        unanswered: None,
        ..times()
    };
    let start = epoch();
    let mut health = Health::new(start);
    health.note_unanswered(unanswered(start, 9));
    assert_eq!(health.next_deadline(&times, None, false), None);
    let fine = health.handle_timeout(start + 9 * SECOND, &times, None, false);
    assert_eq!(fine, HealthAction::Nothing);
}

#[test]
fn beside_a_suspect_a_connection_that_answered_lately_is_believed_and_another_asked() {
    let start = epoch();
    let mut health = Health::new(start);
    let lately = health.handle_other_suspect(start + 299 * MS, &times(), false);
    assert_eq!(lately, HealthAction::Nothing);
    assert!(!health.is_suspect());
    let quiet = health.handle_other_suspect(start + 300 * MS, &times(), false);
    assert_eq!(quiet, HealthAction::Ping);
    assert!(health.is_suspect() && !health.is_silent());
    health.handle_bytes(start + SECOND);
    let surely = health.handle_other_suspect(start + SECOND, &times(), true);
    assert_eq!(surely, HealthAction::Ping);
    assert!(health.is_suspect());
}

#[test]
fn exchanges_that_wait_over_quic_are_asked_for_soon_and_ever_more_rarely() {
    let start = epoch();
    let mut health = Health::new(start);
    let mut asked = Vec::new();
    let mut now = start;
    while now < start + 120 * SECOND {
        now = health.next_deadline(&times(), None, true).unwrap();
        let checkup = health.handle_timeout(now, &times(), None, true);
        assert_eq!(checkup, HealthAction::Ping);
        asked.push(now - start);
        // Answered at once.
        health.handle_bytes(now);
    }
    assert_eq!(asked[..3], [300 * MS, 600 * MS, 900 * MS]);
    let within = |time| asked.iter().filter(|&&at| at <= time).count();
    assert!(within(4800 * MS) == 16, "{asked:?}");
    assert!((70..90).contains(&within(60 * SECOND)), "{asked:?}");
    let last = asked[asked.len() - 1] - asked[asked.len() - 2];
    assert!(last < 3 * SECOND, "{last:?}");
    health.handle_news();
    let soon = health.next_deadline(&times(), None, true);
    assert_eq!(soon, Some(now + 300 * MS), "something came");
}
