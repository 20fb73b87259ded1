//! Our server with headless Chromium over HTTP/3.

use crate::ours::{PARTS, stage};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use rustls::crypto::aws_lc_rs::cipher_suite::TLS13_AES_128_GCM_SHA256;
use std::process::Command;
use trunkline_interop::{Process, is_installed};

#[test]
fn chromium_loads_a_page_of_two_hundred_parts_over_http3_alone() {
    if !is_installed("chromium", "chromium") {
        return;
    }
    let stage = stage();
    let origin = format!("127.0.0.1:{}", stage.endpoints.tls);
    let suite = TLS13_AES_128_GCM_SHA256.tls13().unwrap();
    let hash = suite
        .common
        .hash_provider
        .hash(&stage.certificate.public_key);
    let trusted = BASE64_STANDARD.encode(hash.as_ref());
    let profile = stage.workplace.path().join("chromium");
    let mut command = Command::new("chromium");
    // As root it has no sandbox; the page is our own.
    command.args(["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"]);
    command.args(["--disable-dev-shm-usage", "--disable-background-networking"]);
    command.arg(format!("--user-data-dir={}", profile.display()));
    command.arg(format!("--origin-to-force-quic-on={origin}"));
    command.arg(format!("--ignore-certificate-errors-spki-list={trusted}"));
    command.arg(format!("https://{origin}/page"));
    let log = stage.workplace.path().join("chromium.log");
    let mut process = Process::start(&mut command, &[], log).unwrap();
    let printed = process.receive("</html>").unwrap();
    let loaded = format!("loaded {{\"h3\":{PARTS}}}");
    assert!(printed.contains(&loaded), "{printed}");
    let metrics = stage.secure.metrics();
    assert_eq!(metrics.requests_h3, PARTS + 1, "the page and its parts");
    assert_eq!((metrics.requests_h1, metrics.requests_h2), (0, 0));
    assert_eq!(metrics.violations, []);
}
