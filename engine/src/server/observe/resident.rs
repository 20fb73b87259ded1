//! The memory of this process that is in RAM.

/// The process's resident memory, bytes; `None` where the system does not tell.
#[cfg(target_os = "linux")]
pub(crate) fn bytes() -> Option<u64> {
    // proc_pid_statm(5): the second number is the resident set, in pages.
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split(' ').nth(1)?.parse().ok()?;
    Some(pages * rustix::param::page_size() as u64)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn bytes() -> Option<u64> {
    None
}
