use crate::pool::pool_test::Scene;
use crate::pool::*;

fn refused(tries: u32) -> Loss {
    Loss {
        cause: Cause::Refused { below_limit: true },
        tries,
        replayable: true,
        idempotent: false,
    }
}

impl Scene {
    fn give_back(&mut self, request: u32, from: ConnectionId, loss: Loss) -> Result<(), NoRetry> {
        let back = Return {
            from,
            loss,
            rank: Rank::default(),
            alone: !loss.idempotent,
            limit: WaitLimit::default(),
            random: 0,
        };
        let origin = self.origin.clone();
        let outcome = self.pool.give_back(self.now, &origin, request, back);
        self.carry_out();
        outcome.map(drop).map_err(|(returned, why)| {
            assert_eq!(returned, request);
            why
        })
    }
}

#[test]
fn a_refused_request_goes_to_another_connection_at_once() {
    let mut scene = Scene::bounded(2);
    scene.burst(4);
    let first = scene.connect(Multiplexing::Yes, Capacity::fresh(2, true));
    let second = scene.connect(Multiplexing::Yes, Capacity::fresh(3, true));
    scene.report(first, 1, 1, 2);
    scene.give_back(0, first, refused(1)).unwrap();
    assert_eq!(scene.dispatched.last(), Some(&(0, second)));
    assert_eq!(scene.pool.totals().retries_unprocessed, 1);
}

#[test]
fn later_retries_pause_and_can_be_cancelled_or_shut_down_meanwhile() {
    let mut scene = Scene::bounded(1);
    scene.burst(1);
    let id = scene.connect(Multiplexing::Yes, Capacity::fresh(9, true));
    scene.report(id, 9, 0, 1);
    scene.give_back(0, id, refused(2)).unwrap();
    assert_eq!(scene.on(id), 1, "it pauses");
    let waits = scene.pool.waits(scene.now);
    assert_eq!(waits[0].reason, Some(WaitReason::Pause));
    assert_eq!(scene.pool.stats(scene.now)[0].paused, 1);
    scene.wait(49);
    assert_eq!(scene.on(id), 1);
    scene.wait(1);
    assert_eq!(scene.on(id), 2);
    scene.give_back(0, id, refused(3)).unwrap();
    scene.pool.shut_down();
    scene.carry_out();
    assert_eq!(scene.failed, [(0, Failure::ShutDown)]);
    scene.wait(1000);
    assert_eq!(scene.on(id), 2, "nothing is left of it");
}

#[test]
fn a_pause_ends_with_the_deadline() {
    let mut scene = Scene::bounded(1);
    scene.burst(1);
    let id = scene.connect(Multiplexing::Yes, Capacity::fresh(9, true));
    let origin = scene.origin.clone();
    let back = Return {
        from: id,
        loss: refused(2),
        rank: Rank::default(),
        alone: true,
        limit: Some(scene.now + Duration::from_millis(10)).into(),
        random: 0,
    };
    let ticket = scene.pool.give_back(scene.now, &origin, 0, back).unwrap();
    assert!(ticket.is_some());
    scene.wait(10);
    assert_eq!(
        scene.failed,
        [(0, Failure::QueueTimeout(WaitReason::Pause))]
    );
    scene.wait(100);
    assert_eq!(scene.on(id), 1);
}

#[test]
fn requests_of_a_connection_that_ended_go_on_the_next_one_in_their_order() {
    let causes = [
        Cause::Behind,
        Cause::Lost { reused: true },
        Cause::NeverSent {
            unused: false,
            tunnel: false,
        },
    ];
    for cause in causes {
        let mut scene = Scene::new(PoolConfig {
            pipelining: 4,
            connections_max: Some(1),
            retry_lost: true,
            ..PoolConfig::default()
        });
        scene.burst(4);
        let id = scene.connect(Multiplexing::No, Capacity::fresh(4, true));
        scene.report(id, 0, 4, 4);
        for request in 1..4 {
            let loss = Loss {
                cause,
                idempotent: true,
                ..refused(1)
            };
            scene.give_back(request, id, loss).unwrap();
        }
        assert_eq!(scene.on(id), 4, "{cause:?}: it gets none of them again");
        scene.pool.handle_closed(scene.now, id);
        scene.carry_out();
        let next = scene.connect(Multiplexing::No, Capacity::fresh(4, true));
        assert_eq!(
            scene.dispatched[4..],
            [(1, next), (2, next), (3, next)],
            "{cause:?}"
        );
    }
}

#[test]
fn the_second_refusal_below_the_limit_retires_the_connection() {
    let mut scene = Scene::bounded(4);
    scene.burst(3);
    let id = scene.connect(Multiplexing::Yes, Capacity::fresh(100, true));
    scene.report(id, 97, 3, 3);
    scene.give_back(0, id, refused(1)).unwrap();
    assert!(scene.closed.is_empty(), "once may be of the moment");
    scene.give_back(1, id, refused(1)).unwrap();
    assert_eq!(scene.closed, [id]);
    assert_eq!(scene.attempts.len(), 1, "the request waits for another one");
}

#[test]
fn refusals_at_the_limit_retire_nothing() {
    let mut scene = Scene::bounded(1);
    scene.burst(5);
    let id = scene.connect(Multiplexing::Yes, Capacity::fresh(100, true));
    let crossed = Loss {
        cause: Cause::Refused { below_limit: false },
        ..refused(1)
    };
    for request in 0..5 {
        scene.give_back(request, id, crossed).unwrap();
    }
    assert!(scene.closed.is_empty());
}

#[test]
fn an_origin_that_requires_h1_gets_it_from_then_on() {
    let mut scene = Scene::bounded(4);
    scene.burst(1);
    let id = scene.connect_h2();
    let required = Loss {
        cause: Cause::Http1Required { unprocessed: true },
        ..refused(1)
    };
    scene.give_back(0, id, required).unwrap();
    assert_eq!(scene.closed, [id]);
    assert_eq!(scene.attempts.len(), 1);
    let origin = scene.origin.clone();
    let origin_id = scene.pool.origin_id(&origin);
    let to_open = scene.pool.origin_to_open(scene.now, origin_id).unwrap();
    assert_eq!(to_open.protocols, Protocols::H1Only);
    let h1 = scene.connect_h1();
    assert_eq!(scene.dispatched.last(), Some(&(0, h1)));
    scene.wait(25 * 3600 * 1000);
    let to_open = scene.pool.origin_to_open(scene.now, origin_id).unwrap();
    assert_eq!(
        to_open.protocols,
        Protocols::H2AndH1,
        "a day later it is asked"
    );
}

#[test]
fn a_request_that_is_not_sent_again_teaches_the_pool_what_its_loss_says() {
    let mut scene = Scene::bounded(4);
    scene.burst(1);
    let id = scene.connect_h2();
    let origin = scene.origin.clone();
    let required = Cause::Http1Required { unprocessed: false };
    scene.pool.handle_loss(scene.now, &origin, id, required);
    scene.carry_out();
    assert_eq!(scene.closed, [id]);
    let origin_id = scene.pool.origin_id(&origin);
    let to_open = scene.pool.origin_to_open(scene.now, origin_id).unwrap();
    assert_eq!(to_open.protocols, Protocols::H1Only);
}

#[test]
fn an_origin_that_may_not_speak_h1_is_not_given_it_and_keeps_its_version() {
    for protocols in [Protocols::H2Only, Protocols::H3Only] {
        let mut scene = Scene::bounded(4);
        scene.origin.protocols = protocols;
        scene.burst(1);
        let id = scene.connect_h2();
        let required = Loss {
            cause: Cause::Http1Required { unprocessed: true },
            ..refused(1)
        };
        assert_eq!(scene.give_back(0, id, required), Err(NoRetry::Class));
        let origin = scene.origin.clone();
        scene
            .pool
            .handle_loss(scene.now, &origin, id, required.cause);
        scene.carry_out();
        assert!(scene.closed.is_empty(), "the code is one of the request");
        let origin_id = scene.pool.origin_id(&origin);
        let to_open = scene.pool.origin_to_open(scene.now, origin_id).unwrap();
        assert_eq!(to_open.protocols, protocols);
    }
}

#[test]
fn a_misdirected_request_gets_a_connection_of_its_own_once() {
    let mut scene = Scene::bounded(4);
    scene.burst(1);
    let id = scene.connect_h2();
    scene.report(id, 99, 1, 1);
    let misdirected = |tries| Loss {
        cause: Cause::Misdirected,
        ..refused(tries)
    };
    scene.give_back(0, id, misdirected(1)).unwrap();
    assert_eq!(scene.closed, [id]);
    let next = scene.connect_h2();
    assert_eq!(scene.dispatched.last(), Some(&(0, next)));
    let second = scene.give_back(0, next, misdirected(2));
    assert_eq!(second, Err(NoRetry::Tries));
}

#[test]
fn what_a_dead_connection_took_along_is_sent_again_only_if_allowed() {
    for retry_lost in [false, true] {
        let mut scene = Scene::new(PoolConfig {
            retry_lost,
            ..PoolConfig::default()
        });
        scene.burst(1);
        let id = scene.connect_h2();
        scene.pool.handle_closed(scene.now, id);
        let lost = Loss {
            cause: Cause::Lost { reused: true },
            tries: 1,
            replayable: true,
            idempotent: true,
        };
        let outcome = scene.give_back(0, id, lost);
        assert_eq!(outcome.is_ok(), retry_lost);
        assert_eq!(scene.pool.totals().retries_lost, u64::from(retry_lost));
    }
}

#[test]
fn an_origin_that_refuses_everything_is_not_stormed() {
    let mut scene = Scene::bounded(1);
    scene.burst(1);
    let id = scene.connect(Multiplexing::Yes, Capacity::fresh(1_000_000, true));
    let crossed = Loss {
        cause: Cause::Refused { below_limit: false },
        ..refused(1)
    };
    let mut sent_again = 0;
    for request in 0..2000 {
        scene.submit(request);
        sent_again += u32::from(scene.give_back(request, id, crossed).is_ok());
    }
    assert!(sent_again <= RETRY_BURST + 200, "{sent_again}");
    assert!(scene.pool.totals().retries_over_budget >= 1500);
}

#[test]
fn a_connection_retired_for_its_refusals_makes_room_for_whoever_waits_at_once() {
    let mut scene = Scene::bounded(1);
    scene.burst(3);
    let id = scene.connect(Multiplexing::Yes, Capacity::fresh(1, true));
    let lost = Loss {
        replayable: false,
        ..refused(1)
    };
    for request in 0..2 {
        scene.report(id, 0, 1, u64::from(request) + 1);
        assert!(scene.give_back(request, id, lost).is_err());
        if request == 0 {
            scene.report(id, 1, 0, 1);
        }
    }
    assert_eq!(scene.closed, [id]);
    assert_eq!(scene.attempts.len(), 1, "for the third");
}
