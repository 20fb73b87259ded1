//! The world: its state, its clock and its events.

pub mod event_queue;
pub(super) mod link;
pub mod plan;
pub(super) mod referee;
mod turn;

use self::link::Link;
use super::dice::Dice;
use super::path::Wire;
use bytes::Bytes;
use event_queue::EventQueue;
use plan::{OriginPlan, Plan};
use referee::Referee;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use trunkline_core::http::Side;
use trunkline_core::pool::{
    AttemptId, Cause, ConnectionId, Failure, Multiplexing, NoRetry, Origin, Pool, Protocols,
    Scheme, Ticket,
};

/// No world lasts longer.
const WORLD_MAX: Duration = Duration::from_secs(4 * 3600);
/// A path that swallows everything is noticed by TCP after this.
pub(super) const SILENCE_MAX: Duration = Duration::from_secs(900);

/// The counts of a world.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Requests that were answered whole.
    pub answered: u64,
    /// Requests that ended otherwise.
    pub failed: u64,
    /// Connections opened.
    pub connections: u64,
    /// Attempts begun.
    pub attempts: u64,
    /// Requests put on a connection, the same ones more than once.
    pub sent: u64,
    /// Requests sent once more.
    pub sent_again: u64,
    /// Requests not sent again because the budget was used up.
    pub over_budget: u64,
    /// Connections asked whether their peer lives.
    pub asked: u64,
    /// Connections that fell under suspicion for their silence.
    pub suspected: u64,
    /// Connections given up for it.
    pub closed_dead: u64,
    /// REFUSED_STREAM by the machines of the servers.
    pub refused: u64,
    /// When the last connection was gone.
    pub open_until: Duration,
    /// Things that happened.
    pub steps: u64,
    /// How long the world lasted.
    pub lasted: Duration,
}

/// Something that happens.
#[derive(Debug)]
pub(super) enum WorldEvent {
    Submit(u32),
    Abort(u32),
    Total(u32),
    WarmUp { origin: usize, count: u32 },
    NetworkChange,
    Attempt { attempt: AttemptId, origin: usize },
    Pool,
    Arrive { link: usize, to: Side, bytes: Bytes },
    Acknowledge { link: usize, from: Side, bytes: u64 },
    Eof { link: usize, to: Side },
    Wake { link: usize, side: Side },
    Answer { link: usize, stream: u64 },
    Read { link: usize, stream: u64 },
    Overdue { link: usize, stream: u64 },
    Strike { link: usize },
    Cut { link: usize },
}

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Whole.
    Answered,
    /// Its user gave it up.
    Aborted,
    /// It was never sent.
    ByPool(Failure),
    /// On its connection, and not to be sent again.
    Lost(Cause, NoRetry),
    /// Nothing moved for too long.
    Overdue,
    /// Its total time was over.
    OutOfTime,
}

/// The end of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// How.
    pub how: Outcome,
    /// When, from the start.
    pub at: Duration,
    /// How often it was put on a connection.
    pub tries: u32,
}

#[derive(Debug, Default)]
pub(super) struct Request {
    pub(super) ticket: Option<Ticket>,
    pub(super) waits: bool,
    pub(super) limit_known: Option<Outcome>,
    settled_at: Option<Instant>,
    pub(super) delivered: u32,
    pub(super) tries: u32,
    /// Connections that ended before they answered anything and before it was written to them.
    pub(super) unused: u32,
    /// How often it was sent again though it may have been processed: it does no harm twice.
    pub(super) harmless: u32,
    /// When it must have left the line, and when it must have ended.
    pub(super) wait_until: Option<Instant>,
    pub(super) total_until: Option<Instant>,
    /// Where it is, once taken.
    pub(super) at: Option<(usize, u64)>,
}

#[derive(Debug)]
pub(super) struct OriginState {
    pub(super) origin: Origin,
    pub(super) up: Wire,
    pub(super) down: Wire,
    /// Connections so far.
    pub(super) connections: u32,
}

/// The pool's action on a connection because of another one to its origin.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Notice {
    pub(super) probed: Option<bool>,
    pub(super) outlived: Option<Duration>,
}

/// A world and its time.
#[derive(Debug)]
pub struct World {
    pub(super) plan: Plan,
    pub(super) dice: Dice,
    /// Nothing goes wrong: every request must be answered.
    pub(super) calm: bool,
    base: Instant,
    pub(super) now: Instant,
    pub(super) events: EventQueue<WorldEvent>,
    pub(super) pool: Pool<u32>,
    pub(super) origins: Vec<OriginState>,
    pub(super) links: Vec<Option<Box<Link>>>,
    /// Requests dispatched by the pool and not yet taken by the connection, by link.
    pub(super) inboxes: Vec<Vec<u32>>,
    /// Connections that the pool has asked to close, by link.
    pub(super) stops: Vec<bool>,
    /// The pool's actions on each link because of another suspect or working one, until its next
    /// turn.
    pub(super) reported: Vec<Notice>,
    pub(super) referee: Referee,
    pub(super) by_id: BTreeMap<ConnectionId, usize>,
    pub(super) requests: Vec<Request>,
    pub(super) unsettled: usize,
    pool_wake_at: Option<Instant>,
    /// Bytes of every body, by their place in it.
    pub(super) pattern: Bytes,
    pub(super) summary: Summary,
}

impl World {
    /// A world at its beginning.
    pub fn new(plan: Plan, dice: Dice, calm: bool) -> Self {
        let base = Instant::now();
        let origins = plan.origins.iter().enumerate().map(|(number, origin)| {
            let host = format!("origin-{number}.example");
            OriginState {
                origin: Origin::new(Scheme::Https, &host, 443, origin.protocols),
                up: Wire::new(origin.path, base),
                down: Wire::new(origin.path, base),
                connections: 0,
            }
        });
        let mut events = EventQueue::default();
        for (number, request) in plan.requests.iter().enumerate() {
            events.push(base + request.at, WorldEvent::Submit(number as u32));
            if let Some(at) = request.abort_at {
                events.push(base + at, WorldEvent::Abort(number as u32));
            }
        }
        for &(at, origin, count) in &plan.warm_ups {
            events.push(base + at, WorldEvent::WarmUp { origin, count });
        }
        for &at in &plan.network_changes {
            events.push(base + at, WorldEvent::NetworkChange);
        }
        Self {
            origins: origins.collect(),
            pool: Pool::new(plan.pool.clone()),
            requests: plan.requests.iter().map(|_| Request::default()).collect(),
            unsettled: plan.requests.len(),
            calm,
            base,
            now: base,
            events,
            links: Vec::new(),
            inboxes: Vec::new(),
            stops: Vec::new(),
            reported: Vec::new(),
            referee: Referee::new(plan.pool.clone(), !plan.warm_ups.is_empty()),
            by_id: BTreeMap::new(),
            pool_wake_at: None,
            pattern: pattern(),
            summary: Summary::default(),
            plan,
            dice,
        }
    }

    /// Lets everything happen, to the end.
    pub fn run(self) -> Summary {
        self.run_to_end().0
    }

    /// Lets everything happen, and tells how each request ended.
    pub fn run_to_end(mut self) -> (Summary, Vec<Ended>) {
        while let Some((at, event)) = self.events.pop() {
            self.now = at;
            self.summary.steps += 1;
            let lasted = at - self.base;
            assert!(
                lasted <= WORLD_MAX,
                "the world does not end: {event:?}; left {:?}, {:?}",
                self.waiting(),
                self.pool.stats(at)
            );
            self.handle_event(event);
            self.carry_out();
            self.check_pool();
            self.plan_pool_wake();
        }
        assert_eq!(
            self.unsettled,
            0,
            "requests are left for ever: {:?}",
            self.waiting()
        );
        assert_eq!(self.pool.sockets(), 0, "sockets are left for ever");
        for request in &self.requests {
            match request.limit_known {
                Some(Outcome::Answered) => self.summary.answered += 1,
                _ => self.summary.failed += 1,
            }
        }
        self.summary.connections = self.pool.totals().connections;
        self.summary.attempts = self.pool.totals().attempts;
        self.summary.lasted = self.now - self.base;
        let ended = self.requests.iter().filter_map(|request| {
            let (how, at) = request.limit_known.zip(request.settled_at)?;
            Some(Ended {
                how,
                at: at - self.base,
                tries: request.tries,
            })
        });
        (self.summary, ended.collect())
    }

    fn handle_event(&mut self, event: WorldEvent) {
        match event {
            WorldEvent::Submit(request) => self.submit(request),
            WorldEvent::Abort(request) => self.abort(request),
            WorldEvent::Attempt { attempt, origin } => self.end_attempt(attempt, origin),
            WorldEvent::Pool => {
                self.pool_wake_at = None;
                self.pool.handle_timeout(self.now);
                self.carry_out();
                self.referee.check_upkeep(self.now);
            }
            WorldEvent::Total(request) => self.end_of_time(request),
            WorldEvent::WarmUp { origin, count } => self.warm_up(origin, count),
            WorldEvent::NetworkChange => self.change_network(),
            WorldEvent::Arrive { link, to, bytes } => {
                if let Some(own) = self.live(link) {
                    own.end(to).inbox.push_back(bytes);
                    self.turn(link, to);
                }
            }
            WorldEvent::Acknowledge { link, from, bytes } => {
                let now = self.now;
                if let Some(own) = self.live(link) {
                    let origin = own.origin;
                    let plan = self.plan.origins[origin].path;
                    if let Some(own) = self.live(link) {
                        own.end(from).out.acknowledge(now, bytes, &plan);
                    }
                    self.turn(link, from);
                }
            }
            WorldEvent::Eof { link, to } => {
                if let Some(own) = self.live(link) {
                    let end = own.end(other(to)).closes_as;
                    own.end(to).eof = Some(end);
                    self.turn(link, to);
                }
            }
            WorldEvent::Wake { link, side } => {
                if let Some(own) = &mut self.links[link] {
                    own.end(side).wake_at = None;
                    self.turn(link, side);
                }
            }
            WorldEvent::Answer { link, stream } => self.answer(link, stream),
            WorldEvent::Read { link, stream } => self.read_some(link, stream),
            WorldEvent::Overdue { link, stream } => self.check_progress(link, stream),
            WorldEvent::Strike { link } => self.strike(link),
            WorldEvent::Cut { link } => self.cut(link),
        }
    }

    /// A link whose path is not dead.
    fn live(&mut self, link: usize) -> Option<&mut Link> {
        self.links[link].as_deref_mut().filter(|link| !link.dead)
    }

    /// Sees to it that the pool is woken for its next deadline.
    fn plan_pool_wake(&mut self) {
        if let Some(at) = self.pool.next_deadline().map(|at| at.max(self.now))
            && self.pool_wake_at.is_none_or(|set| at < set)
        {
            self.pool_wake_at = Some(at);
            self.events.push(at, WorldEvent::Pool);
        }
    }

    /// Sockets stay within their bounds, and no request waits without a reason.
    fn check_pool(&self) {
        // Events due at this very moment may not have been carried out yet.
        let is_due = self.pool.next_deadline().is_some_and(|at| at <= self.now);
        let config = &self.plan.pool;
        assert!(
            self.pool.sockets() <= config.sockets_max,
            "too many sockets"
        );
        for stats in self.pool.stats(self.now) {
            let multiplexes = stats.multiplexing == Some(Multiplexing::Yes);
            let bound = config
                .connections_max
                .unwrap_or(if multiplexes { 16 } else { 100 });
            let open = stats.connections - stats.suspect + stats.attempts;
            assert!(
                open <= bound,
                "{open} connections to {:?}, {bound} allowed",
                stats.origin
            );
            assert!(
                is_due || stats.waiting == 0 || stats.wait_reason.is_some(),
                "{} wait at {:?} for nothing",
                stats.waiting,
                stats.origin
            );
        }
    }

    /// How long it has lasted.
    pub(super) fn age(&self) -> Duration {
        self.now - self.base
    }

    /// The open requests, for the message of a failure.
    fn waiting(&self) -> Vec<(usize, &Request)> {
        let all = self.requests.iter().enumerate();
        all.filter(|(_, request)| request.limit_known.is_none())
            .take(3)
            .collect()
    }

    /// The plan of a server.
    pub(super) fn origin_plan(&self, own: &Link) -> &OriginPlan {
        &self.plan.origins[own.origin]
    }

    /// Books how a request ended; never twice.
    #[track_caller]
    pub(super) fn complete(&mut self, request: u32, outcome: Outcome) {
        let calm = self.calm;
        let own = &mut self.requests[request as usize];
        assert_eq!(
            own.limit_known, None,
            "request {request} ended twice, now {outcome:?}"
        );
        assert!(
            !calm || outcome == Outcome::Answered,
            "request {request} ended with {outcome:?} though nothing went wrong"
        );
        if outcome == Outcome::Answered {
            assert!(
                own.delivered > 0,
                "request {request} was answered by nobody"
            );
        }
        assert!(
            own.total_until.is_none_or(|at| self.now <= at),
            "request {request} outlived its total time"
        );
        own.limit_known = Some(outcome);
        own.settled_at = Some(self.now);
        self.unsettled -= 1;
    }

    /// Bytes of the body of `request` from `offset`, at most `len`.
    pub(super) fn body(&self, request: u32, offset: u64, len: u64) -> Bytes {
        let from = ((offset + u64::from(request) * 7) % PERIOD) as usize;
        let len = len.min(self.pattern.len() as u64 - PERIOD) as usize;
        self.pattern.slice(from..from + len)
    }

    /// Whether `data` is the body of `request` from `offset`.
    pub(super) fn check_body(&self, request: u32, mut offset: u64, data: &[u8]) {
        let mut rest = data;
        while !rest.is_empty() {
            let due = self.body(request, offset, rest.len() as u64);
            let (head, tail) = rest.split_at(due.len());
            assert!(
                head == &due[..],
                "the body of {request} is not what was sent, near {offset}"
            );
            offset += due.len() as u64;
            rest = tail;
        }
    }
}

/// The other end.
pub(super) fn other(side: Side) -> Side {
    match side {
        Side::Client => Side::Server,
        Side::Server => Side::Client,
    }
}

/// Whether an attempt to this server ends with HTTP/2.
pub(super) fn speaks_h2(plan: &OriginPlan) -> bool {
    match plan.protocols {
        // Worlds have byte streams only.
        Protocols::H1Only | Protocols::H3Only => false,
        Protocols::H2Only => true,
        Protocols::H2AndH1 | Protocols::All => plan.answers_h2,
    }
}

/// A prime, so that no frame or slab size hides a shift.
const PERIOD: u64 = 251;
const PATTERN_BYTES: u64 = 64 * 1024 + PERIOD;

fn pattern() -> Bytes {
    (0..PATTERN_BYTES).map(|at| (at % PERIOD) as u8).collect()
}
