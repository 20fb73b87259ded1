//! The resources that a process has used, from /proc.

use std::fs;

/// Nanoseconds on a processor, user and kernel, of all threads of `ids`. The scheduler's own
/// count: exact for threads that sleep now; what ended threads used is not in it.
pub(crate) fn cpu_ns(ids: &[u32]) -> u64 {
    let tasks = |&id: &u32| {
        fs::read_dir(format!("/proc/{id}/task"))
            .into_iter()
            .flatten()
            .flatten()
    };
    ids.iter()
        .flat_map(tasks)
        .filter_map(|task| fs::read_to_string(task.path().join("schedstat")).ok())
        .filter_map(|text| text.split_whitespace().next()?.parse::<u64>().ok())
        .sum()
}

/// Nanoseconds on a processor of the thread that a process began with: in Node.js and Bun the one of
/// JavaScript.
pub(crate) fn first_thread_ns(id: u32) -> u64 {
    let text = fs::read_to_string(format!("/proc/{id}/task/{id}/schedstat")).unwrap_or_default();
    let first = text.split_whitespace().next();
    first.and_then(|ns| ns.parse().ok()).unwrap_or(0)
}

/// Resident memory of `ids` in KiB.
pub(crate) fn resident_kib(ids: &[u32]) -> u64 {
    ids.iter()
        .filter_map(|id| fs::read_to_string(format!("/proc/{id}/status")).ok())
        .filter_map(|text| {
            let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
            line.split_whitespace().next()?.parse::<u64>().ok()
        })
        .sum()
}
