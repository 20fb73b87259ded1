use crate::pool::{Capacity, Gate, Standing};
use std::time::Instant;

#[allow(clippy::disallowed_methods, reason = "where a test's time begins")]
fn epoch() -> Instant {
    Instant::now()
}

fn report(free: u32, active: u32, taken: u64) -> Capacity {
    Capacity {
        free,
        active,
        taken,
        limit_known: true,
        standing: Standing::Open,
    }
}

#[test]
fn a_gate_lets_as_many_through_as_the_connection_has_room() {
    let mut gate = Gate::new(report(2, 0, 0), None);
    gate.pass();
    assert_eq!(gate.room(), 1);
    gate.pass();
    assert_eq!(gate.room(), 0);
}

#[test]
fn requests_on_their_way_keep_their_room_when_a_report_crosses_them() {
    let mut gate = Gate::new(report(10, 0, 0), None);
    for _ in 0..6 {
        gate.pass();
    }
    // The connection has taken two of six when it reports.
    gate.handle_report(report(8, 2, 2));
    assert_eq!(gate.room(), 4);
    assert_eq!(gate.active(), 6);
    gate.handle_report(report(4, 6, 6));
    assert_eq!(gate.room(), 4);
}

#[test]
fn before_the_limit_is_known_one_exchange_may_start() {
    let mut gate = Gate::new(Capacity::fresh(100, false), None);
    assert_eq!(gate.room(), 1);
    gate.pass();
    assert_eq!(gate.room(), 0, "the second waits for SETTINGS");
    assert_eq!(gate.limit(), None);
}

#[test]
fn a_remembered_limit_is_the_bound_until_the_peer_speaks() {
    let mut gate = Gate::new(Capacity::fresh(100, false), Some(10));
    assert_eq!(gate.room(), 10);
    gate.pass();
    gate.handle_report(report(4, 1, 1));
    assert_eq!(gate.room(), 4, "the peer's word replaces the memory");
    assert_eq!(gate.limit(), Some(5));
}

#[test]
fn a_draining_or_suspect_connection_takes_nothing() {
    let since = epoch();
    for standing in [Standing::Draining, Standing::Suspect { since }] {
        let capacity = Capacity {
            standing,
            ..report(10, 0, 0)
        };
        assert_eq!(Gate::new(capacity, None).room(), 0, "{standing:?}");
    }
}

#[test]
fn a_connection_without_any_room_counts_as_full() {
    assert_eq!(Gate::new(report(0, 0, 0), None).load_per_mille(), 1000);
    assert_eq!(Gate::new(report(75, 25, 0), None).load_per_mille(), 250);
}
