//! Network namespaces, named after the process that made them, so that those of a dead process can
//! be recognised.

use nix::sched::{CloneFlags, setns};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::process::{self, Command};
use std::thread;

/// Where `ip netns` keeps the namespaces.
const FOLDER: &str = "/var/run/netns";
/// The start of every name: `netlab-<process>-<number>-<side>`.
const PREFIX: &str = "netlab-";

/// A network namespace that lives as long as this value.
#[derive(Debug)]
pub(super) struct Namespace {
    name: String,
}

impl Namespace {
    /// Creates it. `number` and `side` tell the namespaces of one process apart.
    pub(super) fn create(number: u32, side: &str) -> Result<Self, String> {
        let name = format!("{PREFIX}{}-{number}-{side}", process::id());
        ip(&["netns", "add", &name])?;
        Ok(Self { name })
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Runs `ip` inside.
    pub(super) fn ip(&self, arguments: &[&str]) -> Result<(), String> {
        let mut all = vec!["-n", &self.name];
        all.extend(arguments);
        ip(&all)
    }

    /// Runs `work` on a thread that has joined this namespace and ends with it.
    pub(super) fn inside<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T, String> {
        let path = Path::new(FOLDER).join(&self.name);
        thread::scope(|scope| {
            let joined = scope.spawn(|| {
                let file = File::open(&path)
                    .map_err(|error| format!("cannot open {}: {error}", path.display()))?;
                setns(&file, CloneFlags::CLONE_NEWNET)
                    .map_err(|error| format!("cannot join {}: {error}", self.name))?;
                Ok(work())
            });
            joined
                .join()
                .unwrap_or_else(|_| Err(format!("work inside {} panicked", self.name)))
        })
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        if let Err(sentence) = ip(&["netns", "delete", &self.name]) {
            // Not `eprintln`: standard error may be closed, and that is no reason to panic here.
            let _ = writeln!(io::stderr(), "netlab: {sentence}");
        }
    }
}

/// Removes the namespaces whose process is no more.
pub(super) fn sweep() -> Result<(), String> {
    let Ok(entries) = fs::read_dir(FOLDER) else {
        return Ok(());
    };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some(process) = owner(&name) else {
            continue;
        };
        if !Path::new("/proc").join(process.to_string()).exists() {
            // Another lab may sweep at the same time: that it is gone is all that counts.
            if let Err(sentence) = ip(&["netns", "delete", &name])
                && entry.path().exists()
            {
                return Err(sentence);
            }
        }
    }
    Ok(())
}

/// The process that made the namespace, when it is one of ours.
pub(super) fn owner(name: &str) -> Option<u32> {
    let rest = name.strip_prefix(PREFIX)?;
    rest.split('-').next()?.parse().ok()
}

/// Runs `ip`.
fn ip(arguments: &[&str]) -> Result<(), String> {
    let displayed = format!("ip {}", arguments.join(" "));
    let output = Command::new("ip")
        .args(arguments)
        .output()
        .map_err(|error| format!("cannot run `{displayed}`: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let printed = String::from_utf8_lossy(&output.stderr);
    Err(format!("`{displayed}` failed: {}", printed.trim()))
}

#[cfg(test)]
#[path = "namespace_test.rs"]
mod namespace_test;
