//! Our server with curl.

use crate::ours::{Stage, stage, stage_with};
use crate::way::{Way, ten_mebibytes};
use std::fs;
use std::process::{Command, Output};
use trunkline::ServerConfig;
use trunkline_interop::{Workplace, is_installed};

fn with_curl() -> Option<Stage> {
    is_installed("curl", "curl").then(stage)
}

/// Runs curl with `flags` against `path`.
fn curl(stage: &Stage, way: Way, flags: &[&str], path: &str) -> Output {
    let version = match way {
        Way::H1 | Way::H1Tls => "--http1.1",
        Way::H2c => "--http2-prior-knowledge",
        Way::H2Tls => "--http2",
        Way::H3 => "--http3-only",
    };
    Command::new("curl")
        .args([
            "--silent",
            "--show-error",
            "--max-time",
            "60",
            "--ipv4",
            version,
        ])
        .arg("--cacert")
        .arg(&stage.certificate.chain)
        .args(flags)
        .arg(way.url(stage.endpoints, path))
        .output()
        .unwrap()
}

/// As `curl`, asserting success.
fn printed(stage: &Stage, way: Way, flags: &[&str], path: &str) -> String {
    let output = curl(stage, way, flags, path);
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{way:?} {path}: {} {complaint}",
        output.status
    );
    String::from_utf8(output.stdout).unwrap()
}

fn upload(workplace: &Workplace) -> String {
    let path = workplace.write("upload", ten_mebibytes()).unwrap();
    format!("@{}", path.display())
}

#[test]
fn curl_gets_each_version_it_asks_for() {
    let Some(stage) = with_curl() else { return };
    for way in Way::ALL {
        let printed = printed(
            &stage,
            way,
            &["--write-out", " %{http_version}"],
            "/version",
        );
        let expected = if way.is_h2() {
            "HTTP/2.0 2"
        } else {
            "HTTP/1.1 1.1"
        };
        assert_eq!(printed, expected, "{way:?}");
    }
}

#[test]
fn curl_gets_a_head_without_a_body() {
    let Some(stage) = with_curl() else { return };
    for way in Way::ALL {
        let head = printed(&stage, way, &["--head"], "/bytes/1024").to_lowercase();
        assert!(head.contains("content-length: 1024"), "{way:?}: {head}");
        assert!(head.ends_with("\r\n\r\n"), "{way:?}: a body follows {head}");
    }
}

#[test]
fn curl_sends_ten_mebibytes_and_gets_them_back() {
    let Some(stage) = with_curl() else { return };
    let upload = upload(&stage.workplace);
    let echo = stage.workplace.path().join("echo");
    for way in Way::ALL {
        let flags = [
            "--data-binary",
            upload.as_str(),
            "--output",
            echo.to_str().unwrap(),
        ];
        printed(&stage, way, &flags, "/echo");
        let same = fs::read(&echo).unwrap() == ten_mebibytes();
        assert!(same, "{way:?}: the bytes came back changed");
    }
}

#[test]
fn curl_waits_for_100_continue_and_gets_it() {
    let Some(stage) = with_curl() else { return };
    for way in [Way::H1, Way::H1Tls] {
        // It would wait a minute for it, and --max-time would end it.
        let flags = [
            "--data",
            "hello",
            "-H",
            "expect: 100-continue",
            "--expect100-timeout",
            "60",
        ];
        let printed = printed(
            &stage,
            way,
            &[&flags[..], &["--include"]].concat(),
            "/count",
        );
        assert!(
            printed.starts_with("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200"),
            "{way:?}: {printed}"
        );
        assert!(printed.ends_with("\r\n\r\n5"), "{way:?}: {printed}");
    }
}

#[test]
fn curl_sees_our_trailers() {
    let Some(stage) = with_curl() else { return };
    for way in Way::ALL {
        let flags = ["--data", "body", "-H", "te: trailers", "--dump-header", "-"];
        let printed = printed(&stage, way, &flags, "/trailers");
        assert!(printed.contains("body"), "{way:?}: {printed}");
        assert!(printed.contains("x-heard: none"), "{way:?}: {printed}");
    }
}

#[test]
fn curl_knows_that_a_cut_off_body_is_cut_off() {
    let Some(stage) = with_curl() else { return };
    for way in Way::ALL {
        let output = curl(&stage, way, &[], "/reset");
        // 18: the transfer is short (HTTP/1.1, whose only sign is the connection's end);
        // 56: TLS ended without a close; 92: an HTTP/2 stream was reset.
        let code = output.status.code().unwrap();
        let expected: &[i32] = if way.is_h2() { &[92] } else { &[18, 56] };
        assert!(expected.contains(&code), "{way:?}: {code}");
    }
}

#[test]
fn curl_moves_on_to_a_new_connection_when_ours_ends() {
    if !is_installed("curl", "curl") {
        return;
    }
    let mut config = ServerConfig::default();
    config.limits.requests_per_connection_max = 4;
    let stage = stage_with(config);
    // Not h2c: curl 7.88 fails its own second request there, with every server.
    for way in [Way::H1, Way::H1Tls, Way::H2Tls] {
        let url = way.url(stage.endpoints, "/bytes/1024");
        let mut flags = vec!["--write-out", "%{stderr}%{http_code} %{num_connects}\n"];
        flags.extend([url.as_str(); 11]);
        let output = curl(&stage, way, &flags, "/bytes/1024");
        assert!(output.status.success(), "{way:?}: {output:?}");
        let lines = String::from_utf8(output.stderr).unwrap();
        let answered = lines
            .lines()
            .filter(|line| line.starts_with("200 "))
            .count();
        let opened = lines.lines().filter(|line| line.ends_with(" 1")).count();
        assert_eq!(answered, 12, "{way:?}: {lines}");
        assert!(
            (2..12).contains(&opened),
            "{way:?}: {opened} connections for 12 requests"
        );
    }
}
