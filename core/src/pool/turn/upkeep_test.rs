use crate::pool::pool_test::Scene;
use crate::pool::*;

#[test]
fn connections_opened_together_do_not_close_together_and_never_late() {
    let mut scene = Scene::new(PoolConfig {
        seed: 7,
        ..PoolConfig::default()
    });
    scene.origin = Origin::new(Scheme::Http, "localhost", 80, Protocols::H1Only);
    scene.burst(50);
    let ids: Vec<_> = (0..50).map(|_| scene.connect_h1()).collect();
    for id in ids {
        scene.report(id, 1, 0, 1);
    }
    scene.wait(53_999);
    assert!(scene.closed.is_empty(), "a tenth earlier at most");
    let mut turns = 0;
    for _ in 0..600 {
        let before = scene.closed.len();
        scene.wait(10);
        turns += u32::from(scene.closed.len() > before);
    }
    assert!(turns > 10, "they close one by one: {turns}");
    scene.wait(1);
    assert_eq!(scene.closed.len(), 50);
}

#[test]
fn a_number_of_connections_stays_warm() {
    let mut scene = Scene::new(PoolConfig {
        warm_min: 2,
        ..PoolConfig::default()
    });
    scene.origin = Origin::new(Scheme::Http, "localhost", 80, Protocols::H1Only);
    scene.burst(5);
    let ids: Vec<_> = (0..5).map(|_| scene.connect_h1()).collect();
    for id in ids {
        scene.report(id, 1, 0, 1);
    }
    for _ in 0..5 {
        scene.wait(60_000);
    }
    assert_eq!(scene.closed.len(), 3);
    assert_eq!(scene.pool.stats(scene.now)[0].connections, 2);
}

#[test]
fn a_warm_connection_ends_when_its_peer_waits_no_longer_and_is_looked_at_once() {
    for patience in [0, 3_000] {
        let mut scene = Scene::new(PoolConfig {
            warm_min: 1,
            ..PoolConfig::default()
        });
        scene.origin = Origin::new(Scheme::Http, "localhost", 80, Protocols::H1Only);
        scene.burst(1);
        let id = scene.connect_h1();
        let patience = Duration::from_millis(patience);
        scene.pool.handle_peer_patience(scene.now, id, patience);
        scene.report(id, 1, 0, 1);
        scene.now += patience;
        let mut looks = 0;
        while looks < 10 && scene.pool.next_deadline().is_some_and(|at| at <= scene.now) {
            scene.pool.handle_timeout(scene.now);
            looks += 1;
        }
        assert!(looks < 10, "{patience:?}: looked at for ever");
        scene.wait(0);
        assert_eq!(scene.closed, [id], "{patience:?}");
    }
}

#[test]
fn an_old_connection_finishes_what_it_has_and_gets_nothing_new() {
    let mut scene = Scene::new(PoolConfig {
        age_max: Some(Duration::from_secs(100)),
        ..PoolConfig::default()
    });
    scene.burst(1);
    let old = scene.connect_h2();
    scene.report(old, 99, 1, 1);
    scene.wait(99_999);
    assert!(scene.closed.is_empty());
    scene.wait(1);
    assert_eq!(scene.closed, [old]);
    scene.burst(1);
    assert_eq!(scene.on(old), 1);
    assert_eq!(scene.attempts.len(), 1);
}

#[test]
fn a_worn_connection_gets_its_last_request_and_no_more() {
    let mut scene = Scene::new(PoolConfig {
        requests_max: Some(3),
        ..PoolConfig::default()
    });
    scene.burst(1);
    let id = scene.connect(Multiplexing::Yes, Capacity::fresh(100, true));
    scene.burst(2);
    assert_eq!(scene.on(id), 3);
    assert_eq!(scene.last.len(), 1, "the third alone");
    assert_eq!(scene.closed, [id]);
    scene.burst(1);
    assert_eq!(scene.on(id), 3);
    assert_eq!(scene.attempts.len(), 1);
}

/// The first may take the connection for itself until it is answered: those behind it would come back, counted.
#[test]
fn requests_that_are_counted_go_to_a_connection_of_http_1_one_by_one() {
    let mut scene = Scene::new(PoolConfig {
        connections_max: Some(1),
        requests_max: Some(3),
        pipelining: 4,
        ..PoolConfig::default()
    });
    scene.origin = Origin::new(Scheme::Https, "localhost", 443, Protocols::H1Only);
    scene.burst(4);
    let id = scene.connect(Multiplexing::No, Capacity::fresh(4, true));
    assert_eq!(scene.on(id), 1);
    assert!(scene.closed.is_empty());
    scene.report(id, 0, 1, 1);
    assert_eq!(scene.on(id), 1, "it takes no other");
    scene.report(id, 4, 0, 1);
    scene.report(id, 3, 1, 2);
    assert_eq!(scene.on(id), 3);
    assert_eq!(scene.last.len(), 1, "the third alone");
    assert_eq!(scene.closed, [id]);
}

#[test]
fn a_draining_connection_keeps_its_place_unless_it_multiplexes() {
    for multiplexing in [Multiplexing::No, Multiplexing::Yes] {
        let mut scene = Scene::new(PoolConfig {
            connections_max: Some(1),
            requests_max: Some(1),
            ..PoolConfig::default()
        });
        let protocols = match multiplexing {
            Multiplexing::No => Protocols::H1Only,
            Multiplexing::Yes => Protocols::H2Only,
        };
        scene.origin = Origin::new(Scheme::Https, "localhost", 443, protocols);
        scene.burst(2);
        let id = scene.connect(multiplexing, Capacity::fresh(1, true));
        assert_eq!(scene.closed, [id], "one request is its last");
        let multiplexes = multiplexing == Multiplexing::Yes;
        assert_eq!(scene.attempts.len(), usize::from(multiplexes));
        scene.drain(id, 0, 1);
        scene.pool.handle_closed(scene.now, id);
        scene.carry_out();
        assert_eq!(scene.attempts.len(), 1, "for the one in line");
    }
}

#[test]
fn a_fresh_connection_that_allows_nothing_fails_after_its_time() {
    let mut scene = Scene::new(PoolConfig {
        no_exchange_timeout: Some(Duration::from_secs(5)),
        idle_timeout: None,
        ..PoolConfig::default()
    });
    scene.burst(3);
    let id = scene.connect(Multiplexing::Yes, Capacity::fresh(0, true));
    scene.wait(4_999);
    assert!(scene.failed.is_empty());
    scene.wait(1);
    assert_eq!(scene.closed, [id]);
    assert_eq!(scene.failed.len(), 3);
    assert_eq!(scene.failed[0].1, Failure::NoExchanges);
}

#[test]
fn a_peer_that_allows_nothing_fails_though_idle_connections_end_sooner() {
    let mut scene = Scene::new(PoolConfig {
        no_exchange_timeout: Some(Duration::from_secs(300)),
        idle_timeout: Some(Duration::from_secs(10)),
        ..PoolConfig::default()
    });
    scene.burst(3);
    scene.connect(Multiplexing::Yes, Capacity::fresh(0, true));
    for _ in 0..30 {
        scene.wait(10_000);
    }
    assert!(
        scene.attempts.is_empty(),
        "no other connection begins to wait anew"
    );
    assert_eq!(scene.failed.len(), 3);
    assert_eq!(scene.failed[0].1, Failure::NoExchanges);
}

#[test]
fn a_limit_that_was_lowered_to_nothing_is_waited_for() {
    let mut scene = Scene::new(PoolConfig {
        no_exchange_timeout: Some(Duration::from_secs(5)),
        idle_timeout: None,
        ..PoolConfig::default()
    });
    scene.burst(1);
    let id = scene.connect(Multiplexing::Yes, Capacity::fresh(1, true));
    scene.report(id, 0, 0, 1);
    scene.burst(1);
    scene.wait(60_000);
    assert!(scene.failed.is_empty());
    assert!(scene.closed.is_empty(), "it was of use before");
}

#[test]
fn a_new_network_forgives_the_failures_of_the_old_one() {
    let mut scene = Scene::new(PoolConfig::default());
    for _ in 0..4 {
        scene.burst(1);
        scene.wait(500);
        scene.fail_attempt();
    }
    scene.burst(1);
    assert!(scene.attempts.is_empty());
    scene.pool.handle_network_change(scene.now);
    scene.carry_out();
    assert_eq!(scene.attempts.len(), 1);
}

#[test]
fn the_last_request_of_a_worn_connection_leaves_nobody_behind_in_line() {
    let mut scene = Scene::new(PoolConfig {
        connections_max: Some(1),
        requests_max: Some(2),
        reserve: [1, 0, 0],
        ..PoolConfig::default()
    });
    scene.burst(2);
    let id = scene.connect(Multiplexing::Yes, Capacity::fresh(2, true));
    assert_eq!(scene.on(id), 1, "the other slot is reserved");
    let urgent = Rank {
        class: PriorityClass::Urgent,
        group: 0,
    };
    let origin = scene.origin.clone();
    let ticket = scene
        .pool
        .submit_ranked(scene.now, &origin, 7, None, urgent, false);
    assert!(ticket.is_none());
    scene.carry_out();
    assert_eq!(scene.closed, [id]);
    assert_eq!(scene.attempts.len(), 1, "for the one in line");
}

#[test]
fn what_a_peer_says_of_its_patience_takes_the_place_of_the_idle_time() {
    for (sent, idle) in [(3_000, 3_000), (0, 0), (90_000, 90_000)] {
        let mut scene = Scene::new(PoolConfig::default());
        scene.origin = Origin::new(Scheme::Http, "localhost", 80, Protocols::H1Only);
        scene.burst(1);
        let id = scene.connect_h1();
        let patience = Duration::from_millis(sent);
        scene.pool.handle_peer_patience(scene.now, id, patience);
        scene.wait(200_000);
        assert!(scene.closed.is_empty(), "it is not idle");
        scene.report(id, 1, 0, 1);
        if idle > 0 {
            scene.wait(idle - 1);
            assert!(scene.closed.is_empty(), "{sent}");
        }
        scene.wait(1);
        assert_eq!(scene.closed, [id], "{sent}");
        // A peer that waits for nothing has asked for the end itself.
        assert_eq!(!scene.idled.is_empty(), idle > 0, "{sent}");
    }
}
