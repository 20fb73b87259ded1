//! Submissions, read on the engine's thread and carried out.

use crate::client::Clients;
use crate::desk::{self, Desk};
use crate::environment::Shared;
use crate::exchange::{Ears, Upload, UploadBody};
use crate::failure;
use crate::head::{Heads, absolute_head, leaving_head};
use crate::ring::{Entry, Submissions};
use crate::servers::Serving;
use crate::streams;
use bytes::Bytes;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};
use trunkline::Body;
use trunkline::client::{Listening, Submission};

/// What JavaScript submits: the first byte of an entry's first word. `node/src/ring.ts` has the
/// same numbers. Word 1 is always the exchange's number.
const REQUEST: u32 = 1;
/// A piece of the request's body: words 3 and 4 its place, or word 5 where it lies.
const PIECE: u32 = 2;
/// The request's body is complete.
const END: u32 = 3;
/// The request's body failed.
const FAIL: u32 = 4;
/// Nobody wants the exchange any more.
const CANCEL: u32 = 5;
/// Word 2: bytes of the response's body that were taken.
const TAKE: u32 = 6;

/// How a request's body comes: the second byte of the first word.
const BODY_NONE: u32 = 0;
/// Behind the head, word 5 its length.
const BODY_INLINE: u32 = 1;
/// Word 5: where it lies.
const BODY_PUT: u32 = 2;
/// In pieces.
const BODY_STREAMING: u32 = 3;

/// The request asks for the connection itself.
const LEAVES_HTTP: u32 = 1 << 16;
/// Somebody wants to know on which connection it starts.
const WATCHED: u32 = 1 << 17;
/// An HTTP/1.1 connection ends behind it.
const ENDS_CONNECTION: u32 = 1 << 18;
/// Its path is an absolute URL.
const ABSOLUTE_FORM: u32 = 1 << 22;
/// Its user says that it may be sent twice, or that it may not.
const IDEMPOTENT: u32 = 1 << 19;
const NOT_IDEMPOTENT: u32 = 1 << 20;
/// Nothing is pipelined behind it before it is answered.
const BLOCKS: u32 = 1 << 21;

/// One exchange by its number.
struct Open {
    listening: Listening,
    upload: Option<Arc<Upload>>,
}

/// Reads submissions.
pub(crate) struct Intake {
    shared: Arc<Shared>,
    submissions: Submissions,
    open: Vec<Option<Open>>,
    heads: Heads,
    desk: Rc<Desk>,
    serving: Serving,
}

impl Intake {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        let submissions = Submissions::new(Arc::clone(&shared.memory));
        let desk = Desk::new(&shared);
        let serving = Serving::new(&shared, &desk);
        Self {
            shared,
            submissions,
            open: Vec::new(),
            heads: Heads::default(),
            desk,
            serving,
        }
    }

    /// Carries out everything that is there. Inside the engine's `LocalSet`.
    pub(crate) fn run(&mut self) {
        let shared = Arc::clone(&self.shared);
        shared.spill();
        for task in shared.take_tasks() {
            self.serving.carry_out(task);
        }
        let now = Instant::now();
        let clients = shared.clients();
        let Self {
            shared,
            submissions,
            open,
            heads,
            desk,
            ..
        } = self;
        while submissions.next(range, |entry, bytes| match entry[0] & 0xff {
            streams::PIECE.. => carry_bytes(shared, &entry, bytes),
            desk::ANSWER.. => desk.carry_out(now, &entry, bytes),
            _ => carry_out(shared, &clients, (open, heads), &entry, bytes),
        }) {}
        for (connection, seen) in shared.glances.take() {
            desk.glance(connection, seen);
        }
    }
}

/// The bytes of the arena that belong to an entry.
fn range(entry: &Entry) -> Option<(u32, u32)> {
    match (entry[0] & 0xff, entry[0] >> 8 & 0xff) {
        (REQUEST, BODY_INLINE) => Some((entry[3], entry[4].saturating_add(entry[5]))),
        (REQUEST, _) => Some((entry[3], entry[4])),
        (PIECE | streams::PIECE, BODY_INLINE) => Some((entry[3], entry[4])),
        _ => desk::range(entry),
    }
}

/// Applies a submission that is of a stream of JavaScript's.
fn carry_bytes(shared: &Shared, entry: &Entry, bytes: &[u8]) {
    let (streams, number) = (&shared.streams, entry[1]);
    match (entry[0] & 0xff, entry[0] >> 8 & 0xff) {
        (streams::PIECE, BODY_PUT) => streams.push(number, shared.take_put(entry[5])),
        (streams::PIECE, _) => streams.push(number, Bytes::copy_from_slice(bytes)),
        (streams::END, _) => streams.end(number, streams::End::InOrder),
        (streams::FAIL, _) => streams.end(number, streams::End::Failed),
        (streams::MARK, _) => streams.mark(),
        (streams::TAKE, _) => streams.take(number, entry[2] as usize),
        (verb, _) => debug_assert!(false, "no verb is {verb}"),
    }
}

fn carry_out(
    shared: &Arc<Shared>,
    clients: &Clients,
    (open, heads): (&mut Vec<Option<Open>>, &mut Heads),
    entry: &Entry,
    bytes: &[u8],
) {
    let number = entry[1] as usize;
    let verb = entry[0] & 0xff;
    debug_assert!((REQUEST..=TAKE).contains(&verb), "no verb is {verb}");
    // Taken before anybody is asked who wants it: what nobody does must not stay.
    let data = match (verb, entry[0] >> 8 & 0xff) {
        (REQUEST | PIECE, BODY_PUT) => shared.take_put(entry[5]),
        (PIECE, _) => Bytes::copy_from_slice(bytes),
        _ => Bytes::new(),
    };
    if verb == REQUEST {
        let begun = begin(shared, clients, heads, entry, bytes, data);
        if open.len() <= number {
            open.resize_with(number + 1, || None);
        }
        open[number] = begun;
        return;
    }
    let Some(place) = open.get_mut(number) else {
        return;
    };
    let Some(exchange) = place.as_ref() else {
        return;
    };
    match (verb, &exchange.upload) {
        (PIECE, Some(upload)) => upload.push(data),
        (END, Some(upload)) => upload.end(),
        (FAIL, Some(upload)) => upload.fail(),
        (TAKE, _) => exchange.listening.take(entry[2] as usize),
        (CANCEL, _) => {
            exchange.listening.cancel();
            *place = None;
        }
        _ => {}
    }
}

/// `put`: the body, where it was put somewhere.
fn begin(
    shared: &Arc<Shared>,
    clients: &Clients,
    heads: &mut Heads,
    entry: &Entry,
    bytes: &[u8],
    put: Bytes,
) -> Option<Open> {
    let number = entry[1];
    let mut ears = Box::new(Ears::new(shared, number, entry[0] & WATCHED != 0));
    let head_length = (entry[4] as usize).min(bytes.len());
    let (head, inline) = bytes.split_at(head_length);
    let Some(target) = clients.target(entry[2]) else {
        refuse(&mut ears, "the client is closed");
        return None;
    };
    let scheme = target.origin.scheme.as_str();
    let leaves_http = entry[0] & LEAVES_HTTP != 0;
    let made = match leaves_http {
        false if entry[0] & ABSOLUTE_FORM != 0 => absolute_head(head),
        false => heads.read(scheme, head),
        true => leaving_head(head),
    };
    let head = match made {
        Ok(head) => head,
        Err(why) => {
            refuse(&mut ears, &why);
            return None;
        }
    };
    let mut upload = None;
    let body = match entry[0] >> 8 & 0xff {
        BODY_INLINE => Body::full(Bytes::copy_from_slice(inline)),
        BODY_PUT => Body::full(put),
        BODY_STREAMING => {
            let pieces = Arc::<Upload>::default();
            ears.watch_upload(&pieces, leaves_http || head.protocol().is_some());
            upload = Some(Arc::clone(&pieces));
            Body::wrap(UploadBody {
                upload: pieces,
                shared: Arc::clone(shared),
                number,
            })
        }
        _ => {
            debug_assert_eq!(entry[0] >> 8 & 0xff, BODY_NONE);
            Body::empty()
        }
    };
    let time = |ms: u32| (ms > 0).then(|| Duration::from_millis(u64::from(ms)));
    let submission = Submission {
        origin: Arc::clone(&target.origin),
        head,
        body,
        leaves_http,
        ends_connection: entry[0] & ENDS_CONNECTION != 0,
        idempotent: match entry[0] & (IDEMPOTENT | NOT_IDEMPOTENT) {
            IDEMPOTENT => Some(true),
            NOT_IDEMPOTENT => Some(false),
            _ => None,
        },
        blocks: entry[0] & BLOCKS != 0,
        absolute_form: entry[0] & ABSOLUTE_FORM != 0,
        headers_timeout: time(entry[6]),
        body_timeout: time(entry[7]),
        queue_timeout: None,
    };
    let listening = target.client.submit(submission, ears);
    Some(Open { listening, upload })
}

fn refuse(ears: &mut Ears, why: &str) {
    ears.refuse(&failure::refusal("config", why));
}
