#![allow(clippy::unwrap_used, reason = "what fails here fails its test")]

use super::*;
use std::collections::HashSet;

#[test]
fn a_port_is_given_once_and_lies_where_the_system_gives_none() {
    let mut seen = HashSet::new();
    for _ in 0..200 {
        let port = free_port().unwrap();
        assert!(seen.insert(port), "{port} twice");
        assert!((10_000..30_000).contains(&port), "{port}");
    }
}

/// Other programs of the suite take ports too, so that one that was free may be taken a moment later.
fn ports() -> impl Iterator<Item = u16> {
    (0..100).map(|_| free_port().unwrap())
}

#[test]
fn a_port_on_which_somebody_listens_is_not_free_over_either_transport() {
    let (mut over_udp, mut over_tcp) = (0, 0);
    for port in ports() {
        let address = (Ipv4Addr::LOCALHOST, port);
        if let Ok(_open) = UdpSocket::bind(address) {
            assert!(!is_free(port), "UDP");
            over_udp += 1;
        }
        if let Ok(_open) = TcpListener::bind(address) {
            assert!(!is_free(port), "TCP");
            over_tcp += 1;
        }
    }
    assert!(over_udp > 0 && over_tcp > 0);
    assert!(ports().any(is_free));
}
