//! `test`: every test of the workspace and of the npm package, on all cores. All programs are built with
//! one selection of packages, so that nothing is compiled twice with other features. Tests run while others
//! are still being compiled. Each program of tests writes to a file of its own under `target/suite`, where
//! `jobs.csv` has the time and the CPU time of each; printed are the names and messages of failing tests,
//! as they fail and at the end.

mod cpu;
mod doc;
mod idle;
mod job;
mod report;

use crate::tools::{self, cargo, run};
use crate::{Outcome, node, root};
use job::{Job, Queue};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Instant;

/// The packages that are built and tested: all but the benchmarks, whose foreign clients and
/// servers take a minute to compile, and this program. `ready` tests the benchmarks.
const SELECTION: [&str; 5] = [
    "--workspace",
    "--exclude",
    "trunkline-bench",
    "--exclude",
    "xtask",
];
/// This program, apart: with the features that it was built with it need not be compiled again.
const OWN: [&str; 2] = ["--package", "xtask"];
/// Programs of tests at once beyond one for each core: half of their time they wait for deadlines and peers.
const BEYOND_CORES: usize = 2;
/// The most of them at once for each core, while the machine idles.
const FOR_EACH_CORE_MAX: usize = 5;
/// Tests of one Rust program that run at once.
const TEST_THREADS: &str = "4";
/// Files of the package's tests whose loop is cut into jobs, so that none takes long, by their path's
/// beginning, of which the first that fits counts: a job per line of Node.js, and per version of HTTP. A count that is not that of the loop
/// makes jobs longer or empty; the loop is run as a whole with any.
const SHARES: [(&str, usize); 2] = [("lines/", 2), ("server/suite.", 5)];
/// Files that are begun first, by the beginning of their path: one that takes a minute would otherwise run alone at the end.
const LONG: [&str; 5] = [
    "lines/",
    "package/types",
    "client/requests/ends",
    "client/inline/requests",
    "server/listening/cluster",
];
/// The compiler gives way to tests that run beside it.
const COMPILER_NICE: &str = "5";

/// Every test, foreign peers included where they are installed.
pub(crate) fn test() -> Outcome {
    let began = Instant::now();
    node::is_there_or_report()?;
    let folder = root().join("target").join("suite");
    std::fs::create_dir_all(&folder)
        .map_err(|why| format!("cannot make {}: {why}", folder.display()))?;
    // Both wait for the network while the compiler runs.
    let installing = thread::spawn(|| {
        tools::ensure_or_report(tools::PEERS);
        node::install("node").and_then(|()| node::install("node/test"))
    });
    step(began, "build");
    let first = ["build", "--quiet", "--lib", "--bins", "--example", "origin"];
    let built = run(cargo(&first).args(SELECTION));
    let installed = installing.join().unwrap_or(Err("npm: panicked".into()));
    built.and(installed)?;
    node::put_addon_beside("dev")?;
    let peers = thread::spawn(make_peers);
    let origin = node::built_in("dev").join("examples").join("origin");

    step(began, "tests");
    let (early, late) = node_jobs(&origin)?;
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let at_once = cores + BEYOND_CORES..=cores * FOR_EACH_CORE_MAX;
    let queue = Queue::new(folder.clone(), at_once, early);
    let outcome = thread::scope(|scope| {
        let working = scope.spawn(|| queue.work());
        let built = add_rust_jobs(&queue, &folder);
        let _ = peers.join();
        // In front of the others: the longest of all is among these, and waits for most of its time.
        let added = built.map(|()| queue.add(late));
        queue.close();
        let _ = working.join();
        added
    });
    let failed = queue.finish(began.elapsed());
    outcome.and(failed)
}

fn step(began: Instant, name: &str) {
    eprintln!("== {name} ({} s)", began.elapsed().as_secs());
}

/// Installs the kept parts of foreign peers: the Python environment, the program of quic-go, Bun.
fn make_peers() {
    let program = node::built_in("dev").join("trunkline-interop");
    if let Err(why) = run(&mut Command::new(program)) {
        eprintln!("going on without what foreign peers need: {why}");
    }
}

/// The files of the package's tests, those that take longest first; and apart, those with foreign peers and
/// with the example `quic_peer`, which are made together with the Rust tests.
fn node_jobs(origin: &Path) -> Result<(Vec<Job>, Vec<Job>), String> {
    let folder = root().join("node").join("test");
    let mut names = Vec::new();
    test_files(&folder, "", &mut names)?;
    names.sort_by_key(|name| {
        let is_long = LONG.iter().any(|beginning| name.starts_with(beginning));
        (!is_long, name.clone())
    });
    let (late, early): (Vec<_>, Vec<_>) = names
        .into_iter()
        .partition(|name| name.contains("foreign") || name.ends_with("_h3.test.mjs"));
    let jobs = |names: Vec<String>| {
        names
            .iter()
            .flat_map(|name| jobs_of(name, &folder, origin))
            .collect()
    };
    Ok((jobs(early), jobs(late)))
}

/// A job for each share of a file.
fn jobs_of(name: &str, folder: &Path, origin: &Path) -> Vec<Job> {
    let job = |share: String| {
        let mut command = node::test_file(&folder.join(name));
        command.env("TRUNKLINE_ORIGIN", origin);
        command.env("TRUNKLINE_SHARE", &share);
        Job::new(job_name(name, &share), command)
    };
    shares_of(name).into_iter().map(job).collect()
}

/// The shares of a file's loop, as `node/test/support/share.mjs` reads them.
fn shares_of(name: &str) -> Vec<String> {
    let cut = SHARES
        .iter()
        .find(|(beginning, _)| name.starts_with(beginning));
    let count = cut.map_or(1, |(_, count)| *count);
    (1..=count)
        .map(|number| format!("{number}/{count}"))
        .collect()
}

/// The name of the job of one share; of a whole file its path.
fn job_name(name: &str, share: &str) -> String {
    match share {
        "1/1" => name.to_owned(),
        _ => format!("{name} {share}"),
    }
}

/// Adds to `names` the files of tests in `folder` and in the folders in it, by their path behind
/// `prefix`. Those of installed packages are not ours.
fn test_files(folder: &Path, prefix: &str, names: &mut Vec<String>) -> Outcome {
    let listed = std::fs::read_dir(folder).map_err(|why| format!("{}: {why}", folder.display()))?;
    for entry in listed.flatten() {
        let Ok(name) = entry.file_name().into_string() else {
            continue;
        };
        let path = entry.path();
        if name != "node_modules" && path.is_dir() {
            test_files(&path, &format!("{prefix}{name}/"), names)?;
        } else if name.ends_with(".test.mjs") {
            names.push(format!("{prefix}{name}"));
        }
    }
    Ok(())
}

/// Compiles the Rust tests; each of their programs is a job as soon as it is there.
fn add_rust_jobs(queue: &Queue, folder: &Path) -> Outcome {
    compile(&SELECTION, queue)?;
    queue.add(vec![doc::job(folder)?]);
    compile(&OWN, queue)
}

/// Compiles the tests of these packages for the queue.
fn compile(packages: &[&str], queue: &Queue) -> Outcome {
    let mut command = Command::new("nice");
    command.args(["-n", COMPILER_NICE]);
    let build = [
        "test",
        "--quiet",
        "--no-run",
        "--message-format=json-render-diagnostics",
    ];
    let mut compiler = tools::beside(&mut command, cargo(&build).args(packages))
        .current_dir(root())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|why| format!("cannot start cargo: {why}"))?;
    let lines = compiler.stdout.take().map(BufReader::new);
    for line in lines.into_iter().flat_map(BufRead::lines) {
        let line = line.map_err(|why| format!("cargo: {why}"))?;
        queue.add(
            report::program_of(&line)
                .map(rust_job)
                .into_iter()
                .collect(),
        );
    }
    match compiler.wait() {
        Ok(status) if status.success() => Ok(()),
        _ => Err("the tests do not compile".into()),
    }
}

fn rust_job(program: report::Program) -> Job {
    let mut command = Command::new(&program.executable);
    // As cargo runs it.
    command.current_dir(&program.package);
    command.env("CARGO_MANIFEST_DIR", &program.package);
    // Clients go through the environment's proxies; names that a test makes up must not.
    for name in [
        "http_proxy",
        "HTTP_PROXY",
        "https_proxy",
        "HTTPS_PROXY",
        "all_proxy",
        "ALL_PROXY",
    ] {
        command.env_remove(name);
    }
    command.env("RUST_TEST_THREADS", TEST_THREADS);
    Job::new(program.name, command)
}

#[cfg(test)]
#[path = "suite_test.rs"]
mod suite_test;
