use super::super::folder::Folder;
use super::*;
use std::os::unix::fs::symlink;
use tokio::io::{AsyncReadExt, AsyncSeekExt};
use tower_http::services::fs::Backend;

impl Folder {
    fn disk(&self) -> Disk {
        Disk::new(&self.0.join("root")).expect("a directory")
    }
}

async fn text(disk: &Disk, path: &str) -> io::Result<String> {
    let mut text = String::new();
    let mut file = disk.open(path.into()).await?;
    file.read_to_string(&mut text).await?;
    Ok(text)
}

#[tokio::test]
async fn links_are_followed_inside_also_absolute_ones_and_never_out() {
    let folder = Folder::new("links");
    let root = folder.0.join("root");
    symlink("../a.txt", root.join("sub/relative")).expect("a link");
    symlink(root.join("a.txt"), root.join("sub/absolute")).expect("a link");
    symlink("../../secret.txt", root.join("sub/out")).expect("a link");
    symlink(folder.0.join("secret.txt"), root.join("sub/far-out")).expect("a link");
    let disk = folder.disk();
    for path in ["a.txt", "./a.txt", "sub/relative", "sub/absolute"] {
        assert_eq!(text(&disk, path).await.expect(path), "hello");
    }
    for path in [
        "sub/out",
        "sub/far-out",
        "../secret.txt",
        "sub/nothing",
        "a.txt/b",
    ] {
        assert!(text(&disk, path).await.is_err(), "{path}");
        assert!(disk.stat(path.into()).await.is_err(), "{path}");
    }
    assert!(disk.stat("sub".into()).await.expect("there").is_dir());
    assert!(disk.stat(PathBuf::new()).await.expect("there").is_dir());
}

#[tokio::test]
async fn what_is_looked_at_is_opened_once_and_only_for_who_looked() {
    let folder = Folder::new("once");
    let disk = folder.disk();
    assert_eq!(disk.stat("a.txt".into()).await.expect("there").len(), 5);
    let other = disk.for_request();
    std::fs::remove_file(folder.0.join("root/a.txt")).expect("removed");
    assert_eq!(text(&disk, "a.txt").await.expect("open before"), "hello");
    assert!(text(&disk, "a.txt").await.is_err(), "taken");
    assert!(text(&other, "a.txt").await.is_err());
}

#[tokio::test]
async fn a_pipe_is_not_there_and_holds_nobody() {
    let folder = Folder::new("pipe");
    let pipe = folder.0.join("root/pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("mkfifo").success());
    let error = text(&folder.disk(), "pipe").await.expect_err("no file");
    assert_eq!(error.kind(), io::ErrorKind::NotFound);
}

#[tokio::test]
async fn a_file_is_read_from_where_it_was_sought() {
    let folder = Folder::new("sought");
    let mut file = folder.disk().open("a.txt".into()).await.expect("there");
    file.seek(SeekFrom::Start(3)).await.expect("sought");
    let mut text = String::new();
    file.read_to_string(&mut text).await.expect("read");
    assert_eq!(text, "lo");
    file.seek(SeekFrom::End(-4)).await.expect("sought");
    let mut byte = [0];
    file.read_exact(&mut byte).await.expect("read");
    assert_eq!(byte, *b"e");
    assert_eq!(file.seek(SeekFrom::Current(1)).await.expect("sought"), 3);
    assert!(file.seek(SeekFrom::Current(-9)).await.is_err());
}

#[tokio::test]
async fn a_file_that_became_shorter_fails_and_does_not_look_whole() {
    let folder = Folder::new("shorter");
    let mut file = folder.disk().open("a.txt".into()).await.expect("there");
    std::fs::write(folder.0.join("root/a.txt"), "").expect("written");
    // Nothing read would say that it is the end.
    let error = file.read(&mut [0]).await.expect_err("nothing is there");
    assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
}

#[test]
fn what_had_to_be_waited_for_is_what_the_kernel_has_at_hand() {
    let folder = Folder::new("waited");
    std::fs::write(folder.0.join("root/a.txt"), "0123456789").expect("written");
    let root = folder.disk().root;
    let waited = root.open(Path::new("a.txt")).expect("there");
    assert_eq!(read_at(&waited, 4, 3).expect("read"), b"456");
    assert_eq!(read_at(&waited, 8, 9).expect("read"), b"89");
    assert!(read_at(&waited, 10, 1).is_err());
    assert!(root.open(Path::new("../secret.txt")).is_err());
    if let Ok(cached) = kernel::open_cached(&root.directory, Path::new("a.txt")) {
        let mut room = [0; 3];
        // It was written just now, so it is in the cache where there is one.
        if kernel::read_cached(&cached, &mut room, 4).is_ok_and(|read| read == 3) {
            assert_eq!(room, *b"456");
        }
    }
}
