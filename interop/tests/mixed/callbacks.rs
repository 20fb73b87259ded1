//! The handler of a server with callbacks. An exchange is a task of the thread that serves.

use crate::dice::Dice;
use crate::plan::{End, Feeds, Pace, Plan, Reads};
use crate::records::{Call, Records, SeenEnd};
use crate::source::{PAUSE, Source, TRAILER};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method};
use http_body_util::BodyExt as _;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::{Notify, oneshot};
use trunkline::ConnectionInfo;
use trunkline::core::error::H2Code;
use trunkline::core::http::{Fields, RequestHead, Version};
use trunkline::server::{
    Answer, Callbacks, ConnectionHandle, Ended, Pause, ResponseBody, StreamHandle,
};

/// Bytes that an answer is ahead of its connection, at most.
const AHEAD_MAX: usize = 100_000;

#[derive(Clone)]
pub(crate) struct Site {
    pub(crate) records: Arc<Records>,
    pub(crate) dice: Rc<RefCell<Dice>>,
}

/// An exchange.
pub(crate) struct Exchange {
    call: Arc<Call>,
    handle: StreamHandle,
    connection: ConnectionHandle,
    /// The unread part of the request: bytes, and its end.
    parts: RefCell<VecDeque<(Bytes, bool)>>,
    trailers: RefCell<Option<HeaderMap>>,
    is_over: Cell<bool>,
    ahead: Cell<usize>,
    changed: Notify,
}

impl Callbacks for Site {
    type Connection = ConnectionHandle;
    type Exchange = Rc<Exchange>;

    /// Short pauses at any time, as of an embedder that is behind.
    fn pause(&self) -> Option<Pause> {
        let pauses = self.dice.borrow_mut().once_in(10);
        pauses.then(|| -> Pause { Box::pin(tokio::time::sleep(PAUSE)) })
    }
    fn connected(
        &self,
        connection: ConnectionHandle,
        _: Version,
        _: Option<&ConnectionInfo>,
    ) -> ConnectionHandle {
        connection
    }
    fn requested(
        &self,
        connection: &ConnectionHandle,
        handle: StreamHandle,
        head: &RequestHead,
        end: bool,
    ) -> Rc<Exchange> {
        let path = std::str::from_utf8(head.path().unwrap()).unwrap();
        let exchange = Rc::new(Exchange {
            call: Arc::new(self.records.enter(path)),
            handle,
            connection: connection.clone(),
            parts: RefCell::default(),
            trailers: RefCell::default(),
            is_over: Cell::new(false),
            ahead: Cell::new(0),
            changed: Notify::new(),
        });
        if end {
            let parts = &exchange.parts;
            parts.borrow_mut().push_back((Bytes::new(), true));
        }
        tokio::task::spawn_local(serve(Rc::clone(&exchange)));
        exchange
    }
    fn body(&self, exchange: &Rc<Exchange>, data: Bytes, end: bool) {
        exchange.parts.borrow_mut().push_back((data, end));
        exchange.changed.notify_waiters();
    }
    fn trailers(&self, exchange: &Rc<Exchange>, fields: &Fields) {
        let mut trailers = HeaderMap::new();
        for field in fields.iter() {
            let name = http::HeaderName::from_bytes(field.name).unwrap();
            let value = HeaderValue::from_bytes(field.value).unwrap();
            trailers.append(name, value);
        }
        *exchange.trailers.borrow_mut() = Some(trailers);
        let end = (Bytes::new(), true);
        exchange.parts.borrow_mut().push_back(end);
        exchange.changed.notify_waiters();
    }
    fn room(&self, exchange: &Rc<Exchange>, bytes: usize) {
        let ahead = exchange.ahead.get().checked_sub(bytes);
        exchange
            .ahead
            .set(ahead.expect("no more room than was sent"));
        exchange.changed.notify_waiters();
    }
    fn ended(&self, exchange: Rc<Exchange>, _: Ended) {
        let was_over = exchange.is_over.replace(true);
        assert!(!was_over, "{:?} ends twice", exchange.call.plan);
        exchange.changed.notify_waiters();
    }
    fn disconnected(&self, _: ConnectionHandle) {}
}

impl Exchange {
    /// Waits until `found` has something; `None`: the exchange is over before.
    async fn wait<T>(&self, found: impl Fn(&Self) -> Option<T>) -> Option<T> {
        loop {
            let changed = self.changed.notified();
            if let Some(found) = found(self) {
                return Some(found);
            }
            if self.is_over.get() {
                return None;
            }
            changed.await;
        }
    }
    /// Reads until at least `bytes` came. Each piece goes to `piece` before it counts as read; false: the request broke off.
    async fn read(&self, bytes: usize, mut piece: impl AsyncFnMut(Bytes)) -> bool {
        let (mut came, mut pieces) = (0, 0);
        while came < bytes {
            let part = self.wait(|exchange| exchange.parts.borrow_mut().pop_front());
            let Some((data, end)) = part.await else {
                self.call.end(SeenEnd::Failed);
                return false;
            };
            pieces += 1;
            came += data.len();
            if !data.is_empty() {
                self.call.data(&data);
                let length = data.len();
                piece(data).await;
                self.connection.take(self.handle, length);
            }
            if end {
                if let Some(trailers) = self.trailers.borrow_mut().take() {
                    self.call.trailers(&trailers);
                }
                self.call.end(SeenEnd::Whole);
                return true;
            }
            if self.call.plan.reads_slowly && pieces < 12 {
                tokio::time::sleep(PAUSE).await;
            }
        }
        true
    }
    async fn read_all(&self) -> bool {
        self.read(usize::MAX, async |_| {}).await
    }
    fn decline(&self) {
        self.connection.decline(self.handle);
    }
    fn answer(&self, status: u16, fields: &[u8], body: ResponseBody, quiet: bool) {
        let answer = Answer {
            status,
            reason: None,
            fields,
            body,
            date: false,
            length: true,
            quiet,
        };
        self.connection.answer(Instant::now(), self.handle, answer);
    }
    async fn send(&self, piece: Bytes) {
        let room = self.wait(|exchange| (exchange.ahead.get() < AHEAD_MAX).then_some(()));
        if room.await.is_some() {
            self.ahead.set(self.ahead.get() + piece.len());
            self.connection.send(self.handle, piece, false);
        }
    }
    fn finish(&self, trailers: Option<&HeaderMap>) {
        let mut fields = Vec::new();
        if let Some(value) = trailers.and_then(|trailers| trailers.get(TRAILER)) {
            fields = [TRAILER.as_bytes(), &[0], value.as_bytes()].concat();
        }
        self.connection.finish(self.handle, &fields);
    }
    fn fail(&self) {
        self.connection.reset(self.handle, H2Code::INTERNAL_ERROR);
    }
}

async fn serve(exchange: Rc<Exchange>) {
    let plan = Arc::clone(&exchange.call.plan);
    if exchange.call.number <= plan.refusals {
        exchange.decline();
        return exchange.answer(503, b"", ResponseBody::Nothing, false);
    }
    for _ in 0..plan.interims {
        let (now, handle) = (Instant::now(), exchange.handle);
        let sent = exchange
            .connection
            .send_informational(now, handle, 103, b"");
        sent.unwrap();
        tokio::task::yield_now().await;
    }
    let mut until = None;
    match plan.reads {
        Reads::All if !exchange.read_all().await => {
            return exchange.answer(400, b"", ResponseBody::Nothing, false);
        }
        Reads::Part(bytes) => {
            if !exchange.read(bytes, async |_| {}).await {
                return exchange.answer(400, b"", ResponseBody::Nothing, false);
            }
            exchange.decline();
        }
        Reads::Nothing => exchange.decline(),
        Reads::Beside | Reads::AheadOfEnd => {
            let (read, all) = oneshot::channel();
            let reading = Rc::clone(&exchange);
            tokio::task::spawn_local(async move {
                reading.read_all().await;
                // An answer that does not wait has no receiver.
                let _ = read.send(());
            });
            until = (plan.reads == Reads::AheadOfEnd).then_some(all);
        }
        Reads::All | Reads::Kept => {}
        Reads::Echo => return echo(&exchange, &plan).await,
    }
    answer(&exchange, &plan, until).await;
    if plan.reads == Reads::Kept {
        exchange.decline();
    }
}

fn fields(plan: &Plan) -> Vec<u8> {
    let (_, body) = plan.answered();
    let mut fields = format!("x-id\0{}", plan.id);
    if body.end == End::Trailers {
        fields += &format!("\0trailer\0{TRAILER}");
    }
    fields.into()
}

/// As [`fields`], with the length of a body in pieces that is declared.
fn fields_with_length(plan: &Plan) -> Vec<u8> {
    let (_, body) = plan.answered();
    let mut fields = fields(plan);
    if body.is_declared {
        fields.extend(format!("\0content-length\0{}", body.length).as_bytes());
    }
    fields
}

async fn answer(exchange: &Rc<Exchange>, plan: &Plan, until: Option<oneshot::Receiver<()>>) {
    let (content, body) = plan.answered();
    let mut source = Source::new(content, body);
    let is_whole = body.end == End::Whole && body.pace == Pace::AtOnce && body.is_declared;
    if is_whole && until.is_none() && plan.feeds != Feeds::Channel {
        let whole = crate::content::bytes_of(content, 0, body.length);
        let quiet = plan.reads == Reads::Nothing && body.knows_end;
        return exchange.answer(200, &fields(plan), ResponseBody::Whole(whole), quiet);
    }
    exchange.answer(
        200,
        &fields_with_length(plan),
        ResponseBody::Streaming,
        false,
    );
    if let Some(until) = until {
        source = source.until(until);
    }
    if plan.method == Method::HEAD {
        return exchange.finish(None);
    }
    while let Some(frame) = source.frame().await {
        match frame.map(|frame| frame.into_data()) {
            Ok(Ok(piece)) => exchange.send(piece).await,
            Ok(Err(trailers)) => return exchange.finish(trailers.trailers_ref()),
            Err(_) => return exchange.fail(),
        }
        if exchange.is_over.get() {
            return;
        }
    }
    exchange.finish(None);
}

async fn echo(exchange: &Rc<Exchange>, plan: &Plan) {
    exchange.answer(
        200,
        &fields_with_length(plan),
        ResponseBody::Streaming,
        false,
    );
    let all = exchange.read(usize::MAX, async |piece| exchange.send(piece).await);
    if !all.await {
        return exchange.fail();
    }
    let (content, body) = plan.answered();
    let trailers = crate::source::trailers(content);
    exchange.finish((body.end == End::Trailers).then_some(&trailers));
}
