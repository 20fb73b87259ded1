//! CPU time of a program of tests, with the programs that it started and waited for, as Linux counts it.
//! Time on the wall depends on what else runs; this does hardly, and shows what a test costs.

use std::path::Path;
use std::time::Duration;

/// Linux counts CPU time in hundredths of a second for programs (`USER_HZ`), whatever the kernel's own rate.
const TICK: Duration = Duration::from_millis(10);
/// Where the user time stands among the fields of `/proc/PID/stat` behind the name in parentheses:
/// utime, stime, cutime and cstime follow one another (proc_pid_stat(5)).
const TIMES: std::ops::Range<usize> = 11..15;

/// User and system time of a process and of those children that it waited for. `None` where there is no
/// `/proc` and once the process was waited for; a process that ended, and was not, has its last figures.
pub(super) fn of(process: u32) -> Option<Duration> {
    let path = Path::new("/proc").join(process.to_string()).join("stat");
    parse(&std::fs::read_to_string(path).ok()?)
}

fn parse(stat: &str) -> Option<Duration> {
    // A name may have spaces and parentheses of its own.
    let (_, fields) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = fields.split_ascii_whitespace().collect();
    let mut ticks = 0_u32;
    for field in fields.get(TIMES)? {
        ticks = ticks.saturating_add(field.parse().ok()?);
    }
    Some(TICK * ticks)
}

#[cfg(test)]
#[path = "cpu_test.rs"]
mod cpu_test;
