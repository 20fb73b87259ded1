//! A command whose processes are stopped together now and then, as those of a virtual machine are
//! that its host does not run: what has a deadline in time fails there, and only there.

use crate::{Outcome, root};
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

/// Between two pauses, seconds: the least, and how many more there may be.
const RUNS_S: (u64, u64) = (3, 7);
/// How often the command's end is looked for.
const LOOK: Duration = Duration::from_millis(50);

/// Runs it; `pause`: how long it is stopped each time.
pub(super) fn run(command: &mut Command, pause: Duration) -> Outcome {
    // A group of its own: the signals are for it and its children.
    let child = command.current_dir(root()).process_group(0).spawn();
    let mut child = child.map_err(|why| format!("cannot start {command:?}: {why}"))?;
    let group = format!("-{}", child.id());
    let signal = |name: &str| {
        let _ = Command::new("kill").args([name, "--", &group]).status();
    };
    let mut next = Instant::now() + between();
    loop {
        if let Some(status) = child.try_wait().map_err(|why| why.to_string())? {
            return match status.success() {
                true => Ok(()),
                false => Err(status.to_string()),
            };
        }
        if Instant::now() >= next {
            signal("-STOP");
            sleep(pause);
            signal("-CONT");
            next = Instant::now() + between();
        }
        sleep(LOOK);
    }
}

/// Other ones at each run: no test may fit them.
fn between() -> Duration {
    let now = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    let (least, more) = RUNS_S;
    Duration::from_secs(least)
        + Duration::from_millis(u64::from(now.subsec_micros()) % (more * 1000))
}
