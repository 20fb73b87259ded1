//! `xtask mutants`: breaks one line of the code under each property of the simulator, in a copy of
//! the last commit, and checks that a test fails. A property that no mutant can break is not
//! tested.

use crate::tools::run;
use crate::{Outcome, root};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The list, which `tidy` keeps in step with the code.
pub(crate) const LIST: &str = "testkit/mutants.toml";
/// The simulator's tests, the quick ones first.
const TESTS: [&str; 3] = ["sim_pool", "sim_windows", "sim"];
/// A world that goes on for ever is noticed, too.
const SECONDS_MAX: &str = "300";

/// A fault in one place.
#[derive(Debug)]
pub(crate) struct Mutant {
    /// The property that holds without it.
    pub(crate) property: String,
    /// The effect of the mutant.
    pub(crate) broken: String,
    pub(crate) file: String,
    /// The text to replace, which occurs once, and its replacement.
    pub(crate) was: String,
    pub(crate) is: String,
}

impl Mutant {
    /// All of a list.
    pub(crate) fn all(text: &str) -> Result<Vec<Self>, String> {
        let list: toml::Table = text
            .parse()
            .map_err(|why| format!("{LIST} does not parse: {why}"))?;
        let entries = list.get("mutant").and_then(toml::Value::as_array);
        let entries = entries.ok_or_else(|| format!("{LIST} has no [[mutant]]"))?;
        entries.iter().map(Self::of).collect()
    }
    fn of(entry: &toml::Value) -> Result<Self, String> {
        let part = |key: &str| {
            let part = entry.get(key).and_then(toml::Value::as_str);
            part.map(str::to_owned)
                .ok_or_else(|| format!("{LIST}: an entry has no `{key}`"))
        };
        Ok(Self {
            property: part("property")?,
            broken: part("broken")?,
            file: part("file")?,
            was: part("was")?,
            is: part("is")?,
        })
    }
}

/// `args`: only mutants whose file, property or fault has one of these words. Default: all.
pub(crate) fn mutants(args: &[String]) -> Outcome {
    let list = read(&root().join(LIST))?;
    let copy = copy()?;
    if let Some(failed) = failing(&copy)?.first() {
        return Err(format!("{failed} fails without any mutant"));
    }
    let (mut tried, mut survivors) = (0, 0);
    println!("| property | broken | noticed by |\n|---|---|---|");
    for mutant in Mutant::all(&list)? {
        let words = [&mutant.property, &mutant.broken, &mutant.file];
        let is_meant = |arg: &String| words.iter().any(|word| word.contains(arg.as_str()));
        if !args.is_empty() && !args.iter().any(is_meant) {
            continue;
        }
        let path = copy.join(&mutant.file);
        let text = read(&path)?;
        write(&path, &text.replacen(&mutant.was, &mutant.is, 1))?;
        let failed = failing(&copy);
        write(&path, &text)?;
        let failed = failed?;
        tried += 1;
        survivors += usize::from(failed.is_empty());
        let noticed = match failed.len() {
            0 => "**nothing**".to_owned(),
            1 | 2 => failed.join(", "),
            more => format!("{}, {} and {} more", failed[0], failed[1], more - 2),
        };
        println!("| {} | {} | {noticed} |", mutant.property, mutant.broken);
    }
    println!("\n{tried} mutants, {survivors} unnoticed");
    match survivors {
        0 => Ok(()),
        _ => Err(format!("{survivors} of {tried} mutants live")),
    }
}

/// The last commit, in a folder of its own.
fn copy() -> Result<PathBuf, String> {
    let copy = root().join("target/mutants");
    if copy.exists() {
        std::fs::remove_dir_all(&copy)
            .map_err(|why| format!("cannot remove {}: {why}", copy.display()))?;
    }
    let mut clone = Command::new("git");
    clone.args(["clone", "--quiet"]).arg(root()).arg(&copy);
    run(&mut clone)?;
    Ok(copy)
}

/// The tests that fail there, of the first program that has any; its own name if it never ended.
fn failing(copy: &Path) -> Result<Vec<String>, String> {
    for test in TESTS {
        // However long it takes; what is bounded is the tests' own time.
        let built = output_of(copy, "cargo", &["test", "--quiet", "--no-run"], test)?;
        built.map_err(|printed| format!("it does not compile:\n{printed}"))?;
        let patient = [SECONDS_MAX, "cargo", "test", "--quiet"];
        let Err(printed) = output_of(copy, "timeout", &patient, test)? else {
            continue;
        };
        let names = printed.lines().filter_map(|line| line.strip_prefix("    "));
        let is_name = |name: &&str| {
            let mut letters = name.chars();
            letters.all(|letter| letter.is_alphanumeric() || letter == '_')
        };
        let names: BTreeSet<_> = names.filter(is_name).collect();
        return Ok(match names.is_empty() {
            true => vec![format!("`{test}` (did not end)")],
            false => names.iter().map(|name| format!("`{name}`")).collect(),
        });
    }
    Ok(Vec::new())
}

/// The output of a command about a test program; `Err` if it fails.
fn output_of(
    copy: &Path,
    program: &str,
    args: &[&str],
    test: &str,
) -> Result<Result<String, String>, String> {
    let mut command = Command::new(program);
    command.args(args);
    let output = command
        .args(["-p", "trunkline-testkit", "--test", test])
        .current_dir(copy)
        .output()
        .map_err(|why| format!("cannot start {program}: {why}"))?;
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    Ok(match output.status.success() {
        true => Ok(text(&output.stdout)),
        false => Err(text(&output.stdout) + &text(&output.stderr)),
    })
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|why| format!("cannot read {}: {why}", path.display()))
}

fn write(path: &Path, text: &str) -> Outcome {
    std::fs::write(path, text).map_err(|why| format!("cannot write {}: {why}", path.display()))
}
