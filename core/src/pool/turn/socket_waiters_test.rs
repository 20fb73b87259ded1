use crate::pool::pool_test::Scene;
use crate::pool::*;

const OTHER: &str = "other.example";

fn bounded(sockets_max: u32) -> Scene {
    Scene::new(PoolConfig {
        sockets_max,
        ..PoolConfig::default()
    })
}

fn turn_to(scene: &mut Scene, host: &str) {
    scene.origin = Origin::new(Scheme::Https, host, 443, Protocols::H2AndH1);
}

/// A connection to `host` that has answered a request and rests.
fn resting(scene: &mut Scene, host: &str) -> ConnectionId {
    turn_to(scene, host);
    scene.burst(1);
    let id = scene.connect_h1();
    scene.report(id, 1, 0, 1);
    id
}

fn close(scene: &mut Scene, connection: ConnectionId) {
    scene.pool.handle_closed(scene.now, connection);
    scene.carry_out();
}

#[test]
fn the_connection_that_has_rested_longest_goes_for_an_origin_that_waits() {
    let mut scene = bounded(3);
    let mut ids = Vec::new();
    for host in ["a.example", "b.example", "c.example"] {
        ids.push(resting(&mut scene, host));
        scene.wait(10);
    }
    assert!(scene.closed.is_empty(), "nobody waits");
    turn_to(&mut scene, OTHER);
    scene.burst(3);
    assert_eq!(
        scene.closed,
        ids[..1],
        "one for one origin, however many wait there"
    );
    close(&mut scene, ids[0]);
    assert_eq!(scene.attempts.len(), 1);
    let id = scene.connect_h1();
    assert_eq!(scene.on(id), 1);
    assert_eq!(scene.closed, ids[..2], "its line still wants more");
}

#[test]
fn a_connection_that_carries_something_goes_when_it_rests() {
    let mut scene = bounded(1);
    scene.burst(1);
    let first = scene.connect_h1();
    turn_to(&mut scene, OTHER);
    scene.burst(1);
    assert!(scene.closed.is_empty());
    scene.report(first, 1, 0, 1);
    assert_eq!(scene.closed, [first]);
    close(&mut scene, first);
    assert_eq!(scene.attempts.len(), 1);
}

#[test]
fn two_origins_that_always_have_more_to_ask_take_turns() {
    let mut scene = bounded(1);
    let mut last = resting(&mut scene, "a.example");
    for turn in 0..10 {
        let (waits, gives) = match turn % 2 {
            0 => (OTHER, "a.example"),
            _ => ("a.example", OTHER),
        };
        turn_to(&mut scene, waits);
        scene.burst(1);
        assert_eq!(scene.closed.pop(), Some(last), "turn {turn}");
        // The one that gave it asks again before it is free, and has to wait.
        turn_to(&mut scene, gives);
        let ticket = scene.submit(9).unwrap();
        close(&mut scene, last);
        assert_eq!(scene.attempts.len(), 1, "turn {turn}");
        last = scene.connect_h1();
        let (request, on) = *scene.dispatched.last().unwrap();
        assert_eq!((request, on), (0, last), "turn {turn}");
        scene.pool.cancel(scene.now, ticket);
        scene.report(last, 1, 0, 1);
        assert!(scene.closed.is_empty(), "nobody waits any more");
    }
}

#[test]
fn a_connection_that_its_own_line_waits_for_is_left_alone() {
    let mut scene = bounded(1);
    scene.burst(5);
    let first = scene.connect_h2();
    assert_eq!(scene.on(first), 1, "one exchange before SETTINGS");
    scene.report(first, 0, 0, 1);
    turn_to(&mut scene, OTHER);
    scene.burst(1);
    assert!(scene.closed.is_empty());
    scene.report(first, 100, 0, 1);
    assert_eq!(scene.on(first), 5);
    assert!(scene.closed.is_empty(), "it carries four");
    scene.report(first, 100, 0, 5);
    assert_eq!(scene.closed, [first]);
}

#[test]
fn who_no_longer_waits_costs_nobody_a_connection() {
    let mut scene = bounded(1);
    scene.burst(1);
    let first = scene.connect_h1();
    turn_to(&mut scene, OTHER);
    let ticket = scene.submit(1).unwrap();
    scene.pool.cancel(scene.now, ticket);
    scene.report(first, 1, 0, 1);
    assert!(scene.closed.is_empty());
}
