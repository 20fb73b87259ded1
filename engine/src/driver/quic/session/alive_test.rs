//! Servers that live, on paths that lose, pause and vary: their clients keep them, in virtual time.

use super::silence::Watch;
use super::*;
use trunkline_core::error::H2Code;

const MS: Duration = Duration::from_millis(1);

/// A client and a server that answers no request, so that only acknowledgements come.
fn scene(one_way: Duration) -> (Scene, Watch) {
    let mut scene = Scene::new(Windows::default());
    scene.answers_nothing = true;
    for end in [&mut scene.client, &mut scene.server] {
        end.one_way = one_way;
    }
    scene.connect();
    scene.run_for(Duration::from_secs(1));
    let watch = Watch::new(&scene);
    (scene, watch)
}

#[test]
fn a_slow_server_on_a_long_path_that_loses_packets_is_not_suspect_and_not_ended() {
    // The last loses two packets together, of which one was sent again.
    for loses_of in [[1, 10], [1, 4], [1, 3]] {
        for round_trip in [40, 100, 300, 600] {
            let (mut scene, mut watch) = scene(round_trip * MS / 2);
            for end in [&mut scene.client, &mut scene.server] {
                end.loses_of = Some(loses_of);
            }
            // A request every 700 ms, each of which the server works on to the end.
            for step in 0..21_000_u32 {
                if step % 700 == 0 {
                    scene.open(true);
                }
                watch.step(&mut scene, round_trip * MS * 2);
            }
            let course = &watch.course;
            println!("{loses_of:?}, {round_trip} ms: {course:?}");
            assert_eq!(
                course.ended, None,
                "{loses_of:?}, {round_trip} ms: {course:?}"
            );
            if loses_of != [1, 3] {
                assert_eq!(
                    course.suspects, 0,
                    "{loses_of:?}, {round_trip} ms: {course:?}"
                );
            }
        }
    }
}

#[test]
fn a_path_that_loses_a_quarter_of_its_packets_in_pairs_keeps_its_connection() {
    for round_trip in [40, 100, 300, 600] {
        let (mut scene, mut watch) = scene(round_trip * MS / 2);
        for end in [&mut scene.client, &mut scene.server] {
            end.loses_of = Some([2, 8]);
        }
        for step in 0..21_000_u32 {
            if step % 700 == 0 {
                scene.open(true);
            }
            watch.step(&mut scene, round_trip * MS * 2);
        }
        let course = &watch.course;
        println!("{round_trip} ms: {course:?}");
        assert_eq!(course.ended, None, "{round_trip} ms: {course:?}");
    }
}

#[test]
fn an_idle_path_that_pauses_for_a_second_or_three_with_its_next_request_keeps_its_connection() {
    for round_trip in [1, 60, 100, 300] {
        for pause in [1_000, 3_000] {
            let (mut scene, mut watch) = scene(round_trip * MS / 2);
            for _ in 0..20_000 {
                watch.step(&mut scene, Duration::ZERO);
            }
            // All that is sent in the pause arrives behind it, in both directions.
            let until = scene.now + pause * MS;
            for end in [&mut scene.client, &mut scene.server] {
                end.held_until = until;
            }
            scene.open(true);
            for _ in 0..10_000 {
                // A new connection has the same path.
                let opens = until.saturating_duration_since(scene.now) + round_trip * MS * 2;
                watch.step(&mut scene, opens);
            }
            let course = &watch.course;
            println!("{round_trip} ms, {pause} ms: {course:?}");
            assert_eq!(
                course.ended, None,
                "{round_trip} ms, {pause} ms: {course:?}"
            );
            assert_eq!(
                course.suspects, 1,
                "{round_trip} ms, {pause} ms: {course:?}"
            );
        }
    }
}

#[test]
fn a_long_path_whose_delay_varies_by_its_length_is_not_suspect() {
    for round_trip in [60, 100, 300] {
        let (mut scene, mut watch) = scene(round_trip * MS / 2);
        for step in 0..42_000_u32 {
            if step % 97 == 0 {
                // Between a half and one and a half of it one way, in an order that repeats late.
                let share = step / 97 * 37 % 101;
                for end in [&mut scene.client, &mut scene.server] {
                    end.one_way = round_trip * MS / 4 + round_trip * MS * share / 200;
                }
            }
            if step % 700 == 0 {
                scene.open(true);
            }
            watch.step(&mut scene, round_trip * MS * 2);
        }
        let course = &watch.course;
        println!("{round_trip} ms: {course:?}");
        assert_eq!(
            (course.suspects, course.ended),
            (0, None),
            "{round_trip} ms: {course:?}"
        );
    }
}

#[test]
fn a_path_in_order_gets_no_ping_but_those_of_exchanges_that_wait() {
    for round_trip in [1, 40, 100, 300] {
        let (mut scene, mut watch) = scene(round_trip * MS / 2);
        for step in 0..15_000_u32 {
            // Before 300 ms without a packet pass.
            if step % 290 == 0 {
                scene.open(true);
                let (id, _) = scene.read.pop_first().unwrap();
                scene.client.machine.reset(scene.now, id, H2Code::CANCEL);
            }
            watch.step(&mut scene, round_trip * MS * 2);
        }
        assert_eq!(watch.course.pings, 0, "{round_trip} ms: {:?}", watch.course);
    }
}
