//! Passes open descriptors to another process over a Unix socket (SCM_RIGHTS, unix(7)).

use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

/// Descriptors of one message: Linux takes 253 (SCM_MAX_FD).
const PER_MESSAGE: usize = 64;

/// Sends duplicates of `descriptors`, in their order. Blocks, as the socket does.
///
/// # Errors
/// Those of the socket, and of a process without a descriptor left.
pub(crate) fn send(to: &UnixStream, descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
    for some in descriptors.chunks(PER_MESSAGE) {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(PER_MESSAGE))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        if !control.push(SendAncillaryMessage::ScmRights(some)) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        // A message of descriptors alone would not be sent: one byte goes with them.
        let byte = [0];
        again(|| sendmsg(to, &[IoSlice::new(&byte)], &mut control, SendFlags::empty()))?;
    }
    Ok(())
}

/// Receives as many descriptors as [`send`] was given.
///
/// # Errors
/// Those of the socket; `InvalidData` if other messages come.
pub(crate) fn receive(from: &UnixStream, count: usize) -> io::Result<Vec<OwnedFd>> {
    let mut received = Vec::with_capacity(count);
    while received.len() < count {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(PER_MESSAGE))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let mut byte = [0];
        let flags = RecvFlags::CMSG_CLOEXEC;
        let read = again(|| {
            let mut slices = [IoSliceMut::new(&mut byte)];
            recvmsg(from, &mut slices, &mut control, flags)
        })?;
        if read.bytes == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let before = received.len();
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(descriptors) = message {
                received.extend(descriptors);
            }
        }
        if received.len() == before || received.len() > count {
            return Err(io::ErrorKind::InvalidData.into());
        }
    }
    Ok(received)
}

/// Calls again where a signal came between.
fn again<T>(mut call: impl FnMut() -> rustix::io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(Errno::INTR) => {}
            other => return other.map_err(io::Error::from),
        }
    }
}

#[cfg(test)]
#[path = "passing_test.rs"]
mod passing_test;
