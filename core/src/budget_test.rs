use super::*;

const RATE: Rate = Rate {
    burst: 10,
    per_second: 4,
};

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

/// How many single points go through now.
fn drain(budget: &mut Budget, now: Instant) -> u32 {
    (0..1000).take_while(|_| budget.charge(1, now)).count() as u32
}

#[test]
fn a_burst_goes_through_and_no_more() {
    let t = start();
    let mut budget = Budget::new(RATE, t);
    assert_eq!(drain(&mut budget, t), 10);
    assert_eq!(budget.used_percent(t), 100);
}

#[test]
fn it_refills_at_its_rate_and_not_above_its_burst() {
    let t = start();
    let mut budget = Budget::new(RATE, t);
    drain(&mut budget, t);
    assert_eq!(drain(&mut budget, after(t, 249)), 0);
    assert_eq!(drain(&mut budget, after(t, 250)), 1);
    assert_eq!(drain(&mut budget, after(t, 1250)), 4);
    assert_eq!(drain(&mut budget, after(t, 3_600_000)), 10);
}

#[test]
fn a_long_wait_before_a_burst_does_not_double_it() {
    let t = start();
    let mut budget = Budget::new(RATE, t);
    assert_eq!(drain(&mut budget, after(t, 3_600_000)), 10);
    assert_eq!(drain(&mut budget, after(t, 3_600_000)), 0);
}

#[test]
fn frequent_looks_do_not_lose_the_refill() {
    let t = start();
    let mut budget = Budget::new(RATE, t);
    drain(&mut budget, t);
    for look in 0..1000 {
        // Every 1.9 ms: rounding each down to a millisecond would lose nearly half.
        budget.used_percent(t + Duration::from_micros(look * 1900));
    }
    assert_eq!(drain(&mut budget, after(t, 1900)), 7);
}

#[test]
fn what_cannot_be_charged_whole_is_not_charged() {
    let t = start();
    let mut budget = Budget::new(RATE, t);
    assert!(!budget.charge(11, t));
    assert!(budget.charge(10, t));
    assert!(!budget.charge(u32::MAX, t));
    assert!(budget.charge(0, t));
}

#[test]
fn time_that_runs_backwards_gives_nothing() {
    let t = after(start(), 10_000);
    let mut budget = Budget::new(RATE, t);
    drain(&mut budget, t);
    assert_eq!(drain(&mut budget, t - Duration::from_secs(5)), 0);
}

#[test]
fn the_used_share_is_a_percentage() {
    let t = start();
    let mut budget = Budget::new(RATE, t);
    assert_eq!(budget.used_percent(t), 0);
    assert!(budget.charge(3, t));
    assert_eq!(budget.used_percent(t), 30);
    assert_eq!(
        Budget::new(
            Rate {
                burst: 0,
                per_second: 0
            },
            t
        )
        .used_percent(t),
        100
    );
}

#[test]
fn no_rate_overflows() {
    let t = start();
    let mut budget = Budget::new(
        Rate {
            burst: u32::MAX,
            per_second: u32::MAX,
        },
        t,
    );
    assert!(budget.charge(u32::MAX, t));
    assert!(budget.charge(u32::MAX, t + Duration::from_secs(1 << 30)));
}

/// Between two points of the refill.
const GAP: Duration = Duration::from_millis(250);

#[test]
fn a_burst_of_charges_holds_nothing() {
    let t = start();
    let mut pace = Pace::new(RATE, t);
    for _ in 0..RATE.burst {
        assert_eq!(pace.charge(t), t);
        assert_eq!((pace.held(t), pace.next_release(t)), (0, None));
    }
}

#[test]
fn each_charge_beyond_the_burst_holds_its_successor_until_the_refill_has_come_to_it() {
    let t = start();
    let mut pace = Pace::new(RATE, t);
    for _ in 0..RATE.burst {
        pace.charge(t);
    }
    for beyond in 1..=3 {
        assert_eq!(pace.charge(t), t + GAP * beyond);
        assert_eq!(pace.held(t), beyond);
        assert_eq!(pace.next_release(t), Some(t + GAP));
    }
    assert_eq!(pace.held(t + GAP - Duration::from_nanos(1)), 3);
    assert_eq!(pace.held(t + GAP), 2);
    assert_eq!(pace.next_release(t + GAP), Some(t + GAP * 2));
    assert_eq!(pace.held(t + GAP * 3), 0);
    assert_eq!(pace.next_release(t + GAP * 3), None);
}

#[test]
fn the_burst_of_a_pace_comes_back_with_time_and_never_twice() {
    let t = start();
    let mut pace = Pace::new(RATE, t);
    for _ in 0..RATE.burst {
        pace.charge(t);
    }
    let later = t + Duration::from_secs(3_600);
    for _ in 0..RATE.burst {
        assert_eq!(pace.charge(later), later);
    }
    assert_eq!(pace.charge(later), later + GAP);
}
