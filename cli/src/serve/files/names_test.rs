use super::{Folder, StatusCode, answered, ask};
use http::Request;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

fn write(folder: &Folder, name: &[u8], content: &str) {
    let path = folder.0.join("root").join(OsStr::from_bytes(name));
    std::fs::write(path, content).expect("written");
}

#[tokio::test]
async fn a_file_whose_name_is_no_utf_8_is_served_and_linked_by_its_bytes() {
    let folder = Folder::new("bytes");
    let files = folder.files();
    let directory = folder.0.join("root").join(OsStr::from_bytes(b"d\xfc"));
    std::fs::create_dir_all(&directory).expect("made");
    write(&folder, b"gr\xfcn.txt", "latin");
    write(&folder, b"d\xfc/\xff.txt", "inner");
    write(&folder, b"d\xfc/index.html", "page");
    // The name that a text has in its place is another one.
    write(&folder, "gr\u{fffd}n.txt".as_bytes(), "mark");
    for (path, content) in [
        ("/gr%FCn.txt", "latin"),
        ("/./gr%fcn.txt", "latin"),
        ("/gr%EF%BF%BDn.txt", "mark"),
        ("/d%FC/%FF.txt", "inner"),
        ("/d%FC/", "page"),
    ] {
        let (status, _, body) = ask(&files, path, None).await;
        assert_eq!((status, body.as_str()), (StatusCode::OK, content), "{path}");
    }
    let (status, headers, body) = ask(&files, "/gr%FCn.txt", Some(("range", "bytes=1-2"))).await;
    assert_eq!((status, body.as_str()), (StatusCode::PARTIAL_CONTENT, "at"));
    assert_eq!(headers["content-type"], "text/plain; charset=utf-8");
    let (_, headers, _) = ask(&files, "//d%FC?a=b", None).await;
    assert_eq!(headers["location"], "/d%FC/?a=b");
    for path in [
        "/gr%FC.txt",
        "/%FC/../a.txt",
        "/d%FC/%2e%2e/a.txt",
        "/%c0%ae%c0%ae/secret.txt",
    ] {
        let (status, _, _) = ask(&files, path, None).await;
        assert_eq!(status, StatusCode::NOT_FOUND, "{path}");
    }
    let (_, _, page) = ask(&files, "/", None).await;
    assert!(page.contains("<a href=\"./gr%FCn.txt\">"), "{page}");
    assert!(page.contains("<a href=\"./d%FC/\">"), "{page}");
    std::fs::remove_file(directory.join("index.html")).expect("it was there");
    let (_, _, page) = ask(&files, "/d%FC/", None).await;
    assert!(page.contains("<a href=\"./%FF.txt\">"), "{page}");
}

#[tokio::test]
async fn a_compressed_variant_stands_beside_a_name_that_is_no_utf_8_too() {
    let folder = Folder::new("bytes-gz");
    let files = folder.files();
    write(&folder, b"\xff.txt", "plain");
    write(&folder, b"\xff.txt.gz", "packed");
    let accepts = Some(("accept-encoding", "gzip"));
    let (_, headers, body) = ask(&files, "/%FF.txt", accepts).await;
    assert_eq!(
        (headers["content-encoding"].as_bytes(), body.as_str()),
        (&b"gzip"[..], "packed")
    );
}

#[tokio::test]
async fn a_listing_links_nothing_that_is_not_served() {
    let folder = Folder::new("linked");
    let files = folder.files();
    write(&folder, b"back\\slash.txt", "x");
    let socket = folder.0.join("root/socket");
    let _bound = std::os::unix::net::UnixListener::bind(&socket).expect("it is free");
    let (status, _, _) = ask(&files, "/socket", None).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    let (_, _, page) = ask(&files, "/", None).await;
    assert!(page.contains("a.txt"), "{page}");
    assert!(
        !page.contains("slash") && !page.contains("socket"),
        "{page}"
    );
}

#[tokio::test]
async fn tags_on_several_lines_are_one_list() {
    let folder = Folder::new("tags");
    let files = folder.files();
    let (_, headers, _) = ask(&files, "/a.txt", None).await;
    let tag = &headers["etag"];
    for (name, expected) in [
        ("if-none-match", StatusCode::NOT_MODIFIED),
        ("if-match", StatusCode::OK),
    ] {
        let request = Request::get("/a.txt")
            .header(name, "\"other\"")
            .header(name, tag);
        let (status, _, _) = answered(&files, request).await;
        assert_eq!(status, expected, "{name}");
    }
}
