use super::*;
use std::net::{IpAddr, Ipv4Addr};

const RATE: Rate = Rate {
    burst: 3,
    per_second: 2,
};

fn address(number: u32) -> Address {
    Address::of(IpAddr::V4(Ipv4Addr::from(number)))
}

#[test]
fn the_addresses_that_are_counted_are_bounded_and_quiet_ones_give_way() {
    for bounds in [(Some(RATE), None), (None, Some(RATE))] {
        let now = Instant::now();
        let mut uses = AddressUses::new(now);
        for number in 0..ADDRESSES_MAX as u32 {
            assert_eq!(uses.request(bounds, address(number), now), None);
            uses.moved(bounds, (address(number), 3), now);
        }
        let (new, burst_later) = (address(u32::MAX), now + Duration::from_secs(2));
        // All of them are busy: the new one is not limited.
        for _ in 0..10 {
            assert_eq!(uses.request(bounds, new, now), None);
            uses.moved(bounds, (new, 10), now);
        }
        assert_eq!(uses.by_address.len(), ADDRESSES_MAX);
        assert_eq!(uses.request(bounds, new, burst_later), None);
        assert_eq!(uses.by_address.len(), 1);
    }
}

#[test]
fn bytes_drain_at_their_rate_however_often_they_are_looked_at() {
    let start = Instant::now();
    let mut moved = BytesMoved {
        level: 0,
        drained_at: start,
    };
    moved.add(1000, RATE, start);
    for ms in 0..10_000 {
        let level = moved.drain(RATE, start + Duration::from_millis(ms));
        assert!(level <= 123, "the burst and a minute are the most: {level}");
    }
    let level = moved.drain(RATE, start + Duration::from_secs(10));
    assert_eq!(level, 123 - 20);
}

/// A connection that moves bytes is counted at its own pace, which is seldom one of whole milliseconds.
#[test]
fn bytes_drain_at_their_rate_however_often_they_are_counted() {
    let rate = Rate {
        burst: 1,
        per_second: 1_000_000,
    };
    for micros in [1, 300, 999, 1_001, 1_900, 2_999] {
        let began = Instant::now();
        let mut moved = BytesMoved {
            level: 60_000_000,
            drained_at: began,
        };
        let steps = 10_000_000 / micros;
        for step in 1..=steps {
            moved.add(0, rate, began + Duration::from_micros(step * micros));
        }
        let left = 60_000_000 - moved.level;
        let over = steps * micros;
        assert!(
            left <= over && over - left < 1_000,
            "{micros}: {left} of {over}"
        );
    }
}
