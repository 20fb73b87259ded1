//! `get` against a server that gives scripted answers.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Output, Stdio};
use std::thread::{self, JoinHandle};

pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_trunkline");

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

pub(crate) fn get(arguments: &[&str]) -> Output {
    let mut command = Command::new(BINARY);
    command.arg("get").args(["--noproxy", "*"]).args(arguments);
    let output = command.stdin(Stdio::null()).output();
    output.expect("the binary starts")
}

/// A server that gives one answer per connection, in this order; it ends with the heads that it read.
pub(crate) struct Scripted {
    port: u16,
    thread: JoinHandle<Vec<String>>,
}

impl Scripted {
    pub(crate) fn new(answers: Vec<Vec<u8>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("bound").port();
        let thread = thread::spawn(move || {
            let answer = |answer: &Vec<u8>| {
                let (socket, _) = listener.accept().expect("a client");
                let head = head(&socket);
                // The reader leaves after the first lines.
                let _ = (&socket).write_all(answer);
                head
            };
            answers.iter().map(answer).collect()
        });
        Self { port, thread }
    }
    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port)
    }
    pub(crate) fn heads(self) -> Vec<String> {
        self.thread.join().expect("it ends")
    }
}

/// A letter for each byte.
fn head(socket: &TcpStream) -> String {
    let mut reader = BufReader::new(socket);
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let read = reader.read_until(b'\n', &mut head).expect("a line");
        assert!(read > 0, "the client left: {head:?}");
    }
    head.into_iter().map(char::from).collect()
}

pub(crate) fn answer(fields: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 {fields}\r\nconnection: close\r\n\r\n");
    [head.as_bytes(), body].concat()
}
