//! Files that are there where an answer breaks off.

use super::{Answer, compare_all, hello, outcome};
use crate::scripted::BINARY;

#[test]
fn a_file_stays_where_an_answer_breaks_off_before_its_first_byte() {
    let answers: [(Answer, &[&[&str]]); 3] = [
        (
            |_, _| "HTTP/1.1 200 OK\r\ncontent-length: 9\r\nconnection: close\r\n\r\n".to_owned(),
            &[
                &["-o", "page.html", "URL"],
                &["-O", "URL/page.html"],
                &["--remove-on-error", "-o", "page.html", "URL"],
            ],
        ),
        (
            |asked, _| {
                hello(asked, 0).replace("connection", "content-encoding: gzip\r\nconnection")
            },
            &[&["--compressed", "-o", "page.html", "URL"]],
        ),
        (
            |_, _| "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n".to_owned(),
            &[&["-m", "0.3", "-o", "page.html", "URL"]],
        ),
    ];
    for (answer, cases) in answers {
        compare_all(answer, cases);
    }
}

#[test]
fn a_file_that_may_not_be_lost_stays_and_the_body_has_a_number() {
    compare_all(
        hello,
        &[
            &[
                "--no-clobber",
                "-o",
                "f",
                "-w",
                "%{filename_effective}",
                "URL",
            ],
            &["--no-clobber", "-o", "f", "-o", "f", "URL/a", "URL/b"],
            &["--no-clobber", "-O", "URL/f"],
            &["--no-clobber", "-o", "new", "URL"],
            &["--no-clobber", "-o", "/dev/null", "URL"],
            &["--no-clobber", "-o", "no/such/f", "URL"],
        ],
    );
    let named: Answer = |_, _| super::answers::named("attachment; filename=f");
    compare_all(named, &[&["--no-clobber", "-OJ", "URL/x"]]);
    // A further try writes the file of the first one again.
    let cut: Answer = |asked, number| match number {
        1 => "HTTP/1.1 200 OK\r\ncontent-length: 9\r\nconnection: close\r\n\r\nabc".to_owned(),
        _ => hello(asked, number),
    };
    let again = ["--no-clobber", "--retry", "1", "--retry-all-errors"];
    let again = [&again[..], &["-o", "f", "URL"]].concat();
    compare_all(
        cut,
        &[
            &again,
            &["--no-clobber", "--remove-on-error", "-o", "f", "URL"],
        ],
    );
}

/// curl has the flag from 8.10 on.
#[test]
fn a_url_is_left_out_whose_file_is_there() {
    let flags = ["--skip-existing", "-o", "f", "-O", "-o", "new"];
    let flags = [
        &flags[..],
        &["-w", "%{urlnum}", "URL/a", "URL/part", "URL/c"],
    ]
    .concat();
    let fetched = outcome(&[BINARY, "get", "-sS"], &flags, "", hello);
    let lines: Vec<_> = fetched.asked.iter().map(|asked| &asked.line[..]).collect();
    assert_eq!(lines, ["GET /c HTTP/1.1"]);
    assert_eq!((fetched.stdout.as_str(), fetched.code), ("2", Some(0)));
    assert_eq!(fetched.files["new"], "hello\n");
    assert_eq!(fetched.files["part"], "he");
}

#[test]
fn a_file_that_is_whole_stays_where_the_rest_of_it_is_asked_for() {
    let cases: &[&[&str]] = &[
        &["-C", "-", "-o", "part", "-w", "%{http_code}", "URL"],
        &["-f", "-C", "-", "-o", "part", "URL"],
        &["-C", "2", "URL"],
    ];
    let answers: [Answer; 3] = [
        |_, _| {
            "HTTP/1.1 416 Range Not Satisfiable\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
                .to_owned()
        },
        |_, _| "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nhe".to_owned(),
        |_, _| "HTTP/1.1 200 OK\r\ncontent-length: 3\r\nconnection: close\r\n\r\nhel".to_owned(),
    ];
    for answer in answers {
        compare_all(answer, cases);
    }
}

#[test]
fn a_tag_is_saved_in_folders_that_are_made_and_an_empty_one_is_none() {
    let tagged: Answer =
        |asked, _| hello(asked, 0).replace("connection", "etag: \"v2\"\r\nconnection");
    let flags = [
        "--create-dirs",
        "--etag-save",
        "a/b/tag",
        "-o",
        "out",
        "URL",
    ];
    let flags = [&flags[..], &["--next", "--etag-compare", "a/b/tag", "URL"]].concat();
    let fetched = outcome(&[BINARY, "get", "-sS"], &flags, "", tagged);
    // curl makes them from 8.12 on, and reads the file before anything is sent.
    assert_eq!(fetched.code, Some(26));
    let fetched = outcome(&[BINARY, "get", "-sS"], &flags[..6], "", tagged);
    assert_eq!(fetched.code, Some(0), "{fetched:?}");
    let empty: Answer = |asked, _| hello(asked, 0).replace("connection", "etag:\r\nconnection");
    compare_all(empty, &[&["--etag-save", "saved", "-o", "out", "URL"]]);
}

#[test]
fn an_answer_without_content_empties_its_file() {
    compare_all(
        |_, _| "HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".to_owned(),
        &[&["-o", "page.html", "URL"], &["-o", "new", "URL"]],
    );
}

/// With it the next condition would be answered by 304, and the rest never be asked for. curl keeps it.
#[test]
fn the_tag_of_an_answer_that_breaks_off_is_not_saved() {
    let cut: Answer = |_, _| {
        "HTTP/1.1 200 OK\r\netag: \"v2\"\r\ncontent-length: 9\r\nconnection: close\r\n\r\nabc"
            .to_owned()
    };
    let arguments = ["--etag-save", "tag", "-o", "out", "URL"];
    let fetched = outcome(&[BINARY, "get", "-sS"], &arguments, "", cut);
    assert_eq!(fetched.code, Some(18));
    assert_eq!(fetched.files["tag"], "\"v1\"\n");
}
