//! Our server with nghttp and h2load.

use crate::ours::{Stage, stage};
use crate::way::{Way, ten_mebibytes};
use std::fs::File;
use std::process::Command;
use trunkline_interop::{is_installed, output_of};

fn with(program: &str) -> Option<Stage> {
    is_installed(program, "nghttp2-client").then(stage)
}

fn nghttp(stage: &Stage, way: Way, flags: &[&str], path: &str) -> String {
    let mut command = Command::new("nghttp");
    command.args(["--timeout", "60"]).args(flags);
    // Its messages about the certificate go to standard error.
    let output = command
        .arg(way.url(stage.endpoints, path))
        .output()
        .unwrap();
    assert!(output.status.success(), "{way:?} {path}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn nghttp_gets_and_heads() {
    let Some(stage) = with("nghttp") else { return };
    for way in Way::H2 {
        assert_eq!(
            nghttp(&stage, way, &[], "/bytes/1024"),
            "x".repeat(1024),
            "{way:?}"
        );
        let printed = nghttp(
            &stage,
            way,
            &["--verbose", "-H", ":method: HEAD"],
            "/bytes/1024",
        );
        assert!(
            printed.contains("content-length: 1024"),
            "{way:?}: {printed}"
        );
        assert!(!printed.contains("xxxx"), "{way:?}: HEAD has no body");
    }
}

#[test]
fn nghttp_sends_ten_mebibytes_and_gets_them_back() {
    let Some(stage) = with("nghttp") else { return };
    let upload = stage.workplace.write("upload", ten_mebibytes()).unwrap();
    let echo = stage.workplace.path().join("echo");
    for way in Way::H2 {
        let mut command = Command::new("nghttp");
        command.args(["--timeout", "60", "--data"]).arg(&upload);
        command
            .arg(way.url(stage.endpoints, "/echo"))
            .stdout(File::create(&echo).unwrap());
        assert!(command.status().unwrap().success(), "{way:?}");
        let same = std::fs::read(&echo).unwrap() == ten_mebibytes();
        assert!(same, "{way:?}: the bytes came back changed");
    }
}

#[test]
fn trailers_go_both_ways_with_nghttp() {
    let Some(stage) = with("nghttp") else { return };
    let body = stage.workplace.write("body", "body").unwrap();
    for way in Way::H2 {
        let data = body.to_str().unwrap();
        let flags = ["--verbose", "--data", data, "--trailer", "x-sent: theirs"];
        let printed = nghttp(&stage, way, &flags, "/trailers");
        assert!(printed.contains("x-heard: theirs"), "{way:?}: {printed}");
    }
}

#[test]
fn nghttp_sees_a_reset_with_its_code() {
    let Some(stage) = with("nghttp") else { return };
    for way in Way::H2 {
        let mut command = Command::new("nghttp");
        command
            .args(["--verbose", "--timeout", "60"])
            .arg(way.url(stage.endpoints, "/reset"));
        let printed = String::from_utf8_lossy(&command.output().unwrap().stdout).into_owned();
        assert!(
            printed.contains("recv RST_STREAM frame"),
            "{way:?}: {printed}"
        );
        assert!(
            printed.contains("error_code=INTERNAL_ERROR"),
            "{way:?}: {printed}"
        );
    }
}

#[test]
fn every_request_of_h2load_is_answered() {
    let Some(stage) = with("h2load") else { return };
    for way in Way::ALL {
        let mut command = Command::new("h2load");
        let shape = match way.is_h2() {
            true => ["-c", "4", "-m", "100"].as_slice(),
            false => &["--h1", "-c", "20", "-m", "1"],
        };
        command
            .args(shape)
            .args(["-n", "2000"])
            .arg(way.url(stage.endpoints, "/bytes/1024"));
        let printed = output_of(&mut command).unwrap();
        assert!(
            printed.contains("status codes: 2000 2xx"),
            "{way:?}: {printed}"
        );
        assert!(
            printed.contains("2000 succeeded, 0 failed, 0 errored"),
            "{way:?}: {printed}"
        );
    }
}

#[test]
fn uploads_of_h2load_are_all_counted() {
    let Some(stage) = with("h2load") else { return };
    let upload = stage
        .workplace
        .write("upload", vec![b'u'; 300_000])
        .unwrap();
    for way in Way::H2 {
        let mut command = Command::new("h2load");
        command
            .args(["-c", "2", "-m", "10", "-n", "100", "-d"])
            .arg(&upload);
        let printed = output_of(command.arg(way.url(stage.endpoints, "/count"))).unwrap();
        assert!(
            printed.contains("status codes: 100 2xx"),
            "{way:?}: {printed}"
        );
    }
}
