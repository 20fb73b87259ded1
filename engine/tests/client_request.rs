//! Requests of serde's values, credentials and URLs as people write them, and a body read as JSON.
#![allow(clippy::unwrap_used, reason = "what fails here fails its test")]

use crate::support::origin::{Origin, Speaks, run};
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use http::{Request, Response};
use std::collections::BTreeMap;
use trunkline::client::{RedirectPolicy, ResponseExt};
use trunkline::{Body, ErrorKind};

const EVERY_WAY: [Speaks; 3] = [Speaks::Plain, Speaks::Tls, Speaks::TlsH1];

/// Answers with the request's body, and with its target and fields in fields.
fn mirror(speaks: Speaks) -> Origin {
    Origin::start(speaks, 100, |request: Request<Body>| async {
        let mut response = Response::new(Body::empty());
        let headers = response.headers_mut();
        let target = request.uri().path_and_query().unwrap().as_str();
        headers.insert("x-target", HeaderValue::from_str(target).unwrap());
        for name in [AUTHORIZATION, CONTENT_TYPE] {
            for value in request.headers().get_all(&name) {
                headers.append(
                    format!("x-{name}").parse::<http::HeaderName>().unwrap(),
                    value.clone(),
                );
            }
        }
        *response.body_mut() = request.into_body();
        response
    })
}

fn text<'a>(response: &'a Response<Body>, name: &str) -> Vec<&'a str> {
    let values = response.headers().get_all(name).iter();
    values.map(|value| value.to_str().unwrap()).collect()
}

#[test]
fn json_goes_with_its_type_and_comes_back_as_a_value() {
    for speaks in EVERY_WAY {
        run(async {
            let origin = mirror(speaks);
            let client = origin.client().build().unwrap();
            let sent = BTreeMap::from([("a", vec![1, 2]), ("b", vec![])]);
            let response = client
                .post(origin.url("/"))
                .json(&sent)
                .send()
                .await
                .unwrap();
            assert_eq!(text(&response, "x-content-type"), ["application/json"]);
            let got: BTreeMap<String, Vec<u32>> = response.into_body().json().await.unwrap();
            assert_eq!(got["a"], [1, 2]);
            let request = client
                .post(origin.url("/"))
                .header("content-type", "application/problem+json");
            let response = request.json(&sent).send().await.unwrap();
            assert_eq!(
                text(&response, "x-content-type"),
                ["application/problem+json"]
            );
        });
    }
}

#[test]
fn a_body_that_is_no_such_json_or_too_long_is_an_error_that_says_so() {
    run(async {
        let origin = mirror(Speaks::Plain);
        let client = origin.client().build().unwrap();
        let response = client
            .post(origin.url("/"))
            .body("{\"a\":1")
            .send()
            .await
            .unwrap();
        let error = response
            .into_body()
            .json::<BTreeMap<String, u32>>()
            .await
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Body);
        assert!(error.to_string().contains("line 1 column 6"), "{error}");
        let response = client
            .post(origin.url("/"))
            .body("[1,2,3,4]")
            .send()
            .await
            .unwrap();
        let error = response
            .into_body()
            .json_within::<Vec<u32>>(4)
            .await
            .unwrap_err();
        assert!(error.to_string().contains("more than 4 bytes"), "{error}");
    });
}

#[test]
fn queries_and_forms_are_percent_encoded_pairs() {
    for speaks in EVERY_WAY {
        run(async {
            let origin = mirror(speaks);
            let client = origin.client().build().unwrap();
            let pairs = [("q", "a b&c"), ("ä", "1")];
            for (path, target) in [
                ("/", "/?q=a+b%26c&%C3%A4=1"),
                ("/?x=y", "/?x=y&q=a+b%26c&%C3%A4=1"),
                ("/?", "/?q=a+b%26c&%C3%A4=1"),
            ] {
                let response = client
                    .get(origin.url(path))
                    .query(&pairs)
                    .send()
                    .await
                    .unwrap();
                assert_eq!(text(&response, "x-target"), [target], "{path}");
            }
            let response = client
                .post(origin.url("/"))
                .form(&pairs)
                .send()
                .await
                .unwrap();
            assert_eq!(
                text(&response, "x-content-type"),
                ["application/x-www-form-urlencoded"]
            );
            assert_eq!(
                response.into_body().text().await.unwrap(),
                "q=a+b%26c&%C3%A4=1"
            );
            let nested = BTreeMap::from([("a", vec![1])]);
            let error = client
                .get(origin.url("/"))
                .query(&nested)
                .send()
                .await
                .unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Config);
            let error = client
                .post(origin.url("/"))
                .form(&nested)
                .send()
                .await
                .unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Config);
        });
    }
}

#[test]
fn credentials_become_one_authorization() {
    for speaks in EVERY_WAY {
        run(async {
            let origin = mirror(speaks);
            let client = origin.client().build().unwrap();
            // RFC 7617 section 2: the example.
            let request = client
                .get(origin.url("/"))
                .basic_auth("Aladdin", Some("open sesame"));
            let response = request.send().await.unwrap();
            assert_eq!(
                text(&response, "x-authorization"),
                ["Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="]
            );
            let request = client
                .get(origin.url("/"))
                .basic_auth("a", None::<&str>)
                .bearer_auth("t0k.en");
            let response = request.send().await.unwrap();
            assert_eq!(text(&response, "x-authorization"), ["Bearer t0k.en"]);
            let error = client
                .get(origin.url("/"))
                .bearer_auth("a\nb")
                .send()
                .await
                .unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Config);
            assert!(!error.to_string().contains("a\nb"), "{error}");
        });
    }
}

#[test]
fn fields_that_are_set_replace_those_of_the_same_name() {
    run(async {
        let origin = mirror(Speaks::Plain);
        let client = origin.client().build().unwrap();
        let mut headers = HeaderMap::new();
        headers.append(CONTENT_TYPE, HeaderValue::from_static("a/b"));
        let request = client
            .post(origin.url("/"))
            .header("content-type", "c/d")
            .body("x");
        let response = request.headers(headers).send().await.unwrap();
        assert_eq!(text(&response, "x-content-type"), ["a/b"]);
    });
}

#[test]
fn a_url_as_a_person_writes_it_is_sent_as_the_standard_says() {
    run(async {
        let origin = mirror(Speaks::Plain);
        let client = origin.client().build().unwrap();
        for (path, target) in [
            ("/ä b/../c?d=é#f", "/c?d=%C3%A9"),
            ("/%7Ea?b c", "/%7Ea?b%20c"),
            ("/\u{1f980}", "/%F0%9F%A6%80"),
        ] {
            let response = client.get(origin.url(path)).send().await.unwrap();
            assert_eq!(text(&response, "x-target"), [target], "{path}");
        }
    });
}

#[test]
fn a_body_is_read_piece_by_piece_and_says_what_is_left_of_it() {
    for speaks in EVERY_WAY {
        run(async {
            let origin = mirror(speaks);
            let client = origin.client().idle_timeout(None).build().unwrap();
            let sent = vec![b'x'; 300_000];
            let request = client.put(origin.url("/")).body(sent.clone());
            let mut response = request.send().await.unwrap();
            let mut got = Vec::new();
            while let Some(piece) = response.chunk().await.unwrap() {
                assert!(!piece.is_empty());
                got.extend_from_slice(&piece);
            }
            assert!(got == sent, "{speaks:?}");
            assert!(response.chunk().await.unwrap().is_none());
        });
    }
    run(async {
        let origin = Origin::start(Speaks::Tls, 100, async |_| {
            Response::new(Body::full("hello"))
        });
        let client = origin.client().build().unwrap();
        let response = client.get(origin.url("/")).send().await.unwrap();
        assert_eq!(response.content_length(), Some(5));
        assert_eq!(response.text().await.unwrap(), "hello");
    });
}

#[test]
fn an_open_file_is_a_body_from_where_it_is() {
    run(async {
        use tokio::io::AsyncSeekExt;
        let origin = mirror(Speaks::Plain);
        let client = origin.client().build().unwrap();
        let path = std::env::temp_dir().join(format!("trunkline-body-{}", std::process::id()));
        std::fs::write(&path, "0123456789").unwrap();
        let mut file = tokio::fs::File::open(&path).await.unwrap();
        std::fs::remove_file(&path).unwrap();
        file.seek(std::io::SeekFrom::Start(4)).await.unwrap();
        let response = client
            .post(origin.url("/"))
            .body(file)
            .send()
            .await
            .unwrap();
        assert_eq!(response.text().await.unwrap(), "456789");
    });
}

#[test]
fn credentials_in_a_url_are_sent_as_a_field() {
    run(async {
        let origin = mirror(Speaks::Plain);
        let client = origin.client().build().unwrap();
        let url = origin
            .url("/a")
            .replace("http://", "http://me%40home:p%3Aw@");
        let response = client.get(url).send().await.unwrap();
        assert_eq!(text(&response, "x-target"), ["/a"]);
        // "me@home:p:w"
        assert_eq!(
            text(&response, "x-authorization"),
            ["Basic bWVAaG9tZTpwOnc="]
        );
    });
}

#[test]
fn a_client_of_https_alone_sends_nothing_in_cleartext_and_follows_no_redirect_there() {
    run(async {
        let plain = mirror(Speaks::Plain);
        let target = plain.url("/secret");
        let secure = Origin::start(Speaks::Tls, 100, move |_| {
            let mut response = Response::new(Body::empty());
            *response.status_mut() = http::StatusCode::FOUND;
            let location = HeaderValue::from_str(&target).unwrap();
            response.headers_mut().insert("location", location);
            async { response }
        });
        let client = secure.client().https_only(true).build().unwrap();
        for url in [plain.url("/secret"), secure.url("/")] {
            let error = client.get(&url).send().await.unwrap_err();
            assert!(error.is_config(), "{url}: {error:?}");
            assert!(error.to_string().contains("https_only"), "{url}: {error}");
        }
        assert_eq!((plain.sockets(), secure.sockets()), (0, 1));
        let client = secure.client().build().unwrap();
        let followed = client.get(secure.url("/")).send().await.unwrap();
        assert_eq!(text(&followed, "x-target"), ["/secret"]);
    });
}

#[test]
fn an_error_has_the_url_of_the_request_that_failed_and_does_not_print_it() {
    run(async {
        let origin = Origin::start(Speaks::Plain, 100, async |_| {
            let mut response = Response::new(Body::full("no JSON"));
            *response.status_mut() = http::StatusCode::FOUND;
            let nowhere = HeaderValue::from_static("http://127.0.0.1:9/?key=secret");
            response.headers_mut().insert("location", nowhere);
            response
        });
        let client = origin.client().build().unwrap();
        let error = client.get(origin.url("/a")).send().await.unwrap_err();
        assert!(error.is_connect() && error.is_request(), "{error:?}");
        let url = error.url().unwrap();
        assert_eq!(url, "http://127.0.0.1:9/?key=secret");
        assert!(!error.to_string().contains("secret"), "{error}");
        let client = origin.client().redirect(RedirectPolicy::none());
        let client = client.build().unwrap();
        let response = client.get(origin.url("/a")).send().await.unwrap();
        let error = response.json::<u32>().await.unwrap_err();
        assert!(error.is_decode() && error.is_body() && !error.is_request());
        let mut missing = client.get(origin.url("/a")).send().await.unwrap();
        *missing.status_mut() = http::StatusCode::NOT_FOUND;
        let error = missing.error_for_status().unwrap_err();
        assert!(error.is_status() && !error.is_request() && !error.is_decode());
    });
}
