//! The relay: one thread between two devices. It reads all packets, asks the [`Path`] when each
//! leaves, and writes those that are due.

use super::path::{Path, Totals};
use super::tun::{READ_BYTES, Tun, on_the_wire};
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::signal::SigSet;
use nix::sys::time::TimeSpec;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::io::{self, PipeWriter};
use std::os::fd::AsFd;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Packets read from one device before the other has its turn.
const BATCH: usize = 64;

/// A running relay; dropping it ends the thread and closes the devices.
#[derive(Debug)]
pub(super) struct Relay {
    thread: Option<JoinHandle<()>>,
    /// The thread ends when this is closed.
    stop: Option<PipeWriter>,
    totals: Arc<Mutex<[Totals; 2]>>,
}

impl Relay {
    /// Starts relaying: what device 0 gives goes over path 0 to device 1, and back over path 1.
    pub(super) fn start(tuns: [Tun; 2], paths: [Path; 2]) -> Result<Self, String> {
        let (stopped, stop) = io::pipe().map_err(|error| format!("cannot make a pipe: {error}"))?;
        let totals = Arc::new(Mutex::new([Totals::default(); 2]));
        let shared = Arc::clone(&totals);
        let thread = thread::Builder::new()
            .name("netlab-relay".to_owned())
            .spawn(move || {
                // Signals are the main thread's.
                let _ = SigSet::all().thread_block();
                // The kernel may round wake-ups by 50 us; a path should not.
                let _ = nix::sys::prctl::set_timerslack(1);
                let [client, server] = paths;
                let mut directions = [Direction::new(client), Direction::new(server)];
                if let Err(error) = run(&tuns, &mut directions, &stopped, &shared) {
                    eprintln!("netlab: the relay stops: {error}");
                }
            })
            .map_err(|error| format!("cannot start the relay: {error}"))?;
        Ok(Self {
            thread: Some(thread),
            stop: Some(stop),
            totals,
        })
    }

    pub(super) fn totals(&self) -> [Totals; 2] {
        *self.totals.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// One direction: its path and the packets on it.
struct Direction {
    path: Path,
    /// Packets in the order in which they come out, as long as that is the order they went in.
    travelling: VecDeque<(Instant, Box<[u8]>)>,
    /// Packets due before one that entered ahead of them.
    overtaken: BinaryHeap<Reverse<Overtaking>>,
    number: u64,
}

/// When it comes out, its number, its bytes.
type Overtaking = (Instant, u64, Box<[u8]>);

impl Direction {
    fn new(path: Path) -> Self {
        Self {
            path,
            travelling: VecDeque::new(),
            overtaken: BinaryHeap::new(),
            number: 0,
        }
    }

    fn enter(&mut self, now: Instant, packet: &[u8]) {
        let (bytes, packets) = on_the_wire(packet);
        let Some(due) = self.path.enter(now, bytes, packets) else {
            return;
        };
        let packet: Box<[u8]> = packet.into();
        if self.travelling.back().is_none_or(|(last, _)| *last <= due) {
            self.travelling.push_back((due, packet));
        } else {
            self.number += 1;
            self.overtaken.push(Reverse((due, self.number, packet)));
        }
    }

    fn next_due(&self) -> Option<Instant> {
        let travelling = self.travelling.front().map(|(due, _)| *due);
        let overtaken = self.overtaken.peek().map(|Reverse((due, ..))| *due);
        match (travelling, overtaken) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        }
    }

    /// The next packet whose time has come.
    fn take(&mut self, now: Instant) -> Option<Box<[u8]>> {
        let due = self.next_due().filter(|due| *due <= now)?;
        match self.travelling.front() {
            Some((first, _)) if *first == due => {
                self.travelling.pop_front().map(|(_, packet)| packet)
            }
            _ => self.overtaken.pop().map(|Reverse((_, _, packet))| packet),
        }
    }
}

fn run(
    tuns: &[Tun; 2],
    directions: &mut [Direction; 2],
    stopped: &io::PipeReader,
    totals: &Mutex<[Totals; 2]>,
) -> io::Result<()> {
    let mut buffer = vec![0; READ_BYTES];
    let mut more = true;
    loop {
        // Wait for packets, for the time of the next one, or for the end.
        let now = Instant::now();
        let due = directions.iter().filter_map(Direction::next_due).min();
        let wait = match (more, due) {
            (true, _) => Some(Duration::ZERO),
            (false, due) => due.map(|due| due.saturating_duration_since(now)),
        };
        let mut files = [
            PollFd::new(tuns[0].as_fd(), PollFlags::POLLIN),
            PollFd::new(tuns[1].as_fd(), PollFlags::POLLIN),
            PollFd::new(stopped.as_fd(), PollFlags::POLLIN),
        ];
        ppoll(&mut files, wait.map(TimeSpec::from_duration), None)?;
        if files[2].any().unwrap_or(true) {
            return Ok(());
        }
        more = false;
        for (from, direction) in directions.iter_mut().enumerate() {
            more |= read_batch(&tuns[from], direction, &mut buffer)?;
            write_due(&tuns[1 - from], direction);
        }
        *totals.lock().unwrap_or_else(PoisonError::into_inner) =
            [directions[0].path.totals(), directions[1].path.totals()];
    }
}

/// Reads what there is, up to a batch; says whether there may be more.
fn read_batch(from: &Tun, direction: &mut Direction, buffer: &mut [u8]) -> io::Result<bool> {
    let now = Instant::now();
    for _ in 0..BATCH {
        match from.read(buffer)? {
            Some(length) => direction.enter(now, &buffer[..length]),
            None => return Ok(false),
        }
    }
    Ok(true)
}

fn write_due(to: &Tun, direction: &mut Direction) {
    let now = Instant::now();
    while let Some(packet) = direction.take(now) {
        // A packet that the kernel refuses is lost, as on any path.
        let _ = to.write(&packet);
    }
}
