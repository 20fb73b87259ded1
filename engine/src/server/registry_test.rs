use super::*;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::time::Duration;
use trunkline_core::min_rate::Scarcity;

fn open(connections: usize, per_address: Option<usize>) -> (Arc<OpenConnections>, Scarcity) {
    let allowed = Allowed {
        connections,
        per_address,
    };
    let places = ConnectionPlaces::new(allowed);
    let open = OpenConnections::new(&places, &Arc::default(), None);
    (open, places.scarcity.clone())
}

fn v4(last: u8) -> SocketAddr {
    (Ipv4Addr::new(192, 0, 2, last), 1000).into()
}

fn v6(network: u16, host: u16) -> SocketAddr {
    let address = Ipv6Addr::new(0x2001, 0xdb8, 0, network, 0, 0, 0, host);
    (address, 1000).into()
}

fn enter(open: &Arc<OpenConnections>, peer: Option<SocketAddr>) -> (OpenEntry, Arc<Activity>) {
    let activity = Activity::new();
    let entry = OpenConnections::enter(open, &Arc::default(), &activity, peer);
    (entry, activity)
}

#[test]
fn an_address_has_no_more_connections_than_it_may() {
    let (open, _) = open(100, Some(2));
    let first = enter(&open, Some(v4(1)));
    let _second = enter(&open, Some(v4(1)));
    assert!(!open.admits(v4(1).ip()));
    let mapped = Ipv4Addr::new(192, 0, 2, 1).to_ipv6_mapped();
    assert!(!open.admits(mapped.into()), "the same address");
    assert!(open.admits(v4(2).ip()));
    drop(first);
    assert!(open.admits(v4(1).ip()));
    assert_eq!(open.counters.connections_refused.load(Ordering::Relaxed), 2);
}

#[test]
fn the_addresses_of_an_ipv6_network_of_64_bits_count_together() {
    let (open, _) = open(100, Some(2));
    let _entries = [1, 2].map(|host| enter(&open, Some(v6(7, host))));
    assert!(!open.admits(v6(7, 3).ip()));
    assert!(open.admits(v6(8, 3).ip()));
}

#[test]
fn by_default_an_address_is_limited_to_a_quarter_where_connections_are_scarce() {
    let (open, scarcity) = open(16, None);
    let _gateway: Vec<_> = (0..11).map(|_| enter(&open, Some(v4(1)))).collect();
    assert!(
        !scarcity.is_set() && open.admits(v4(1).ip()),
        "eleven of 16"
    );
    let last = enter(&open, None);
    assert!(scarcity.is_set(), "twelve of 16");
    assert!(!open.admits(v4(1).ip()), "eleven are more than a quarter");
    assert!(open.admits(v4(2).ip()));
    assert!(open.admits(Ipv4Addr::LOCALHOST.into()));
    drop(last);
    assert!(!scarcity.is_set() && open.admits(v4(1).ip()));
}

#[test]
fn loopback_is_limited_where_that_is_asked_for() {
    let (open, _) = open(16, Some(1));
    let _entry = enter(&open, Some((Ipv4Addr::LOCALHOST, 1).into()));
    assert!(!open.admits(Ipv4Addr::LOCALHOST.into()));
}

#[test]
fn the_connection_that_idles_for_longest_gives_way_and_one_with_an_exchange_does_not() {
    let (open, _) = open(4, None);
    let entries: Vec<_> = (0..4).map(|_| enter(&open, None)).collect();
    let began = std::time::Instant::now();
    for (at, (_, activity)) in entries.iter().enumerate() {
        let after = Duration::from_secs(10 - at as u64);
        activity.set_moved_at(began + after);
    }
    // The one that moved first is at work.
    entries[3].1.set_exchanges(1);
    assert!(open.is_full());
    open.make_room();
    let leaves = |open: &OpenConnections| -> Vec<u64> {
        let all = open.all();
        let mut leaves: Vec<u64> = all
            .iter()
            .filter(|(_, open)| open.leaves)
            .map(|(&number, _)| number)
            .collect();
        leaves.sort_unstable();
        leaves
    };
    assert_eq!(leaves(&open), [2]);
    open.make_room();
    assert_eq!(leaves(&open), [2], "one place is on its way");
    drop(entries);
}

#[test]
fn a_connection_that_was_accepted_just_now_keeps_its_place_until_its_first_request() {
    let (open, _) = open(2, None);
    let entries = [enter(&open, None), enter(&open, None)];
    let leaving = |open: &OpenConnections| {
        let all = open.all();
        all.values().filter(|open| open.leaves).count()
    };
    assert!(!open.make_room(), "both may have a request in their socket");
    assert_eq!(leaving(&open), 0);
    // It has had one, and waits for the next.
    let activity = &entries[0].1;
    activity.set_moved_at(activity.moved_at() + Duration::from_nanos(1));
    assert!(open.make_room());
    assert_eq!(leaving(&open), 1);
}
