//! Thousands of random steps: every request settles exactly once, and no bound is ever exceeded.

use super::*;

/// A linear congruential generator: enough disorder, and the seed replays it.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

/// A connection as a peer would run it.
struct Played {
    id: ConnectionId,
    limit: u32,
    inbox: Vec<u32>,
    open: Vec<u32>,
    taken: u64,
    limit_known: bool,
    draining: bool,
}

impl Played {
    fn capacity(&self) -> Capacity {
        Capacity {
            free: self.limit.saturating_sub(self.open.len() as u32),
            active: self.open.len() as u32,
            taken: self.taken,
            limit_known: self.limit_known,
            standing: match self.draining {
                true => Standing::Draining,
                false => Standing::Open,
            },
        }
    }
}

struct Play {
    dice: Dice,
    pool: Pool<u32>,
    now: Instant,
    origins: Vec<Origin>,
    attempts: Vec<AttemptId>,
    connections: Vec<Played>,
    waiting: Vec<(u32, Ticket)>,
    /// By request: how often it came out of the pool minus how often it went in again.
    out: Vec<i32>,
    bound: u32,
}

impl Play {
    fn new(seed: u64) -> Self {
        let mut dice = Dice(seed);
        let bound = 1 + dice.roll(6) as u32;
        let versions = [Protocols::H2AndH1, Protocols::H1Only, Protocols::H2Only];
        let origins = versions
            .map(|protocols| Origin::new(Scheme::Https, "example.org", 443, protocols))
            .to_vec();
        Self {
            dice,
            pool: Pool::new(PoolConfig {
                connections_max: Some(bound),
                sockets_max: 12,
                waiting_max: 50,
                ..PoolConfig::default()
            }),
            now: epoch(),
            origins,
            attempts: Vec::new(),
            connections: Vec::new(),
            waiting: Vec::new(),
            out: Vec::new(),
            bound,
        }
    }

    fn carry_out(&mut self) {
        while let Some(action) = self.pool.poll_action() {
            match action {
                Action::Open { attempt, .. } => self.attempts.push(attempt),
                Action::Dispatch {
                    request,
                    connection,
                    ..
                } => {
                    self.out[request as usize] += 1;
                    let played = self.connections.iter_mut().find(|c| c.id == connection);
                    let played = played.expect("dispatched to a connection that is open");
                    assert!(!played.draining, "a draining connection got a request");
                    played.inbox.push(request);
                    let on_it = played.inbox.len() + played.open.len();
                    assert!(on_it as u32 <= played.limit, "more than the peer allows");
                }
                Action::Fail { request, .. } => self.out[request as usize] += 1,
                // A connection's own health decides about these.
                Action::Probe { .. } | Action::Outlived { .. } => {}
                Action::Close { connection, .. } => {
                    self.connections.retain(|c| c.id != connection);
                    self.pool.handle_closed(self.now, connection);
                }
            }
        }
        for stats in self.pool.stats(self.now) {
            assert!(stats.connections + stats.attempts <= self.bound);
        }
        assert!(self.pool.sockets() <= 12);
    }

    fn submit(&mut self) {
        let request = self.out.len() as u32;
        self.out.push(0);
        let origin = self.origins[self.dice.roll(3) as usize].clone();
        let deadline = match self.dice.roll(3) {
            0 => Some(self.now + Duration::from_millis(self.dice.roll(500))),
            _ => None,
        };
        if let Some(ticket) = self.pool.submit(self.now, &origin, request, deadline) {
            self.waiting.push((request, ticket));
        }
    }

    fn end_attempt(&mut self) {
        if self.attempts.is_empty() {
            return;
        }
        let at = self.dice.roll(self.attempts.len() as u64) as usize;
        let attempt = self.attempts.swap_remove(at);
        let (multiplexing, limit, limit_known) = match self.dice.roll(4) {
            0 => {
                let scope = match self.dice.roll(4) {
                    0 => FailureScope::Next,
                    1 => FailureScope::None,
                    _ => FailureScope::All,
                };
                return self.pool.handle_attempt_failed(self.now, attempt, scope);
            }
            1 => (Multiplexing::No, 1, true),
            _ => (Multiplexing::Yes, 100, false),
        };
        let capacity = Capacity::fresh(limit, limit_known);
        let id = self
            .pool
            .handle_connected(self.now, attempt, multiplexing, capacity)
            .expect("the attempt was under way");
        self.connections.push(Played {
            id,
            limit,
            inbox: Vec::new(),
            open: Vec::new(),
            taken: 0,
            limit_known,
            draining: false,
        });
    }

    /// One turn of one connection: it takes some, finishes some, and reports; or it dies.
    fn turn(&mut self) {
        if self.connections.is_empty() {
            return;
        }
        let at = self.dice.roll(self.connections.len() as u64) as usize;
        if self.dice.roll(20) == 0 {
            return self.lose(at);
        }
        let refuse = self.dice.roll(10) == 0;
        let mut given_back = None;
        let connection = &mut self.connections[at];
        let take = self.dice.roll(connection.inbox.len() as u64 + 1) as usize;
        connection.open.extend(connection.inbox.drain(..take));
        connection.taken += take as u64;
        if refuse {
            given_back = connection.open.pop();
        }
        let finish = self.dice.roll(connection.open.len() as u64 + 1) as usize;
        connection.open.drain(..finish);
        if self.dice.roll(4) == 0 && !connection.limit_known {
            connection.limit_known = true;
        }
        connection.draining |= self.dice.roll(40) == 0;
        let (id, capacity) = (connection.id, connection.capacity());
        self.pool.handle_capacity(self.now, id, capacity);
        if let Some(request) = given_back {
            self.resubmit(request, id);
        }
    }

    fn lose(&mut self, at: usize) {
        let lost = self.connections.swap_remove(at);
        self.pool.handle_closed(self.now, lost.id);
        for request in lost.inbox {
            self.resubmit(request, lost.id);
        }
    }

    fn resubmit(&mut self, request: u32, avoid: ConnectionId) {
        self.out[request as usize] -= 1;
        let origin = self.origins[self.dice.roll(3) as usize].clone();
        let ticket = self.pool.resubmit(self.now, &origin, request, None, avoid);
        if let Some(ticket) = ticket {
            self.waiting.push((request, ticket));
        }
    }

    fn cancel(&mut self) {
        if self.waiting.is_empty() {
            return;
        }
        let at = self.dice.roll(self.waiting.len() as u64) as usize;
        let (request, ticket) = self.waiting.swap_remove(at);
        if let Some(cancelled) = self.pool.cancel(self.now, ticket) {
            assert_eq!(cancelled, request);
            self.out[request as usize] += 1;
        }
    }

    fn step(&mut self) {
        match self.dice.roll(10) {
            0..4 => self.submit(),
            4..6 => self.end_attempt(),
            6..8 => self.turn(),
            8 => self.cancel(),
            _ => {
                self.now += Duration::from_millis(self.dice.roll(300));
                self.pool.handle_timeout(self.now);
            }
        }
        self.carry_out();
    }
}

#[test]
fn whatever_happens_every_request_settles_exactly_once() {
    for seed in 0..300 {
        let mut play = Play::new(seed);
        for _ in 0..1500 {
            play.step();
        }
        play.pool.shut_down();
        play.carry_out();
        for (request, &times) in play.out.iter().enumerate() {
            assert_eq!(
                times, 1,
                "seed {seed}: request {request} settled {times} times"
            );
        }
        assert_eq!(
            play.pool.queue.len(),
            0,
            "seed {seed}: somebody still waits"
        );
    }
}

#[allow(
    clippy::disallowed_methods,
    reason = "a test needs some instant to count from"
)]
fn epoch() -> Instant {
    Instant::now()
}
