//! Cookies: those that are kept, sent and written to files.

use super::{Answer, compare_all, hello};

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
