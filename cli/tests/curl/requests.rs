//! The target and the fields of a request, and the ways to its server.

use super::{Answer, compare_all, hello, moved};

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
