use crate::pool::pool_test::Scene;
use crate::pool::*;

/// A scene with a remembered HTTP/1.1 origin, and `connections` of its own default bound taken.
fn full(config: PoolConfig, connections: u32) -> Scene {
    let mut scene = Scene::new(config);
    scene.burst(connections);
    scene.connect_h1();
    connect_all(&mut scene);
    assert_eq!(scene.dispatched.len(), connections as usize);
    scene
}

fn connect_all(scene: &mut Scene) {
    while !scene.attempts.is_empty() {
        scene.connect_h1();
    }
}

#[test]
fn a_second_in_which_no_request_could_start_lets_the_default_bound_grow() {
    let mut scene = full(PoolConfig::default(), 100);
    scene.burst(50);
    assert!(scene.attempts.is_empty(), "the bound holds at first");
    scene.wait(999);
    assert!(scene.attempts.is_empty());
    assert!(scene.pool.next_deadline() <= Some(scene.now + Duration::from_millis(1)));
    scene.wait(1);
    assert_eq!(scene.attempts.len(), 50);
    connect_all(&mut scene);
    assert_eq!(scene.dispatched.len(), 150);
}

#[test]
fn the_default_bound_doubles_until_the_bound_on_sockets() {
    let mut scene = full(PoolConfig::default(), 100);
    scene.burst(2000);
    scene.wait(1000);
    for open in [200, 400, 800, 900] {
        assert_eq!(scene.attempts.len() + scene.dispatched.len(), open);
        connect_all(&mut scene);
        scene.wait(999);
        assert!(scene.attempts.is_empty());
        scene.wait(1);
    }
    assert!(scene.attempts.is_empty());
    scene.wait(60_000);
    assert_eq!(scene.dispatched.len(), 900);
}

#[test]
fn a_bound_that_was_set_does_not_grow() {
    let mut scene = Scene::bounded(3);
    scene.burst(9);
    scene.connect_h1();
    connect_all(&mut scene);
    scene.wait(60_000);
    assert!(scene.attempts.is_empty());
    assert_eq!(scene.dispatched.len(), 3);
}

#[test]
fn a_burst_that_is_answered_in_time_opens_no_more_than_the_default_bound() {
    let mut scene = full(PoolConfig::default(), 100);
    let busy: Vec<ConnectionId> = scene.dispatched.iter().map(|(_, id)| *id).collect();
    scene.burst(400);
    for turn in 1..=4 {
        scene.wait(999);
        for &connection in &busy {
            scene.report(connection, 1, 0, turn);
        }
        assert!(scene.attempts.is_empty());
    }
    assert_eq!(scene.dispatched.len(), 500);
    scene.wait(60_000);
    assert!(scene.attempts.is_empty());
}

#[test]
fn a_bound_that_grew_is_the_default_again_when_its_connections_are_gone() {
    let mut scene = full(PoolConfig::default(), 100);
    scene.burst(1);
    scene.wait(1000);
    connect_all(&mut scene);
    let all: Vec<ConnectionId> = scene.dispatched.iter().map(|(_, id)| *id).collect();
    assert_eq!(all.len(), 101);
    for connection in all {
        scene.pool.handle_closed(scene.now, connection);
    }
    scene.carry_out();
    scene.burst(150);
    assert_eq!(scene.attempts.len(), 100);
}

#[test]
fn requests_beyond_the_streams_of_the_default_bound_get_connections_too() {
    let mut scene = Scene::new(PoolConfig::default());
    scene.burst(20);
    let one_stream = || Capacity {
        limit_known: true,
        ..Capacity::fresh(1, false)
    };
    scene.connect(Multiplexing::Yes, one_stream());
    while !scene.attempts.is_empty() {
        scene.connect(Multiplexing::Yes, one_stream());
    }
    assert_eq!(scene.dispatched.len(), 16);
    scene.wait(1000);
    assert_eq!(scene.attempts.len(), 4);
}
