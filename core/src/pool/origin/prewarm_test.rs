use crate::pool::pool_test::Scene;
use crate::pool::*;

fn warmed(count: u32, config: PoolConfig) -> Scene {
    let mut scene = Scene::new(config);
    let origin = scene.origin.clone();
    let id = scene.pool.origin_id(&origin);
    scene.pool.warm_up(scene.now, id, count);
    scene.carry_out();
    scene
}

fn close(scene: &mut Scene, connection: ConnectionId) {
    scene.pool.handle_closed(scene.now, connection);
    scene.carry_out();
}

#[test]
fn warming_up_opens_what_is_missing_within_the_bound() {
    let mut scene = Scene::bounded(4);
    let origin = scene.origin.clone();
    let id = scene.pool.origin_id(&origin);
    assert_eq!(scene.pool.warm_up(scene.now, id, 2).len(), 2);
    assert_eq!(scene.pool.warm_up(scene.now, id, 3).len(), 1);
    assert_eq!(scene.pool.warm_up(scene.now, id, 99).len(), 1, "the bound");
    scene.carry_out();
    for _ in 0..4 {
        scene.connect_h2();
    }
    assert_eq!(scene.pool.connections(id), 4);
    scene.burst(4);
    assert_eq!(
        scene.dispatched.len(),
        4,
        "no request waits for a handshake"
    );
}

#[test]
fn warm_connections_do_not_end_for_idleness_while_somebody_may_come() {
    let mut scene = warmed(3, PoolConfig::default());
    for _ in 0..3 {
        scene.connect_h2();
    }
    for _ in 0..9 {
        scene.wait(60_000);
    }
    assert!(scene.closed.is_empty());
    assert_eq!(scene.pool.stats(scene.now)[0].warm, 3);
    for _ in 0..3 {
        scene.wait(60_000);
    }
    assert_eq!(scene.closed.len(), 3, "ten minutes, and an idle time");
    assert_eq!(scene.pool.stats(scene.now)[0].warm, 0);
    assert!(scene.attempts.is_empty());
}

#[test]
fn a_warm_connection_that_dies_is_replaced() {
    let mut scene = warmed(2, PoolConfig::default());
    let first = scene.connect_h2();
    scene.connect_h2();
    scene.wait(1_000);
    close(&mut scene, first);
    assert_eq!(scene.attempts.len(), 1);
    scene.connect_h2();
    scene.wait(1_000);
    assert!(scene.attempts.is_empty());
    assert_eq!(scene.pool.stats(scene.now)[0].connections, 2);
}

#[test]
fn a_warm_connection_that_gets_old_is_replaced_as_it_drains() {
    let mut scene = warmed(
        1,
        PoolConfig {
            age_max: Some(Duration::from_secs(100)),
            ..PoolConfig::default()
        },
    );
    let old = scene.connect_h2();
    scene.wait(60_000);
    scene.wait(40_000);
    assert_eq!(scene.closed, [old]);
    assert_eq!(scene.attempts.len(), 1);
}

#[test]
fn refills_come_ever_more_rarely_while_no_request_comes() {
    let mut scene = warmed(1, PoolConfig::default());
    scene.fail_attempt();
    let mut pauses = Vec::new();
    let mut waited = 0;
    for _ in 0..550_000 / 50 {
        if !scene.attempts.is_empty() {
            pauses.push(waited);
            waited = 0;
            scene.fail_attempt();
        }
        assert!(scene.attempts.is_empty(), "two at once");
        scene.wait(50);
        waited += 50;
    }
    assert_eq!(pauses[..4], [100, 200, 400, 800]);
    assert_eq!(pauses.iter().max(), Some(&60_000));
    scene.wait(60_000);
    let left = scene.attempts.len();
    scene.wait(600_000);
    assert_eq!(scene.attempts.len(), left, "nobody is waited for any more");
}

#[test]
fn a_peer_that_ends_what_nobody_uses_is_not_asked_in_a_circle() {
    let mut scene = warmed(1, PoolConfig::default());
    let mut opened = 0;
    for _ in 0..60_000 / 50 {
        if !scene.attempts.is_empty() {
            opened += 1;
            let id = scene.connect_h2();
            close(&mut scene, id);
        }
        scene.wait(50);
    }
    assert!((5..=11).contains(&opened), "{opened} in a minute");
}

#[test]
fn a_request_keeps_them_warm_for_longer_and_makes_the_next_refill_prompt() {
    let mut scene = warmed(1, PoolConfig::default());
    let mut id = scene.connect_h2();
    // A while of a peer that ends its connections.
    for _ in 0..5 {
        close(&mut scene, id);
        scene.wait(3_300);
        id = scene.connect_h2();
    }
    scene.wait(500_000);
    scene.burst(1);
    assert_eq!(scene.on(id), 1);
    scene.report(id, 100, 0, 1);
    close(&mut scene, id);
    assert_eq!(scene.attempts.len(), 1, "at once");
    let id = scene.connect_h2();
    scene.wait(500_000);
    close(&mut scene, id);
    assert_eq!(scene.attempts.len(), 1, "ten minutes from the request on");
}

#[test]
fn warming_up_for_none_ends_it() {
    let mut scene = warmed(2, PoolConfig::default());
    let first = scene.connect_h2();
    scene.connect_h2();
    let origin = scene.origin.clone();
    let id = scene.pool.origin_id(&origin);
    assert!(scene.pool.warm_up(scene.now, id, 0).is_empty());
    close(&mut scene, first);
    assert!(scene.attempts.is_empty());
    scene.wait(60_000);
    assert_eq!(scene.closed.len(), 1, "what idles ends");
}
