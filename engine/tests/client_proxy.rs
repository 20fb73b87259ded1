//! Proxies: real ones for the ways that must work, scripted ones for what they may do wrong.
#![allow(clippy::unwrap_used, reason = "what fails here fails its test")]

use crate::support::origin::{Origin, Speaks, run};
use crate::support::proxies::{Proxy, Scripted, Then};
use http::{HeaderValue, Response};
use http_body_util::BodyExt;
use std::time::Duration;
use trunkline::client::{Client, ClientBuilder, ClientTimeouts, Protocols, Scheme};
use trunkline::{Body, Error, ErrorKind, Fault, Retry};

const EVERY_WAY: [Speaks; 3] = [Speaks::Plain, Speaks::Tls, Speaks::TlsH1];

/// Answers with the request's target and what a proxy leaves in its head.
fn origin(speaks: Speaks) -> Origin {
    Origin::start(speaks, 100, |request| async move {
        let mut response = Response::new(Body::from(request.uri().path().to_owned()));
        let asked = |name: &str| request.headers().get(name).cloned();
        let none = HeaderValue::from_static("none");
        let headers = response.headers_mut();
        headers.insert("x-via", asked("via").unwrap_or_else(|| none.clone()));
        headers.insert(
            "x-credentials",
            asked("proxy-authorization").unwrap_or(none),
        );
        response
    })
}

/// A client of `origin` that leaves names to the proxy.
fn through(origin: &Origin, proxy: &str) -> ClientBuilder {
    origin.client().proxy(proxy)
}

async fn fetch(client: &Client, origin: &Origin) -> Response<Body> {
    let response = client.get(origin.url("/path?query")).send().await.unwrap();
    assert_eq!(response.status(), 200);
    response
}

async fn text(response: Response<Body>) -> String {
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn https_goes_through_a_tunnel_and_http_in_absolute_form() {
    for speaks in EVERY_WAY {
        let Some(proxy) = Proxy::tinyproxy("") else {
            return;
        };
        let origin = origin(speaks);
        run(async {
            let url = format!("http://{}", proxy.address);
            let mut client = through(&origin, &url).build().unwrap();
            for _ in 0..3 {
                if speaks == Speaks::Plain {
                    // This proxy closes behind an answer without having said so: a request on
                    // the same connection may be lost.
                    client = through(&origin, &url).build().unwrap();
                }
                let response = fetch(&client, &origin).await;
                let is_h2 = response.version() == http::Version::HTTP_2;
                assert_eq!(is_h2, speaks == Speaks::Tls, "ALPN goes through the tunnel");
                let via = response.headers()["x-via"].to_str().unwrap();
                assert_eq!(via.contains("tinyproxy"), speaks == Speaks::Plain, "{via}");
                assert_eq!(response.headers()["x-credentials"], "none");
                assert_eq!(text(response).await, "/path");
            }
        });
        assert_eq!(origin.seen.requests(), 3);
        let port = origin.running.local_addr().port();
        match speaks {
            Speaks::Plain => {
                proxy.sends(&format!("GET http://localhost:{port}/path?query"), 3);
                proxy.sends("CONNECT localhost", 0);
            }
            _ => proxy.sends(&format!("CONNECT localhost:{port}"), 1),
        }
    }
}

#[test]
fn concurrent_h2_requests_share_one_tunnel() {
    let Some(proxy) = Proxy::tinyproxy("") else {
        return;
    };
    let origin = origin(Speaks::Tls);
    run(async {
        let url = format!("http://{}", proxy.address);
        let client = through(&origin, &url).build().unwrap();
        let requests: Vec<_> = (0..100)
            .map(|_| tokio::spawn(client.get(origin.url("/many")).send()))
            .collect();
        for request in requests {
            assert_eq!(text(request.await.unwrap().unwrap()).await, "/many");
        }
    });
    assert_eq!(origin.seen.requests(), 100);
    assert_eq!(origin.sockets(), 1);
    proxy.sends("CONNECT localhost", 1);
}

#[test]
fn h2_with_prior_knowledge_goes_through_a_tunnel() {
    let Some(proxy) = Proxy::tinyproxy("") else {
        return;
    };
    let origin = origin(Speaks::Plain);
    run(async {
        let url = format!("http://{}", proxy.address);
        let client = through(&origin, &url).protocols(Protocols::H2Only);
        let response = fetch(&client.build().unwrap(), &origin).await;
        assert_eq!(response.version(), http::Version::HTTP_2);
        assert_eq!(response.headers()["x-via"], "none");
    });
    proxy.sends("CONNECT localhost", 1);
}

#[test]
fn http_is_tunnelled_too_on_request() {
    let Some(proxy) = Proxy::tinyproxy("") else {
        return;
    };
    let origin = origin(Speaks::Plain);
    run(async {
        let url = format!("http://{}", proxy.address);
        let client = through(&origin, &url).proxy_always_tunnels(true);
        let response = fetch(&client.build().unwrap(), &origin).await;
        assert_eq!(response.headers()["x-via"], "none");
    });
    proxy.sends("CONNECT localhost", 1);
}

#[test]
fn an_http_proxy_gets_its_credentials_and_the_origin_does_not() {
    for speaks in [Speaks::Plain, Speaks::Tls] {
        let Some(proxy) = Proxy::tinyproxy("BasicAuth me secret") else {
            return;
        };
        let origin = origin(speaks);
        run(async {
            let url = format!("http://me:secret@{}", proxy.address);
            let response = fetch(&through(&origin, &url).build().unwrap(), &origin).await;
            assert_eq!(response.headers()["x-credentials"], "none");
            // As an explicit field: base64 of me:secret.
            let client = through(&origin, &format!("http://{}", proxy.address));
            let client = client.proxy_authorization("Basic bWU6c2VjcmV0");
            fetch(&client.build().unwrap(), &origin).await;
        });
        assert_eq!(origin.seen.requests(), 2);
    }
}

#[test]
fn a_real_407_says_what_is_missing() {
    let Some(proxy) = Proxy::tinyproxy("BasicAuth me secret") else {
        return;
    };
    let origin = origin(Speaks::Tls);
    run(async {
        let client = through(&origin, &format!("http://{}", proxy.address))
            .build()
            .unwrap();
        let error = client.get(origin.url("/")).send().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Proxy);
        assert_eq!(error.fault(), Fault::Config);
        assert!(
            error.to_string().contains("407: it wants credentials"),
            "{error}"
        );
        let client = through(&origin, &format!("http://me:wrong@{}", proxy.address))
            .build()
            .unwrap();
        let error = client.get(origin.url("/")).send().await.unwrap_err();
        assert!(
            error
                .to_string()
                .contains("does not accept the credentials"),
            "{error}"
        );
        assert!(!format!("{error:?}").contains("wrong"), "{error:?}");
    });
    assert_eq!(origin.seen.requests(), 0);
}

#[test]
fn socks5_carries_every_version_with_names_resolved_on_either_side() {
    for speaks in EVERY_WAY {
        for scheme in ["socks5", "socks5h"] {
            let Some(proxy) = Proxy::microsocks(&[]) else {
                return;
            };
            let origin = origin(speaks);
            run(async {
                let url = format!("{scheme}://{}", proxy.address);
                let client = through(&origin, &url).build().unwrap();
                for _ in 0..3 {
                    let response = fetch(&client, &origin).await;
                    let is_h2 = response.version() == http::Version::HTTP_2;
                    assert_eq!(is_h2, speaks == Speaks::Tls);
                    assert_eq!(text(response).await, "/path");
                }
            });
            assert_eq!(origin.sockets(), 1, "one connection for all");
            let port = origin.running.local_addr().port();
            let host = if scheme == "socks5" {
                "127.0.0.1"
            } else {
                "localhost"
            };
            proxy.sends(&format!("connected to {host}:{port}"), 1);
        }
    }
}

#[test]
fn another_socks5_proxy_understands_the_same() {
    let Some(proxy) = Proxy::dante() else { return };
    let origin = origin(Speaks::Tls);
    run(async {
        let url = format!("socks5h://{}", proxy.address);
        let response = fetch(&through(&origin, &url).build().unwrap(), &origin).await;
        assert_eq!(text(response).await, "/path");
    });
}

#[test]
fn a_socks5_proxy_gets_user_and_password() {
    let Some(proxy) = Proxy::microsocks(&["-u", "me", "-P", "p:w"]) else {
        return;
    };
    let origin = origin(Speaks::Tls);
    run(async {
        let send = async |userinfo: &str| {
            let url = format!("socks5h://{userinfo}{}", proxy.address);
            let client = through(&origin, &url).build().unwrap();
            client.get(origin.url("/path")).send().await
        };
        assert_eq!(send("me:p%3Aw@").await.unwrap().status(), 200);
        let error = send("me:wrong@").await.unwrap_err();
        assert!(
            error.to_string().contains("does not accept the user"),
            "{error}"
        );
        assert_eq!(error.fault(), Fault::Config);
        let error = send("").await.unwrap_err();
        assert!(error.to_string().contains("wants credentials"), "{error}");
    });
    assert_eq!(origin.seen.requests(), 1);
}

#[test]
fn a_real_refusal_of_socks5_is_reported() {
    let Some(proxy) = Proxy::microsocks(&[]) else {
        return;
    };
    run(async {
        let client = Client::builder().proxy(&format!("socks5h://{}", proxy.address));
        // Nothing listens on port 1.
        let error = client
            .build()
            .unwrap()
            .get("http://127.0.0.1:1/")
            .send()
            .await;
        let error = error.unwrap_err();
        assert_eq!(
            (error.kind(), error.fault()),
            (ErrorKind::Proxy, Fault::Network)
        );
        assert!(error.to_string().contains("connection refused"), "{error}");
    });
}

#[test]
fn each_scheme_may_have_its_own_proxy_and_proxies_get_their_own_fields() {
    let (plain, secure) = (origin(Speaks::Plain), origin(Speaks::Tls));
    let sends = || Scripted::http(Then::SendsAndCloses(b"HTTP/1.1 403 no\r\n\r\n".to_vec()));
    let (for_http, for_https) = (sends(), sends());
    run(async {
        let client = |origin: &Origin| {
            let url = |proxy: &Scripted| format!("http://{}", proxy.address);
            let client = origin.client().proxy_header("x-for", "the proxy");
            let client = client.proxy_for(Scheme::Http, &url(&for_http));
            client.proxy_for(Scheme::Https, &url(&for_https)).build()
        };
        let answer = client(&plain).unwrap().get(plain.url("/a")).send().await;
        assert_eq!(answer.unwrap().status(), 403);
        let refused = client(&secure).unwrap().get(secure.url("/b")).send().await;
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::Proxy);
    });
    for (proxy, method) in [(for_http, "GET http://"), (for_https, "CONNECT ")] {
        let received = proxy.received().concat();
        assert!(received.starts_with(method), "{received}");
        assert!(received.contains("\r\nx-for: the proxy\r\n"), "{received}");
    }
}

#[test]
fn a_host_field_leads_no_forwarded_request_elsewhere() {
    let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n".to_vec();
    let proxy = Scripted::http(Then::SendsAndCloses(answer));
    run(async {
        let client = Client::builder().proxy(&format!("http://{}", proxy.address));
        let asked = client.build().unwrap().get("http://a.test/path");
        asked.header("host", "b.test").send().await.unwrap();
    });
    let received = proxy.received().concat();
    let first = "GET http://a.test/path HTTP/1.1\r\nhost: a.test\r\n";
    assert!(received.starts_with(first), "{received}");
}

#[test]
fn a_tunnel_is_asked_for_in_the_name_of_the_clients_agent() {
    for (own, sent) in [(None, "ours/1"), (Some("the proxy's"), "the proxy's")] {
        let proxy = Scripted::http(Then::SendsAndCloses(b"HTTP/1.1 403 no\r\n\r\n".to_vec()));
        run(async {
            let client = Client::builder().proxy(&format!("http://{}", proxy.address));
            let client = client.user_agent("ours/1");
            let client = match own {
                Some(agent) => client.proxy_header("User-Agent", agent),
                None => client,
            };
            let client = client.build().unwrap();
            client.get("https://a.test/").send().await.unwrap_err();
        });
        let received = proxy.received().concat().to_ascii_lowercase();
        assert!(received.starts_with("connect "), "{received}");
        let line = format!("\r\nuser-agent: {sent}\r\n");
        assert!(received.contains(&line), "{received}");
        assert_eq!(received.matches("user-agent").count(), 1, "{received}");
    }
}

#[test]
fn a_host_that_is_listed_is_reached_directly() {
    let origin = origin(Speaks::Tls);
    let proxy = Scripted::http(Then::SendsAndCloses(Vec::new()));
    run(async {
        let client = through(&origin, &format!("http://{}", proxy.address));
        let client = client.no_proxy("other.test,localhost").build().unwrap();
        assert_eq!(text(fetch(&client, &origin).await).await, "/path");
    });
    assert!(proxy.received().is_empty());
}

/// The error of a request for `https://a.test/` through a proxy that answers so.
fn refused(then: Then) -> (Error, Scripted) {
    let proxy = Scripted::http(then);
    let error = run(async {
        let client = Client::builder().proxy(&format!("http://{}", proxy.address));
        let client = client.build().unwrap();
        client.get("https://a.test/").send().await.unwrap_err()
    });
    (error, proxy)
}

#[test]
fn every_way_to_refuse_a_tunnel_is_distinguished() {
    let sends = |text: &str| Then::Sends(text.as_bytes().to_vec());
    let closes = |text: &str| Then::SendsAndCloses(text.as_bytes().to_vec());
    let oversized = format!("HTTP/1.1 200 OK\r\nx: {}", "y".repeat(100_000));
    let table = [
        (
            sends("HTTP/1.1 407 x\r\nproxy-authenticate: Negotiate\r\ncontent-length: 0\r\n\r\n"),
            Fault::Config,
            Retry::Never,
            "wants credentials (Negotiate)",
        ),
        (
            sends("HTTP/1.1 502 Bad Gateway\r\ncontent-length: 100000\r\n\r\n<html>"),
            Fault::Network,
            Retry::Safe,
            "with status 502",
        ),
        (
            closes("HTTP/1.0 403 Forbidden\r\n\r\nno"),
            Fault::Network,
            Retry::Never,
            "with status 403",
        ),
        (
            sends("\x15\x03\x01 this is not HTTP \r\n\r\n"),
            Fault::Network,
            Retry::Never,
            "does not answer in HTTP/1.1",
        ),
        (
            closes("HTTP/1.1 200 OK\r\nserver:"),
            Fault::Network,
            Retry::Safe,
            "closed the connection",
        ),
        (
            closes(""),
            Fault::Network,
            Retry::Safe,
            "closed the connection",
        ),
        (
            sends(&oversized),
            Fault::Network,
            Retry::Never,
            "does not answer in HTTP/1.1",
        ),
        (
            sends("HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"),
            Fault::Network,
            Retry::Never,
            "before TLS began",
        ),
    ];
    for (then, origin, _retry, words) in table {
        let (error, proxy) = refused(then.clone());
        assert_eq!(error.kind(), ErrorKind::Proxy, "{words}: {error:?}");
        assert_eq!(error.fault(), origin, "{words}: {error:?}");
        let text = error.to_string();
        assert!(text.contains(words), "{words}: {text}");
        assert!(
            text.contains(&format!("http://{}", proxy.address)),
            "{text}"
        );
        let asked = "CONNECT a.test:443 HTTP/1.1\r\nhost: a.test:443\r\n\r\n";
        assert_eq!(proxy.received(), [asked], "{words}");
    }
}

#[test]
fn bytes_right_behind_the_answer_for_a_tunnel_of_cleartext_answer_its_first_request_and_open_no_other()
 {
    let answer =
        |text: &str| Then::SendsAndCloses(format!("HTTP/1.1 200 OK\r\n\r\n{text}").into_bytes());
    for (then, expected) in [
        (
            answer("HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\na"),
            Ok("a"),
        ),
        (answer("<html>a page</html>"), Err("cannot be parsed")),
    ] {
        let proxy = Scripted::http(then);
        run(async {
            let url = format!("http://{}", proxy.address);
            let client = Client::builder().proxy(&url).proxy_always_tunnels(true);
            let client = client.build().unwrap();
            let outcome = client.get("http://a.test/").send().await;
            match expected {
                Ok(body) => assert_eq!(text(outcome.unwrap()).await, body),
                Err(words) => {
                    let message = outcome.unwrap_err().to_string();
                    assert!(message.contains(words), "{message}");
                }
            }
        });
        let asked = "CONNECT a.test:80 HTTP/1.1\r\nhost: a.test:80\r\n\r\n";
        assert_eq!(proxy.received(), [asked]);
    }
}

#[test]
fn a_tunnel_of_cleartext_that_ends_at_once_is_asked_for_once() {
    let proxy = Scripted::http(Then::SendsAndCloses(b"HTTP/1.1 200 OK\r\n\r\n".to_vec()));
    run(async {
        let url = format!("http://{}", proxy.address);
        let client = Client::builder().proxy(&url).proxy_always_tunnels(true);
        let client = client.build().unwrap();
        for send in [client.get("http://a.test/"), client.post("http://a.test/")] {
            let error = send.send().await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::TransportClosed, "{error:?}");
        }
    });
    let asked = "CONNECT a.test:80 HTTP/1.1\r\nhost: a.test:80\r\n\r\n";
    assert_eq!(proxy.received(), [asked, asked]);
}

#[test]
fn a_proxy_that_never_answers_costs_the_connect_timeout() {
    let proxy = Scripted::http(Then::Sends(b"HTTP/1.1 200 OK\r\n".to_vec()));
    run(async {
        let client = Client::builder()
            .proxy(&format!("http://{}", proxy.address))
            .timeouts(ClientTimeouts::default().with_connect(Some(Duration::from_millis(50))))
            .build()
            .unwrap();
        let error = client.get("https://a.test/").send().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Connect);
        assert!(error.to_string().contains("within 50ms"), "{error}");
    });
}

#[test]
fn a_proxy_that_is_not_there_is_named() {
    run(async {
        let client = Client::builder()
            .proxy("http://127.0.0.1:1")
            .build()
            .unwrap();
        let error = client.get("https://a.test/").send().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Connect);
        let text = error.to_string();
        assert!(
            text.contains("the proxy http://127.0.0.1:1: 127.0.0.1:1: "),
            "{text}"
        );
    });
}

#[test]
fn what_speaks_no_socks_is_reported() {
    for (answer, words) in [
        (
            &b"HTTP/1.1 400 Bad Request\r\n\r\n"[..],
            "does not speak SOCKS5",
        ),
        (b"\x05\x00\x05\x02", "not allowed by its rules"),
        (b"\x05", "was lost"),
        (b"", "was lost"),
    ] {
        // The greeting: version 5, one method, none.
        let proxy = Scripted::start(&[5, 1, 0], Then::SendsAndCloses(answer.to_vec()));
        run(async {
            let client = Client::builder().proxy(&format!("socks5h://{}", proxy.address));
            let error = client.build().unwrap().get("http://a.test/").send().await;
            let error = error.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Proxy, "{error:?}");
            assert!(error.to_string().contains(words), "{words}: {error}");
        });
    }
}

#[test]
fn an_answer_407_to_a_forwarded_request_is_an_answer() {
    let answer = b"HTTP/1.1 407 no\r\ncontent-length: 0\r\n\r\n";
    let proxy = Scripted::http(Then::Sends(answer.to_vec()));
    run(async {
        let client = Client::builder().proxy(&format!("http://u:p@{}", proxy.address));
        let client = client.decompression(false);
        let response = client.build().unwrap().get("http://a.test/x").send().await;
        assert_eq!(response.unwrap().status(), 407);
    });
    let asked =
        "GET http://a.test/x HTTP/1.1\r\nhost: a.test\r\nproxy-authorization: Basic dTpw\r\n\r\n";
    assert_eq!(proxy.received(), [asked]);
}

#[test]
fn a_requests_own_proxy_credentials_do_not_reach_the_origin() {
    for url in ["https://a.test/", "http://a.test/"] {
        run(async {
            let client = Client::builder()
                .proxy("http://127.0.0.1:1")
                .build()
                .unwrap();
            let request = client.get(url).header("proxy-authorization", "Basic eDp5");
            let error = request.send().await.unwrap_err();
            assert_eq!(error.fault(), Fault::Config, "{error:?}");
            assert!(error.to_string().contains("proxy_authorization"), "{error}");
        });
    }
}

#[test]
fn a_setting_that_cannot_be_used_is_refused_when_the_client_is_built() {
    let table: [(ClientBuilder, &str, &str); 8] = [
        (
            Client::builder().proxy("ftp://p"),
            "proxy: \"ftp://p\"",
            "http, https, socks5 or socks5h",
        ),
        (
            Client::builder().proxy("http://p:0"),
            "proxy: \"http://p:0\"",
            "1 to 65535",
        ),
        (
            Client::builder().proxy("http://u:%0a@p"),
            "proxy: \"http://***@p\"",
            "control character",
        ),
        (
            Client::builder().no_proxy("1.2.3.4/40"),
            "no_proxy: ",
            "\"1.2.3.4/40\"",
        ),
        (
            Client::builder().proxy_authorization("a\nb"),
            "proxy_authorization",
            "visible ASCII",
        ),
        (
            Client::builder().proxy_header("a b", "c"),
            "proxy_header: the field \"a b\"",
            "not allowed",
        ),
        (
            Client::builder().proxy_header("a", "b\r\nc"),
            "proxy_header: the field \"a\"",
            "visible ASCII",
        ),
        (
            Client::builder().proxy_header("Connection", "close"),
            "proxy_header: the field \"Connection\"",
            "the engine's own",
        ),
    ];
    for (builder, name, allowed) in table {
        let error = builder.build().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Config);
        let text = error.to_string();
        assert!(text.contains(name) && text.contains(allowed), "{text}");
    }
}
