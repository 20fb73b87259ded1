#![allow(clippy::unwrap_used, reason = "what fails here fails its test")]

use super::*;
use crate::{Workplace, free_port};

#[test]
fn a_program_that_ends_is_named_with_the_port_on_which_it_never_listened() {
    let workplace = Workplace::new().unwrap();
    let port = free_port().unwrap();
    let log = || workplace.path().join("log");
    let started = Process::start(Command::new("true").arg("x"), &[port], log());
    let why = started.map(drop).unwrap_err();
    assert!(why.contains("`true x` ended (exit status: 0)"), "{why}");
    assert!(why.contains(&format!(" port {port}")), "{why}");
    let mut process = Process::start(&mut Command::new("true"), &[], log()).unwrap();
    let why = process.speaks_quic(port).unwrap_err();
    assert!(why.contains("`true` ended"), "{why}");
    assert!(why.contains(&format!("UDP port {port}")), "{why}");
}

#[test]
fn a_program_speaks_quic_once_it_has_answered_on_its_udp_port() {
    let workplace = Workplace::new().unwrap();
    let mut sleep = Command::new("sleep");
    let mut process = Process::start(sleep.arg("60"), &[], workplace.path().join("log")).unwrap();
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, free_port().unwrap())).unwrap();
    let port = socket.local_addr().unwrap().port();
    let answering = thread::spawn(move || {
        let mut received = [0; 1500];
        // The first is lost.
        socket.recv_from(&mut received).unwrap();
        let (length, from) = socket.recv_from(&mut received).unwrap();
        socket.send_to(b"a version", from).unwrap();
        received[..length].to_vec()
    });
    assert_eq!(process.speaks_quic(port), Ok(()));
    let received = answering.join().unwrap();
    // The sizes of both connection ids stand where they belong.
    assert_eq!((received.len(), received[5], received[14]), (1200, 8, 8));
}
