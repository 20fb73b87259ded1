//! The spelling of flags: values that begin as flags do, names that are cut, and flags that are taken back.

use super::{compare, compare_all, hello, moved, outcome};
use crate::scripted::{BINARY, text};

#[test]
fn the_argument_behind_a_flag_is_its_value() {
    compare_all(
        hello,
        &[
            &["-A", "--", "URL"],
            &["-e", "-x", "URL"],
            &["-o", "-x", "URL"],
            &["-w", "-x", "URL"],
            &["-H", "-x: y", "URL"],
            &["-F", "-x=1", "URL"],
            &["-u", "-a:b", "URL"],
            &["-b", "-a=b", "URL"],
            &["-d", "--", "URL"],
            &["--url-query", "-x", "URL"],
            &["-d=x", "URL"],
            &["-o=x", "URL"],
        ],
    );
}

#[test]
fn names_of_flags_are_cut_and_reversed_as_with_curl() {
    compare_all(
        hello,
        &[
            &["--inc", "--max-t", "5", "URL"],
            &["--loc", "URL"],
            &["-i", "--no-include", "URL"],
            &["--no-include", "-i", "URL"],
            &["-fi", "--no-fail", "--no-compressed", "URL"],
            &["--no-header", "URL"],
        ],
    );
}

#[test]
fn the_name_without_no_takes_a_flag_back() {
    compare_all(
        hello,
        &[
            &["--buffer", "--clobber", "--styled-output", "-i", "URL"],
            &["--sessionid", "--alpn", "--keepalive", "URL"],
            &["--no-buffer", "--buffer", "--progress-meter", "URL"],
            &["--no-clobber", "--clobber", "-o", "f", "URL"],
        ],
    );
}

#[test]
fn flags_for_what_is_so_in_any_case_are_taken() {
    compare_all(
        hello,
        &[
            &[
                "--proxy-basic",
                "-U",
                "a:b",
                "-x",
                "127.0.0.1:PORT",
                "http://a.example/",
            ],
            &["--tlsv1", "--tlsv1.0", "--tlsv1.1", "--ssl-reqd", "URL"],
            &[
                "--no-styled-output",
                "--trace-time",
                "--no-keepalive",
                "URL",
            ],
            &["--ssl", "-1", "URL"],
            &[
                "--keepalive-time",
                "9",
                "--happy-eyeballs-timeout-ms",
                "99",
                "URL",
            ],
            &["--tls-max", "1.2", "URL"],
            &["--tls-max", "default", "URL"],
            &["--next", "URL"],
            &["-A", "me", "--next", "URL/a", "--next", "URL/b"],
        ],
    );
}

#[test]
fn a_flag_at_the_end_of_its_line_in_a_file_takes_none_of_the_next() {
    let folder = crate::served::Folder::new("flag-of-a-line");
    let file = folder.file("flags", b"user-agent\nsilent\n");
    let refused = outcome(&[BINARY, "get"], &["-K", &file, "URL"], "", hello);
    assert_eq!((refused.asked, refused.code), (Vec::new(), Some(2)));
}

#[test]
fn files_of_flags_requests_of_their_own_and_tunnels_are_as_with_curl() {
    compare_all(
        hello,
        &[
            &["-K", "flags"],
            &["-iKflags", "URL/x"],
            &["--config", "flags", "-d", "b", "-A", "behind"],
            &["-A", "before", "-K", "flags"],
            &["-K", "flags", "--next", "URL/y"],
            &["-K", "nope", "URL"],
            &["-d", "a", "URL/a", "--next", "-I", "URL/b"],
            &["-d", "a", "URL/a", "-:", "URL/b"],
            &["-o", "out", "URL/a", "--next", "URL/b"],
            &["-b", "cookies", "URL/a", "--next", "-b", "c=d", "URL/b"],
            &["URL/b", "--next", "http://127.0.0.1:1/"],
            &["--fail-early", "http://127.0.0.1:1/", "--next", "URL/b"],
            &["-b", "cookies", "URL"],
            &["-b", "heads", "URL/a", "URL/b"],
            &["-j", "-b", "heads", "URL/a/b"],
            &["-b", "heads", "-b", "given=1", "URL/a"],
            &["-j", "-b", "cookies", "URL"],
            &[
                "--junk-session-cookies",
                "-b",
                "a=1",
                "-b",
                "cookies",
                "URL",
            ],
            &["-p", "-x", "127.0.0.1:PORT", "http://a.example/x"],
            &[
                "-p",
                "-x",
                "127.0.0.1:PORT",
                "-A",
                "me/1",
                "http://a.example/x",
            ],
            &[
                "-p",
                "-x",
                "127.0.0.1:PORT",
                "-U",
                "u:p",
                "http://a.example:81/x",
            ],
            &["--request-target", "/a/../b", "URL/x?y"],
            &["--request-target", "*", "-X", "OPTIONS", "URL/x"],
            &["-S", "--stderr", "err", "URL"],
            &["-S", "--stderr", "-", "URL"],
        ],
    );
    compare(&[(
        &["-K", "-", "URL"],
        "silent\nuser-agent: x\n-X DELETE",
        hello,
    )]);
    compare_all(
        |asked, _| moved("302 Found", "/y", asked),
        &[&["-L", "--request-target", "/z", "URL/x"]],
    );
}

/// curl has variables from 8.3 on.
#[test]
fn names_in_braces_stand_for_variables_in_flags_that_expand_them() {
    let asked = |arguments: &[&str]| {
        let ours = ["env", "USER=ann b", BINARY, "get", "-sS"];
        outcome(&ours, arguments, "", hello).asked
    };
    let flags = ["--variable", "%USER", "--variable=body@page.html"];
    let expanded = [
        "--expand-data",
        "{{body:b64}}",
        "--expand-url",
        "URL/{{USER:url}}",
    ];
    let seen = asked(&[&flags[..], &expanded, &["-A", "{{USER}}"]].concat());
    assert_eq!(seen[0].line, "POST /ann%20b HTTP/1.1");
    assert_eq!(seen[0].body, "PHA+");
    assert!(
        seen[0].fields.contains(&"user-agent:{{USER}}".to_owned()),
        "{seen:?}"
    );
    // They stay for the requests behind --next, and one may be made of others.
    let made = [
        "--variable",
        "a=1",
        "--expand-variable",
        "b={{a}}{{a}}",
        "URL/a",
    ];
    let next = ["--next", "--expand-header", "x: {{b}}", "URL/b"];
    let seen = asked(&[&made[..], &next].concat());
    assert!(seen[1].fields.contains(&"x:11".to_owned()), "{seen:?}");
    for refused in [
        &["--variable", "%NO_SUCH", "URL"][..],
        &["--expand-data", "{{a:no}}", "URL"],
        &["--expand-silent", "URL"],
        &["--expand-nothing", "a", "URL"],
    ] {
        let refused = outcome(&[BINARY, "get", "-sS"], refused, "", hello);
        assert_eq!((refused.asked, refused.code), (Vec::new(), Some(2)));
    }
}

#[test]
fn messages_go_to_the_file_of_stderr() {
    let fails = [
        "--stderr",
        "err",
        "-w",
        "%{stderr}told",
        "http://127.0.0.1:1/",
    ];
    let failed = outcome(&[BINARY, "get", "-sS"], &fails, "", hello);
    let printed = failed.files["err"].as_str();
    assert!(
        printed.starts_with("trunkline: ") || printed.starts_with("told"),
        "{printed}"
    );
    assert!(
        printed.contains("told") && printed.contains("127.0.0.1:1"),
        "{printed}"
    );
    let quiet = ["-v", "--stderr", "-", "URL"];
    let shown = outcome(&[BINARY, "get", "-sS"], &quiet, "", hello);
    assert!(
        shown.stdout.contains("> GET ") && shown.stdout.contains("hello"),
        "{shown:?}"
    );
}

#[test]
fn a_flag_of_curl_for_what_is_not_here_is_refused_with_the_reason() {
    for (flag, reason) in [
        ("--digest", "Basic"),
        ("--anyauth", "Basic"),
        ("-0", "HTTP/1.1"),
        ("--socks4", "socks5://"),
        ("--http1.0", "HTTP/1.1"),
        ("--proxy-pinnedpubkey", "--pinnedpubkey"),
        ("--hsts", "https://"),
        ("--alt-svc", "--http3"),
        ("--tr-encoding", "--compressed"),
        ("--crlf", "-T"),
        ("--rate", "--limit-rate"),
        ("--parallel-immediate", "-Z"),
        ("--proxy-digest", "-U"),
        ("-2", "1.3"),
        ("--capath", "--cacert"),
        ("--no-alpn", "--http1.1"),
        ("--ftp-pasv", "curl"),
        ("--xattr", "curl"),
        ("-Q", "curl"),
    ] {
        let refused = crate::scripted::get(&[flag, "http://127.0.0.1:1/"]);
        assert_eq!(refused.status.code(), Some(2), "{flag}");
        let printed = text(&refused.stderr);
        assert!(
            printed.contains(reason) && printed.starts_with("error: --"),
            "{printed}"
        );
    }
}
