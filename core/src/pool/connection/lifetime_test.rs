use crate::pool::pool_test::Scene;
use crate::pool::*;

/// A connection takes what it was sent, and a GOAWAY gives all but the first `carried` back.
fn cut(scene: &mut Scene, id: ConnectionId, carried: u32, tries: u32) {
    let on_it: Vec<u32> = scene
        .dispatched
        .iter()
        .filter(|(_, on)| *on == id)
        .map(|(r, _)| *r)
        .collect();
    let origin = scene.origin.clone();
    for &request in &on_it[carried as usize..] {
        let back = Return {
            from: id,
            loss: Loss {
                cause: Cause::GoneAway,
                tries,
                replayable: true,
                idempotent: false,
            },
            rank: Rank::default(),
            alone: true,
            limit: WaitLimit::default(),
            random: 0,
        };
        let given = scene.pool.give_back(scene.now, &origin, request, back);
        assert!(given.is_ok());
        scene.carry_out();
    }
    assert_eq!(scene.on(id), on_it.len(), "it gets none of them again");
    scene.drain(id, carried, on_it.len() as u64);
}

/// 40 requests and two connections that took ten each; the other 20 are back in line.
fn cut_twice_at_ten() -> Scene {
    let mut scene = Scene::new(PoolConfig::default());
    scene.burst(40);
    let first = scene.connect_h2();
    scene.report(first, 99, 1, 1);
    assert_eq!(scene.on(first), 40);
    cut(&mut scene, first, 10, 1);
    assert_eq!(scene.attempts.len(), 1, "one cut tells nothing");
    let second = scene.connect_h2();
    assert_eq!(scene.on(second), 30);
    cut(&mut scene, second, 10, 2);
    scene.wait(200);
    scene
}

#[test]
fn two_connections_cut_off_behind_the_same_number_report_what_the_next_ones_carry() {
    let mut scene = cut_twice_at_ten();
    assert_eq!(scene.attempts.len(), 2, "ten on each");
    let third = scene.connect_h2();
    let fourth = scene.connect_h2();
    assert_eq!((scene.on(third), scene.on(fourth)), (10, 10));
    scene.burst(5);
    assert_eq!(
        (scene.on(third), scene.on(fourth)),
        (10, 10),
        "their life is spent"
    );
    assert_eq!(scene.attempts.len(), 1);
}

#[test]
fn a_connection_that_lives_on_is_given_up_for_a_while_and_then_asked_with_one_request() {
    let mut scene = cut_twice_at_ten();
    let third = scene.connect_h2();
    scene.report(third, 100, 0, 10);
    scene.burst(5);
    assert_eq!(scene.on(third), 10, "it may say GOAWAY to the next");
    scene.wait(5_000);
    let fourth = scene.connect_h2();
    assert_eq!(scene.on(fourth), 10);
    scene.report(fourth, 100, 0, 10);
    scene.burst(5);
    assert_eq!(scene.on(fourth), 11, "one, to see what comes of it");
    scene.report(fourth, 100, 0, 11);
    scene.burst(5);
    assert!(scene.on(fourth) > 11, "it was answered: nobody counts");
}

#[test]
fn a_number_that_proves_true_is_believed_twice_as_long() {
    let mut scene = cut_twice_at_ten();
    // The peer says GOAWAY when one more comes.
    let mut trust = 5_000;
    for _ in 0..3 {
        let young = scene.connect_h2();
        scene.burst(20);
        scene.report(young, 100, 0, 10);
        assert_eq!(scene.on(young), 10, "unasked within {trust} ms");
        scene.wait(trust);
        let old = scene.connect_h2();
        assert_eq!(scene.on(old), 10);
        scene.report(old, 100, 0, 10);
        assert_eq!(scene.on(old), 11, "asked after {trust} ms");
        cut(&mut scene, old, 10, 1);
        trust *= 2;
    }
}

#[test]
fn a_spent_connection_with_a_long_exchange_is_doubted_after_a_second() {
    let mut scene = Scene::new(PoolConfig {
        connections_max: Some(1),
        ..PoolConfig::default()
    });
    scene.burst(30);
    for tries in 1..=2 {
        let id = scene.connect_h2();
        scene.report(id, 99, 1, 1);
        cut(&mut scene, id, 10, tries);
        scene.pool.handle_closed(scene.now, id);
        scene.wait(200);
    }
    let third = scene.connect_h2();
    assert_eq!(scene.on(third), 10);
    // A long poll stays open, and the bound allows no other connection.
    scene.report(third, 99, 1, 10);
    scene.burst(1);
    scene.wait(700);
    assert_eq!(scene.on(third), 10);
    scene.wait(300);
    assert_eq!(scene.on(third), 11, "it is asked with one");
    scene.report(third, 98, 2, 11);
    scene.burst(2);
    assert_eq!(scene.on(third), 11);
    scene.wait(1_000);
    assert_eq!(scene.on(third), 13, "it takes them all");
}

#[test]
fn cuts_behind_different_numbers_are_no_rule() {
    let mut scene = Scene::new(PoolConfig::default());
    scene.burst(40);
    let first = scene.connect_h2();
    scene.report(first, 99, 1, 1);
    cut(&mut scene, first, 10, 1);
    let second = scene.connect_h2();
    cut(&mut scene, second, 7, 2);
    scene.wait(200);
    let third = scene.connect_h2();
    assert_eq!(scene.on(third), 23);
}
