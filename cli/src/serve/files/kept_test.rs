use super::super::super::folder::Folder;
use super::super::{CLOCK_STEP, FilePolicy, Files};
use super::*;
use http::StatusCode;
use http_body_util::Empty;
use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

impl Folder {
    fn keeping(&self, settle_time: Duration) -> Files {
        let policy = FilePolicy {
            listings: false,
            dot_files: false,
            spa: true,
        };
        let mut files = Files::new(&self.root(), policy).expect("a directory");
        files.kept = KeptAnswers::new(settle_time);
        files
    }
    fn root(&self) -> PathBuf {
        self.0.join("root")
    }
}

async fn ask(
    files: &Files,
    path: &str,
    fields: &[(&str, &str)],
) -> Response<SiteBody<Empty<Bytes>>> {
    let mut request = Request::get(path);
    for (name, value) in fields {
        request = request.header(*name, *value);
    }
    files
        .answer(request.body(Empty::new()).expect("a request"))
        .await
}

async fn content(response: Response<SiteBody<Empty<Bytes>>>) -> Bytes {
    response
        .into_body()
        .collect()
        .await
        .expect("a body")
        .to_bytes()
}

fn is_in_memory(response: &Response<SiteBody<Empty<Bytes>>>) -> bool {
    matches!(response.body(), SiteBody::Full(_))
}

/// A change in the folder, and the time of modification of the file before it.
type Change = fn(&Path, SystemTime);

/// Writes a file that was modified at `time`.
fn write(path: &Path, text: &str, time: SystemTime) {
    fs::write(path, text).expect("written");
    let file = File::options().write(true).open(path).expect("there");
    file.set_modified(time).expect("set");
}

#[tokio::test]
async fn a_small_file_is_read_once_and_answered_alike_each_time() {
    let folder = Folder::new("kept-once");
    let files = folder.keeping(Duration::ZERO);
    let first = ask(&files, "/a.txt", &[]).await;
    let second = ask(&files, "/a.txt?query", &[]).await;
    assert_eq!(first.status(), second.status());
    assert_eq!(first.headers(), second.headers());
    let (first, second) = (content(first).await, content(second).await);
    assert_eq!(first, "hello");
    assert_eq!(first.as_ptr(), second.as_ptr(), "the same memory");
}

#[tokio::test]
async fn a_file_that_changed_just_now_is_not_kept() {
    let folder = Folder::new("kept-fresh");
    let files = folder.keeping(CLOCK_STEP);
    assert!(!is_in_memory(&ask(&files, "/a.txt", &[]).await));
}

#[tokio::test]
async fn a_change_of_any_kind_is_seen_by_the_next_request() {
    let day = Duration::from_secs(86_400);
    let then = SystemTime::UNIX_EPOCH + 10_000 * day;
    let gzip = [("accept-encoding", "gzip")];
    let changes: [(&str, Change, &str, StatusCode); 8] = [
        (
            "longer",
            |root, then| write(&root.join("a.txt"), "longer", then),
            "longer",
            StatusCode::OK,
        ),
        (
            "of the same length",
            |root, then| {
                write(
                    &root.join("a.txt"),
                    "world",
                    then + Duration::from_nanos(1000),
                )
            },
            "world",
            StatusCode::OK,
        ),
        (
            "another file with the same length and time",
            |root, then| {
                write(&root.join("new"), "world", then);
                fs::rename(root.join("new"), root.join("a.txt")).expect("renamed");
            },
            "world",
            StatusCode::OK,
        ),
        (
            "gone",
            |root, _| fs::remove_file(root.join("a.txt")).expect("removed"),
            "not found\n",
            StatusCode::NOT_FOUND,
        ),
        (
            "a link that leads out",
            |root, _| {
                fs::remove_file(root.join("a.txt")).expect("removed");
                symlink("../secret.txt", root.join("a.txt")).expect("a link");
            },
            "not found\n",
            StatusCode::NOT_FOUND,
        ),
        (
            "a link to another inside",
            |root, then| {
                write(&root.join("other"), "other", then);
                fs::remove_file(root.join("a.txt")).expect("removed");
                symlink("other", root.join("a.txt")).expect("a link");
            },
            "other",
            StatusCode::OK,
        ),
        (
            "with a compressed variant",
            |root, then| write(&root.join("a.txt.gz"), "as if compressed", then),
            "as if compressed",
            StatusCode::OK,
        ),
        (
            "a directory",
            |root, _| {
                fs::remove_file(root.join("a.txt")).expect("removed");
                fs::create_dir(root.join("a.txt")).expect("made");
            },
            "",
            StatusCode::TEMPORARY_REDIRECT,
        ),
    ];
    for (name, change, expected, status) in changes {
        let folder = Folder::new("kept-changes");
        write(&folder.root().join("a.txt"), "hello", then);
        let files = folder.keeping(Duration::ZERO);
        for _ in 0..2 {
            assert_eq!(content(ask(&files, "/a.txt", &gzip).await).await, "hello");
        }
        change(&folder.root(), then);
        for _ in 0..2 {
            let answer = ask(&files, "/a.txt", &gzip).await;
            assert_eq!(answer.status(), status, "{name}");
            assert_eq!(content(answer).await, expected, "{name}");
        }
    }
}

#[tokio::test]
async fn a_file_at_the_path_of_a_route_takes_its_place() {
    let folder = Folder::new("kept-route");
    fs::write(folder.root().join("index.html"), "page").expect("written");
    let files = folder.keeping(Duration::ZERO);
    for _ in 0..2 {
        assert_eq!(content(ask(&files, "/route", &[]).await).await, "page");
    }
    fs::write(folder.root().join("route"), "file").expect("written");
    assert_eq!(content(ask(&files, "/route", &[]).await).await, "file");
}

#[tokio::test]
async fn codings_conditions_and_ranges_of_a_kept_file_are_answered_as_before() {
    let folder = Folder::new("kept-conditions");
    fs::write(folder.root().join("a.txt.gz"), "as if compressed").expect("written");
    let files = folder.keeping(Duration::ZERO);
    for _ in 0..2 {
        let plain = ask(&files, "/a.txt", &[]).await;
        let etag = plain.headers()[header::ETAG]
            .to_str()
            .expect("text")
            .to_owned();
        assert_eq!(content(plain).await, "hello");
        let coded = ask(&files, "/a.txt", &[("accept-encoding", "gzip")]).await;
        assert_eq!(coded.headers()[header::CONTENT_ENCODING], "gzip");
        assert_eq!(content(coded).await, "as if compressed");
        let part = ask(&files, "/a.txt", &[("range", "bytes=1-2")]).await;
        assert_eq!(part.status(), StatusCode::PARTIAL_CONTENT);
        assert_eq!(content(part).await, "el");
        let unchanged = ask(&files, "/a.txt", &[("if-none-match", &etag)]).await;
        assert_eq!(unchanged.status(), StatusCode::NOT_MODIFIED);
        let head = Request::head("/a.txt").body(Empty::<Bytes>::new());
        let head: Response<SiteBody<Empty<Bytes>>> = files.answer(head.expect("a request")).await;
        assert_eq!(head.headers()[header::CONTENT_LENGTH], "5");
        assert_eq!(content(head).await, "");
    }
}

#[tokio::test]
async fn a_file_beyond_the_bound_is_read_while_it_is_sent() {
    let folder = Folder::new("kept-bound");
    let longest = usize::try_from(CONTENT_BYTES_MAX).expect("small");
    fs::write(folder.root().join("longest"), vec![b'x'; longest]).expect("written");
    fs::write(folder.root().join("longer"), vec![b'x'; longest + 1]).expect("written");
    let files = folder.keeping(Duration::ZERO);
    assert!(is_in_memory(&ask(&files, "/longest", &[]).await));
    assert!(!is_in_memory(&ask(&files, "/longer", &[]).await));
}
