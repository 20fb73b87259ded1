//! grpc-go's interop suite (`peers/grpc-go`), as a server and as a client.

use crate::kept::kept;
use crate::process::{Process, find_go, output_of, report_if_absent};
use crate::{Certificate, Workplace, free_port};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The sources of `peers/grpc-go`; a change builds it again.
const SOURCES: [&str; 6] = [
    include_str!("../peers/grpc-go/go.mod"),
    include_str!("../peers/grpc-go/go.sum"),
    include_str!("../peers/grpc-go/main.go"),
    include_str!("../peers/grpc-go/serve.go"),
    include_str!("../peers/grpc-go/call.go"),
    include_str!("../peers/grpc-go/bench.go"),
];

/// grpc-go's server of the suite, running.
#[derive(Debug)]
pub struct GrpcGo {
    /// Its port of cleartext HTTP/2 on 127.0.0.1.
    pub clear: u16,
    /// Its port of TLS.
    pub tls: u16,
    /// Its process.
    pub process: Process,
}

impl GrpcGo {
    /// Whether the program can be had; if not, says in one sentence that a test is skipped.
    pub fn is_installed() -> bool {
        report_if_absent(Self::program().map(|_| ()))
    }
    /// The program of `peers/grpc-go`; it is built when there is none of these sources.
    ///
    /// # Errors
    /// When Go is absent or too old, or the program does not build.
    pub fn program() -> Result<PathBuf, String> {
        static BUILT: OnceLock<Result<PathBuf, String>> = OnceLock::new();
        BUILT.get_or_init(build).clone()
    }
    /// Starts the server of the suite.
    ///
    /// # Errors
    /// When it is absent or does not start.
    pub fn serve(workplace: &Workplace, certificate: &Certificate) -> Result<Self, String> {
        let (clear, tls) = (free_port()?, free_port()?);
        let mut command = Command::new(Self::program()?);
        command.arg("serve");
        command.arg(format!("-clear=127.0.0.1:{clear}"));
        command.arg(format!("-tls=127.0.0.1:{tls}"));
        command.arg(format!("-cert={}", certificate.chain.display()));
        command.arg(format!("-key={}", certificate.key.display()));
        let log = workplace.path().join("grpc-go.log");
        let process = Process::start(&mut command, &[clear, tls], log)?;
        Ok(Self {
            clear,
            tls,
            process,
        })
    }
    /// Runs a case of the client against `port` of 127.0.0.1, over TLS where a certificate is given.
    /// `flags` are the program's: `-gzip`.
    ///
    /// # Errors
    /// When the program is absent, or the case fails; with its reason.
    pub fn call(
        port: u16,
        root: Option<&Certificate>,
        flags: &[&str],
        case: &str,
    ) -> Result<(), String> {
        let mut command = Command::new(Self::program()?);
        command.arg("call");
        command.arg(format!("-server=127.0.0.1:{port}"));
        if let Some(certificate) = root {
            command.arg(format!("-root={}", certificate.chain.display()));
        }
        let printed = output_of(command.args(flags).arg(case))?;
        match printed.lines().any(|line| line == "passed") {
            true => Ok(()),
            false => Err(format!("{case} did not pass: {printed}")),
        }
    }
}

fn build() -> Result<PathBuf, String> {
    let (go, version) = find_go()?;
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/grpc-go");
    let recipe = format!("{version}\n{}", SOURCES.concat());
    let folder = kept("grpc-go", &recipe, |folder| {
        let mut build = Command::new(&go);
        build.current_dir(&source).args(["build", "-o"]);
        build.arg(folder.join("grpc-go")).arg(".");
        // The Go that is installed, never one fetched for the purpose.
        build.env("GOTOOLCHAIN", "local");
        output_of(&mut build).map(|_| ())
    })?;
    Ok(folder.join("grpc-go"))
}
