//! A handler's interim responses, on every version.
#![allow(clippy::unwrap_used, reason = "what fails here fails its test")]

use crate::support::peer;
use crate::support::peer::{Peer, service};
use http::{Request, Response, StatusCode};
use http_body_util::BodyExt;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use tokio::sync::oneshot;
use tower_service::Service;
use trunkline::client::{Client, ClientTls, Protocols};
use trunkline::{Body, InterimSender, Server, ServerConfig, Tls};

const VERSIONS: [Protocols; 3] = [Protocols::H1Only, Protocols::H2Only, Protocols::H3Only];

fn with_interims() -> ServerConfig {
    ServerConfig::default().with_interim_responses(true)
}

fn interim(status: u16, link: &'static str) -> Response<()> {
    let response = Response::builder().status(status).header("link", link);
    response.body(()).unwrap()
}

fn sender(request: &Request<Body>) -> InterimSender {
    request.extensions().get::<InterimSender>().unwrap().clone()
}

/// Asks once on each version, and returns what came before each answer, and the answers' texts.
///
/// `receives` is called for each interim response.
fn received_on_every_version<F, U>(
    handler: F,
    receives: impl Fn() + Clone + Send + Sync + 'static,
) -> Vec<(Vec<String>, String)>
where
    F: Fn(Request<Body>) -> U + Clone + Send + 'static,
    U: Future<Output = Response<Body>> + 'static,
{
    let (tls, root) = Tls::self_signed_with_root(&["localhost"]).unwrap();
    let server = Server::bind("127.0.0.1:0").tls(tls).http3(true);
    let running = server.config(with_interims()).serve(service(handler));
    let running = running.unwrap();
    let at = running.local_addr();
    let ask = async |protocols| {
        let client = Client::builder()
            .protocols(protocols)
            .resolve("localhost", [at])
            .tls(ClientTls::new().root(root.clone()).only_given_roots())
            .build()
            .unwrap();
        let received = Arc::new(Mutex::new(Vec::new()));
        let (reported, receives) = (Arc::clone(&received), receives.clone());
        let request = client.get(format!("https://localhost:{}/", at.port()));
        let request = request.on_interim(move |response| {
            let link = response.headers()["link"].to_str().unwrap();
            let line = format!("{} {link}", response.status().as_u16());
            assert_eq!(response.headers().len(), 1, "nothing was added");
            reported.lock().unwrap().push(line);
            receives();
        });
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), StatusCode::OK);
        assert!(!response.headers().contains_key("link"));
        let body = response.into_body().collect().await.unwrap().to_bytes();
        let text = String::from_utf8(body.to_vec()).unwrap();
        (std::mem::take(&mut *received.lock().unwrap()), text)
    };
    peer::block_on(async {
        let mut all = Vec::new();
        for protocols in VERSIONS {
            all.push(ask(protocols).await);
        }
        all
    })
}

#[test]
fn early_hints_come_before_the_answer_on_every_version() {
    let handler = async |request| {
        let interim_sender = sender(&request);
        interim_sender.send(interim(102, "</a>")).unwrap();
        interim_sender.send(interim(103, "</b>")).unwrap();
        Response::new(Body::full("page"))
    };
    let received = received_on_every_version(handler, || {});
    let expected = (
        vec!["102 </a>".to_owned(), "103 </b>".into()],
        "page".into(),
    );
    assert_eq!(received, vec![expected; 3]);
}

#[test]
fn hints_from_another_thread_go_out_while_the_handler_waits() {
    let (received, receives) = std::sync::mpsc::channel();
    let receives = Arc::new(Mutex::new(receives));
    let handler = move |request| {
        let (may_answer, waits) = oneshot::channel();
        let (interim_sender, receives) = (sender(&request), Arc::clone(&receives));
        std::thread::spawn(move || {
            // The second goes out when nothing else is left to do on the connection.
            for link in ["</c>", "</d>"] {
                interim_sender.send(interim(103, link)).unwrap();
                let wait = std::time::Duration::from_secs(60);
                receives.lock().unwrap().recv_timeout(wait).unwrap();
            }
            may_answer.send(()).unwrap();
        });
        async {
            waits.await.unwrap();
            Response::new(Body::full("page"))
        }
    };
    let reported = received_on_every_version(handler, move || received.send(()).unwrap());
    let expected = vec!["103 </c>".to_owned(), "103 </d>".into()];
    assert_eq!(reported, vec![(expected, "page".into()); 3]);
}

#[test]
fn a_hint_reaches_its_client_before_the_handler_is_done() {
    let (may_answer, waits) = oneshot::channel::<()>();
    let waits = Arc::new(Mutex::new(Some(waits)));
    let handler = move |request: Request<Body>| {
        let waits = waits.lock().unwrap().take();
        async move {
            sender(&request).send(interim(103, "</a>")).unwrap();
            if let Some(waits) = waits {
                waits.await.unwrap();
            }
            Response::new(Body::full("done"))
        }
    };
    let server = Server::bind("127.0.0.1:0").config(with_interims());
    let running = server.serve(service(handler)).unwrap();
    let mut peer = Peer::connect(running.local_addr());
    peer.sends("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
    let hints = peer.receives_until("\r\n\r\n");
    assert_eq!(hints, "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n");
    may_answer.send(()).unwrap();
    assert!(
        peer.receives_until("done")
            .starts_with("HTTP/1.1 200 OK\r\n")
    );
}

#[test]
fn a_client_of_http_1_0_gets_none() {
    let server = Server::bind("127.0.0.1:0").config(with_interims());
    let running = server.serve(service(async |request| {
        sender(&request).send(interim(103, "</a>")).unwrap();
        Response::new(Body::full("old"))
    }));
    let running = running.unwrap();
    let mut peer = Peer::connect(running.local_addr());
    peer.sends("GET / HTTP/1.0\r\nhost: a\r\n\r\n");
    let received = peer.receives_to_the_end();
    assert!(received.starts_with("HTTP/1.1 200 OK\r\n"), "{received}");
}

#[test]
fn a_handler_that_invites_the_body_itself_does_so_once() {
    let server = Server::bind("127.0.0.1:0").config(with_interims());
    let running = server.serve(service(async |request: Request<Body>| {
        let invitation = Response::builder().status(100).body(()).unwrap();
        sender(&request).send(invitation).unwrap();
        let body = request.into_body().collect().await.unwrap().to_bytes();
        Response::new(Body::full(body))
    }));
    let running = running.unwrap();
    let mut peer = Peer::connect(running.local_addr());
    peer.sends("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\nexpect: 100-continue\r\n\r\n");
    let invited = peer.receives_until("\r\n\r\n");
    assert_eq!(invited, "HTTP/1.1 100 Continue\r\n\r\n");
    peer.sends("body");
    assert!(
        peer.receives_until("body")
            .starts_with("HTTP/1.1 200 OK\r\n")
    );
}

/// Ready at the second asking.
#[derive(Clone)]
struct Busy<S> {
    service: S,
    asked: bool,
}

impl<S: Service<Request<Body>>> Service<Request<Body>> for Busy<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        if std::mem::replace(&mut self.asked, true) {
            return self.service.poll_ready(cx);
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
    fn call(&mut self, request: Request<Body>) -> S::Future {
        self.service.call(request)
    }
}

#[test]
fn a_body_is_invited_too_where_the_service_was_not_ready_at_once() {
    let server = Server::bind("127.0.0.1:0");
    let echoes = service(async |request: Request<Body>| {
        let body = request.into_body().collect().await.unwrap().to_bytes();
        Response::new(Body::full(body))
    });
    let running = server.serve(Busy {
        service: echoes,
        asked: false,
    });
    let running = running.unwrap();
    let mut peer = Peer::connect(running.local_addr());
    peer.sends("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\nexpect: 100-continue\r\n\r\n");
    let invited = peer.receives_until("\r\n\r\n");
    assert_eq!(invited, "HTTP/1.1 100 Continue\r\n\r\n");
    peer.sends("body");
    assert!(
        peer.receives_until("body")
            .starts_with("HTTP/1.1 200 OK\r\n")
    );
}

/// Waits for something else than a body.
async fn busy() {
    for _ in 0..3 {
        tokio::task::yield_now().await;
    }
}

#[test]
fn a_body_that_nothing_reads_is_not_invited_however_long_the_handler_takes() {
    let (tls, root) = Tls::self_signed_with_root(&["localhost"]).unwrap();
    let server = Server::bind("127.0.0.1:0").tls(tls).http3(true).workers(1);
    let refuses = async |request: Request<Body>| {
        busy().await;
        drop(request);
        let refused = Response::builder().status(413);
        refused.body(Body::empty()).unwrap()
    };
    let running = server.serve(service(refuses)).unwrap();
    let address = running.local_addr();
    for protocols in VERSIONS {
        let tls = ClientTls::new().root(root.clone()).only_given_roots();
        let client = Client::builder().protocols(protocols).tls(tls);
        let client = client.resolve("localhost", [address]).build().unwrap();
        let interims = Arc::new(Mutex::new(Vec::<StatusCode>::new()));
        let seen = Arc::clone(&interims);
        let request = client.post(format!("https://localhost:{}/", address.port()));
        let request = request
            .header("expect", "100-continue")
            .body("a large body");
        let request = request.on_interim(move |response| {
            seen.lock().unwrap().push(response.status());
        });
        let response = peer::block_on(async { request.send().await.unwrap() });
        assert_eq!(response.status(), 413, "{protocols:?}");
        assert!(interims.lock().unwrap().is_empty(), "{protocols:?}");
    }
}

#[test]
fn a_body_is_invited_when_another_task_than_the_handler_reads_it() {
    let server = Server::bind("127.0.0.1:0");
    let running = server.serve(service(async |request: Request<Body>| {
        busy().await;
        let reads = request.into_body().collect();
        let read = tokio::task::spawn_local(reads).await.unwrap();
        Response::new(Body::full(read.unwrap().to_bytes()))
    }));
    let running = running.unwrap();
    let mut peer = Peer::connect(running.local_addr());
    peer.sends("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\nexpect: 100-continue\r\n\r\n");
    let invited = peer.receives_until("\r\n\r\n");
    assert_eq!(invited, "HTTP/1.1 100 Continue\r\n\r\n");
    peer.sends("body");
    assert!(
        peer.receives_until("body")
            .starts_with("HTTP/1.1 200 OK\r\n")
    );
}

#[test]
fn what_is_no_interim_response_is_refused_and_so_is_one_too_late_or_too_many() {
    let errors = Arc::new(Mutex::new(Vec::new()));
    let (kept, reported) = (Arc::new(Mutex::new(None)), Arc::clone(&errors));
    let keeps = Arc::clone(&kept);
    let server = Server::bind("127.0.0.1:0").config(with_interims());
    let running = server.serve(service(move |request: Request<Body>| {
        let interim_sender = sender(&request);
        let mut wrong = Vec::new();
        for status in [101, 200, 404] {
            wrong.push(interim_sender.send(interim(status, "</a>")));
        }
        let mut sized = interim(103, "</a>");
        sized.headers_mut().insert("content-length", 0.into());
        wrong.push(interim_sender.send(sized));
        for _ in 0..1024 {
            interim_sender.send(interim(103, "</a>")).unwrap();
        }
        wrong.push(interim_sender.send(interim(103, "</a>")));
        let mut reported = reported.lock().unwrap();
        reported.extend(wrong.into_iter().map(|sent| sent.unwrap_err().to_string()));
        *keeps.lock().unwrap() = Some(interim_sender);
        async { Response::new(Body::full("done")) }
    }));
    let running = running.unwrap();
    let mut peer = Peer::connect(running.local_addr());
    peer.sends("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
    let received = peer.receives_until("done");
    assert_eq!(received.matches("103 Early Hints").count(), 1024);
    let late = kept.lock().unwrap().take().unwrap();
    let late = late.send(interim(103, "</a>")).unwrap_err().to_string();
    assert_eq!(late, "an interim response came after the final one");
    let expected = [
        "101 is not the status of an interim response; those are 100 and 102 to 199",
        "200 is not the status of an interim response; those are 100 and 102 to 199",
        "404 is not the status of an interim response; those are 100 and 102 to 199",
        "an interim response has no body and thus no content-length",
        "this would be interim response 1025 of one exchange; 1024 are allowed",
    ];
    assert_eq!(*errors.lock().unwrap(), expected);
}

#[test]
fn without_the_setting_a_request_carries_no_sender() {
    let server = Server::bind("127.0.0.1:0");
    let running = server.serve(service(async |request: Request<Body>| {
        let has_sender = request.extensions().get::<InterimSender>().is_some();
        Response::new(Body::full(format!("{has_sender}.")))
    }));
    let running = running.unwrap();
    let mut peer = Peer::connect(running.local_addr());
    peer.sends("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
    assert!(peer.receives_until("false.").starts_with("HTTP/1.1 200"));
}
