//! Proxies: fields for them, those of SOCKS5, and the header of the PROXY protocol.

use super::{compare, compare_all, hello, outcome};
use crate::scripted::{BINARY, get, text};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

#[test]
fn a_field_for_the_proxy_goes_to_it_and_not_through_a_tunnel() {
    compare_all(
        hello,
        &[
            &["--proxy-header", "X: y", "URL"],
            &[
                "--proxy-header",
                "X: y",
                "-x",
                "127.0.0.1:PORT",
                "http://a.example/",
            ],
            &[
                "--proxy-header",
                "X: y",
                "-p",
                "-x",
                "127.0.0.1:PORT",
                "http://a.example/",
            ],
            &[
                "--proxy-header",
                "User-Agent: q",
                "-p",
                "-x",
                "127.0.0.1:PORT",
                "http://a.example/",
            ],
            &[
                "--proxy-header",
                "User-Agent:",
                "-p",
                "-x",
                "127.0.0.1:PORT",
                "http://a.example/",
            ],
            &[
                "--proxy-header",
                "@lines",
                "-p",
                "-x",
                "127.0.0.1:PORT",
                "http://a.example/",
            ],
            &[
                "--proxy-header",
                "X: y",
                "-H",
                "Z: z",
                "-p",
                "-x",
                "127.0.0.1:PORT",
                "http://a.example/",
            ],
        ],
    );
}

/// A proxy of SOCKS5 on a thread that answers the request itself. Gives its address and, as a text, what it was asked for.
fn socks5() -> (String, thread::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("bound").to_string();
    let asked = thread::spawn(move || {
        let (mut socket, _) = listener.accept().expect("a client");
        let read = |socket: &mut TcpStream, bytes: u8| {
            let mut piece = vec![0; bytes.into()];
            socket.read_exact(&mut piece).expect("all of it");
            piece
        };
        let methods = read(&mut socket, 2)[1];
        let wants_user = read(&mut socket, methods).contains(&2);
        let method = if wants_user { 2 } else { 0 };
        socket.write_all(&[5, method]).expect("the client reads");
        let mut user = String::new();
        if wants_user {
            for _ in 0..2 {
                // In front of the user's name is a version.
                let length = read(&mut socket, if user.is_empty() { 2 } else { 1 });
                let length = *length.last().expect("a length");
                user += &text(&read(&mut socket, length));
                user.push('@');
            }
            socket.write_all(&[1, 0]).expect("the client reads");
        }
        let kind = read(&mut socket, 4)[3];
        let length = match kind {
            3 => read(&mut socket, 1)[0],
            _ => 4,
        };
        let host = read(&mut socket, length);
        read(&mut socket, 2);
        socket
            .write_all(&[5, 0, 0, 1, 127, 0, 0, 1, 0, 80])
            .expect("the client reads");
        let mut head = [0; 4];
        socket.read_exact(&mut head).expect("a request");
        let _ = socket
            .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nhi");
        match kind {
            3 => user + &text(&host),
            _ => format!("{user}{host:?}"),
        }
    });
    (address, asked)
}

#[test]
fn a_proxy_of_socks5_is_named_by_its_flags() {
    for (flag, scheme, host) in [
        ("--socks5-hostname", "", "no.such.invalid"),
        ("--socks5", "", "[127, 0, 0, 1]"),
        ("--socks5", "socks5h://", "no.such.invalid"),
    ] {
        let (address, asked) = socks5();
        let address = format!("{scheme}{address}");
        let url = match host.starts_with('[') {
            true => "http://127.0.0.1:1/",
            false => "http://no.such.invalid/",
        };
        // The last flag counts, which is none of a proxy that is not there.
        let output = get(&["-x", "127.0.0.1:1", "--noproxy", "", flag, &address, url]);
        assert_eq!(text(&output.stdout), "hi", "{flag}: {output:?}");
        assert_eq!(asked.join().expect("it ends"), host, "{flag}");
    }
    compare(&[(
        &[
            "--socks5",
            "127.0.0.1:1",
            "-x",
            "127.0.0.1:PORT",
            "http://a.example/",
        ],
        "",
        hello,
    )]);
}

#[test]
fn a_user_of_the_proxy_is_one_of_socks5_too() {
    for (flags, expected) in [
        (
            ["-U", "ann b:p@:", "--socks5-hostname"],
            "ann b@p@:@no.such.invalid",
        ),
        (["-U", "ann:p", "--proxy"], "ann@p@no.such.invalid"),
    ] {
        let (address, asked) = socks5();
        let address = match flags[2] {
            "--proxy" => format!("socks5h://{address}"),
            _ => address,
        };
        let url = "http://no.such.invalid/";
        let output = get(&[&flags[..], &[&address, "--noproxy", "", url]].concat());
        assert_eq!(text(&output.stdout), "hi", "{output:?}");
        assert_eq!(asked.join().expect("it ends"), expected);
    }
    // That of the URL comes first, as with curl.
    let (address, asked) = socks5();
    let proxy = format!("socks5h://x:y@{address}");
    let flags = [
        "-U",
        "u:p",
        "-x",
        &proxy,
        "--noproxy",
        "",
        "http://no.such.invalid/",
    ];
    assert_eq!(text(&get(&flags).stdout), "hi");
    assert_eq!(asked.join().expect("it ends"), "x@y@no.such.invalid");
}

#[test]
fn a_connection_begins_with_its_addresses_where_the_server_expects_them() {
    let seen = outcome(
        &[BINARY, "get", "-sS"],
        &["--haproxy-protocol", "URL"],
        "",
        hello,
    );
    let line = &seen.asked[0].line;
    assert!(
        line.starts_with("PROXY TCP4 127.0.0.1 127.0.0.1 "),
        "{line}"
    );
}
