//! Completions of shells and manual pages, made from the flags themselves.

use crate::failure::Failure;
use clap::{Args, Command};
use clap_complete::Shell;
use std::io::Write;
use std::path::PathBuf;

/// Flags of `completions`.
#[derive(Args)]
pub(crate) struct CompletionsOptions {
    /// The shell that reads them.
    shell: Shell,
}

/// Flags of `manual`.
#[derive(Args)]
pub(crate) struct ManualOptions {
    /// The folder, which must exist; a page for the program and one for each command are written to it.
    folder: PathBuf,
}

/// Prints what the shell reads: `source <(trunkline completions bash)`.
pub(crate) fn print_completions(
    options: &CompletionsOptions,
    command: &mut Command,
) -> Result<(), Failure> {
    let name = command.get_name().to_owned();
    let mut script = Vec::new();
    clap_complete::generate(options.shell, command, name, &mut script);
    let mut output = std::io::stdout().lock();
    output
        .write_all(&script)
        .and_then(|()| output.flush())
        .map_err(|why| Failure::output("standard output", &why))
}

/// Writes `trunkline.1`, `trunkline-serve.1` and so on.
pub(crate) fn write_manual(options: &ManualOptions, command: Command) -> Result<(), Failure> {
    if !options.folder.is_dir() {
        let folder = options.folder.display();
        return Err(Failure::usage(format!(
            "{folder} is no folder: make it first"
        )));
    }
    clap_mangen::generate_to(command, &options.folder)
        .map_err(|why| Failure::output(options.folder.display(), &why))
}
