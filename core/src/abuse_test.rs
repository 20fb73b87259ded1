//! Each flood is stopped; honest traffic that resembles it is not.

use super::{Abuse, BodyFrames, Verdict};
use crate::budget::Rate;
use crate::error::Violation;
use crate::limits::{Limits, RESET_AGE};
use std::time::{Duration, Instant};

/// The start of virtual time: any instant will do.
#[allow(clippy::disallowed_methods, reason = "only a start, never read again")]
fn start() -> Instant {
    Instant::now()
}

fn abuse() -> Abuse {
    Abuse::new(&Limits::default())
}

fn count(abuse: &Abuse, name: &str) -> u64 {
    let found = abuse.counts().find(|&(kind, _)| kind == name);
    found.expect("a known name").1
}

/// How many times `act` is fine before it is not, and what it says then; at most `most` times.
fn fine_times(most: u32, mut act: impl FnMut() -> Verdict) -> (u32, Verdict) {
    for times in 0..most {
        let verdict = act();
        if verdict != Verdict::Fine {
            return (times, verdict);
        }
    }
    (most, Verdict::Fine)
}

const RESETS: Verdict = Verdict::Close(Violation::ResetsTooMany);
/// The age of a stream that is reset, where nothing else is said.
const YOUNG: Duration = Duration::ZERO;

#[test]
fn glitches_drain_at_three_quarters_and_close_at_the_end() {
    let now = start();
    let mut abuse = abuse();
    let (fine, verdict) = fine_times(20_000, || abuse.glitch(10, now));
    assert_eq!((fine, verdict), (749, Verdict::Drain));
    let mut drains = 1;
    let last = loop {
        match abuse.glitch(10, now) {
            Verdict::Drain => drains += 1,
            verdict => break verdict,
        }
    };
    assert_eq!(drains, 251);
    assert_eq!(last, Verdict::Close(Violation::GlitchesTooMany));
    assert_eq!(count(&abuse, "glitch_points"), 10_010);
}

#[test]
fn glitches_that_come_slowly_are_forgiven() {
    let mut now = start();
    let mut abuse = abuse();
    for _ in 0..100 {
        let (fine, _) = fine_times(330, || abuse.glitch(1, now));
        assert_eq!(fine, 330);
        now += Duration::from_secs(1);
    }
}

#[test]
fn a_rapid_reset_flood_is_closed_after_its_budget() {
    let now = start();
    let mut abuse = abuse();
    let (fine, verdict) = fine_times(10_000, || {
        abuse.stream_opened();
        abuse.reset_received(YOUNG, now)
    });
    assert_eq!((fine, verdict), (1_000, RESETS));
    assert_eq!(count(&abuse, "resets_received"), 1_001);
}

#[test]
fn a_flood_at_the_refill_rate_goes_on_and_one_above_does_not() {
    let mut now = start();
    let mut slow = abuse();
    let mut fast = abuse();
    let mut stopped = None;
    for second in 0..600 {
        for _ in 0..33 {
            slow.stream_opened();
            assert_eq!(slow.reset_received(YOUNG, now), Verdict::Fine);
        }
        for _ in 0..40 {
            fast.stream_opened();
            if fast.reset_received(YOUNG, now) == RESETS {
                stopped.get_or_insert(second);
            }
        }
        now += Duration::from_secs(1);
    }
    assert_eq!(
        stopped,
        Some(138),
        "the first second s with 1000 - 7 * s < 40"
    );
}

#[test]
fn streams_that_were_open_for_a_second_may_all_be_reset_as_long_as_they_are_below_the_ceiling() {
    let mut now = start();
    let mut deadlines = abuse();
    for _ in 0..100 {
        for _ in 0..330 {
            deadlines.stream_opened();
            let verdict = deadlines.reset_received(RESET_AGE, now);
            assert_eq!(verdict, Verdict::Fine);
        }
        now += Duration::from_secs(1);
    }
    let mut flood = abuse();
    let (fine, verdict) = fine_times(10_000, || {
        flood.stream_opened();
        flood.reset_received(RESET_AGE, now)
    });
    assert_eq!((fine, verdict), (2_000, RESETS));
}

#[test]
fn resets_of_old_streams_are_no_part_of_the_budget_of_young_ones() {
    let now = start();
    let mut abuse = abuse();
    for _ in 0..1_000 {
        abuse.stream_opened();
        let verdict = abuse.reset_received(RESET_AGE, now);
        assert_eq!(verdict, Verdict::Fine);
    }
    let (fine, verdict) = fine_times(10_000, || {
        abuse.stream_opened();
        abuse.reset_received(RESET_AGE - Duration::from_millis(1), now)
    });
    assert_eq!((fine, verdict), (1_000, RESETS));
}

#[test]
fn a_peer_that_resets_less_than_half_of_its_streams_is_no_flood() {
    let mut now = start();
    let mut abuse = abuse();
    for _ in 0..100 {
        for _ in 0..330 {
            for _ in 0..3 {
                abuse.stream_opened();
            }
            assert_eq!(abuse.reset_received(YOUNG, now), Verdict::Fine);
        }
        now += Duration::from_secs(1);
    }
}

#[test]
fn good_streams_between_resets_buy_two_bursts_and_no_more() {
    type Reset = fn(&mut Abuse, Instant) -> Verdict;
    let kinds: [(&str, Reset); 4] = [
        ("CVE-2023-44487", |abuse, now| {
            abuse.reset_received(YOUNG, now)
        }),
        ("refused", |abuse, now| abuse.stream_refused(now)),
        ("CVE-2025-8671, a malformed head", |abuse, now| {
            abuse.reset_provoked(Violation::FieldNameInvalid, now)
        }),
        ("CVE-2025-8671, a wrong content-length", |abuse, now| {
            abuse.reset_provoked(Violation::ContentLengthMismatch, now)
        }),
    ];
    for (what, reset) in kinds {
        for good in [1, 2, 10] {
            let now = start();
            let mut abuse = abuse();
            let (fine, verdict) = fine_times(100_000, || {
                for _ in 0..=good {
                    abuse.stream_opened();
                }
                reset(&mut abuse, now)
            });
            assert_eq!((fine, verdict), (2_000, RESETS), "{what}, {good}");
        }
    }
}

#[test]
fn many_good_streams_long_ago_are_no_licence_to_flood() {
    let now = start();
    let mut abuse = abuse();
    for _ in 0..1_000_000 {
        abuse.stream_opened();
    }
    let (fine, verdict) = fine_times(1_000_000, || {
        abuse.stream_opened();
        abuse.reset_received(YOUNG, now)
    });
    assert_eq!(verdict, RESETS);
    assert!(fine < 2_048, "{fine} resets before it was noticed");
}

#[test]
fn refused_streams_count_like_resets() {
    let now = start();
    let mut abuse = abuse();
    let (fine, verdict) = fine_times(10_000, || {
        abuse.stream_opened();
        abuse.stream_refused(now)
    });
    assert_eq!((fine, verdict), (1_000, RESETS));
    assert_eq!(count(&abuse, "streams_refused"), 1_001);
}

#[test]
fn each_primitive_of_made_you_reset_closes_after_ten() {
    for violation in [
        Violation::WindowIncrementZero,
        Violation::WindowOverflow,
        Violation::FrameSizeInvalidOnStream,
        Violation::DependsOnItself,
        Violation::StreamHalfClosed,
    ] {
        let now = start();
        let mut abuse = abuse();
        // Good streams all around it make no difference.
        let (fine, verdict) = fine_times(10_000, || {
            for _ in 0..10 {
                abuse.stream_opened();
            }
            abuse.reset_provoked(violation, now)
        });
        assert_eq!((fine, verdict), (10, RESETS), "{violation:?}");
    }
}

#[test]
fn malformed_requests_have_the_budget_of_resets() {
    let now = start();
    let mut abuse = abuse();
    let (fine, verdict) = fine_times(10_000, || {
        abuse.stream_opened();
        abuse.reset_provoked(Violation::FieldNameInvalid, now)
    });
    assert_eq!((fine, verdict), (1_000, RESETS));
    assert_eq!(count(&abuse, "resets_provoked"), 1_001);
    assert_eq!(count(&abuse, "resets_received"), 0);
}

#[test]
fn pings_and_settings_share_one_budget() {
    let now = start();
    let mut abuse = abuse();
    let (fine, _) = fine_times(60, || abuse.ping(now));
    assert_eq!(fine, 60);
    let (fine, verdict) = fine_times(100, || abuse.settings(now));
    assert_eq!(fine, 40);
    assert_eq!(verdict, Verdict::Close(Violation::PingsTooMany));
    assert_eq!(count(&abuse, "pings"), 60);
    assert_eq!(count(&abuse, "settings"), 41);
}

#[test]
fn ten_pings_a_second_go_on_for_ever() {
    let mut now = start();
    let mut abuse = abuse();
    for _ in 0..10_000 {
        assert_eq!(abuse.ping(now), Verdict::Fine);
        now += Duration::from_millis(100);
    }
}

#[test]
fn empty_data_in_a_row_is_closed_after_a_thousand_and_the_first_of_its_body() {
    let now = start();
    let mut abuse = abuse();
    let mut of_body = BodyFrames::default();
    let (fine, verdict) = fine_times(10_000, || abuse.data_received(&mut of_body, 0, false, now));
    assert_eq!(fine, 1_001);
    assert_eq!(verdict, Verdict::Close(Violation::EmptyFramesTooMany));
}

#[test]
fn empty_data_between_other_data_is_closed_after_a_thousand_and_the_first_of_its_body() {
    let now = start();
    let mut abuse = abuse();
    let mut of_body = BodyFrames::default();
    let (fine, verdict) = fine_times(10_000, || {
        assert_eq!(
            abuse.data_received(&mut of_body, 1_000, false, now),
            Verdict::Fine
        );
        abuse.data_received(&mut of_body, 0, false, now)
    });
    assert_eq!(fine, 1_001);
    assert_eq!(verdict, Verdict::Close(Violation::EmptyFramesTooMany));
    assert_eq!(count(&abuse, "empty_data"), 1_002);
}

#[test]
fn empty_data_ten_times_a_second_goes_on_for_ever() {
    let mut now = start();
    let mut abuse = abuse();
    let mut of_body = BodyFrames::default();
    let (fine, _) = fine_times(10_000, || {
        let verdict = abuse.data_received(&mut of_body, 1_000, false, now);
        assert_eq!(verdict, Verdict::Fine);
        now += Duration::from_millis(100);
        abuse.data_received(&mut of_body, 0, false, now)
    });
    assert_eq!(fine, 10_000);
}

#[test]
fn a_body_of_empty_data_alone_that_comes_slowly_goes_on_for_ever() {
    let mut now = start();
    let mut abuse = abuse();
    let mut of_body = BodyFrames::default();
    let (fine, _) = fine_times(10_000, || {
        now += Duration::from_millis(100);
        abuse.data_received(&mut of_body, 0, false, now)
    });
    assert_eq!(fine, 10_000);
}

#[test]
fn any_number_of_bodies_may_have_an_empty_frame_each() {
    let now = start();
    let mut abuse = abuse();
    let (fine, _) = fine_times(10_000, || {
        abuse.data_received(&mut BodyFrames::default(), 0, false, now)
    });
    assert_eq!(fine, 10_000);
}

#[test]
fn frames_that_end_their_stream_cost_nothing_however_short() {
    let now = start();
    let mut abuse = abuse();
    let mut of_body = BodyFrames::default();
    for len in [0, 1] {
        let (fine, _) = fine_times(100_000, || {
            abuse.data_received(&mut of_body, len, true, now)
        });
        assert_eq!(fine, 100_000, "{len} bytes each");
    }
    assert_eq!(count(&abuse, "empty_data"), 0);
    assert_eq!(count(&abuse, "overhead_exceeded"), 0);
}

#[test]
fn short_messages_that_are_read_go_on_for_ever() {
    let now = start();
    let mut abuse = abuse();
    let mut of_body = BodyFrames::default();
    for _ in 0..100_000 {
        // A hundred at once, then the reader takes them in two bites.
        for _ in 0..100 {
            assert_eq!(
                abuse.data_received(&mut of_body, 10, false, now),
                Verdict::Fine
            );
        }
        abuse.data_consumed(&mut of_body, 999, 1_000);
        abuse.data_consumed(&mut of_body, 1, 1);
    }
    assert_eq!(abuse.overhead, 0);
    assert_eq!(count(&abuse, "glitch_points"), 0);
}

#[test]
fn short_frames_that_nobody_reads_become_glitches_and_close() {
    let now = start();
    let mut abuse = abuse();
    let mut of_body = BodyFrames::default();
    let mut frames = 0_u32;
    let last = loop {
        frames += 1;
        match abuse.data_received(&mut of_body, 1, false, now) {
            Verdict::Fine | Verdict::Drain => {}
            verdict => break verdict,
        }
    };
    assert_eq!(last, Verdict::Close(Violation::GlitchesTooMany));
    // 1 MiB at 255 bytes each, then the glitch budget.
    assert_eq!(frames, 4_112 + 10_000 + 1);
}

#[test]
fn long_frames_have_no_overhead() {
    let now = start();
    let mut abuse = abuse();
    let mut of_body = BodyFrames::default();
    let (fine, _) = fine_times(100_000, || {
        abuse.data_received(&mut of_body, 256, false, now)
    });
    assert_eq!(fine, 100_000);
    assert_eq!(abuse.overhead, 0);
}

#[test]
fn overhead_goes_back_in_proportion_to_what_is_read() {
    let now = start();
    let mut abuse = abuse();
    let mut of_body = BodyFrames::default();
    for _ in 0..100 {
        assert_eq!(
            abuse.data_received(&mut of_body, 56, false, now),
            Verdict::Fine
        );
    }
    assert_eq!(abuse.overhead, 20_000);
    abuse.data_consumed(&mut of_body, 2_800, 5_600);
    assert_eq!(abuse.overhead, 10_000, "half was read");
    abuse.data_consumed(&mut of_body, 1_000_000, 2_800);
    assert_eq!(abuse.overhead, 0, "more than there was");
    abuse.data_consumed(&mut of_body, 1, 0);
    assert_eq!(abuse.overhead, 0);
}

#[test]
fn the_overhead_of_a_body_goes_back_whatever_lies_unread_beside_it() {
    let now = start();
    let mut abuse = abuse();
    let (mut unread, mut read) = (BodyFrames::default(), BodyFrames::default());
    let long = abuse.data_received(&mut unread, u32::MAX, false, now);
    assert_eq!(long, Verdict::Fine);
    for _ in 0..100_000 {
        assert_eq!(abuse.data_received(&mut read, 1, false, now), Verdict::Fine);
        abuse.data_consumed(&mut read, 1, 1);
    }
    assert_eq!(abuse.overhead, 0);
    assert_eq!(count(&abuse, "glitch_points"), 0);
}

#[test]
fn late_data_is_bounded_by_the_windows_of_the_streams_that_we_reset() {
    let mut abuse = abuse();
    assert!(!abuse.takes_late_data(1), "nothing was reset");
    abuse.stream_abandoned(1_000);
    abuse.stream_abandoned(1_000);
    assert!(abuse.takes_late_data(1_000));
    let short = (0..10).filter(|_| abuse.takes_late_data(1)).count();
    assert_eq!(short, 3, "256 bytes each of 1,000");
}

#[test]
fn window_updates_beyond_proportion_are_closed() {
    let mut idle = abuse();
    let (fine, verdict) = fine_times(1_000, || idle.window_update());
    assert_eq!(fine, 20);
    assert_eq!(verdict, Verdict::Close(Violation::WindowUpdatesTooMany));

    let mut busy = abuse();
    busy.stream_opened();
    for _ in 0..7 {
        busy.data_sent();
    }
    let (fine, verdict) = fine_times(1_000, || busy.window_update());
    assert_eq!(fine, 20 + 2 + 70);
    assert_eq!(verdict, Verdict::Close(Violation::WindowUpdatesTooMany));
}

#[test]
fn a_client_that_widens_every_stream_as_it_opens_it_is_no_flood() {
    let mut abuse = abuse();
    for _ in 0..100_000 {
        abuse.stream_opened();
        assert_eq!(abuse.window_update(), Verdict::Fine);
    }
}

#[test]
fn a_hundred_priority_updates_may_wait_for_their_streams() {
    let now = start();
    let mut abuse = abuse();
    assert_eq!(abuse.priority_update(100, now), Verdict::Fine);
    let verdict = abuse.priority_update(101, now);
    assert_eq!(verdict, Verdict::Close(Violation::PriorityUpdatesTooMany));
    assert_eq!(count(&abuse, "priority_updates"), 2);
}

#[test]
fn a_flood_of_priority_updates_uses_the_glitches_up() {
    let now = start();
    let mut abuse = abuse();
    let last = loop {
        match abuse.priority_update(0, now) {
            Verdict::Fine | Verdict::Drain => {}
            verdict => break verdict,
        }
    };
    assert_eq!(last, Verdict::Close(Violation::GlitchesTooMany));
    assert_eq!(count(&abuse, "priority_updates"), 10_001);
}

#[test]
fn a_budget_of_nothing_closes_at_once() {
    let now = start();
    let none = Rate {
        burst: 0,
        per_second: 0,
    };
    let limits = Limits {
        resets: none,
        pings: none,
        glitches: none,
        ..Limits::default()
    };
    let mut abuse = Abuse::new(&limits);
    abuse.stream_opened();
    assert_eq!(abuse.reset_received(YOUNG, now), RESETS);
    assert_eq!(abuse.ping(now), Verdict::Close(Violation::PingsTooMany));
    let glitch = abuse.glitch(1, now);
    assert_eq!(glitch, Verdict::Close(Violation::GlitchesTooMany));
}

#[test]
fn every_kind_is_counted_under_a_name_of_its_own() {
    let abuse = abuse();
    let mut names: Vec<_> = abuse.counts().map(|(name, _)| name).collect();
    assert!(abuse.counts().all(|(_, times)| times == 0));
    let all = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all);
}
