//! The spelling of flags: values that begin as flags do, names that are cut, and flags that are taken back.

use super::{compare_all, hello, outcome};
use crate::scripted::BINARY;

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
