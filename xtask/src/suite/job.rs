//! A queue of test programs, run a few at once. The output of each goes to a file; a failure is
//! printed briefly when it happens, and again at the end behind the ends of the files.

use super::idle::Ticks;
use super::{cpu, report};
use crate::Outcome;
use std::collections::VecDeque;
use std::fs::File;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A program that runs longer stands still; the longest takes under three minutes, and five where builds
/// keep all cores busy.
const JOB_TIME_MAX: Duration = Duration::from_secs(1_800);
/// How often a program is asked whether it has ended.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// How often the number of programs at once is thought over: the first second of a program is all work.
const ADAPT_EVERY: Duration = Duration::from_secs(1);
/// From so much of the machine idle on one more runs at once: a third of a core of two.
const IDLE_PERCENT: u64 = 15;
/// Below this one less does.
const BUSY_PERCENT: u64 = 3;
/// Failing tests of one program that are printed when it ends.
const DISPLAYED_MAX: usize = 3;
/// Characters of a failing program's output that are printed in the middle.
const OUTPUT_MAX: usize = 8_000;
/// Characters of all failures together at the end.
const SUMMARY_MAX: usize = 1_800;
/// Programs that are named with the time they took, and with the CPU time that they used.
const SLOWEST: usize = 8;
/// The table of all programs with their times, beside the outputs.
const TABLE: &str = "jobs.csv";

/// A program of tests.
#[derive(Debug)]
pub(super) struct Job {
    name: String,
    command: Command,
}

impl Job {
    pub(super) fn new(name: String, command: Command) -> Self {
        Self { name, command }
    }
}

#[derive(Debug)]
struct Done {
    name: String,
    took: Duration,
    /// CPU time of the program and of those that it started and waited for; zero where it is not known.
    cpu: Duration,
    /// `None` if every test passed.
    failure: Option<String>,
}

#[derive(Debug)]
struct State {
    waiting: VecDeque<Job>,
    done: Vec<Done>,
    /// False once no more jobs come.
    is_open: bool,
    running: usize,
    /// Jobs that may run at once now.
    at_once: usize,
}

/// The jobs that wait and those that ended.
impl State {
    /// No job is left, and none will come.
    fn is_over(&self) -> bool {
        self.waiting.is_empty() && !self.is_open
    }
}

#[derive(Debug)]
pub(super) struct Queue {
    /// Where the outputs go.
    folder: PathBuf,
    least: usize,
    most: usize,
    state: Mutex<State>,
    changed: Condvar,
}

impl Queue {
    /// `at_once`: jobs that run at once on a busy machine, and the most of them.
    pub(super) fn new(folder: PathBuf, at_once: RangeInclusive<usize>, jobs: Vec<Job>) -> Self {
        Self {
            folder,
            most: *at_once.end(),
            state: Mutex::new(State {
                waiting: jobs.into(),
                done: Vec::new(),
                is_open: true,
                running: 0,
                at_once: *at_once.start(),
            }),
            least: *at_once.start(),
            changed: Condvar::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// More jobs, which come before those that wait.
    pub(super) fn add(&self, jobs: Vec<Job>) {
        let mut state = self.state();
        for job in jobs.into_iter().rev() {
            state.waiting.push_front(job);
        }
        self.changed.notify_all();
    }

    /// No more jobs come.
    pub(super) fn close(&self) {
        self.state().is_open = false;
        self.changed.notify_all();
    }

    /// Runs jobs until none is left and none will come, as many at once as the machine has idle cores for.
    pub(super) fn work(&self) {
        std::thread::scope(|scope| {
            for _ in 0..self.most {
                scope.spawn(|| self.work_in_turn());
            }
            self.adapt();
        });
    }

    fn work_in_turn(&self) {
        while let Some(job) = self.next() {
            let done = self.run(job);
            if let Some(failure) = &done.failure {
                eprintln!("{failure}");
            }
            let mut state = self.state();
            state.done.push(done);
            state.running -= 1;
            self.changed.notify_all();
        }
    }

    fn next(&self) -> Option<Job> {
        let mut state = self.state();
        while !state.is_over() && (state.waiting.is_empty() || state.running >= state.at_once) {
            let waited = self.changed.wait(state);
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
        let job = state.waiting.pop_front()?;
        state.running += 1;
        Some(job)
    }

    /// Lets one more run at once as long as a part of the machine idles, and one less where nothing does.
    fn adapt(&self) {
        let (mut before, mut looked) = (Ticks::now(), Instant::now());
        let mut state = self.state();
        while !state.is_over() {
            let waited = self.changed.wait_timeout(state, ADAPT_EVERY);
            (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
            if looked.elapsed() < ADAPT_EVERY {
                continue;
            }
            let now = Ticks::now();
            if let (Some(now), Some(before)) = (now, before) {
                let idle = now.idle_percent_since(before);
                let at_once = adapted(state.at_once, state.running, idle);
                state.at_once = at_once.clamp(self.least, self.most);
                self.changed.notify_all();
            }
            (before, looked) = (now, Instant::now());
        }
    }

    fn run(&self, job: Job) -> Done {
        let began = Instant::now();
        let path = report::log_of(&self.folder, &job.name);
        let mut cpu = Duration::ZERO;
        let how = File::create(&path)
            .and_then(|file| ended(job.command, file, began, &mut cpu))
            .unwrap_or_else(|why| Some(format!("cannot be run: {why}")));
        let failure = how.map(|how| {
            let output = std::fs::read(&path).unwrap_or_default();
            let output = String::from_utf8_lossy(&output);
            let failures = report::failures(&output);
            let mut text = format!("FAILED {}: {how}\n", job.name);
            if failures.is_empty() {
                text.push_str(report::tail(&output, 300));
            }
            for failure in failures.iter().take(DISPLAYED_MAX) {
                text.push_str(failure);
            }
            if let Some(more @ 1..) = failures.len().checked_sub(DISPLAYED_MAX) {
                text.push_str(&format!("and {more} more\n"));
            }
            text
        });
        Done {
            name: job.name,
            took: began.elapsed(),
            cpu,
            failure,
        }
    }

    /// Says how it went: failing programs at length, then briefly.
    pub(super) fn finish(&self, took: Duration) -> Outcome {
        let mut state = self.state();
        let done = &mut state.done;
        done.sort_by_key(|done| std::cmp::Reverse(done.took));
        eprintln!("longest: {}", first(done, |done| done.took));
        done.sort_by_key(|done| std::cmp::Reverse(done.cpu));
        let all: Duration = done.iter().map(|done| done.cpu).sum();
        eprintln!(
            "CPU: {} s, most of them {}",
            all.as_secs(),
            first(done, |done| done.cpu)
        );
        if let Err(why) = std::fs::write(self.folder.join(TABLE), table(done)) {
            eprintln!("going on without {TABLE}: {why}");
        }
        let failed: Vec<&Done> = done.iter().filter(|done| done.failure.is_some()).collect();
        let (all, seconds) = (done.len(), took.as_secs());
        if failed.is_empty() {
            eprintln!("{all} programs of tests passed in {seconds} s");
            return Ok(());
        }
        for done in &failed {
            let path = report::log_of(&self.folder, &done.name);
            let output = std::fs::read(&path).unwrap_or_default();
            let output = String::from_utf8_lossy(&output);
            eprintln!("== the end of {}", path.display());
            eprintln!("{}", report::tail(&output, OUTPUT_MAX));
        }
        let failures = failed.iter().filter_map(|done| done.failure.as_deref());
        let summary = failures.collect::<Vec<_>>().concat();
        eprintln!("== {} of {all} failed in {seconds} s", failed.len());
        eprintln!("{}", report::cut(&summary, SUMMARY_MAX));
        Err(format!(
            "{} of {all} programs of tests failed",
            failed.len()
        ))
    }
}

/// How many may run at once from now on, of a machine of which `idle` percent idled.
fn adapted(at_once: usize, running: usize, idle: u64) -> usize {
    match idle {
        // Fewer run than may: there is nothing to begin, or it has just begun.
        IDLE_PERCENT.. if running >= at_once => at_once + 1,
        ..BUSY_PERCENT => at_once.saturating_sub(1),
        _ => at_once,
    }
}

/// The first programs with one of their times.
fn first(done: &[Done], time: impl Fn(&Done) -> Duration) -> String {
    let named = done.iter().take(SLOWEST);
    let named = named.map(|done| format!("{} {} s", done.name, time(done).as_secs()));
    named.collect::<Vec<_>>().join(", ")
}

/// Every program with its times, to compare with those of another day.
fn table(done: &[Done]) -> String {
    let mut text = String::from("program,seconds,CPU seconds\n");
    for done in done {
        let (took, cpu) = (done.took.as_secs_f64(), done.cpu.as_secs_f64());
        text.push_str(&format!("{},{took:.1},{cpu:.1}\n", done.name));
    }
    text
}

/// Runs a command with its output in `file`; how it ended, if not well. `cpu` is set to its CPU time.
fn ended(
    mut command: Command,
    file: File,
    began: Instant,
    cpu: &mut Duration,
) -> std::io::Result<Option<String>> {
    let errors = file.try_clone()?;
    let mut child = command
        .stdin(Stdio::null())
        .stdout(file)
        .stderr(errors)
        .spawn()?;
    loop {
        // Before it is waited for: then its figures are gone.
        *cpu = cpu::of(child.id()).unwrap_or(*cpu);
        if let Some(status) = child.try_wait()? {
            return Ok((!status.success()).then(|| status.to_string()));
        }
        if began.elapsed() > JOB_TIME_MAX {
            child.kill()?;
            child.wait()?;
            let most = JOB_TIME_MAX.as_secs();
            return Ok(Some(format!("did not end within {most} s and was killed")));
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

#[cfg(test)]
#[path = "job_test.rs"]
mod job_test;
