//! Parts of forms, bodies in chunks, and requests that cannot be sent.

use super::{compare_all, hello, moved, outcome};
use crate::scripted::BINARY;

#[test]
fn a_request_that_cannot_be_sent_as_the_flags_have_it_exits_as_a_wrong_command_line() {
    for arguments in [
        &["-d", "x", "-H", "content-length: 5", "URL"][..],
        &["-H", "connection: upgrade", "-H", "upgrade: x", "URL"],
        &["-u", "ann", "URL"],
        &["-x", "127.0.0.1:PORT", "-U", "ann", "http://a.example/"],
    ] {
        let refused = outcome(&[BINARY, "get", "-sS"], arguments, "", hello);
        assert_eq!(
            (refused.asked, refused.code),
            (Vec::new(), Some(2)),
            "{arguments:?}"
        );
    }
}

#[test]
fn parts_of_forms_have_their_blanks_and_types_as_with_curl() {
    compare_all(
        hello,
        &[
            &["-F", "a= b ", "URL"],
            &["-F", "a=\" b \"", "URL"],
            &["-F", "a=@ f ;type=text/x; charset=y", "URL"],
            &["-F", "a=b;filename=n", "URL"],
            &["-F", "a=b;filename=n.html", "URL"],
            &["-F", "a=@-", "URL"],
            &["-F", "a=@-;filename=n.html", "URL"],
        ],
    );
}

#[test]
fn a_body_is_sent_in_chunks_where_a_field_asks_for_them() {
    let sent =
        |arguments: &[&str]| outcome(&[BINARY, "get", "-sS"], arguments, "in\nput", hello).asked;
    let chunked = "transfer-encoding:chunked".to_owned();
    for arguments in [
        &["-d", "x", "-H", "Transfer-Encoding: chunked", "URL"][..],
        &["-T", "f", "-H", "Transfer-Encoding: chunked", "URL/x"],
    ] {
        let asked = sent(arguments).remove(0);
        let has_length = asked
            .fields
            .iter()
            .any(|field| field.starts_with("content-length"));
        assert!(asked.fields.contains(&chunked) && !has_length, "{asked:?}");
    }
    let asked = sent(&["-H", "Transfer-Encoding: chunked", "URL"]).remove(0);
    assert!(!asked.fields.contains(&chunked), "{asked:?}");
}

#[test]
fn a_form_has_one_type_with_its_boundary() {
    let form = |media_type: &str| {
        let field = format!("content-type: {media_type}");
        let arguments = ["-v", "--stderr", "-", "-H", &field, "-F", "a=b", "URL"];
        let sent = outcome(&[BINARY, "get", "-sS"], &arguments, "", hello);
        let lines = sent.stdout.lines();
        let types = lines.filter_map(|line| line.split_once("content-type: "));
        types.map(|(_, found)| found.to_owned()).collect::<Vec<_>>()
    };
    for media_type in ["multipart/form-data", "multipart/related"] {
        let found = form(media_type);
        let expected = format!("{media_type}; boundary=trunkline-");
        let is_it = found.len() == 1 && found[0].starts_with(&expected);
        assert!(is_it, "{found:?}");
    }
    compare_all(
        hello,
        &[&[
            "-H",
            "content-type: multipart/form-data",
            "-F",
            "a=b",
            "URL",
        ]],
    );
}

#[test]
fn files_between_commas_are_parts_of_one_name() {
    let sent = outcome(
        &[BINARY, "get", "-sS"],
        &["-F", "a=@f;type=text/x,page.html", "URL"],
        "",
        hello,
    );
    let heads = |body: &str| body.matches("name=\"a\"; filename=").count();
    let asked = &sent.asked[0];
    assert!(
        heads(&asked.body) == 2 && asked.body.contains("text/x\r\n"),
        "{asked:?}"
    );
}

#[test]
fn the_rest_of_a_file_is_sent_with_its_place_in_it() {
    compare_all(
        hello,
        &[
            &["-C", "3", "-T", "f", "URL/x"],
            &["-C", "0", "-T", "f", "URL/x"],
            &["-C", "-", "-T", "f", "URL/x"],
            &["-C", "6", "-T", "f", "URL/x"],
            &["-C", "3", "-T", "f", "-o", "new", "URL/x"],
            &["-C", "3", "-T", "f", "-w", "%{size_upload}", "URL/x"],
            &["-C", "-", "-F", "a=b", "URL"],
            &["-C", "-", "-d", "abc", "URL"],
            &["-C", "-", "URL"],
        ],
    );
    // curl sends the beginning as if it were this part, and adds the answer to the file of -o.
    for arguments in [
        &["-C", "2", "-d", "abc", "URL"][..],
        &["-C", "2", "-T", "-", "URL/x"],
        &["-C", "-", "-o", "part", "-F", "a=b", "URL"],
        &["-C", "-", "-o", "part", "-T", "f", "URL/x"],
    ] {
        let refused = outcome(&[BINARY, "get", "-sS"], arguments, "abc", hello);
        assert_eq!((refused.asked, refused.code), (Vec::new(), Some(2)));
        assert_eq!(refused.files["part"], "he", "{arguments:?}");
    }
}

#[test]
fn a_redirect_that_keeps_its_method_gets_the_same_rest_of_a_file() {
    let sent = outcome(
        &[BINARY, "get", "-sS"],
        &["-L", "-C", "3", "-T", "f", "URL/x"],
        "",
        |asked, _| moved("307 T", "/y", asked),
    );
    let bodies: Vec<_> = sent.asked.iter().map(|asked| &asked.body[..]).collect();
    assert_eq!(bodies, ["\r\nz", "\r\nz"]);
}

#[test]
fn files_of_a_pattern_are_each_sent() {
    compare_all(
        hello,
        &[
            &["-T", "{f,part}", "URL/"],
            &["-T", "{f,part}", "URL/{a,b}"],
            &["-T", "{f,part}", "URL/x"],
            &["-g", "-T", "{f,part}", "URL/"],
            &["-T", "{f,", "URL/"],
            &["-T", "a[1]", "URL/"],
            &["-T", "{f,part}", "-o", "out_#1", "URL/"],
        ],
    );
}

#[test]
fn flags_that_add_to_others_are_taken_beside_them() {
    compare_all(
        hello,
        &[
            &["-G", "-F", "a=b", "URL"],
            &["-G", "-T", "f", "URL/x"],
            &["-G", "-d", "q=1", "-T", "f", "URL/x"],
            &["-u", "a:b", "--oauth2-bearer", "token", "URL"],
            &["-G", "--data-binary", "@f", "URL"],
            &["--expect100-timeout", "1", "-d", "x", "URL"],
            &[
                "--expect100-timeout",
                "0.5",
                "-H",
                "expect: 100-continue",
                "-T",
                "f",
                "URL/x",
            ],
            &["--interface", "203.0.113.9", "URL"],
        ],
    );
}

#[test]
fn a_part_that_names_no_file_exits_as_one_whose_file_is_not_there() {
    compare_all(
        hello,
        &[
            &["-F", "a=@f,", "URL"],
            &["-F", "a=@f,,f", "URL"],
            &["-F", "a=@", "URL"],
            &["-F", "a=<", "URL"],
            &["-F", "a=@none", "URL"],
            &["-F", "a=@f;", "URL"],
        ],
    );
}
