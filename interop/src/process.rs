//! A foreign program that runs while its guard lives.

use std::fs::{self, File};
use std::net::{Ipv4Addr, TcpStream, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How long a program may take until it listens.
const START_MAX: Duration = Duration::from_secs(60);
/// How long an answer over UDP is waited for before the question is asked again.
const ANSWER_MAX: Duration = Duration::from_millis(100);
/// How long a program may take until it says what is waited for.
const RECEIVE_MAX: Duration = Duration::from_secs(60);
/// The second part of the oldest Go's version.
const GO_MINOR_MIN: u32 = 24;
/// Between two looks at a program that is starting.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// Where `name` lies in PATH or in the folders of Debian's servers.
///
/// # Errors
/// One sentence that says it is missing and which Debian package has it.
pub fn find_program(name: &str, package: &str) -> Result<PathBuf, String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain(["/usr/sbin", "/usr/local/go/bin"].map(PathBuf::from))
        .map(|folder| folder.join(name))
        .find(|file| file.is_file())
        .ok_or_else(|| format!("{name} is not installed (Debian package {package})"))
}

/// Whether a foreign program is there; if not, says in one sentence that a test is skipped.
pub fn is_installed(name: &str, package: &str) -> bool {
    report_if_absent(find_program(name, package).map(|_| ()))
}

/// Whether a Go that can build our programs is there; if not, says so in one sentence.
pub fn is_go_installed() -> bool {
    report_if_absent(find_go().map(|_| ()))
}

pub(crate) fn report_if_absent(found: Result<(), String>) -> bool {
    if let Err(why) = &found {
        eprintln!("skipped: {why}");
    }
    found.is_ok()
}

/// Go from 1.24 on: the first whose `net/http` speaks HTTP/2 in the clear.
pub(crate) fn find_go() -> Result<(PathBuf, String), String> {
    let go = find_program("go", "golang-go, 1.24 or newer")?;
    let printed = output_of(Command::new(&go).arg("version"))?;
    let version = printed
        .split_whitespace()
        .nth(2)
        .unwrap_or_default()
        .trim_start_matches("go");
    let minor = version
        .split('.')
        .nth(1)
        .and_then(|minor| minor.parse::<u32>().ok());
    if minor.is_none_or(|minor| minor < GO_MINOR_MIN) {
        return Err(format!(
            "Go is {version}; it must be 1.{GO_MINOR_MIN} or newer"
        ));
    }
    Ok((go, version.to_owned()))
}

/// Standard output and error of a program that runs to its end.
///
/// # Errors
/// When it cannot be started or fails; with what it said.
pub fn output_of(command: &mut Command) -> Result<String, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{name} cannot be started: {error}"))?;
    let mut printed = String::from_utf8_lossy(&output.stdout).into_owned();
    printed.push_str(&String::from_utf8_lossy(&output.stderr));
    if output.status.success() {
        Ok(printed)
    } else {
        Err(format!("{name} failed ({}): {printed}", output.status))
    }
}

/// The processors a program may run on.
#[derive(Clone, Debug, Default)]
pub enum Cores {
    /// All.
    #[default]
    Any,
    /// The processor with this number (`taskset`).
    One(usize),
}

impl Cores {
    /// A command for `program` that runs there. `taskset` becomes the program, so the child's id
    /// is the program's.
    pub fn command(&self, program: &Path) -> Command {
        match self {
            Self::Any => Command::new(program),
            Self::One(core) => {
                let mut command = Command::new("taskset");
                command.args(["--cpu-list", &core.to_string()]).arg(program);
                command
            }
        }
    }
}

/// A program that listens. Dropping the guard kills it, by its id.
#[derive(Debug)]
pub struct Process {
    /// How it was started.
    name: String,
    child: Child,
    log: PathBuf,
}

impl Process {
    /// Starts `command` and waits until all of `ports` answer on 127.0.0.1. What the program says
    /// goes to `log`.
    ///
    /// # Errors
    /// When it cannot be started, ends, or does not listen in time; with the end of its log.
    pub fn start(command: &mut Command, ports: &[u16], log: PathBuf) -> Result<Self, String> {
        let name = format!("{command:?}").replace('"', "");
        let file = File::create(&log)
            .and_then(|file| Ok((file.try_clone()?, file)))
            .map_err(|error| format!("{} cannot be made: {error}", log.display()))?;
        let child = command
            .stdin(Stdio::null())
            .stdout(file.0)
            .stderr(file.1)
            .spawn()
            .map_err(|error| format!("`{name}` cannot be started: {error}"))?;
        let mut process = Self { name, child, log };
        for &port in ports {
            let answers = || TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok();
            process.listens(&format!("port {port}"), answers)?;
        }
        Ok(process)
    }
    /// Waits until the UDP port of 127.0.0.1 answers QUIC: a program may listen there later than on
    /// its TCP port. Binding the port as a check would take it from the program.
    ///
    /// # Errors
    /// When the program ends, or does not listen in time; with the end of its log.
    pub fn speaks_quic(&mut self, port: u16) -> Result<(), String> {
        let asking = || {
            let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
            socket.connect((Ipv4Addr::LOCALHOST, port))?;
            socket.set_read_timeout(Some(ANSWER_MAX))?;
            std::io::Result::Ok(socket)
        };
        let socket = asking().map_err(|error| format!("UDP cannot be used: {error}"))?;
        // RFC 9000 section 6.1: a server that gets a packet of an unknown version, at least as long
        // as a first one must be, answers with its versions.
        let mut question = [0; 1200];
        question[..7].copy_from_slice(&[0xc0, 0x1a, 0x2a, 0x3a, 0x4a, 8, 1]);
        question[14] = 8;
        let answers = || socket.send(&question).is_ok() && socket.recv(&mut [0; 1500]).is_ok();
        self.listens(&format!("UDP port {port}"), answers)
    }
    fn listens(&mut self, workplace: &str, does: impl Fn() -> bool) -> Result<(), String> {
        let deadline = Instant::now() + START_MAX;
        while !does() {
            if let Some(status) = self.ended() {
                let (name, printed) = (&self.name, self.printed());
                return Err(format!(
                    "`{name}` ended ({status}) before it listened on {workplace}: {printed}"
                ));
            }
            if Instant::now() > deadline {
                let (name, printed) = (&self.name, self.printed());
                return Err(format!(
                    "`{name}` does not listen on {workplace}: {printed}"
                ));
            }
            thread::sleep(LOOK_AGAIN);
        }
        Ok(())
    }
    /// The program's process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }
    /// Asks the program to end (SIGTERM), and waits until it has.
    ///
    /// # Errors
    /// When it goes on for a minute.
    pub fn stop(&mut self) -> Result<(), String> {
        output_of(Command::new("kill").arg(self.id().to_string()))?;
        let deadline = Instant::now() + RECEIVE_MAX;
        while self.ended().is_none() {
            if Instant::now() > deadline {
                return Err(format!("program {} does not end", self.id()));
            }
            thread::sleep(LOOK_AGAIN);
        }
        Ok(())
    }
    /// How the program ended, if it did.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }
    /// Waits until the program says `mark`, and returns all that it has said.
    ///
    /// # Errors
    /// When it ends or a minute passes without it.
    pub fn receive(&mut self, mark: &str) -> Result<String, String> {
        let deadline = Instant::now() + RECEIVE_MAX;
        loop {
            let has_ended = self.ended().is_some();
            let printed = self.printed();
            if printed.contains(mark) {
                return Ok(printed);
            }
            if has_ended || Instant::now() > deadline {
                return Err(format!("{mark:?} was not said: {printed}"));
            }
            thread::sleep(LOOK_AGAIN);
        }
    }
    /// The program's output so far.
    pub fn printed(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }
    /// The program and what it started, by id.
    pub fn family(&self) -> Vec<u32> {
        let mut family = vec![self.id()];
        let mut next = 0;
        while let Some(&id) = family.get(next) {
            next += 1;
            let tasks = fs::read_dir(format!("/proc/{id}/task"))
                .into_iter()
                .flatten();
            for task in tasks.flatten() {
                let children = fs::read_to_string(task.path().join("children"));
                let children = children.unwrap_or_default();
                family.extend(
                    children
                        .split_whitespace()
                        .filter_map(|id| id.parse::<u32>().ok()),
                );
            }
        }
        family
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
#[path = "process_test.rs"]
mod process_test;
