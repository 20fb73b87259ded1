//! Requests of serde's values, credentials and URLs as people write them, and a body read as JSON.
#![allow(clippy::unwrap_used, reason = "what fails here fails its test")]

#[path = "support/origin.rs"]
mod origin;
#[path = "support/peer.rs"]
mod support;

use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use http::{Request, Response};
use origin::{Origin, Speaks, run};
use std::collections::BTreeMap;
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
