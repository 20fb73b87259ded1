//! Programs under attack, each in a process of its own, and their cost.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// How long a program may take for its first line.
const START_MAX: Duration = Duration::from_secs(20);

/// A child process whose standard output is read line by line; killed with the value.
pub(crate) struct Program {
    process: Child,
    lines: Receiver<String>,
}

/// Memory and CPU of a process.
#[derive(Clone, Copy, Default)]
pub(crate) struct Costs {
    /// The maximum of the resident memory since the start (VmHWM), in MiB.
    pub(crate) rss_mib: u64,
    /// User and system time.
    pub(crate) cpu_seconds: f64,
}

impl Program {
    pub(crate) fn start(command: &mut Command) -> std::io::Result<Self> {
        let mut process = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let output = process.stdout.take();
        let output = output.ok_or_else(|| std::io::Error::other("no standard output"))?;
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Ok(Self { process, lines })
    }
    /// The next line of its output.
    pub(crate) fn line(&self, time: Duration) -> std::io::Result<String> {
        self.lines
            .recv_timeout(time)
            .map_err(|why| std::io::Error::other(format!("no line of output: {why}")))
    }
    /// The address that a server prints first.
    pub(crate) fn address(&self) -> std::io::Result<SocketAddr> {
        let line = self.line(START_MAX)?;
        line.trim().parse().map_err(std::io::Error::other)
    }
    /// Ends its standard input, on which it ends.
    pub(crate) fn end_input(&mut self) {
        drop(self.process.stdin.take());
    }
    /// The exit code, once it has ended.
    pub(crate) fn exited(&mut self) -> Option<i32> {
        let status = self.process.try_wait().ok()??;
        Some(status.code().unwrap_or(-1))
    }
    /// The cost since its start; zero once it has ended.
    pub(crate) fn costs(&self) -> std::io::Result<Costs> {
        let folder = format!("/proc/{}", self.process.id());
        let status = std::fs::read_to_string(format!("{folder}/status"))?;
        let height = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let height = height.and_then(|it| it.trim().strip_suffix(" kB"));
        let kib: u64 = height.and_then(|it| it.parse().ok()).unwrap_or(0);
        // Behind the name, which may have spaces: utime and stime are fields 14 and 15, in ticks of
        // a hundredth of a second.
        let stat = std::fs::read_to_string(format!("{folder}/stat"))?;
        let rest = stat.rsplit(')').next().unwrap_or_default();
        let ticks = rest.split_whitespace().skip(11).take(2);
        let ticks: u64 = ticks.filter_map(|it| it.parse::<u64>().ok()).sum();
        Ok(Costs {
            rss_mib: kib / 1024,
            cpu_seconds: ticks as f64 / 100.0,
        })
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
