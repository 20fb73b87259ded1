//! The ways that a URL leads: its authority, redirects of further kinds, and --resolve.

use super::{compare_all, hello};

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
