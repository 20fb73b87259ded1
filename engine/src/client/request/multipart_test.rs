//! The bytes of a form.

use super::{Form, Part};
use crate::body::Body;
use http_body::Body as _;

fn run<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(future)
}

/// The form's text with its boundary written as `B`.
async fn encode(form: Form) -> (Option<u64>, String) {
    let named = form.boundary().to_owned();
    let (media_type, body) = form.encode().unwrap();
    let media_type = media_type.to_str().unwrap();
    let boundary = media_type
        .strip_prefix("multipart/form-data; boundary=")
        .unwrap();
    assert_eq!(boundary, named);
    let length = body.size_hint().exact();
    let text = body.text().await.unwrap();
    if let Some(length) = length {
        assert_eq!(length, text.len() as u64);
    }
    (length, text.replace(boundary, "B"))
}

#[test]
fn parts_stand_between_boundaries_with_their_fields() {
    run(async {
        let form = Form::new().text("a", "1").part(
            "f",
            Part::bytes("xyz")
                .file_name("x.bin")
                .mime("image/png")
                .header("x-more", "y"),
        );
        let (length, text) = encode(form).await;
        assert!(length.is_some());
        assert_eq!(
            text,
            "--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n\
             --B\r\nContent-Disposition: form-data; name=\"f\"; filename=\"x.bin\"\r\n\
             Content-Type: image/png\r\nX-More: y\r\n\r\nxyz\r\n--B--\r\n"
        );
        let (_, text) = encode(Form::new()).await;
        assert_eq!(text, "--B--\r\n");
    });
}

#[test]
fn names_cannot_break_out_of_their_field() {
    run(async {
        let part = Part::text("v").file_name("f\"\r\nContent-Type: x");
        let (_, text) = encode(Form::new().part("n\"\r\n\r\nevil", part)).await;
        let head = text.split("\r\n\r\n").next().unwrap();
        assert_eq!(
            head,
            "--B\r\nContent-Disposition: form-data; name=\"n%22%0D%0A%0D%0Aevil\"; \
             filename=\"f%22%0D%0AContent-Type: x\""
        );
    });
}

#[test]
fn a_part_that_streams_takes_the_length_away_and_its_error_is_the_forms() {
    run(async {
        let stream = futures_util::stream::iter([Ok::<_, std::io::Error>("s1"), Ok("s2")]);
        let form = Form::new().part("s", Part::body(Body::from_stream(stream)));
        let (length, text) = encode(form).await;
        assert_eq!(length, None);
        assert!(text.contains("\r\n\r\ns1s2\r\n--B--"));
        let failing = futures_util::stream::iter([Err::<&str, _>(std::io::Error::other("gone"))]);
        let form = Form::new().part("s", Part::body(Body::from_stream(failing)));
        let (_, body) = form.encode().unwrap();
        assert!(body.bytes().await.is_err());
    });
}

#[test]
fn a_file_is_a_part_with_its_name_type_and_length() {
    run(async {
        let path = std::env::temp_dir().join(format!("trunkline-part-{}", std::process::id()));
        std::fs::write(&path, vec![b'x'; 150_000]).unwrap();
        let form = Form::new().file("f", &path).await.unwrap();
        let (length, text) = encode(form).await;
        std::fs::remove_file(&path).unwrap();
        assert!(length.is_some());
        assert!(text.contains("Content-Type: application/octet-stream\r\n\r\nxxx"));
        assert!(text.contains("filename=\"trunkline-part-"));
        assert_eq!(text.matches('x').count(), 150_000);
        let error = Form::new().file("f", &path).await.unwrap_err();
        assert!(error.to_string().contains("trunkline-part-"), "{error}");
        let named = path.with_extension("PNG");
        std::fs::write(&named, "x").unwrap();
        let form = Form::new().part("f", Part::file(&named).await.unwrap());
        let (_, text) = encode(form).await;
        std::fs::remove_file(&named).unwrap();
        assert!(text.contains("Content-Type: image/png\r\n\r\nx"), "{text}");
    });
}

#[test]
fn values_that_cannot_be_fields_are_refused_and_boundaries_differ() {
    let of = |form: Form| form.encode().map(|(media_type, _)| media_type);
    let bad = Form::new().part("a", Part::text("").mime("a\nb"));
    assert!(of(bad).unwrap_err().to_string().contains("a\\nb"));
    let bad = Form::new().part("a", Part::text("").header("x y", "1"));
    assert!(of(bad).unwrap_err().to_string().contains("x y"));
    assert_ne!(of(Form::new()).unwrap(), of(Form::new()).unwrap());
}
