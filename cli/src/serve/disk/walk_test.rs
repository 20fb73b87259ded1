use super::*;
use crate::serve::folder::Folder;
use std::io::Read;
use std::os::unix::fs::symlink;

fn text(directory: &File, path: &str) -> io::Result<String> {
    let mut text = String::new();
    open(Path::new(""), directory, Path::new(path))?.read_to_string(&mut text)?;
    Ok(text)
}

#[test]
fn names_are_walked_one_by_one_and_no_link_is_followed() {
    let folder = Folder::new("walk");
    let root = folder.0.join("root");
    std::fs::create_dir(folder.0.join("root/sub/deep")).expect("made");
    std::fs::write(folder.0.join("root/sub/deep/c.txt"), "deep").expect("written");
    // A link put in the place of a name between its resolution and the walk.
    symlink(&folder.0, root.join("up")).expect("a link");
    symlink("../secret.txt", root.join("out")).expect("a link");
    symlink("a.txt", root.join("in")).expect("a link");
    let directory = File::open(&root).expect("a directory");
    assert_eq!(text(&directory, "a.txt").expect("there"), "hello");
    assert_eq!(text(&directory, "sub/deep/c.txt").expect("there"), "deep");
    for directory_of in ["", "sub", "sub/deep"] {
        let opened = open(Path::new(""), &directory, Path::new(directory_of)).expect("there");
        assert!(opened.metadata().expect("open").is_dir(), "{directory_of}");
    }
    for path in [
        "up/secret.txt",
        "up",
        "out",
        "in",
        "../secret.txt",
        "sub/../../secret.txt",
        "/etc/passwd",
        "a.txt/b",
        "nothing",
        "nothing/a.txt",
    ] {
        let error = text(&directory, path).expect_err(path);
        assert_eq!(error.kind(), io::ErrorKind::NotFound, "{path}");
    }
}

#[test]
fn a_pipe_in_the_place_of_a_file_holds_nobody() {
    let folder = Folder::new("walk-pipe");
    let pipe = folder.0.join("root/pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("mkfifo").success());
    let directory = File::open(folder.0.join("root")).expect("a directory");
    open(Path::new(""), &directory, Path::new("pipe")).expect("open at once");
}
