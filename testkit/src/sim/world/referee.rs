//! Checks the pool from outside, by its input and its decisions. Keeps a queue and a list of
//! connections of its own, and checks every decision against the rules.
//!
//! - No request is served before a more urgent one, before an earlier one of its group, or twice in
//!   a row before another group that waits.
//! - No request is served during its pause or after its deadline.
//! - A connection gets what it has room for, and nothing when it drains, is suspect, is asked to
//!   close, has had its requests, or is too old.
//! - Slots that are reserved stay free; retries stay within their budget.
//! - Connections that idle or are old are asked to close in time.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};
use trunkline_core::pool::{
    Capacity, Cause, Failure, Multiplexing, PoolConfig, RETRIES_MAX, RETRY_BURST, RETRY_PAUSE,
    RETRY_PERCENT, Rank, Standing,
};

/// A request that waits.
#[derive(Debug)]
struct PoolLink {
    origin: usize,
    rank: Rank,
    number: u64,
    since: Instant,
    deadline: Option<Instant>,
    /// A connection gave it back; it pauses until the first at least and the second at most.
    returned: Option<(Instant, Instant)>,
}

/// A group's requests that came from outside, and how often others were served before it.
#[derive(Debug, Default)]
struct Group {
    waiting: BTreeSet<u64>,
    passed_by: BTreeMap<u64, u32>,
}

/// A connection.
#[derive(Debug)]
struct Watched {
    origin: usize,
    born: Instant,
    report: Capacity,
    dispatched: u64,
    /// The pool has told it to close.
    reported: bool,
    idle_since: Option<Instant>,
}

/// Retries earned and spent by an origin, in hundredths.
#[derive(Clone, Copy, Debug, Default)]
struct Account {
    earned: u64,
    spent: u64,
}

/// The watcher of one world's pool.
#[derive(Debug)]
pub(in crate::sim) struct Referee {
    config: PoolConfig,
    /// Whether warm connections were requested.
    warmed: bool,
    number: u64,
    places: BTreeMap<u32, PoolLink>,
    groups: BTreeMap<(usize, usize), BTreeMap<u64, Group>>,
    links: Vec<Option<Watched>>,
    accounts: BTreeMap<usize, Account>,
}

/// A request that goes into the pool.
#[derive(Clone, Copy, Debug)]
pub(in crate::sim) struct Entering {
    pub(in crate::sim) request: u32,
    pub(in crate::sim) origin: usize,
    pub(in crate::sim) rank: Rank,
    pub(in crate::sim) deadline: Option<Instant>,
}

impl Referee {
    pub(in crate::sim) fn new(config: PoolConfig, warmed: bool) -> Self {
        Self {
            config,
            warmed,
            number: 0,
            places: BTreeMap::new(),
            groups: BTreeMap::new(),
            links: Vec::new(),
            accounts: BTreeMap::new(),
        }
    }

    // A request was submitted to the pool.

    pub(in crate::sim) fn submitted(&mut self, now: Instant, entering: Entering) {
        let Entering {
            request,
            origin,
            rank,
            ..
        } = entering;
        self.accounts.entry(origin).or_default().earned += u64::from(RETRY_PERCENT);
        let number = self.enter(now, entering, None);
        let stream = self
            .groups
            .entry((origin, rank.class as usize))
            .or_default();
        stream.entry(rank.group).or_default().waiting.insert(number);
        assert!(self.places.contains_key(&request));
    }

    /// It was lost on a connection in this way, for the `tries`th time, and waits again.
    pub(in crate::sim) fn given_back(
        &mut self,
        now: Instant,
        entering: Entering,
        cause: Cause,
        tries: u32,
    ) {
        let account = self.accounts.entry(entering.origin).or_default();
        let mut pause = Duration::ZERO;
        if !matches!(cause, Cause::NeverSent { unused: false, .. }) {
            assert!(
                tries <= RETRIES_MAX,
                "{entering:?} is sent again after {tries}"
            );
            let is_free = matches!(cause, Cause::GoneAway | Cause::NeverSent { .. });
            if !is_free || tries > 1 {
                account.spent += 100;
                let most = u64::from(RETRY_BURST) * 100 + account.earned;
                assert!(account.spent <= most, "{account:?} of retries");
            }
            if let Some(doublings) = tries.checked_sub(2) {
                pause = RETRY_PAUSE * (1 << doublings);
            }
        }
        self.enter(now, entering, Some((now + pause / 2, now + pause)));
    }

    fn enter(
        &mut self,
        now: Instant,
        entering: Entering,
        returned: Option<(Instant, Instant)>,
    ) -> u64 {
        self.number += 1;
        let place = PoolLink {
            origin: entering.origin,
            rank: entering.rank,
            number: self.number,
            since: now,
            deadline: entering.deadline,
            returned,
        };
        let before = self.places.insert(entering.request, place);
        assert!(before.is_none(), "{entering:?} waits twice");
        self.number
    }

    /// A request is out of the pool, to wherever.
    pub(in crate::sim) fn left(&mut self, request: u32) {
        self.take(request);
    }

    fn take(&mut self, request: u32) -> PoolLink {
        let place = self.places.remove(&request);
        let place = place.unwrap_or_else(|| panic!("request {request} does not wait"));
        let key = (place.origin, place.rank.class as usize);
        if place.returned.is_none()
            && let Some(stream) = self.groups.get_mut(&key)
            && let Some(group) = stream.get_mut(&place.rank.group)
        {
            group.waiting.remove(&place.number);
            if group.waiting.is_empty() {
                stream.remove(&place.rank.group);
            }
        }
        place
    }

    pub(in crate::sim) fn connected(&mut self, now: Instant, origin: usize, report: Capacity) {
        self.links.push(Some(Watched {
            origin,
            born: now,
            report,
            dispatched: 0,
            reported: false,
            idle_since: Some(now),
        }));
    }

    pub(in crate::sim) fn reported(&mut self, now: Instant, link: usize, report: Capacity) {
        if let Some(watched) = &mut self.links[link] {
            watched.report = report;
            match watched.active() {
                0 => watched.idle_since = watched.idle_since.or(Some(now)),
                _ => watched.idle_since = None,
            }
        }
    }

    pub(in crate::sim) fn closed(&mut self, link: usize) {
        self.links[link] = None;
    }

    // Decisions of the pool.

    pub(in crate::sim) fn reported_to_close(&mut self, link: usize) {
        if let Some(watched) = &mut self.links[link] {
            watched.reported = true;
        }
    }

    pub(in crate::sim) fn failed(&mut self, now: Instant, request: u32, why: Failure) {
        let place = self.take(request);
        if let Failure::QueueTimeout(reason) = why {
            let deadline = place.deadline.expect("a deadline that passed");
            assert!(
                now == deadline.max(place.since),
                "request {request} left the line for {reason:?} {:?} beside its deadline",
                now.saturating_duration_since(deadline)
            );
        }
    }

    pub(in crate::sim) fn dispatched(
        &mut self,
        now: Instant,
        request: u32,
        link: usize,
        multiplexing: Multiplexing,
    ) {
        let place = self.take(request);
        assert!(
            place.returned.is_none_or(|(earliest, _)| earliest <= now),
            "request {request} is sent in its pause"
        );
        assert!(
            place.deadline.is_none_or(|at| now <= at.max(place.since)),
            "request {request} is sent behind its deadline"
        );
        self.check_turn(now, request, &place);
        self.check_connection(now, request, link, place.origin);
        self.check_reserve(&place, multiplexing);
    }

    /// No other request had a better claim.
    fn check_turn(&mut self, now: Instant, request: u32, place: &PoolLink) {
        let class = place.rank.class;
        for (other, waits) in &self.places {
            // Whose pause ends now may not be back in line yet.
            let is_there = waits.origin == place.origin
                && waits.returned.is_none_or(|(_, latest)| latest < now);
            let is_first = waits.rank.class < class
                || waits.rank.class == class
                    && waits.returned.is_some()
                    && place.returned.is_none();
            assert!(
                !(is_there && is_first),
                "request {request} at {place:?} is served before {other} at {waits:?}"
            );
        }
        if place.returned.is_some() {
            return;
        }
        let Some(stream) = self.groups.get_mut(&(place.origin, class as usize)) else {
            return;
        };
        let served = place.rank.group;
        for (&number, group) in stream.iter_mut() {
            if number == served {
                let first = group.waiting.first().copied();
                assert!(
                    first > Some(place.number),
                    "{request} overtook its own group"
                );
                group.passed_by.clear();
                continue;
            }
            let times = group.passed_by.entry(served).or_default();
            *times += 1;
            assert!(
                *times <= 1,
                "group {served} is served twice before group {number}"
            );
        }
    }

    fn check_connection(&mut self, now: Instant, request: u32, link: usize, origin: usize) {
        let config = &self.config;
        let watched = self.links[link].as_mut();
        let watched =
            watched.unwrap_or_else(|| panic!("{request} goes to a connection that is gone"));
        assert_eq!(watched.origin, origin, "{request} goes to another origin");
        assert_eq!(
            watched.report.standing,
            Standing::Open,
            "{request} to {watched:?}"
        );
        assert!(
            !watched.reported,
            "{request} goes to a connection that was told to close"
        );
        watched.dispatched += 1;
        watched.idle_since = None;
        let underway = watched.dispatched - watched.report.taken;
        assert!(
            underway <= u64::from(watched.report.free),
            "{request} to the full {watched:?}"
        );
        assert!(
            config
                .requests_max
                .is_none_or(|most| watched.dispatched <= most)
        );
        assert!(
            config.age_max.is_none_or(|age| now <= watched.born + age),
            "{watched:?} is too old"
        );
    }

    /// The reserve for more urgent requests is still free, once no further connection can be
    /// opened.
    fn check_reserve(&self, place: &PoolLink, multiplexing: Multiplexing) {
        let more_urgent = &self.config.reserve[..place.rank.class as usize];
        let reserved: u32 = more_urgent.iter().sum();
        let bound = self.config.connections_max.unwrap_or(match multiplexing {
            Multiplexing::Yes => 16,
            Multiplexing::No => 100,
        });
        let own = self.links.iter().flatten();
        let open: Vec<&Watched> = own
            .filter(|watched| watched.origin == place.origin)
            .filter(|watched| watched.report.standing == Standing::Open && !watched.reported)
            .collect();
        let is_limit_known = open.iter().all(|watched| watched.report.limit_known);
        if reserved == 0 || (open.len() as u32) < bound || !is_limit_known {
            return;
        }
        let active: u64 = open.iter().map(|watched| watched.active()).sum();
        let room: u64 = open.iter().map(|watched| watched.room()).sum();
        assert!(
            active == 1 || room >= u64::from(reserved),
            "{place:?} took a slot of the {reserved} reserved; {room} left beside {active}"
        );
    }

    /// After the pool has carried out its deadlines.
    pub(super) fn check_upkeep(&self, now: Instant) {
        for watched in self.links.iter().flatten() {
            if watched.reported || watched.report.standing == Standing::Draining {
                continue;
            }
            let over = |since: Option<Instant>, time: Option<Duration>| {
                since
                    .zip(time)
                    .is_some_and(|(since, time)| since + time < now)
            };
            assert!(
                !over(Some(watched.born), self.config.age_max),
                "{watched:?} is too old"
            );
            if !self.warmed && self.config.warm_min == 0 {
                let is_judged = watched.dispatched == 0 && watched.report.free == 0;
                let time = match is_judged {
                    true => self.config.no_exchange_timeout,
                    false => self.config.idle_timeout,
                };
                let idle = over(watched.idle_since, time);
                assert!(!idle, "{watched:?} idles for too long");
            }
        }
    }
}

impl Watched {
    fn active(&self) -> u64 {
        u64::from(self.report.active) + self.dispatched.saturating_sub(self.report.taken)
    }
    fn room(&self) -> u64 {
        let underway = self.dispatched.saturating_sub(self.report.taken);
        u64::from(self.report.free).saturating_sub(underway)
    }
}
