//! `trunkline get` beside curl: the same command line, and what a server was asked for, what was written, the files
//! and the exit code must be the same. A machine without curl skips this, and says so.

use crate::scripted::{BINARY, text};
use crate::served::Folder;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, UNIX_EPOCH};

mod bodies;
mod files;
mod flags;
mod pairs;
mod urls;

/// Fields that name the client, or say what it decodes.
const OWN_FIELDS: [&str; 3] = ["accept-encoding", "connection", "proxy-connection"];

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

#[derive(Clone, Debug, PartialEq, Eq)]
struct SeenRequest {
    line: String,
    fields: Vec<String>,
    body: String,
}

/// The time of `page.html`, since 1970.
const PAGE_TIME: Duration = Duration::from_secs(1_600_000_000);

type Answer = fn(&SeenRequest, usize) -> String;

/// Answers every request on every connection, and keeps what it was asked for.
struct Origin {
    port: u16,
    asked: Arc<Mutex<Vec<SeenRequest>>>,
}

impl Origin {
    fn start(answer: Answer) -> Self {
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
fn without_port(text: &str, port: u16) -> String {
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
    let filled = arguments.iter().map(|argument| {
        argument
            .replace("URL", &url)
            .replace("PORT", &origin.port.to_string())
    });
    let mut child = Command::new(program[0])
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

fn chunks_with_trailers(_: &SeenRequest, _: usize) -> String {
    "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n2\r\nhi\r\n0\r\nx-sum: 1\r\n\r\n".to_owned()
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

#[test]
fn a_request_is_made_as_curl_makes_it() {
    compare_all(
        hello,
        &[
            &["URL/x"],
            &["127.0.0.1:PORT/x"],
            &["localhost:PORT"],
            &["HTTP://127.0.0.1:PORT?a=b#f"],
            &["URL/a/../b/./c"],
            &["--path-as-is", "URL/a/../b"],
            &["-g", "URL/[1]"],
            &["http://u:p@127.0.0.1:PORT/"],
            &["http://u%40x:p%3a@127.0.0.1:PORT/"],
            &["http://u@127.0.0.1:PORT/"],
            &["-u", "a:b", "http://u:p@127.0.0.1:PORT/"],
            &["-u", "a\u{e4}:b c", "URL"],
            &["--oauth2-bearer", "token", "URL"],
            &["-A", "me/1", "URL"],
            &["-A", "", "URL"],
            &["-e", "", "URL"],
            &["-e", "http://r/", "URL"],
            &["-e", ";auto", "URL"],
            &[
                "-q",
                "--tlsv1.2",
                "-sS",
                "-N",
                "--basic",
                "-u",
                "a:b",
                "URL",
            ],
            &[
                "--proto",
                "=https,http",
                "--tcp-nodelay",
                "--no-progress-meter",
                "URL",
            ],
            &["--url-query", "a=b c", "--url-query", "+d=e+f", "URL/x?y"],
            &["-x", "127.0.0.1:PORT", "-U", "u:p", "http://a.example/x"],
            &["-r", "0-3", "URL"],
            &["-r", "-3", "URL"],
            &["-m", "5", "--connect-timeout", "2.5", "URL"],
            &["-H", "x-a: 1", "-H", "X-A: 2", "URL"],
            &["-H", "x-a;", "URL"],
            &["-H", "x-a:   v  ", "URL"],
            &["-H", "x-a: 1", "-H", "x-a:", "URL"],
            &["-z", "Wed, 21 Oct 2015 07:28:00 GMT", "URL"],
            &["-z", "-Wed, 21 Oct 2015 07:28:00 GMT", "URL"],
            &["--etag-compare", "tag", "URL"],
            &["--etag-compare", "missing", "URL"],
            &["--etag-save", "saved", "URL"],
            &["-H", "referer:", "-e", "http://r/", "URL"],
            &["-H", "host: a.example", "URL"],
            &["-H", "@lines", "URL"],
            &["-b", "a=1; b=2", "URL"],
            &["-X", "delete", "URL"],
            &["-X", "OPTIONS", "URL"],
            &["-I", "URL"],
            &["-I", "-X", "GET", "URL"],
            &["-x", "127.0.0.1:PORT", "-u", "a:b", "http://a.example/x?y"],
            &["-x", "http://u:p@127.0.0.1:PORT", "http://a.example/x"],
            &["--noproxy", "127.0.0.1", "-x", "127.0.0.1:1", "URL"],
            &[
                "--resolve",
                "a.example:PORT:127.0.0.1",
                "http://a.example:PORT/",
            ],
        ],
    );
}

#[test]
fn patterns_credentials_and_ways_are_taken_as_curl_takes_them() {
    compare_all(
        hello,
        &[
            &["URL/{a,b}/[1-2]"],
            &["-o", "out_#2_#1", "URL/{a,b}/[08-10:2]"],
            &["-o", "out_#3#", "URL/[a-c]"],
            &["-O", "URL/f[1-2].txt"],
            &["URL/{x", "URL/y"],
            &["URL/[1]"],
            &["URL/[2-1]"],
            &["URL/{}"],
            &["URL/a[]"],
            &["-s", "http://[::1]:1/"],
            &["-n", "URL"],
            &["--netrc-file", "netrc", "URL"],
            &["--netrc-file", "netrc", "http://localhost:PORT/"],
            &["--netrc-file", "netrc", "-u", "c:d", "URL"],
            &["--netrc-file", "netrc", "http://bob@127.0.0.1:PORT/"],
            &["--netrc-file", "netrc", "http://bob:x@127.0.0.1:PORT/"],
            &["--netrc-file", "netrc", "http://joe@127.0.0.1:PORT/"],
            &["--netrc-file", "netrc", "http://joe:x@127.0.0.1:PORT/"],
            &[
                "--netrc-optional",
                "--netrc-file",
                "netrc",
                "http://u:x@127.0.0.1:PORT/",
            ],
            &[
                "--netrc-optional",
                "--netrc-file",
                "netrc",
                "http://bob@127.0.0.1:PORT/",
            ],
            &["-4", "http://localhost:PORT/"],
            &["-4", "URL"],
            &["-6", "-4", "URL"],
            &["-6", "URL"],
            &["-4", "http://[::1]:PORT/"],
            &[
                "--connect-to",
                "a.example:80:127.0.0.1:PORT",
                "http://a.example/x",
            ],
            &[
                "--connect-to",
                "a.example:81:127.0.0.1:PORT",
                "--connect-to",
                "::localhost:PORT",
                "http://a.example/x",
            ],
            &["--connect-to", ":1:127.0.0.1:PORT", "http://b.example:1/x"],
            &[
                "--connect-to",
                "b.example::localhost:",
                "http://b.example:PORT/x",
            ],
            &["--connect-to", "127.0.0.1:PORT:127.0.0.1:1", "URL"],
            &["--limit-rate", "1M", "URL"],
            &["--limit-rate", "x", "URL"],
            &["--limit-rate", "100K", "-o", "out", "URL"],
            &["-Z", "URL/a"],
            &["-Z", "-o", "a", "URL/a", "-o", "b", "http://127.0.0.1:1/"],
        ],
    );
    for location in ["http://localhost:PORT/y", "http://127.0.0.1:PORT/y"] {
        let answer: Answer = match location.contains("localhost") {
            true => |asked, _| moved("302 Found", "http://localhost:PORT/y", asked),
            false => |asked, _| moved("302 Found", "/y", asked),
        };
        compare_all(answer, &[&["-L", "--netrc-file", "netrc", "URL/x"]]);
    }
}

#[test]
fn files_of_flags_requests_of_their_own_and_tunnels_are_as_with_curl() {
    compare_all(
        hello,
        &[
            &["-K", "flags"],
            &["-iKflags", "URL/x"],
            &["--config", "flags", "-d", "b", "-A", "behind"],
            &["-A", "before", "-K", "flags"],
            &["-K", "flags", "--next", "URL/y"],
            &["-K", "nope", "URL"],
            &["-d", "a", "URL/a", "--next", "-I", "URL/b"],
            &["-d", "a", "URL/a", "-:", "URL/b"],
            &["-o", "out", "URL/a", "--next", "URL/b"],
            &["-b", "cookies", "URL/a", "--next", "-b", "c=d", "URL/b"],
            &["URL/b", "--next", "http://127.0.0.1:1/"],
            &["--fail-early", "http://127.0.0.1:1/", "--next", "URL/b"],
            &["-b", "cookies", "URL"],
            &["-b", "heads", "URL/a", "URL/b"],
            &["-j", "-b", "heads", "URL/a/b"],
            &["-b", "heads", "-b", "given=1", "URL/a"],
            &["-j", "-b", "cookies", "URL"],
            &[
                "--junk-session-cookies",
                "-b",
                "a=1",
                "-b",
                "cookies",
                "URL",
            ],
            &["-p", "-x", "127.0.0.1:PORT", "http://a.example/x"],
            &[
                "-p",
                "-x",
                "127.0.0.1:PORT",
                "-A",
                "me/1",
                "http://a.example/x",
            ],
            &[
                "-p",
                "-x",
                "127.0.0.1:PORT",
                "-U",
                "u:p",
                "http://a.example:81/x",
            ],
            &["--request-target", "/a/../b", "URL/x?y"],
            &["--request-target", "*", "-X", "OPTIONS", "URL/x"],
            &["-S", "--stderr", "err", "URL"],
            &["-S", "--stderr", "-", "URL"],
        ],
    );
    compare(&[(
        &["-K", "-", "URL"],
        "silent\nuser-agent: x\n-X DELETE",
        hello,
    )]);
    compare_all(
        |asked, _| moved("302 Found", "/y", asked),
        &[&["-L", "--request-target", "/z", "URL/x"]],
    );
}

#[test]
fn messages_go_to_the_file_of_stderr() {
    let fails = [
        "--stderr",
        "err",
        "-w",
        "%{stderr}told",
        "http://127.0.0.1:1/",
    ];
    let failed = outcome(&[BINARY, "get", "-sS"], &fails, "", hello);
    let printed = failed.files["err"].as_str();
    assert!(
        printed.starts_with("trunkline: ") || printed.starts_with("told"),
        "{printed}"
    );
    assert!(
        printed.contains("told") && printed.contains("127.0.0.1:1"),
        "{printed}"
    );
    let quiet = ["-v", "--stderr", "-", "URL"];
    let shown = outcome(&[BINARY, "get", "-sS"], &quiet, "", hello);
    assert!(
        shown.stdout.contains("> GET ") && shown.stdout.contains("hello"),
        "{shown:?}"
    );
}

#[test]
fn a_flag_of_curl_for_what_is_not_here_is_refused_with_the_reason() {
    for (flag, reason) in [
        ("--digest", "Basic"),
        ("--anyauth", "Basic"),
        ("-0", "HTTP/1.1"),
        ("--socks5", "socks5://"),
        ("--speed-limit", "-m"),
        ("--no-clobber", "-OJ"),
        ("--http1.0", "HTTP/1.1"),
        ("--pinnedpubkey", "--cacert"),
        ("--hsts", "https://"),
        ("--alt-svc", "--http3"),
        ("--tr-encoding", "--compressed"),
        ("--crlf", "-T"),
    ] {
        let refused = crate::scripted::get(&[flag, "http://127.0.0.1:1/"]);
        assert_eq!(refused.status.code(), Some(2), "{flag}");
        let printed = text(&refused.stderr);
        assert!(
            printed.contains(reason) && printed.starts_with("error: --"),
            "{printed}"
        );
    }
}

#[test]
fn what_is_as_it_was_leaves_its_file() {
    let unchanged: Answer =
        |_, _| "HTTP/1.1 304 Not Modified\r\netag: \"v1\"\r\nconnection: close\r\n\r\n".to_owned();
    compare_all(
        unchanged,
        &[
            &["--etag-compare", "tag", "-o", "page.html", "URL"],
            &["-z", "page.html", "-o", "page.html", "URL"],
            &["-z", "page.html", "-O", "URL/page.html"],
            &["-z", "page.html", "-R", "-o", "new", "URL"],
            &["-o", "page.html", "-w", "%{filename_effective}", "URL"],
        ],
    );
}

#[test]
fn files_that_are_not_there_yet_and_forms_that_curl_takes_are_taken() {
    compare_all(
        hello,
        &[
            &["-b", "missing", "URL"],
            &["-b", "missing", "-c", "jar", "URL"],
            &["-z", "missing", "URL"],
            &["-x", "", "URL"],
            &["-T", ".", "-s", "URL/x"],
            &["-F", "a=b; type=text/x; filename=n", "URL"],
            &["-F", "a=<p>;type=text/html;charset=verymoo", "URL"],
            &["-w", "@lines", "URL"],
            &["-J", "URL"],
            &["--tcp-fastopen", "--no-keepalive", "URL"],
        ],
    );
    compare(&[
        (&["-L", "--max-redirs", "-1", "URL/x"], "", |asked, _| {
            moved("302 Found", "/y", asked)
        }),
        (
            &["-x", "127.0.0.1:PORT", "-p", "http://a.example/"],
            "",
            |_, _| {
                "HTTP/1.1 407 No\r\nproxy-authenticate: Basic\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".to_owned()
            },
        ),
    ]);
    let dispositions: [Answer; 3] = [
        |_, _| named("filename=name; charset=x"),
        |_, _| named("attachment; filename='name'"),
        |_, _| named("inline; filename=\"a;b\"; size=2"),
    ];
    for answer in dispositions {
        compare(&[(&["-O", "-J", "URL/x"], "", answer)]);
    }
}

/// An answer with this `content-disposition`.
fn named(disposition: &str) -> String {
    format!(
        "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\ncontent-disposition: {disposition}\r\n\r\nhi"
    )
}

#[test]
fn a_redirect_with_bytes_beyond_ascii_is_followed() {
    let answer: Answer = |asked, _| moved("302 Found", "/gr\u{fc}n", asked);
    let followed = outcome(&[BINARY, "get", "-sS"], &["-L", "URL/x"], "", answer);
    assert_eq!(followed.asked[1].line, "GET /gr%C3%BCn HTTP/1.1");
}

#[test]
fn the_time_of_a_lookup_is_written_where_there_was_one() {
    let named = [
        "-w",
        "\\n%{time_namelookup} %{time_connect}",
        "http://localhost:PORT/",
    ];
    let written = outcome(&[BINARY, "get", "-sS", "-4"], &named, "", hello);
    let times = written.stdout.lines().last().expect("a line").to_owned();
    let times: Vec<f64> = times
        .split(' ')
        .map(|time| time.parse().expect("seconds"))
        .collect();
    assert!(0.0 < times[0] && times[0] <= times[1], "{written:?}");
    let literal = ["-w", "\\n%{time_namelookup}", "URL"];
    let written = outcome(&[BINARY, "get", "-sS"], &literal, "", hello);
    assert!(written.stdout.ends_with("\n0.000000"), "{written:?}");
}

#[test]
fn urls_that_are_fetched_at_once_are_all_fetched() {
    let urls = [
        "-Z",
        "--parallel-max",
        "3",
        "-w",
        "%{http_code}\\n",
        "-o",
        "out_#1",
        "URL/[1-20]",
    ];
    let fetched = outcome(&[BINARY, "get", "-sS"], &urls, "", hello);
    let mut lines: Vec<_> = fetched
        .asked
        .iter()
        .map(|asked| asked.line.clone())
        .collect();
    lines.sort();
    let mut expected: Vec<_> = (1..=20).map(|at| format!("GET /{at} HTTP/1.1")).collect();
    expected.sort();
    assert_eq!(
        (lines, fetched.stdout, fetched.code),
        (expected, "200\n".repeat(20), Some(0))
    );
    let written = fetched
        .files
        .iter()
        .filter(|(name, text)| name.starts_with("out_") && *text == "hello\n");
    assert_eq!(written.count(), 20);
}

#[test]
fn a_body_is_made_as_curl_makes_it() {
    compare_all(
        hello,
        &[
            &["-d", "a=1", "URL"],
            &["-d", "", "URL"],
            &["-d", "a=1", "-d", "b=2", "URL"],
            &["-d", "@f", "URL"],
            &["-d", "a", "-d", "@f", "URL"],
            &["-d", "@-", "URL"],
            &["--data-binary", "@f", "URL"],
            &["--data-binary", "@-", "URL"],
            &["--data-raw", "@f", "URL"],
            &["--data-urlencode", "a=b c&d", "URL"],
            &["--data-urlencode", "=b/c", "URL"],
            &["--data-urlencode", "n@f", "-d", "b=2", "URL"],
            &["-G", "-d", "a=1", "URL"],
            &["-G", "-d", "a=1", "--data-urlencode", "b=c d", "URL/x?q=0"],
            &["-I", "-G", "-d", "a=1", "URL"],
            &["-X", "PUT", "-d", "x", "URL"],
            &["-X", "GET", "-d", "x", "URL"],
            &["-H", "content-type: text/plain", "-d", "x", "URL"],
            &["--json", "{}", "URL"],
            &["--json", "{\"a\":", "--json", "1}", "URL"],
            &["--json", "@f", "URL"],
            &["-T", "f", "URL/x"],
            &["-T", "f", "URL/folder/"],
            &["-T", "f", "-X", "POST", "URL/x"],
            &["-F", "a=b", "URL"],
            &["-F", "a=", "-F", "n m=\u{e4}", "URL"],
            &["-F", "a=@f", "-F", "b=@page.html", "URL"],
            &["-F", "a=<f", "URL"],
            &["-F", "a=@f;type=text/x;filename=g", "URL"],
            &["-F", "a=@f;filename=g.png", "URL"],
            &["-F", "a=b;type=text/x", "URL"],
            &["-F", "a=\"b;c\"", "URL"],
            &["-F", "a=@\"f\"", "URL"],
            &["-F", "a=1", "-X", "PUT", "URL"],
            &[
                "--form-string",
                "a=@f;type=x",
                "-F",
                "b=@f",
                "--form-string",
                "c=",
                "URL",
            ],
        ],
    );
}

#[test]
fn an_answer_is_written_as_curl_writes_it() {
    compare_all(
        hello,
        &[
            &["-i", "URL"],
            &["-D", "heads", "URL"],
            &["-D", "-", "URL"],
            &["-o", "out", "URL"],
            &["-o", "-", "URL"],
            &["-o", "no/such/out", "URL"],
            &["--create-dirs", "-o", "out", "URL"],
            &["-O", "URL/dir/file.txt?x=1"],
            &["-O", "URL/a%20b"],
            &["-O", "URL/a", "-o", "second", "URL/b"],
            &["-O", "URL/a", "URL/b"],
            &["URL/a", "--url", "URL/b"],
            &[
                "-w",
                "%{http_code} %{size_download} %{http_version}\\n",
                "URL",
            ],
            &[
                "-o",
                "out",
                "-w",
                "%{filename_effective} %{url_effective} %{method} %{scheme}",
                "URL/x",
            ],
            &[
                "-w",
                "%header{content-length} %{num_redirects} %{num_connects}%%",
                "URL",
            ],
            &["-fsSL", "--compressed", "URL"],
            &[
                "--remote-name-all",
                "URL/a",
                "URL/b",
                "-o",
                "c",
                "-X",
                "GET",
                "-X",
                "DELETE",
            ],
            &["-C", "-", "-o", "new", "URL"],
            &["--output-dir", ".", "-O", "URL/named"],
            &["--output-dir", "no/such", "-o", "out", "URL"],
            &["--max-filesize", "6", "URL"],
            &["--max-filesize", "5", "-o", "out", "URL"],
            &["-R", "-o", "out", "URL"],
            &[
                "-w",
                "%{stderr}a%{stdout}%{num_headers} %{urlnum} %{url} %{referer}%{onerror}b",
                "-e",
                "http://r/",
                "URL/x",
            ],
            &[
                "-d",
                "abc",
                "-w",
                "%{size_upload} %{ssl_verify_result}",
                "URL",
            ],
        ],
    );
    compare(&[
        (&["-i", "URL"], "", |asked, number| {
            "HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n".to_owned() + &hello(asked, number)
        }),
        (&["-i", "URL"], "", |_, _| {
            "HTTP/1.1 200 All is well\r\ncontent-length: 2\r\nconnection: close\r\n\r\nhi"
                .to_owned()
        }),
        (&["-i", "URL"], "", |_, _| {
            "HTTP/1.1 299 \r\ncontent-length: 2\r\nconnection: close\r\n\r\nhi".to_owned()
        }),
        (&["-OJ", "URL/x"], "", |_, _| {
            "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\ncontent-disposition: attachment; filename=\"name\"\r\n\r\nhi".to_owned()
        }),
        (&["-OJ", "URL/x"], "", |_, _| {
            "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\ncontent-disposition: attachment; filename=\"f\"\r\n\r\nhi".to_owned()
        }),
        (&["-i", "-D", "heads", "URL"], "", chunks_with_trailers),
        (
            &[
                "--etag-save",
                "saved",
                "--etag-compare",
                "tag",
                "-w",
                "%{http_code}",
                "URL",
            ],
            "",
            |_, _| {
                "HTTP/1.1 304 Not Modified\r\netag: \"v1\"\r\nconnection: close\r\n\r\n".to_owned()
            },
        ),
        (&["--etag-save", "saved", "-o", "out", "URL"], "", |_, _| {
            "HTTP/1.1 200 OK\r\netag: \"v2\"\r\ncontent-length: 2\r\nconnection: close\r\n\r\nhi"
                .to_owned()
        }),
        (&["-D", "-", "-o", "out", "URL"], "", chunks_with_trailers),
        (&["-C", "2", "-o", "part", "URL"], "", |_, _| {
            "HTTP/1.1 206 Partial Content\r\ncontent-length: 4\r\nconnection: close\r\ncontent-range: bytes 2-5/6\r\n\r\nllo\n".to_owned()
        }),
        (&["-C", "-", "-o", "part", "URL"], "", |_, _| {
            "HTTP/1.1 206 Partial Content\r\ncontent-length: 4\r\nconnection: close\r\ncontent-range: bytes 2-5/6\r\n\r\nllo\n".to_owned()
        }),
        (&["-C", "-", "-o", "part", "URL"], "", hello),
        (
            &["-b", "a=1", "-L", "-c", "jar", "-o", "out", "URL/x"],
            "",
            |asked, _| moved("302 Found", "/y\r\nset-cookie: k=v; path=/", asked),
        ),
    ]);
}

#[test]
fn redirects_are_followed_as_curl_follows_them() {
    let answers: [Answer; 5] = [
        |asked, _| moved("301 Moved Permanently", "/y", asked),
        |asked, _| moved("302 Found", "y?q=1", asked),
        |asked, _| moved("303 See Other", "http://127.0.0.1:PORT/y", asked),
        |asked, _| moved("307 Temporary Redirect", "/y", asked),
        |asked, _| moved("308 Permanent Redirect", "//127.0.0.1:PORT/y", asked),
    ];
    for answer in answers {
        compare_all(
            answer,
            &[
                &["URL/x"],
                &["-L", "URL/x"],
                &["-L", "-i", "URL/x"],
                &["-L", "-I", "URL/x"],
                &["-L", "-d", "a=1", "URL/x"],
                &["-L", "-X", "POST", "-d", "a=1", "URL/x"],
                &["-L", "-X", "PUT", "-d", "a=1", "URL/x"],
                &["-L", "-X", "DELETE", "URL/x"],
                &["-L", "-u", "a:b", "-b", "c=d", "URL/x"],
                &["-L", "-o", "out", "-D", "heads", "URL/x"],
                &[
                    "-L",
                    "-w",
                    "%{num_redirects} %{http_code} %{url_effective}",
                    "URL/x",
                ],
                &["-w", "%{redirect_url}", "-o", "out", "URL/x"],
                &["-L", "--max-redirs", "0", "URL/x"],
                &[
                    "-L",
                    "--post301",
                    "--post302",
                    "--post303",
                    "-d",
                    "a=1",
                    "URL/x",
                ],
                &["-L", "-e", "http://r/;auto", "URL/x"],
                &["-L", "--proto-redir", "=https", "URL/x"],
            ],
        );
    }
    compare(&[
        (&["-L", "URL/x"], "", |asked, _| {
            moved("302 Found", "", asked)
        }),
        (&["-L", "--max-redirs", "3", "URL/x"], "", |asked, _| {
            moved("302 Found", "/x", asked)
        }),
        (&["-L", "-u", "a:b", "URL/x"], "", |asked, _| {
            moved("302 Found", "http://localhost:PORT/y", asked)
        }),
        (
            &["--location-trusted", "-u", "a:b", "URL/x"],
            "",
            |asked, _| moved("302 Found", "http://localhost:PORT/y", asked),
        ),
    ]);
}

#[test]
fn a_failure_has_curls_exit_code() {
    compare_all(
        hello,
        &[
            &["http://127.0.0.1:1/"],
            &["http://no.such.invalid/"],
            &["http://127.0.0.1:99999/"],
            &[""],
            &["foo://a/"],
            &["https://127.0.0.1:1/"],
            &["--no-such-flag", "URL"],
            &["--proto", "=https", "URL"],
            &["--proto", "-http", "URL"],
            &["--fail-early", "http://127.0.0.1:1/", "URL"],
            &["-I", "-d", "a=1", "URL"],
            &["--cacert", "nope", "https://127.0.0.1:PORT/"],
            &["--cert", "nope", "https://127.0.0.1:PORT/"],
            &["-O", "http://127.0.0.1:1/"],
        ],
    );
    let missing: Answer = |_, _| {
        "HTTP/1.1 404 Not Found\r\ncontent-length: 4\r\nconnection: close\r\n\r\nnope".to_owned()
    };
    compare_all(
        missing,
        &[
            &["URL"],
            &["-f", "URL"],
            &["-f", "-o", "out", "URL"],
            &["--fail-with-body", "URL"],
            &["-f", "-w", "%{http_code}", "URL"],
        ],
    );
    compare(&[
        (&["URL"], "", |_, _| String::new()),
        (&["URL"], "", |_, _| {
            "HTTP/1.1 200 OK\r\ncontent-length: 10\r\nconnection: close\r\n\r\nabc".to_owned()
        }),
        (&["URL"], "", |_, _| {
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n5\r\nabcde\r\n".to_owned()
        }),
        (&["URL"], "", |_, _| {
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nab".to_owned()
        }),
        (&["URL"], "", |_, _| {
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nabXX".to_owned()
        }),
        (&["URL"], "", |_, _| {
            "HTTP/9.1 200 OK\r\ncontent-length: 0\r\n\r\n".to_owned()
        }),
        (&["URL"], "", |_, _| {
            "HTTP/1.1 099 OK\r\ncontent-length: 0\r\n\r\n".to_owned()
        }),
        (&["URL"], "", |_, _| {
            "HTTP/1.1 200 OK\r\nno colon\r\n\r\n".to_owned()
        }),
        (&["-L", "URL/x"], "", |asked, _| {
            moved("302 Found", "http://127.0.0.1:99999/", asked)
        }),
        (&["-L", "URL/x"], "", |asked, _| {
            moved("302 Found", "foo://127.0.0.1/", asked)
        }),
        (
            &["-x", "http://127.0.0.1:PORT", "https://127.0.0.1:1/"],
            "",
            |_, _| "garbage\r\n\r\n".to_owned(),
        ),
        (&["--remove-on-error", "-o", "out", "URL"], "", |_, _| {
            "HTTP/1.1 200 OK\r\ncontent-length: 10\r\nconnection: close\r\n\r\nabc".to_owned()
        }),
        (&["-m", "0.3", "URL"], "", |_, _| {
            "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc".to_owned()
        }),
    ]);
}

#[test]
fn a_tunnel_that_a_proxy_refuses_exits_with_56() {
    let refuses: Answer =
        |_, _| "HTTP/1.1 403 No\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".to_owned();
    let arguments = ["-x", "http://127.0.0.1:PORT", "https://a.example/"];
    let ours = outcome(&[BINARY, "get", "-sS"], &arguments, "", refuses);
    assert_eq!(ours.code, Some(56));
}
