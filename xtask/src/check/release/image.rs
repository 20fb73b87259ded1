//! The container image of `packaging/Dockerfile`: its commands with the program of this machine, and where there is a Docker engine the
//! image itself, built, started and found healthy by its own check.

use super::read;
use crate::tools::run;
use crate::{Outcome, root};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const DOCKERFILE: &str = "packaging/Dockerfile";
const TAG: &str = "trunkline:release-check";
/// The first check of health comes after its interval of 10 s.
const PATIENCE: Duration = Duration::from_secs(60);

/// The commands of a Dockerfile, without the program.
#[derive(Debug, PartialEq, Eq)]
struct Commands {
    serves: Vec<String>,
    health: Vec<String>,
}

/// Tries both.
pub(super) fn image(program: &Path) -> Outcome {
    let site = root().join("target").join("release-staging").join("site");
    std::fs::create_dir_all(&site).map_err(|why| format!("{}: {why}", site.display()))?;
    super::write(&site.join("index.html"), b"image\n")?;
    let commands = commands(&read(&root().join(DOCKERFILE))?)?;
    on_this_machine(program, &site, &commands)?;
    let mut engine = Command::new("docker");
    let engine = engine.arg("info").stdout(Stdio::null());
    let answers = engine.stderr(Stdio::null()).status();
    if !answers.is_ok_and(|status| status.success()) {
        eprintln!("going on without the image: no Docker engine answers");
        return Ok(());
    }
    in_a_container(&site)
}

/// Those of the last stage.
fn commands(text: &str) -> Result<Commands, String> {
    let of = |mark: &str| {
        let line = text.lines().rev().find(|line| line.starts_with(mark));
        let array = line.and_then(|line| line.split_once("CMD "));
        let words = array.and_then(|(_, array)| serde_json::from_str(array).ok());
        words.ok_or_else(|| format!("{DOCKERFILE} has no line {mark} with an array"))
    };
    let mut health: Vec<String> = of("HEALTHCHECK ")?;
    if health.is_empty() || !health.remove(0).ends_with("/trunkline") {
        return Err(format!("{DOCKERFILE}: HEALTHCHECK is not trunkline's"));
    }
    Ok(Commands {
        serves: of("CMD ")?,
        health,
    })
}

/// Serves a folder by the image's command at a free port, and asks by its check of health: healthy, and behind its end not.
fn on_this_machine(program: &Path, site: &Path, commands: &Commands) -> Outcome {
    let serves = commands.serves.iter().map(|word| match word.as_str() {
        "/srv" => site.display().to_string(),
        "[::]:8080" => "127.0.0.1:0".to_owned(),
        _ => word.clone(),
    });
    let mut server = Command::new(program)
        .args(serves)
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|why| format!("{}: {why}", program.display()))?;
    let health = |url: &str| {
        let words = commands.health.iter();
        let words = words.map(|word| word.replace("http://127.0.0.1:8080/", url));
        let asked = Command::new(program)
            .args(words)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        asked.is_ok_and(|status| status.success())
    };
    let url = url(&mut server);
    let is_healthy = url.as_deref().is_some_and(health);
    let _ = server.kill();
    let _ = server.wait();
    match url {
        Some(url) if is_healthy && !health(&url) => Ok(()),
        Some(_) => Err(format!("the HEALTHCHECK of {DOCKERFILE} says nothing")),
        None => Err(format!("the CMD of {DOCKERFILE} does not serve")),
    }
}

/// The address that a server prints.
fn url(server: &mut Child) -> Option<String> {
    let lines = BufReader::new(server.stdout.take()?).lines();
    lines.map_while(Result::ok).find_map(|line| {
        let begin = line.find("http://")?;
        Some(format!("{}/", line[begin..].trim_end()))
    })
}

/// Builds the image, and waits until a container of it is healthy.
fn in_a_container(site: &Path) -> Outcome {
    let docker = |words: &[&str]| {
        let mut docker = Command::new("docker");
        docker.current_dir(root()).args(words);
        docker
    };
    run(&mut docker(&[
        "build", "--quiet", "-f", DOCKERFILE, "-t", TAG, ".",
    ]))?;
    let volume = format!("{}:/srv:ro", site.display());
    let started = docker(&["run", "--detach", "--volume", &volume, TAG]).output();
    let started = started.map_err(|why| format!("docker run: {why}"))?;
    if !started.status.success() {
        let why = String::from_utf8_lossy(&started.stderr);
        return Err(format!("the image does not start: {why}"));
    }
    let id = String::from_utf8_lossy(&started.stdout).trim().to_owned();
    let health = || {
        let asked = docker(&["inspect", "--format", "{{.State.Health.Status}}", &id]).output();
        asked.map_or_else(
            |why| why.to_string(),
            |output| String::from_utf8_lossy(&output.stdout).trim().to_owned(),
        )
    };
    let until = Instant::now() + PATIENCE;
    while health() == "starting" && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(500));
    }
    let found = health();
    let _ = run(docker(&["rm", "--force", &id]).stdout(Stdio::null()));
    match found.as_str() {
        "healthy" => Ok(()),
        other => Err(format!("the container is {other:?}, not healthy")),
    }
}

#[cfg(test)]
#[path = "image_test.rs"]
mod image_test;
