//! One exchange as its client plays it, and whether it went as it must.

use crate::clients::{AnyClient, Interims, RETRIES};
use crate::content;
use crate::handler::{BoxBody, BoxError};
use crate::plan::{End, Leaves, Plan, Reads};
use crate::records::{Seen, SeenEnd};
use crate::source::{PAUSE, TRAILER};
use http::{HeaderMap, Method, Response, StatusCode};
use http_body::Body as _;
use http_body_util::BodyExt as _;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Pieces with a pause behind them, of an answer that is read slowly.
const PAUSES_MAX: usize = 12;

/// How an exchange ended for its client.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// The client left.
    Left,
    Whole(Whole),
    Failed(BoxError),
}

#[derive(Debug)]
pub(crate) struct Whole {
    status: StatusCode,
    headers: HeaderMap,
    bytes: usize,
    /// Bytes that are not those of the answer.
    is_wrong: bool,
    trailers: Option<HeaderMap>,
    interims: usize,
}

pub(crate) async fn play(client: &AnyClient, plan: &Plan, url: &str) -> Outcome {
    let interims = Interims::default();
    let answered = tokio::select! {
        biased;
        answered = client.send(plan, url, &interims) => answered,
        () = leaves(plan.leaves) => return Outcome::Left,
    };
    match answered {
        Ok(response) => match read(plan, response).await {
            Ok(Some(mut whole)) => {
                whole.interims = interims.load(Ordering::SeqCst);
                Outcome::Whole(whole)
            }
            Ok(None) => Outcome::Left,
            Err(error) => Outcome::Failed(error),
        },
        Err(error) => Outcome::Failed(error),
    }
}

/// Ends when the client leaves before the answer.
async fn leaves(leaves: Leaves) {
    match leaves {
        Leaves::AfterTurns(turns) => {
            for _ in 0..turns {
                tokio::task::yield_now().await;
            }
        }
        Leaves::AfterMillis(millis) => {
            tokio::time::sleep(Duration::from_millis(millis as u64)).await;
        }
        Leaves::Never | Leaves::AfterBytes(_) => std::future::pending().await,
    }
}

/// `None`: the client left.
async fn read(plan: &Plan, response: Response<BoxBody>) -> Result<Option<Whole>, BoxError> {
    let (parts, mut body) = response.into_parts();
    let (content, _) = plan.answered();
    let mut whole = Whole {
        status: parts.status,
        headers: parts.headers,
        bytes: 0,
        is_wrong: false,
        trailers: None,
        interims: 0,
    };
    let mut pieces = 0;
    while !body.is_end_stream() {
        if let Leaves::AfterBytes(bytes) = plan.leaves
            && whole.bytes >= bytes
        {
            return Ok(None);
        }
        let Some(frame) = body.frame().await else {
            break;
        };
        match frame?.into_data() {
            Ok(data) => {
                whole.is_wrong |= !content::is_of(content, whole.bytes, &data);
                whole.bytes += data.len();
            }
            Err(frame) => whole.trailers = frame.into_trailers().ok(),
        }
        pieces += 1;
        if plan.client_is_slow && pieces <= PAUSES_MAX {
            tokio::time::sleep(PAUSE).await;
        }
    }
    Ok(Some(whole))
}

/// The rules of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    pub(crate) is_h1: bool,
    /// Peers of hyper's: what only ours promise is left out.
    pub(crate) ours_both: bool,
    pub(crate) our_client: bool,
    /// The server has begun to drain: a request may be refused that no handler has seen.
    pub(crate) is_draining: bool,
}

/// The fault of an exchange that has ended.
pub(crate) fn judge(plan: &Plan, outcome: &Outcome, seen: &Seen, rules: Rules) -> Option<String> {
    if seen.calls > calls_max(plan, rules) {
        return Some(format!("handlers got it {} times", seen.calls));
    }
    if seen.is_wrong {
        return Some("the handler got other bytes".into());
    }
    if plan.fails_upload() && matches!(seen.end, Some(SeenEnd::Whole | SeenEnd::WithTrailers)) {
        return Some("an upload that failed is whole at its handler".into());
    }
    match outcome {
        Outcome::Left => None,
        Outcome::Failed(error) if may_fail(plan, seen, rules) => {
            // Its text is for those that may not.
            let _ = error;
            None
        }
        Outcome::Failed(error) => Some(format!("it failed: {error:?}")),
        Outcome::Whole(whole) => judge_whole(plan, whole, seen, rules),
    }
}

/// Calls of handlers for one exchange. What is not idempotent comes to one; the client repeats others after errors.
fn calls_max(plan: &Plan, rules: Rules) -> u32 {
    let (_, answer) = plan.answered();
    let is_broken = answer.fails() || plan.fails_upload() || rules.is_draining || !rules.ours_both;
    match plan.method != Method::POST && is_broken {
        true => 1 + RETRIES,
        false => 1 + plan.refusals,
    }
}

fn may_fail(plan: &Plan, seen: &Seen, rules: Rules) -> bool {
    let (_, answer) = plan.answered();
    let unread = plan.upload.is_some()
        && !matches!(plan.reads, Reads::All | Reads::Echo | Reads::AheadOfEnd);
    plan.fails_upload()
        || answer.fails()
        || rules.is_draining && seen.calls <= plan.refusals
        // hyper sends the body of an answer to HEAD over HTTP/2.
        || rules.our_client && !rules.ours_both && plan.method == Method::HEAD
        // hyper closes connections with bytes that nothing reads.
        || rules.is_h1 && !rules.ours_both && (unread || plan.refusals > 0)
}

fn judge_whole(plan: &Plan, whole: &Whole, seen: &Seen, rules: Rules) -> Option<String> {
    if plan.refusals > 0 && !rules.our_client && whole.status == 503 {
        return None;
    }
    if plan.fails_upload() && whole.status == 400 {
        return None;
    }
    if whole.status != 200 {
        return Some(format!("its status is {}", whole.status));
    }
    if whole.is_wrong {
        return Some("the client got other bytes".into());
    }
    let (content, answer) = plan.answered();
    let length = match plan.method == Method::HEAD {
        true => 0,
        false => answer.length,
    };
    if answer.fails() && plan.method != Method::HEAD {
        return Some(format!(
            "an answer that failed is whole, with {} bytes",
            whole.bytes
        ));
    }
    if whole.bytes != length {
        return Some(format!("{} bytes came of {length}", whole.bytes));
    }
    if plan.fails_upload() && plan.answer_needs_upload() && plan.reads != Reads::AheadOfEnd {
        return Some("an upload that failed is answered".into());
    }
    let id = whole.headers.get("x-id").map(|id| id.to_str().unwrap());
    if plan.reads != Reads::Echo && id != Some(&plan.id.to_string()) {
        return Some(format!("the answer is that of {id:?}"));
    }
    // Over HTTP/1.1 a body of a known length has no trailers (RFC 9112 section 7.1.2).
    let has_trailers = answer.end == End::Trailers && plan.method != Method::HEAD;
    if has_trailers && !(rules.is_h1 && answer.is_declared) {
        let expected = &crate::source::trailers(content)[TRAILER];
        let received = whole.trailers.as_ref().and_then(|all| all.get(TRAILER));
        if received != Some(expected) {
            return Some(format!("its trailers are {:?}", whole.trailers));
        }
    }
    if rules.ours_both && whole.interims != plan.interims {
        return Some(format!("{} interim responses came", whole.interims));
    }
    judge_upload(plan, seen, rules)
}

/// The request of an answer that is whole and waits for it.
fn judge_upload(plan: &Plan, seen: &Seen, rules: Rules) -> Option<String> {
    let upload = plan.upload.as_ref()?;
    if upload.fails() || !plan.answer_needs_upload() {
        return None;
    }
    if seen.bytes != upload.length {
        return Some(format!(
            "{} bytes came to its handler of {}",
            seen.bytes, upload.length
        ));
    }
    let has_trailers = upload.end == End::Trailers && !(rules.is_h1 && upload.is_declared);
    let expected = match has_trailers {
        true => SeenEnd::WithTrailers,
        false => SeenEnd::Whole,
    };
    if seen.end != Some(expected) {
        return Some(format!("its request ended as {:?}", seen.end));
    }
    None
}
