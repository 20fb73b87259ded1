//! A running `serve`, and a folder for it.

use crate::lines::Lines;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const BINARY: &str = env!("CARGO_BIN_EXE_trunkline");
/// Between two polls of another process, and two requests of a load: tests beside this one have the processor meanwhile.
pub(crate) const PAUSE: Duration = Duration::from_millis(5);

/// A running `serve`, ended with the value.
pub(crate) struct Served {
    pub(crate) child: Child,
    pub(crate) url: String,
    lines: Lines,
}

impl Served {
    pub(crate) fn start(arguments: &[&str]) -> Self {
        Self::at(&["--listen", "127.0.0.1:0"], arguments)
    }
    pub(crate) fn at(place: &[&str], arguments: &[&str]) -> Self {
        let mut command = Command::new(BINARY);
        command.arg("serve").args(place).args(arguments);
        Self::run(command)
    }
    /// With programs of this folder before those of the system.
    pub(crate) fn with_path(folder: &str, arguments: &[&str]) -> Self {
        let mut command = Command::new(BINARY);
        command
            .args(["serve", "--listen", "127.0.0.1:0"])
            .args(arguments);
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{folder}:{path}"));
        Self::run(command)
    }
    /// With these variables in its environment.
    pub(crate) fn with_environment(variables: &[(&str, &str)], arguments: &[&str]) -> Self {
        let mut command = Command::new(BINARY);
        command
            .args(["serve", "--listen", "127.0.0.1:0"])
            .args(arguments)
            .envs(variables.iter().copied());
        Self::run(command)
    }
    pub(crate) fn run(mut command: Command) -> Self {
        let mut child = command
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let stdout = child.stdout.take().expect("it is piped");
        let mut lines = Lines::of(stdout);
        let url = line_of(&mut lines, "listening on ");
        Self { child, url, lines }
    }
    /// `host:port` of the admin address, which the second line has.
    pub(crate) fn admin(&mut self) -> String {
        line_of(&mut self.lines, "admin on http://")
    }
    /// `host:port` of redirects to https, which the line behind that of the site has.
    pub(crate) fn redirects(&mut self) -> String {
        line_of(&mut self.lines, "redirecting http://")
    }
    /// `host:port` of a further address of the site, or its Unix socket; a line for each.
    pub(crate) fn also(&mut self) -> String {
        line_of(&mut self.lines, "also on ")
    }
    /// `host:port` of the site.
    pub(crate) fn address(&self) -> &str {
        self.url.split("://").nth(1).expect("a URL")
    }
    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.url)
    }
    pub(crate) fn signal(&self, signal: nix::sys::signal::Signal) {
        let pid = nix::unistd::Pid::from_raw(self.child.id() as i32);
        nix::sys::signal::kill(pid, signal).expect("it runs");
    }
    /// The exit code, once it ends by itself.
    pub(crate) fn ended(mut self) -> Option<i32> {
        self.child.wait().expect("it ends").code()
    }
    /// SIGTERM, then the exit code.
    pub(crate) fn terminate(mut self) -> Option<i32> {
        self.signal(nix::sys::signal::Signal::SIGTERM);
        self.child.wait().expect("it ends").code()
    }
}

fn line_of(lines: &mut Lines, before: &str) -> String {
    let line = lines.next();
    let place = line.trim().strip_prefix(before);
    place
        .unwrap_or_else(|| panic!("{before}: {line:?}"))
        .to_owned()
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let path =
            std::env::temp_dir().join(format!("trunkline-cli-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("a temporary directory");
        Self(path)
    }
    pub(crate) fn file(&self, name: &str, content: &[u8]) -> String {
        let path = self.0.join(name);
        std::fs::write(&path, content).expect("written");
        path.display().to_string()
    }
    pub(crate) fn path(&self) -> String {
        self.0.display().to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
