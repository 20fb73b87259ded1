//! The foreign HTTP/3 stacks: quic-go (`peers/quic-go`) and aioquic (`peers/python`), each as a
//! server and as a client.

use crate::kept::kept;
use crate::process::{Process, find_go, output_of, report_if_absent};
use crate::python::{find_python, python_program};
use crate::{Certificate, Workplace, free_port};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The sources of `peers/quic-go`; a change builds it again.
const QUIC_GO_SOURCES: [&str; 5] = [
    include_str!("../peers/quic-go/go.mod"),
    include_str!("../peers/quic-go/go.sum"),
    include_str!("../peers/quic-go/main.go"),
    include_str!("../peers/quic-go/serve.go"),
    include_str!("../peers/quic-go/fetch.go"),
];

/// A foreign HTTP/3 stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuicStack {
    /// quic-go, in Go.
    QuicGo,
    /// aioquic, in Python.
    Aioquic,
}

/// A foreign HTTP/3 server that runs.
#[derive(Debug)]
pub struct QuicPeer {
    /// Its UDP port on 127.0.0.1; quic-go's serves HTTP/1.1 and HTTP/2 on the TCP port of that number.
    pub port: u16,
    /// Its process.
    pub process: Process,
}

impl QuicStack {
    /// Both.
    pub const ALL: [Self; 2] = [Self::QuicGo, Self::Aioquic];

    /// Whether it can be had; if not, says in one sentence that a test is skipped.
    pub fn is_installed(self) -> bool {
        report_if_absent(match self {
            Self::QuicGo => find_quic_go().map(|_| ()),
            Self::Aioquic => find_python().map(|_| ()),
        })
    }
    /// Starts it as a server. `flags` are its own: `-retry`.
    ///
    /// # Errors
    /// When it is absent or does not start.
    pub fn serve(
        self,
        workplace: &Workplace,
        certificate: &Certificate,
        flags: &[&str],
    ) -> Result<QuicPeer, String> {
        let port = free_port()?;
        let (mut command, dash) = match self {
            Self::QuicGo => {
                let mut command = Command::new(find_quic_go()?);
                command
                    .arg("serve")
                    .arg(format!("-listen=127.0.0.1:{port}"));
                (command, "-")
            }
            Self::Aioquic => {
                let mut command = python_program("serve.py")?;
                command.arg(format!("--port={port}"));
                (command, "--")
            }
        };
        command.arg(format!("{dash}cert={}", certificate.chain.display()));
        command.arg(format!("{dash}key={}", certificate.key.display()));
        command.args(flags.iter().map(|flag| format!("{dash}{flag}")));
        let log = workplace.path().join(format!("{self:?}.log"));
        let process = Process::start(&mut command, &[port], log)?;
        Ok(QuicPeer { port, process })
    }
    /// Its client, to be given the name of a case, against `port` of 127.0.0.1. What the case
    /// found goes to standard output; it fails by its exit status.
    ///
    /// # Errors
    /// When it is absent.
    pub fn client(self, certificate: &Certificate, port: u16) -> Result<Command, String> {
        let root = certificate.chain.display();
        match self {
            Self::QuicGo => {
                let mut command = Command::new(find_quic_go()?);
                command.arg("fetch").arg(format!("-root={root}"));
                command.arg(format!("-url=https://localhost:{port}"));
                Ok(command)
            }
            Self::Aioquic => {
                let mut command = python_program("fetch.py")?;
                command.arg(format!("--root={root}"));
                command.arg(format!("--port={port}"));
                Ok(command)
            }
        }
    }
}

/// The program of `peers/quic-go`; it is built when there is none of these sources.
fn find_quic_go() -> Result<PathBuf, String> {
    static BUILT: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    BUILT.get_or_init(build_quic_go).clone()
}

fn build_quic_go() -> Result<PathBuf, String> {
    let (go, version) = find_go()?;
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/quic-go");
    let recipe = format!("{version}\n{}", QUIC_GO_SOURCES.concat());
    let folder = kept("quic-go", &recipe, |folder| {
        let mut build = Command::new(&go);
        build.current_dir(&source).args(["build", "-o"]);
        build.arg(folder.join("quic-go")).arg(".");
        // The Go that is installed, never one fetched for the purpose.
        build.env("GOTOOLCHAIN", "local");
        output_of(&mut build).map(|_| ())
    })?;
    Ok(folder.join("quic-go"))
}
