use crate::pool::pool_test::Scene;
use crate::pool::*;
use std::time::Duration;

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Two connections, each with one exchange.
fn two(scene: &mut Scene) -> [ConnectionId; 2] {
    scene.burst(1);
    let first = scene.connect_h2();
    scene.report(first, 0, 1, 1);
    scene.submit(2);
    let second = scene.connect_h2();
    scene.report(second, 0, 1, 1);
    [first, second]
}

fn suspect(scene: &mut Scene, connection: ConnectionId) {
    let capacity = Capacity {
        standing: Standing::Suspect { since: scene.now },
        taken: 1,
        active: 1,
        ..Capacity::fresh(99, true)
    };
    scene.pool.handle_capacity(scene.now, connection, capacity);
    scene.carry_out();
}

fn replace(scene: &mut Scene, connection: ConnectionId) {
    let now = scene.now;
    scene.pool.replace(now, connection, now);
    scene.carry_out();
}

fn connect_in_20_ms(scene: &mut Scene) {
    let fresh = scene.connect_h2();
    let began = scene.now;
    scene.wait(20);
    scene.pool.handle_alive(scene.now, fresh, Some(began));
    scene.carry_out();
}

#[test]
fn a_suspect_makes_the_others_of_its_origin_doubtful_once() {
    let mut scene = Scene::new(PoolConfig::default());
    let [first, second] = two(&mut scene);
    suspect(&mut scene, first);
    assert_eq!(scene.probed, [second]);
    suspect(&mut scene, first);
    suspect(&mut scene, second);
    assert_eq!(scene.probed, [second], "the first is suspect already");
}

#[test]
fn a_silent_connection_gets_one_replacement_and_learns_when_that_works() {
    let mut scene = Scene::new(PoolConfig::default());
    scene.burst(1);
    let silent = scene.connect_h2();
    scene.report(silent, 99, 1, 1);
    suspect(&mut scene, silent);
    replace(&mut scene, silent);
    assert_eq!(scene.attempts.len(), 1, "though no request waits");
    replace(&mut scene, silent);
    assert_eq!(scene.attempts.len(), 1, "it is being opened");
    let fresh = scene.connect_h2();
    assert!(
        scene.outlived.is_empty(),
        "what it is worth is not known yet"
    );
    scene.pool.handle_alive(scene.now, fresh, None);
    scene.carry_out();
    assert_eq!(scene.outlived, [silent]);
    scene.pool.handle_alive(scene.now, fresh, None);
    scene.carry_out();
    assert_eq!(scene.outlived, [silent], "it is told once");
}

#[test]
fn a_request_that_waits_because_every_open_connection_is_silent_says_so() {
    let mut scene = Scene::new(PoolConfig::default());
    scene.burst(1);
    let silent = scene.connect_h2();
    scene.report(silent, 99, 1, 1);
    suspect(&mut scene, silent);
    let ticket = scene.submit(2).unwrap();
    let reason = Some(WaitReason::Silence);
    assert_eq!(scene.pool.wait_reason(scene.now, ticket), reason);
    assert_eq!(scene.pool.stats(scene.now)[0].wait_reason, reason);
    assert_eq!(scene.pool.waits(scene.now)[0].reason, reason);
    let counted = scene.pool.totals().waited_for;
    assert_eq!(counted[WaitReason::Silence as usize], 1);
    // A connection that recovers leaves the suspects and takes the request.
    scene.report(silent, 98, 1, 1);
    assert_eq!(scene.pool.wait_reason(scene.now, ticket), None);
    assert_eq!(scene.on(silent), 2);
}

#[test]
fn an_attempt_beside_a_silent_connection_fails_what_waits_once_it_was_silent_itself() {
    let mut scene = Scene::new(PoolConfig::default());
    scene.burst(1);
    let silent = scene.connect_h2();
    scene.report(silent, 99, 1, 1);
    suspect(&mut scene, silent);
    let ticket = scene.submit(2).unwrap();
    // At once: the path may come back, and the silent connection with it.
    scene.fail_attempt();
    assert!(scene.failed.is_empty());
    assert!(scene.pool.wait_reason(scene.now, ticket).is_some());
    // Behind a connect timeout the peer has answered neither.
    scene.wait(10_000);
    scene.fail_attempt();
    assert_eq!(scene.failed, [(2, Failure::AttemptFailed)]);
    assert_eq!(scene.pool.wait_reason(scene.now, ticket), None);
}

#[test]
fn a_connection_that_was_opened_in_the_silence_is_the_replacement() {
    let mut scene = Scene::new(PoolConfig::default());
    scene.burst(1);
    let silent = scene.connect_h2();
    scene.report(silent, 99, 1, 1);
    suspect(&mut scene, silent);
    let since = scene.now;
    scene.wait(1);
    scene.submit(2);
    let fresh = scene.connect_h2();
    scene.report(fresh, 99, 1, 1);
    scene.pool.replace(scene.now, silent, since);
    scene.carry_out();
    assert!(scene.attempts.is_empty());
    assert_eq!(scene.outlived, [silent]);
}

#[test]
fn a_connection_that_was_there_before_the_silence_says_nothing_until_it_answers() {
    let mut scene = Scene::bounded(1);
    scene.burst(1);
    let silent = scene.connect_h2();
    scene.report(silent, 99, 1, 1);
    suspect(&mut scene, silent);
    scene.submit(2);
    let other = scene.connect_h2();
    scene.report(other, 99, 1, 1);
    replace(&mut scene, silent);
    assert!(scene.attempts.is_empty(), "the bound is one");
    assert_eq!(scene.probed, [other]);
    assert!(scene.outlived.is_empty());
    suspect(&mut scene, other);
    scene.report(other, 99, 1, 1);
    assert_eq!(scene.outlived, [silent]);
}

#[test]
fn a_suspect_that_lives_after_all_says_so_of_the_silent_ones() {
    let mut scene = Scene::bounded(2);
    let [first, second] = two(&mut scene);
    suspect(&mut scene, first);
    suspect(&mut scene, second);
    replace(&mut scene, first);
    assert_eq!(scene.attempts.len(), 1);
    scene.report(second, 99, 1, 1);
    assert_eq!(scene.outlived, [first]);
}

#[test]
fn a_replacement_keeps_to_the_bound_on_sockets_and_to_the_pause_after_a_failure() {
    let mut scene = Scene::new(PoolConfig {
        sockets_max: 1,
        ..PoolConfig::default()
    });
    scene.burst(1);
    let silent = scene.connect_h2();
    scene.report(silent, 99, 1, 1);
    suspect(&mut scene, silent);
    replace(&mut scene, silent);
    assert!(scene.attempts.is_empty());
}

#[test]
fn a_connection_that_is_gone_gets_no_event() {
    let mut scene = Scene::new(PoolConfig::default());
    scene.burst(1);
    let silent = scene.connect_h2();
    scene.report(silent, 99, 1, 1);
    suspect(&mut scene, silent);
    replace(&mut scene, silent);
    scene.pool.handle_closed(scene.now, silent);
    let fresh = scene.connect_h2();
    scene.pool.handle_alive(scene.now, fresh, None);
    scene.pool.handle_alive(scene.now, silent, None);
    scene.carry_out();
    assert!(scene.outlived.is_empty());
}

#[test]
fn a_silent_connection_learns_how_long_the_peer_took_on_the_others() {
    let mut scene = Scene::bounded(3);
    let [first, second] = two(&mut scene);
    suspect(&mut scene, first);
    suspect(&mut scene, second);
    scene.wait(400);
    // It answers before anything is asked for in the place of the first.
    scene.report(second, 99, 1, 1);
    scene.wait(100);
    replace(&mut scene, first);
    connect_in_20_ms(&mut scene);
    assert_eq!(scene.outlived, [first]);
    assert_eq!(scene.answer_times, [ms(400)], "the slower of both");
}

#[test]
fn a_slow_answer_is_forgotten_after_ten_seconds() {
    let mut scene = Scene::bounded(3);
    let [first, second] = two(&mut scene);
    suspect(&mut scene, second);
    scene.wait(400);
    scene.report(second, 99, 1, 1);
    scene.wait(10_000);
    suspect(&mut scene, first);
    replace(&mut scene, first);
    connect_in_20_ms(&mut scene);
    assert_eq!(scene.answer_times, [ms(20)]);
}
