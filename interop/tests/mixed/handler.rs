//! The handler of servers whose requests are those of the crate `http`: ours of both kinds, and hyper.

use crate::plan::{End, Plan, Reads};
use crate::records::{Records, Watched};
use crate::source::{PAUSE, Source, TRAILER};
use bytes::Bytes;
use http::{HeaderValue, Request, Response, StatusCode, header};
use http_body::Body;
use http_body_util::BodyExt as _;
use http_body_util::combinators::UnsyncBoxBody;
use std::error::Error;
use std::sync::Arc;
use tokio::sync::oneshot;
use trunkline::InterimSender;

pub(crate) type BoxError = Box<dyn Error + Send + Sync>;
pub(crate) type BoxBody = UnsyncBoxBody<Bytes, BoxError>;

/// Pieces with a pause behind them, of a request that is read slowly.
const PAUSES_MAX: usize = 12;

pub(crate) async fn answer<B>(records: Arc<Records>, request: Request<B>) -> Response<BoxBody>
where
    B: Body<Data = Bytes> + Send + Unpin + 'static,
    B::Error: Into<BoxError> + Send,
{
    let (parts, body) = request.into_parts();
    let call = Arc::new(records.enter(parts.uri.path()));
    let plan = Arc::clone(&call.plan);
    let body = Watched {
        body,
        call: Arc::clone(&call),
    };
    if call.number <= plan.refusals {
        return status(StatusCode::SERVICE_UNAVAILABLE);
    }
    if let Some(interims) = parts.extensions.get::<InterimSender>() {
        for _ in 0..plan.interims {
            let hints = Response::builder().status(StatusCode::EARLY_HINTS);
            // The client may be gone.
            let _ = interims.send(hints.body(()).unwrap());
            tokio::task::yield_now().await;
        }
    }
    match body_of(body, &plan).await {
        Some(body) => response(&plan, body),
        None => status(StatusCode::BAD_REQUEST),
    }
}

/// Reads as the plan says. The body of the answer, which holds what lives as long; `None`: the request broke off.
async fn body_of<B>(body: Watched<B>, plan: &Plan) -> Option<BoxBody>
where
    B: Body<Data = Bytes> + Send + Unpin + 'static,
    B::Error: Into<BoxError> + Send,
{
    let call = Arc::clone(&body.call);
    let (content, answer) = plan.answered();
    let source = Source::new(content, answer).holding(Arc::clone(&call));
    let is_slow = plan.reads_slowly;
    let source = match plan.reads {
        Reads::All => {
            read(body, usize::MAX, is_slow).await.ok()?;
            source
        }
        Reads::Part(bytes) => {
            read(body, bytes, is_slow).await.ok()?;
            source
        }
        Reads::Nothing => {
            drop(body);
            source
        }
        Reads::Kept => source.holding(body),
        Reads::Beside => {
            tokio::spawn(async move {
                // A body that is not whole is in the records.
                let _ = read(body, usize::MAX, is_slow).await;
            });
            source
        }
        Reads::AheadOfEnd => {
            let (read_all, until) = oneshot::channel();
            tokio::spawn(async move {
                // A body that is not whole is in the records.
                let _ = read(body, usize::MAX, is_slow).await;
                let _ = read_all.send(());
            });
            source.until(until)
        }
        Reads::Echo => return Some(body.map_err(Into::into).boxed_unsync()),
    };
    Some(source.map_err(Into::into).boxed_unsync())
}

/// Reads at least `bytes` of what there is.
async fn read<B>(mut body: Watched<B>, bytes: usize, is_slow: bool) -> Result<(), B::Error>
where
    B: Body<Data = Bytes> + Unpin,
{
    let (mut came, mut pieces) = (0, 0);
    while came < bytes
        && let Some(frame) = body.frame().await
    {
        came += frame?.data_ref().map_or(0, Bytes::len);
        pieces += 1;
        if is_slow && pieces <= PAUSES_MAX {
            tokio::time::sleep(PAUSE).await;
        }
    }
    Ok(())
}

fn response(plan: &Plan, body: BoxBody) -> Response<BoxBody> {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert("x-id", HeaderValue::from(plan.id));
    if plan.answered().1.end == End::Trailers {
        headers.insert(header::TRAILER, HeaderValue::from_static(TRAILER));
    }
    response
}

fn status(status: StatusCode) -> Response<BoxBody> {
    let body = http_body_util::Empty::new();
    let mut response = Response::new(body.map_err(|never| match never {}).boxed_unsync());
    *response.status_mut() = status;
    response
}
