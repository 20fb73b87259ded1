//! Requests that are not what gRPC says, to tonic on our server and on its own: each has one status on both.

use crate::grpc::start;
use crate::way::run;
use bytes::Bytes;
use http::{Request, StatusCode};
use http_body_util::BodyExt;
use trunkline::Body;
use trunkline::client::{Client, Protocols};

/// A request, and the status of HTTP and of gRPC that it gets.
struct Case {
    name: &'static str,
    method: &'static str,
    path: &'static str,
    fields: &'static [(&'static str, &'static str)],
    body: Vec<u8>,
    expected: (u16, Option<&'static str>),
}

/// A length-prefixed message.
fn message(flag: u8, bytes: &[u8]) -> Vec<u8> {
    let length = u32::try_from(bytes.len()).unwrap().to_be_bytes();
    [&[flag], &length[..], bytes].concat()
}

/// A call of a method that joins its messages.
fn case(name: &'static str, body: Vec<u8>, code: &'static str) -> Case {
    Case {
        name,
        method: "POST",
        path: "/test.Echo/Join",
        fields: &[],
        body,
        expected: (200, Some(code)),
    }
}

const INTERNAL: &str = "13";

fn cases() -> Vec<Case> {
    let whole = message(0, b"hi");
    let cut = |length: usize| whole[..length].to_vec();
    // gRPC's documents say RESOURCE_EXHAUSTED of it; tonic's limit is 4 MiB and its status OUT_OF_RANGE.
    let above = [&[0][..], &(5u32 << 20).to_be_bytes(), &[0; 64]].concat();
    let coded = case("an unknown coding", message(1, b"hi"), "12");
    let unknown = case("a method that there is not", whole.clone(), "12");
    let queried = case("no POST", Vec::new(), INTERNAL);
    vec![
        case("a whole message", whole.clone(), "0"),
        case("no message", Vec::new(), "0"),
        case("two messages", whole.repeat(2), "0"),
        case("a part of a prefix", cut(3), INTERNAL),
        // tonic has taken the prefix away when the body ends, and sees nothing that is cut.
        case("a prefix alone", cut(5), "0"),
        case("a part of a message", cut(6), INTERNAL),
        case(
            "a whole message and a part",
            [&whole[..], &cut(6)].concat(),
            INTERNAL,
        ),
        case("a flag that is none", message(2, b"hi"), INTERNAL),
        case(
            "a compressed message without a coding",
            message(1, b"hi"),
            INTERNAL,
        ),
        case("a message above the limit", above, "11"),
        Case {
            fields: &[("grpc-encoding", "unknown")],
            ..coded
        },
        Case {
            path: "/test.Other/Join",
            ..unknown
        },
        Case {
            method: "GET",
            expected: (200, Some("0")),
            ..queried
        },
    ]
}

async fn status(client: &Client, url: &str, case: &Case) -> (u16, Option<String>) {
    let mut request = Request::builder()
        .method(case.method)
        .uri(format!("{url}{}", case.path))
        .header("content-type", "application/grpc")
        .header("te", "trailers");
    for (name, value) in case.fields {
        request = request.header(*name, *value);
    }
    let body = match case.method {
        "GET" => Body::empty(),
        _ => Body::full(Bytes::from(case.body.clone())),
    };
    let response = client.execute(request.body(body).unwrap()).await.unwrap();
    let (head, body) = response.into_parts();
    let body = body.collect().await.unwrap();
    let fields = body.trailers().unwrap_or(&head.headers);
    let code = fields
        .get("grpc-status")
        .or(head.headers.get("grpc-status"));
    let code = code.map(|code| code.to_str().unwrap().to_owned());
    (head.status.as_u16(), code)
}

#[test]
fn a_malformed_request_has_one_status_on_our_server_and_on_tonics() {
    run(async {
        let client = Client::builder()
            .protocols(Protocols::H2Only)
            .build()
            .unwrap();
        let (ours, _ours_ends) = start(true).await;
        let (theirs, _their_ends) = start(false).await;
        let (mut expected, mut on_ours, mut on_theirs) = (Vec::new(), Vec::new(), Vec::new());
        for case in cases() {
            let (code, status_code) = case.expected;
            expected.push((case.name, (code, status_code.map(ToOwned::to_owned))));
            on_ours.push((case.name, status(&client, &ours, &case).await));
            on_theirs.push((case.name, status(&client, &theirs, &case).await));
        }
        assert_eq!(on_ours, on_theirs);
        assert_eq!(on_ours, expected);
        // The connections still serve.
        let whole = &cases()[0];
        for url in [&ours, &theirs] {
            let found = status(&client, url, whole).await;
            assert_eq!(found, (StatusCode::OK.as_u16(), Some("0".to_owned())));
        }
    });
}
