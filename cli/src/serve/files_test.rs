use super::super::folder::Folder;
use super::*;
use http_body_util::BodyExt;
use std::os::unix::fs::symlink;

#[path = "files/names_test.rs"]
mod names_test;

impl Folder {
    fn files(&self) -> Files {
        self.showing(true, false)
    }
    fn showing(&self, listings: bool, dot_files: bool) -> Files {
        let policy = FilePolicy {
            listings,
            dot_files,
            spa: false,
        };
        Files::new(&self.0.join("root"), policy).expect("a directory")
    }
}

type EmptyBody = http_body_util::Empty<bytes::Bytes>;

async fn ask(
    files: &Files,
    path: &str,
    field: Option<(&str, &str)>,
) -> (StatusCode, HeaderMap, String) {
    let mut request = Request::get(path);
    if let Some((name, value)) = field {
        request = request.header(name, value);
    }
    answered(files, request).await
}

async fn answered(
    files: &Files,
    request: http::request::Builder,
) -> (StatusCode, HeaderMap, String) {
    let response = files
        .answer(request.body(EmptyBody::new()).expect("a request"))
        .await;
    let (head, body) = response.into_parts();
    let body: SiteBody<EmptyBody> = body;
    let bytes = body.collect().await.expect("a body").to_bytes();
    (
        head.status,
        head.headers,
        String::from_utf8_lossy(&bytes).into_owned(),
    )
}

#[tokio::test]
async fn a_file_comes_whole_in_ranges_and_not_again_when_it_is_unchanged() {
    let folder = Folder::new("whole");
    let files = folder.files();
    let (status, headers, body) = ask(&files, "/a.txt", None).await;
    assert_eq!((status, body.as_str()), (StatusCode::OK, "hello"));
    assert_eq!(headers["content-type"], "text/plain; charset=utf-8");
    assert_eq!(headers["x-content-type-options"], "nosniff");
    let (status, _, body) = ask(&files, "/a.txt", Some(("range", "bytes=1-2"))).await;
    assert_eq!((status, body.as_str()), (StatusCode::PARTIAL_CONTENT, "el"));
    let modified = headers["last-modified"].to_str().expect("a date");
    let (status, _, body) = ask(&files, "/a.txt", Some(("if-modified-since", modified))).await;
    assert_eq!((status, body.as_str()), (StatusCode::NOT_MODIFIED, ""));
}

#[tokio::test]
async fn a_range_of_another_version_of_a_file_is_answered_with_all_of_it() {
    let folder = Folder::new("versions");
    let files = folder.files();
    let (_, headers, _) = ask(&files, "/a.txt", None).await;
    let text = |name: &str| headers[name].to_str().expect("text").to_owned();
    let (tag, date) = (text("etag"), text("last-modified"));
    for (if_range, range, expected) in [
        (
            tag.as_str(),
            "bytes=1-2",
            (StatusCode::PARTIAL_CONTENT, "el"),
        ),
        (&date, "bytes=1-2", (StatusCode::PARTIAL_CONTENT, "el")),
        (&tag, "bytes=9-", (StatusCode::RANGE_NOT_SATISFIABLE, "")),
        ("\"other\"", "bytes=1-2", (StatusCode::OK, "hello")),
        ("\"other\"", "bytes=9-", (StatusCode::OK, "hello")),
        (&format!("W/{tag}"), "bytes=1-2", (StatusCode::OK, "hello")),
        (
            "Wed, 21 Oct 2015 07:28:00 GMT",
            "bytes=1-2",
            (StatusCode::OK, "hello"),
        ),
        ("no date", "bytes=1-2", (StatusCode::OK, "hello")),
    ] {
        let request = Request::get("/a.txt").header("range", range);
        let request = request.header("if-range", if_range);
        let (status, _, body) = answered(&files, request).await;
        assert_eq!((status, body.as_str()), expected, "{if_range} {range}");
    }
    let (status, headers, body) = ask(&files, "/a.txt", Some(("if-range", "\"other\""))).await;
    assert_eq!((status, body.as_str()), (StatusCode::OK, "hello"));
    assert!(!headers.contains_key("content-range"));
}

#[tokio::test]
async fn an_empty_file_has_no_range_and_is_given_whole() {
    let folder = Folder::new("empty");
    std::fs::write(folder.0.join("root/none.txt"), "").expect("written");
    let range = Some(("range", "bytes=0-0"));
    let (status, headers, body) = ask(&folder.files(), "/none.txt", range).await;
    assert_eq!((status, body.as_str()), (StatusCode::OK, ""));
    assert!(!headers.contains_key("content-range"));
}

#[tokio::test]
async fn ranges_are_read_as_rfc_9110_has_them() {
    let folder = Folder::new("forms");
    std::fs::write(folder.0.join("root/none.txt"), "").expect("written");
    let files = folder.files();
    let (part, whole) = (StatusCode::PARTIAL_CONTENT, StatusCode::OK);
    let unsatisfiable = StatusCode::RANGE_NOT_SATISFIABLE;
    for (range, status, text) in [
        ("bytes=-2", part, "lo"),
        ("bytes=-5", part, "hello"),
        ("bytes=-6", part, "hello"),
        ("bytes=-99999999999999999999", part, "hello"),
        ("bytes=-0", unsatisfiable, ""),
        ("bytes=3-99999999999999999999", part, "lo"),
        ("bytes=5-", unsatisfiable, ""),
        ("bytes=2-1", unsatisfiable, ""),
        ("Bytes=1-2", part, "el"),
        ("bytes= 1-2", part, "el"),
        ("items=1-2", whole, "hello"),
        ("bytes", whole, "hello"),
        ("", whole, "hello"),
    ] {
        let (got, headers, body) = ask(&files, "/a.txt", Some(("range", range))).await;
        assert_eq!((got, body.as_str()), (status, text), "{range}");
        let has_part = headers.contains_key("content-range");
        assert_eq!(has_part, status != whole, "{range}");
    }
    for range in ["bytes=0-0", "bytes=-1", "bytes=-99", "bytes=0-"] {
        let (status, headers, _) = ask(&files, "/none.txt", Some(("range", range))).await;
        assert_eq!(status, whole, "{range}");
        assert!(!headers.contains_key("content-range"), "{range}");
    }
}

#[tokio::test]
async fn what_is_not_there_is_said_in_words_and_what_has_not_changed_varies_as_the_file() {
    let folder = Folder::new("missing");
    let files = folder.files();
    for path in ["/none", "/none.txt", "/sub/none", "/.hidden"] {
        let (status, headers, body) = ask(&files, path, None).await;
        assert_eq!(
            (status, body.as_str()),
            (StatusCode::NOT_FOUND, "not found\n")
        );
        assert_eq!(headers["content-type"], "text/plain; charset=utf-8");
    }
    let (_, headers, _) = ask(&files, "/a.txt", None).await;
    let tag = headers["etag"].to_str().expect("text");
    let (status, unchanged, _) = ask(&files, "/a.txt", Some(("if-none-match", tag))).await;
    assert_eq!(status, StatusCode::NOT_MODIFIED);
    assert_eq!(unchanged["vary"], headers["vary"]);
}

#[tokio::test]
async fn what_is_not_there_has_the_page_of_the_directory_that_says_so() {
    let folder = Folder::new("page-of-404");
    let root = folder.0.join("root");
    std::fs::write(root.join("404.html"), "<p>gone").expect("a page");
    std::fs::write(root.join("404.html.gz"), "zipped").expect("a page");
    let files = folder.showing(false, false);
    for path in ["/none", "/none/", "/.git/config", "/%00", "/a.txt/", "/"] {
        let (status, headers, body) = ask(&files, path, Some(("range", "bytes=0-1"))).await;
        assert_eq!(
            (status, body.as_str()),
            (StatusCode::NOT_FOUND, "<p>gone"),
            "{path}"
        );
        assert_eq!(headers["content-type"], "text/html; charset=utf-8");
        assert_eq!(headers["x-content-type-options"], "nosniff");
        // A later answer for that path is no version of this one.
        for name in ["etag", "last-modified", "accept-ranges"] {
            assert!(!headers.contains_key(name), "{name}");
        }
    }
    let (status, headers, body) = ask(&files, "/none", Some(("accept-encoding", "gzip"))).await;
    assert_eq!((status, body.as_str()), (StatusCode::NOT_FOUND, "zipped"));
    assert_eq!(headers["content-encoding"], "gzip");
    let (status, headers, body) = answered(&files, Request::head("/none")).await;
    assert_eq!((status, body.as_str()), (StatusCode::NOT_FOUND, ""));
    assert_eq!(headers["content-length"], "7");
    let (status, ..) = ask(&files, "/404.html", None).await;
    assert_eq!(status, StatusCode::OK);
    let (status, ..) = answered(&files, Request::post("/none")).await;
    assert_eq!(status, StatusCode::METHOD_NOT_ALLOWED);
}

#[tokio::test]
async fn a_path_that_no_file_can_have_is_not_there() {
    let folder = Folder::new("no-file");
    symlink("circle", folder.0.join("root/circle")).expect("a link");
    let files = folder.files();
    let long = format!("/{}", "a".repeat(300));
    let longer = "/aaaaaaa".repeat(1_000);
    for path in [
        "/circle",
        "/circle/x",
        &long,
        &longer,
        "/a.txt/.",
        "/a.txt/",
    ] {
        let (status, _, body) = ask(&files, path, None).await;
        assert_eq!(
            (status, body.as_str()),
            (StatusCode::NOT_FOUND, "not found\n"),
            "{path}"
        );
    }
}

#[tokio::test]
async fn a_directory_whose_page_cannot_be_read_is_not_listed() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = Folder::new("unreadable-page");
    let page = folder.0.join("root/index.html");
    std::fs::write(&page, "page").expect("it is written");
    std::fs::set_permissions(&page, std::fs::Permissions::from_mode(0o0)).expect("it is ours");
    if std::fs::read(&page).is_ok() {
        eprintln!("not tried: this user reads every file");
        return;
    }
    let (status, _, body) = ask(&folder.files(), "/", None).await;
    assert_eq!(
        (status, body.as_str()),
        (StatusCode::NOT_FOUND, "not found\n")
    );
}

#[tokio::test]
async fn a_name_that_looks_like_a_character_reference_is_the_one_that_is_linked() {
    let folder = Folder::new("references");
    std::fs::write(folder.0.join("root/a&lt;b"), "").expect("it is written");
    let (_, _, page) = ask(&folder.files(), "/", None).await;
    assert!(
        page.contains("href=\"./a&amp;lt;b\">a&amp;lt;b</a>"),
        "{page}"
    );
}

#[tokio::test]
async fn nothing_outside_the_directory_is_ever_read() {
    let folder = Folder::new("outside");
    symlink(folder.0.join("secret.txt"), folder.0.join("root/link.txt")).expect("a link");
    symlink(&folder.0, folder.0.join("root/up")).expect("a link");
    let files = folder.files();
    for path in [
        "/../secret.txt",
        "/%2e%2e/secret.txt",
        "/sub/../../secret.txt",
        "/..%2fsecret.txt",
        "/..%5csecret.txt",
        "/link.txt",
        "/up/secret.txt",
        "/a.txt%00",
        "//etc/passwd",
    ] {
        let (status, _, body) = ask(&files, path, None).await;
        assert_eq!(status, StatusCode::NOT_FOUND, "{path}");
        assert!(!body.contains("secret"), "{path}");
    }
    let (status, _, page) = ask(&files, "/", None).await;
    assert_eq!(status, StatusCode::OK);
    assert!(page.contains("a.txt"), "{page}");
    assert!(
        !page.contains("link.txt") && !page.contains("up/"),
        "{page}"
    );
}

#[tokio::test]
async fn a_compressed_variant_is_used_unless_it_is_a_link_that_leads_out() {
    let folder = Folder::new("variant");
    std::fs::write(folder.0.join("root/a.txt.gz"), "zipped").expect("written");
    let files = folder.files();
    let gzip = Some(("accept-encoding", "gzip"));
    let (_, headers, body) = ask(&files, "/a.txt", gzip).await;
    assert_eq!(
        (headers["content-encoding"].as_bytes(), body.as_str()),
        (&b"gzip"[..], "zipped")
    );
    std::fs::remove_file(folder.0.join("root/a.txt.gz")).expect("removed");
    symlink(folder.0.join("secret.txt"), folder.0.join("root/a.txt.gz")).expect("a link");
    let (_, headers, body) = ask(&files, "/a.txt", gzip).await;
    assert!(!headers.contains_key("content-encoding"));
    assert_eq!(body, "hello");
}

#[tokio::test]
async fn a_directory_is_listed_with_names_escaped_or_hidden_if_so_asked() {
    let folder = Folder::new("listed");
    let (status, headers, page) = ask(&folder.files(), "/sub/", None).await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(headers["content-type"], "text/html; charset=utf-8");
    assert!(page.contains("b &lt;&amp;&gt;.txt"), "{page}");
    assert!(page.contains("./b%20%3C&amp;%3E.txt"), "{page}");
    let hidden = folder.showing(false, false);
    assert_eq!(ask(&hidden, "/sub/", None).await.0, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn other_methods_are_refused_with_those_that_are_allowed() {
    let folder = Folder::new("methods");
    let request = Request::post("/a.txt")
        .body(EmptyBody::new())
        .expect("a request");
    let response = folder.files().answer(request).await;
    assert_eq!(response.status(), StatusCode::METHOD_NOT_ALLOWED);
    assert_eq!(response.headers()["allow"], "GET, HEAD");
}

#[test]
fn a_directory_that_is_not_one_is_refused_with_its_name() {
    let folder = Folder::new("refused");
    for name in ["nothing", "root/a.txt"] {
        let policy = FilePolicy {
            listings: true,
            dot_files: false,
            spa: false,
        };
        let refusal = Files::new(&folder.0.join(name), policy)
            .err()
            .expect("refused")
            .to_string();
        assert!(refusal.contains(name), "{refusal}");
    }
}

/// CVE-2021-28861: a redirect to `//evil.test/` leads to that host.
#[tokio::test]
async fn a_redirect_to_a_directory_stays_on_its_host_however_many_slashes_are_in_front() {
    let folder = Folder::new("slashes");
    std::fs::create_dir(folder.0.join("root/evil.test")).expect("made");
    for path in ["/evil.test", "//evil.test", "////evil.test?a//b"] {
        let (status, headers, _) = ask(&folder.files(), path, None).await;
        assert!(status.is_redirection(), "{path} {status}");
        let location = headers["location"].to_str().expect("text");
        assert!(location.starts_with("/evil.test/"), "{path} {location}");
    }
    let (status, _, body) = ask(&folder.files(), "//a.txt", None).await;
    assert_eq!((status, body.as_str()), (StatusCode::OK, "hello"));
}

#[tokio::test]
async fn names_that_begin_with_a_dot_are_not_there_unless_that_is_asked_for() {
    let folder = Folder::new("dots");
    let root = folder.0.join("root");
    for (directory, file) in [(".git", "config"), (".well-known", "security.txt")] {
        std::fs::create_dir(root.join(directory)).expect("made");
        std::fs::write(root.join(directory).join(file), "dotted").expect("written");
    }
    std::fs::write(root.join(".env"), "dotted").expect("written");
    std::fs::write(root.join("sub/.hidden"), "dotted").expect("written");
    let (without, with) = (folder.files(), folder.showing(true, true));
    for path in ["/.env", "/.git/config", "/sub/.hidden", "/%2eenv", "/.git/"] {
        let (status, _, body) = ask(&without, path, None).await;
        assert_eq!(status, StatusCode::NOT_FOUND, "{path}");
        assert!(
            !body.contains("dotted") && !body.contains("config"),
            "{path}"
        );
        assert_eq!(ask(&with, path, None).await.0, StatusCode::OK, "{path}");
    }
    for files in [&without, &with] {
        let path = "/.well-known/security.txt";
        assert_eq!(ask(files, path, None).await.2, "dotted");
    }
    assert!(!ask(&without, "/", None).await.2.contains(".env"));
    assert!(ask(&with, "/", None).await.2.contains(".env"));
}

#[tokio::test]
async fn of_several_ranges_the_whole_is_given() {
    let folder = Folder::new("ranges");
    let ranges = Some(("range", "bytes=0-0,2-3"));
    let (status, headers, body) = ask(&folder.files(), "/a.txt", ranges).await;
    assert_eq!((status, body.as_str()), (StatusCode::OK, "hello"));
    assert!(!headers.contains_key("content-range"));
}

#[tokio::test]
async fn text_is_said_to_be_utf_8_and_other_types_stay_as_they_are() {
    let folder = Folder::new("charset");
    for (name, kind) in [
        ("a.html", "text/html; charset=utf-8"),
        ("a.css", "text/css; charset=utf-8"),
        ("a.png", "image/png"),
        ("a.json", "application/json"),
    ] {
        std::fs::write(folder.0.join("root").join(name), "x").expect("written");
        let (_, headers, _) = ask(&folder.files(), &format!("/{name}"), None).await;
        assert_eq!(headers["content-type"], kind);
    }
}
