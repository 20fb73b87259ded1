//! Our client against a raw HTTP/3 server that breaks one rule after the other in its answers
//! (`conformance/h3/client_cases.py`).

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use http_body_util::BodyExt;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;
use trunkline::client::{Client, ClientTls, Protocols};
use trunkline_interop::{Certificate, Workplace, find_python, is_python_installed};

/// The server's time limit for one line.
const PATIENCE: Duration = Duration::from_secs(60);

/// The server, ended with the value, and the lines that it says.
struct Raw {
    child: Child,
    lines: Receiver<String>,
}

impl Raw {
    fn start(certificate: &Certificate) -> Self {
        let program =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../conformance/h3/client_cases.py");
        let mut child = Command::new(find_python().unwrap())
            .args(["-B", "-u"])
            .arg(program)
            .args([&certificate.chain, &certificate.key])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let printed = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in printed.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Self { child, lines }
    }
    fn line(&self, what: &str) -> String {
        let line = self.lines.recv_timeout(PATIENCE);
        line.unwrap_or_else(|_| panic!("{what} is due"))
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn every_rule_that_a_server_can_break_is_held() {
    if !is_python_installed() {
        return;
    }
    let workplace = Workplace::new().unwrap();
    let certificate = Certificate::write(workplace.path()).unwrap();
    let raw = Raw::start(&certificate);
    let port: u16 = raw.line("the port").parse().unwrap();
    let cases = raw.line("the names of the cases");
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let mut broken = Vec::new();
    for name in cases.split(' ') {
        let served = runtime.block_on(ask(&certificate, port, name));
        if served.is_ok() != name.starts_with("good_") {
            broken.push(format!("{name}: the client says {served:?}"));
        }
        let verdict = raw.line(&format!("a verdict on {name}"));
        if verdict != format!("ok {name}") {
            broken.push(verdict);
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// Asks once, with a client of its own; a good answer is `ok`.
async fn ask(certificate: &Certificate, port: u16, name: &str) -> Result<(), String> {
    let root = certificate.der.clone().into();
    let client = Client::builder()
        .protocols(Protocols::H3Only)
        .tls(ClientTls::new().root(root).only_given_roots())
        .resolve("localhost", [([127, 0, 0, 1], 0).into()])
        .build()
        .unwrap();
    let url = format!("https://localhost:{port}/{name}");
    let answer = async {
        let response = client
            .get(url)
            .send()
            .await
            .map_err(|why| why.to_string())?;
        let body = response.into_body().collect().await;
        body.map_err(|why| why.to_string())
    };
    let body = tokio::time::timeout(PATIENCE, answer)
        .await
        .map_err(|_| "nothing for a long time".to_owned())??;
    match body.to_bytes() == "ok" {
        true => Ok(()),
        false => Err("another body".to_owned()),
    }
}
