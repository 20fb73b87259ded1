//! `trunkline get` with forms, files that are there in part, several URLs and repetitions.

use crate::scripted::{BINARY, Scripted, answer, get, text};
use crate::served::{Folder, Served};
use std::process::Command;

#[test]
fn a_form_is_sent_in_parts_with_its_files_and_their_types() {
    let served = Served::start(&["--test-endpoints"]);
    let folder = Folder::new("form");
    let file = folder.file("a.txt", b"of a file");
    let output = get(&[
        "-F",
        "title=x=y",
        "-F",
        &format!("file=@{file};type=text/x;filename=b.txt"),
        "-F",
        &format!("text=<{file}"),
        &served.url("/echo"),
    ]);
    let sent = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    for part in [
        "form-data; name=\"title\"\r\n\r\nx=y\r\n",
        "form-data; name=\"file\"; filename=\"b.txt\"\r\n",
        "text/x\r\n",
        "\r\n\r\nof a file\r\n",
        "form-data; name=\"text\"\r\n",
    ] {
        assert!(sent.contains(part), "{part:?} is missing in {sent}");
    }
    let missing = get(&["-F", "a=@/nowhere/file", &served.url("/echo")]);
    assert_eq!(missing.status.code(), Some(26));
    assert!(text(&missing.stderr).contains("/nowhere/file"));
}

#[test]
fn a_file_that_is_there_in_part_gets_the_rest_and_a_whole_one_stays() {
    let folder = Folder::new("resume");
    folder.file("data", b"0123456789");
    let served = Served::start(&[&folder.path()]);
    let there = folder.file("there", b"0123");
    let url = served.url("/data");
    for _ in 0..2 {
        let output = get(&["-C", "-", "-o", &there, &url]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        assert_eq!(std::fs::read(&there).expect("it is there"), b"0123456789");
    }
    let fresh = folder.0.join("fresh").display().to_string();
    let output = get(&["-C", "-", "-o", &fresh, &url]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(std::fs::read(&fresh).expect("it is there"), b"0123456789");
}

#[test]
fn a_server_that_gives_no_part_leaves_the_file_as_it_is() {
    let folder = Folder::new("no-part");
    let there = folder.file("there", b"0123");
    let server = Scripted::new(vec![answer("200 OK\r\ncontent-length: 3", b"new")]);
    let output = get(&["-C", "-", "-o", &there, &server.url()]);
    assert_eq!(output.status.code(), Some(33));
    let printed = text(&output.stderr);
    assert!(printed.contains("without -C"), "{printed}");
    assert_eq!(std::fs::read(&there).expect("it is there"), b"0123");
    let head = server.heads().remove(0);
    assert!(head.contains("range: bytes=4-"), "{head}");
    assert!(!head.contains("accept-encoding"), "{head}");
}

#[test]
fn several_urls_are_fetched_in_order_behind_one_that_failed_too() {
    let server = Scripted::new(vec![
        answer("200 OK\r\ncontent-length: 1", b"a"),
        answer("404 Not Found\r\ncontent-length: 1", b"b"),
        answer("200 OK\r\ncontent-length: 1", b"c"),
    ]);
    let url = server.url();
    let output = get(&["-f", &url, &url, &url]);
    assert_eq!(text(&output.stdout), "ac");
    assert_eq!(output.status.code(), Some(22), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("404"));
    server.heads();
}

#[test]
fn each_of_several_urls_has_its_file_with_remote_names() {
    let folder = Folder::new("names");
    folder.file("a.txt", b"A");
    folder.file("b.txt", b"B");
    let served = Served::start(&[&folder.path()]);
    let into = folder.0.join("into");
    std::fs::create_dir(&into).expect("a folder");
    let mut command = Command::new(BINARY);
    command.args(["get", "--noproxy", "*", "--remote-name-all"]);
    command.args([served.url("/a.txt"), served.url("/b.txt")]);
    let output = command.current_dir(&into).output().expect("it starts");
    assert!(output.status.success(), "{}", text(&output.stderr));
    for (name, content) in [("a.txt", "A"), ("b.txt", "B")] {
        let written = std::fs::read_to_string(into.join(name)).expect("it is there");
        assert_eq!(written, content);
    }
}

#[test]
fn a_status_that_says_later_is_tried_again_as_often_as_asked() {
    let later = || answer("503 Later\r\nretry-after: 0\r\ncontent-length: 0", b"");
    let ok = answer("200 OK\r\ncontent-length: 2", b"ok");
    let server = Scripted::new(vec![later(), later(), ok]);
    let output = get(&["--retry", "2", &server.url()]);
    assert_eq!(text(&output.stdout), "ok", "{}", text(&output.stderr));
    assert_eq!(server.heads().len(), 3);
    let server = Scripted::new(vec![later(), later()]);
    let output = get(&["-f", "--retry", "1", &server.url()]);
    assert_eq!(output.status.code(), Some(22));
    assert_eq!(server.heads().len(), 2);
}

#[test]
fn a_redirect_chooses_no_name_for_a_file() {
    let folder = Folder::new("redirected-name");
    folder.file("kept.txt", b"kept");
    let server = Scripted::new(vec![
        answer("302 Found\r\nlocation: /kept.txt\r\ncontent-length: 0", b""),
        answer("200 OK\r\ncontent-length: 7", b"hostile"),
    ]);
    let mut command = Command::new(BINARY);
    command.args(["get", "--noproxy", "*", "-OJL"]);
    command.arg(format!("{}asked.txt", server.url()));
    let output = command.current_dir(&folder.0).output().expect("it starts");
    assert!(output.status.success(), "{}", text(&output.stderr));
    server.heads();
    for (name, content) in [("kept.txt", "kept"), ("asked.txt", "hostile")] {
        let written = std::fs::read_to_string(folder.0.join(name)).expect("it is there");
        assert_eq!(written, content);
    }
}

#[test]
fn a_file_that_a_server_names_is_not_gone_on_with() {
    let output = get(&["-OJ", "-C", "5", "http://127.0.0.1:1/x"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
}

/// An answer whose file has this name.
fn named(name: &str, length: u32, body: &[u8]) -> Vec<u8> {
    let field = format!("content-disposition: attachment; filename={name}");
    answer(
        &format!("200 OK\r\n{field}\r\ncontent-length: {length}"),
        body,
    )
}

#[test]
fn a_file_that_was_there_stays_where_a_server_names_it() {
    let folder = Folder::new("named-there");
    folder.file("kept.txt", b"kept");
    let server = Scripted::new(vec![named("kept.txt", 7, b"hostile")]);
    let mut command = Command::new(BINARY);
    command.args(["get", "--noproxy", "*", "-OJ", "--remove-on-error"]);
    command.arg(server.url());
    let output = command.current_dir(&folder.0).output().expect("it starts");
    assert_eq!(output.status.code(), Some(23), "{}", text(&output.stderr));
    server.heads();
    let kept = std::fs::read_to_string(folder.0.join("kept.txt"));
    assert_eq!(kept.expect("it is there"), "kept");
}

#[test]
fn a_further_try_writes_the_file_that_the_first_one_has_named() {
    let folder = Folder::new("named-twice");
    let server = Scripted::new(vec![
        named("new.txt", 5, b"wh"),
        named("new.txt", 5, b"whole"),
    ]);
    let mut command = Command::new(BINARY);
    command.args(["get", "--noproxy", "*", "-OJ", "--retry", "1"]);
    command.args(["--retry-all-errors", &server.url()]);
    let output = command.current_dir(&folder.0).output().expect("it starts");
    assert!(output.status.success(), "{}", text(&output.stderr));
    server.heads();
    let written = std::fs::read_to_string(folder.0.join("new.txt"));
    assert_eq!(written.expect("it is there"), "whole");
}
