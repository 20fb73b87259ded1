//! Requests that are sent again.

use super::{Answer, answer, compare_all, hello, outcome};
use crate::scripted::BINARY;

#[test]
fn a_request_on_a_kept_connection_that_has_ended_is_sent_on_another() {
    // The third request of all gets no answer, and its connection ends.
    let ends: Answer = |asked, number| match number {
        3 => String::new(),
        _ => hello(asked, number).replace("connection: close\r\n", ""),
    };
    compare_all(
        ends,
        &[
            &["URL/a", "URL/b", "URL/c"],
            &["URL/a", "URL/b", "--next", "-T", "f", "URL/c"],
        ],
    );
    compare_all(|_, _| String::new(), &[&["URL/a"]]);
    // curl sends the third one again, which may have been processed.
    let posts = ["-d", "x", "URL/a", "URL/b", "URL/c"];
    let sent = outcome(&[BINARY, "get", "-sS"], &posts, "", ends);
    assert_eq!((sent.code, sent.asked.len()), (Some(52), 3));
}

#[test]
fn uploads_and_forms_are_sent_again_by_retry() {
    let busy: Answer = |asked, number| match number {
        1 => "HTTP/1.1 503 S\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".to_owned(),
        _ => hello(asked, number),
    };
    compare_all(
        busy,
        &[
            &["--retry", "1", "-T", "f", "URL"],
            &["--retry", "1", "-F", "a=b", "URL"],
            &["--retry", "1", "-F", "a=@f", "-L", "URL"],
            &["--retry", "0", "-T", "f", "URL"],
            &["--retry", "2", "--retry-max-time", "9", "-T", "f", "URL"],
        ],
    );
    // A server that asks for more time than there is has given its last answer.
    compare_all(
        |asked, _| hello(asked, 0).replace("200 OK", "503 S\r\nretry-after: 9"),
        &[&["--retry", "1", "--retry-max-time", "3", "URL"]],
    );
    compare_all(
        |asked, number| match number {
            1 => String::new(),
            _ => hello(asked, number),
        },
        &[&["--retry", "1", "--retry-all-errors", "-T", "f", "URL"]],
    );
    compare_all(
        |asked, _| hello(asked, 0).replace("200 OK", "404 N"),
        &[
            &["--retry", "1", "--retry-all-errors", "-f", "URL"],
            &["--retry", "1", "--retry-all-errors", "URL"],
        ],
    );
}

#[test]
fn a_redirect_is_tried_again_from_its_beginning() {
    compare_all(
        |asked, number| match number {
            1 | 3 => answer("302 Found", "Location: /y\r\n", asked),
            2 => "HTTP/1.1 503 S\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".to_owned(),
            _ => hello(asked, number),
        },
        &[&["-L", "--retry", "1", "-w", "%{num_redirects}", "URL/x"]],
    );
}

/// curl has the variable from 8.9 on.
#[test]
fn the_format_says_how_often_a_url_was_tried_again() {
    let busy: Answer = |asked, number| match number {
        1 | 2 => "HTTP/1.1 503 S\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".to_owned(),
        _ => hello(asked, number),
    };
    for (times, written) in [("3", "hello\n2"), ("1", "1"), ("0", "0")] {
        let arguments = ["--retry", times, "-w", "%{num_retries}", "URL"];
        let fetched = outcome(&[BINARY, "get", "-sS"], &arguments, "", busy);
        assert_eq!(fetched.stdout, written, "{times}");
    }
}

#[test]
fn posts_are_sent_again_by_retry() {
    let busy: Answer = |asked, number| match number {
        1 => "HTTP/1.1 503 S\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".to_owned(),
        _ => hello(asked, number),
    };
    compare_all(
        busy,
        &[
            &["--retry", "1", "-d", "x", "URL"],
            &["--retry", "1", "-X", "PATCH", "-d", "x", "URL"],
        ],
    );
}
