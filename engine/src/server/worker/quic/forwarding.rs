//! Forwards the packets of connections that an earlier process on the same UDP sockets still holds, and
//! takes those that a later one forwards. A packet goes in a datagram of a Unix socket pair, behind the
//! addresses that it came from and to.

use crate::driver::quic::config::cid::CidOwner;
use crate::driver::quic::socket::ReceivedDatagram;
use crate::server::worker::generations::{Generations, QuicWorkerSockets};
use bytes::BytesMut;
use quinn_proto::EcnCodepoint;
use socket2::SockRef;
use std::io::{self, IoSlice};
use std::net::{IpAddr, SocketAddr, SocketAddrV6};
use std::os::fd::AsFd as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use tokio::io::ReadBuf;
use tokio::net::{UdpSocket, UnixDatagram};

/// Packets that wait for an earlier process; further ones are lost, as in the queue of a UDP socket.
const QUEUE_BYTES: usize = 4 * 1024 * 1024;
/// Forwarded packets taken in one round of the endpoint, before its connections get their turn.
const PACKETS_PER_ROUND_MAX: usize = 64;
/// The largest UDP payload and the addresses before it.
const BUFFER_BYTES: usize = 64 * 1024 + 64;

/// The state that a worker shares with its endpoint, which may run on another thread.
#[derive(Default)]
struct State {
    /// Gets the packets that a later process forwards.
    forwarded: Mutex<Option<UnixDatagram>>,
    /// `forwarded` holds one.
    has_forwarded: AtomicBool,
    /// A later process reads the UDP socket.
    is_handed_over: AtomicBool,
}

impl State {
    /// Nothing that holds the lock panics half way.
    fn forwarded(&self) -> MutexGuard<'_, Option<UnixDatagram>> {
        self.forwarded
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// The worker's way to hand its endpoint's socket over.
pub(in crate::server::worker) struct QuicHandOver {
    state: Arc<State>,
    udp: Arc<UdpSocket>,
    generations: Arc<Generations>,
}

impl QuicHandOver {
    /// Duplicates for another process, which may be the next one. Those of an earlier call get no packets
    /// any more.
    ///
    /// # Errors
    /// When the process has no descriptor left.
    pub(in crate::server::worker) fn sockets(&self) -> io::Result<QuicWorkerSockets> {
        let (reads, forward) = std::os::unix::net::UnixDatagram::pair()?;
        reads.set_nonblocking(true)?;
        forward.set_nonblocking(true)?;
        // The system may allow less.
        let _ = SockRef::from(&forward).set_send_buffer_size(QUEUE_BYTES);
        let udp = self.udp.as_fd().try_clone_to_owned()?.into();
        *self.state.forwarded() = Some(UnixDatagram::from_std(reads)?);
        self.state.has_forwarded.store(true, Ordering::Release);
        let generations = Arc::clone(&self.generations);
        Ok(QuicWorkerSockets {
            udp,
            forward,
            generations,
        })
    }
    /// From now on the process with the sockets of the last call reads the UDP socket, and this one takes
    /// the packets that it forwards, once its endpoint is woken.
    pub(in crate::server::worker) fn begin(&self) {
        self.state.is_handed_over.store(true, Ordering::Release);
    }
}

/// An endpoint's exchange of packets with other processes.
pub(super) struct PacketForwarding {
    state: Arc<State>,
    generations: Arc<Generations>,
    /// Allocated with the first packet.
    buffer: Vec<u8>,
}

impl PacketForwarding {
    pub(super) fn new(generations: Arc<Generations>) -> Self {
        Self {
            state: Arc::default(),
            generations,
            buffer: Vec::new(),
        }
    }
    /// For the worker of the endpoint on `udp`.
    pub(super) fn hand_over(&self, udp: Arc<UdpSocket>) -> QuicHandOver {
        QuicHandOver {
            state: Arc::clone(&self.state),
            udp,
            generations: Arc::clone(&self.generations),
        }
    }
    /// Whether a later process reads the UDP socket.
    pub(super) fn is_handed_over(&self) -> bool {
        self.state.is_handed_over.load(Ordering::Acquire)
    }
    /// Forwards the packet to its connection's process. Gives it back where that has ended: the packet is
    /// to be answered here.
    pub(super) fn forward(
        &self,
        owner: CidOwner,
        arrival: ReceivedDatagram,
    ) -> Option<ReceivedDatagram> {
        let CidOwner::OtherProcess { generation, worker } = owner else {
            return Some(arrival);
        };
        let mut predecessors = self.generations.predecessors.iter();
        let predecessor = predecessors.find(|before| before.generation == generation);
        let socket = predecessor.and_then(|before| before.workers.get(usize::from(worker)));
        let Some(socket) = socket else {
            return Some(arrival);
        };
        let head = head_of(&arrival);
        let parts = [IoSlice::new(&head), IoSlice::new(&arrival.bytes)];
        match SockRef::from(socket).send_vectored(&parts) {
            Ok(_) => None,
            Err(error) => match error.kind() {
                io::ErrorKind::ConnectionRefused
                | io::ErrorKind::ConnectionReset
                | io::ErrorKind::NotConnected
                | io::ErrorKind::BrokenPipe => Some(arrival),
                // It is lost, as in a full queue of a UDP socket.
                _ => None,
            },
        }
    }
    /// Receives what a later process has forwarded; true when there may be more.
    pub(super) fn poll_receive(
        &mut self,
        cx: &mut Context<'_>,
        sink: &mut impl FnMut(ReceivedDatagram),
    ) -> bool {
        if !self.state.has_forwarded.load(Ordering::Acquire) {
            return false;
        }
        let forwarded = self.state.forwarded();
        let Some(socket) = &*forwarded else {
            return false;
        };
        for _ in 0..PACKETS_PER_ROUND_MAX {
            self.buffer.resize(BUFFER_BYTES, 0);
            let mut buffer = ReadBuf::new(&mut self.buffer);
            match socket.poll_recv(cx, &mut buffer) {
                Poll::Ready(Ok(())) => {
                    if let Some(arrival) = read(buffer.filled()) {
                        sink(arrival);
                    }
                }
                Poll::Ready(Err(_)) | Poll::Pending => return false,
            }
        }
        true
    }
}

/// The bits of the first byte.
const FROM_V6: u8 = 1;
const TO_V4: u8 = 2;
const TO_V6: u8 = 4;
const ECN_SHIFT: u32 = 3;

/// The part before a forwarded packet: one byte of flags, address, scope (IPv6) and port of its source,
/// and the address that it came to.
fn head_of(arrival: &ReceivedDatagram) -> Vec<u8> {
    let mut flags = arrival.ecn.map_or(0, |ecn| (ecn as u8) << ECN_SHIFT);
    let mut head = Vec::with_capacity(64);
    head.push(0);
    match arrival.from {
        SocketAddr::V4(from) => head.extend(from.ip().octets()),
        SocketAddr::V6(from) => {
            flags |= FROM_V6;
            head.extend(from.ip().octets());
            head.extend(from.scope_id().to_be_bytes());
        }
    }
    head.extend(arrival.from.port().to_be_bytes());
    match arrival.to {
        None => {}
        Some(IpAddr::V4(to)) => {
            flags |= TO_V4;
            head.extend(to.octets());
        }
        Some(IpAddr::V6(to)) => {
            flags |= TO_V6;
            head.extend(to.octets());
        }
    }
    head[0] = flags;
    head
}

/// A packet behind its [head](head_of); `None`: it is none, or a question whether this process lives.
fn read(bytes: &[u8]) -> Option<ReceivedDatagram> {
    let (&[flags], mut rest) = bytes.split_first_chunk()?;
    let from = match flags & FROM_V6 {
        0 => {
            let address: &[u8; 4] = take(&mut rest)?;
            SocketAddr::new((*address).into(), u16::from_be_bytes(*take(&mut rest)?))
        }
        _ => {
            let address: &[u8; 16] = take(&mut rest)?;
            let scope = u32::from_be_bytes(*take(&mut rest)?);
            let port = u16::from_be_bytes(*take(&mut rest)?);
            SocketAddr::V6(SocketAddrV6::new((*address).into(), port, 0, scope))
        }
    };
    let to = match flags & (TO_V4 | TO_V6) {
        0 => None,
        TO_V4 => Some(IpAddr::from(*take::<4>(&mut rest)?)),
        _ => Some(IpAddr::from(*take::<16>(&mut rest)?)),
    };
    Some(ReceivedDatagram {
        from,
        to,
        ecn: EcnCodepoint::from_bits(flags >> ECN_SHIFT),
        bytes: BytesMut::from(rest),
    })
}

fn take<'a, const N: usize>(rest: &mut &'a [u8]) -> Option<&'a [u8; N]> {
    let (first, behind) = rest.split_first_chunk()?;
    *rest = behind;
    Some(first)
}

#[cfg(test)]
#[path = "forwarding_test.rs"]
mod forwarding_test;
