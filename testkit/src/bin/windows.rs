//! `make windows`: the table of windows, `bench/out/windows.csv` and a plot beside it.

use std::path::Path;
use std::process::ExitCode;
use trunkline_testkit::sim::windows::{HEAD, csv, findings, line, measure};
use trunkline_testkit::sim::windows_plot::svg;

fn main() -> ExitCode {
    println!("{HEAD}");
    let cells = measure(|cell| println!("{}", line(cell)));
    let out = Path::new(env!("CARGO_MANIFEST_DIR")).join("../bench/out");
    let written = std::fs::create_dir_all(&out)
        .and_then(|()| std::fs::write(out.join("windows.csv"), csv(&cells)))
        .and_then(|()| std::fs::write(out.join("windows.svg"), svg(&cells)));
    if let Err(error) = written {
        eprintln!("{} cannot be written: {error}", out.display());
        return ExitCode::FAILURE;
    }
    let found = findings(&cells);
    for sentence in &found {
        eprintln!("{sentence}");
    }
    match found.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}
