//! A server's bounds over real sockets: connections, and the least rate of a request; and their
//! effect on handlers, log and metrics.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support::frame_client;
use crate::support::frame_client::{Frame, FramePeer, kind};
use crate::support::peer;
use crate::support::peer::service;
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response, Version};
use http_body_util::BodyExt;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use trunkline::client::{ClientTls, Protocols};
use trunkline::core::error::Violation;
use trunkline::core::limits::FIELD_COUNT_MAX;
use trunkline::{Body, Client, ErrorKind, Limits, Running, Server, ServerConfig, Tls};

const GET: &str = "GET / HTTP/1.1\r\nhost: a\r\n\r\n";

fn server(config: ServerConfig) -> Running {
    let answer = |_: Request<Body>| async { Response::new(Body::from("ok")) };
    Server::bind("127.0.0.1:0")
        .workers(1)
        .config(config)
        .serve(service(answer))
        .unwrap()
}

fn connect(address: SocketAddr) -> TcpStream {
    let socket = TcpStream::connect(address).unwrap();
    socket
        .set_read_timeout(Some(Duration::from_secs(60)))
        .unwrap();
    socket
}

/// Asks, and reads the answer.
fn ask(socket: &mut TcpStream) -> String {
    socket.write_all(GET.as_bytes()).unwrap();
    let mut answer = Vec::new();
    while !answer.ends_with(b"ok") {
        let mut byte = [0];
        assert_eq!(socket.read(&mut byte).unwrap(), 1, "{answer:?}");
        answer.push(byte[0]);
    }
    String::from_utf8(answer).unwrap()
}

/// The bytes until the end.
fn rest(socket: &mut TcpStream) -> String {
    let mut rest = Vec::new();
    // A reset is an end too.
    let _ = socket.read_to_end(&mut rest);
    String::from_utf8(rest).unwrap()
}

#[test]
fn of_idle_connections_the_one_that_idles_for_longest_gives_way_to_a_new_one() {
    let running = server(ServerConfig::default().with_connections_max(2));
    let mut first = connect(running.local_addr());
    ask(&mut first);
    let mut second = FramePeer::connect(running.local_addr());
    second.sends(&Frame::new(kind::HEADERS, 5, 1, frame_client::GET));
    second.receives(kind::DATA);
    let mut third = connect(running.local_addr());
    ask(&mut third);
    assert_eq!(rest(&mut first), "", "closed, and nothing is said");
    let mut fourth = connect(running.local_addr());
    fourth.write_all(GET.as_bytes()).unwrap();
    let goaway = second.receives(kind::GOAWAY);
    assert_eq!(goaway.payload[4..8], [0; 4], "NO_ERROR");
    drop(second);
    assert!(ask(&mut fourth).contains("200 OK"));
    let metrics = running.metrics();
    assert_eq!(metrics.connections_displaced, 2);
    assert_eq!(metrics.connections_refused, 0);
}

#[test]
fn connections_that_send_nothing_give_way_to_one_that_asks() {
    let running = server(ServerConfig::default().with_connections_max(2));
    let mut silent = [(); 2].map(|()| connect(running.local_addr()));
    let mut third = connect(running.local_addr());
    assert!(ask(&mut third).contains("200 OK"));
    assert_eq!(running.metrics().connections_displaced, 1);
    assert_eq!(rest(&mut silent[0]), "", "closed, and nothing is said");
}

#[test]
fn an_address_has_no_more_connections_than_it_may_and_others_when_one_ended() {
    let running = server(ServerConfig::default().with_connections_per_address_max(Some(2)));
    let mut open = [0, 1].map(|_| connect(running.local_addr()));
    open.iter_mut().for_each(|socket| drop(ask(socket)));
    let mut third = connect(running.local_addr());
    // It may be closed before this is written.
    let _ = third.write_all(GET.as_bytes());
    assert_eq!(rest(&mut third), "");
    assert_eq!(running.metrics().connections_refused, 1);
    drop(open);
    // The ends of the first two are on their way.
    let answered = std::iter::repeat_with(|| {
        let mut socket = connect(running.local_addr());
        let _ = socket.write_all(GET.as_bytes());
        rest_of(&mut socket)
    });
    assert!(answered.take(1_000).any(|answer| answer.contains("200 OK")));
}

/// The bytes of the first read.
fn rest_of(socket: &mut TcpStream) -> String {
    let mut answer = [0; 1024];
    let read = socket.read(&mut answer).unwrap_or(0);
    String::from_utf8_lossy(&answer[..read]).into_owned()
}

/// A server on which a dribbled body is too slow at once; what its handlers and its log say of it.
fn impatient() -> (Running, Receiver<ErrorKind>, Arc<Mutex<Vec<String>>>) {
    let mut config = ServerConfig::default();
    config.timeouts.rate_grace = Duration::from_millis(50);
    let (received, receives): (Sender<ErrorKind>, _) = channel();
    let answer = move |request: Request<Body>| {
        let received = received.clone();
        async move {
            if let Err(error) = request.into_body().collect().await {
                received.send(error.kind()).unwrap();
            }
            Response::new(Body::empty())
        }
    };
    let logged: Arc<Mutex<Vec<String>>> = Arc::default();
    let log = Arc::clone(&logged);
    let running = Server::bind("127.0.0.1:0")
        .workers(1)
        .config(config)
        .access_log(move |access| {
            let error = access.error.map(ToString::to_string);
            log.lock().unwrap().push(error.unwrap_or_default());
        })
        .serve(service(answer))
        .unwrap();
    (running, receives, logged)
}

#[test]
fn who_is_too_slow_is_named_to_the_handler_the_log_and_the_metrics_on_http_1() {
    let (running, receives, logged) = impatient();
    let mut socket = connect(running.local_addr());
    let head = "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 100000\r\n\r\nx";
    socket.write_all(head.as_bytes()).unwrap();
    let answer = rest(&mut socket);
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
    reported(&running, &receives, &logged);
}

#[test]
fn who_is_too_slow_is_named_to_the_handler_the_log_and_the_metrics_on_http_2() {
    let (running, receives, logged) = impatient();
    let mut peer = FramePeer::connect(running.local_addr());
    // content-length: 100000, without the table.
    let length = [&[0x0f, 0x0d, 6][..], b"100000"].concat();
    let post = [&[0x83, 0x86, 0x84, 0x41, 0x01, b'a'], &length[..]].concat();
    peer.sends(&Frame::new(kind::HEADERS, 4, 1, &post));
    peer.sends(&Frame::new(kind::DATA, 0, 1, b"x"));
    let reset = peer.receives(kind::RST_STREAM);
    assert_eq!(reset.payload, [0, 0, 0, 8], "CANCEL");
    reported(&running, &receives, &logged);
}

#[track_caller]
fn reported(running: &Running, receives: &Receiver<ErrorKind>, logged: &Mutex<Vec<String>>) {
    let due = Violation::BodyTooSlow;
    let received = receives.recv_timeout(Duration::from_secs(60)).unwrap();
    assert_eq!(received, ErrorKind::Violation(due));
    let logged = logged.lock().unwrap();
    assert!(
        matches!(&logged[..], [one] if one.contains(due.text())),
        "{logged:?}"
    );
    assert_eq!(running.metrics().violations, [(due.name(), 1)]);
}

#[test]
fn a_request_that_becomes_no_exchange_is_counted_by_the_rule_that_it_broke() {
    let running = server(ServerConfig::default());
    let mut peer = FramePeer::connect(running.local_addr());
    // No :path.
    let flawed = [0x82, 0x86, 0x41, 0x01, b'a'];
    peer.sends(&Frame::new(kind::HEADERS, 5, 1, &flawed));
    peer.receives(kind::RST_STREAM);
    // The answer to another request is behind the count.
    peer.sends(&Frame::new(kind::HEADERS, 5, 3, frame_client::GET));
    peer.receives(kind::DATA);
    let name = Violation::PseudoFieldMissing.name();
    assert_eq!(running.metrics().violations, [(name, 1)]);
}

/// More than the systems of both sides hold for a connection.
const LARGE: usize = 64 << 20;

#[test]
fn a_reader_that_is_given_up_gets_a_reset_so_that_the_system_holds_nothing_for_it() {
    let answer = |_: Request<Body>| async { Response::new(Body::full(vec![b'x'; LARGE])) };
    let mut config = ServerConfig::default();
    config.timeouts.write_stall = Some(Duration::from_millis(100));
    config.timeouts.rate_min = 0;
    let server = Server::bind("127.0.0.1:0").workers(1).config(config);
    let running = server.serve(service(answer)).unwrap();
    let mut socket = connect(running.local_addr());
    socket.write_all(GET.as_bytes()).unwrap();
    // It reads nothing until the server has forgotten it.
    loop {
        let metrics = running.metrics();
        if (metrics.connections_accepted, metrics.connections_open) == (1, 0) {
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    let mut bytes = Vec::new();
    let error = socket.read_to_end(&mut bytes).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset, "{error}");
    assert!(bytes.len() < LARGE, "{}", bytes.len());
}

#[test]
fn a_head_that_is_too_large_is_answered_with_a_date_over_http_2_and_http_3() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let answer = |_: Request<Body>| async { Response::new(Body::from("ok")) };
        let server = Server::bind("127.0.0.1:0").workers(1).http3(true);
        let server = server.tls(Tls::self_signed(["localhost"]).unwrap());
        let running = server.serve(service(answer)).unwrap();
        for protocols in [Protocols::H2Only, Protocols::H3Only] {
            let client = Client::builder().tls(ClientTls::new().insecure());
            let client = client.protocols(protocols).build().unwrap();
            let url = format!("https://localhost:{}/", running.local_addr().port());
            // One field more than are taken.
            let request = (0..=FIELD_COUNT_MAX).fold(client.get(url), |request, at| {
                request.header(format!("x-{at}"), "v")
            });
            let response = request.send().await.unwrap();
            assert_eq!(response.status(), 431, "{protocols:?}");
            assert!(response.headers().contains_key("date"), "{protocols:?}");
        }
    });
}

#[test]
fn fields_beyond_those_of_a_header_map_are_refused_where_more_are_allowed() {
    let limits = Limits::default().with_field_count_max(100_000);
    let limits = limits.with_head_bytes_max(1 << 20);
    let running = server(ServerConfig::default().with_limits(limits));
    let fields: String = (0..30_000).map(|at| format!("x{at}:\r\n")).collect();
    let mut socket = connect(running.local_addr());
    let head = format!("GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n{fields}\r\n");
    socket.write_all(head.as_bytes()).unwrap();
    let answer = rest(&mut socket);
    assert!(answer.starts_with("HTTP/1.1 431 "), "{answer:?}");
    let too_many = Limits::default().with_field_count_max(24_577);
    let error = Client::builder().limits(too_many).build().unwrap_err();
    assert!(error.to_string().contains("field_count_max"), "{error}");
}

#[test]
fn trailers_beyond_the_fields_of_a_header_map_fail_the_body_and_are_not_left_out() {
    let limits = Limits::default().with_field_count_max(100_000);
    let limits = limits.with_head_bytes_max(1 << 20);
    let limits = limits.with_field_section_bytes_max(1 << 22);
    let config = ServerConfig::default().with_limits(limits);
    let answer = |request: Request<Body>| async move {
        let text = match request.into_body().collect().await {
            Ok(body) => format!("{} trailers", body.trailers().map_or(0, HeaderMap::len)),
            Err(error) => format!("{error}"),
        };
        Response::new(Body::from(text))
    };
    let server = Server::bind("127.0.0.1:0").workers(1).config(config);
    let running = server.serve(service(answer)).unwrap();
    for (fields, expected) in [(20_000, "20000 trailers"), (30_000, "more fields")] {
        let mut socket = connect(running.local_addr());
        let trailers: String = (0..fields).map(|at| format!("x{at}:\r\n")).collect();
        let head = "POST / HTTP/1.1\r\nhost: a\r\nconnection: close\r\ntransfer-encoding: chunked";
        let request = format!("{head}\r\n\r\n1\r\na\r\n0\r\n{trailers}\r\n");
        socket.write_all(request.as_bytes()).unwrap();
        let answer = rest(&mut socket);
        assert!(answer.contains(expected), "{fields}: {answer:?}");
    }
}

/// As many fields of one byte as hyper takes over HTTP/2, where a head has 16 KiB and each of them counts 35, besides
/// those that every message has.
fn many_fields() -> HeaderMap {
    let name = |at: usize| HeaderName::try_from(format!("x{at}")).unwrap();
    let value = HeaderValue::from_static("v");
    (0..470).map(|at| (name(at), value.clone())).collect()
}

#[test]
fn hundreds_of_fields_of_a_request_a_response_and_trailers_arrive_over_each_version() {
    let (tls, root) = Tls::self_signed_with_root(&["localhost"]).unwrap();
    let server = Server::bind("127.0.0.1:0").tls(tls).http3(true).workers(1);
    let echo = |request: Request<Body>| async {
        let (parts, body) = request.into_parts();
        let body = body.collect().await.unwrap();
        let (mut sender, echoed) = Body::channel();
        sender.send("body").await.unwrap();
        sender.finish_with(body.trailers().cloned().unwrap_or_default());
        let mut response = Response::new(echoed);
        let sent = parts.headers.into_iter();
        let sent = sent.filter_map(|(name, value)| Some((name?, value)));
        let sent = sent.filter(|(name, _)| name.as_str().starts_with('x'));
        *response.headers_mut() = sent.collect();
        response
    };
    let running = server.serve(service(echo)).unwrap();
    let address = running.local_addr();
    for (protocols, version) in [
        (Protocols::H1Only, Version::HTTP_11),
        (Protocols::H2Only, Version::HTTP_2),
        (Protocols::H3Only, Version::HTTP_3),
    ] {
        let tls = ClientTls::new().root(root.clone()).only_given_roots();
        let client = Client::builder().protocols(protocols).tls(tls);
        let client = client.resolve("localhost", [address]).build().unwrap();
        let url = format!("https://localhost:{}/", address.port());
        let (sender, body) = Body::channel();
        sender.finish_with(many_fields());
        let mut request = Request::post(url).body(body).unwrap();
        *request.headers_mut() = many_fields();
        peer::block_on(async {
            let response = client.execute(request).await.unwrap();
            assert_eq!(response.version(), version);
            let fields = response.headers().iter();
            let count = fields
                .filter(|(name, _)| name.as_str().starts_with('x'))
                .count();
            assert_eq!(count, 470, "{version:?}");
            let body = response.into_body().collect().await.unwrap();
            assert_eq!(body.trailers().map(HeaderMap::len), Some(470));
        });
    }
}
