//! Sends several datagrams in one system call (sendmmsg, Linux). All share a source address and an
//! ECN mark, and so their control messages.

use super::super::QuicSocket;
use super::{Packet, TRANSMITS_MAX};
use quinn_proto::{EcnCodepoint, Transmit};
use socket2::SockAddr;
use std::collections::VecDeque;
use std::io;
use std::mem;
use std::net::IpAddr;
use std::os::fd::{AsRawFd, BorrowedFd};

/// Fewer go out one by one.
const MANY_MIN: usize = 2;

/// Memory of calls.
#[derive(Default)]
pub(in crate::driver::quic) struct Many {
    to: Vec<SockAddr>,
}

/// State that all datagrams of one call share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shared {
    from: IpAddr,
    ecn: Option<EcnCodepoint>,
}

/// The control messages of a datagram of IPv4 or IPv6: `Class` is its ECN mark, `Info` the address
/// that it leaves from. Laid out as `CMSG_NXTHDR` walks them: each header is aligned as its type.
#[repr(C)]
#[allow(dead_code, reason = "the system reads it")]
struct Control<Info> {
    class_head: libc::cmsghdr,
    class: libc::c_int,
    info_head: libc::cmsghdr,
    info: Info,
}

impl Many {
    /// Sends the first datagrams that are alike; how many went. `None`: too few are.
    pub(in crate::driver::quic) fn send(
        &mut self,
        socket: &QuicSocket,
        waiting: &VecDeque<Packet>,
    ) -> Option<io::Result<usize>> {
        let shared = Shared::of(&waiting.front()?.transmit)?;
        let alike = |packet: &&Packet| Shared::of(&packet.transmit) == Some(shared);
        let count = waiting.iter().take(TRANSMITS_MAX).take_while(alike).count();
        if count < MANY_MIN {
            return None;
        }
        let packets = || waiting.iter().take(count);
        self.to.clear();
        self.to
            .extend(packets().map(|packet| SockAddr::from(packet.transmit.destination)));
        let class = shared.ecn.map_or(0, |ecn| ecn as libc::c_int);
        Some(socket.try_io(|fd| match shared.from {
            IpAddr::V4(from) => {
                let info = libc::in_pktinfo {
                    ipi_ifindex: 0,
                    ipi_spec_dst: libc::in_addr {
                        s_addr: u32::from_ne_bytes(from.octets()),
                    },
                    ipi_addr: libc::in_addr { s_addr: 0 },
                };
                let class = (libc::IPPROTO_IP, libc::IP_TOS, class);
                let mut control = Control::new(class, (libc::IP_PKTINFO, info));
                send_many(fd, packets(), &self.to, &mut control)
            }
            IpAddr::V6(from) => {
                let info = libc::in6_pktinfo {
                    ipi6_addr: libc::in6_addr {
                        s6_addr: from.octets(),
                    },
                    ipi6_ifindex: 0,
                };
                let class = (libc::IPPROTO_IPV6, libc::IPV6_TCLASS, class);
                let mut control = Control::new(class, (libc::IPV6_PKTINFO, info));
                send_many(fd, packets(), &self.to, &mut control)
            }
        }))
    }
}

impl Shared {
    /// `None`: it needs a call of its own, because it is several segments, or leaves from whatever
    /// address the system chooses, or is IPv4 on a socket of IPv6.
    fn of(transmit: &Transmit) -> Option<Self> {
        let from = transmit.src_ip?;
        let is_mapped = matches!(from, IpAddr::V6(from) if from.to_ipv4_mapped().is_some());
        let one_family = from.is_ipv4() == transmit.destination.is_ipv4();
        let ecn = transmit.ecn;
        (one_family && !is_mapped && transmit.segment_size.is_none()).then_some(Self { from, ecn })
    }
}

impl<Info> Control<Info> {
    /// `class`: its level, kind and value; `info`: its kind and value, on the same level.
    fn new(class: (libc::c_int, libc::c_int, libc::c_int), info: (libc::c_int, Info)) -> Self {
        let (level, class_kind, class) = class;
        let (info_kind, info) = info;
        Self {
            class_head: head::<libc::c_int>(level, class_kind),
            class,
            info_head: head::<Info>(level, info_kind),
            info,
        }
    }
}

fn head<Value>(level: libc::c_int, kind: libc::c_int) -> libc::cmsghdr {
    // SAFETY: integers alone; some C libraries have padding of their own among them.
    let mut head: libc::cmsghdr = unsafe { mem::zeroed() };
    head.cmsg_len = (size_of::<libc::cmsghdr>() + size_of::<Value>()) as _;
    head.cmsg_level = level;
    head.cmsg_type = kind;
    head
}

/// How many of `packets` went to the addresses `to`.
fn send_many<'a, Info>(
    fd: BorrowedFd<'_>,
    packets: impl Iterator<Item = &'a Packet>,
    to: &[SockAddr],
    control: &mut Control<Info>,
) -> io::Result<usize> {
    // SAFETY: integers and pointers, for which zero is a value: no address, nothing to send.
    let mut slices: [libc::iovec; TRANSMITS_MAX] = unsafe { mem::zeroed() };
    // SAFETY: as above.
    let mut heads: [libc::mmsghdr; TRANSMITS_MAX] = unsafe { mem::zeroed() };
    let mut count = 0;
    for ((packet, to), (slice, head)) in
        packets.zip(to).zip(slices.iter_mut().zip(heads.iter_mut()))
    {
        let contents = &packet.contents[..packet.transmit.size];
        slice.iov_base = contents.as_ptr().cast_mut().cast();
        slice.iov_len = contents.len();
        head.msg_hdr.msg_name = to.as_ptr().cast_mut().cast();
        head.msg_hdr.msg_namelen = to.len();
        head.msg_hdr.msg_iov = slice;
        head.msg_hdr.msg_iovlen = 1;
        head.msg_hdr.msg_control = (&raw mut *control).cast();
        head.msg_hdr.msg_controllen = size_of::<Control<Info>>() as _;
        count += 1;
    }
    // SAFETY: the first `count` heads point to addresses, slices, bytes and control messages that
    // live until the call returns, with their lengths; sending changes none of them.
    let sent = unsafe { libc::sendmmsg(fd.as_raw_fd(), heads.as_mut_ptr(), count, 0) };
    match sent {
        ..0 => Err(io::Error::last_os_error()),
        sent => Ok(sent as usize),
    }
}
