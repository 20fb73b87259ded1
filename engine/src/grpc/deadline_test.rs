use super::*;
use std::future::{Ready, ready};
use std::time::Duration;

type Outcome = Result<Response<GrpcBody<crate::Body>>, Status>;

/// The code of a call that ends with CANCELLED, with `time` left until its deadline.
fn code_of(time: Option<Duration>, side: Side) -> Code {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let cancelled: Ready<Result<Response<crate::Body>, Status>> =
        ready(Err(Status::cancelled("the peer reset the stream")));
    let outcome: Outcome = runtime.block_on(async {
        GrpcCall {
            call: cancelled,
            deadline: time.map(|time| Box::pin(sleep(time))),
            side,
        }
        .await
    });
    let status = match outcome {
        Err(status) => Some(status),
        Ok(response) => Status::from_header_map(response.headers()),
    };
    status.expect("it was cancelled").code()
}

#[test]
fn a_call_that_its_server_cancels_behind_the_deadline_has_exceeded_it() {
    let past = Some(Duration::ZERO);
    assert_eq!(code_of(past, Side::Client), Code::DeadlineExceeded);
}

#[test]
fn a_call_that_its_server_cancels_before_the_deadline_or_without_one_is_cancelled() {
    let later = Some(Duration::from_secs(600));
    assert_eq!(code_of(later, Side::Client), Code::Cancelled);
    assert_eq!(code_of(None, Side::Client), Code::Cancelled);
    assert_eq!(
        code_of(Some(Duration::ZERO), Side::Server(None)),
        Code::Cancelled
    );
}
