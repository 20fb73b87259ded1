//! Exit codes of what fails.

use super::{Answer, compare, compare_all, hello, moved, outcome};
use crate::scripted::BINARY;

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
fn a_response_that_comes_too_slowly_is_given_up() {
    let stalls: Answer = |_, _| "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc".to_owned();
    compare_all(
        stalls,
        &[
            &["-y", "1", "-Y", "1000", "URL"],
            &[
                "--speed-time",
                "1",
                "--speed-limit",
                "1000",
                "-o",
                "out",
                "URL",
            ],
        ],
    );
    compare_all(
        hello,
        &[&["-y", "1", "-Y", "1000", "URL"], &["-Y", "0", "URL"]],
    );
    // A response without a head is one of no byte.
    let silent: Answer = |_, _| "HTTP/1.1 200 OK\r\n".to_owned();
    compare_all(silent, &[&["-y", "1", "-Y", "1000", "URL"]]);
}

#[test]
fn a_tunnel_that_a_proxy_refuses_exits_with_56() {
    let refuses: Answer =
        |_, _| "HTTP/1.1 403 No\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".to_owned();
    let arguments = ["-x", "http://127.0.0.1:PORT", "https://a.example/"];
    let ours = outcome(&[BINARY, "get", "-sS"], &arguments, "", refuses);
    assert_eq!(ours.code, Some(56));
}

#[test]
fn what_begins_with_no_status_line_is_an_answer_of_another_protocol() {
    for answer in [
        (|_, _| "hello\n connection: close".to_owned()) as Answer,
        |_, _| "HTTP/1.1 2000 OK\r\nconnection: close\r\n\r\n".to_owned(),
    ] {
        compare_all(answer, &[&["URL"]]);
    }
}
