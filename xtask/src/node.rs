//! Builds and tests the npm package: its addon, its TypeScript, its tests.

use crate::Outcome;
use crate::root;
use crate::tools::{cargo, cargo_home, run};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Builds the addon in `profile` (`dev`, `demo` or `release`) and puts it beside the package, then
/// compiles the TypeScript.
pub(crate) fn build(profile: &str) -> Outcome {
    put_beside(&addon(profile, cargo(&["build"]))?)
}

/// Puts the addon beside the package that was built in `profile`, and compiles the TypeScript.
pub(crate) fn put_addon_beside(profile: &str) -> Outcome {
    put_beside(&built_in(profile).join(library()))
}

/// Puts an addon beside the package and compiles the TypeScript.
pub(crate) fn put_beside(built: &Path) -> Outcome {
    let folder = root().join("node").join("addon");
    // A new file: a process that has the old one mapped keeps it.
    let fresh = folder.join("trunkline.node.new");
    std::fs::create_dir_all(&folder)
        .and_then(|()| std::fs::copy(built, &fresh))
        .and_then(|_| std::fs::rename(&fresh, folder.join("trunkline.node")))
        .map_err(|why| format!("cannot put {} beside the package: {why}", built.display()))?;
    compile()
}

/// Packs the main package and the addon for this platform into `target/npm`, installs them in an
/// empty folder and uses them there.
pub(crate) fn pack() -> Outcome {
    is_there_or_report()?;
    let mut build = cargo(&["build"]);
    // The paths of this machine stand in no package.
    if let Some(home) = cargo_home() {
        let crates = home.join("registry").join("src");
        let flags = std::env::var("RUSTFLAGS").unwrap_or_default();
        let crates = crates.display();
        build.env(
            "RUSTFLAGS",
            format!("{flags} --remap-path-prefix={crates}=crates"),
        );
        // Microsoft's compiler for x64 has another option; on arm64 the compiler is clang.
        let option = match cfg!(all(target_env = "msvc", target_arch = "x86_64")) {
            true => format!("/d1trimfile:{crates}\\"),
            false => format!("-ffile-prefix-map={crates}=crates"),
        };
        build.env("CFLAGS", option);
    }
    let built = addon("pack", build)?;
    compile()?;
    install("node/test")?;
    let out = root().join("target").join("npm");
    let _ = std::fs::remove_dir_all(&out);
    let script = |name: &str| {
        let mut command = Command::new("node");
        command.arg(root().join("node").join("pack").join(name));
        command
    };
    let made = script("make.mjs")
        .arg(built)
        .arg(&out)
        .stderr(Stdio::inherit())
        .output()
        .map_err(|why| format!("cannot start node: {why}"))?;
    if !made.status.success() {
        return Err("the packages could not be made".into());
    }
    let tarballs = String::from_utf8_lossy(&made.stdout);
    run(script("smoke.mjs").args(tarballs.lines()))
}

/// Every program of the documents in an empty folder with the packed packages alone, and what typical
/// mistakes print.
pub(crate) fn newcomer(flags: &[String]) -> Outcome {
    is_there_or_report()?;
    build("dev")?;
    run(&mut cargo(&["build", "--quiet", "-p", "trunkline-cli"]))?;
    install("node/test")?;
    let built = built_in("dev");
    let mut command = Command::new("node");
    command.arg(root().join("node/test/newcomer/newcomer.mjs"));
    command.arg(built.join(library()));
    run(command
        .arg("--cli")
        .arg(built.join("trunkline"))
        .args(flags))
}

/// Builds the addon in `profile` with `build`; where it lies.
fn addon(profile: &str, mut build: Command) -> Result<PathBuf, String> {
    run(build.args(["--quiet", "-p", "trunkline-node", "--profile", profile]))?;
    Ok(built_in(profile).join(library()))
}

/// The file name that cargo gives the addon.
fn library() -> &'static str {
    match std::env::consts::OS {
        "macos" => "libtrunkline_node.dylib",
        "windows" => "trunkline_node.dll",
        _ => "libtrunkline_node.so",
    }
}

/// The command that runs one file of tests, in one process; failures are printed briefly.
pub(crate) fn test_file(file: &Path) -> Command {
    let support = root().join("node").join("test").join("support");
    let mut command = Command::new("node");
    command.current_dir(root().join("node"));
    command.arg(format!("--import={}", support.join("ends.mjs").display()));
    let reporter = support.join("reporter.mjs");
    command.arg(format!("--test-reporter={}", reporter.display()));
    command.arg("--test-reporter-destination=stdout").arg(file);
    command
}

/// Compiles the TypeScript.
fn compile() -> Outcome {
    install("node")?;
    run(npm("node").args(["run", "--silent", "build"]))
}

/// Builds what the tests of the package need; where the origin lies that they start.
pub(crate) fn prepare() -> Result<PathBuf, String> {
    is_there_or_report()?;
    build("dev")?;
    let origin = origin("dev")?;
    install("node/test")?;
    Ok(origin)
}

/// Every test of the package, over real sockets.
pub(crate) fn test() -> Outcome {
    let origin = prepare()?;
    run(npm("node")
        .args(["run", "--silent", "test"])
        .env("TRUNKLINE_ORIGIN", origin))
}

/// Files that do more of the same where `TRUNKLINE_LONG` is set: every pair of declarations and options of a
/// compiler, workers that are replaced twice, ten processes that take each other's place, processes that exit at more moments.
const LONG_TESTS: [&str; 5] = [
    "package/types.test.mjs",
    "server/listening/cluster.test.mjs",
    "server/listening/hand_over.test.mjs",
    "client/life.test.mjs",
    "server/life.test.mjs",
];

/// The tests that take too long for every run: downloads of a gibibyte into slow readers, and the long
/// forms of others.
pub(crate) fn endurance() -> Outcome {
    let origin = origin("release")?;
    build("release")?;
    install("node/test")?;
    let long = |args: &[&str]| {
        let mut node = Command::new("node");
        node.args(["--test", "--test-timeout=300000"]).args(args);
        node.env("TRUNKLINE_LONG", "1")
            .env("TRUNKLINE_ORIGIN", &origin);
        run(&mut node)
    };
    let bodies = "node/test/client/requests/transfers.test.mjs";
    long(&["--test-name-pattern", "slow reader", bodies])?;
    long(&["node/test/server/transfers/killed_h3.long.mjs"])?;
    for name in LONG_TESTS {
        long(&[&format!("node/test/{name}")])?;
    }
    Ok(())
}

/// A load with faults on the client, then one on servers; or the one that is named first.
pub(crate) fn soak(flags: &[String]) -> Outcome {
    match flags.split_first() {
        Some((name, flags)) if name == "client" => script("release", "soak/soak.mjs", flags),
        Some((name, flags)) if name == "server" => script("release", "soak/server.mjs", flags),
        _ => script("release", "soak/soak.mjs", flags)
            .and_then(|()| script("release", "soak/server.mjs", flags)),
    }
}

/// Runs a script of `node/test` with an addon and an origin built in `profile`.
pub(crate) fn script(profile: &str, name: &str, flags: &[String]) -> Outcome {
    script_with(profile, name, flags, &[])
}

/// As [`script`], with these variables in its environment.
pub(crate) fn script_with(
    profile: &str,
    name: &str,
    flags: &[String],
    variables: &[(&str, String)],
) -> Outcome {
    is_there_or_report()?;
    build(profile)?;
    let origin = origin(profile)?;
    install("node/test")?;
    install("node/test/bench")?;
    let script = root().join("node/test").join(name);
    let mut command = Command::new("node");
    run(command
        .arg(script)
        .args(flags)
        .env("TRUNKLINE_ORIGIN", origin)
        .envs(variables.iter().cloned()))
}

/// The client beside undici. Its packages are a few megabytes, those of all tests a gigabyte.
pub(crate) fn demo() -> Outcome {
    build("demo")?;
    let origin = origin("demo")?;
    install("node/test/demo")?;
    let mut command = Command::new("node");
    run(command
        .arg(root().join("node/test/demo/demo.mjs"))
        .env("TRUNKLINE_ORIGIN", origin))
}

/// Builds the engine's examples `origin` and, beside it, `quic_peer`; where the first lies.
pub(crate) fn origin(profile: &str) -> Result<PathBuf, String> {
    let mut build = cargo(&["build", "--quiet", "-p", "trunkline"]);
    build.args(["--example", "origin", "--example", "quic_peer"]);
    run(build.args(["--profile", profile]))?;
    Ok(built_in(profile).join("examples").join("origin"))
}

/// The newest line of Node.js that the tests have; the system's where they have none for this platform.
pub(crate) fn newest_line() -> PathBuf {
    let modules = root().join("node/test/node_modules");
    let lines = std::fs::read_dir(modules).into_iter().flatten().flatten();
    let programs = lines
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("node2"))
        .map(|entry| entry.path().join("bin").join("node"))
        .filter(|program| program.exists());
    programs.max().unwrap_or_else(|| PathBuf::from("node"))
}

pub(crate) fn is_there_or_report() -> Outcome {
    match is_there() {
        true => Ok(()),
        false => Err("node and npm are missing: install Node.js 20 or newer".into()),
    }
}

/// Whether Node.js and its npm are installed.
pub(crate) fn is_there() -> bool {
    ["node", NPM].iter().all(|program| {
        let asked = Command::new(program).arg("--version").output();
        asked.is_ok_and(|output| output.status.success())
    })
}

/// Where cargo puts what it builds in `profile`.
pub(crate) fn built_in(profile: &str) -> PathBuf {
    built_for("", profile)
}

/// Where cargo puts what it builds for another target than this machine's.
pub(crate) fn built_for(target: &str, profile: &str) -> PathBuf {
    let folder = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let folder = folder.unwrap_or_else(|| root().join("target")).join(target);
    folder.join(if profile == "dev" { "debug" } else { profile })
}

/// Installs a package's dependencies: once, and again when they change.
pub(crate) fn install(package: &str) -> Outcome {
    let folder = root().join(package);
    let changed = |file: &str| folder.join(file).metadata().and_then(|is| is.modified());
    // npm writes this file with every install that changed anything.
    let installed = changed("node_modules/.package-lock.json");
    if let (Ok(installed), Ok(asked)) = (installed, changed("package.json"))
        && installed > asked
    {
        return Ok(());
    }
    // Errors are printed; neither warnings nor the count of packages.
    let quiet = ["install", "--no-audit", "--no-fund", "--loglevel=error"];
    run(npm(package).args(quiet).stdout(Stdio::null()))
}

/// npm's name as the system looks it up; on Windows it is a script.
const NPM: &str = if cfg!(windows) { "npm.cmd" } else { "npm" };

fn npm(package: &str) -> Command {
    let mut command = Command::new(NPM);
    command.arg("--prefix").arg(root().join(package));
    command
}
