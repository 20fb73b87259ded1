//! Reads submissions on the engine's thread and carries them out.

use super::Registry;
use crate::channel::codes::{NUMBER, body, submission, submission_flag};
use crate::channel::heads::head::{Heads, absolute_head, leaving_head};
use crate::channel::records;
use crate::channel::ring::{Entry, Submissions, body_of, code_of};
use crate::channel::shared::Shared;
use crate::channel::shared::stream_table::End;
use crate::client::Clients;
use crate::client::exchange::{ExchangeCallbacks, Upload, UploadBody, UploadKind};
use crate::failure;
use crate::server::bridge::ServerBridge;
use crate::server::bridge::load::Load;
use crate::server::calls::Serving;

use crate::server::traffic;
use bytes::Bytes;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use trunkline::Body;
use trunkline::client::{Submission, SubmittedExchange};

/// One exchange by its number.
struct Open {
    listening: SubmittedExchange,
    upload: Option<Arc<Upload>>,
    /// It asks for the bytes of its connection or its stream.
    is_tunnel: bool,
}

/// Reads submissions.
pub(crate) struct Intake {
    shared: Arc<Shared>,
    registry: Arc<Registry>,
    submissions: Submissions,
    open: Vec<Option<Open>>,
    heads: Heads,
    server_bridge: Rc<ServerBridge>,
    serving: Serving,
}

impl Intake {
    pub(crate) fn new(
        shared: Arc<Shared>,
        registry: Arc<Registry>,
        load: Option<Rc<Load>>,
    ) -> Self {
        let submissions = Submissions::new(Arc::clone(&shared.memory));
        let server_bridge = ServerBridge::new(&shared, &registry.traffics, load);
        let serving = Serving::new(&shared, &server_bridge);
        Self {
            shared,
            registry,
            submissions,
            open: Vec::new(),
            heads: Heads::default(),
            server_bridge,
            serving,
        }
    }

    /// Reads submissions until the environment closes. `load`: of the thread of an engine on JavaScript's.
    pub(crate) async fn read(shared: Arc<Shared>, registry: Arc<Registry>, load: Option<Rc<Load>>) {
        let mut intake = Self::new(Arc::clone(&shared), registry, load);
        while !shared.closing.load(Ordering::Acquire) {
            intake.run();
            shared.intake.notified().await;
        }
    }

    /// Carries out everything that is there. Inside the engine's `LocalSet`.
    pub(crate) fn run(&mut self) {
        self.shared.spill();
        for task in self.registry.take_tasks() {
            self.serving.carry_out(task);
        }
        let now = Instant::now();
        let Self {
            shared,
            registry,
            submissions,
            open,
            heads,
            server_bridge,
            ..
        } = self;
        let mut clients = registry.clients();
        while submissions.next(records::range, |entry, bytes| match code_of(&entry) {
            submission::STREAM_PIECE.. => carry_bytes(shared, &entry, bytes),
            submission::RESPOND.. => server_bridge.carry_out(now, &entry, bytes),
            _ => carry_out(shared, &clients, (open, heads), &entry, bytes),
        }) {}
        clients.leave_bodies();
        traffic::settle(&registry.traffics);
        for (connection, seen) in registry.snapshot_requests.take() {
            server_bridge.snapshot(connection, seen);
        }
    }
}

/// Applies a submission that is of a stream of JavaScript's.
fn carry_bytes(shared: &Shared, entry: &Entry, bytes: &[u8]) {
    let (streams, number) = (&shared.streams, entry[NUMBER]);
    match (code_of(entry), body_of(entry)) {
        (submission::STREAM_PIECE, body::BY_REFERENCE) => {
            let put = shared.take_put(entry[submission::stream_piece::BODY]);
            streams.push(number, put);
        }
        (submission::STREAM_PIECE, _) => streams.push(number, Bytes::copy_from_slice(bytes)),
        (submission::STREAM_END, _) => streams.end(number, End::InOrder),
        (submission::STREAM_FAIL, _) => streams.end(number, End::Failed),
        (submission::MARK, _) => streams.mark(),
        (submission::STREAM_TAKE, _) => {
            streams.take(number, entry[submission::stream_take::BYTES] as usize);
        }
        (code, _) => debug_assert!(false, "no submission has the code {code}"),
    }
}

fn carry_out(
    shared: &Arc<Shared>,
    clients: &Clients,
    (open, heads): (&mut Vec<Option<Open>>, &mut Heads),
    entry: &Entry,
    bytes: &[u8],
) {
    let number = entry[NUMBER] as usize;
    let code = code_of(entry);
    debug_assert!(
        (submission::REQUEST..=submission::TAKE).contains(&code),
        "no submission has the code {code}"
    );
    // Taken before its receiver is looked up: bytes without one must not stay.
    let data = match (code, body_of(entry)) {
        (submission::REQUEST, body::BY_REFERENCE) => {
            shared.take_put(entry[submission::request::BODY])
        }
        (submission::PIECE, body::BY_REFERENCE) => shared.take_put(entry[submission::piece::BODY]),
        (submission::PIECE, _) => Bytes::copy_from_slice(bytes),
        _ => Bytes::new(),
    };
    if code == submission::REQUEST {
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
    match (code, &exchange.upload) {
        (submission::PIECE, Some(upload)) => upload.push(data),
        (submission::END, Some(upload)) => upload.end(),
        (submission::FAIL, Some(upload)) => upload.fail(),
        (submission::TAKE, _) => {
            let bytes = entry[submission::take::BYTES];
            exchange.listening.take(bytes as usize);
        }
        (submission::CANCEL, _) => {
            // Bytes that were written before leave a tunnel, as that of a socket which is destroyed.
            let failed = |upload: &Arc<Upload>| upload.has_failed();
            match exchange.is_tunnel {
                true => exchange.listening.leave(),
                false if exchange.upload.as_ref().is_some_and(failed) => {
                    exchange.listening.fail_source();
                }
                false => exchange.listening.cancel(),
            }
            *place = None;
        }
        _ => {}
    }
}

/// The body whose pieces are submitted under `number`.
fn streaming(shared: &Arc<Shared>, number: u32, upload: &Arc<Upload>) -> Body {
    Body::wrap(UploadBody {
        upload: Arc::clone(upload),
        shared: Arc::clone(shared),
        number,
    })
}

/// Whether the user says that a request may be sent twice; `None`: its method decides.
fn idempotent(entry: &Entry) -> Option<bool> {
    let yes = entry[0] & submission_flag::IDEMPOTENT != 0;
    let no = entry[0] & submission_flag::NOT_IDEMPOTENT != 0;
    (yes != no).then_some(yes)
}

/// `put`: the body, where it crossed by reference.
fn begin(
    shared: &Arc<Shared>,
    clients: &Clients,
    heads: &mut Heads,
    entry: &Entry,
    bytes: &[u8],
    put: Bytes,
) -> Option<Open> {
    let number = entry[NUMBER];
    let is_flagged = |flag: u32| entry[0] & flag != 0;
    let is_watched = is_flagged(submission_flag::WATCHED);
    let mut callbacks = Box::new(ExchangeCallbacks::new(shared, number, is_watched));
    let (head, inline) = records::text_and_body(entry, bytes);
    let Some(target) = clients.target(entry[submission::request::ORIGIN]) else {
        refuse(&mut callbacks, "the client is closed");
        return None;
    };
    let scheme = target.origin.scheme.as_str();
    let leaves_http = is_flagged(submission_flag::LEAVES_HTTP);
    let is_absolute = is_flagged(submission_flag::ABSOLUTE_FORM);
    let made = match leaves_http {
        false if is_absolute => absolute_head(head),
        false => heads.read(scheme, head),
        true => leaving_head(head),
    };
    let head = match made {
        Ok(head) => head,
        Err(why) => {
            refuse(&mut callbacks, &why);
            return None;
        }
    };
    // An extended CONNECT is one too.
    let kind = match head.method() {
        b"CONNECT" => UploadKind::Connect,
        _ if leaves_http => UploadKind::Upgrade,
        _ => UploadKind::Content,
    };
    let (body, upload) = match body_of(entry) {
        body::INLINE => (Body::full(Bytes::copy_from_slice(inline)), None),
        body::BY_REFERENCE => (Body::full(put), None),
        body::STREAMING => {
            let upload = Arc::<Upload>::default();
            callbacks.watch_upload(&upload, kind);
            (streaming(shared, number, &upload), Some(upload))
        }
        _ => (Body::empty(), None),
    };
    let time = |ms: u32| (ms > 0).then(|| Duration::from_millis(u64::from(ms)));
    let submission = Submission {
        origin: Arc::clone(&target.origin),
        head,
        body,
        leaves_http,
        ends_connection: is_flagged(submission_flag::ENDS_CONNECTION),
        idempotent: idempotent(entry),
        blocks: is_flagged(submission_flag::BLOCKS),
        head_with_body: is_flagged(submission_flag::HEAD_WITH_BODY),
        body_ends_connection: is_flagged(submission_flag::BODY_ENDS_CONNECTION),
        absolute_form: is_absolute,
        headers_timeout: time(entry[submission::request::HEADERS_TIMEOUT]),
        body_timeout: time(entry[submission::request::BODY_TIMEOUT]),
        queue_timeout: None,
    };
    let listening = target.client.submit(submission, callbacks);
    Some(Open {
        listening,
        upload,
        is_tunnel: kind != UploadKind::Content,
    })
}

fn refuse(callbacks: &mut ExchangeCallbacks, why: &str) {
    callbacks.refuse(&failure::refusal("config", why));
}
