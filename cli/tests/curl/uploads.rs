//! Files of -T, and bodies of other flags.

use super::answers::named;
use super::{Answer, compare, compare_all, hello, moved, outcome, redirect};
use crate::scripted::BINARY;

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

#[test]
fn a_body_of_standard_input_is_sent_once() {
    let again: Answer = |asked, number| redirect("307 Temporary Redirect", asked, number);
    let sent = outcome(
        &[BINARY, "get", "-sS"],
        &["-L", "-T", "-", "URL/x"],
        "in\nput",
        again,
    );
    // curl's code for a body that cannot be sent a second time.
    assert_eq!((sent.code, sent.asked.len()), (Some(65), 1));
    compare(&[(&["-L", "-T", "f", "URL/x"], "", again)]);
}

#[test]
fn each_url_has_the_upload_of_its_own_and_one_behind_the_last_is_fetched() {
    compare_all(
        hello,
        &[
            &["-T", "f", "URL/a", "-T", "part", "URL/b"],
            &["-T", "f", "-T", "part", "URL/a/", "URL/b/"],
            &["-T", "f", "URL/a", "URL/b"],
            &["-T", "", "URL/a", "-T", "f", "URL/b"],
            &["-T", "f", "URL/{a,b}"],
            &["-T", "f", "-X", "POST", "URL/a", "URL/b"],
        ],
    );
}
