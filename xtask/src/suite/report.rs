//! Reads the output of cargo and of programs of tests: the programs, and the failing tests with their messages.

use std::path::{Path, PathBuf};

/// Characters of one failure's message that are printed.
const MESSAGE_MAX: usize = 300;
/// Marks a failing test in what `node/test/support/reporter.mjs` prints.
const NODE_MARK: &str = "FAILED ";

/// A program of Rust tests.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Program {
    /// The package's folder and the program's name.
    pub name: String,
    pub executable: PathBuf,
    /// The folder of the package.
    pub package: PathBuf,
}

/// The program of tests that a line of `cargo test --message-format=json` names.
pub(super) fn program_of(line: &str) -> Option<Program> {
    // The target says whether it can be tested, the profile whether this is the test.
    let (_, profile) = line.split_once(r#""profile":{"#)?;
    let (profile, _) = profile.split_once('}')?;
    let is_test = profile.contains(r#""test":true"#);
    let executable = PathBuf::from(field(line, "executable").filter(|_| is_test)?);
    let manifest = PathBuf::from(field(line, "manifest_path")?);
    let package = manifest.parent()?.to_path_buf();
    let folder = package.file_name()?.to_string_lossy().into_owned();
    let stem = executable.file_name()?.to_string_lossy();
    let stem = stem.rsplit_once('-').map_or(&*stem, |(stem, _)| stem);
    Some(Program {
        name: format!("{folder}-{stem}"),
        executable: executable.clone(),
        package,
    })
}

/// The text of a field of a line of JSON; paths with escapes are not expected.
fn field<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = line.split_once(&format!(r#""{name}":""#))?;
    rest.split_once('"').map(|(value, _)| value)
}

/// Each failing test of a program's output: its name, then the beginning of its message.
pub(super) fn failures(output: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut lines = output.lines().peekable();
    while let Some(line) = lines.next() {
        let rust = line.strip_prefix("---- ");
        let name = rust.and_then(|line| line.split_once(" stdout ----"));
        let name = name.map(|(name, _)| name);
        let Some(name) = name.or_else(|| line.strip_prefix(NODE_MARK)) else {
            continue;
        };
        let mut message = String::new();
        while let Some(line) = lines.peek() {
            let is_next = line.starts_with("---- ") || line.starts_with(NODE_MARK);
            if is_next || *line == "failures:" || message.len() >= MESSAGE_MAX {
                break;
            }
            let line = line.trim();
            if !line.is_empty() && !line.starts_with("note: run with") {
                message.push_str(line);
                message.push('\n');
            }
            lines.next();
        }
        let failure = format!("{name}\n{}", cut(&message, MESSAGE_MAX));
        // The package's reporter repeats each failure at the end.
        if !found.contains(&failure) {
            found.push(failure);
        }
    }
    found
}

/// The first `most` characters of `text`.
pub(super) fn cut(text: &str, most: usize) -> &str {
    match text.char_indices().nth(most) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}

/// The last `most` characters of `text`.
pub(super) fn tail(text: &str, most: usize) -> &str {
    let count = text.chars().count();
    match text.char_indices().nth(count.saturating_sub(most)) {
        Some((begin, _)) => &text[begin..],
        None => text,
    }
}

/// The file that a job writes to.
pub(super) fn log_of(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{}.log", name.replace('/', "-")))
}

#[cfg(test)]
#[path = "report_test.rs"]
mod report_test;
