//! The Python of the peers: an environment with the packages of `peers/python/requirements.txt`,
//! made on first use.

use crate::kept::kept;
use crate::process::{find_program, output_of, report_if_absent};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The installed packages.
const REQUIREMENTS: &str = include_str!("../peers/python/requirements.txt");

/// The interpreter of an environment that holds aioquic; it is made when there is none.
///
/// # Errors
/// One sentence that says what is missing.
pub fn find_python() -> Result<PathBuf, String> {
    static FOUND: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    FOUND.get_or_init(make).clone()
}

/// Whether [`find_python`] finds one; if not, says in one sentence that a test is skipped.
pub fn is_python_installed() -> bool {
    report_if_absent(find_python().map(|_| ()))
}

/// A Python program of `peers/python` in that environment, ready for its arguments.
///
/// # Errors
/// As [`find_python`].
pub fn python_program(name: &str) -> Result<Command, String> {
    let program = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("peers/python")
        .join(name);
    let mut command = Command::new(find_python()?);
    // `-B`: leaves no files beside the program; `-u`: unbuffered output.
    command.args(["-B", "-u"]).arg(program);
    Ok(command)
}

fn make() -> Result<PathBuf, String> {
    let python = find_program("python3", "python3-venv")?;
    let recipe = format!(
        "{}\n{REQUIREMENTS}",
        output_of(Command::new(&python).arg("--version"))?
    );
    let folder = kept("python", &recipe, |folder| {
        output_of(Command::new(&python).args(["-m", "venv"]).arg(folder))?;
        let requirements =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/python/requirements.txt");
        let mut install = Command::new(folder.join("bin/python"));
        install.args(["-m", "pip", "install", "--quiet", "--requirement"]);
        output_of(install.arg(requirements)).map(|_| ())
    })?;
    Ok(folder.join("bin/python"))
}
