//! A server that keeps what it was asked for, and answers as a test says.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// Fields that name the client, or say what it decodes.
const OWN_FIELDS: [&str; 3] = ["accept-encoding", "connection", "proxy-connection"];

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SeenRequest {
    pub(super) line: String,
    pub(super) fields: Vec<String>,
    pub(super) body: String,
}

pub(super) type Answer = fn(&SeenRequest, usize) -> String;

/// Answers every request on every connection, and keeps what it was asked for.
pub(super) struct Origin {
    pub(super) port: u16,
    pub(super) asked: Arc<Mutex<Vec<SeenRequest>>>,
}

impl Origin {
    pub(super) fn start(answer: Answer) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("bound").port();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let all = Arc::clone(&asked);
        thread::spawn(move || {
            while let Ok((socket, _)) = listener.accept() {
                let all = Arc::clone(&all);
                thread::spawn(move || serve(&socket, port, &all, answer));
            }
        });
        Self { port, asked }
    }
}

fn serve(socket: &TcpStream, port: u16, all: &Mutex<Vec<SeenRequest>>, answer: Answer) {
    let mut reader = BufReader::new(socket);
    while let Some(asked) = read(&mut reader, socket, port) {
        let number = {
            let mut all = all.lock().expect("not poisoned");
            all.push(asked.clone());
            all.len()
        };
        if asked.line.starts_with("CONNECT ") && !asked.line.contains(":443 ") {
            let _ = (&mut &*socket).write_all(b"HTTP/1.1 200 OK\r\n\r\n");
            continue;
        }
        let bytes = answer(&asked, number).replace("PORT", &port.to_string());
        // The client may be gone.
        let _ = (&mut &*socket).write_all(bytes.as_bytes());
        if bytes.contains("connection: close") || bytes.is_empty() {
            return;
        }
    }
}

fn read(reader: &mut BufReader<&TcpStream>, socket: &TcpStream, port: u16) -> Option<SeenRequest> {
    let (mut lines, mut line) = (Vec::new(), String::new());
    loop {
        line.clear();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim_end() {
            "" => break,
            line => lines.push(without_port(line, port)),
        }
    }
    let mut fields: Vec<String> = lines.split_off(1);
    let value = |name: &str| {
        let found = fields.iter().find_map(|field| {
            let (given, value) = field.split_once(':')?;
            given
                .eq_ignore_ascii_case(name)
                .then(|| value.trim().to_owned())
        });
        found.unwrap_or_default()
    };
    if value("expect") == "100-continue" {
        (&mut &*socket)
            .write_all(b"HTTP/1.1 100 Continue\r\n\r\n")
            .ok()?;
    }
    let mut body = vec![0; value("content-length").parse().unwrap_or(0)];
    reader.read_exact(&mut body).ok()?;
    let mut body = String::from_utf8_lossy(&body).into_owned();
    let kind = value("content-type");
    if let Some((_, boundary)) = kind.split_once("boundary=") {
        body = body.replace(boundary, "BOUNDARY");
        fields.retain(|field| !field.to_ascii_lowercase().starts_with("content-"));
    }
    let spelled = fields.iter().filter_map(|field| {
        let (name, value) = field.split_once(':')?;
        let name = name.to_ascii_lowercase();
        let value = match name.as_str() {
            "user-agent" if value.contains(" curl/") || value.contains(" trunkline/") => "its own",
            _ => value.trim(),
        };
        // Ours gives a POST or PUT without a body its length (RFC 9110 section 8.6).
        let is_left_out = (name.as_str(), value) == ("content-length", "0");
        let counts = !OWN_FIELDS.contains(&name.as_str()) && name != "expect" && !is_left_out;
        counts.then(|| format!("{name}:{value}"))
    });
    let mut fields: Vec<String> = spelled.collect();
    fields.sort();
    Some(SeenRequest {
        line: lines.swap_remove(0),
        fields,
        body,
    })
}

/// The text with PORT for the origin's port, which no longer number is taken for.
pub(super) fn without_port(text: &str, port: u16) -> String {
    let port = port.to_string();
    let is_digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
    let (mut masked, mut rest) = (String::new(), text);
    while let Some(at) = rest.find(&port) {
        let (before, behind) = (&rest[..at], &rest[at + port.len()..]);
        let is_part = is_digit(before.as_bytes().last()) || is_digit(behind.as_bytes().first());
        masked.push_str(before);
        masked.push_str(if is_part { &port } else { "PORT" });
        rest = behind;
    }
    masked + rest
}

#[test]
fn the_port_is_not_masked_within_a_longer_number() {
    let text = "127.0.0.1:41024 4102444800 41024";
    assert_eq!(without_port(text, 41_024), "127.0.0.1:PORT 4102444800 PORT");
}
