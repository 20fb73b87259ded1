//! What a process has used, from /proc.

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
