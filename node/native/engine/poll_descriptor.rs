//! The descriptor by which tokio waits for sockets (epoll), which tokio gives to no caller. It is
//! found as the epoll descriptor of the process that watches a socket which was registered for this
//! purpose: Linux lists the watched descriptors of each (`tfd:` in `/proc/self/fdinfo`).

use std::fs;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};
use tokio::net::UnixStream;

/// A duplicate of the epoll descriptor of the current tokio runtime. `None`: it is not found, as
/// where `/proc` is not mounted.
pub(super) fn of_current_runtime() -> Option<OwnedFd> {
    let (one, other) = UnixStream::pair().ok()?;
    let watched = [one.as_raw_fd(), other.as_raw_fd()];
    let found = fs::read_dir("/proc/self/fd").ok()?.find_map(|entry| {
        let descriptor: RawFd = entry.ok()?.file_name().to_str()?.parse().ok()?;
        is_watching(descriptor, watched).then_some(descriptor)
    })?;
    // SAFETY: it is tokio's, which closes it with the runtime, and that outlives this call.
    let found = unsafe { BorrowedFd::borrow_raw(found) };
    found.try_clone_to_owned().ok()
}

fn is_watching(descriptor: RawFd, watched: [RawFd; 2]) -> bool {
    let text = fact(descriptor).unwrap_or_default();
    let found = |wanted: &RawFd| {
        let mut watches = text.lines().filter_map(|line| line.strip_prefix("tfd:"));
        watches.any(|rest| {
            let number = rest.split_whitespace().next();
            number.and_then(|number| number.parse().ok()) == Some(*wanted)
        })
    };
    watched.iter().all(found)
}

/// The text in which Linux describes an epoll descriptor; of others nothing.
fn fact(descriptor: RawFd) -> io::Result<String> {
    let target = fs::read_link(format!("/proc/self/fd/{descriptor}"))?;
    match target.to_str() {
        Some("anon_inode:[eventpoll]") => {
            fs::read_to_string(format!("/proc/self/fdinfo/{descriptor}"))
        }
        _ => Ok(String::new()),
    }
}

#[cfg(test)]
#[path = "poll_descriptor_test.rs"]
mod poll_descriptor_test;
