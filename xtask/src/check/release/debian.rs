//! The Debian package: made by cargo-deb, installed into a folder of its own by dpkg, and its server started there.

use super::make_files;
use crate::tools::{self, run};
use crate::{Outcome, root};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Files that the installed package must have.
const INSTALLED: [&str; 8] = [
    "usr/bin/trunkline",
    "usr/lib/systemd/system/trunkline.service",
    "usr/lib/sysusers.d/trunkline.conf",
    "etc/logrotate.d/trunkline",
    "usr/share/man/man1/trunkline-serve.1.gz",
    "usr/share/bash-completion/completions/trunkline",
    "usr/share/zsh/vendor-completions/_trunkline",
    "usr/share/doc/trunkline/copyright",
];

/// Makes and tries the package where dpkg is; elsewhere says that it did not.
pub(super) fn debian() -> Outcome {
    if tools::DPKG.find().is_none() {
        eprintln!("going on without the Debian package: there is no dpkg");
        return Ok(());
    }
    let program = tools::DEB.ensure()?;
    let folder = make_files()?;
    run(Command::new(program)
        .args([
            "deb",
            "--quiet",
            "--no-build",
            "--profile",
            "pack",
            "-p",
            "trunkline-cli",
            "--output",
        ])
        .arg(&folder))?;
    let entries =
        std::fs::read_dir(&folder).map_err(|why| format!("{}: {why}", folder.display()))?;
    let package = entries
        .flatten()
        .map(|entry| entry.path())
        .find(|path| path.extension().is_some_and(|ending| ending == "deb"))
        .ok_or("cargo-deb made no package")?;
    let installed = install(&package)?;
    let missing: Vec<&str> = INSTALLED
        .into_iter()
        .filter(|name| !installed.join(name).exists())
        .collect();
    if !missing.is_empty() {
        return Err(format!(
            "the package does not install {}",
            missing.join(", ")
        ));
    }
    started(&installed)
}

/// Installs the package as dpkg does, its scripts included, into an empty folder in the place of `/`.
fn install(package: &Path) -> Result<PathBuf, String> {
    let folder = root().join("target").join("release-staging").join("root");
    let _ = std::fs::remove_dir_all(&folder);
    let database = folder.join("var/lib/dpkg");
    for part in ["updates", "info", "triggers"] {
        let made = database.join(part);
        std::fs::create_dir_all(&made).map_err(|why| format!("{}: {why}", made.display()))?;
    }
    super::write(&database.join("status"), b"")?;
    // Its dependencies are those of this machine; its scripts apply DPKG_ROOT.
    let mut command = Command::new("dpkg");
    command.arg(format!("--root={}", folder.display()));
    command.args([
        "--force-not-root",
        "--force-depends",
        "--force-script-chrootless",
        "--install",
    ]);
    run(command.arg(package).stdout(Stdio::null()))?;
    Ok(folder)
}

/// Starts the installed program on a folder, with the configuration's port chosen by the kernel, and fetches a file
/// from it with itself.
fn started(installed: &Path) -> Outcome {
    let program = installed.join("usr/bin/trunkline");
    let site = installed.join("srv/www");
    std::fs::create_dir_all(&site).map_err(|why| format!("{}: {why}", site.display()))?;
    super::write(&site.join("index.html"), b"installed\n")?;
    let mut server = Command::new(&program)
        .arg("serve")
        .arg(&site)
        .args(["--listen", "127.0.0.1:0", "--tls-self-signed"])
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|why| format!("{}: {why}", program.display()))?;
    let fetched = fetch(&program, &mut server);
    let _ = server.kill();
    let _ = server.wait();
    match fetched?.as_str() {
        "installed\n" => Ok(()),
        other => Err(format!("the installed server answered {other:?}")),
    }
}

fn fetch(program: &Path, server: &mut Child) -> Result<String, String> {
    let stdout = server.stdout.take().ok_or("the server has no output")?;
    let url = BufReader::new(stdout)
        .lines()
        .map_while(Result::ok)
        .find_map(|line| {
            let begin = line.find("https://")?;
            Some(line[begin..].split_whitespace().next()?.to_owned())
        })
        .ok_or("the installed server ended without saying where it listens")?;
    let output = Command::new(program)
        .args(["get", "--insecure", &url])
        .output()
        .map_err(|why| format!("{}: {why}", program.display()))?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
