//! Conditions, and answers that say that nothing has changed.

use super::{Answer, SeenRequest, compare_all, hello};

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
fn the_tag_of_an_answer_is_saved_whatever_its_status_is() {
    let statuses: [Answer; 3] = [
        |asked, _| tagged("200 OK", asked),
        |asked, _| tagged("404 Not Found", asked),
        |asked, _| tagged("500 Internal Server Error", asked),
    ];
    for answer in statuses {
        compare_all(
            answer,
            &[
                &["--etag-save", "tag", "URL"],
                &["--etag-save", "new", "--etag-compare", "tag", "URL"],
                &["--etag-save", "tag", "--fail-with-body", "URL"],
                &["--etag-save", "-", "-o", "out", "URL"],
            ],
        );
    }
}

/// An answer of this status with a tag.
fn tagged(status: &str, asked: &SeenRequest) -> String {
    hello(asked, 0)
        .replace("200 OK", status)
        .replace("connection", "etag: \"v2\"\r\nconnection")
}
