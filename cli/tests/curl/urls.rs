//! The ways that a URL leads: its authority, redirects of further kinds, and --resolve.

use super::{Answer, compare, compare_all, hello, moved, outcome};
use crate::scripted::BINARY;
use std::process::Command;

#[test]
fn an_authority_is_sent_in_one_form() {
    compare_all(
        hello,
        &[
            &["http://127.1:PORT/"],
            &["http://0x7f.1:PORT/"],
            &["http://2130706433:PORT/"],
            &[
                "--noproxy",
                "127.0.0.1",
                "-x",
                "127.0.0.1:1",
                "http://127.1:PORT/",
            ],
            &["-x", "127.0.0.1:PORT", "http://a.example:80/x"],
            &["-x", "127.0.0.1:PORT", "http://a.example:/x"],
            &["http://127.0.0.1:1:/"],
            &["http:/127.0.0.1:PORT/x"],
            &["HTTP:///127.0.0.1:PORT/x"],
            &["http:////127.0.0.1:PORT/x"],
            &["http:127.0.0.1:PORT/x"],
            &["localhost:PORT/x"],
        ],
    );
}

#[test]
fn a_url_without_a_scheme_has_that_of_its_flag_and_one_with_a_user_may_be_forbidden() {
    compare_all(
        hello,
        &[
            &["--proto-default", "http", "127.0.0.1:PORT/x"],
            &["--proto-default", "https", "URL/x"],
            &[
                "--proto-default",
                "https",
                "--proto",
                "=http",
                "127.0.0.1:PORT/x",
            ],
            &["--disallow-username-in-url", "http://a@127.0.0.1:PORT/x"],
            &["--disallow-username-in-url", "-u", "a:b", "URL/x"],
        ],
    );
    let with_user: Answer = |asked, _| moved("302 Found", "http://a:b@127.0.0.1:PORT/y", asked);
    compare_all(
        with_user,
        &[
            &["--disallow-username-in-url", "-L", "URL/x"],
            &["-L", "URL/x"],
        ],
    );
}

#[test]
fn a_query_is_added_to_an_empty_one() {
    compare_all(
        hello,
        &[
            &["-G", "-d", "a=b", "URL/x?"],
            &["--url-query", "a=b", "URL/?"],
            &["-G", "-d", "a=b", "URL/x?c"],
            &["-G", "-d", "", "URL/x"],
        ],
    );
}

#[test]
fn an_entry_of_resolve_is_of_its_host_and_port_alone() {
    compare_all(
        hello,
        &[
            &[
                "--resolve",
                "a.example:1:127.0.0.1",
                "http://a.example:PORT/",
            ],
            &["--resolve", "*:PORT:127.0.0.1", "http://a.example:PORT/"],
            &[
                "--resolve",
                "+a.example:PORT:127.0.0.1",
                "http://a.example:PORT/",
            ],
            &[
                "--resolve",
                "a.example:PORT:[::1],127.0.0.1",
                "http://a.example:PORT/",
            ],
            &[
                "--resolve",
                "A.EXAMPLE:PORT:127.0.0.1",
                "http://a.example:PORT/",
            ],
            &[
                "--resolve",
                "a.example:PORT:127.0.0.1",
                "--resolve",
                "-a.example:PORT",
                "http://a.example:PORT/",
            ],
            &[
                "--connect-to",
                "a.example::b.example:",
                "--resolve",
                "b.example:PORT:127.0.0.1",
                "http://a.example:PORT/",
            ],
        ],
    );
}

#[test]
fn a_choice_that_names_its_first_is_followed() {
    let choice: Answer = |asked, _| moved("300 Multiple Choices", "/y", asked);
    compare_all(
        choice,
        &[
            &["URL/x"],
            &["-L", "URL/x"],
            &["-L", "-d", "a=1", "URL/x"],
            &["-L", "-I", "URL/x"],
            &["-w", "%{redirect_url}", "URL/x"],
        ],
    );
}

/// A program that signs in reads it there: `app://callback/?code=1`.
#[test]
fn a_redirect_to_another_scheme_is_named_by_the_format() {
    let elsewhere: Answer = |asked, _| moved("302 Found", "app://callback/?code=1", asked);
    compare(&[
        (&["-w", "%{redirect_url}", "URL/x"], "", elsewhere),
        (&["-L", "URL/x"], "", elsewhere),
        (&["-L", "-w", "%{redirect_url}", "URL/x"], "", |asked, _| {
            moved("302 Found", "http://127.0.0.1:1/", asked)
        }),
    ]);
}

/// A CGI program's client chooses that value (CVE-2016-5385).
#[test]
fn the_proxy_for_http_in_capitals_is_not_read_and_the_others_are() {
    for (variable, is_read) in [
        ("http_proxy", true),
        ("HTTP_PROXY", false),
        ("all_proxy", true),
        ("ALL_PROXY", true),
    ] {
        let variable = format!("{variable}=http://127.0.0.1:PORT");
        let ours = ["env", &variable, BINARY, "get", "-sS"];
        let found = outcome(&ours, &["http://a.invalid/x"], "", hello);
        assert_eq!(found.asked.len(), usize::from(is_read), "{variable}");
        if is_there("curl") {
            let theirs = ["env", &variable, "curl", "-sS"];
            let expected = outcome(&theirs, &["http://a.invalid/x"], "", hello);
            assert_eq!(found, expected, "{variable}");
        }
    }
}

fn is_there(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok()
}
