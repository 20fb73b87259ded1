//! Redirects that are followed, and what the format says of them.

use super::{Answer, compare, compare_all, hello, moved, outcome};
use crate::scripted::BINARY;

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
fn a_redirect_with_bytes_beyond_ascii_is_followed() {
    let answer: Answer = |asked, _| moved("302 Found", "/gr\u{fc}n", asked);
    let followed = outcome(&[BINARY, "get", "-sS"], &["-L", "URL/x"], "", answer);
    assert_eq!(followed.asked[1].line, "GET /gr%C3%BCn HTTP/1.1");
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
