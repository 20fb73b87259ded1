//! Free ports for programs that need a fixed one.

use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

/// Below the system's ephemeral ports (from 32,768 on): no other program gets one of these between
/// our check and the program's start, and a peer that probes whether the program listens cannot
/// meet itself or another test's server.
const FIRST: u16 = 10_000;
const COUNT: u32 = 20_000;

/// A port of 127.0.0.1 that nothing listened on a moment ago, over TCP or UDP. No process gets one
/// twice before it had all of them, and each begins elsewhere.
///
/// # Errors
/// When all are taken.
pub fn free_port() -> Result<u16, String> {
    static GIVEN: AtomicU32 = AtomicU32::new(0);
    // Neighbours in the list of processes lie far apart here.
    let first = process::id().wrapping_mul(7_919);
    (0..COUNT)
        .map(|_| first.wrapping_add(GIVEN.fetch_add(1, Ordering::Relaxed)) % COUNT)
        // Below 30,000: it fits.
        .map(|offset| FIRST + offset as u16)
        .find(|&port| is_free(port))
        .ok_or_else(|| format!("no free port on 127.0.0.1 from {FIRST} on"))
}

fn is_free(port: u16) -> bool {
    let address = (Ipv4Addr::LOCALHOST, port);
    TcpListener::bind(address).is_ok() && UdpSocket::bind(address).is_ok()
}

#[cfg(test)]
#[path = "port_test.rs"]
mod port_test;
