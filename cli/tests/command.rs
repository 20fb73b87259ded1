//! The binary as its users run it: exit codes, one-line errors, and the whole way over a socket.

use aws_lc_rs::digest::{SHA256, digest};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use rcgen::PublicKeyData as _;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::served::{Folder, Served};
const BINARY: &str = env!("CARGO_BIN_EXE_trunkline");

fn run(arguments: &[&str]) -> Output {
    Command::new(BINARY)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .expect("the binary starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Bad input: exit code 2 and one line that has `expected`.
#[track_caller]
fn refused(arguments: &[&str], expected: &str) {
    refused_with(2, arguments, expected);
}

#[track_caller]
fn refused_with(code: i32, arguments: &[&str], expected: &str) {
    let output = run(arguments);
    let printed = text(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {printed}");
    assert!(printed.contains(expected), "{arguments:?}: {printed}");
    assert!(output.stdout.is_empty(), "{arguments:?}");
}

#[test]
fn wrong_flags_urls_files_and_ports_exit_with_2_and_say_what_is_wrong() {
    let folder = Folder::new("wrong");
    let junk = folder.file("junk.pem", b"not a certificate");
    let missing = format!("{}/missing", folder.path());
    refused(&["serve", "--nonsense"], "--nonsense");
    refused(&["serve", &missing], &missing);
    refused(&["serve", &folder.path(), "--listen", "nowhere"], "nowhere");
    refused(&["serve", &folder.path(), "--tls-cert", &junk], "--tls-key");
    refused(
        &[
            "serve",
            &folder.path(),
            "--tls-cert",
            &junk,
            "--tls-key",
            &junk,
        ],
        &junk,
    );
    refused(
        &[
            "serve",
            &folder.path(),
            "--tls-cert",
            &missing,
            "--tls-key",
            &junk,
        ],
        &missing,
    );
    refused_with(1, &["get", "ftp://localhost/"], "http or https");
    refused_with(3, &["get", "http://localhost:0/"], "1 to 65535");
    refused(&["get", "http://localhost/", "-H", "a b: c"], "name");
    refused_with(
        26,
        &["get", "http://localhost/", "-d", &format!("@{missing}")],
        &missing,
    );
    refused(
        &["get", "http://localhost/", "--http1.1", "--http2"],
        "--http2",
    );
    refused(&["bench", "http://localhost/", "-n", "0"], "0");
    refused(
        &["bench", "http://localhost/", "-n", "1", "-c", "2"],
        "-c 2",
    );
    refused(&["bench", "localhost"], "http://");
}

#[test]
fn a_port_in_use_exits_with_2_and_names_it() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("bound").to_string();
    refused(
        &["serve", "--test-endpoints", "--listen", &address],
        &address,
    );
}

#[test]
fn a_server_that_is_not_there_exits_with_7() {
    // A port that is taken and does not listen, so that no other process gets it meanwhile.
    let taken = tokio::net::TcpSocket::new_v4().expect("a socket");
    let any = std::net::SocketAddr::from(([127, 0, 0, 1], 0));
    taken.bind(any).expect("a port");
    let port = taken.local_addr().expect("bound").port();
    let output = run(&["get", &format!("http://127.0.0.1:{port}/")]);
    assert_eq!(output.status.code(), Some(7), "{}", text(&output.stderr));
    assert_eq!(text(&output.stderr).lines().count(), 1);
}

#[test]
fn a_file_is_fetched_over_both_versions_with_and_without_tls() {
    let folder = Folder::new("fetch");
    folder.file("a.txt", b"hello");
    for (serve, scheme) in [(vec![], "http"), (vec!["--tls-self-signed"], "https")] {
        let mut arguments = vec![folder.0.to_str().expect("text")];
        arguments.extend(serve);
        let served = Served::start(&arguments);
        assert!(served.url.starts_with(scheme));
        for version in ["--http1.1", "--http2"] {
            let output = run(&["get", "-k", "-v", version, &served.url("/a.txt")]);
            assert_eq!(text(&output.stdout), "hello", "{}", text(&output.stderr));
            let named = if version == "--http2" {
                "HTTP/2"
            } else {
                "HTTP/1.1"
            };
            let printed = text(&output.stderr);
            assert!(printed.contains(named), "{printed}");
            let port = served.url.rsplit_once(':').expect("it has a port").1;
            assert!(printed.contains(" opened\n"), "{printed}");
            assert!(printed.contains("from 127.0.0.1:"), "{printed}");
            assert!(
                printed.contains(&format!(" to 127.0.0.1:{port}, ")),
                "{printed}"
            );
            let is_tls = printed.contains("TLSv1.3, ALPN ");
            assert_eq!(is_tls, scheme == "https", "{printed}");
            assert!(printed.contains(" ms  5 bytes of body\n"), "{printed}");
            assert!(
                printed.contains("waited: a connection is being opened"),
                "{printed}"
            );
        }
        assert_eq!(served.terminate(), Some(0));
    }
}

#[test]
fn sighup_makes_the_certificate_be_read_again() {
    let folder = Folder::new("renewal");
    let write = || {
        let signed = rcgen::generate_simple_self_signed(["localhost".to_owned()]);
        let signed = signed.expect("a name");
        folder.file("key.pem", signed.signing_key.serialize_pem().as_bytes());
        folder.file("cert.pem", signed.cert.pem().as_bytes())
    };
    let certificate = write();
    let old = folder.file("old.pem", &std::fs::read(&certificate).expect("written"));
    let key = folder.0.join("key.pem").display().to_string();
    let served = Served::start(&[
        "--test-endpoints",
        "--tls-cert",
        &certificate,
        "--tls-key",
        &key,
    ]);
    let url = served.url("/bytes/5").replace("127.0.0.1", "localhost");
    let believes = |root: &str| run(&["get", "--cacert", root, &url]).status.success();
    assert!(believes(&old));
    assert_eq!(write(), certificate);
    served.signal(nix::sys::signal::Signal::SIGHUP);
    let renewed = (0..1000).any(|_| believes(&certificate));
    assert!(renewed, "it was never read again");
    assert!(!believes(&old));
    assert_eq!(served.terminate(), Some(0));
}

#[test]
fn a_servers_own_certificate_is_believed_by_cacert_although_it_is_an_authority() {
    let folder = Folder::new("own-authority");
    let mut params = rcgen::CertificateParams::new(["localhost".to_owned()]).expect("a name");
    params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let key = rcgen::KeyPair::generate().expect("a key");
    let certificate = params.self_signed(&key).expect("a certificate");
    let certificate = folder.file("cert.pem", certificate.pem().as_bytes());
    let key = folder.file("key.pem", key.serialize_pem().as_bytes());
    let flags = ["--tls-cert", &certificate, "--tls-key", &key];
    let served = Served::start(&[&["--test-endpoints"], &flags[..]].concat());
    let url = served.url("/bytes/5").replace("127.0.0.1", "localhost");
    for version in ["--http1.1", "--http2", "--http3-only"] {
        let output = run(&["get", version, "--cacert", &certificate, &url]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        assert_eq!(run(&["get", version, &url]).status.code(), Some(60));
    }
}

#[test]
fn a_server_without_a_pinned_key_is_refused_with_the_code_of_curl() {
    let folder = Folder::new("pins");
    let signed = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).expect("a key");
    let certificate = folder.file("cert.pem", signed.cert.pem().as_bytes());
    let key = folder.file("key.pem", signed.signing_key.serialize_pem().as_bytes());
    let public = folder.file("public.pem", signed.signing_key.public_key_pem().as_bytes());
    let der = folder.file("public.der", &signed.signing_key.subject_public_key_info());
    let other = rcgen::KeyPair::generate().expect("a key");
    let other = folder.file("other.pem", other.public_key_pem().as_bytes());
    let hash = digest(&SHA256, &signed.signing_key.subject_public_key_info());
    let hash = format!("sha256//{}", BASE64_STANDARD.encode(hash));
    let wrong = format!("sha256//{}", BASE64_STANDARD.encode([7; 32]));
    let both = format!("{wrong};{hash}");
    let flags = ["--tls-cert", &certificate, "--tls-key", &key];
    let served = Served::start(&[&["--test-endpoints"], &flags[..]].concat());
    let url = served.url("/bytes/5").replace("127.0.0.1", "localhost");
    for (pins, code) in [
        (&hash, 0),
        (&both, 0),
        (&public, 0),
        (&der, 0),
        (&wrong, 90),
        (&other, 90),
    ] {
        let flags = ["--cacert", &certificate, "--pinnedpubkey", pins, &url];
        for version in ["--http1.1", "--http2", "--http3-only"] {
            let output = run(&[&["get", version], &flags[..]].concat());
            assert_eq!(
                output.status.code(),
                Some(code),
                "{version} {pins} {output:?}"
            );
        }
        let of_curl = Command::new("curl").arg("-s").args(flags).output();
        if let Ok(of_curl) = of_curl {
            assert_eq!(of_curl.status.code(), Some(code), "{pins}");
        }
    }
    for flags in [["-k", &wrong], ["-k", &other]] {
        let output = run(&["get", flags[0], "--pinnedpubkey", flags[1], &url]);
        assert_eq!(output.status.code(), Some(90), "{output:?}");
    }
    for pins in ["sha256//", "sha256//eA==", "/no/such/file"] {
        let output = run(&["get", "--pinnedpubkey", pins, &url]);
        assert_eq!(output.status.code(), Some(2), "{pins}");
    }
}

#[test]
fn a_certificate_that_is_not_believed_exits_with_60() {
    let served = Served::start(&["--test-endpoints", "--tls-self-signed"]);
    let output = run(&["get", &served.url("/bytes/1")]);
    assert_eq!(output.status.code(), Some(60));
    assert!(
        text(&output.stderr).contains("certificate"),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn the_time_of_tls_is_written_behind_that_of_the_connection() {
    let served = Served::start(&["--test-endpoints", "--tls-self-signed"]);
    for version in ["--http1.1", "--http2"] {
        let format = "\n%{time_connect} %{time_appconnect} %{time_pretransfer}";
        let output = run(&["get", "-k", version, "-w", format, &served.url("/bytes/1")]);
        let written = text(&output.stdout);
        let times = written.lines().last().expect("a line").split(' ');
        let times: Vec<f64> = times.map(|time| time.parse().expect("seconds")).collect();
        assert!(
            0.0 < times[0] && times[0] < times[1],
            "{version}: {written}"
        );
        assert!(times[1] <= times[2], "{version}: {written}");
    }
}

#[test]
fn a_body_goes_up_and_comes_back_and_fail_turns_a_status_into_an_exit_code() {
    let folder = Folder::new("echo");
    let body: Vec<u8> = (0..3_000_000_u32).map(|at| (at % 251) as u8).collect();
    let sent = folder.file("sent", &body);
    let served = Served::start(&["--test-endpoints"]);
    for version in ["--http1.1", "--http2"] {
        let back = format!("{}/back", folder.path());
        let output = run(&[
            "get",
            version,
            &served.url("/echo"),
            "--data-binary",
            &format!("@{sent}"),
            "-o",
            &back,
        ]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let mut came = Vec::new();
        std::fs::File::open(&back)
            .and_then(|mut file| file.read_to_end(&mut came))
            .expect("written");
        assert!(came == body, "{version}: {} bytes came back", came.len());
    }
    assert_eq!(
        run(&["get", &served.url("/status/404")]).status.code(),
        Some(0)
    );
    assert_eq!(
        run(&["get", "-f", &served.url("/status/404")])
            .status
            .code(),
        Some(22)
    );
}

#[test]
fn bench_counts_every_request_and_writes_json() {
    let served = Served::start(&["--test-endpoints", "--tls-self-signed"]);
    for (version, protocol) in [("--http1.1", "http/1.1"), ("--http2", "h2")] {
        let url = served.url("/bytes/100");
        let output = run(&[
            "bench", "-k", version, &url, "-n", "500", "-c", "4", "-m", "5", "--json",
        ]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let printed = text(&output.stdout);
        let json: serde_json::Value =
            serde_json::from_str(&printed).expect("JSON and nothing else");
        assert_eq!(json["answered"], 500, "{printed}");
        assert_eq!(json["protocol"], protocol);
        assert_eq!(json["body_bytes"], 50_000);
        assert_eq!(json["statuses"]["2xx"], 500);
    }
}

#[test]
fn bench_writes_a_page_with_the_table_and_the_curve() {
    let served = Served::start(&["--test-endpoints"]);
    let folder = Folder::new("page");
    let page = folder.file("page.html", b"");
    let url = served.url("/bytes/1");
    let output = run(&["bench", &url, "-n", "50", "--html", &page]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains(text(&output.stdout).trim_end()), "{page}");
    assert!(page.contains("<polyline"), "{page}");
    let output = run(&["bench", &url, "-n", "1", "--html", "/nowhere/page.html"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("/nowhere/page.html"));
}

#[test]
fn bench_goes_on_over_a_new_connection_when_the_server_drains_one() {
    let served = Served::start(&["--test-endpoints", "--requests-per-connection", "50"]);
    let url = served.url("/bytes/1");
    let output = run(&[
        "bench", "--http2", &url, "-n", "500", "-m", "10", "--json", "-",
    ]);
    let printed = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{printed}");
    assert!(printed.contains("\"answered\": 500"), "{printed}");
}

#[test]
fn a_way_that_cannot_be_gone_is_refused_with_what_is_allowed() {
    for (flag, value, allowed) in [
        ("--proxy", "ftp://p", "http, https, socks5 or socks5h"),
        ("--noproxy", "1.2.3.4/99", "a network like 10.0.0.0/8"),
        ("--resolve", "a.test:80", "host:port:address"),
        ("--unix-socket", "/", "the path of a Unix socket"),
        ("--interface", "eth0", "invalid IP address"),
    ] {
        let output = run(&["get", flag, value, "http://a.test/"]);
        assert_eq!(output.status.code(), Some(2), "{flag}");
        let printed = text(&output.stderr);
        assert!(printed.contains(allowed), "{flag}: {printed}");
    }
}

#[test]
fn get_reaches_a_name_at_a_given_address() {
    let folder = Folder::new("resolve");
    folder.file("a.txt", b"reached");
    let served = Served::start(&[&folder.path()]);
    let port = served.url.rsplit(':').next().expect("a port").to_owned();
    let url = format!("http://name.test:{port}/a.txt");
    let resolve = format!("name.test:{port}:127.0.0.1");
    let output = run(&["get", "--noproxy", "*", "--resolve", &resolve, &url]);
    assert_eq!(text(&output.stdout), "reached", "{}", text(&output.stderr));
}

#[test]
fn serve_writes_a_line_per_request_in_the_common_log_format() {
    let folder = Folder::new("access-log");
    folder.file("a.txt", b"hello");
    let log = folder.path() + ".log";
    let served = Served::start(&[&folder.path(), "--access-log", &log]);
    for path in ["/a.txt?b=c", "/missing"] {
        let output = run(&["get", "--http2", &served.url(path)]);
        assert_eq!(output.status.code(), Some(0), "{path}");
    }
    assert_eq!(served.terminate(), Some(0));
    let lines = std::fs::read_to_string(&log).expect("it was written");
    std::fs::remove_file(&log).expect("it is there");
    let rest: Vec<_> = lines
        .lines()
        .map(|line| {
            let (who, rest) = line.split_once(" - - [").expect("an address");
            assert_eq!(who, "127.0.0.1");
            let (date, rest) = rest.split_once("] ").expect("a date");
            assert_eq!(date.len(), "10/Oct/2000:13:55:36 +0000".len(), "{date}");
            rest
        })
        .collect();
    assert_eq!(rest.len(), 2, "{lines}");
    assert_eq!(rest[0], "\"GET /a.txt?b=c HTTP/2.0\" 200 5");
    assert!(
        rest[1].starts_with("\"GET /missing HTTP/2.0\" 404 "),
        "{}",
        rest[1]
    );
    let nowhere = format!("{}/missing/log", folder.path());
    refused(
        &["serve", &folder.path(), "--access-log", &nowhere],
        &nowhere,
    );
}

#[test]
fn serve_listens_at_a_path_that_is_gone_when_it_ends() {
    let folder = Folder::new("unix");
    folder.file("a.txt", b"hello");
    let (socket, log) = (folder.path() + ".sock", folder.path() + ".log");
    let served = Served::at(
        &["--unix", &socket],
        &[&folder.path(), "--access-log", &log],
    );
    assert_eq!(served.url, format!("http at {socket}"));
    refused(&["serve", &folder.path(), "--unix", &socket], &socket);
    for version in ["--http1.1", "--http2"] {
        let url = "http://localhost/a.txt";
        let output = run(&["get", version, "--unix-socket", &socket, url]);
        let printed = text(&output.stderr);
        assert_eq!(text(&output.stdout), "hello", "{printed}");
    }
    assert_eq!(served.terminate(), Some(0));
    assert!(!Path::new(&socket).exists());
    let lines = std::fs::read_to_string(&log).expect("it was written");
    std::fs::remove_file(&log).expect("it is there");
    assert_eq!(lines.lines().count(), 2, "{lines}");
    assert!(
        lines.lines().all(|line| line.starts_with("- - - [")),
        "{lines}"
    );
    let udp = ["serve", "--unix", &socket, "--tls-self-signed", "--http3"];
    refused(&udp, "--http3");
}

#[test]
fn completions_and_manual_pages_have_every_command_and_its_flags() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = run(&["completions", shell]);
        let script = text(&output.stdout);
        assert_eq!(output.status.code(), Some(0), "{shell}");
        for word in ["serve", "bench", "tls-self-signed", "warm-up"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    refused(&["completions", "csh"], "csh");

    let folder = Folder::new("manual");
    let output = run(&["manual", &folder.path()]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let page = |name: &str| {
        let path = Path::new(&folder.path()).join(name);
        let page = std::fs::read_to_string(path).expect("the page is written");
        // Hyphens are escaped in a manual page.
        page.replace('\\', "")
    };
    assert!(page("trunkline.1").contains("trunkline-serve"));
    assert!(page("trunkline-serve.1").contains("tls-self-signed"));
    let missing = format!("{}/missing", folder.path());
    refused(&["manual", &missing], &missing);
}
