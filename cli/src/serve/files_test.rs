use super::super::folder::Folder;
use super::*;
use http_body_util::BodyExt;
use std::os::unix::fs::symlink;

impl Folder {
    fn files(&self) -> Files {
        Files::new(&self.0.join("root"), true).expect("a directory")
    }
}

type Asked = http_body_util::Empty<bytes::Bytes>;

async fn ask(
    files: &Files,
    path: &str,
    field: Option<(&str, &str)>,
) -> (StatusCode, http::HeaderMap, String) {
    let mut request = Request::get(path);
    if let Some((name, value)) = field {
        request = request.header(name, value);
    }
    let response = files
        .answer(request.body(Asked::new()).expect("a request"))
        .await;
    let (head, body) = response.into_parts();
    let body: SiteBody<Asked> = body;
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
    assert_eq!(headers["content-type"], "text/plain");
    let (status, _, body) = ask(&files, "/a.txt", Some(("range", "bytes=1-2"))).await;
    assert_eq!((status, body.as_str()), (StatusCode::PARTIAL_CONTENT, "el"));
    let modified = headers["last-modified"].to_str().expect("a date");
    let (status, _, body) = ask(&files, "/a.txt", Some(("if-modified-since", modified))).await;
    assert_eq!((status, body.as_str()), (StatusCode::NOT_MODIFIED, ""));
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
    assert!(page.contains("./b%20%3C&%3E.txt"), "{page}");
    let hidden = Files::new(&folder.0.join("root"), false).expect("a directory");
    assert_eq!(ask(&hidden, "/sub/", None).await.0, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn other_methods_are_refused_with_those_that_are_allowed() {
    let folder = Folder::new("methods");
    let request = Request::post("/a.txt")
        .body(Asked::new())
        .expect("a request");
    let response = folder.files().answer(request).await;
    assert_eq!(response.status(), StatusCode::METHOD_NOT_ALLOWED);
    assert_eq!(response.headers()["allow"], "GET, HEAD");
}

#[test]
fn a_directory_that_is_not_one_is_refused_with_its_name() {
    let folder = Folder::new("refused");
    for name in ["nothing", "root/a.txt"] {
        let refusal = Files::new(&folder.0.join(name), true)
            .err()
            .expect("refused")
            .to_string();
        assert!(refusal.contains(name), "{refusal}");
    }
}
