//! Heads, bodies and files of answers, and what the format says of them.

use super::{Answer, SeenRequest, answer, compare, compare_all, hello, moved, outcome};
use crate::scripted::BINARY;

fn chunks_with_trailers(_: &SeenRequest, _: usize) -> String {
    "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n2\r\nhi\r\n0\r\nx-sum: 1\r\n\r\n".to_owned()
}

/// An answer with this `content-disposition`.
pub(super) fn named(disposition: &str) -> String {
    format!(
        "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\ncontent-disposition: {disposition}\r\n\r\nhi"
    )
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
fn the_times_of_a_connection_are_written_once_and_its_requests_are_ready_later() {
    let format = "%{time_connect} %{time_appconnect} %{time_pretransfer} %{time_starttransfer}\n";
    let times = |arguments: &[&str], answer: Answer| {
        let arguments = [&["-w", format, "-o", "out"], arguments].concat();
        let written = outcome(&[BINARY, "get", "-sS"], &arguments, "", answer).stdout;
        let lines = written.lines().map(|line| {
            let times = line.split(' ').map(|time| time.parse().expect("seconds"));
            times.collect::<Vec<f64>>()
        });
        lines.collect::<Vec<_>>()
    };
    let keeps: Answer = |asked, _| hello(asked, 0).replace("connection: close\r\n", "");
    let found = times(&["-o", "out", "URL/a", "URL/b"], keeps);
    let (first, second) = (&found[0], &found[1]);
    assert!(0.0 < first[0] && first[0] <= first[2], "{found:?}");
    // The second one goes on the connection of the first.
    assert!(second[0] == 0.0 && 0.0 < second[2], "{found:?}");
    for times in &found {
        assert!(times[1] == 0.0 && times[2] <= times[3], "{found:?}");
    }
    // The connection of a URL is the one on which its redirect came.
    let moves: Answer = |asked, number| match number {
        1 => "HTTP/1.1 302 F\r\nlocation: /y\r\ncontent-length: 0\r\n\r\n".to_owned(),
        _ => hello(asked, 0),
    };
    let found = times(&["-L", "URL/x"], moves).remove(0);
    assert!(0.0 < found[0] && found[0] < found[2], "{found:?}");
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
