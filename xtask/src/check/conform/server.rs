//! Our server as a process: the engine's example `hello`.

use crate::tools::{cargo, run};
use crate::{Outcome, root};
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// A running server; dropping it ends the process.
pub(super) struct Server {
    pub address: SocketAddr,
    process: Child,
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself; then there is nothing to do.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Builds it.
pub(super) fn build() -> Outcome {
    run(&mut cargo(&[
        "build",
        "--quiet",
        "-p",
        "trunkline",
        "--example",
        "hello",
    ]))
}

/// Starts it on a free port.
pub(super) fn start(tls: bool) -> Result<Server, String> {
    let mut command = Command::new(target_dir().join("debug/examples/hello"));
    command.arg("127.0.0.1:0");
    if tls {
        // Suites that do not speak TLS reach it through a pipe, and their requests say `http`.
        command.args(["tls", "gateway"]);
    }
    let mut process = command
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|why| format!("cannot start the example server: {why}"))?;
    let mut line = String::new();
    if let Some(output) = process.stdout.take() {
        // An error shows as an empty line.
        let _ = BufReader::new(output).read_line(&mut line);
    }
    let address = line.split_whitespace().find_map(|word| word.parse().ok());
    match address {
        Some(address) => Ok(Server { address, process }),
        None => Err(format!("the example server said '{}'", line.trim())),
    }
}

fn target_dir() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}
