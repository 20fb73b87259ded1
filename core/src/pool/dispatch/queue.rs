//! Waiting requests: one queue per origin, all in one slab, so that an abort removes a request in
//! constant time.
//!
//! A queue is served by class, the most urgent first; within a class requests returned by a
//! connection come first, then the groups take turns, and within a group the order is that of
//! arrival. A group with a thousand waiting requests delays another group's single request by one
//! turn.

use super::decide::WaitReason;
use crate::pool::slab::{Key, Slab};
use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

/// Names a waiting request until it leaves the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(Key);

/// How urgent a request is in its origin's line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PriorityClass {
    /// Before all others: a person waits for it.
    Urgent,
    /// The usual.
    #[default]
    Normal,
    /// After all others: long polls, event streams, prefetching.
    Background,
}

impl PriorityClass {
    /// All classes, the most urgent first.
    pub const ALL: [Self; 3] = [Self::Urgent, Self::Normal, Self::Background];
}

/// Where a request stands in its origin's line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rank {
    /// Its class.
    pub class: PriorityClass,
    /// The tenant's number: groups take turns. Default 0.
    pub group: u64,
}

/// How long a request may wait in line. The default is for ever.
#[derive(Clone, Copy, Debug, Default)]
pub struct WaitLimit {
    /// It has left the line by then.
    pub deadline: Option<Instant>,
    /// It has left the line this long behind the last start of a request of its origin: a line that moves is waited in
    /// however long it is.
    pub stall: Option<Duration>,
}

impl From<Option<Instant>> for WaitLimit {
    fn from(deadline: Option<Instant>) -> Self {
        Self {
            deadline,
            stall: None,
        }
    }
}

impl WaitLimit {
    /// When a request that waits `since` then is to leave; `started_at`: the last start at its origin.
    pub(in crate::pool) fn due(
        &self,
        since: Instant,
        started_at: Option<Instant>,
    ) -> Option<Instant> {
        let moved = started_at.map_or(since, |started| started.max(since));
        let stalled = self.stall.map(|stall| moved + stall);
        self.deadline.into_iter().chain(stalled).min()
    }
}

/// A request in line.
#[derive(Debug)]
pub(in crate::pool) struct WaitingRequest<R> {
    pub(in crate::pool) entrance: Entrance<R>,
    /// It pauses before it joins the line.
    pub(in crate::pool) is_parked: bool,
    /// Why it waits, or did at first.
    pub(in crate::pool) reason: Option<WaitReason>,
    before: Option<Key>,
    behind: Option<Key>,
}

/// Which end of its class a request joins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::pool) enum QueueEnd {
    Front,
    Back,
}

/// A request on its way into the line.
#[derive(Debug)]
pub(in crate::pool) struct Entrance<R> {
    pub(in crate::pool) request: R,
    pub(in crate::pool) origin: Key,
    pub(in crate::pool) rank: Rank,
    pub(in crate::pool) since: Instant,
    pub(in crate::pool) limit: WaitLimit,
    /// The connection that has just given the request back unprocessed: another one is better.
    pub(in crate::pool) avoid: Option<Key>,
    /// It is not pipelined behind requests that are not answered yet.
    pub(in crate::pool) alone: bool,
    pub(in crate::pool) end: QueueEnd,
}

/// First come, first served.
#[derive(Clone, Copy, Debug, Default)]
struct List {
    front: Option<Key>,
    back: Option<Key>,
}

/// One class of a line. Invariant: `turns` names every key of `groups` once, and the group whose
/// turn it is is not empty.
#[derive(Debug, Default)]
struct ClassQueue {
    returned: List,
    groups: BTreeMap<u64, List>,
    turns: VecDeque<u64>,
    len: u32,
}

impl ClassQueue {
    fn front(&self) -> Option<Key> {
        self.returned.front.or_else(|| {
            let group = self.turns.front()?;
            self.groups.get(group)?.front
        })
    }
    fn list(&mut self, group: u64, end: QueueEnd) -> &mut List {
        match end {
            QueueEnd::Front => &mut self.returned,
            QueueEnd::Back => self.groups.entry(group).or_insert_with(|| {
                self.turns.push_back(group);
                List::default()
            }),
        }
    }
    /// Forgets empty groups in front, all but the last one: nearly every line has just one.
    fn tidy(&mut self) {
        while self.turns.len() > 1
            && let Some(group) = self.turns.front()
            && self.groups.get(group).is_none_or(|l| l.front.is_none())
        {
            self.groups.remove(group);
            self.turns.pop_front();
        }
    }
}

/// One origin's line.
#[derive(Debug, Default)]
pub(in crate::pool) struct OriginQueue {
    class_queues: [ClassQueue; PriorityClass::ALL.len()],
    len: u32,
}

impl OriginQueue {
    pub(in crate::pool) fn len(&self) -> u32 {
        self.len
    }
    pub(in crate::pool) fn front(&self) -> Option<Ticket> {
        self.class_queues
            .iter()
            .find_map(ClassQueue::front)
            .map(Ticket)
    }
    /// Whether a request of this class or a more urgent one waits.
    pub(in crate::pool) fn holds_up_to(&self, class: PriorityClass) -> bool {
        self.class_queues[..=class as usize]
            .iter()
            .any(|class_queue| class_queue.len > 0)
    }
}

/// All lines' entries.
#[derive(Debug)]
pub(in crate::pool) struct Queue<R> {
    entries: Slab<WaitingRequest<R>>,
}

impl<R> Default for Queue<R> {
    fn default() -> Self {
        Self {
            entries: Slab::default(),
        }
    }
}

impl<R> Queue<R> {
    /// Keeps a request without a place in any line.
    pub(in crate::pool) fn park(&mut self, entrance: Entrance<R>) -> Ticket {
        Ticket(self.entries.insert(WaitingRequest {
            entrance,
            is_parked: true,
            reason: None,
            before: None,
            behind: None,
        }))
    }

    /// Gives a parked request its place.
    pub(in crate::pool) fn unpark(&mut self, origin_queue: &mut OriginQueue, ticket: Ticket) {
        let key = ticket.0;
        let Some(entry) = self.entries.get_mut(key).filter(|entry| entry.is_parked) else {
            return;
        };
        entry.is_parked = false;
        let (rank, end) = (entry.entrance.rank, entry.entrance.end);
        let class_queue = &mut origin_queue.class_queues[rank.class as usize];
        let list = class_queue.list(rank.group, end);
        let last = list.back.replace(key);
        if list.front.is_none() {
            list.front = Some(key);
        }
        class_queue.len += 1;
        origin_queue.len += 1;
        class_queue.tidy();
        entry.before = last;
        if let Some(last) = last.and_then(|last| self.entries.get_mut(last)) {
            last.behind = Some(key);
        }
    }

    pub(in crate::pool) fn get(&self, ticket: Ticket) -> Option<&WaitingRequest<R>> {
        self.entries.get(ticket.0)
    }

    /// Notes why a request waits.
    pub(in crate::pool) fn note_reason(&mut self, ticket: Ticket, reason: WaitReason) {
        if let Some(entry) = self.entries.get_mut(ticket.0) {
            entry.reason = Some(reason);
        }
    }

    /// Takes a request out of `origin_queue`, which must be the line it stands in if it stands in one.
    pub(in crate::pool) fn leave(
        &mut self,
        origin_queue: &mut OriginQueue,
        ticket: Ticket,
    ) -> Option<WaitingRequest<R>> {
        let entry = self.entries.remove(ticket.0)?;
        if entry.is_parked {
            return Some(entry);
        }
        let class_queue = &mut origin_queue.class_queues[entry.entrance.rank.class as usize];
        let list = class_queue.list(entry.entrance.rank.group, entry.entrance.end);
        match entry.before.and_then(|before| self.entries.get_mut(before)) {
            Some(before) => before.behind = entry.behind,
            None => list.front = entry.behind,
        }
        match entry.behind.and_then(|behind| self.entries.get_mut(behind)) {
            Some(behind) => behind.before = entry.before,
            None => list.back = entry.before,
        }
        class_queue.len -= 1;
        origin_queue.len -= 1;
        class_queue.tidy();
        Some(entry)
    }

    /// Takes the request at the front out to be started: the next turn is another group's.
    pub(in crate::pool) fn serve(
        &mut self,
        origin_queue: &mut OriginQueue,
        ticket: Ticket,
    ) -> Option<WaitingRequest<R>> {
        let &Entrance { rank, end, .. } = &self.get(ticket)?.entrance;
        let class_queue = &mut origin_queue.class_queues[rank.class as usize];
        if end == QueueEnd::Back && class_queue.turns.front() == Some(&rank.group) {
            // Before it leaves: an empty group in front is forgotten with its turn.
            class_queue.turns.rotate_left(1);
        }
        self.leave(origin_queue, ticket)
    }

    pub(in crate::pool) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(in crate::pool) fn iter(&self) -> impl Iterator<Item = (Ticket, &WaitingRequest<R>)> {
        self.entries.iter().map(|(key, entry)| (Ticket(key), entry))
    }
}
