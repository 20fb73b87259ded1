//! Generates the load: connections that each keep `streams` requests in flight, or send when one is
//! due.

use super::report::Outcome;
use super::tally::Tally;
use super::{Plan, Protocol, request};
use crate::failure::Failure;
use crate::system::{cpu_time, through_unix_socket};
use indicatif::{ProgressBar, ProgressStyle};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::{Duration, Instant};
use trunkline::client::{Client, ClientTls, Direct, DirectTurn, Next, Protocols};
use trunkline::core::error::Misuse;
use trunkline::core::http::{Event, RequestHead, StreamId, Version};
use trunkline::{Limits, Windows};

/// How often the progress bar is drawn.
const PROGRESS_EVERY: Duration = Duration::from_millis(200);

/// The pauses in front of connections behind one that has brought no answer.
const PAUSES_MS: [u64; 5] = [10, 30, 100, 300, 1000];

/// State that all connections share; one thread drives them.
struct Shared {
    head: RequestHead,
    body: Option<bytes::Bytes>,
    /// Requests not yet started.
    left: Cell<u64>,
    tally: RefCell<Tally>,
    /// When the first request was due, and the time between two (open loop).
    schedule: Option<Schedule>,
    started: Cell<u64>,
    /// The end of the warm-up; `None`: it lasts, and its requests are not counted.
    counted_from: Cell<Option<Instant>>,
    streams: u32,
}

impl Shared {
    /// Counts a request that cannot be sent as failed: it is none of those that are left.
    fn fail_one(&self, why: String) {
        if self.left.get() > 0 {
            self.left.set(self.left.get() - 1);
            self.started.set(self.started.get() + 1);
            self.tally.borrow_mut().fail(why, 1);
        }
    }
}

struct Schedule {
    from: Instant,
    every: Duration,
}

/// Runs the plan on this thread.
pub(super) async fn run(plan: &Plan, tls: ClientTls) -> Result<Outcome, Failure> {
    let client = client(plan, tls)?;
    let bar = progress(plan);
    let (connections, tally) = connections(&client, plan).await?;
    let shared = Rc::new(Shared {
        head: request::head(plan)?,
        body: plan.body.clone(),
        left: Cell::new(match plan.warm_up {
            Some(_) => u64::MAX,
            None => plan.requests,
        }),
        tally: RefCell::new(tally),
        schedule: plan.rate.map(|rate| Schedule {
            from: Instant::now(),
            every: Duration::from_secs(1) / rate.min(u64::from(u32::MAX)) as u32,
        }),
        started: Cell::new(0),
        counted_from: Cell::new(plan.warm_up.is_none().then(Instant::now)),
        streams: plan.streams,
    });
    let cpu_from = Rc::new(Cell::new(cpu_time()));
    let local = tokio::task::LocalSet::new();
    let tasks: Vec<_> = connections
        .into_iter()
        .map(|first| {
            local.spawn_local(keep_going(
                client.clone(),
                plan.target.uri.to_string(),
                first,
                Rc::clone(&shared),
            ))
        })
        .collect();
    local.spawn_local(watch(Rc::clone(&shared), bar.clone()));
    local.spawn_local(phases(
        plan.warm_up,
        plan.requests,
        plan.duration,
        Rc::clone(&shared),
        Rc::clone(&cpu_from),
    ));
    let all = async {
        for task in tasks {
            // A task that panicked has said so; its requests stay unanswered.
            let _ = task.await;
        }
    };
    let most = plan.timeout + plan.warm_up.unwrap_or_default() + plan.duration.unwrap_or_default();
    let in_time = tokio::time::timeout(most, local.run_until(all))
        .await
        .is_ok();
    let wall = shared.counted_from.get();
    let wall = wall.map_or(Duration::ZERO, |from| from.elapsed());
    let cpu = cpu_time().saturating_sub(cpu_from.get());
    bar.finish_and_clear();
    drop(local);
    let mut tally = shared.tally.replace(Tally::new());
    let sent = match plan.duration {
        Some(_) => shared.started.get().saturating_sub(tally.warmed_up),
        None => plan.requests,
    };
    fail_missing(&mut tally, sent, in_time);
    Ok(Outcome { wall, cpu, tally })
}

/// Counts the requests without an outcome as failed.
fn fail_missing(tally: &mut Tally, sent: u64, in_time: bool) {
    let missing = sent.saturating_sub(tally.answered + tally.failures());
    if missing > 0 {
        let why = if in_time {
            "never sent: no connection was left"
        } else {
            "unanswered at --timeout"
        };
        tally.fail(why, missing);
    }
}

/// Opens the connections, and counts them.
async fn connections(client: &Client, plan: &Plan) -> Result<(Vec<Direct>, Tally), Failure> {
    let mut connections = Vec::new();
    let mut tally = Tally::new();
    for _ in 0..plan.connections {
        let begun = Instant::now();
        let connected = client.connect(plan.target.uri.to_string()).await;
        tally.connected(begun.elapsed());
        connections.push(connected.map_err(|error| Failure::remote(format_args!("{error:#}")))?);
    }
    tally.connections = connections.len() as u64;
    tally.protocol = match connections.first().map(Direct::version) {
        Some(Version::Http3) => "h3",
        Some(Version::Http2) => "h2",
        _ => "http/1.1",
    };
    Ok((connections, tally))
}

/// Ends the warm-up, and the run after its duration.
async fn phases(
    warm_up: Option<Duration>,
    requests: u64,
    duration: Option<Duration>,
    shared: Rc<Shared>,
    cpu_from: Rc<Cell<Duration>>,
) {
    if let Some(time) = warm_up {
        tokio::time::sleep(time).await;
        shared.tally.borrow_mut().restart(shared.started.get());
        shared.left.set(requests);
        shared.counted_from.set(Some(Instant::now()));
        cpu_from.set(cpu_time());
    }
    if let Some(time) = duration {
        tokio::time::sleep(time).await;
        shared.left.set(0);
    }
}

/// Runs one connection, and another after it when it ends, until nothing is left to send: servers limit requests per
/// connection, and one that fails or starts again is still to be measured. Connections that bring nothing are followed
/// by a few others alone, behind pauses.
async fn keep_going(client: Client, url: String, first: Direct, shared: Rc<Shared>) {
    let mut connection = Some(first);
    let anew = || PAUSES_MS.into_iter().map(Duration::from_millis);
    let mut pauses = anew();
    loop {
        if let Some(connection) = connection.take() {
            let served = Rc::new(Cell::new(false));
            let mut load = Load::new(Rc::clone(&shared), Rc::clone(&served));
            connection.run(move |turn| load.turn(turn)).await;
            if served.get() {
                pauses = anew();
            } else if shared.left.get() > 0 {
                match pauses.next() {
                    Some(pause) => tokio::time::sleep(pause).await,
                    None => return,
                }
            }
        }
        if shared.left.get() == 0 {
            return;
        }
        let begun = Instant::now();
        match client.connect(&url).await {
            Ok(opened) => {
                shared.tally.borrow_mut().connected(begun.elapsed());
                shared.tally.borrow_mut().connections += 1;
                connection = Some(opened);
            }
            Err(error) => {
                let Some(pause) = pauses.next() else {
                    return shared.fail_one(format!("{error:#}"));
                };
                tokio::time::sleep(pause).await;
            }
        }
    }
}

async fn watch(shared: Rc<Shared>, bar: ProgressBar) {
    loop {
        tokio::time::sleep(PROGRESS_EVERY).await;
        bar.set_position(shared.tally.borrow().answered);
    }
}

fn progress(plan: &Plan) -> ProgressBar {
    let (bar, template) = match plan.duration {
        Some(_) => (
            ProgressBar::new_spinner(),
            "{spinner} {pos} {per_sec} {elapsed}",
        ),
        None => (
            ProgressBar::new(plan.requests),
            "{bar:40} {pos}/{len} {per_sec} {eta}",
        ),
    };
    let style = ProgressStyle::with_template(template);
    match style {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

fn client(plan: &Plan, tls: ClientTls) -> Result<Client, Failure> {
    let protocols = match plan.protocol {
        Some(Protocol::Http1) => Protocols::H1Only,
        Some(Protocol::Http2) => Protocols::H2Only,
        Some(Protocol::Http3) => Protocols::H3Only,
        None => Protocols::H2AndH1,
    };
    let limits = Limits::default()
        // The number asked for is the limit; the server's own still holds.
        .with_concurrent_streams_max(plan.streams)
        .with_request_streams_max(plan.streams)
        .with_requests_per_connection_max(u64::MAX);
    // Room for a whole burst of answers: the load is to be the server's work, not ours.
    let windows = Windows::default()
        .with_stream_initial(1 << 20)
        .with_connection(1 << 30);
    let client = Client::builder()
        .environment_proxies(false)
        .protocols(protocols)
        .limits(limits)
        .windows(windows)
        .max_concurrent_streams(plan.streams)
        .pipelining(plan.streams)
        .tls(tls);
    let client = match &plan.unix_socket {
        Some(path) => through_unix_socket(client, path)?,
        None => client,
    };
    let built = client.build();
    built.map_err(|error| Failure::usage(format_args!("{error:#}")))
}

/// One connection's part of the load.
struct Load {
    shared: Rc<Shared>,
    /// In the order of their streams.
    open: VecDeque<Open>,
    /// Those of `open` that are not done.
    in_flight: u32,
    /// The server takes no more on this connection.
    drained: bool,
    /// Whether the connection has brought an answer.
    served: Rc<Cell<bool>>,
}

struct Open {
    stream: StreamId,
    due: Instant,
    /// It was started after the warm-up.
    counts: bool,
    status: u16,
    done: bool,
}

impl Load {
    fn new(shared: Rc<Shared>, served: Rc<Cell<bool>>) -> Self {
        Self {
            shared,
            open: VecDeque::new(),
            in_flight: 0,
            drained: false,
            served,
        }
    }

    fn turn(&mut self, turn: &mut DirectTurn<'_>) -> Next {
        let mut closed = None;
        while let Some(event) = turn.event() {
            match event {
                Event::ResponseReceived { stream, head, end } => {
                    if let Some(open) = self.find(stream) {
                        open.status = head.status;
                        if open.counts {
                            let after = turn.now.saturating_duration_since(open.due);
                            self.shared.tally.borrow_mut().first_byte(after);
                        }
                    }
                    turn.recycle(head.into_fields());
                    if end {
                        self.answered(stream, turn.now);
                    }
                }
                Event::InterimReceived { head, .. } => turn.recycle(head.into_fields()),
                Event::BodyReceived { stream, data, end } => {
                    if self.find(stream).is_some_and(|open| open.counts) {
                        self.shared.tally.borrow_mut().body_bytes += data.len() as u64;
                    }
                    turn.consume(stream, data.len());
                    if end {
                        self.answered(stream, turn.now);
                    }
                }
                Event::TrailersReceived { stream, .. } => self.answered(stream, turn.now),
                Event::StreamReset { stream, reset } => {
                    // One of the warm-up is neither repeated nor counted once that is over.
                    let counted = self.remove(stream).is_some_and(|(_, due)| due.is_some());
                    if counted && reset.unprocessed {
                        self.shared.left.set(self.shared.left.get() + 1);
                        self.shared.started.set(self.shared.started.get() - 1);
                    } else if counted {
                        self.shared
                            .tally
                            .borrow_mut()
                            .fail(format!("reset: {:?}", reset.by), 1);
                    }
                }
                Event::GoingAway { .. } => self.drained = true,
                Event::Closed(why) => closed = Some(why),
                _ => {}
            }
        }
        if let Some(why) = closed {
            let lost = self.open.iter().filter(|open| open.counts && !open.done);
            let lost = lost.count() as u64;
            if lost > 0 {
                let why = format!("connection closed: {why:?}");
                self.shared.tally.borrow_mut().fail(why, lost);
            }
            return Next::Close;
        }
        let next = self.start(turn);
        if self.open.is_empty() && (self.drained || self.shared.left.get() == 0) {
            return Next::Close;
        }
        next
    }

    /// Starts what may start now.
    fn start(&mut self, turn: &mut DirectTurn<'_>) -> Next {
        let shared = Rc::clone(&self.shared);
        while shared.left.get() > 0 && turn.capacity() > 0 && self.in_flight < shared.streams {
            let due = match &shared.schedule {
                None => turn.now,
                Some(schedule) => {
                    let nth = shared.started.get();
                    let due = schedule.from
                        + Duration::from_nanos(schedule.every.as_nanos() as u64 * nth);
                    if due > turn.now {
                        return Next::Wait(Some(due));
                    }
                    due
                }
            };
            match turn.open(&shared.head, shared.body.as_ref()) {
                Ok(stream) => {
                    shared.left.set(shared.left.get() - 1);
                    shared.started.set(shared.started.get() + 1);
                    self.in_flight += 1;
                    self.open.push_back(Open {
                        stream,
                        due,
                        counts: shared.counted_from.get().is_some(),
                        status: 0,
                        done: false,
                    });
                }
                Err(Misuse::NoCapacity | Misuse::ConnectionClosed) => break,
                Err(misuse) => shared.fail_one(misuse.to_string()),
            }
        }
        Next::Wait(None)
    }

    fn find(&mut self, stream: StreamId) -> Option<&mut Open> {
        let at = self
            .open
            .binary_search_by_key(&stream, |open| open.stream)
            .ok()?;
        self.open.get_mut(at).filter(|open| !open.done)
    }

    fn answered(&mut self, stream: StreamId, now: Instant) {
        self.served.set(true);
        if let Some((status, Some(due))) = self.remove(stream) {
            self.shared
                .tally
                .borrow_mut()
                .answer(status, now.saturating_duration_since(due));
        }
    }

    /// The status, and when it was due if it counts. Streams end out of order: one is only marked, and those at the front that are marked go.
    fn remove(&mut self, stream: StreamId) -> Option<(u16, Option<Instant>)> {
        let open = self.find(stream)?;
        open.done = true;
        let ended = (open.status, open.counts.then_some(open.due));
        self.in_flight -= 1;
        while self.open.front().is_some_and(|open| open.done) {
            self.open.pop_front();
        }
        Some(ended)
    }
}
