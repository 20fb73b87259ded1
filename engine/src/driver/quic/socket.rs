//! A UDP socket that receives (GRO, recvmmsg) and sends (GSO) many datagrams per system call.

mod arrivals;
pub(crate) mod batch;
pub(super) mod path;

use arrivals::Arrivals;
use bytes::BytesMut;
use quinn_proto::{EcnCodepoint, Transmit};
use quinn_udp::{BATCH_SIZE, RecvMeta, UdpSockRef, UdpSocketState};
use std::cell::RefCell;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::io::Interest;
use tokio::net::UdpSocket;

/// One buffer of a batch takes what GRO joins at most (a UDP length field).
const BUFFER_BYTES: usize = 64 * 1024;
/// Segments of one send: as many packets of the largest size that a path is probed for (1,452 bytes) as
/// fit into what the system takes at once (65,507 bytes). How many packets leave in a burst is the
/// pacer's decision; fewer segments would only be more system calls for the same burst.
const SEGMENTS_MAX: usize = 44;
/// The kernel's queues: a burst of one congestion window per busy connection must fit.
const KERNEL_BUFFER_BYTES: usize = 4 * 1024 * 1024;
/// Larger receives get a buffer of their own, which goes with its last reader: a
/// socket keeps its arena for as long as it lives, 64 KB for each idle connection of a client.
const ARENA_BYTES_MAX: usize = 8 * 1024;

thread_local! {
    static ARRIVALS: RefCell<Arrivals> = RefCell::new(Arrivals::new());
}

/// A UDP socket.
#[derive(Debug)]
pub(crate) struct QuicSocket {
    io: Arc<UdpSocket>,
    state: UdpSocketState,
    /// Where little that was received is kept while the connections look at it; used again when they
    /// are done.
    arena: BytesMut,
}

/// A datagram that came.
pub(crate) struct ReceivedDatagram {
    pub(crate) from: SocketAddr,
    /// The address it came to.
    pub(crate) to: Option<IpAddr>,
    pub(crate) ecn: Option<EcnCodepoint>,
    pub(crate) bytes: BytesMut,
}

impl QuicSocket {
    /// Takes a bound socket. Must be called within a runtime.
    pub(crate) fn new(socket: std::net::UdpSocket) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        let io = Arc::new(UdpSocket::from_std(socket)?);
        let state = UdpSocketState::new(UdpSockRef::from(&*io))?;
        // A system that gives less only loses packets earlier.
        let _ = state.set_send_buffer_size(UdpSockRef::from(&*io), KERNEL_BUFFER_BYTES);
        let _ = state.set_recv_buffer_size(UdpSockRef::from(&*io), KERNEL_BUFFER_BYTES);
        Ok(Self {
            io,
            state,
            arena: BytesMut::new(),
        })
    }
    /// The local address.
    pub(crate) fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.local_addr()
    }
    /// The socket, for other owners.
    #[cfg(unix)]
    pub(crate) fn shared(&self) -> Arc<UdpSocket> {
        Arc::clone(&self.io)
    }
    /// Waits until a connected socket reports that no process listens at the peer's port: an error
    /// of its own, not a readable event.
    pub(crate) fn refused(&self) -> impl Future<Output = ()> + Send + use<> {
        let io = Arc::clone(&self.io);
        async move {
            while io.ready(Interest::ERROR).await.is_ok() {
                let error = io.take_error().ok().flatten();
                if error.is_some_and(|error| error.kind() == io::ErrorKind::ConnectionRefused) {
                    return;
                }
                // Another error, or one that a send has taken: wait for the next.
                let _ = io.try_io(Interest::ERROR, || {
                    Err::<(), _>(io::ErrorKind::WouldBlock.into())
                });
            }
            std::future::pending::<()>().await;
        }
    }
    /// Segments that one transmit may have.
    pub(crate) fn segments_max(&self) -> usize {
        self.state.max_gso_segments().min(SEGMENTS_MAX)
    }
    /// Whether packets are never fragmented on their way: only then a path's size can be probed.
    pub(crate) fn may_fragment(&self) -> bool {
        self.state.may_fragment()
    }
    /// Receives what is there. `Ready(Ok)`: a whole batch, there may be more; `Pending`: that was
    /// all, the task is woken for the next. `Ready(Err)`: an error of an earlier send, of one peer
    /// only.
    pub(crate) fn poll_receive(
        &mut self,
        cx: &mut Context<'_>,
        sink: &mut (impl FnMut(ReceivedDatagram) + ?Sized),
    ) -> Poll<io::Result<()>> {
        loop {
            ready!(self.io.poll_recv_ready(cx))?;
            match self.receive_batch(receive, sink) {
                Ok(true) => return Poll::Ready(Ok(())),
                Ok(false) => {}
                Err(error) if would_block(&error) => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }
    /// Receives what the system has, even where the runtime has not been notified of it yet: its thread
    /// may have been busy, or stood still. True: a whole batch, there may be more.
    pub(crate) fn receive_unnotified(
        &mut self,
        sink: &mut (impl FnMut(ReceivedDatagram) + ?Sized),
    ) -> io::Result<bool> {
        let receive = |io: &UdpSocket,
                       state: &UdpSocketState,
                       arrivals: &mut Arrivals,
                       metas: &mut [RecvMeta; BATCH_SIZE]| {
            state.recv(UdpSockRef::from(io), &mut arrivals.slices(), metas)
        };
        match self.receive_batch(receive, sink) {
            Err(error) if would_block(&error) => Ok(false),
            done => done,
        }
    }
    /// Hands on what one call receives. True: a whole batch.
    fn receive_batch(
        &mut self,
        receive: impl Fn(
            &UdpSocket,
            &UdpSocketState,
            &mut Arrivals,
            &mut [RecvMeta; BATCH_SIZE],
        ) -> io::Result<usize>,
        sink: &mut (impl FnMut(ReceivedDatagram) + ?Sized),
    ) -> io::Result<bool> {
        let Self { io, state, arena } = self;
        ARRIVALS.with_borrow_mut(|arrivals| {
            let mut metas = [RecvMeta::default(); BATCH_SIZE];
            let count = receive(io, state, arrivals, &mut metas)?;
            for (number, meta) in metas[..count].iter().enumerate() {
                hand_on(arrivals.take(number, meta.len, arena), meta, sink);
            }
            Ok(count == BATCH_SIZE)
        })
    }
    /// Sends one transmit. `Ready(Err)`: it is lost, as packets are; the error may be an earlier
    /// one's.
    pub(crate) fn poll_send(
        &self,
        cx: &mut Context<'_>,
        transmit: &Transmit,
        contents: &[u8],
    ) -> Poll<io::Result<()>> {
        loop {
            ready!(self.io.poll_send_ready(cx))?;
            match self.try_send(transmit, contents) {
                Err(error) if would_block(&error) => {}
                done => return Poll::Ready(done),
            }
        }
    }
    /// Waits until the socket may take more.
    pub(super) fn poll_send_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.io.poll_send_ready(cx)
    }
    /// Sends by a call of one's own.
    #[cfg(target_os = "linux")]
    pub(super) fn try_io<R>(
        &self,
        send: impl FnOnce(std::os::fd::BorrowedFd<'_>) -> io::Result<R>,
    ) -> io::Result<R> {
        use std::os::fd::AsFd;
        self.io.try_io(Interest::WRITABLE, || send(self.io.as_fd()))
    }
    /// Sends without waiting.
    pub(crate) fn try_send(&self, transmit: &Transmit, contents: &[u8]) -> io::Result<()> {
        let out = quinn_udp::Transmit {
            destination: transmit.destination,
            ecn: transmit
                .ecn
                .and_then(|ecn| quinn_udp::EcnCodepoint::from_bits(ecn as u8)),
            contents: &contents[..transmit.size],
            segment_size: transmit.segment_size,
            src_ip: transmit.src_ip,
        };
        self.io.try_io(Interest::WRITABLE, || {
            self.state.try_send(UdpSockRef::from(&*self.io), &out)
        })
    }
}

fn receive(
    io: &UdpSocket,
    state: &UdpSocketState,
    arrivals: &mut Arrivals,
    metas: &mut [RecvMeta; BATCH_SIZE],
) -> io::Result<usize> {
    let mut slices = arrivals.slices();
    let mut count = 0;
    let received = io.try_io(Interest::READABLE, || {
        count = state.recv(UdpSockRef::from(io), &mut slices, metas)?;
        match count == BATCH_SIZE {
            true => Ok(()),
            // Less than was asked for is all there was. The runtime need not ask the system to
            // learn the same: readiness comes anew with the next datagram.
            false => Err(io::ErrorKind::WouldBlock.into()),
        }
    });
    match received {
        Err(error) if count > 0 && would_block(&error) => Ok(count),
        received => received.map(|()| count),
    }
}

/// Splits what GRO joined.
fn hand_on(
    mut joined: BytesMut,
    meta: &RecvMeta,
    sink: &mut (impl FnMut(ReceivedDatagram) + ?Sized),
) {
    while !joined.is_empty() {
        let length = meta.stride.clamp(1, joined.len());
        sink(ReceivedDatagram {
            from: meta.addr,
            to: meta.dst_ip,
            ecn: meta.ecn.and_then(|ecn| EcnCodepoint::from_bits(ecn as u8)),
            bytes: joined.split_to(length),
        });
    }
}

fn would_block(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::WouldBlock
}

#[cfg(test)]
#[path = "socket_test.rs"]
mod socket_test;
