//! Attempts that fail with fewer requests than wait.

use super::pool_test::Scene;
use super::*;

fn failed(scene: &Scene) -> Vec<u32> {
    scene.failed.iter().map(|(request, _)| *request).collect()
}

#[test]
fn an_attempt_for_one_request_fails_with_it_and_the_next_one_begins_at_once() {
    let mut scene = Scene::bounded(1);
    scene.burst(3);
    for round in 0..3 {
        assert_eq!(scene.attempts.len(), 1);
        scene.fail_attempt_with(FailureScope::Next);
        assert_eq!(failed(&scene), (0..=round).collect::<Vec<_>>());
    }
    assert!(scene.attempts.is_empty());
}

#[test]
fn a_success_behind_the_failure_of_an_attempt_serves_those_that_are_left() {
    let mut scene = Scene::bounded(1);
    scene.burst(3);
    scene.fail_attempt_with(FailureScope::Next);
    let connection = scene.connect(Multiplexing::Yes, Capacity::fresh(100, true));
    assert_eq!(failed(&scene), [0]);
    assert_eq!(scene.on(connection), 2);
}

#[test]
fn an_attempt_for_a_request_that_was_cancelled_fails_with_no_other() {
    let mut scene = Scene::new(PoolConfig::default());
    scene.origin.protocols = Protocols::H1Only;
    let tickets = scene.burst(3);
    assert_eq!(scene.attempts.len(), 3);
    assert_eq!(scene.pool.cancel(scene.now, tickets[0]), Some(0));
    scene.fail_attempt_with(FailureScope::Next);
    assert!(scene.failed.is_empty(), "two attempts for two requests");
    scene.fail_attempt_with(FailureScope::Next);
    assert_eq!(failed(&scene), [1]);
}

#[test]
fn an_attempt_that_fails_with_no_request_is_made_again_until_none_waits() {
    let mut scene = Scene::bounded(1);
    let tickets = scene.burst(1);
    for _ in 0..5 {
        scene.fail_attempt_with(FailureScope::None);
        assert_eq!(scene.attempts.len(), 1);
    }
    assert_eq!(scene.pool.cancel(scene.now, tickets[0]), Some(0));
    scene.fail_attempt_with(FailureScope::None);
    assert!(scene.attempts.is_empty());
    assert!(scene.failed.is_empty());
}
