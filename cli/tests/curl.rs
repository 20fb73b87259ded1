//! `trunkline get` beside curl: the same command line, and what a server was asked for, what was written, the files
//! and the exit code must be the same. A machine without curl skips this, and says so.

use crate::scripted::{BINARY, text};
use crate::served::Folder;
use origin::{Answer, Origin, SeenRequest, without_port};
use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, UNIX_EPOCH};

mod answers;
mod bodies;
mod conditions;
mod cookies;
mod failures;
mod files;
mod flags;
mod origin;
mod pairs;
mod proxies;
mod redirects;
mod requests;
mod retries;
mod uploads;
mod urls;

const NETRC: &[u8] =
    b"machine 127.0.0.1 login ann password one\nmachine 127.0.0.1 login bob password two\n\
    machine localhost\n  login \"eve x\"\n  password \"a\\\"b\"\n";

const FLAGS: &str = "# flags\nsilent\n-H \"x-a: 1\"\nuser-agent = \"me \\\"1\"\ndata: -x\nurl=URL/of/file # behind\n";

const COOKIES: &[u8] =
    b"127.0.0.1\tFALSE\t/\tFALSE\t0\tsession\t1\n127.0.0.1\tFALSE\t/\tFALSE\t4102444800\tkept\t2\n";

/// Heads of answers as -D writes them, with a line of a cookie file behind.
const HEADS: &[u8] =
    b"HTTP/1.1 200 OK\r\nSet-Cookie: of=head; Path=/\r\nset-cookie: lasts=1; path=/a; max-age=9000\r\nx: y\r\n\r\n\
    127.0.0.1\tFALSE\t/\tFALSE\t0\tbehind\t3\n";

/// The time of `page.html`, since 1970.
const PAGE_TIME: Duration = Duration::from_secs(1_600_000_000);

#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    asked: Vec<SeenRequest>,
    stdout: String,
    code: Option<i32>,
    files: BTreeMap<String, String>,
}

/// Carries the command line out in a folder of its own.
fn outcome(program: &[&str], arguments: &[&str], input: &str, answer: Answer) -> Outcome {
    let origin = Origin::start(answer);
    let url = format!("http://127.0.0.1:{}", origin.port);
    let folder = Folder::new(&format!("curl-{}", origin.port));
    folder.file("f", b"x\ny\r\nz");
    folder.file("page.html", b"<p>");
    // `-z` sends it, and the two runs may be in different seconds.
    std::fs::File::options()
        .write(true)
        .open(format!("{}/page.html", folder.path()))
        .and_then(|page| page.set_modified(UNIX_EPOCH + PAGE_TIME))
        .expect("it is there");
    folder.file("part", b"he");
    folder.file("tag", b"\"v1\"\n");
    folder.file("lines", b"x-a: 1\nX-B: 2\n");
    folder.file("netrc", NETRC);
    folder.file("flags", FLAGS.replace("URL", &url).as_bytes());
    folder.file("more", b"config = flags\nnext\nhead\nurl = \"localhost\"\n");
    folder.file("cookies", COOKIES);
    folder.file("heads", HEADS);
    let port = origin.port.to_string();
    let filled = arguments
        .iter()
        .map(|argument| argument.replace("URL", &url).replace("PORT", &port));
    // Behind `env`, variables.
    let program: Vec<_> = program
        .iter()
        .map(|part| part.replace("127.0.0.1:PORT", &format!("127.0.0.1:{port}")))
        .collect();
    let mut child = Command::new(&program[0])
        .args(&program[1..])
        .args(filled)
        .current_dir(folder.path())
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    let mut stdin = child.stdin.take().expect("piped");
    // One that reads nothing of it may have closed it.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    let output = child.wait_with_output().expect("it ends");
    let files = std::fs::read_dir(folder.path()).expect("the folder is there");
    let files = files.flatten().filter(|entry| entry.path().is_file());
    let files = files.map(|entry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        let content = std::fs::read(entry.path()).expect("it is there");
        let mut content = without_port(&text(&content), origin.port);
        if name == "jar" {
            // The comments in its beginning differ.
            let lines = content.lines().filter(|line| line.contains('\t'));
            content = lines.collect::<Vec<_>>().join("\n");
        }
        (name, content)
    });
    let asked = origin.asked.lock().expect("not poisoned").clone();
    Outcome {
        asked,
        stdout: without_port(&text(&output.stdout), origin.port),
        code: output.status.code(),
        files: files.collect(),
    }
}

fn hello(asked: &SeenRequest, _: usize) -> String {
    let body = if asked.line.starts_with("HEAD ") {
        ""
    } else {
        "hello\n"
    };
    format!("HTTP/1.1 200 OK\r\ncontent-length: 6\r\nconnection: close\r\n\r\n{body}")
}

fn moved(status: &str, location: &str, asked: &SeenRequest) -> String {
    if !asked.line.contains(" /x ") {
        return hello(asked, 0);
    }
    let body = if asked.line.starts_with("HEAD ") {
        ""
    } else {
        "moved\n"
    };
    format!(
        "HTTP/1.1 {status}\r\ncontent-length: 6\r\nlocation: {location}\r\nconnection: close\r\n\r\n{body}"
    )
}

fn redirect(status: &str, asked: &SeenRequest, number: usize) -> String {
    match number {
        1 => answer(status, "Location: /y\r\n", asked),
        _ => hello(asked, number),
    }
}

/// An answer with names of fields in capitals, out of the order of their names.
fn answer(status: &str, fields: &str, asked: &SeenRequest) -> String {
    let body = if asked.line.starts_with("HEAD ") {
        ""
    } else {
        "hello\n"
    };
    format!(
        "HTTP/1.1 {status}\r\nX-Own: 1\r\nContent-Length: 6\r\nx-own: gr\u{fc}n\r\n{fields}X-OWN: 3\r\nconnection: close\r\n\r\n{body}"
    )
}

/// Compares them on each command line.
fn compare(cases: &[(&[&str], &str, Answer)]) {
    let Ok(version) = Command::new("curl").arg("--version").output() else {
        eprintln!("not compared: there is no curl");
        return;
    };
    let mut differences = Vec::new();
    for (arguments, input, answer) in cases {
        let theirs = outcome(&["curl", "-sS"], arguments, input, *answer);
        let ours = outcome(&[BINARY, "get", "-sS"], arguments, input, *answer);
        if theirs != ours {
            differences.push(format!(
                "{arguments:?}:\n  curl {theirs:?}\n  ours {ours:?}"
            ));
        }
    }
    // Versions of curl differ too: that of 7.88 is the model.
    let version = text(&version.stdout);
    let version = version.lines().next().unwrap_or_default();
    assert!(
        differences.is_empty(),
        "{version}:\n{}",
        differences.join("\n")
    );
}

/// Compares them on each command line with one answer.
fn compare_all(answer: Answer, cases: &[&[&str]]) {
    let cases: Vec<_> = cases
        .iter()
        .map(|case| (*case, "in\nput", answer))
        .collect();
    compare(&cases);
}
