//! The way to an origin: the race of its addresses, resolvers, Unix sockets, the local address.
#![allow(clippy::unwrap_used, reason = "what fails here fails its test")]

use crate::support::origin::{Origin, Speaks, run};
use http::Response;
use http_body_util::BodyExt;
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use trunkline::client::{Client, ClientBuilder, ConnectionListener, ConnectionUse, Hold};
use trunkline::client::{Resolver, Resolving};
use trunkline::core::http::Version;
use trunkline::core::pool;
use trunkline::{Body, Error, ErrorKind, Fault};

fn hello(speaks: Speaks) -> Origin {
    Origin::start(speaks, 100, |_| async {
        Response::new(Body::from("hello"))
    })
}

/// Two ports without a listener, which the system does not assign.
const DEAD_PORTS: [u16; 2] = [1, 2];

/// A listener whose line is full: a further SYN is not answered, like one into a black hole.
struct BlackHole {
    address: SocketAddr,
    _listener: socket2::Socket,
    _line: Vec<socket2::Socket>,
}

impl BlackHole {
    fn new() -> Self {
        let new_socket =
            || socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
        let listener = new_socket();
        listener
            .bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into())
            .unwrap();
        listener.listen(0).unwrap();
        let address = listener.local_addr().unwrap().as_socket().unwrap();
        let line = (0..8)
            .map(|_| {
                let socket = new_socket();
                socket.set_nonblocking(true).unwrap();
                let _ = socket.connect(&address.into());
                socket
            })
            .collect();
        Self {
            address,
            _listener: listener,
            _line: line,
        }
    }
}

#[test]
fn the_port_that_a_url_names_goes_before_that_of_an_address_unless_it_is_connected_to() {
    let origin = hello(Speaks::Plain);
    let port = origin.running.local_addr().port();
    let dead = SocketAddr::from((Ipv4Addr::LOCALHOST, DEAD_PORTS[0]));
    let asked = async |client: ClientBuilder, port: u16| {
        let client = client.build().unwrap();
        let sent = client.get(format!("http://a.test:{port}/")).send().await;
        sent.is_ok()
    };
    run(async {
        let here = origin.running.local_addr();
        assert!(asked(origin.client().resolve("a.test", dead), port).await);
        assert!(!asked(origin.client().resolve("a.test", here), DEAD_PORTS[0]).await);
        assert!(asked(origin.client().resolve("a.test", here), 80).await);
        assert!(!asked(origin.client().connect_to("a.test", dead), port).await);
        assert!(asked(origin.client().connect_to("a.test", here), DEAD_PORTS[0]).await);
    });
}

#[test]
fn an_address_that_does_not_answer_costs_one_delay() {
    for speaks in [Speaks::Plain, Speaks::Tls] {
        let hole = BlackHole::new();
        let origin = hello(speaks);
        run(async {
            let addresses = [hole.address, origin.running.local_addr()];
            let delay = Duration::from_millis(20);
            let client = origin
                .client()
                .connect_to("localhost", addresses)
                .attempt_delay(delay);
            let began = Instant::now();
            let response = client
                .build()
                .unwrap()
                .get(origin.url("/"))
                .send()
                .await
                .unwrap();
            assert_eq!(response.status(), 200);
            assert!(
                began.elapsed() >= delay,
                "the first address had its head start"
            );
        });
        assert_eq!(origin.sockets(), 1);
    }
}

/// With a connect timeout that is shorter than the head starts: attempts begin closer together.
#[test]
fn every_address_has_its_turn_within_the_connect_timeout() {
    let (hole, origin) = (BlackHole::new(), hello(Speaks::Plain));
    run(async {
        let client = origin
            .client()
            .connect_to("localhost", [hole.address, origin.running.local_addr()])
            .attempt_delay(Duration::from_secs(2))
            .connect_timeout(Duration::from_secs(1));
        let client = client.build().unwrap();
        let response = client.get(origin.url("/")).send().await.unwrap();
        assert_eq!(response.status(), 200);
    });
}

#[test]
fn an_address_that_refuses_costs_no_delay() {
    let origin = hello(Speaks::Plain);
    run(async {
        let dead = SocketAddr::from(([127, 0, 0, 1], DEAD_PORTS[0]));
        // A vain wait takes this long each time, now and then on a busy machine.
        let delay = Duration::from_secs(2);
        let takes = async || {
            let began = Instant::now();
            let client = origin
                .client()
                .connect_to("localhost", [dead, origin.running.local_addr()])
                .attempt_delay(delay)
                .build()
                .unwrap();
            client.get(origin.url("/")).send().await.unwrap();
            began.elapsed()
        };
        while takes().await >= delay {}
    });
}

#[test]
fn when_all_fail_each_address_is_named_with_its_error() {
    run(async {
        let addresses = DEAD_PORTS.map(|port| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
        let client = Client::builder()
            .connect_to("a.test", addresses)
            .build()
            .unwrap();
        let error = client.get("http://a.test:81/").send().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Connect);
        assert_eq!(error.fault(), Fault::Network);
        let text = error.to_string();
        assert!(
            text.starts_with("no connection to http://a.test:81: "),
            "{text}"
        );
        for port in DEAD_PORTS {
            assert!(
                text.contains(&format!("127.0.0.1:{port}: Connection refused")),
                "{text}"
            );
        }
    });
}

/// Resolves every name to one address, and counts.
#[derive(Clone)]
struct Fixed(SocketAddr, Arc<AtomicU32>);

impl Resolver for Fixed {
    fn resolve(&self, host: &str, _port: u16) -> Resolving {
        self.1.fetch_add(1, Ordering::SeqCst);
        let answer = match host {
            "nowhere.test" => Ok(Vec::new()),
            "broken.test" => Err(io::Error::other("the resolver is on strike")),
            _ => Ok(vec![self.0]),
        };
        Box::pin(async move { answer })
    }
}

#[test]
fn a_users_resolver_is_asked_for_names_and_not_for_addresses() {
    let origin = hello(Speaks::Plain);
    let address = origin.running.local_addr();
    run(async {
        let asked = Arc::new(AtomicU32::new(0));
        let resolver = Fixed(address, Arc::clone(&asked));
        let client = Client::builder().resolver(resolver).build().unwrap();
        let response = client.get("http://far.test/").send().await.unwrap();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        assert_eq!(&body[..], b"hello");
        assert_eq!(asked.load(Ordering::SeqCst), 1);
        client
            .get(format!("http://{address}/"))
            .send()
            .await
            .unwrap();
        assert_eq!(
            asked.load(Ordering::SeqCst),
            1,
            "an address needs no resolver"
        );
        for (host, words) in [
            ("nowhere.test", "the host nowhere.test has no address"),
            ("broken.test", "the host broken.test cannot be resolved"),
        ] {
            let error = client
                .get(format!("http://{host}/"))
                .send()
                .await
                .unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Resolve);
            assert!(error.to_string().contains(words), "{error}");
        }
    });
}

#[test]
fn the_connection_comes_from_the_local_address() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = std::thread::spawn(move || {
        let (mut socket, from) = listener.accept().unwrap();
        let mut received = [0; 1024];
        let _ = socket.read(&mut received).unwrap();
        socket.write_all(b"HTTP/1.1 204 x\r\n\r\n").unwrap();
        from.ip()
    });
    let local: IpAddr = [127, 0, 0, 77].into();
    run(async {
        let client = Client::builder()
            .local_address(local)
            .tcp_keepalive(Some(Duration::from_secs(30)));
        let url = format!("http://{address}/");
        client.build().unwrap().get(url).send().await.unwrap();
    });
    assert_eq!(server.join().unwrap(), local);
}

#[test]
fn a_local_address_of_the_wrong_family_is_reported() {
    let text = |builder: ClientBuilder| builder.build().unwrap_err().to_string();
    let six = IpAddr::from(Ipv6Addr::LOCALHOST);
    let four: SocketAddr = ([127, 0, 0, 1], 80).into();
    for refused in [
        text(
            Client::builder()
                .local_address(six)
                .resolve("a.test", [four]),
        ),
        text(
            Client::builder()
                .local_address(six)
                .proxy("http://127.0.0.1:80"),
        ),
    ] {
        assert!(refused.contains("local_address ::1 is IPv6"), "{refused}");
        assert!(refused.contains("only IPv4 addresses"), "{refused}");
    }
    run(async {
        let client = Client::builder().local_address(six).build().unwrap();
        let error = client.get("http://127.0.0.1:1/").send().await.unwrap_err();
        assert_eq!(error.fault(), Fault::Config);
        assert!(error.to_string().contains("of one family"), "{error}");
    });
}

#[cfg(unix)]
mod unix {
    use super::{Client, Read, Write, run};
    use std::os::unix::net::UnixListener;
    use std::path::PathBuf;

    /// A socket's path, removed with the value.
    struct Path(PathBuf);

    impl Path {
        fn new(name: &str) -> Self {
            let name = format!("trunkline-{name}-{}", std::process::id());
            let path = std::env::temp_dir().join(name);
            let _ = std::fs::remove_file(&path);
            Self(path)
        }
    }

    impl Drop for Path {
        fn drop(&mut self) {
            let _ = std::fs::remove_file(&self.0);
        }
    }

    /// A server on a Unix socket that answers one request; its head is the result.
    fn serve(path: &Path) -> std::thread::JoinHandle<String> {
        let listener = UnixListener::bind(&path.0).unwrap();
        std::thread::spawn(move || {
            let (mut socket, _) = listener.accept().unwrap();
            let mut received = Vec::new();
            let mut byte = [0];
            while !received.ends_with(b"\r\n\r\n") && socket.read(&mut byte).unwrap() == 1 {
                received.push(byte[0]);
            }
            socket.write_all(b"HTTP/1.1 204 x\r\n\r\n").unwrap();
            String::from_utf8(received).unwrap()
        })
    }

    #[test]
    fn a_client_goes_through_a_unix_socket() {
        let path = Path::new("client");
        let server = serve(&path);
        run(async {
            let builder = Client::builder().unix_socket(&path.0).decompression(false);
            let client = builder.build().unwrap();
            let response = client.get("http://docker/info").send().await.unwrap();
            assert_eq!(response.status(), 204);
        });
        let expected = "GET /info HTTP/1.1\r\nhost: docker\r\n\r\n";
        assert_eq!(server.join().unwrap(), expected);
    }

    #[test]
    fn one_host_goes_through_a_unix_socket_and_others_do_not() {
        let path = Path::new("host");
        let server = serve(&path);
        run(async {
            let client = Client::builder().unix_socket_for("Docker", &path.0);
            let client = client.build().unwrap();
            let response = client.get("http://docker/").send().await.unwrap();
            assert_eq!(response.status(), 204);
            let error = client.get("http://127.0.0.1:1/").send().await.unwrap_err();
            assert!(error.to_string().contains("127.0.0.1:1"), "{error}");
        });
        server.join().unwrap();
    }

    #[test]
    fn a_path_that_is_no_socket_is_refused_when_the_client_is_built() {
        let file = Path::new("file");
        std::fs::write(&file.0, b"x").unwrap();
        for builder in [
            Client::builder().unix_socket(&file.0),
            Client::builder().unix_socket_for("a.test", &file.0),
        ] {
            let text = builder.build().unwrap_err().to_string();
            let displayed = file.0.display().to_string();
            assert!(
                text.contains(&displayed) && text.contains("is not a socket"),
                "{text}"
            );
        }
    }

    #[test]
    fn a_server_may_make_its_socket_after_the_client_was_built() {
        let path = Path::new("later");
        let client = Client::builder().unix_socket(&path.0).build().unwrap();
        run(async {
            let error = client.get("http://a.test/").send().await.unwrap_err();
            let displayed = path.0.display().to_string();
            assert!(error.to_string().contains(&displayed), "{error}");
            let (listener, answered) = (
                UnixListener::bind(&path.0).unwrap(),
                "HTTP/1.1 204 x\r\n\r\n",
            );
            let server = std::thread::spawn(move || {
                let (mut socket, _) = listener.accept().unwrap();
                let mut head = [0; 1024];
                let _ = socket.read(&mut head).unwrap();
                socket.write_all(answered.as_bytes()).unwrap();
            });
            let response = client.get("http://a.test/").send().await.unwrap();
            assert_eq!(response.status(), 204);
            server.join().unwrap();
        });
    }

    #[test]
    fn a_unix_socket_and_a_proxy_exclude_each_other() {
        let path = Path::new("both");
        let _listener = UnixListener::bind(&path.0).unwrap();
        let client = Client::builder().unix_socket(&path.0).proxy("http://p");
        let text = client.build().unwrap_err().to_string();
        assert!(text.contains("unix_socket and proxy"), "{text}");
    }
}

#[test]
fn a_time_or_an_address_out_of_range_is_refused_when_the_client_is_built() {
    let second = Duration::from_secs(1);
    let table = [
        (
            Client::builder().attempt_delay(Duration::ZERO),
            "attempt_delay is 0ns",
            "10ms to 2s",
        ),
        (
            Client::builder().attempt_delay(3 * second),
            "attempt_delay is 3s",
            "10ms to 2s",
        ),
        (
            Client::builder().tcp_keepalive(Some(second / 2)),
            "tcp_keepalive is 500ms",
            "1s to 32767s",
        ),
        (
            Client::builder().local_address([224, 0, 0, 1].into()),
            "local_address is 224.0.0.1",
            "one machine",
        ),
    ];
    for (builder, name, allowed) in table {
        let text = builder.build().unwrap_err().to_string();
        assert!(text.contains(name) && text.contains(allowed), "{text}");
    }
}

/// Notes every event.
#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

impl Notes {
    fn note(&self, origin: &pool::Origin, what: &str) {
        let mut notes = self.0.lock().unwrap();
        notes.push(format!("{}: {what}", origin.scheme.as_str()));
    }
}

impl ConnectionListener for Notes {
    fn opening(&self, origin: &pool::Origin) {
        self.note(origin, "opening");
    }
    fn opened(
        &self,
        origin: &pool::Origin,
        connection: &ConnectionUse,
        version: Version,
    ) -> Option<Hold> {
        let port = connection.info().unwrap().peer_addr().unwrap().port();
        assert_eq!(port, origin.port);
        self.note(origin, &format!("opened {version:?}"));
        None
    }
    fn failed(&self, origin: &pool::Origin, error: &Error) {
        self.note(origin, &format!("failed {:?}", error.kind()));
    }
    fn closed(&self, origin: &pool::Origin, _: &ConnectionUse, why: &Error) {
        self.note(origin, &format!("closed {:?}", why.kind()));
    }
}

#[test]
fn a_listener_learns_of_every_connection_from_its_attempt_to_its_end() {
    let notes = Arc::new(Notes::default());
    let origin = hello(Speaks::Tls);
    run(async {
        let listener = Arc::clone(&notes) as Arc<dyn ConnectionListener>;
        let client = origin.client().connection_listener(listener);
        let client = client.build().unwrap();
        let response = client.get(origin.url("/")).send().await.unwrap();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        assert_eq!(body, "hello");
        let dead = format!("http://127.0.0.1:{}/", DEAD_PORTS[0]);
        client.get(dead).send().await.unwrap_err();
        client.shut_down();
        while notes.0.lock().unwrap().len() < 5 {
            tokio::task::yield_now().await;
        }
    });
    let received = notes.0.lock().unwrap().clone();
    let expected = [
        "https: opening",
        "https: opened Http2",
        "http: opening",
        "http: failed Connect",
        "https: closed Cancelled",
    ];
    assert_eq!(received, expected);
}
