use super::*;

/// A pool whose actions are sorted as they come, and a clock that only the test moves.
pub(super) struct Scene {
    pub(super) pool: Pool<u32>,
    pub(super) now: Instant,
    pub(super) origin: Origin,
    pub(super) attempts: Vec<AttemptId>,
    pub(super) dispatched: Vec<(u32, ConnectionId)>,
    /// Those that are the last of their connections.
    pub(super) last: Vec<u32>,
    pub(super) failed: Vec<(u32, Failure)>,
    pub(super) closed: Vec<ConnectionId>,
    /// Those of them that were idle.
    pub(super) idled: Vec<ConnectionId>,
    pub(super) probed: Vec<ConnectionId>,
    pub(super) outlived: Vec<ConnectionId>,
    pub(super) answer_times: Vec<Duration>,
}

impl Scene {
    pub(super) fn new(config: PoolConfig) -> Self {
        Self {
            pool: Pool::new(config),
            now: epoch(),
            origin: Origin::new(Scheme::Https, "Example.ORG", 443, Protocols::H2AndH1),
            attempts: Vec::new(),
            dispatched: Vec::new(),
            last: Vec::new(),
            failed: Vec::new(),
            closed: Vec::new(),
            idled: Vec::new(),
            probed: Vec::new(),
            outlived: Vec::new(),
            answer_times: Vec::new(),
        }
    }
    pub(super) fn bounded(connections: u32) -> Self {
        Self::new(PoolConfig {
            connections_max: Some(connections),
            ..PoolConfig::default()
        })
    }
    pub(super) fn carry_out(&mut self) {
        while let Some(action) = self.pool.poll_action() {
            match action {
                Action::Open { attempt, .. } => self.attempts.push(attempt),
                Action::Dispatch {
                    request,
                    connection,
                    last,
                    ..
                } => {
                    self.dispatched.push((request, connection));
                    self.last.extend(last.then_some(request));
                }
                Action::Fail { request, why } => self.failed.push((request, why)),
                Action::Close { connection, idle } => {
                    self.closed.push(connection);
                    self.idled.extend(idle.then_some(connection));
                }
                Action::Probe { connection, .. } => self.probed.push(connection),
                Action::Outlived {
                    connection,
                    answer_time,
                } => {
                    self.outlived.push(connection);
                    self.answer_times.push(answer_time);
                }
            }
        }
    }
    pub(super) fn submit(&mut self, request: u32) -> Option<Ticket> {
        let ticket = self.pool.submit(self.now, &self.origin, request, None);
        self.carry_out();
        ticket
    }
    pub(super) fn burst(&mut self, count: u32) -> Vec<Ticket> {
        (0..count)
            .filter_map(|request| self.submit(request))
            .collect()
    }
    pub(super) fn connect(
        &mut self,
        multiplexing: Multiplexing,
        capacity: Capacity,
    ) -> ConnectionId {
        let attempt = self.attempts.remove(0);
        let id = self
            .pool
            .handle_connected(self.now, attempt, multiplexing, capacity)
            .unwrap();
        self.carry_out();
        id
    }
    pub(super) fn connect_h1(&mut self) -> ConnectionId {
        self.connect(Multiplexing::No, Capacity::fresh(1, true))
    }
    pub(super) fn connect_h2(&mut self) -> ConnectionId {
        self.connect(Multiplexing::Yes, Capacity::fresh(100, false))
    }
    pub(super) fn report(&mut self, connection: ConnectionId, free: u32, active: u32, taken: u64) {
        let capacity = Capacity {
            free,
            active,
            taken,
            limit_known: true,
            standing: Standing::Open,
        };
        self.pool.handle_capacity(self.now, connection, capacity);
        self.carry_out();
    }
    pub(super) fn drain(&mut self, connection: ConnectionId, active: u32, taken: u64) {
        let capacity = Capacity {
            free: 0,
            active,
            taken,
            limit_known: true,
            standing: Standing::Draining,
        };
        self.pool.handle_capacity(self.now, connection, capacity);
        self.carry_out();
    }
    pub(super) fn fail_attempt(&mut self) {
        self.fail_attempt_with(FailureScope::All);
    }
    pub(super) fn fail_attempt_with(&mut self, scope: FailureScope) {
        let attempt = self.attempts.remove(0);
        self.pool.handle_attempt_failed(self.now, attempt, scope);
        self.carry_out();
    }
    pub(super) fn wait(&mut self, millis: u64) {
        self.now += Duration::from_millis(millis);
        self.pool.handle_timeout(self.now);
        self.carry_out();
    }
    pub(super) fn on(&self, connection: ConnectionId) -> usize {
        let to = |(_, id): &&(u32, ConnectionId)| *id == connection;
        self.dispatched.iter().filter(to).count()
    }
}

#[test]
fn a_cold_burst_opens_one_attempt_and_waits_for_it() {
    let mut scene = Scene::new(PoolConfig::default());
    let tickets = scene.burst(1000);
    assert_eq!(scene.attempts.len(), 1);
    assert!(scene.dispatched.is_empty());
    let reason = scene.pool.wait_reason(scene.now, tickets[999]);
    assert_eq!(reason, Some(WaitReason::Attempt));
}

#[test]
fn an_h2_burst_grows_by_what_is_missing_over_the_limit() {
    let mut scene = Scene::new(PoolConfig::default());
    let tickets = scene.burst(1000);
    let first = scene.connect_h2();
    assert_eq!(scene.on(first), 1, "one exchange before SETTINGS");
    assert!(
        scene.attempts.is_empty(),
        "nothing opens while the limit is unknown"
    );
    let reason = scene.pool.wait_reason(scene.now, tickets[999]);
    assert_eq!(reason, Some(WaitReason::Settings));
    scene.report(first, 99, 1, 1);
    assert_eq!(scene.on(first), 100);
    assert_eq!(scene.attempts.len(), 9, "900 wait, 100 fit on each");
    while !scene.attempts.is_empty() {
        let next = scene.connect_h2();
        assert_eq!(
            scene.on(next),
            100,
            "the remembered limit bounds a new connection at once"
        );
    }
    assert_eq!(scene.dispatched.len(), 1000);
}

#[test]
fn a_bounded_pool_never_opens_more_than_its_bound() {
    let mut scene = Scene::bounded(4);
    let tickets = scene.burst(2000);
    let first = scene.connect_h2();
    scene.report(first, 99, 1, 1);
    assert_eq!(scene.attempts.len(), 3);
    for _ in 0..3 {
        scene.connect_h2();
    }
    assert_eq!(scene.dispatched.len(), 400);
    assert_eq!(scene.pool.sockets(), 4);
    let reason = scene.pool.wait_reason(scene.now, tickets[1999]);
    assert_eq!(reason, Some(WaitReason::Capacity));
    scene.report(first, 40, 60, 100);
    assert_eq!(scene.dispatched.len(), 440, "freed room serves the line");
    assert!(scene.attempts.is_empty());
}

#[test]
fn one_connection_carries_everything_that_fits() {
    let mut scene = Scene::bounded(1);
    scene.burst(5);
    let only = scene.connect_h2();
    scene.report(only, 99, 1, 1);
    assert_eq!(scene.on(only), 5);
    assert_eq!(scene.pool.sockets(), 1);
}

#[test]
fn an_h1_answer_fans_the_burst_out_in_the_same_turn() {
    let mut scene = Scene::bounded(64);
    scene.burst(1000);
    let first = scene.connect_h1();
    assert_eq!(scene.on(first), 1, "the probe serves the first request");
    assert_eq!(
        scene.attempts.len(),
        63,
        "the rest fans out up to the bound, at once"
    );
}

#[test]
fn the_version_is_remembered_so_that_a_later_burst_does_not_ask_again() {
    let mut scene = Scene::bounded(64);
    scene.burst(1);
    let first = scene.connect_h1();
    scene.pool.handle_closed(scene.now, first);
    scene.burst(10);
    assert_eq!(scene.attempts.len(), 10);
}

#[test]
fn a_day_later_the_version_is_asked_again() {
    let mut scene = Scene::bounded(64);
    scene.burst(1);
    let first = scene.connect_h1();
    scene.pool.handle_closed(scene.now, first);
    scene.wait(25 * 3600 * 1000);
    scene.burst(10);
    assert_eq!(scene.attempts.len(), 1);
}

#[test]
fn without_tls_nobody_is_asked() {
    let mut scene = Scene::bounded(64);
    scene.origin = Origin::new(Scheme::Http, "localhost", 80, Protocols::H2AndH1);
    scene.burst(10);
    assert_eq!(scene.attempts.len(), 10);
}

#[test]
fn h1_reuses_the_connection_that_was_used_last() {
    let mut scene = Scene::bounded(8);
    scene.burst(3);
    let first = scene.connect_h1();
    let second = scene.connect_h1();
    let third = scene.connect_h1();
    scene.report(third, 1, 0, 1);
    scene.report(first, 1, 0, 1);
    scene.report(second, 1, 0, 1);
    scene.dispatched.clear();
    scene.burst(1);
    assert_eq!(scene.on(second), 1);
    scene.burst(1);
    assert_eq!(scene.on(first), 1);
}

#[test]
fn the_least_loaded_connection_gets_the_next_request() {
    let mut scene = Scene::bounded(2);
    scene.burst(2);
    let first = scene.connect_h2();
    scene.report(first, 0, 1, 1);
    let second = scene.connect_h2();
    scene.report(second, 99, 1, 1);
    scene.report(first, 40, 60, 1);
    scene.dispatched.clear();
    scene.burst(3);
    assert_eq!(scene.on(second), 3);
}

#[test]
fn pipelining_is_h1s_alone() {
    let mut scene = Scene::new(PoolConfig {
        pipelining: 3,
        ..PoolConfig::default()
    });
    scene.burst(9);
    scene.connect(Multiplexing::No, Capacity::fresh(3, true));
    assert_eq!(
        scene.attempts.len(),
        2,
        "nine requests, three per connection"
    );
    scene.pool.set_pipelining(0);
    assert_eq!(scene.pool.config().pipelining, 1, "less than one is none");
}

#[test]
fn a_dead_host_fails_everybody_at_once() {
    let mut scene = Scene::new(PoolConfig::default());
    scene.burst(1000);
    scene.wait(1_000);
    assert_eq!(scene.attempts.len(), 2, "the second probe");
    scene.wait(9_000);
    scene.fail_attempt();
    assert_eq!(scene.failed.len(), 1000);
    assert!(
        scene
            .failed
            .iter()
            .all(|(_, why)| *why == Failure::AttemptFailed)
    );
    scene.fail_attempt();
    assert!(scene.attempts.is_empty(), "nobody waits, nothing opens");
}

#[test]
fn a_probe_that_takes_too_long_gets_a_second_one_that_is_a_hope_of_its_own() {
    let mut scene = Scene::new(PoolConfig::default());
    scene.burst(100);
    scene.wait(998);
    assert_eq!(
        scene.attempts.len(),
        1,
        "three round trips of an unknown path"
    );
    scene.wait(1);
    assert_eq!(scene.attempts.len(), 2);
    scene.wait(100);
    scene.fail_attempt();
    assert!(scene.failed.is_empty(), "the second one is still fresh");
    let second = scene.connect_h2();
    scene.report(second, 99, 1, 1);
    assert_eq!(scene.on(second), 100);
}

#[test]
fn a_path_that_was_measured_sets_how_long_a_probe_may_take() {
    let mut scene = Scene::new(PoolConfig::default());
    scene.burst(1);
    let id = scene.connect_h2();
    scene.pool.handle_round_trip(id, Duration::from_millis(40));
    scene.pool.handle_closed(scene.now, id);
    scene.wait(25 * 3600 * 1000);
    scene.burst(1);
    assert_eq!(scene.attempts.len(), 1, "the version is asked again");
    scene.wait(299);
    assert_eq!(scene.attempts.len(), 1);
    scene.wait(1);
    assert_eq!(scene.attempts.len(), 2);
}

#[test]
fn a_round_trip_outlives_its_connection_until_the_network_changes() {
    let mut scene = Scene::new(PoolConfig::default());
    let origin = scene.origin.clone();
    scene.burst(1);
    let id = scene.connect_h2();
    assert_eq!(scene.pool.round_trip(scene.now, &origin), None);
    let measured = Duration::from_millis(2);
    scene.pool.handle_round_trip(id, measured);
    scene.pool.handle_closed(scene.now, id);
    assert_eq!(scene.pool.round_trip(scene.now, &origin), Some(measured));
    scene.pool.handle_network_change(scene.now);
    assert_eq!(scene.pool.round_trip(scene.now, &origin), None);
}

#[test]
fn the_window_that_a_path_needs_outlives_its_connections_for_ten_minutes() {
    let mut scene = Scene::new(PoolConfig::default());
    let origin = scene.origin.clone();
    scene.burst(1);
    let first = scene.connect_h2();
    assert_eq!(scene.pool.bdp_bytes(scene.now, &origin), 0);
    scene.pool.handle_path_need(scene.now, first, 4 << 20);
    scene.pool.handle_path_need(scene.now, first, 0);
    scene.pool.handle_path_need(scene.now, first, 70_000);
    scene.pool.handle_closed(scene.now, first);
    assert_eq!(
        scene.pool.bdp_bytes(scene.now, &origin),
        4 << 20,
        "small bodies say nothing of the path"
    );
    scene.burst(1);
    let second = scene.connect_h2();
    scene.wait(599_000);
    assert_eq!(scene.pool.bdp_bytes(scene.now, &origin), 4 << 20);
    scene.wait(1_000);
    assert_eq!(scene.pool.bdp_bytes(scene.now, &origin), 0);
    scene.pool.handle_path_need(scene.now, second, 70_000);
    assert_eq!(scene.pool.bdp_bytes(scene.now, &origin), 70_000);
}

#[test]
fn a_failed_attempt_fails_nobody_who_can_hope_for_a_connection() {
    let mut scene = Scene::bounded(4);
    scene.burst(300);
    let first = scene.connect_h2();
    scene.report(first, 99, 1, 1);
    assert_eq!(scene.attempts.len(), 2);
    scene.fail_attempt();
    scene.fail_attempt();
    assert!(scene.failed.is_empty());
    scene.report(first, 100, 0, 100);
    assert_eq!(scene.dispatched.len(), 200);
}

#[test]
fn after_the_second_failure_attempts_wait_for_their_time() {
    let mut scene = Scene::new(PoolConfig::default());
    for _ in 0..2 {
        scene.burst(1);
        scene.wait(1);
        scene.fail_attempt();
    }
    let ticket = scene.submit(7).unwrap();
    assert!(scene.attempts.is_empty());
    let reason = scene.pool.wait_reason(scene.now, ticket);
    assert_eq!(reason, Some(WaitReason::BackOff));
    scene.wait(99);
    assert!(scene.attempts.is_empty());
    scene.wait(1);
    assert_eq!(scene.attempts.len(), 1);
}

#[test]
fn without_back_off_each_request_gets_an_attempt_at_once_and_fails_with_it() {
    let mut scene = Scene::new(PoolConfig {
        backs_off: false,
        ..PoolConfig::default()
    });
    for failed in 1..=20 {
        scene.burst(1);
        assert_eq!(scene.attempts.len(), 1);
        scene.wait(1);
        scene.fail_attempt();
        assert_eq!(scene.failed.len(), failed);
    }
    scene.burst(300);
    assert_eq!(scene.attempts.len(), 1, "one attempt is for all that wait");
}

#[test]
fn without_back_off_what_waits_for_an_open_connection_pauses_still() {
    let mut scene = Scene::new(PoolConfig {
        backs_off: false,
        ..PoolConfig::default()
    });
    scene.origin = Origin::new(Scheme::Http, "localhost", 80, Protocols::H1Only);
    scene.burst(1);
    scene.connect_h1();
    scene.burst(1);
    for _ in 0..2 {
        assert_eq!(scene.attempts.len(), 1);
        scene.wait(1);
        scene.fail_attempt();
    }
    assert!(scene.failed.is_empty(), "the open connection may carry it");
    assert!(scene.attempts.is_empty());
    scene.wait(100);
    assert_eq!(scene.attempts.len(), 1);
}

#[test]
fn attempts_that_fail_together_count_as_one_failure() {
    let mut scene = Scene::bounded(10);
    scene.origin = Origin::new(Scheme::Http, "localhost", 80, Protocols::H1Only);
    scene.burst(10);
    scene.wait(1);
    for _ in 0..10 {
        scene.fail_attempt();
    }
    scene.burst(1);
    assert_eq!(scene.attempts.len(), 1, "the first failure costs no wait");
}

#[test]
fn a_waiting_request_can_be_taken_out_once() {
    let mut scene = Scene::new(PoolConfig::default());
    let tickets = scene.burst(3);
    assert_eq!(scene.pool.cancel(scene.now, tickets[1]), Some(1));
    assert_eq!(scene.pool.cancel(scene.now, tickets[1]), None);
    scene.connect(Multiplexing::Yes, Capacity::fresh(100, true));
    let order: Vec<u32> = scene
        .dispatched
        .iter()
        .map(|(request, _)| *request)
        .collect();
    assert_eq!(order, [0, 2]);
    assert_eq!(
        scene.pool.cancel(scene.now, tickets[0]),
        None,
        "it is on its way"
    );
}

#[test]
fn a_request_waits_no_longer_than_its_deadline() {
    let mut scene = Scene::new(PoolConfig {
        probe_patience: None,
        ..PoolConfig::default()
    });
    let deadline = scene.now + Duration::from_millis(50);
    scene
        .pool
        .submit(scene.now, &scene.origin, 1, Some(deadline));
    scene.pool.submit(scene.now, &scene.origin, 2, None);
    scene.carry_out();
    assert_eq!(scene.pool.next_deadline(), Some(deadline));
    scene.wait(49);
    assert!(scene.failed.is_empty());
    scene.wait(1);
    assert_eq!(
        scene.failed,
        [(1, Failure::QueueTimeout(WaitReason::Attempt))]
    );
    assert_eq!(scene.pool.next_deadline(), None);
}

#[test]
fn a_line_that_moves_is_waited_in_however_long_it_is_and_one_that_stands_still_is_not() {
    let stall = Duration::from_secs(300);
    let mut scene = Scene::bounded(1);
    let origin = scene.origin.clone();
    let limit = WaitLimit {
        deadline: None,
        stall: Some(stall),
    };
    for request in 0..20 {
        let (now, rank) = (scene.now, Rank::default());
        scene
            .pool
            .submit_ranked(now, &origin, request, limit, rank, false);
    }
    scene.carry_out();
    let id = scene.connect_h1();
    for answered in 1..10 {
        // Each of them takes nearly five minutes: most have waited for much longer than that in the end.
        scene.wait(299_000);
        scene.report(id, 1, 0, answered);
        assert_eq!(scene.failed, [], "{answered}");
    }
    scene.wait(299_999);
    assert_eq!(scene.failed, []);
    scene.wait(1);
    let late = |request| (request, Failure::QueueTimeout(WaitReason::Capacity));
    assert_eq!(scene.failed, (10..20).map(late).collect::<Vec<_>>());
    assert_eq!(scene.dispatched.len(), 10);
}

#[test]
fn a_deadline_holds_though_the_line_moves() {
    let mut scene = Scene::bounded(1);
    let origin = scene.origin.clone();
    let limit = WaitLimit {
        deadline: Some(scene.now + Duration::from_secs(2)),
        stall: Some(Duration::from_secs(10)),
    };
    let (now, rank) = (scene.now, Rank::default());
    scene.pool.submit(now, &origin, 0, None);
    scene.pool.submit(now, &origin, 1, None);
    scene
        .pool
        .submit_ranked(now, &origin, 2, limit, rank, false);
    scene.carry_out();
    let id = scene.connect_h1();
    scene.wait(900);
    scene.report(id, 1, 0, 1);
    scene.wait(1_099);
    assert_eq!(scene.failed, []);
    scene.wait(1);
    assert_eq!(
        scene.failed,
        [(2, Failure::QueueTimeout(WaitReason::Capacity))]
    );
}

#[test]
fn what_a_connection_gives_back_goes_to_the_front_and_elsewhere() {
    let mut scene = Scene::bounded(2);
    scene.burst(4);
    let first = scene.connect(Multiplexing::Yes, Capacity::fresh(1, true));
    let second = scene.connect(Multiplexing::Yes, Capacity::fresh(1, true));
    let origin = scene.origin.clone();
    scene.pool.resubmit(scene.now, &origin, 0, None, first);
    scene.carry_out();
    scene.dispatched.clear();
    scene.report(second, 2, 0, 1);
    assert_eq!(scene.dispatched[0], (0, second));
    // With nothing else to go to, even the connection that refused will do.
    scene.dispatched.clear();
    scene.pool.handle_closed(scene.now, second);
    scene.report(first, 1, 0, 1);
    scene.pool.resubmit(scene.now, &origin, 9, None, first);
    scene.carry_out();
    assert!(scene.dispatched.iter().any(|(_, id)| *id == first));
}

#[test]
fn a_draining_connection_makes_room_for_its_successor() {
    let mut scene = Scene::bounded(1);
    scene.burst(1);
    let old = scene.connect_h2();
    scene.drain(old, 1, 1);
    scene.burst(1);
    assert_eq!(scene.attempts.len(), 1);
    scene.report(old, 100, 0, 1);
    assert_eq!(scene.on(old), 1, "there is no way back from draining");
}

#[test]
fn an_idle_connection_is_closed_after_its_time_and_gets_nothing_more() {
    let mut scene = Scene::new(PoolConfig::default());
    scene.burst(1);
    let id = scene.connect_h1();
    scene.report(id, 1, 0, 1);
    scene.wait(59_999);
    assert!(scene.closed.is_empty());
    scene.wait(1);
    assert_eq!(scene.closed, [id]);
    scene.burst(1);
    assert_eq!(scene.on(id), 1);
    assert_eq!(scene.attempts.len(), 1);
}

#[test]
fn a_limit_lowered_to_nothing_stops_the_line_and_opens_nothing() {
    let mut scene = Scene::bounded(4);
    scene.burst(1);
    let id = scene.connect_h2();
    scene.report(id, 0, 0, 1);
    let ticket = scene.submit(5).unwrap();
    assert!(scene.attempts.is_empty());
    let reason = scene.pool.wait_reason(scene.now, ticket);
    assert_eq!(reason, Some(WaitReason::Capacity));
    scene.report(id, 10, 0, 1);
    assert_eq!(scene.dispatched.len(), 2, "raised again, it goes on");
}

#[test]
fn the_bound_on_sockets_makes_origins_take_turns() {
    let mut scene = Scene::new(PoolConfig {
        sockets_max: 1,
        ..PoolConfig::default()
    });
    scene.burst(1);
    let first = scene.connect_h1();
    scene.origin = Origin::new(Scheme::Https, "other.example", 443, Protocols::H2AndH1);
    let ticket = scene.submit(1).unwrap();
    let reason = scene.pool.wait_reason(scene.now, ticket);
    assert_eq!(reason, Some(WaitReason::Sockets));
    scene.pool.handle_closed(scene.now, first);
    scene.carry_out();
    assert_eq!(scene.attempts.len(), 1);
}

#[test]
fn a_full_line_refuses_and_says_how_long_it_is() {
    let mut scene = Scene::new(PoolConfig {
        waiting_max: 2,
        ..PoolConfig::default()
    });
    scene.burst(3);
    assert_eq!(scene.failed, [(2, Failure::QueueFull(2))]);
}

#[test]
fn shutting_down_settles_everything() {
    let mut scene = Scene::bounded(1);
    scene.burst(2);
    let id = scene.connect_h1();
    scene.pool.shut_down();
    scene.carry_out();
    assert_eq!(scene.failed, [(1, Failure::ShutDown)]);
    assert_eq!(scene.closed, [id]);
    scene.burst(1);
    assert_eq!(scene.failed.len(), 2);
}

#[test]
fn the_statistics_say_why_the_line_stands() {
    let mut scene = Scene::bounded(1);
    scene.burst(150);
    let id = scene.connect_h2();
    scene.report(id, 99, 1, 1);
    let stats = &scene.pool.stats(scene.now)[0];
    assert_eq!(
        (stats.waiting, stats.active, stats.limit),
        (50, 100, Some(100))
    );
    assert_eq!(stats.wait_reason, Some(WaitReason::Capacity));
    assert_eq!(&*stats.origin.host, "example.org");
    assert_eq!(scene.pool.totals().dispatched, 100);
}

fn ranked(class: PriorityClass, group: u64) -> Rank {
    Rank { class, group }
}

fn order(scene: &Scene) -> Vec<u32> {
    scene
        .dispatched
        .iter()
        .map(|(request, _)| *request)
        .collect()
}

#[test]
fn the_line_is_served_by_class_then_groups_take_turns_then_first_come() {
    use PriorityClass::{Background, Normal, Urgent};
    let mut scene = Scene::bounded(1);
    let ranks = [
        (0, Background, 1),
        (1, Normal, 7),
        (2, Normal, 7),
        (3, Normal, 7),
        (4, Normal, 8),
        (5, Urgent, 7),
        (6, Normal, 9),
        (7, Normal, 8),
    ];
    let mut tickets = Vec::new();
    for (request, class, group) in ranks {
        let rank = ranked(class, group);
        let origin = scene.origin.clone();
        tickets.push(
            scene
                .pool
                .submit_ranked(scene.now, &origin, request, None, rank, false),
        );
    }
    scene.carry_out();
    scene.pool.cancel(scene.now, tickets[6].unwrap());
    scene.connect(Multiplexing::Yes, Capacity::fresh(100, true));
    assert_eq!(order(&scene), [5, 1, 4, 2, 7, 3, 0]);
}

#[test]
fn a_group_with_many_waiting_delays_another_by_one_turn() {
    let mut scene = Scene::bounded(1);
    scene.burst(1000);
    let origin = scene.origin.clone();
    let rank = ranked(PriorityClass::Normal, 1);
    scene
        .pool
        .submit_ranked(scene.now, &origin, 5000, None, rank, false);
    scene.connect(Multiplexing::Yes, Capacity::fresh(2, true));
    assert_eq!(order(&scene), [0, 5000]);
}

#[test]
fn less_urgent_requests_leave_the_reserve_to_the_others() {
    let mut scene = Scene::new(PoolConfig {
        connections_max: Some(1),
        reserve: [0, 2, 0],
        ..PoolConfig::default()
    });
    let origin = scene.origin.clone();
    let background = ranked(PriorityClass::Background, 0);
    for request in 0..10 {
        scene
            .pool
            .submit_ranked(scene.now, &origin, request, None, background, false);
    }
    scene.carry_out();
    let id = scene.connect(Multiplexing::Yes, Capacity::fresh(5, true));
    assert_eq!(scene.on(id), 3, "two of five are kept");
    let reason = scene.pool.stats(scene.now)[0].wait_reason;
    assert_eq!(reason, Some(WaitReason::Reserve));
    scene.burst(1);
    assert_eq!(scene.on(id), 4, "for those more urgent");
    scene.report(id, 4, 1, 4);
    assert_eq!(scene.on(id), 6, "what is free beyond the reserve is used");
}

#[test]
fn a_reserve_above_the_capacity_starves_nobody() {
    let mut scene = Scene::new(PoolConfig {
        connections_max: Some(1),
        reserve: [50, 0, 0],
        ..PoolConfig::default()
    });
    scene.burst(2);
    let id = scene.connect_h1();
    assert_eq!(scene.on(id), 1);
    scene.report(id, 1, 0, 1);
    assert_eq!(scene.on(id), 2);
}

#[test]
fn every_wait_has_its_reason_and_they_are_counted() {
    let mut scene = Scene::bounded(1);
    let tickets = scene.burst(2);
    scene.wait(70);
    let waits = scene.pool.waits(scene.now);
    assert_eq!(waits.len(), 2);
    assert!(
        waits
            .iter()
            .all(|wait| wait.waited == Duration::from_millis(70))
    );
    assert!(
        waits
            .iter()
            .all(|wait| wait.reason == Some(WaitReason::Attempt))
    );
    assert_eq!(
        scene.pool.totals().waited_for[WaitReason::Attempt as usize],
        2
    );
    scene.pool.cancel(scene.now, tickets[0]);
    assert_eq!(scene.pool.waits(scene.now).len(), 1);
}

#[test]
fn a_suspect_gets_nothing_and_another_is_opened_within_the_same_bound() {
    let mut scene = Scene::bounded(1);
    scene.burst(1);
    let old = scene.connect_h2();
    scene.report(old, 99, 1, 1);
    let suspect = Capacity {
        free: 99,
        active: 1,
        taken: 1,
        limit_known: true,
        standing: Standing::Suspect { since: scene.now },
    };
    scene.pool.handle_capacity(scene.now, old, suspect);
    scene.burst(1);
    assert_eq!(scene.attempts.len(), 1);
    let new = scene.connect_h2();
    assert_eq!(scene.on(new), 1);
    assert_eq!(scene.pool.stats(scene.now)[0].suspect, 1);
    scene.report(old, 99, 1, 1);
    assert_eq!(
        scene.closed,
        [old],
        "its place is taken: it finishes and goes"
    );
}

#[allow(
    clippy::disallowed_methods,
    reason = "a test needs some instant to count from"
)]
fn epoch() -> Instant {
    Instant::now()
}

#[test]
fn what_must_not_be_pipelined_behind_others_waits_for_an_idle_connection() {
    // RFC 9112 section 9.3.2: if the connection dies, what is behind an unanswered request may
    // have been processed or not.
    let mut scene = Scene::new(PoolConfig {
        pipelining: 3,
        connections_max: Some(1),
        ..PoolConfig::default()
    });
    scene.burst(1);
    let id = scene.connect(Multiplexing::No, Capacity::fresh(3, true));
    assert_eq!(scene.dispatched, [(0, id)]);
    let origin = scene.origin.clone();
    let rank = Rank::default();
    let alone = scene
        .pool
        .submit_ranked(scene.now, &origin, 1, None, rank, true);
    assert!(alone.is_some(), "request 0 is not answered");
    scene.submit(2);
    scene.report(id, 2, 1, 1);
    assert_eq!(scene.dispatched.len(), 1, "nothing overtakes it");
    scene.report(id, 3, 0, 1);
    assert_eq!(scene.dispatched[1..], [(1, id), (2, id)]);
}

#[test]
fn a_connection_that_multiplexes_takes_any_request() {
    let mut scene = Scene::bounded(1);
    scene.burst(1);
    let id = scene.connect(Multiplexing::Yes, Capacity::fresh(100, true));
    let origin = scene.origin.clone();
    let rank = Rank::default();
    let waits = scene
        .pool
        .submit_ranked(scene.now, &origin, 1, None, rank, true);
    scene.carry_out();
    assert!(waits.is_none());
    assert_eq!(scene.dispatched, [(0, id), (1, id)]);
}
