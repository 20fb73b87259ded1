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

#[test]
fn a_port_on_which_somebody_listens_is_not_free_over_either_transport() {
    let port = free_port().unwrap();
    let address = (Ipv4Addr::LOCALHOST, port);
    let udp = UdpSocket::bind(address).unwrap();
    assert!(!is_free(port), "UDP");
    drop(udp);
    let tcp = TcpListener::bind(address).unwrap();
    assert!(!is_free(port), "TCP");
    drop(tcp);
    assert!(is_free(port));
}
