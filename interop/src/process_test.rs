#![allow(clippy::unwrap_used, reason = "what fails here fails its test")]

use super::*;
use crate::{Workplace, free_port};

#[test]
fn a_program_that_ends_is_named_with_the_port_on_which_it_never_listened() {
    let place = Workplace::new().unwrap();
    let port = free_port().unwrap();
    let log = || place.path().join("log");
    let started = Process::start(Command::new("true").arg("x"), &[port], log());
    let why = started.map(drop).unwrap_err();
    assert!(why.contains("`true x` ended (exit status: 0)"), "{why}");
    assert!(why.contains(&format!(" port {port}")), "{why}");
    let mut process = Process::start(&mut Command::new("true"), &[], log()).unwrap();
    let why = process.listens_on_udp(port).unwrap_err();
    assert!(why.contains("`true` ended"), "{why}");
    assert!(why.contains(&format!("UDP port {port}")), "{why}");
}

#[test]
fn a_udp_port_is_listened_on_once_somebody_has_it() {
    let place = Workplace::new().unwrap();
    let mut sleep = Command::new("sleep");
    let mut process = Process::start(sleep.arg("60"), &[], place.path().join("log")).unwrap();
    let port = free_port().unwrap();
    let address = (Ipv4Addr::LOCALHOST, port);
    let _held = UdpSocket::bind(address).unwrap();
    assert_eq!(process.listens_on_udp(port), Ok(()));
}
