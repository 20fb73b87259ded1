//! A TUN device: one read or write is one IP packet behind a header of [`HEADER_BYTES`].
//!
//! The header is the kernel's `virtio_net_hdr`. With segments offloaded it says how a packet of up
//! to 64 KiB divides into those that a wire would carry; the relay hands it on unread except for the
//! count.

use nix::libc;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;

/// Bytes of `virtio_net_hdr`.
pub(super) const HEADER_BYTES: usize = 10;
/// The largest read: an IPv4 packet and the header.
pub(super) const READ_BYTES: usize = HEADER_BYTES + 65_535;

/// The offloads that the kernel may leave to the other side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Offload {
    /// Nothing: each packet is one that a wire would carry.
    None,
    /// Checksums and the division into segments: fewer, larger packets.
    Segments,
}

/// An open device; it goes when this is dropped.
#[derive(Debug)]
pub(super) struct Tun(File);

impl Tun {
    /// Makes the device in the namespace that this thread has joined.
    pub(super) fn open(name: &str, offload: Offload) -> Result<Self, String> {
        let path = "/dev/net/tun";
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(libc::O_NONBLOCK)
            .open(path)
            .map_err(|error| format!("cannot open {path}: {error}"))?;
        // SAFETY: an `ifreq` of zeros is a valid value: a name without letters and no flags.
        let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
        for (to, from) in request.ifr_name.iter_mut().zip(name.bytes().take(15)) {
            *to = from.cast_signed() as libc::c_char;
        }
        let flags = libc::IFF_TUN | libc::IFF_NO_PI | libc::IFF_VNET_HDR;
        request.ifr_ifru.ifru_flags = flags as libc::c_short;
        // SAFETY: the file is open and `request` is a whole `ifreq` for the length of the call.
        unsafe { set_interface(file.as_raw_fd(), &raw const request) }
            .map_err(|error| format!("cannot make the device {name}: {error}"))?;
        if offload == Offload::Segments {
            let basic = libc::TUN_F_CSUM | libc::TUN_F_TSO4 | libc::TUN_F_TSO6;
            let datagrams = libc::TUN_F_USO4 | libc::TUN_F_USO6;
            // Kernels before 6.2 know no offload for UDP.
            // SAFETY: the file is open; the argument is a number.
            unsafe { set_offload(file.as_raw_fd(), (basic | datagrams).cast_signed()) }
                // SAFETY: as above.
                .or_else(|_| unsafe { set_offload(file.as_raw_fd(), basic.cast_signed()) })
                .map_err(|error| format!("cannot offload segments on {name}: {error}"))?;
        }
        Ok(Self(file))
    }

    /// Reads one packet; `None` when there is none.
    pub(super) fn read(&self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match (&self.0).read(buffer) {
            Ok(length) => Ok(Some(length)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Writes one packet.
    pub(super) fn write(&self, packet: &[u8]) -> io::Result<()> {
        (&self.0).write(packet).map(|_| ())
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Bytes and packets that a wire would carry for what one read gave: each segment has the heads
/// of its own.
pub(super) fn on_the_wire(read: &[u8]) -> (u64, u32) {
    let (header, packet) = read.split_at(HEADER_BYTES.min(read.len()));
    let bytes = packet.len() as u64;
    let [_, kind, head_low, head_high, segment_low, segment_high, ..] = *header else {
        return (bytes, 1);
    };
    let head = u64::from(u16::from_ne_bytes([head_low, head_high]));
    let segment = u64::from(u16::from_ne_bytes([segment_low, segment_high]));
    if kind == 0 || segment == 0 || bytes <= head {
        return (bytes, 1);
    }
    let count = (bytes - head).div_ceil(segment);
    (bytes + (count - 1) * head, count as u32)
}

nix::ioctl_write_ptr_bad!(
    /// `TUNSETIFF`: names the device and its kind.
    set_interface,
    nix::request_code_write!(b'T', 202, size_of::<libc::c_int>()),
    libc::ifreq
);
nix::ioctl_write_int_bad!(
    /// `TUNSETOFFLOAD`: what the reader takes undone.
    set_offload,
    nix::request_code_write!(b'T', 208, size_of::<libc::c_uint>())
);

#[cfg(test)]
#[path = "tun_test.rs"]
mod tun_test;
