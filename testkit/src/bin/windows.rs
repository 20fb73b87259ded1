//! `make windows`: the table of windows, `bench/out/windows.csv` and a plot beside it. With `--docs`
//! the table goes into `docs/windows.md` too, between its marks, and the plot beside that.

use std::path::Path;
use std::process::ExitCode;
use trunkline_testkit::sim::windows::plot::svg;
use trunkline_testkit::sim::windows::{Cell, HEAD, csv, findings, line, measure};

fn main() -> ExitCode {
    let for_docs = match std::env::args().nth(1).as_deref() {
        None => false,
        Some("--docs") => true,
        Some(other) => {
            eprintln!("the argument is {other}; it must be --docs or none");
            return ExitCode::FAILURE;
        }
    };
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
    if for_docs && let Err(error) = write_docs(&cells) {
        eprintln!("docs/windows.md cannot be written: {error}");
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

/// Puts the table between the marks of the page, and the plot beside it.
fn write_docs(cells: &[Cell]) -> std::io::Result<()> {
    const BEGIN: &str = "<!-- table: make windows -->\n";
    const END: &str = "<!-- end of table -->\n";
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    let page = std::fs::read_to_string(docs.join("windows.md"))?;
    let parts = page.split_once(BEGIN).and_then(|(head, rest)| {
        let (_, tail) = rest.split_once(END)?;
        Some((head, tail))
    });
    let Some((head, tail)) = parts else {
        return Err(std::io::Error::other("the marks of the table are missing"));
    };
    let lines: String = cells.iter().map(|cell| line(cell) + "\n").collect();
    let page = format!("{head}{BEGIN}```text\n{HEAD}\n{lines}```\n{END}{tail}");
    std::fs::write(docs.join("windows.md"), page)?;
    std::fs::write(docs.join("windows.svg"), svg(cells))
}
