//! Command lines that are made of a table: every flag of one kind beside every flag of another, for each answer.

use super::{Answer, SeenRequest, compare, compare_all, hello, moved, outcome};
use crate::scripted::BINARY;

type Flags = &'static [&'static str];

const METHODS: [Flags; 4] = [&["-X", "POST"], &["-X", "PUT"], &["-I"], &["-G"]];
const DATA: [Flags; 6] = [
    &["-d", "x=1"],
    &["--data-binary", "@f"],
    &["--data-urlencode", "q=a b&c"],
    &["--json", "{}"],
    &["-F", "a=b"],
    &["-T", "f"],
];
const REDIRECTS: [Flags; 4] = [
    &["-L"],
    &["-L", "--post302"],
    &["-L", "--max-redirs", "0"],
    &["--location-trusted"],
];
const OUTPUTS: [Flags; 6] = [
    &["-i"],
    &["-o", "out"],
    &["-O"],
    &["-D", "h"],
    &["-i", "-o", "out"],
    &["-w", "%{http_code} %{num_redirects} %{method} %{exitcode}"],
];
const FAILS: [Flags; 2] = [&["-f"], &["--fail-with-body"]];
const CREDENTIALS: [Flags; 3] = [
    &["-u", "a:b"],
    &["--oauth2-bearer", "t"],
    &["-H", "authorization: x"],
];
const FIELDS: [Flags; 4] = [
    &["-H", "content-type: text/x"],
    &["-H", "accept:"],
    &["-b", "c=d"],
    &["-r", "3"],
];

/// One of three pairs is tried, all of them where `TRUNKLINE_LONG` is set. Three and the number of answers have no divisor in common,
/// so that each answer is tried.
const SAMPLE: usize = 3;

const KINDS: [&[Flags]; 7] = [
    &METHODS,
    &DATA,
    &REDIRECTS,
    &OUTPUTS,
    &FAILS,
    &CREDENTIALS,
    &FIELDS,
];

const ANSWERS: [Answer; 4] = [
    |asked, _| answer("200 OK", "", asked),
    |asked, _| answer("404 Not Found", "", asked),
    |asked, number| redirect("302 Found", asked, number),
    |asked, number| redirect("307 Temporary Redirect", asked, number),
];

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

/// Those that differ on purpose: a body beside -I or -G is refused in words, a range is of what is received, an upload is not
/// announced by `expect`, and a form has its own type.
fn is_left_out(arguments: &[&str]) -> bool {
    let has = |flag: &str| arguments.contains(&flag);
    let has_body = has("-F") || has("-T") || has("--json") || has("-d");
    let has_data = has_body || has("--data-binary") || has("--data-urlencode");
    let waits = has("-T") && (has("-i") || has("-D"));
    let types_form = has("-F") && has("content-type: text/x");
    let has_lines = has("-G") && (has("-F") || has("-T") || has("--data-binary"));
    (has_data && (has("-I") || has("-r"))) || has_lines || waits || types_form
}

#[test]
fn pairs_of_flags_are_carried_out_as_by_curl() {
    let mut lines: Vec<Vec<&str>> = Vec::new();
    for (index, kind) in KINDS.iter().enumerate() {
        for other in &KINDS[index + 1..] {
            for first in *kind {
                for second in *other {
                    lines.push([*first, *second, &["URL/x"]].concat());
                }
            }
        }
    }
    lines.retain(|line| !is_left_out(line));
    // Every pair has one of the answers, in turn: all of them together would take minutes.
    let step = if std::env::var_os("TRUNKLINE_LONG").is_some() {
        1
    } else {
        SAMPLE
    };
    let lines = lines.iter().enumerate().step_by(step);
    let cases: Vec<(&[&str], &str, Answer)> = lines
        .map(|(number, line)| (line.as_slice(), "in\nput", ANSWERS[number % ANSWERS.len()]))
        .collect();
    compare(&cases);
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
fn heads_are_written_as_they_came() {
    compare_all(
        |asked, _| answer("200 Fine", "", asked),
        &[
            &["-i", "URL"],
            &["-I", "URL"],
            &["-D", "-", "-o", "out", "URL"],
        ],
    );
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

/// A server that sends what it has in a file as it is there, as of an archive, means the file.
#[test]
fn a_body_keeps_its_coding_unless_compression_is_asked_for() {
    compare_all(
        |asked, _| {
            hello(asked, 0).replace(
                "connection",
                "content-encoding: gzip\r\nx-asked: OWN\r\nconnection",
            )
        },
        &[
            &["-i", "URL"],
            &["-O", "URL/x.tgz"],
            &["-H", "accept-encoding: gzip", "URL"],
            &["--raw", "--compressed", "URL"],
            &["--compressed", "URL"],
        ],
    );
    let plain = outcome(
        &[BINARY, "get", "-sS"],
        &["-v", "--stderr", "-", "URL"],
        "",
        hello,
    );
    assert!(!plain.stdout.contains("accept-encoding"), "{plain:?}");
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

#[test]
fn dates_of_conditions_are_read_as_by_curl() {
    let dates = [
        "dec 12 12:00:00 1999 GMT",
        "Sunday, 06-Nov-94 08:49:37 GMT",
        "Sun Nov  6 08:49:37 1994",
        "1994 Nov 6",
        "06 Nov 94 08:49",
        "20040911",
        "20040911 12:00 +0200",
        "Sat, 11 Sep 2004 21:32:11 -0530",
        "11 Sep 2004 CEST",
        "-6 Nov 1994",
        "Sep 2004",
        "32 Nov 1994",
    ];
    let lines: Vec<[&str; 3]> = dates.iter().map(|date| ["-z", date, "URL"]).collect();
    let cases: Vec<&[&str]> = lines.iter().map(<[&str; 3]>::as_slice).collect();
    compare_all(hello, &cases);
}

#[test]
fn an_answer_that_is_as_old_as_the_condition_allows_is_none() {
    // The time of page.html, at a server that knows no conditions.
    compare_all(
        |asked, _| {
            hello(asked, 0).replace(
                "connection",
                "last-modified: Sun, 13 Sep 2020 12:26:40 GMT\r\nconnection",
            )
        },
        &[
            &[
                "-z",
                "page.html",
                "-o",
                "page.html",
                "-w",
                "%{http_code}",
                "URL",
            ],
            &["-z", "page.html", "-i", "URL"],
            &["-z", "Sun, 13 Sep 2020 12:26:39 GMT", "URL"],
            &["-z", "Sun, 13 Sep 2020 12:26:41 GMT", "URL"],
            &["-z", "-Sun, 13 Sep 2020 12:26:40 GMT", "URL"],
            &["-z", "-Sun, 13 Sep 2020 12:26:41 GMT", "URL"],
        ],
    );
}

#[test]
fn a_cookie_for_an_address_has_no_subdomains_in_its_file() {
    compare_all(
        |asked, _| {
            hello(asked, 0).replace(
                "connection",
                "set-cookie: a=b; domain=127.0.0.1; path=/\r\nconnection",
            )
        },
        &[&["-c", "jar", "URL"]],
    );
}

#[test]
fn a_reason_beyond_ascii_is_written_as_it_came() {
    compare_all(
        |asked, _| hello(asked, 0).replace("200 OK", "404 Näh, nicht da"),
        &[
            &["-i", "URL"],
            &["-I", "URL"],
            &["-D", "h", "-o", "out", "URL"],
        ],
    );
}

#[test]
fn connections_are_counted_on_the_way_through_redirects() {
    compare_all(
        |asked, number| {
            match number {
            1 => "HTTP/1.1 302 Found\r\nlocation: /y\r\ncontent-length: 0\r\n\r\n".to_owned(),
            2 => "HTTP/1.1 302 Found\r\nlocation: /z\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".to_owned(),
            _ => hello(asked, 0),
        }
        },
        &[&["-L", "-w", "%{num_connects} %{num_redirects}", "URL/x"]],
    );
}

#[test]
fn cookies_with_prefixes_are_kept_as_curl_keeps_them() {
    const CASES: &[&[&str]] = &[&["-c", "jar", "URL/a"], &["-b", "", "URL/a", "URL/b"]];
    let answers: [Answer; 2] = [
        |asked, _| {
            let cookies = "set-cookie: __Host-a=1; path=/\r\nset-cookie: __Host-b=1; secure; path=/\r\n\
                set-cookie: e=x\ty; path=/\r\nconnection";
            hello(asked, 0).replace("connection", cookies)
        },
        |asked, _| {
            let cookies = "set-cookie: __Secure-c=1; path=/\r\nset-cookie: __secure-d=1; secure; path=/\r\nconnection";
            hello(asked, 0).replace("connection", cookies)
        },
    ];
    for answer in answers {
        compare_all(answer, CASES);
    }
}

#[test]
fn a_cookie_that_is_no_utf_8_goes_as_it_came() {
    let folder = crate::served::Folder::new("latin-cookie");
    let file = folder.file(
        "latin",
        b"127.0.0.1\tFALSE\t/\tFALSE\t4102444800\ta\tgr\xfcn\n127.0.0.1\tFALSE\t/\tFALSE\t4102444800\tb\tgr\xc3\xbcn\n",
    );
    let server = crate::scripted::Scripted::new(vec![crate::scripted::answer(
        "200 OK\r\ncontent-length: 2",
        b"ok",
    )]);
    let output = crate::scripted::get(&["-b", &file, "-c", "-", &server.url()]);
    let found = |part: &[u8]| output.stdout.windows(part.len()).any(|at| at == part);
    assert!(
        found(b"\ta\tgr\xfcn\n") && found(b"\tb\tgr\xc3\xbcn\n"),
        "{output:?}"
    );
    let head = server.heads().remove(0);
    // A letter for each byte.
    assert!(
        head.contains("a=gr\u{fc}n; b=gr\u{c3}\u{bc}n\r\n"),
        "{head}"
    );
}

#[test]
fn fragments_stand_in_the_urls_of_the_format() {
    compare_all(
        |asked, number| match number {
            1 => moved("302 Found", "/y#part", asked),
            _ => hello(asked, number),
        },
        &[
            &["-w", "%{redirect_url} %{url_effective}", "URL/x#f"],
            &["-L", "-w", "%{redirect_url} %{url_effective}", "URL/x#f"],
        ],
    );
}

#[test]
fn cookies_are_of_the_host_that_a_field_names() {
    compare_all(
        |asked, _| {
            let cookies = "set-cookie: a=1; path=/; domain=site.test\r\nconnection";
            hello(asked, 0).replace("connection", cookies)
        },
        &[
            &[
                "-H",
                "Host: www.site.test:99",
                "-c",
                "jar",
                "URL/a",
                "URL/b",
            ],
            &["-H", "Host: other.test", "-c", "jar", "URL/a", "URL/b"],
            &["-c", "jar", "URL/a", "URL/b"],
        ],
    );
}
