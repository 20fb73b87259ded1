//! The pool in virtual time, scene by scene: health, the queue, retries, time limits, the end of
//! connections and prewarming.

use std::time::Duration;
use trunkline_core::error::TransportEnd;
use trunkline_core::pool::{
    Cause, Failure, NoRetry, PriorityClass, RETRIES_MAX, RETRY_BURST, Rank, WaitReason,
};
use trunkline_testkit::sim::dice::Dice;
use trunkline_testkit::sim::world::plan::{Fault, OriginPlan, Plan, RequestPlan};
use trunkline_testkit::sim::{Ended, Outcome, Summary, World};

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// GETs at these milliseconds.
fn gets(at: impl IntoIterator<Item = u64>) -> Vec<RequestPlan> {
    at.into_iter().map(|at| RequestPlan::get(ms(at))).collect()
}

fn play(plan: Plan) -> (Summary, Vec<Ended>) {
    World::new(plan, Dice::new(1), false).run_to_end()
}

#[track_caller]
fn all_answered(ended: &[Ended]) {
    for (request, end) in ended.iter().enumerate() {
        assert_eq!(end.how, Outcome::Answered, "{request}: {end:?}");
    }
}

/// The first connection has this fault, the others none.
fn first_faulty(fault: Fault) -> OriginPlan {
    OriginPlan {
        faulty_connections_max: 1,
        ..OriginPlan::faulty(fault)
    }
}

// Bursts.

/// 1,000 requests at once on a cold client; the server takes 20 ms for each.
fn burst(origin: OriginPlan) -> (Summary, Vec<Ended>) {
    let mut requests = gets([0; 1_000]);
    for request in &mut requests {
        request.thought = ms(20);
    }
    play(Plan::plain(origin, requests))
}

#[test]
fn a_cold_burst_opens_what_the_limit_asks_for_and_sends_nothing_twice() {
    for (streams_max, most) in [(1_000, 10), (100, 10), (10, 16), (1, 16)] {
        let mut origin = OriginPlan::plain();
        origin.streams_max = streams_max;
        let (summary, ended) = burst(origin);
        all_answered(&ended);
        assert!(
            summary.connections <= most,
            "{streams_max} streams: {summary:?}"
        );
        assert_eq!(
            (summary.sent, summary.refused),
            (1_000, 0),
            "{streams_max} streams"
        );
    }
}

#[test]
fn a_limit_that_changes_in_the_middle_of_a_burst_loses_nobody() {
    for fault in [
        Fault::Streams(ms(100), 1),
        Fault::Streams(ms(100), 10),
        Fault::FewAtFirst(ms(500), 1),
        Fault::FewAtFirst(ms(500), 0),
    ] {
        let (summary, ended) = burst(OriginPlan::faulty(fault));
        all_answered(&ended);
        assert!(summary.connections <= 16, "{fault:?}: {summary:?}");
    }
}

#[test]
fn a_cold_h1_origin_gets_the_burst_one_handshake_later_and_no_later_one_asks() {
    let mut origin = OriginPlan::plain();
    origin.answers_h2 = false;
    let mut requests = gets([0; 100]);
    requests.extend(gets([1_000; 100]));
    let (summary, ended) = play(Plan::plain(origin, requests));
    all_answered(&ended);
    assert_eq!(summary.connections, 100);
    let last = ended[..100].iter().map(|end| end.at).max();
    assert!(last < Some(ms(2 * 40 + 25)), "{last:?}");
    let last = ended[100..].iter().map(|end| end.at).max();
    assert!(last < Some(ms(1_000 + 25)), "{last:?}");
}

#[test]
fn a_dead_host_and_a_black_hole_fail_everybody_within_one_attempt() {
    for takes in [Duration::ZERO, secs(2)] {
        let mut origin = OriginPlan::plain();
        origin.handshake_failures_per_mille = 1_000;
        origin.handshake_delay = takes;
        let (summary, ended) = burst(origin);
        let failed = Outcome::ByPool(Failure::AttemptFailed);
        for end in &ended {
            assert_eq!(end.how, failed);
            assert!(end.at <= takes + ms(50), "{takes:?}: {end:?}");
        }
        assert!(summary.attempts <= 2, "{takes:?}: {summary:?}");
    }
}

#[test]
fn a_connection_that_ends_in_the_middle_of_a_burst_takes_along_what_it_had_at_most() {
    for fault in [Fault::Drain(50), Fault::Goaway(50)] {
        let (summary, ended) = burst(first_faulty(fault));
        all_answered(&ended);
        assert!(summary.connections <= 16, "{fault:?}: {summary:?}");
    }
    let (_, ended) = burst(first_faulty(Fault::Close(ms(30), TransportEnd::Failed)));
    let lost = ended.iter().filter(|end| end.how != Outcome::Answered);
    assert!((1..=100).contains(&lost.count()));
}

// Health.

#[test]
fn a_quiet_peer_is_asked_with_its_next_request_and_at_no_other_time() {
    let (summary, ended) = play(Plan::plain(
        OriginPlan::plain(),
        gets([0, 5_000, 14_900, 25_000, 25_001, 44_000]),
    ));
    all_answered(&ended);
    assert_eq!(summary.asked, 2, "at 25 s and at 44 s");
    assert_eq!((summary.suspected, summary.connections), (0, 1));
}

/// As where the system does not say what is not acknowledged.
fn by_questions(mut plan: Plan) -> Plan {
    plan.health.unanswered = None;
    plan
}

#[test]
fn what_waits_for_a_path_that_died_is_elsewhere_within_a_second_and_what_comes_too() {
    let origin = first_faulty(Fault::Silence(secs(1)));
    let mut plan = Plan::plain(origin, gets([0, 1_100, 1_150, 1_750, 1_900, 12_000]));
    plan.pool.retry_lost = true;
    let (summary, ended) = play(plan);
    all_answered(&ended);
    assert_eq!((summary.suspected, summary.closed_dead), (1, 1));
    for (end, sent) in ended.iter().zip([0, 1_100, 1_150, 1_750, 1_900, 12_000]) {
        assert!(end.at <= ms(sent + 1_000), "sent at {sent} ms: {end:?}");
    }
}

#[test]
fn what_may_not_be_sent_twice_fails_within_a_second_of_a_path_that_died() {
    let origin = first_faulty(Fault::Silence(secs(1)));
    let (summary, ended) = play(Plan::plain(origin, gets([0, 1_100, 2_500])));
    assert_eq!((summary.suspected, summary.closed_dead), (1, 1));
    assert!(matches!(ended[1].how, Outcome::Lost(..)), "{:?}", ended[1]);
    assert!(ended[1].at <= ms(2_100), "{:?}", ended[1]);
    assert_eq!(ended[2].how, Outcome::Answered);
    assert!(ended[2].at <= ms(2_600), "{:?}", ended[2]);
}

#[test]
fn a_path_that_stands_for_less_than_a_second_loses_nothing() {
    let origin = first_faulty(Fault::Stall(secs(1), ms(850)));
    let (summary, ended) = play(Plan::plain(origin, gets([0, 1_100])));
    all_answered(&ended);
    assert_eq!((summary.suspected, summary.closed_dead), (1, 0));
    assert!(ended.iter().all(|end| end.tries == 1), "{ended:?}");
}

#[test]
fn a_peer_that_fell_silent_is_suspected_replaced_and_buried() {
    let origin = first_faulty(Fault::Silence(secs(1)));
    let mut plan = Plan::plain(origin, gets([0, 12_000, 18_000]));
    plan.pool.retry_lost = true;
    let (summary, ended) = play(by_questions(plan));
    all_answered(&ended);
    assert_eq!(
        (summary.asked, summary.suspected, summary.closed_dead),
        (1, 1, 1)
    );
    assert!(
        ended[2].at < ms(18_100),
        "on another connection: {:?}",
        ended[2]
    );
    assert!(ended[1].at > ms(27_000), "{:?}", ended[1]);
    assert!(
        ended[1].at < ms(27_100),
        "at once when its peer is dead: {:?}",
        ended[1]
    );
}

#[test]
fn a_peer_that_was_only_slow_is_believed_again() {
    let origin = first_faulty(Fault::Stall(secs(1), secs(16)));
    let (summary, ended) = play(by_questions(Plan::plain(
        origin,
        gets([0, 12_000, 15_000, 20_000]),
    )));
    all_answered(&ended);
    assert_eq!((summary.suspected, summary.closed_dead), (1, 0));
    assert!(
        ended[2].at < ms(15_100),
        "while it is suspect: {:?}",
        ended[2]
    );
    assert!(
        ended.iter().all(|end| end.tries == 1),
        "nothing is sent twice"
    );
}

#[test]
fn after_a_change_of_network_nothing_new_goes_where_nobody_answered_since() {
    let origin = first_faulty(Fault::Silence(secs(1)));
    let mut plan = Plan::plain(origin, gets([0, 2_100]));
    plan.network_changes = vec![secs(2)];
    let (summary, ended) = play(plan);
    all_answered(&ended);
    assert!(ended[1].at < ms(2_200), "{:?}", ended[1]);
    assert_eq!(summary.closed_dead, 1);
}

// The line.

#[test]
fn the_urgent_go_first_and_groups_take_turns() {
    let mut origin = OriginPlan::plain();
    origin.streams_max = 1;
    let ranks = [
        (PriorityClass::Background, 0, 4),
        (PriorityClass::Normal, 1, 4),
        (PriorityClass::Normal, 2, 2),
        (PriorityClass::Urgent, 0, 2),
    ];
    let mut requests = gets([0]);
    requests[0].thought = secs(1);
    for (class, group, count) in ranks {
        for _ in 0..count {
            let mut request = RequestPlan::get(ms(500));
            request.rank = Rank { class, group };
            requests.push(request);
        }
    }
    let mut plan = Plan::plain(origin, requests);
    plan.pool.connections_max = Some(1);
    let (_, ended) = play(plan);
    all_answered(&ended);
    let mut order: Vec<usize> = (0..ended.len()).collect();
    order.sort_by_key(|&request| ended[request].at);
    // Background 1-4, group one 5-8, group two 9-10, urgent 11-12.
    assert_eq!(order, [0, 11, 12, 5, 9, 6, 10, 7, 8, 1, 2, 3, 4]);
}

#[test]
fn reserved_slots_are_there_when_an_urgent_request_comes() {
    let mut origin = OriginPlan::plain();
    origin.streams_max = 10;
    let mut requests = gets([0; 20]);
    for request in &mut requests {
        request.thought = secs(1);
    }
    let mut urgent = RequestPlan::get(ms(200));
    urgent.rank.class = PriorityClass::Urgent;
    requests.push(urgent);
    let mut plan = Plan::plain(origin, requests);
    plan.pool.connections_max = Some(1);
    plan.pool.reserve = [2, 0, 0];
    let (_, ended) = play(plan);
    all_answered(&ended);
    assert!(ended[20].at < ms(250), "{:?}", ended[20]);
}

#[test]
fn whoever_waits_leaves_at_the_time_they_said_or_are_served() {
    let mut origin = OriginPlan::plain();
    origin.streams_max = 1;
    let mut requests = gets([0, 10, 10, 10]);
    requests[0].thought = secs(5);
    requests[1].patience = Some(secs(1));
    requests[2].abort_at = Some(ms(700));
    let mut plan = Plan::plain(origin, requests);
    plan.pool.connections_max = Some(1);
    let (_, ended) = play(plan);
    let timeout = Outcome::ByPool(Failure::QueueTimeout(WaitReason::Capacity));
    assert_eq!((ended[1].how, ended[1].at), (timeout, ms(1_010)));
    assert_eq!((ended[2].how, ended[2].at), (Outcome::Aborted, ms(700)));
    assert_eq!(ended[3].how, Outcome::Answered);
    assert!(
        ended[3].at > secs(5) && ended[3].at < ms(5_100),
        "{:?}",
        ended[3]
    );
}

#[test]
fn all_of_a_requests_time_is_bounded_in_line_and_on_the_wire() {
    let mut origin = OriginPlan::plain();
    origin.streams_max = 1;
    let mut requests = gets([0, 10, 1_100]);
    requests[0].thought = secs(5);
    requests[0].total = Some(secs(1));
    requests[1].total = Some(ms(500));
    requests[1].patience = Some(secs(60));
    let mut plan = Plan::plain(origin, requests);
    plan.pool.connections_max = Some(1);
    let (_, ended) = play(plan);
    assert_eq!((ended[0].how, ended[0].at), (Outcome::OutOfTime, secs(1)));
    let timeout = Outcome::ByPool(Failure::QueueTimeout(WaitReason::Capacity));
    assert_eq!((ended[1].how, ended[1].at), (timeout, ms(510)));
    assert_eq!(ended[2].how, Outcome::Answered, "the slot is free again");
}

// Retries.

#[test]
fn a_server_that_refuses_everything_costs_a_burst_and_a_tenth_more() {
    let origin = OriginPlan::faulty(Fault::Refuse(u64::MAX));
    let (summary, ended) = play(Plan::plain(origin, gets([0; 1_000])));
    let most = 1_000 + u64::from(RETRY_BURST) + 100;
    assert!(summary.sent <= most, "{} of {most}", summary.sent);
    assert!(summary.over_budget > 0);
    for end in &ended {
        let Outcome::Lost(Cause::Refused { .. }, why) = end.how else {
            panic!("{end:?}");
        };
        assert!(matches!(why, NoRetry::Tries | NoRetry::Budget));
        assert!(end.tries <= RETRIES_MAX + 1);
    }
}

#[test]
fn a_request_refused_twice_pauses_before_it_is_sent_to_another_connection() {
    let origin = first_faulty(Fault::Refuse(2));
    let (summary, ended) = play(Plan::plain(origin, gets([0])));
    all_answered(&ended);
    assert_eq!((ended[0].tries, summary.connections), (3, 2));
    // Two handshakes of two round trips, and three tries of one.
    assert!(ended[0].at > ms(2 * 40 + 3 * 20 + 50), "{:?}", ended[0]);
    assert!(ended[0].at < ms(2 * 40 + 3 * 20 + 110), "{:?}", ended[0]);
}

#[test]
fn what_died_with_a_used_connection_is_sent_again_if_that_is_allowed_and_harmless() {
    let mut requests = gets([0, 1_900, 1_900]);
    for request in &mut requests[1..] {
        request.thought = ms(200);
    }
    requests[2].upload = 10;
    let mut plan = Plan::plain(
        first_faulty(Fault::Close(secs(2), TransportEnd::Failed)),
        requests,
    );
    plan.pool.retry_lost = true;
    let (_, ended) = play(plan);
    let lost = Outcome::Lost(Cause::Lost { reused: true }, NoRetry::Class);
    assert_eq!((ended[1].how, ended[1].tries), (Outcome::Answered, 2));
    assert_eq!((ended[2].how, ended[2].tries), (lost, 1), "a POST");
}

#[test]
fn a_server_that_takes_ten_requests_per_connection_gets_all_of_a_burst() {
    let origin = OriginPlan::faulty(Fault::Count(10));
    let (summary, ended) = play(Plan::plain(origin, gets([0; 1_000])));
    all_answered(&ended);
    assert!(summary.sent <= 2_100, "{} sent", summary.sent);
    assert!(
        summary.connections <= 110,
        "{} connections",
        summary.connections
    );
    assert!(ended.iter().all(|end| end.tries <= 3));
}

/// Requests for a minute, a server that takes ten per connection, and says so with the last of them
/// or (`late`) only when one more comes: how many were sent twice, and over how many connections.
fn a_minute_with_a_server_that_counts(late: bool) -> (u64, u64) {
    let fault = match late {
        true => Fault::Goaway(11),
        false => Fault::Count(10),
    };
    let requests = gets((0..60_000).step_by(20));
    let (summary, ended) = play(Plan::plain(OriginPlan::faulty(fault), requests));
    all_answered(&ended);
    (summary.sent - ended.len() as u64, summary.connections)
}

#[test]
fn a_server_that_counts_gets_what_it_takes_whenever_it_says_so() {
    for late in [false, true] {
        let (twice, connections) = a_minute_with_a_server_that_counts(late);
        // 300 connections carry 3,000 requests. The number is asked for after 5, 15 and 35 seconds.
        assert!(twice <= 30, "late {late}: {twice} sent twice");
        assert!(connections <= 330, "late {late}: {connections} connections");
    }
}

// The end of connections.

#[test]
fn connections_that_are_old_or_worn_are_replaced_and_nobody_is_lost() {
    let every_second = || gets((0..60).map(|second| second * 1_000));
    let mut plan = Plan::plain(OriginPlan::plain(), every_second());
    plan.pool.age_max = Some(secs(10));
    let (summary, ended) = play(plan);
    all_answered(&ended);
    assert!((6..=7).contains(&summary.connections), "{summary:?}");
    let mut plan = Plan::plain(OriginPlan::plain(), every_second());
    plan.pool.requests_max = Some(6);
    let (summary, ended) = play(plan);
    all_answered(&ended);
    assert_eq!(summary.connections, 10);
    assert_eq!(summary.sent, 60, "none was sent twice");
}

#[test]
fn a_connection_that_idles_is_closed_and_nothing_opens_in_its_place() {
    let mut plan = Plan::plain(OriginPlan::plain(), gets([0]));
    plan.pool.idle_timeout = Some(secs(5));
    let (summary, _) = play(plan);
    assert_eq!(summary.attempts, 1);
    let until = summary.open_until;
    assert!(until > secs(5) && until < secs(6), "{summary:?}");
}

#[test]
fn warm_connections_are_refilled_so_that_no_request_waits_for_a_handshake() {
    let origin = first_faulty(Fault::Close(secs(1), TransportEnd::Failed));
    let mut plan = Plan::plain(origin, gets([15_000; 3]));
    plan.warm_ups = vec![(Duration::ZERO, 0, 3)];
    plan.pool.warm_time = secs(20);
    plan.pool.idle_timeout = Some(secs(10));
    let (summary, ended) = play(plan);
    all_answered(&ended);
    assert_eq!(summary.connections, 4, "one died, one was opened for it");
    assert!(ended[0].at < ms(15_025), "one round trip: {:?}", ended[0]);
    let until = summary.open_until;
    assert!(
        until > secs(35) && until < secs(46),
        "and then they end: {until:?}"
    );
}

#[test]
fn a_server_that_ends_idle_connections_is_asked_ever_more_rarely() {
    let origin = OriginPlan::faulty(Fault::Close(ms(500), TransportEnd::Failed));
    let mut plan = Plan::plain(origin, Vec::new());
    plan.warm_ups = vec![(Duration::ZERO, 0, 1)];
    plan.pool.warm_time = secs(600);
    let (summary, _) = play(plan);
    assert!((9..=22).contains(&summary.connections), "{summary:?}");
}

// Bodies that the end of the connection delimits.

#[test]
fn a_body_that_the_end_delimits_is_complete_only_behind_an_end_in_order() {
    for end in [
        TransportEnd::InOrder,
        TransportEnd::Ragged,
        TransportEnd::Failed,
    ] {
        let mut origin = OriginPlan::faulty(Fault::EndDelimited(end));
        origin.answers_h2 = false;
        let mut requests = gets([0; 20]);
        for request in &mut requests {
            (request.download, request.has_length) = (50_000, false);
        }
        let (summary, ended) = play(Plan::plain(origin, requests));
        for (request, seen) in ended.iter().enumerate() {
            let is_answered = seen.how == Outcome::Answered;
            let case = format!("{end:?}, {request}: {seen:?}");
            assert_eq!(is_answered, end == TransportEnd::InOrder, "{case}");
        }
        assert_eq!(summary.sent, 20, "what began to come is not sent again");
    }
}
