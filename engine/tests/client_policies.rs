//! Redirects, cookies, retries, decompression, forms and default fields of a client, on every version.
#![allow(clippy::unwrap_used, reason = "what fails here fails its test")]

use crate::support::origin::{Origin, Speaks, run};
use async_compression::tokio::bufread::GzipEncoder;
use bytes::Bytes;
use http::header::{CONTENT_ENCODING, HeaderMap, HeaderName, HeaderValue, LOCATION, SET_COOKIE};
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tower_service::Service;
use trunkline::client::multipart::{Form, Part};
use trunkline::client::{Jar, RedirectPolicy, RetryPolicy};
use trunkline::{Body, Client, ErrorKind, ResponseExt};

const EVERY_WAY: [Speaks; 3] = [Speaks::Plain, Speaks::Tls, Speaks::TlsH1];

/// Answers by the path: `/to/STATUS/TARGET..` redirects to the rest, `/set/NAME/VALUE` sets a cookie and
/// redirects to `/`, `/gzip` is compressed, everything else says the request.
fn site(speaks: Speaks) -> Origin {
    Origin::start(speaks, 100, |request: Request<Body>| async move {
        let (parts, body) = request.into_parts();
        let path = parts.uri.path_and_query().unwrap().as_str();
        let mut words = path.splitn(4, '/').skip(1);
        let mut response = Response::new(Body::empty());
        match (words.next().unwrap(), words.next(), words.next()) {
            ("to", Some(status), Some(target)) => {
                *response.status_mut() = status.parse().unwrap();
                let target = match target.starts_with("http") {
                    true => target.to_owned(),
                    false => format!("/{target}"),
                };
                let target = HeaderValue::from_str(&target).unwrap();
                response.headers_mut().insert(LOCATION, target);
                *response.body_mut() = Body::full("moved");
            }
            ("set", Some(name), Some(value)) => {
                *response.status_mut() = StatusCode::FOUND;
                let cookie = HeaderValue::from_str(&format!("{name}={value}; Path=/")).unwrap();
                response.headers_mut().insert(SET_COOKIE, cookie);
                response
                    .headers_mut()
                    .insert(LOCATION, HeaderValue::from_static("/"));
            }
            ("gzip", ..) => {
                let mut bytes = Vec::new();
                let text = vec![b'g'; 100_000];
                GzipEncoder::new(&text[..])
                    .read_to_end(&mut bytes)
                    .await
                    .unwrap();
                response
                    .headers_mut()
                    .insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
                *response.body_mut() = Body::full(bytes);
            }
            _ => {
                let mut text = format!("{} {path}\n", parts.method);
                for (name, value) in &parts.headers {
                    text += &format!("{name}: {}\n", value.to_str().unwrap());
                }
                text += "\n";
                text += &body.text().await.unwrap();
                *response.body_mut() = Body::full(text);
            }
        }
        response
    })
}

#[test]
fn redirects_are_followed_to_a_response_that_says_its_url() {
    for speaks in EVERY_WAY {
        run(async {
            let site = site(speaks);
            let client = site.client().build().unwrap();
            let response = client
                .get(site.url("/to/302/to/307/end"))
                .send()
                .await
                .unwrap();
            assert_eq!(response.status(), StatusCode::OK);
            let url = response.redirected_to().unwrap().to_string();
            assert_eq!(url, site.url("/end"));
            assert!(response.text().await.unwrap().starts_with("GET /end\n"));
            assert_eq!(site.seen.requests(), 3);
            assert_eq!(
                site.sockets(),
                1,
                "the connection of a redirect is used again"
            );
            let direct = client.get(site.url("/")).send().await.unwrap();
            assert_eq!(direct.redirected_to(), None);
        });
    }
}

#[test]
fn bodies_and_credentials_follow_as_far_as_they_may() {
    for speaks in EVERY_WAY {
        run(async {
            let (site, other) = (site(speaks), site_beside(speaks));
            let client = site.client().build().unwrap();
            let post = |path: &str| {
                let request = client.post(site.url(path)).body("content");
                request.bearer_auth("secret").header("content-type", "a/b")
            };
            let text = post("/to/308/end")
                .send()
                .await
                .unwrap()
                .text()
                .await
                .unwrap();
            assert!(text.starts_with("POST /end\n"), "{text}");
            assert!(text.contains("authorization: Bearer secret\n"), "{text}");
            assert!(text.ends_with("\n\ncontent"), "{text}");
            let text = post("/to/303/end")
                .send()
                .await
                .unwrap()
                .text()
                .await
                .unwrap();
            assert!(text.starts_with("GET /end\n"), "{text}");
            assert!(!text.contains("content-"), "{text}");
            // Another port is another origin.
            let path = format!(
                "/to/302/http://localhost:{}/x",
                other.running.local_addr().port()
            );
            let text = post(&path).send().await.unwrap().text().await.unwrap();
            assert!(text.starts_with("GET /x\n"), "{text}");
            assert!(!text.contains("secret"), "{text}");
        });
    }
}

fn site_beside(_: Speaks) -> Origin {
    site(Speaks::Plain)
}

#[test]
fn a_loop_ends_with_an_error_and_a_policy_may_follow_none() {
    for speaks in EVERY_WAY {
        run(async {
            let origin = Origin::start(speaks, 100, |_| async {
                let response = Response::builder().status(302).header(LOCATION, "/again");
                response.body(Body::empty()).unwrap()
            });
            let client = origin.client().build().unwrap();
            let error = client.get(origin.url("/")).send().await.unwrap_err();
            assert!(error.is_redirect());
            assert_eq!(error.kind(), ErrorKind::Redirect);
            assert_eq!(origin.seen.requests(), 11);
            let client = origin
                .client()
                .redirect(RedirectPolicy::none())
                .build()
                .unwrap();
            let response = client.get(origin.url("/")).send().await.unwrap();
            assert_eq!(response.status(), StatusCode::FOUND);
            assert_eq!(response.headers()[LOCATION], "/again");
        });
    }
}

#[test]
fn a_redirect_with_a_long_unread_body_is_left_behind() {
    for speaks in EVERY_WAY {
        run(async {
            let origin = Origin::start(speaks, 100, |request: Request<Body>| async move {
                if request.uri().path() == "/end" {
                    return Response::new(Body::full("end"));
                }
                let (mut sender, body) = Body::channel();
                tokio::spawn(async move { while sender.send(vec![0; 10_000]).await.is_ok() {} });
                let response = Response::builder().status(302).header(LOCATION, "/end");
                response.body(body).unwrap()
            });
            let client = origin.client().build().unwrap();
            let response = client.get(origin.url("/")).send().await.unwrap();
            assert_eq!(response.text().await.unwrap(), "end");
        });
    }
}

#[test]
fn cookies_come_back_on_the_next_hop_and_the_next_request() {
    for speaks in EVERY_WAY {
        run(async {
            let site = site(speaks);
            let client = site.client().cookie_store(true).build().unwrap();
            let text = client
                .get(site.url("/set/a/1"))
                .send()
                .await
                .unwrap()
                .text()
                .await
                .unwrap();
            assert!(text.contains("\ncookie: a=1\n"), "{text}");
            let text = client
                .get(site.url("/set/b/2"))
                .send()
                .await
                .unwrap()
                .text()
                .await
                .unwrap();
            assert!(text.contains("\ncookie: a=1; b=2\n"), "{text}");
            let own = client.get(site.url("/")).header("cookie", "mine=3");
            let text = own.send().await.unwrap().text().await.unwrap();
            assert!(text.contains("\ncookie: mine=3\n"), "{text}");
            let jar = Arc::new(Jar::default());
            jar.add("given=4", &site.url("/"));
            let client = site.client().cookie_provider(jar).build().unwrap();
            let text = client
                .get(site.url("/"))
                .send()
                .await
                .unwrap()
                .text()
                .await
                .unwrap();
            assert!(text.contains("\ncookie: given=4\n"), "{text}");
            let client = site.client().build().unwrap();
            let text = client
                .get(site.url("/set/a/1"))
                .send()
                .await
                .unwrap()
                .text()
                .await
                .unwrap();
            assert!(!text.contains("cookie"), "{text}");
        });
    }
}

#[test]
fn responses_are_decompressed_unless_that_is_off() {
    for speaks in EVERY_WAY {
        run(async {
            let site = site(speaks);
            let client = site.client().build().unwrap();
            let response = client.get(site.url("/gzip")).send().await.unwrap();
            assert!(!response.headers().contains_key(CONTENT_ENCODING));
            assert_eq!(response.bytes().await.unwrap(), vec![b'g'; 100_000]);
            let text = client
                .get(site.url("/"))
                .send()
                .await
                .unwrap()
                .text()
                .await
                .unwrap();
            assert!(
                text.contains("accept-encoding: gzip, br, zstd, deflate\n"),
                "{text}"
            );
            let head = client.head(site.url("/gzip")).send().await.unwrap();
            assert_eq!(head.headers()[CONTENT_ENCODING], "gzip");
            let client = site.client().decompression(false).build().unwrap();
            let response = client.get(site.url("/gzip")).send().await.unwrap();
            assert_eq!(response.headers()[CONTENT_ENCODING], "gzip");
            assert!(response.bytes().await.unwrap().starts_with(&[0x1f, 0x8b]));
            let text = client
                .get(site.url("/"))
                .send()
                .await
                .unwrap()
                .text()
                .await
                .unwrap();
            assert!(!text.contains("accept-encoding"), "{text}");
        });
    }
}

#[test]
fn default_fields_go_with_every_request_that_has_none_of_their_name() {
    for speaks in EVERY_WAY {
        run(async {
            let site = site(speaks);
            let mut fields = HeaderMap::new();
            fields.insert("x-key", HeaderValue::from_static("k"));
            let builder = site.client().default_headers(fields).user_agent("app/1");
            let client = builder.build().unwrap();
            let text = client
                .get(site.url("/"))
                .send()
                .await
                .unwrap()
                .text()
                .await
                .unwrap();
            assert!(text.contains("x-key: k\n"), "{text}");
            assert!(text.contains("user-agent: app/1\n"), "{text}");
            let own = client.get(site.url("/")).header("user-agent", "other");
            let text = own.send().await.unwrap().text().await.unwrap();
            assert_eq!(text.matches("user-agent: other\n").count(), 1);
            assert!(!text.contains("app/1"), "{text}");
        });
    }
    let error = Client::builder().user_agent("a\nb").build().unwrap_err();
    assert!(error.to_string().contains("a\\nb"), "{error}");
}

#[test]
fn a_form_of_parts_arrives_with_its_length() {
    for speaks in EVERY_WAY {
        run(async {
            let site = site(speaks);
            let client = site.client().build().unwrap();
            let form = Form::new()
                .text("a", "1")
                .part("f", Part::bytes("xyz").file_name("x"));
            let request = client.post(site.url("/")).multipart(form);
            let text = request.send().await.unwrap().text().await.unwrap();
            assert!(
                text.contains("content-type: multipart/form-data; boundary="),
                "{text}"
            );
            assert!(text.contains("content-length: "), "{text}");
            assert!(
                text.contains("filename=\"x\"\r\n\r\nxyz\r\n--trunkline-"),
                "{text}"
            );
        });
    }
}

#[test]
fn a_request_is_sent_again_after_a_status_that_says_later() {
    for speaks in EVERY_WAY {
        run(async {
            let answered = Arc::new(AtomicU32::new(0));
            let counted = Arc::clone(&answered);
            let origin = Origin::start(speaks, 100, move |request: Request<Body>| {
                let count = counted.fetch_add(1, Ordering::SeqCst);
                async move {
                    let text = request.into_body().text().await.unwrap();
                    let status = if count % 3 == 2 { 200 } else { 503 };
                    let response = Response::builder()
                        .status(status)
                        .header("retry-after", "0");
                    response.body(Body::full(text)).unwrap()
                }
            });
            let builder = origin.client().retry(RetryPolicy::new(2));
            let client = builder.build().unwrap();
            let put = client.put(origin.url("/")).body("content");
            let response = put.send().await.unwrap();
            assert_eq!(response.status(), StatusCode::OK);
            assert_eq!(response.text().await.unwrap(), "content");
            // A POST may have had its effect.
            let post = client.post(origin.url("/")).send().await.unwrap();
            assert_eq!(post.status(), StatusCode::SERVICE_UNAVAILABLE);
            assert_eq!(answered.load(Ordering::SeqCst), 4);
            let error = post.error_for_status().unwrap_err();
            assert_eq!(error.status(), Some(StatusCode::SERVICE_UNAVAILABLE));
        });
    }
}

#[test]
fn the_total_timeout_goes_over_redirects_and_pauses() {
    run(async {
        let origin = Origin::start(Speaks::Plain, 100, |_| async {
            let response = Response::builder().status(503).header("retry-after", "5");
            response.body(Body::empty()).unwrap()
        });
        let builder = origin.client().retry(RetryPolicy::new(2));
        let client = builder.timeout(Duration::from_millis(200)).build().unwrap();
        let error = client.get(origin.url("/")).send().await.unwrap_err();
        assert!(error.is_timeout(), "{error:?}");
        assert_eq!(origin.seen.requests(), 1);
    });
}

#[test]
fn a_time_that_has_passed_is_a_timeout_and_nothing_is_sent() {
    run(async {
        let site = site(Speaks::Plain);
        let client = site.client().build().unwrap();
        let passed = Duration::from_secs(1).saturating_sub(Duration::from_secs(2));
        let request = client.get(site.url("/")).timeout(passed);
        let error = request.send().await.unwrap_err();
        assert!(error.is_timeout() && !error.is_config(), "{error:?}");
        assert_eq!(site.seen.requests(), 0);
        let short = client.get(site.url("/")).timeout(Duration::from_nanos(1));
        let error = short.send().await.unwrap_err();
        assert!(error.is_timeout() && !error.is_config(), "{error:?}");
        let zero = client.get(site.url("/")).queue_timeout(passed);
        assert!(zero.send().await.unwrap_err().is_config());
    });
}

#[test]
fn requests_of_other_crates_follow_the_policies_too() {
    run(async {
        let site = site(Speaks::Tls);
        let client = site.client().build().unwrap();
        let request = client.get(site.url("/to/301/end")).header("x-a", "1");
        let again = request.try_clone().unwrap();
        let built = request.build().unwrap();
        assert_eq!(built.method(), Method::GET);
        assert!(built.headers().contains_key(HeaderName::from_static("x-a")));
        for response in [
            client.execute(built).await.unwrap(),
            again.send().await.unwrap(),
        ] {
            assert!(response.text().await.unwrap().starts_with("GET /end\n"));
        }
        let streams = client.post(site.url("/")).body(Body::channel().1);
        assert!(streams.try_clone().is_none());
    });
}

#[test]
fn a_body_that_is_all_there_goes_again_with_a_request_of_another_crate() {
    for speaks in EVERY_WAY {
        run(async {
            let site = site(speaks);
            let client = site.client().build().unwrap();
            let put = || Request::put(site.url("/to/308/end"));
            let whole = || put().body(Body::full("content")).unwrap();
            let text = put().body("content".to_owned()).unwrap();
            let full = put().body(Full::new(Bytes::from("content"))).unwrap();
            let boxed = Full::new(&b"content"[..]).map_err(io::Error::other);
            let boxed = put().body(BodyExt::boxed_unsync(boxed)).unwrap();
            let axums = put().body(axum::body::Body::from("content")).unwrap();
            let wrapped = Body::wrap(Full::new(Bytes::from("content")));
            let wrapped = client.put(site.url("/to/308/end")).body(wrapped);
            for response in [
                client.execute(whole()).await.unwrap(),
                Service::call(&mut client.clone(), whole()).await.unwrap(),
                client.execute(text).await.unwrap(),
                client.execute(full).await.unwrap(),
                Service::call(&mut client.clone(), boxed).await.unwrap(),
                client.execute(axums).await.unwrap(),
                wrapped.send().await.unwrap(),
            ] {
                assert_eq!(response.status(), StatusCode::OK);
                let text = response.text().await.unwrap();
                assert!(text.starts_with("PUT /end\n"), "{text}");
                assert!(text.ends_with("\n\ncontent"), "{text}");
            }
        });
    }
}

#[test]
fn a_response_outlives_the_client_of_one_request() {
    for speaks in EVERY_WAY {
        run(async {
            let origin = Origin::start(speaks, 100, |_| async {
                Response::new(Body::full(vec![b'x'; 1_000_000]))
            });
            let client = origin.client().build().unwrap();
            let response = client.get(origin.url("/")).send().await.unwrap();
            drop(client);
            assert_eq!(response.bytes().await.unwrap().len(), 1_000_000);
        });
    }
}
