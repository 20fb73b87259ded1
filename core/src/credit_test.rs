use super::*;
use std::collections::VecDeque;

const KIB: u32 = 1024;
const MIB: u32 = 1024 * KIB;
const RTT: Duration = Duration::from_millis(100);

#[expect(
    clippy::disallowed_methods,
    reason = "virtual time needs a first instant"
)]
fn start() -> Instant {
    Instant::now()
}

fn after(from: Instant, ms: u64) -> Instant {
    from + Duration::from_millis(ms)
}

/// A budget that has nothing: windows keep their size.
fn nobody() -> BudgetShare {
    BudgetShare::new(0)
}

/// Receives and reads `bytes` at once; returns what is granted.
fn pass(credit: &mut Credit, bytes: u32, now: Instant) -> Option<u32> {
    credit.spend(bytes, now).unwrap();
    credit.refund(bytes);
    credit.grant(now, Some(RTT), false, &mut nobody())
}

/// Numbers that look random and are the same in every run (Knuth's MMIX constants).
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u32) -> u32 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % u64::from(bound.max(1))) as u32
    }
}

#[test]
fn nothing_is_granted_before_anything_is_read() {
    let t = start();
    let mut credit = Credit::new(64 * KIB, MIB, t);
    assert_eq!(
        credit.grant(t, Some(RTT), true, &mut BudgetShare::new(1 << 30)),
        None
    );
    credit.spend(64 * KIB, t).unwrap();
    assert_eq!(
        credit.grant(after(t, 60_000), Some(RTT), true, &mut nobody()),
        None
    );
    assert_eq!((credit.unread(), credit.remaining()), (65_536, 0));
}

#[test]
fn a_byte_too_many_is_refused_and_not_counted() {
    let t = start();
    let mut credit = Credit::new(100, 100, t);
    credit.spend(100, t).unwrap();
    assert_eq!(credit.spend(1, t), Err(Exceeded));
    assert_eq!(credit.spend(u32::MAX, t), Err(Exceeded));
    credit.spend(0, t).unwrap();
    assert_eq!(credit.readback().used, 100);
}

#[test]
fn a_refill_comes_once_per_quantum() {
    let t = start();
    let mut credit = Credit::new(MIB, MIB, t);
    let grants: Vec<_> = (0..64)
        .filter_map(|_| pass(&mut credit, 16 * KIB, t))
        .collect();
    assert_eq!(grants, vec![128 * KIB; 8], "an eighth of the window each");
    assert_eq!(credit.remaining(), u64::from(MIB));
}

#[test]
fn one_byte_frames_cost_at_most_one_update_per_16_kib() {
    let t = start();
    let mut credit = Credit::new(64 * KIB, MIB, t);
    let mut grants = 0;
    for byte in 0..256 * 1024 {
        let now = t + Duration::from_micros(byte);
        grants += u32::from(pass(&mut credit, 1, now).is_some());
    }
    assert_eq!(grants, 16);
}

#[test]
fn a_small_window_is_refilled_by_halves() {
    let t = start();
    let mut credit = Credit::new(10, 10, t);
    assert_eq!(pass(&mut credit, 4, t), None);
    assert_eq!(pass(&mut credit, 1, t), Some(5));
    let mut one = Credit::new(1, 1, t);
    assert_eq!(pass(&mut one, 1, t), Some(1));
}

#[test]
fn credit_held_back_for_five_seconds_is_granted() {
    let t = start();
    let mut credit = Credit::new(64 * KIB, 64 * KIB, t);
    assert_eq!(credit.next_deadline(), None);
    assert_eq!(pass(&mut credit, 1, t), None);
    assert_eq!(credit.next_deadline(), Some(after(t, 5000)));
    assert_eq!(
        credit.grant(after(t, 4999), None, false, &mut nobody()),
        None
    );
    assert_eq!(
        credit.grant(after(t, 5000), None, false, &mut nobody()),
        Some(1)
    );
    assert_eq!(credit.next_deadline(), None);
}

#[test]
fn a_quarter_of_a_quantum_rides_along_with_a_write() {
    let t = start();
    let mut credit = Credit::new(64 * KIB, 64 * KIB, t);
    assert_eq!(pass(&mut credit, 4 * KIB - 1, t), None);
    assert_eq!(credit.grant(t, None, true, &mut nobody()), None);
    assert_eq!(pass(&mut credit, 1, t), None);
    assert_eq!(credit.grant(t, None, true, &mut nobody()), Some(4 * KIB));
}

#[test]
fn a_peer_that_says_it_waits_gets_what_there_is() {
    let t = start();
    let mut credit = Credit::new(64 * KIB, 64 * KIB, t);
    credit.spend(64 * KIB, t).unwrap();
    credit.refund(100);
    assert_eq!(credit.grant(t, None, false, &mut nobody()), None);
    credit.note_blocked();
    assert_eq!(credit.grant(t, None, false, &mut nobody()), Some(100));
    credit.refund(100);
    assert_eq!(
        credit.grant(t, None, false, &mut nobody()),
        None,
        "it said so once"
    );
}

#[test]
fn more_is_not_refunded_than_was_received() {
    let t = start();
    let mut credit = Credit::new(64 * KIB, 64 * KIB, t);
    credit.spend(16 * KIB, t).unwrap();
    credit.refund(u32::MAX);
    assert_eq!(credit.grant(t, None, false, &mut nobody()), Some(16 * KIB));
    assert_eq!(credit.remaining(), u64::from(64 * KIB));
}

/// A window that was made smaller must not be announced as an increment below zero, which on the
/// wire is one of nearly 2^31.
#[test]
fn a_shrunken_window_grants_nothing_until_it_is_paid_off() {
    let t = start();
    let mut credit = Credit::new(MIB, MIB, t);
    credit.spend(512 * KIB, t).unwrap();
    credit.set_max(64 * KIB);
    let mut granted = 0;
    for _ in 0..512 {
        credit.refund(KIB);
        granted += credit.grant(t, Some(RTT), true, &mut nobody()).unwrap_or(0);
    }
    assert_eq!(granted, 0, "512 KiB are still out");
    for _ in 0..512 {
        granted += pass(&mut credit, KIB, t).unwrap_or(0);
    }
    assert_eq!(granted, 64 * KIB);
    assert_eq!(credit.remaining(), u64::from(64 * KIB));
}

#[test]
fn a_changed_initial_window_moves_the_limit_and_the_window_alike() {
    let t = start();
    let mut credit = Credit::new(64 * KIB, 64 * KIB, t);
    credit.spend(60 * KIB, t).unwrap();
    credit.adjust(-i64::from(48 * KIB));
    assert_eq!(credit.remaining(), 0, "the peer's window is at -44 KiB");
    assert_eq!(credit.grant(t, None, true, &mut nobody()), None);
    credit.refund(60 * KIB);
    assert_eq!(credit.grant(t, None, false, &mut nobody()), Some(60 * KIB));
    assert_eq!(credit.remaining(), u64::from(16 * KIB));
    credit.adjust(i64::from(16 * KIB));
    assert_eq!(credit.remaining(), u64::from(32 * KIB));
    assert_eq!(
        credit.grant(after(t, 9000), None, true, &mut nobody()),
        None,
        "SETTINGS said it"
    );
}

#[test]
fn a_peer_that_has_not_seen_our_settings_may_use_the_default() {
    let t = start();
    let mut credit = Credit::new(16 * KIB, 16 * KIB, t).tolerating(65_535);
    credit.spend(65_535, t).unwrap();
    assert_eq!(credit.spend(1, t), Err(Exceeded));
    credit.refund(65_535);
    assert_eq!(credit.grant(t, None, false, &mut nobody()), Some(65_535));
    assert_eq!(credit.remaining(), u64::from(16 * KIB));
}

/// The trigger must look at what was freed since the last grant, not at the absolute offset: else
/// every packet beyond the first window is answered.
#[test]
fn the_rate_of_updates_does_not_rise_with_the_offset() {
    let t = start();
    let mut credit = Credit::new(256 * KIB, 256 * KIB, t);
    let count = |credit: &mut Credit| (0..8192).filter(|_| pass(credit, KIB, t).is_some()).count();
    let first = count(&mut credit);
    assert_eq!(first, 8 * 1024 / 32);
    for _ in 0..10 {
        assert_eq!(count(&mut credit), first);
    }
}

#[test]
fn a_fixed_window_is_topped_up_at_its_threshold() {
    let t = start();
    let mut budget_share = BudgetShare::new(1 << 40);
    let mut credit = Credit::fixed(4 * MIB, 160_000, t);
    let mut grants = Vec::new();
    for _ in 0..1024 {
        credit.spend(16 * KIB, t).unwrap();
        credit.refund(16 * KIB);
        grants.extend(credit.grant(t, Some(Duration::from_secs(9)), true, &mut budget_share));
    }
    assert_eq!(credit.readback().window, 4 * MIB, "it does not grow");
    assert!(
        grants.iter().all(|&grant| grant >= 4 * MIB - 160_000),
        "{grants:?}"
    );
    assert_eq!((grants.len(), budget_share.reserved()), (4, 0));
}

#[test]
fn no_fixed_threshold_makes_it_stall_or_babble() {
    let t = start();
    for threshold in [0, 1, 50_000, 99_999, 100_000, u32::MAX] {
        let mut credit = Credit::fixed(100_000, threshold, t);
        let grants = (0..100_000)
            .filter(|_| pass(&mut credit, 10, t).is_some())
            .count();
        assert!(
            (10..=62).contains(&grants),
            "{grants} grants at threshold {threshold}"
        );
        credit.shrink_to(100);
        assert!(
            (0..200_000).any(|_| pass(&mut credit, 1, t).is_some()),
            "after shrinking"
        );
    }
}

#[test]
fn streams_are_counted_alike() {
    let t = start();
    let mut streams = Credit::fixed(100, 75, t);
    streams.spend(100, t).unwrap();
    assert_eq!(streams.spend(1, t), Err(Exceeded));
    let closed = |streams: &mut Credit, count| {
        streams.refund(count);
        streams.grant(t, None, false, &mut nobody())
    };
    assert_eq!(closed(&mut streams, 49), None);
    assert_eq!(closed(&mut streams, 1), Some(50), "in batches");
    assert_eq!(streams.limit(), 150);
}

#[test]
fn a_window_is_set_upwards_only() {
    let t = start();
    let mut credit = Credit::new(64 * KIB, 64 * KIB, t);
    for window in [0, 1, 64 * KIB - 1, WINDOW_MAX + 1, u32::MAX] {
        let refused = credit.set_window(window).unwrap_err();
        assert_eq!((refused.asked, refused.window), (window, 64 * KIB));
        let text = refused.to_string();
        let names = ["receive_window", &window.to_string(), "65536", "2147483647"];
        assert!(names.iter().all(|name| text.contains(name)), "{text}");
    }
    assert_eq!(
        credit.grant(t, None, true, &mut nobody()),
        None,
        "a refusal changes nothing"
    );
    credit.set_window(64 * KIB).unwrap();
    credit.set_window(WINDOW_MAX).unwrap();
    assert_eq!(
        credit.grant(t, None, false, &mut nobody()),
        Some(WINDOW_MAX - 64 * KIB)
    );
    assert_eq!(credit.remaining(), u64::from(WINDOW_MAX));
    assert_eq!(
        pass(&mut credit, MIB, t),
        Some(MIB),
        "and never above the maximum"
    );
}

#[test]
fn setting_a_window_leaves_it_tuning() {
    let t = start();
    let mut credit = Credit::new(64 * KIB, 16 * MIB, t);
    credit.set_window(MIB).unwrap();
    let mut budget_share = BudgetShare::new(1 << 30);
    credit.grant(t, None, false, &mut budget_share);
    credit.spend(MIB, after(t, 100)).unwrap();
    credit.refund(MIB);
    credit
        .grant(after(t, 100), Some(RTT), false, &mut budget_share)
        .unwrap();
    assert!(credit.readback().window > MIB);
}

#[test]
fn the_first_byte_beyond_an_old_limit_bounds_the_round_trip() {
    let t = start();
    let mut credit = Credit::new(64 * KIB, 64 * KIB, t);
    credit.spend(64 * KIB, t).unwrap();
    credit.refund(64 * KIB);
    credit.grant(t, None, false, &mut nobody()).unwrap();
    assert_eq!(credit.rtt_sample(), None);
    credit.spend(1, after(t, 70)).unwrap();
    assert_eq!(credit.rtt_sample(), Some(Duration::from_millis(70)));
    assert_eq!(credit.rtt_sample(), None, "taken once");
    assert_eq!(credit.readback().rtt, Some(Duration::from_millis(70)));
}

#[test]
fn a_byte_within_the_old_limit_says_nothing_about_the_round_trip() {
    let t = start();
    let mut credit = Credit::new(64 * KIB, 64 * KIB, t);
    assert_eq!(pass(&mut credit, 32 * KIB, t), Some(32 * KIB));
    credit.spend(32 * KIB, after(t, 1)).unwrap();
    assert_eq!(credit.rtt_sample(), None);
    credit.spend(1, after(t, 50)).unwrap();
    assert_eq!(credit.rtt_sample(), Some(Duration::from_millis(50)));
}

#[test]
fn the_first_step_of_growth_is_to_256_kib() {
    let t = start();
    let mut credit = Credit::new(64 * KIB, 16 * MIB, t);
    credit.spend(16 * KIB, after(t, 1)).unwrap();
    credit.refund(16 * KIB);
    let mut budget_share = BudgetShare::new(1 << 30);
    let increment = credit.grant(after(t, 1), Some(RTT), false, &mut budget_share);
    assert_eq!(increment, Some((256 - 64 + 16) * KIB));
    assert_eq!(budget_share.reserved(), u64::from(192 * KIB));
}

#[test]
fn without_a_round_trip_nothing_grows() {
    let t = start();
    let mut credit = Credit::new(64 * KIB, 16 * MIB, t);
    credit.spend(16 * KIB, t).unwrap();
    credit.refund(16 * KIB);
    let increment = credit.grant(t, None, false, &mut BudgetShare::new(1 << 30));
    assert_eq!(increment, Some(16 * KIB));
}

#[test]
fn a_slow_reader_never_grows_its_window() {
    let t = start();
    let mut budget_share = BudgetShare::new(1 << 30);
    let mut credit = Credit::new(64 * KIB, 16 * MIB, t);
    // The peer fills every window at once; the reader takes 20 KiB per second.
    for tick in 0..100 {
        let now = after(t, tick * 100);
        let room = credit.remaining() as u32;
        credit.spend(room, now).unwrap();
        credit.refund(2 * KIB);
        credit.grant(now, Some(RTT), false, &mut budget_share);
        assert!(credit.unread() <= u64::from(64 * KIB));
    }
    assert_eq!(
        (credit.readback().window, budget_share.reserved()),
        (64 * KIB, 0)
    );
}

#[test]
fn a_reader_that_stops_gives_back_what_it_borrowed() {
    let t = start();
    let mut budget_share = BudgetShare::new(u64::from(MIB));
    let mut credit = Credit::new(64 * KIB, 16 * MIB, t);
    credit.raise_to(16 * MIB, &mut budget_share);
    assert_eq!(credit.readback().window, MIB + 64 * KIB, "all there is");
    credit.grant(t, None, false, &mut budget_share).unwrap();
    credit.spend(MIB, t).unwrap();
    // A second later the reader is back, and reads everything.
    let now = after(t, 1000);
    let mut granted = 0;
    for _ in 0..1024 {
        granted += credit
            .grant(now, None, false, &mut budget_share)
            .unwrap_or(0);
        assert!(
            credit.limit() - credit.readback().used + credit.unread()
                <= budget_share.reserved() + 65_536
        );
        credit.refund(KIB);
    }
    granted += credit
        .grant(now, None, false, &mut budget_share)
        .unwrap_or(0);
    assert_eq!(
        (budget_share.reserved(), credit.readback().window),
        (0, 64 * KIB)
    );
    assert_eq!(granted, 0, "64 KiB were still out");
}

#[test]
fn an_idle_window_gives_back_what_it_borrowed() {
    let t = start();
    let mut budget_share = BudgetShare::new(u64::from(MIB));
    let mut credit = Credit::new(64 * KIB, 16 * MIB, t);
    credit.raise_to(MIB, &mut budget_share);
    credit.grant(t, None, false, &mut budget_share).unwrap();
    credit.spend(MIB, t).unwrap();
    credit.refund(MIB);
    credit
        .grant(after(t, 2000), None, false, &mut budget_share)
        .unwrap();
    assert_eq!(
        (budget_share.reserved(), credit.remaining()),
        (0, u64::from(64 * KIB))
    );
}

#[test]
fn a_closed_stream_leaves_nothing_behind() {
    let t = start();
    let mut budget_share = BudgetShare::new(u64::from(MIB));
    let mut credit = Credit::new(64 * KIB, 16 * MIB, t);
    credit.raise_to(MIB, &mut budget_share);
    credit.grant(t, None, false, &mut budget_share).unwrap();
    credit.spend(100 * KIB, t).unwrap();
    credit.refund(KIB);
    assert_eq!(
        credit.close(&mut budget_share),
        u64::from(99 * KIB),
        "for the connection to refund"
    );
    assert_eq!((budget_share.reserved(), credit.unread()), (0, 0));
    assert_eq!(credit.close(&mut budget_share), 0);
}

#[test]
fn unread_bytes_within_the_allowance_do_not_hold_the_connection_back() {
    let t = start();
    let mut credit = Credit::new(MIB, MIB, t).allowing_unread(u64::from(4 * MIB));
    let mut granted = 0;
    for _ in 0..256 {
        credit.spend(16 * KIB, t).unwrap();
        granted += credit.grant(t, None, false, &mut nobody()).unwrap_or(0);
    }
    assert_eq!((granted, credit.unread()), (4 * MIB, u64::from(4 * MIB)));
    credit.spend(MIB, t).unwrap();
    assert_eq!(
        credit.grant(t, None, false, &mut nobody()),
        None,
        "the allowance is used up"
    );
    assert_eq!(credit.remaining(), 0);
    // Bytes freed on receipt are not freed again on consumption.
    credit.refund(5 * MIB);
    assert_eq!(credit.grant(t, None, false, &mut nobody()), Some(MIB));
}

#[test]
fn a_fast_reader_goes_on_beside_bodies_that_nobody_reads() {
    let t = start();
    let mut credit = Credit::new(MIB, MIB, t).allowing_unread(u64::from(2 * MIB));
    for _ in 0..32 {
        credit.spend(64 * KIB, t).unwrap();
        credit.grant(t, None, false, &mut nobody());
    }
    for round in 0..1000 {
        let room = credit.remaining();
        assert!(
            room >= u64::from(MIB - 128 * KIB),
            "round {round}: {room} bytes of room"
        );
        pass(&mut credit, 64 * KIB, t);
    }
    assert_eq!(credit.unread(), u64::from(2 * MIB));
}

/// Many windows, one budget, random steps: the counts balance after each.
#[test]
fn credit_is_conserved() {
    for seed in 0..50 {
        let mut dice = Dice(seed);
        let mut now = start();
        let total = u64::from(dice.below(4 * MIB));
        let mut budget_share = BudgetShare::new(total);
        let mut windows: Vec<_> = (0..8)
            .map(|_| {
                let window = 1 + dice.below(128 * KIB);
                let credit = Credit::new(window, window + dice.below(MIB), now);
                (credit, u64::from(window), window)
            })
            .collect();
        for _ in 0..4000 {
            now += Duration::from_micros(u64::from(dice.below(20_000)));
            let at = dice.below(8) as usize;
            let (credit, peer_limit, least) = &mut windows[at];
            match dice.below(20) {
                0..8 => {
                    let most = (*peer_limit - credit.readback().used).min(u64::from(u32::MAX));
                    let bytes = dice.below(most as u32 + 1);
                    credit.spend(bytes, now).expect("within what was granted");
                }
                8..15 => credit.refund(dice.below(credit.unread() as u32 + 1)),
                15 => credit.shrink_to(1 + dice.below(*least)),
                16 => credit.raise_to(dice.below(2 * MIB), &mut budget_share),
                17 => credit.note_blocked(),
                18 if credit.readback().used < *peer_limit => {
                    let beyond = (*peer_limit - credit.readback().used + 1) as u32;
                    assert_eq!(credit.spend(beyond, now), Err(Exceeded));
                }
                _ => credit.refund(0),
            }
            let rtt = Some(Duration::from_micros(u64::from(dice.below(100_000))));
            let writing = dice.below(4) == 0;
            if let Some(increment) = credit.grant(now, rtt, writing, &mut budget_share) {
                assert!(
                    (1..=WINDOW_MAX).contains(&increment),
                    "seed {seed}: {increment}"
                );
                *peer_limit += u64::from(increment);
            }
            let read = credit.readback();
            assert_eq!(
                *peer_limit, read.granted,
                "seed {seed}: the peer knows every grant"
            );
            assert!(
                read.used <= read.granted && read.unread <= read.used,
                "seed {seed}: {read:?}"
            );
            let fillable: u64 = windows
                .iter()
                .map(|(c, ..)| c.remaining() + c.unread())
                .sum();
            let minimums: u64 = windows.iter().map(|(.., least)| u64::from(*least)).sum();
            assert!(
                fillable <= minimums + budget_share.reserved(),
                "seed {seed}: more out than is lent"
            );
            assert!(
                budget_share.reserved() <= total,
                "seed {seed}: the budget is exceeded"
            );
        }
        for (credit, ..) in &mut windows {
            credit.close(&mut budget_share);
        }
        assert_eq!(
            budget_share.reserved(),
            0,
            "seed {seed}: everything comes back"
        );
    }
}

/// A sender at `rate` bytes per second behind `rtt`, and a reader that takes everything at once.
/// Returns the bytes received in the last second of `seconds`.
fn run(
    credit: &mut Credit,
    budget_share: &mut BudgetShare,
    rate: u64,
    rtt: Duration,
    seconds: u64,
) -> u64 {
    const TICK: Duration = Duration::from_micros(500);
    let begin = start();
    let (mut data, mut updates) = (VecDeque::new(), VecDeque::new());
    let (mut sent, mut peer_limit, mut received) = (0, credit.limit(), 0);
    let mut best = None;
    let ticks = seconds * 2000;
    for tick in 0..ticks {
        let now = begin + TICK * tick as u32;
        while let Some((_, bytes)) = updates.pop_front_if(|(at, _): &mut (Instant, u32)| *at <= now)
        {
            peer_limit += u64::from(bytes);
        }
        let bytes = (rate / 2000).min(peer_limit - sent) as u32;
        sent += u64::from(bytes);
        data.push_back((now + rtt / 2, bytes));
        while let Some((_, bytes)) = data.pop_front_if(|(at, _): &mut (Instant, u32)| *at <= now) {
            credit.spend(bytes, now).unwrap();
            credit.refund(bytes);
            if let Some(sample) = credit.rtt_sample() {
                best = Some(best.map_or(sample, |best: Duration| best.min(sample)));
            }
            if let Some(increment) = credit.grant(now, best, false, budget_share) {
                updates.push_back((now + rtt / 2, increment));
            }
            received += if tick >= ticks - 2000 {
                u64::from(bytes)
            } else {
                0
            };
        }
    }
    received
}

#[test]
fn a_window_grows_to_what_the_path_holds() {
    let t = start();
    for (rate, rtt_ms) in [
        (5_000_000, 100),
        (25_000_000, 20),
        (25_000_000, 100),
        (50_000_000, 200),
    ] {
        let mut budget_share = BudgetShare::new(64 << 20);
        let mut credit = Credit::new(64 * KIB, 16 * MIB, t);
        let rtt = Duration::from_millis(rtt_ms);
        let received = run(&mut credit, &mut budget_share, rate, rtt, 8);
        let window = u64::from(credit.readback().window);
        let path = rate * rtt_ms / 1000;
        assert!(
            received * 100 >= rate * 95,
            "{rate} B/s x {rtt_ms} ms: {received} with {window}"
        );
        assert!(
            window <= path * 5 + 512 * 1024,
            "{rate} B/s x {rtt_ms} ms: window {window}"
        );
    }
}

#[test]
fn a_quarter_of_the_window_per_round_trip_makes_it_grow_only_while_rounds_grow() {
    let rtt = Duration::from_millis(100);
    // Half of 256 KiB in each round trip: while that is more than before the window grows, and
    // the same for ever moves it no more.
    let window_after = |rounds: &[u32]| {
        let mut now = start();
        let mut budget_share = BudgetShare::new(64 << 20);
        let mut credit = Credit::new(256 * KIB, 16 * MIB, now);
        for bytes in rounds {
            for _ in 0..8 {
                now += rtt / 8;
                credit.spend(bytes / 8, now).unwrap();
                credit.refund(bytes / 8);
                credit.grant(now, Some(rtt), false, &mut budget_share);
            }
        }
        credit.readback().window
    };
    let starting = window_after(&[8 * KIB, 16 * KIB, 32 * KIB, 64 * KIB, 96 * KIB]);
    assert!(starting > 256 * KIB, "{starting}");
    let steady = window_after(&[96 * KIB; 20][..]);
    let longer = window_after(&[96 * KIB; 40][..]);
    assert_eq!(steady, longer);
    assert_eq!(
        window_after(&[32 * KIB, 32 * KIB, 32 * KIB, 96 * KIB]),
        256 * KIB
    );
}

#[test]
fn growth_stops_at_the_maximum_and_at_the_budget() {
    let t = start();
    let rtt = Duration::from_millis(100);
    let mut credit = Credit::new(64 * KIB, MIB, t);
    run(
        &mut credit,
        &mut BudgetShare::new(1 << 30),
        100_000_000,
        rtt,
        3,
    );
    assert_eq!(credit.readback().window, MIB);
    let mut credit = Credit::new(64 * KIB, 16 * MIB, t);
    let mut budget_share = BudgetShare::new(u64::from(MIB));
    run(&mut credit, &mut budget_share, 100_000_000, rtt, 3);
    assert_eq!(
        (credit.readback().window, budget_share.reserved()),
        (MIB + 64 * KIB, u64::from(MIB))
    );
}

#[test]
fn a_window_keeps_pace_with_slow_start() {
    // Paced over the round trip, twice as fast in every one: a grant takes a round trip to reach
    // the sender, so the window must hold what it sends meanwhile.
    let t = start();
    let mut budget_share = BudgetShare::new(u64::from(64 * MIB));
    let mut credit = Credit::new(256 * KIB, 16 * MIB, t);
    let mut in_flight: VecDeque<(Instant, u64)> = VecDeque::from([(t, credit.limit())]);
    let (mut sent, mut wanted, mut limit) = (0.0, 0.0, 0.0_f64);
    for ms in 0..900_u32 {
        let now = after(t, u64::from(ms));
        while in_flight.front().is_some_and(|(at, _)| *at <= now) {
            limit = in_flight.pop_front().unwrap().1 as f64;
        }
        // 32 KiB in the first round trip, 8 MiB in the ninth.
        let rate = f64::from(32 * KIB) * f64::from(ms / 100).exp2() / 100.0;
        wanted += rate;
        let next = limit.min(sent + rate);
        let bytes = (next as u64 - sent as u64) as u32;
        sent = next;
        credit.spend(bytes, now).unwrap();
        credit.refund(bytes);
        if credit
            .grant(now, Some(RTT), false, &mut budget_share)
            .is_some()
        {
            in_flight.push_back((now + RTT, credit.limit()));
        }
    }
    assert!(sent >= 0.7 * wanted, "{sent} of {wanted}");
}
