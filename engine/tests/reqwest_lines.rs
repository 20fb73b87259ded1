//! Lines of programs over reqwest that stand here as they are.
#![allow(clippy::unwrap_used, reason = "what fails here fails its test")]

use crate::support::peer::service_fn;
use bytes::Bytes;
use futures_util::{FutureExt as _, StreamExt as _};
use http::{HeaderName, HeaderValue};
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use trunkline::client::{ClientTls, Protocols, RedirectPolicy, RequestBuilder};
use trunkline::header::{ACCEPT, AUTHORIZATION, CONTENT_LENGTH};
use trunkline::{
    Body, Client, Congestion, ErrorKind, Method, ResponseExt, Running, Server, StatusCode,
    blocking, serve,
};

/// Answers with the request's method and body; 404 at `/none`.
fn echo() -> Running {
    let answer = service_fn(async |request: http::Request<Body>| {
        let (parts, body) = request.into_parts();
        let body = body.text().await.unwrap();
        let mut response = http::Response::new(Body::from(format!("{} {body}", parts.method)));
        if parts.uri.path() == "/none" {
            *response.status_mut() = StatusCode::NOT_FOUND;
        }
        Ok::<_, Infallible>(response)
    });
    Server::bind("127.0.0.1:0")
        .workers(1)
        .serve(answer)
        .unwrap()
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
}

#[test]
fn a_field_takes_text_bytes_numbers_and_values_which_stay_sensitive() {
    let mut secret = HeaderValue::from_static("secret");
    secret.set_sensitive(true);
    let text = String::from("text");
    let request = Client::new()
        .request(Method::GET, "http://localhost/")
        .header(ACCEPT, "a/b")
        .header(CONTENT_LENGTH, 5_u64)
        .header("x-number", 7)
        .header("x-text", &text)
        .header("x-owned", text.clone())
        .header(HeaderName::from_static("x-bytes"), b"bytes")
        .header(AUTHORIZATION, &secret)
        .header("x-secret", secret.clone())
        .header("x-umlaut", "ä")
        .build()
        .unwrap();
    for (name, value) in [
        ("accept", "a/b"),
        ("content-length", "5"),
        ("x-number", "7"),
        ("x-text", "text"),
        ("x-owned", "text"),
        ("x-bytes", "bytes"),
        ("authorization", "secret"),
        ("x-secret", "secret"),
        ("x-umlaut", "ä"),
    ] {
        let found = &request.headers()[name];
        assert_eq!(found.as_bytes(), value.as_bytes(), "{name}");
        assert_eq!(found.is_sensitive(), value == "secret", "{name}");
    }
    let wrong = Client::new().get("http://localhost/").header("a", "b\nc");
    let error = wrong.build().unwrap_err();
    assert!(error.to_string().contains("the value of the field \"a\""));
}

#[test]
fn a_name_resolves_to_one_address_or_to_several() {
    let server = echo();
    let address = server.local_addr();
    let url = format!("http://api.test:{}/", address.port());
    let one = Client::builder().resolve("api.test", address);
    let several = Client::builder().resolve("api.test", [address, address]);
    let slice: &[SocketAddr] = &[address];
    let sliced = Client::builder().resolve("api.test", slice);
    let listed = Client::builder().resolve("api.test", vec![address]);
    runtime().block_on(async {
        for builder in [one, several, sliced, listed] {
            let client = builder.build().unwrap();
            assert_eq!(client.get(&url).send().await.unwrap().status(), 200);
        }
    });
}

#[test]
fn a_status_is_an_error_by_reference_and_the_body_is_read_all_the_same() {
    let server = echo();
    runtime().block_on(async {
        let url = format!("http://{}/none", server.local_addr());
        let response = Client::new().get(url).send().await.unwrap();
        let error = response.error_for_status_ref().unwrap_err();
        assert_eq!(error.status(), Some(StatusCode::NOT_FOUND));
        assert_eq!(response.text().await.unwrap(), "GET ");
    });
}

#[test]
fn a_blocking_client_has_a_builder_and_copies_a_body_to_a_writer() {
    let server = echo();
    let url = format!("http://{}/", server.local_addr());
    let client = blocking::Client::builder()
        .user_agent("a/1")
        .build()
        .unwrap();
    let mut response = client.post(&url).body("text").send().unwrap();
    response.error_for_status_ref().unwrap();
    assert_eq!(response.content_length(), Some(9));
    let mut first = [0; 3];
    io::Read::read_exact(&mut response, &mut first).unwrap();
    assert_eq!(response.content_length(), Some(6));
    let mut copied = Vec::new();
    assert_eq!(response.copy_to(&mut copied).unwrap(), 6);
    assert_eq!((&first[..], &copied[..]), (&b"POS"[..], &b"T text"[..]));
    let error = blocking::Client::builder().sockets(0).build().unwrap_err();
    assert!(error.to_string().contains("sockets is 0"), "{error}");

    let own = std::env::current_exe().unwrap();
    let size = std::fs::metadata(&own).unwrap().len();
    let file = std::fs::File::open(own).unwrap();
    let mut taken = io::Read::take(file, 0);
    assert_eq!(io::copy(&mut taken, &mut io::sink()).unwrap(), 0);
    let counted = service_fn(async |request: http::Request<Body>| {
        let size = request.into_body().bytes().await.unwrap().len();
        Ok::<_, Infallible>(http::Response::new(Body::from(size.to_string())))
    });
    let server = Server::bind("127.0.0.1:0")
        .workers(1)
        .serve(counted)
        .unwrap();
    let url = format!("http://{}/", server.local_addr());
    let response = client.post(url).body(taken.into_inner()).send().unwrap();
    assert_eq!(response.text().unwrap(), size.to_string());
}

#[test]
fn a_function_that_gives_an_io_result_takes_our_errors() {
    async fn serves(listener: TcpListener) -> io::Result<()> {
        let service = service_fn(async |_: http::Request<Body>| {
            Ok::<_, Infallible>(http::Response::new(Body::empty()))
        });
        let server = serve(listener, service).with_graceful_shutdown(async {});
        server.await?;
        Ok(())
    }
    async fn asks(url: &str) -> io::Result<String> {
        Ok(Client::new().get(url).send().await?.text().await?)
    }
    runtime().block_on(async {
        serves(TcpListener::bind("127.0.0.1:0").await.unwrap())
            .await
            .unwrap();
        let error = asks("no URL").await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
        assert!(error.get_ref().unwrap().is::<trunkline::Error>());
    });
}

/// A server of one connection that answers with `bytes` and closes it, or rests.
async fn raw(bytes: &'static [u8], rests: bool) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let mut request = [0; 4096];
        let _ = socket.read(&mut request).await;
        socket.write_all(bytes).await.unwrap();
        if rests {
            std::future::pending::<()>().await;
        }
    });
    address
}

#[test]
fn a_body_that_is_cut_or_late_is_an_error_of_the_body_and_not_of_the_request() {
    runtime().block_on(async {
        let part = b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\npart";
        let client = Client::builder()
            .read_timeout(Duration::from_millis(50))
            .build()
            .unwrap();
        for rests in [false, true] {
            let url = format!("http://{}/", raw(part, rests).await);
            let response = client.get(&url).send().await.unwrap();
            let error = response.text().await.unwrap_err();
            assert!(error.is_body() && !error.is_request(), "{error:?}");
            assert!(!error.is_connect() && !error.is_decode(), "{error:?}");
            assert_eq!(error.is_timeout(), rests, "{error:?}");
        }
    });
}

#[test]
fn a_connection_that_is_not_had_in_time_is_a_timeout_and_an_error_of_the_connection() {
    runtime().block_on(async {
        let url = format!("https://{}/", raw(b"", true).await);
        let client = Client::builder()
            .connect_timeout(Duration::from_millis(50))
            .build()
            .unwrap();
        let error = client.get(&url).send().await.unwrap_err();
        assert!(error.is_timeout() && error.is_connect() && error.is_request());
        assert_eq!(io::Error::from(error).kind(), io::ErrorKind::TimedOut);
    });
}

#[test]
fn text_is_read_in_the_charset_of_its_content_type_and_without_a_byte_order_mark() {
    runtime().block_on(async {
        for (answer, text) in [
            (
                &b"HTTP/1.1 200 OK\r\ncontent-type: text/plain; charset=iso-8859-1\r\ncontent-length: 2\r\n\r\na\xe4"[..],
                "a\u{e4}",
            ),
            (
                b"HTTP/1.1 200 OK\r\ncontent-type: text/plain; charset=Shift_JIS\r\ncontent-length: 2\r\n\r\n\x83\x65",
                "\u{30c6}",
            ),
            (
                b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 4\r\n\r\n\xef\xbb\xbfb",
                "b",
            ),
            (
                b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n\xc3\xa4",
                "\u{e4}",
            ),
        ] {
            let url = format!("http://{}/", raw(answer, true).await);
            let response = Client::new().get(&url).send().await.unwrap();
            assert_eq!(response.text().await.unwrap(), text);
        }
    });
}

/// "hello" in gzip.
const ZIPPED: [u8; 25] = [
    0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xcb, 0x48, 0xcd, 0xc9, 0xc9, 0x07,
    0x00, 0x86, 0xa6, 0x10, 0x36, 0x05, 0x00, 0x00, 0x00,
];

/// Answers with it over TLS, on every version.
fn zipped() -> Running {
    let answer = service_fn(async |_: http::Request<Body>| {
        let body = Body::from(ZIPPED.to_vec());
        let response = http::Response::builder().header("content-encoding", "gzip");
        Ok::<_, Infallible>(response.body(body).unwrap())
    });
    let tls = trunkline::Tls::self_signed(["localhost"]).unwrap();
    let server = Server::bind("127.0.0.1:0").workers(1).tls(tls).http3(true);
    server.serve(answer).unwrap()
}

#[test]
fn a_response_is_decompressed_by_itself_and_read_as_a_stream() {
    let server = zipped();
    let url = format!("https://{}/", server.local_addr());
    let tls = ClientTls::new().insecure();
    let client = Client::builder().tls(tls).decompression(false);
    let client = client.build().unwrap();
    runtime().block_on(async {
        let raw = client.get(&url).send().await.unwrap();
        assert_eq!(raw.headers()["content-encoding"], "gzip");
        assert_eq!(raw.bytes().await.unwrap(), ZIPPED[..]);
        let response = client.get(&url).send().await.unwrap().decompressed();
        assert!(!response.headers().contains_key("content-encoding"));
        let mut pieces = response.bytes_stream();
        let mut read = Vec::new();
        while let Some(piece) = pieces.next().await {
            read.extend_from_slice(&piece.unwrap());
        }
        assert_eq!(read, b"hello");
    });
}

#[test]
fn http_3_is_answered_with_either_way_of_pacing() {
    let server = zipped();
    let url = format!("https://{}/", server.local_addr());
    for congestion in [Congestion::Cubic, Congestion::Bbr] {
        let client = Client::builder()
            .tls(ClientTls::new().insecure())
            .protocols(Protocols::H3Only)
            .quic_congestion(congestion)
            .build()
            .unwrap();
        let text = runtime().block_on(async {
            let response = client.get(&url).send().await.unwrap();
            assert_eq!(response.version(), http::Version::HTTP_3);
            response.text().await.unwrap()
        });
        assert_eq!(text, "hello", "{congestion:?}");
    }
}

#[test]
fn a_request_that_says_close_ends_its_connection_and_goes_over_http_2_without_it() {
    let fields = service_fn(async |request: http::Request<Body>| {
        let close = request.headers().get("connection").cloned();
        let close = close.unwrap_or(HeaderValue::from_static("none"));
        Ok::<_, Infallible>(http::Response::new(Body::from(close.as_bytes().to_vec())))
    });
    let server = Server::bind("127.0.0.1:0").workers(1).serve(fields);
    let server = server.unwrap();
    let url = format!("http://{}/", server.local_addr());
    runtime().block_on(async {
        for (protocols, received, opened) in [
            (Protocols::H1Only, "close", 3),
            (Protocols::H2Only, "none", 1),
        ] {
            let client = Client::builder().protocols(protocols).build().unwrap();
            for _ in 0..3 {
                let request = client.get(&url).header("connection", "close");
                let text = request.send().await.unwrap().text().await.unwrap();
                assert_eq!(text, received);
            }
            assert_eq!(client.totals().connections, opened, "{protocols:?}");
        }
    });
}

#[test]
fn a_response_and_its_errors_have_the_url_that_they_came_from() {
    let cut = b"HTTP/1.1 404 Not Found\r\ncontent-length: 9\r\n\r\npart";
    let no_json = b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\npart";
    let no_gzip = b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 4\r\n\r\npart";
    runtime().block_on(async {
        let client = Client::new();
        let url = format!("http://{}/a?b=c", raw(cut, false).await);
        let response = client.get(&url).send().await.unwrap();
        let of_response = response.url().unwrap().to_string();
        let of_status = response.error_for_status_ref().unwrap_err();
        let of_body = response.bytes().await.unwrap_err();
        let found = [Some(of_response), url_of(&of_status), url_of(&of_body)];
        assert_eq!(found, [(); 3].map(|()| Some(url.clone())));
        for answer in [&no_json[..], no_gzip] {
            let url = format!("http://{}/a?b=c", raw(answer, false).await);
            let response = client.get(&url).send().await.unwrap();
            let error = response.json::<Vec<u8>>().await.unwrap_err();
            assert!(error.is_decode(), "{error:?}");
            assert_eq!(url_of(&error), Some(url));
        }
    });
}

#[test]
fn a_url_that_no_request_goes_to_is_an_error_of_build_and_names_it() {
    let client = Client::new();
    for url in ["ftp://127.0.0.1/x", "gopher://127.0.0.1:70/"] {
        let of_build = client.get(url).build().unwrap_err();
        let of_send = runtime().block_on(client.get(url).send()).unwrap_err();
        for error in [of_build, of_send] {
            assert!(error.is_config() && !error.is_request(), "{error:?}");
            assert_eq!(url_of(&error).as_deref(), Some(url));
        }
    }
    for url in ["/path", "name", "http://"] {
        let error = client.get(url).build().unwrap_err();
        assert!(error.is_config(), "{error:?}");
    }
    let https = Client::builder().https_only(true).build().unwrap();
    let url = "http://127.0.0.1/x";
    let error = runtime().block_on(https.get(url).send()).unwrap_err();
    assert_eq!(url_of(&error).as_deref(), Some(url));
}

fn url_of(error: &trunkline::Error) -> Option<String> {
    error.url().map(ToString::to_string)
}

#[test]
fn a_response_of_http_1_0_says_so() {
    let old = b"HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nok";
    let new = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
    runtime().block_on(async {
        for (answer, version) in [
            (&old[..], http::Version::HTTP_10),
            (new, http::Version::HTTP_11),
        ] {
            let url = format!("http://{}/", raw(answer, false).await);
            let response = Client::new().get(&url).send().await.unwrap();
            assert_eq!(response.version(), version);
        }
    });
}

#[test]
fn a_response_to_head_has_no_bytes_left_whatever_its_length_says() {
    let head = b"HTTP/1.1 200 OK\r\ncontent-length: 38\r\n\r\n";
    runtime().block_on(async {
        let url = format!("http://{}/", raw(head, true).await);
        let response = Client::new().head(&url).send().await.unwrap();
        assert_eq!(response.headers()["content-length"], "38");
        assert_eq!(response.content_length(), Some(0));
    });
}

#[test]
fn the_length_of_a_chunked_response_is_unknown_also_where_all_of_it_is_there() {
    let chunked = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
    let counted = b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nabc";
    runtime().block_on(async {
        for (answer, length) in [(&chunked[..], None), (counted, Some(3))] {
            let url = format!("http://{}/", raw(answer, true).await);
            let response = Client::new().get(&url).send().await.unwrap();
            assert_eq!(response.content_length(), length);
            assert_eq!(response.text().await.unwrap(), "abc");
        }
    });
}

#[test]
fn a_head_of_four_hundred_thousand_bytes_is_read_and_a_longer_one_is_an_error() {
    let cookie = |bytes: usize| {
        let value = "x".repeat(bytes);
        let text = format!("HTTP/1.1 200 OK\r\nset-cookie: {value}\r\ncontent-length: 0\r\n\r\n");
        &*Box::leak(text.into_boxed_str().into_boxed_bytes())
    };
    runtime().block_on(async {
        for (bytes, fits) in [(400_000, true), (420_000, false)] {
            let url = format!("http://{}/", raw(cookie(bytes), true).await);
            let sent = Client::new().get(&url).send().await;
            let length = sent
                .ok()
                .map(|response| response.headers()["set-cookie"].len());
            assert_eq!(length, fits.then_some(bytes));
        }
    });
}

#[test]
fn a_given_body_that_fails_is_an_error_of_the_request() {
    let server = echo();
    runtime().block_on(async {
        let pieces = [Ok("abc"), Err(io::Error::other("x"))];
        let body = Body::from_stream(futures_util::stream::iter(pieces));
        let sent = Client::new().post(format!("http://{}/", server.local_addr()));
        let error = sent.body(body).send().await.unwrap_err();
        assert!(error.is_request() && error.is_body(), "{error:?}");
        assert!(!error.is_decode() && !error.is_connect(), "{error:?}");
    });
}

#[test]
fn blanks_behind_the_size_of_a_chunk_are_passed_over_unless_they_are_to_be_an_error() {
    let padded = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3  \r\nabc\r\n2 ; a = b\r\nde\r\n0 \r\n\r\n";
    runtime().block_on(async {
        for (passed_over, text) in [(true, Some("abcde")), (false, None)] {
            let client = Client::builder().chunk_blanks(passed_over).build().unwrap();
            let url = format!("http://{}/", raw(padded, true).await);
            let read = match client.get(&url).send().await {
                Ok(response) => response.text().await.ok(),
                Err(_) => None,
            };
            assert_eq!(read.as_deref(), text);
        }
    });
}

#[test]
fn a_request_that_is_made_outside_of_a_runtime_is_sent_where_it_is_awaited() {
    fn portable<F: Future + Send + Sync + Unpin + 'static>(future: F) -> F {
        future
    }
    let server = echo();
    let url = format!("http://{}/", server.local_addr());
    let follows_nothing = Client::builder().redirect(RedirectPolicy::none());
    let bare = follows_nothing.decompression(false).build().unwrap();
    for client in [Client::new(), bare] {
        // The second one comes when the runtime of the first has ended.
        for _ in 0..2 {
            let runtime = runtime();
            let response = runtime.block_on(portable(client.post(&url).body("abc").send()));
            let text = runtime.block_on(response.unwrap().text());
            assert_eq!(text.unwrap(), "POST abc");
        }
        let request = http::Request::get(&url).body(Body::empty()).unwrap();
        let executed = runtime().block_on(client.execute(request));
        assert_eq!(executed.unwrap().status(), 200);
    }
    // Polled there it is an error, and no panic.
    let error = Client::new().get(&url).send().now_or_never();
    let error = error.unwrap().unwrap_err().to_string();
    assert!(error.contains("within a tokio runtime"), "{error}");
}

#[test]
fn a_request_that_nothing_awaits_is_not_sent() {
    let server = echo();
    runtime().block_on(async {
        let client = Client::new();
        let url = format!("http://{}/", server.local_addr());
        drop(client.post(&url).body("never").send());
        // The expression of a branch is evaluated also where its condition is false.
        let enabled = std::hint::black_box(false);
        tokio::select! {
            _ = client.post(&url).body("never").send(), if enabled => {}
            response = client.get(&url).send() => assert_eq!(response.unwrap().status(), 200),
        }
        assert_eq!(client.totals().submitted, 1);
    });
}

#[test]
fn a_request_of_http_is_sent_with_a_body_of_bytes_or_text() {
    async fn sends(client: &Client, request: http::Request<impl Into<Body>>) {
        let request = RequestBuilder::from_parts(client, request);
        let response = request.timeout(Duration::from_secs(60)).send().await;
        assert_eq!(response.unwrap().text().await.unwrap(), "POST abc");
    }
    let server = echo();
    let client = Client::new();
    runtime().block_on(async {
        let request = || http::Request::post(format!("http://{}/", server.local_addr()));
        sends(&client, request().body("abc").unwrap()).await;
        sends(&client, request().body(String::from("abc")).unwrap()).await;
        sends(&client, request().body(b"abc".to_vec()).unwrap()).await;
        sends(&client, request().body(Bytes::from("abc")).unwrap()).await;
        sends(&client, request().body(Body::from("abc")).unwrap()).await;
        let text = request().body("abc").unwrap().map(Body::from);
        let response = client.execute(text).await.unwrap();
        // A response is a body, with what is left of it.
        let passed = client.post(request().body(()).unwrap().uri().to_string());
        let passed = passed.body(response).send().await.unwrap();
        assert_eq!(passed.text().await.unwrap(), "POST POST abc");
    });
}

#[test]
fn an_error_is_found_by_its_type_among_the_causes_of_what_holds_it() {
    #[derive(Debug, PartialEq)]
    struct Torn(u32);
    impl std::fmt::Display for Torn {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            write!(f, "torn at {}", self.0)
        }
    }
    impl std::error::Error for Torn {}

    let server = echo();
    let sent: Result<(), Box<dyn std::error::Error + Send + Sync>> = runtime().block_on(async {
        let body = Body::from_stream(futures_util::stream::iter([Ok("abc"), Err(Torn(3))]));
        let sent = Client::new().post(format!("http://{}/", server.local_addr()));
        sent.body(body).send().await?;
        Ok(())
    });
    let boxed = sent.unwrap_err();
    let ours = boxed.downcast_ref::<trunkline::Error>().unwrap();
    assert_eq!(ours.kind(), ErrorKind::Body);
    let mut causes = std::iter::successors(Some(&*boxed as &dyn std::error::Error), |e| e.source());
    assert!(
        causes.any(|cause| cause.downcast_ref() == Some(&Torn(3))),
        "{boxed:?}"
    );
}
