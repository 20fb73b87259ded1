//! Proxies: real ones as processes, and scripted ones in this process.
#![allow(clippy::unwrap_used, reason = "a proxy that fails fails its test")]

use super::port::free_port;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A running program and what it has said so far; ended with the value.
pub(crate) struct Proxy {
    child: Child,
    pub(crate) address: SocketAddr,
    sent: Arc<Mutex<String>>,
    folder: PathBuf,
}

impl Proxy {
    /// tinyproxy, an HTTP proxy. `lines` are added to its configuration. `None`: not installed.
    pub(crate) fn tinyproxy(lines: &str) -> Option<Self> {
        Self::start("tinyproxy", |port, folder| {
            let path = folder.join("tinyproxy.conf");
            let config = format!(
                "Port {port}\nListen 127.0.0.1\nTimeout 60\nMaxClients 100\n\
                 LogLevel Connect\n{lines}\n"
            );
            std::fs::write(&path, config).unwrap();
            vec!["-d".into(), "-c".into(), path.display().to_string()]
        })
    }
    /// microsocks, a SOCKS5 proxy. `None`: not installed.
    pub(crate) fn microsocks(options: &[&str]) -> Option<Self> {
        Self::start("microsocks", |port, _| {
            let mut arguments = vec![
                "-i".into(),
                "127.0.0.1".into(),
                "-p".into(),
                port.to_string(),
            ];
            arguments.extend(options.iter().map(|option| (*option).to_owned()));
            arguments
        })
    }
    /// dante, another SOCKS5 proxy. `None`: not installed.
    pub(crate) fn dante() -> Option<Self> {
        Self::start("danted", |port, folder| {
            let path = folder.join("danted.conf");
            let config = format!(
                "logoutput: stdout\ninternal: 127.0.0.1 port = {port}\nexternal: lo\n\
                 socksmethod: none\nclientmethod: none\nuser.privileged: root\n\
                 client pass {{ from: 127.0.0.0/8 to: 0.0.0.0/0 }}\n\
                 socks pass {{ from: 127.0.0.0/8 to: 0.0.0.0/0 log: connect }}\n"
            );
            std::fs::write(&path, config).unwrap();
            let pid = folder.join("danted.pid").display().to_string();
            vec!["-f".into(), path.display().to_string(), "-p".into(), pid]
        })
    }

    fn start(program: &str, arguments: impl Fn(u16, &PathBuf) -> Vec<String>) -> Option<Self> {
        let port = free_port().unwrap();
        let folder = std::env::temp_dir().join(format!("trunkline-{program}-{port}"));
        std::fs::create_dir_all(&folder).unwrap();
        let path = std::env::var("PATH").unwrap_or_default();
        let started = Command::new(program)
            .args(arguments(port, &folder))
            .env("PATH", format!("{path}:/usr/sbin"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let Ok(mut child) = started else {
            eprintln!("skipped: {program} is not installed (`make test` as root installs it)");
            let _ = std::fs::remove_dir_all(&folder);
            return None;
        };
        let sent = Arc::new(Mutex::new(String::new()));
        listen_to(child.stdout.take().unwrap(), &sent);
        listen_to(child.stderr.take().unwrap(), &sent);
        let proxy = Self {
            child,
            address: ([127, 0, 0, 1], port).into(),
            sent,
            folder,
        };
        proxy.until("it listens", || TcpStream::connect(proxy.address).is_ok());
        Some(proxy)
    }

    /// Lines of its log with `text`.
    pub(crate) fn count(&self, text: &str) -> usize {
        let sent = self.sent.lock().unwrap();
        sent.lines().filter(|line| line.contains(text)).count()
    }
    /// Waits until its log has `count` lines with `text`, and not more.
    pub(crate) fn sends(&self, text: &str, count: usize) {
        self.until(&format!("{count} times {text:?}"), || {
            self.count(text) >= count
        });
        assert_eq!(self.count(text), count, "{}", self.sent.lock().unwrap());
    }
    fn until(&self, what: &str, is: impl Fn() -> bool) {
        // Only a proxy that never gets there takes this long.
        for _ in 0..2_000 {
            if is() {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!(
            "the proxy never says {what}:\n{}",
            self.sent.lock().unwrap()
        );
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn listen_to(output: impl Read + Send + 'static, sent: &Arc<Mutex<String>>) {
    let sent = Arc::clone(sent);
    std::thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            let mut sent = sent.lock().unwrap();
            sent.push_str(&line);
            sent.push('\n');
        }
    });
}

/// A proxy that sends every client the same bytes: it reads until `end` stands at the end of what it
/// heard, answers, and keeps or closes the connection.
pub(crate) struct Scripted {
    pub(crate) address: SocketAddr,
    received: Arc<Mutex<Vec<String>>>,
}

/// A scripted proxy's action after it has read the request.
#[derive(Clone, Debug)]
pub(crate) enum Then {
    Sends(Vec<u8>),
    SendsAndCloses(Vec<u8>),
}

impl Scripted {
    pub(crate) fn start(end: &'static [u8], then: Then) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let received = Arc::new(Mutex::new(Vec::new()));
        let callbacks = Arc::clone(&received);
        std::thread::spawn(move || {
            let mut kept = Vec::new();
            for socket in listener.incoming() {
                let mut socket = socket.unwrap();
                let mut question = Vec::new();
                let mut byte = [0];
                while !question.ends_with(end) && matches!(socket.read(&mut byte), Ok(1)) {
                    question.push(byte[0]);
                }
                let question = String::from_utf8_lossy(&question).into_owned();
                callbacks.lock().unwrap().push(question);
                match &then {
                    Then::Sends(bytes) => {
                        let _ = socket.write_all(bytes);
                        kept.push(socket);
                    }
                    Then::SendsAndCloses(bytes) => {
                        let _ = socket.write_all(bytes);
                    }
                }
            }
        });
        Self { address, received }
    }
    /// An HTTP proxy.
    pub(crate) fn http(then: Then) -> Self {
        Self::start(b"\r\n\r\n", then)
    }
    /// Every question so far.
    pub(crate) fn received(&self) -> Vec<String> {
        self.received.lock().unwrap().clone()
    }
}
