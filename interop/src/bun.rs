//! Bun, whose HTTP/3 is lsquic's (`peers/bun`): from npm, made on first use.

use crate::kept::kept;
use crate::process::{Process, find_program, output_of, report_if_absent};
use crate::quic::QuicPeer;
use crate::{Certificate, Workplace, free_port};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The installed packages.
const PACKAGES: &str = include_str!("../peers/bun/package.json");

/// Whether there is a Bun; if not, says in one sentence that a test is skipped.
pub fn is_bun_installed() -> bool {
    report_if_absent(find_bun().map(|_| ()))
}

/// Starts it as a server: `/hello`, `/bytes/1024`, `/echo`.
///
/// # Errors
/// When it is absent or does not start.
pub fn bun(workplace: &Workplace, certificate: &Certificate) -> Result<QuicPeer, String> {
    let port = free_port()?;
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/bun/serve.ts");
    let mut command = Command::new(find_bun()?);
    command.arg(program).arg(port.to_string());
    command.arg(&certificate.chain).arg(&certificate.key);
    let mut process = Process::start(&mut command, &[port], workplace.path().join("bun.log"))?;
    process.speaks_quic(port)?;
    Ok(QuicPeer { port, process })
}

fn find_bun() -> Result<PathBuf, String> {
    static FOUND: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    FOUND.get_or_init(make).clone()
}

fn make() -> Result<PathBuf, String> {
    let npm = find_program("npm", "npm")?;
    let folder = kept("bun", PACKAGES, |folder| {
        let unwritten = |error| format!("{} cannot be written: {error}", folder.display());
        std::fs::write(folder.join("package.json"), PACKAGES).map_err(unwritten)?;
        let mut install = Command::new(&npm);
        install.current_dir(folder);
        install.args(["install", "--silent", "--no-audit", "--no-fund"]);
        output_of(&mut install).map(|_| ())
    })?;
    Ok(folder.join("node_modules/.bin/bun"))
}
