//! Statuses of calls whose connection or stream ends, from tonic's channel and from our client.

mod script;

use crate::grpc::Raw;
use crate::way::run;
use bytes::Bytes;
use futures_util::stream;
use http::uri::PathAndQuery;
use script::{Scripted, Step};
use tonic::client::{Grpc, GrpcService};
use tonic::transport::Endpoint;
use tonic::{Code, Status, Streaming};
use trunkline::client::Client;
use trunkline::grpc::GrpcClient;

/// The messages that came and the status at their end.
pub(crate) async fn outcome<T>(
    mut client: Grpc<T>,
    name: &str,
    first: Bytes,
) -> (Vec<Bytes>, Status)
where
    T: GrpcService<tonic::body::Body>,
    T::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    T::ResponseBody: http_body::Body<Data = Bytes> + Send + 'static,
    <T::ResponseBody as http_body::Body>::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    if let Err(error) = client.ready().await {
        return (Vec::new(), Status::from_error(error.into()));
    }
    let request = tonic::Request::new(stream::iter([first]));
    let path: PathAndQuery = format!("/test.Held/{name}").parse().unwrap();
    let mut came = Vec::new();
    let mut messages: Streaming<Bytes> = match client.streaming(request, path, Raw).await {
        Err(status) => return (came, status),
        Ok(response) => response.into_inner(),
    };
    loop {
        match messages.message().await {
            Ok(Some(message)) => came.push(message),
            Ok(None) => return (came, Status::new(Code::Ok, "")),
            Err(status) => return (came, status),
        }
    }
}

/// A channel of tonic's, and our client.
pub(crate) fn clients(url: &str) -> (Grpc<tonic::transport::Channel>, Grpc<GrpcClient>) {
    let endpoint = Endpoint::from_shared(url.to_owned()).unwrap();
    let ours = GrpcClient::new(Client::new());
    (
        Grpc::new(endpoint.connect_lazy()),
        Grpc::with_origin(ours, url.parse().unwrap()),
    )
}

/// The outcome of a script at a client: messages, code, the calls that the server got, and the code of the next call.
#[derive(Debug, PartialEq, Eq)]
struct Made {
    messages: usize,
    code: Code,
    calls: usize,
    next: Code,
}

async fn made<T>(client: Grpc<T>, server: &Scripted) -> (Made, Status)
where
    T: GrpcService<tonic::body::Body> + Clone,
    T::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    T::ResponseBody: http_body::Body<Data = Bytes> + Send + 'static,
    <T::ResponseBody as http_body::Body>::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let (messages, status) = outcome(client.clone(), "Any", Bytes::from("hello")).await;
    let calls = server.calls();
    let (_, next) = outcome(client, "Any", Bytes::from("hello")).await;
    let made = Made {
        messages: messages.len(),
        code: status.code(),
        calls,
        next: next.code(),
    };
    (made, status)
}

/// The code that gRPC gives such an end of a call (gRPC over HTTP/2, "Errors"): the table of reset codes, and
/// UNAVAILABLE for whatever else ends a connection or leaves the call unprocessed. A server that says so behind its
/// head contradicts itself: the call was reset.
fn code_of(end: Step, has_head: bool) -> Code {
    match end {
        Step::GoAway(0, reason) if has_head => code_of(Step::Reset(reason), true),
        Step::Reset(7) => Code::Unavailable,
        Step::Reset(8) => Code::Cancelled,
        Step::Reset(11) => Code::ResourceExhausted,
        Step::Reset(12) => Code::PermissionDenied,
        Step::Reset(_) => Code::Internal,
        _ => Code::Unavailable,
    }
}

/// HTTP_1_1_REQUIRED (RFC 9113 section 7): gRPC has no other version to go to.
const HTTP_1_1_REQUIRED: u32 = 13;

/// Whether a server says by this end that it has not processed the call, and takes others: ours sends it again (RFC 9113
/// section 8.7), and tonic's channel does not.
fn leaves_unprocessed(end: Step) -> bool {
    match end {
        Step::Reset(reason) => reason == 7,
        Step::GoAway(0, reason) => reason != HTTP_1_1_REQUIRED,
        _ => false,
    }
}

/// Whether tonic's own channel may say something else than our client: UNKNOWN of what it has no code for (an end of
/// the transport, STREAM_CLOSED, HTTP_1_1_REQUIRED, unknown codes, a reset with NO_ERROR behind a head), and the code
/// of a GOAWAY as that of the calls which it leaves unprocessed.
fn tonic_may_give(code: Code, end: Step) -> bool {
    match end {
        Step::GoAway(0, reason) => {
            code == code_of(Step::Reset(reason), false) || code == Code::Unknown
        }
        _ => code == Code::Unknown,
    }
}

/// Every code of HTTP/2 and one that it does not have.
fn reasons() -> impl Iterator<Item = u32> {
    (0..=13).chain([0x77])
}

#[test]
fn a_call_whose_stream_or_connection_ends_has_the_status_that_grpc_gives_the_end() {
    let stages: [(&[Step], usize); 4] = [
        (&[], 0),
        (&[Step::Head], 0),
        (&[Step::Head, Step::Message], 1),
        (&[Step::Head, Step::HalfMessage], 0),
    ];
    let resets = reasons().map(|reason| vec![Step::Reset(reason)]);
    let goaways = reasons().flat_map(|reason| {
        let unprocessed = vec![vec![Step::GoAway(0, reason), Step::Fin]];
        // Processed, and the first of two in an orderly end.
        let named = [1, 0x7fff_ffff].map(|last| Step::GoAway(last, reason));
        let processed = named.map(|goaway| [Step::Fin, Step::Abort].map(|end| vec![goaway, end]));
        unprocessed
            .into_iter()
            .chain(processed.into_iter().flatten())
    });
    let bare = [vec![Step::Fin], vec![Step::Abort]];
    let ends: Vec<_> = bare.into_iter().chain(resets).chain(goaways).collect();
    run(async {
        for (stage, messages) in stages {
            for end in &ends {
                let script = [stage, &end[..]].concat();
                let server = Scripted::start(script.clone()).await;
                let (ours, status) = made(clients(&server.url).1, &server).await;
                // A reset of TCP may overtake what was sent before it.
                let is_reset = end.last() == Some(&Step::Abort);
                let code = code_of(end[0], !stage.is_empty());
                let mut expected = Made {
                    messages: if is_reset {
                        ours.messages.min(messages)
                    } else {
                        messages
                    },
                    code,
                    calls: 1,
                    next: Code::Ok,
                };
                if stage.is_empty() && leaves_unprocessed(end[0]) {
                    (expected.messages, expected.code, expected.calls) = (1, Code::Ok, 2);
                }
                assert_eq!(ours, expected, "{script:?}: {status:?}");
                let server = Scripted::start(script.clone()).await;
                let (tonics, status) = made(clients(&server.url).0, &server).await;
                assert!(
                    tonics.code == code || tonic_may_give(tonics.code, end[0]),
                    "{script:?}: {status:?}, ours {ours:?}"
                );
                assert_eq!(tonics.calls, 1, "{script:?}");
            }
        }
    });
}

#[test]
fn a_call_behind_a_goaway_that_leaves_it_its_time_ends_well() {
    run(async {
        for reason in reasons() {
            for last in [1, 0x7fff_ffff] {
                let goaway = Step::GoAway(last, reason);
                let answer = [Step::Head, Step::Message, Step::Trailers];
                for at in 0..=answer.len() {
                    let mut script = answer.to_vec();
                    script.insert(at, goaway);
                    let server = Scripted::start(script.clone()).await;
                    let (ours, status) = made(clients(&server.url).1, &server).await;
                    let expected = Made {
                        messages: 1,
                        code: Code::Ok,
                        calls: 1,
                        next: Code::Ok,
                    };
                    assert_eq!(ours, expected, "{script:?}: {status:?}");
                    let server = Scripted::start(script.clone()).await;
                    let (tonics, status) = made(clients(&server.url).0, &server).await;
                    // Its next call may be put on the connection that ends.
                    let tonics = Made {
                        next: Code::Ok,
                        ..tonics
                    };
                    assert_eq!(tonics, expected, "{script:?}: {status:?}");
                }
            }
        }
    });
}
